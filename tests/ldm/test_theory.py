"""The claims on the model and its dual: what they come to, and that wrong formulas fail them."""

import itertools
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginbook.claims import Verdict
from marginbook.ldm.claims import (
    abstract,
    section_3_disguise,
    section_3_dual,
    section_3_representer,
    section_3_theorem_3,
    section_5_mamc,
    section_5_peers,
    sections_2_3,
)
from marginbook.ldm.claims.problems import (
    KERNELS,
    SIZES,
    by_cvxpy,
    features,
    margin_terms,
    problems,
    soft_value,
)
from marginbook.ldm.model.whitening import WhitenedGram


def few(seed, repeats=4, kernels=KERNELS):
    """Every other problem: the checks take some of these."""
    return itertools.islice(problems(seed, repeats, kernels), 0, None, 2)


@pytest.fixture(autouse=True)
def _fewer(monkeypatch):
    for module in (sections_2_3, section_3_disguise, section_3_dual, section_3_representer, section_5_mamc):
        monkeypatch.setattr(module, "problems", few)


def test_the_problems_have_every_kernel_and_what_makes_gram_matrices_singular():
    found = list(problems(0))
    assert len(found) == 4 * len(SIZES) * len(KERNELS)
    assert {len(p.y) for p in found} == {sum(sizes) for sizes in SIZES}
    assert sum(np.array_equal(p.X[0], p.X[1]) for p in found) == 2 * (len(SIZES) - 1) * len(KERNELS)
    ranks = [(np.linalg.matrix_rank(p.G), len(p.y), p.X.shape[1]) for p in found]
    assert any(r < m for r, m, _ in ranks)
    assert any(r == m < d for r, m, d in ranks)
    for p in found:
        np.testing.assert_allclose(p.F.T @ p.F, p.G, atol=1e-12 * len(p.y) * np.abs(p.G).max())
        assert set(p.y) == {-1.0, 1.0}


@settings(max_examples=30)
@given(st.lists(st.floats(-10, 10), min_size=1, max_size=12))
def test_the_variance_term_is_twice_the_variance(margins):
    mean, variance = margin_terms(np.array(margins))
    np.testing.assert_allclose(mean, np.mean(margins), atol=1e-12)
    np.testing.assert_allclose(variance, 2 * np.var(margins), atol=1e-11)


def test_the_oracle_minimises_what_soft_value_computes():
    rng = np.random.default_rng(0)
    for p in few(3):
        w, value = by_cvxpy(p.F, p.y, 0.5, 0.3, 2.0)
        np.testing.assert_allclose(soft_value(p.F, p.y, w, 0.5, 0.3, 2.0), value, rtol=1e-9)
        for size in (1e-2, 1e-4):
            near = w + size * rng.normal(size=(20, len(w)))
            assert all(soft_value(p.F, p.y, v, 0.5, 0.3, 2.0) > value for v in near)


def test_features_reproduce_a_singular_gram_matrix():
    G = np.ones((3, 3))
    assert features(G).shape == (1, 3)
    np.testing.assert_allclose(features(G).T @ features(G), G)


def test_equation_4_is_wrong_by_the_number_of_pairs():
    evidence = sections_2_3.check_variance()
    assert evidence.verdict == Verdict.CORRECTED
    assert evidence.slack == 1 - max(evidence.sizes["m"]) ** 2


def test_a_relaxed_margin_needs_a_bound_on_w(monkeypatch):
    assert sections_2_3.check_relaxed_margin().verdict == Verdict.CORRECTED
    monkeypatch.setattr(sections_2_3, "_relaxed", lambda problem, penalty: (None, 0.0))
    assert sections_2_3.check_relaxed_margin().verdict == Verdict.HOLDS


def test_another_penalty_than_c_over_the_sum_of_beta_fails(monkeypatch):
    right = sections_2_3.active_set

    def halved(*args, **options):
        found = right(*args, **options)
        return SimpleNamespace(alpha=found.alpha, margins=found.margins, beta=0.5 * found.beta)

    monkeypatch.setattr(sections_2_3, "active_set", halved)
    assert sections_2_3.check_relaxed_margin().verdict == Verdict.FAILS


@pytest.mark.parametrize("penalty", [0.1, 0.21, 0.5, 3.0])
def test_the_relaxed_minimum_of_given_margins(penalty):
    margins = np.random.default_rng(1).normal(size=10)
    top, slack = cp.Variable(), cp.Variable(10, nonneg=True)
    best = cp.Problem(cp.Maximize(top - penalty * cp.sum(slack)), [margins >= top - slack]).solve(
        solver=cp.CLARABEL
    )
    np.testing.assert_allclose(sections_2_3._relaxed_value(margins, penalty), best, atol=1e-6)
    assert sections_2_3._order_statistic(margins, penalty) <= 1e-12
    balance = sections_2_3._balance(margins)
    np.testing.assert_allclose(sections_2_3._relaxed_value(margins, balance), 0.0, atol=1e-12)
    assert sections_2_3._balance(np.abs(margins)) is None


def test_ldm_without_its_terms_is_the_svm(monkeypatch):
    assert sections_2_3.check_subsumes_svm().verdict == Verdict.HOLDS
    right = sections_2_3.active_set
    monkeypatch.setattr(
        sections_2_3, "active_set", lambda H, y, l1, l2, C, tol: right(H, y, l1, 1.0, C, tol=tol)
    )
    assert sections_2_3.check_subsumes_svm().verdict == Verdict.FAILS


def test_an_optimum_outside_the_span_fails_theorem_1(monkeypatch):
    assert section_3_representer.check_representer().verdict == Verdict.HOLDS
    right = section_3_representer.by_cvxpy

    def outside(F, *rest):
        w, value = right(F, *rest)
        return w + 1e-3 * np.linalg.norm(w) * np.eye(len(w))[-1], value

    monkeypatch.setattr(section_3_representer, "by_cvxpy", outside)
    assert section_3_representer.check_representer().verdict == Verdict.FAILS


def test_the_dual_needs_its_constant_and_its_linear_term(monkeypatch):
    assert section_3_dual.check_dual().verdict == Verdict.HOLDS
    right = section_3_dual.omitted_constant
    monkeypatch.setattr(section_3_dual, "omitted_constant", lambda H, lambda2: 0.0)
    assert section_3_dual.check_dual().verdict == Verdict.FAILS
    monkeypatch.setattr(section_3_dual, "omitted_constant", right)
    dual = section_3_dual.printed_dual
    monkeypatch.setattr(section_3_dual, "printed_dual", lambda H, beta, lambda2: dual(H, beta, 0.0))
    assert section_3_dual.check_dual().verdict == Verdict.FAILS


def test_q_is_as_singular_as_g(monkeypatch):
    evidence = section_3_dual.check_singular()
    assert evidence.verdict == Verdict.CORRECTED
    assert "19 of the 20 regular sets" in evidence.why  # all but promoters; large sets have no such matrix
    monkeypatch.setattr(section_3_dual, "printed_matrix", lambda G, y, lambda1: G)
    assert section_3_dual.check_singular().verdict == Verdict.FAILS


@pytest.mark.parametrize("lambda1", [0.0, 0.25, 30.0])
def test_three_ways_to_the_matrix_of_the_dual(lambda1):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(7, 9)), rng.choice([-1.0, 1.0], size=7)
    G = X @ X.T
    H = section_3_dual.direct_hessian(G, y, lambda1)
    np.testing.assert_allclose(H, WhitenedGram(G, y).hessian(lambda1), atol=1e-10)
    GY = G * y
    printed = GY.T @ np.linalg.inv(section_3_dual.printed_matrix(G, y, lambda1)) @ GY
    np.testing.assert_allclose(H, printed, atol=1e-8)
    assert np.linalg.eigvalsh(H)[0] > -1e-12


@settings(max_examples=40)
@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 4), st.integers(0, 2**16))
def test_exact_ranks(m, n, rank, seed):
    rng = np.random.default_rng(seed)
    A = rng.integers(-3, 4, size=(m, rank)) @ rng.integers(-3, 4, size=(rank, n))
    assert section_3_dual.exact_rank(A) == np.linalg.matrix_rank(A)


def test_another_box_is_another_machine(monkeypatch):
    assert section_3_disguise.check_disguise().verdict == Verdict.HOLDS
    right = section_3_disguise._box_program
    monkeypatch.setattr(section_3_disguise, "_box_program", lambda H, low, width: right(H, 0.0, width))
    assert section_3_disguise.check_disguise().verdict == Verdict.FAILS


def test_the_average_margin_machine(monkeypatch):
    assert section_5_mamc.check_average_margin().verdict == Verdict.CORRECTED
    right = section_5_mamc.solve_mamc

    def tilted(f, y, scale):
        found = right(f, y, scale)
        return SimpleNamespace(coefficients=found.coefficients * (1 + 0.1 * (np.arange(len(y)) % 2)))

    monkeypatch.setattr(section_5_mamc, "solve_mamc", tilted)
    assert section_5_mamc.check_average_margin().verdict == Verdict.FAILS


def test_a_large_mean_term_alone_does_not_make_the_ldm_mamc():
    problem = next(iter(problems(44)))
    z = problem.F @ problem.y
    apart = {}
    for lambda1 in (0.0, 1.0):
        H = WhitenedGram(problem.G, problem.y).hessian(lambda1)
        w = section_5_mamc._weights(problem, H, 1e8, 10.0, lambda1)
        apart[lambda1] = section_5_mamc._angle(w, z / np.linalg.norm(z))
    assert apart[0.0] < 1e-6
    assert apart[1.0] > 0.01


def test_unequal_classes_are_neither_enough_nor_needed_for_one_label(monkeypatch):
    evidence = section_5_mamc.check_trivial()
    assert evidence.verdict == Verdict.CORRECTED
    # opposite sides of the origin, nine to one: every point is right
    X = np.r_[np.ones(9), -1.0][:, None]
    y = np.r_[np.ones(9), -1.0]
    assert not section_5_mamc._is_trivial(X @ X.T, y)
    # although 9 is more than max k / min k = -1: the correction is about positive kernels
    assert section_5_mamc._needed(X @ X.T, 1.0) == np.inf
    # equal sizes, one class nearer to the origin: all points go to the other
    X = np.array([[0.2, 0.1], [0.1, 0.3], [0.8, 0.9], [0.9, 0.7]])
    assert section_5_mamc._is_trivial(X @ X.T, np.array([-1.0, -1, 1, 1]))
    monkeypatch.setattr(section_5_mamc, "_is_trivial", lambda K, y: len(y) != 40)
    assert section_5_mamc.check_trivial().verdict == Verdict.HOLDS


def test_the_peers_of_section_5():
    assert section_5_peers.check_mdo().verdict == Verdict.HOLDS
    assert section_5_peers.check_km_omd().verdict == Verdict.CORRECTED
    assert section_5_peers.check_km_omd(corrected=0.01).verdict == Verdict.FAILS
    assert section_5_peers.check_km_omd(penalties=(0.0,)).verdict == Verdict.HOLDS


def test_no_theory_makes_the_ldm_superior():
    evidence = abstract.check_superiority()
    assert evidence.verdict == Verdict.FAILS
    assert evidence.slack == section_3_theorem_3.check_theorem_3().slack < 0
    assert "The machine with the smaller bound errs more often." in evidence.why
    assert "smaller for the LDM than for the SVM with the same C in 60 of 60" in evidence.measured
    own, other = (abstract.expected(par)[0] for par in (abstract.LARGEST, (0.0, 0.0, 10.0)))
    assert (own, other) == pytest.approx((0.265625, 0.125))
    assert sum(p for _, p in abstract.LAW) == 1


def test_with_a_true_theorem_the_bound_would_speak_for_the_ldm():
    as_svm = abstract.check_superiority(settings=section_3_theorem_3.WITHOUT_TERMS)
    assert as_svm.verdict == Verdict.HOLDS
    assert as_svm.slack >= 0
    of_the_proof = abstract.check_superiority(theorem=abstract.of_the_proof)
    assert of_the_proof.verdict == Verdict.HOLDS
    assert "The smaller bound is worth something" not in of_the_proof.why
