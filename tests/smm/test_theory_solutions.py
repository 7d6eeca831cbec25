"""The claims on solutions, duals and descents: what they come to, what changes them, and oracles."""

import itertools
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

from marginbook.claims import Verdict
from marginbook.smm.claims import problems, section_2_full_rank, section_2_hinge, section_3_descent
from marginbook.smm.claims import section_2_solution_form as solution_form
from marginbook.smm.claims import section_3_block_dual as block_duals
from marginbook.smm.claims import section_3_local_optima as local_optima
from marginbook.smm.claims.problems import SIZES, drawn, samples
from marginbook.smm.model.objective import objective

from ..verdicts import corrected, holds


@pytest.fixture(autouse=True)
def _fewer(monkeypatch):
    """Every second problem: all sizes, every penalty and both intercepts come up."""

    def few(seed, repeats=1, intercepts=(False, True)):
        return itertools.islice(samples(seed, repeats, intercepts), 0, None, 5)

    for module in (solution_form, section_2_full_rank, block_duals, section_3_descent):
        monkeypatch.setattr(module, "samples", few)


@pytest.mark.parametrize(
    "check",
    [
        solution_form.check_solution_form,
        section_2_full_rank.check_full_rank,
        section_2_full_rank.check_union,
        solution_form.check_side,
        block_duals.check_sparse,
        section_3_descent.check_rank_kept,
        section_2_hinge.check_robust,
        section_3_descent.check_monotone,
        section_3_descent.check_kink,
        local_optima.check_two_starts,
        local_optima.check_local_minima,
    ],
)
def test_these_hold(check):
    holds(check)


@pytest.mark.parametrize(
    "check",
    [
        block_duals.check_block_dual,
        block_duals.check_algorithm,
    ],
)
def test_these_are_corrected(check):
    corrected(check)


def test_problems_have_weights_intercepts_duplicates_and_both_classes():
    found = list(samples(0))
    assert len(found) == 3 * len(SIZES)
    assert {(*s.X.shape[1:], s.rank) for s in found} == {size[1:] for size in SIZES}
    assert {s.fit_intercept for s in found} == {False, True}
    assert sum(np.array_equal(s.X[0], s.X[-1]) for s in found) >= 4
    for s in found:
        assert set(s.y) == {-1.0, 1.0}
        assert np.all(s.weights > 0)
    assert {s.lam for s in problems.samples(1)} == set(problems.LAMBDAS)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_printed_dual_by_cvxpy(fit_intercept):
    rng = np.random.default_rng(0)
    X, y = drawn(rng, 15, 3, 4, 2)
    V, lam, n = rng.normal(size=(4, 2)), 0.05, 15
    P = np.linalg.qr(V)[0]
    _, _, alpha, value = solution_form.u_step(X, y, P, lam=lam, fit_intercept=fit_intercept)
    G = block_duals.printed_gram(X, V)
    a = cp.Variable(n)
    constraints = [a >= 0, a <= 1 / (2 * lam * n)] + [y @ a == 0] * fit_intercept
    quadratic = cp.quad_form(cp.multiply(a, y), cp.psd_wrap(G))
    problem = cp.Problem(cp.Maximize(cp.sum(a) - quadratic / 2), constraints)
    problem.solve(solver="CLARABEL")
    assert 2 * lam * problem.value == pytest.approx(value, rel=1e-6)
    assert 2 * lam * block_duals.printed_dual(alpha, y, G) == pytest.approx(value, rel=1e-6)


def test_a_wrong_box_would_fail(monkeypatch):
    own = solution_form.u_step

    def halved(*args, **kwargs):
        B, b, alpha, value = own(*args, **kwargs)
        return B, b, alpha / 2, value

    monkeypatch.setattr(block_duals, "u_step", halved)
    monkeypatch.setattr(solution_form, "u_step", halved)
    assert block_duals.check_block_dual().verdict == Verdict.FAILS
    assert block_duals.check_algorithm().verdict == Verdict.FAILS


def test_a_sum_on_the_wrong_side_would_fail(monkeypatch):
    own = solution_form.side_form
    monkeypatch.setattr(solution_form, "side_form", lambda a, y, X, P, new: 1.01 * own(a, y, X, P, new))
    assert solution_form.check_solution_form().verdict == Verdict.FAILS


def test_the_kernels_double_sum_by_a_loop():
    rng = np.random.default_rng(1)
    X, new, P = (
        rng.normal(size=(4, 3, 5)),
        rng.normal(size=(2, 3, 5)),
        np.linalg.qr(rng.normal(size=(3, 2)))[0].T,
    )
    alpha, y = rng.random(4), np.array([1.0, -1, 1, -1])
    slow = [sum(alpha[i] * y[i] * np.trace((P @ X[i]).T @ (P @ Z)) for i in range(4)) for Z in new]
    np.testing.assert_allclose(solution_form.side_form(alpha, y, X, P, new), slow, rtol=1e-12)


def test_the_descent_stays_in_the_kink_and_leaves_it_with_a_joint_step():
    lam, c = Fraction(1, 10), Fraction(3, 10)
    X = section_3_descent.kinked(c)
    end = section_3_descent.algorithm_1(X.astype(float), np.ones(3), np.eye(2)[:, :1], lam=0.1)
    np.testing.assert_allclose(end.B, [[1, 0], [0, 0]], atol=1e-5)
    for one in np.linspace(-0.5, 0.5, 21):  # each block alone
        for other in np.linspace(-0.5, 0.5, 21):
            for B in ([[1 + one, 0], [other, 0]], [[1 + one, other], [0, 0]]):
                here = objective(np.array(B), 0.0, X.astype(float), np.ones(3), lam=0.1)
                assert here >= end.path[-1] - 1e-9
    B = np.outer([1, Fraction(1, 10)], [1, Fraction(1, 10)])
    assert section_3_descent.exact_hinge(B, X, lam) < section_3_descent.exact_hinge(
        np.outer([1, 0], [1, 0]), X, lam
    )


def test_a_kink_without_a_descent_would_fail(monkeypatch):
    monkeypatch.setattr(section_3_descent, "kinked", lambda c, own=section_3_descent.kinked: own(Fraction(0)))
    assert section_3_descent.check_kink().verdict == Verdict.FAILS


def test_the_hessian_by_differences():
    rng = np.random.default_rng(2)
    X, y = drawn(rng, 10, 2, 3, 1)
    U, V, h = rng.normal(size=(2, 1)), rng.normal(size=(3, 1)), 1e-4

    def value(x):
        return objective(np.outer(x[:2], x[2:]), 0.0, X, y, lam=0.1, loss="logistic")

    x, eye = np.r_[U[:, 0], V[:, 0]], h * np.eye(5)
    H = [
        [
            (value(x + a + b) - value(x + a - b) - value(x - a + b) + value(x - a - b)) / (4 * h * h)
            for a in eye
        ]
        for b in eye
    ]
    np.testing.assert_allclose(local_optima.curvatures(U, V, X, y, 0.1), np.linalg.eigvalsh(H), atol=1e-5)


def test_the_span_of_a_matrix_without_rank():
    assert section_3_descent.span(np.zeros((3, 2))).shape == (3, 1)
    assert section_3_descent.span(np.ones((3, 2)), 2).shape == (3, 1)
    assert section_3_descent.span(np.eye(3), 2).shape == (3, 2)


@pytest.mark.parametrize("lam", [0.05, 30.0])
def test_a_turned_label_moves_the_fit_by_no_more_than_its_size(lam):
    """By cvxpy; under a strong penalty the bound is attained."""
    rng = np.random.default_rng(3)
    X, y = drawn(rng, 12, 2, 3, 1)
    found = []
    for labels in (y, np.where(np.arange(12) == 4, -y, y)):
        B = cp.Variable(6)
        loss = cp.sum(cp.pos(1 - cp.multiply(labels, X.reshape(12, 6) @ B))) / 12
        cp.Problem(cp.Minimize(loss + lam * cp.sum_squares(B))).solve(solver="CLARABEL")
        found.append(B.value)
        np.testing.assert_allclose(section_2_hinge.solved(X, labels, lam, "hinge")[0], B.value, atol=1e-4)
    share = np.linalg.norm(found[1] - found[0]) * lam * 12 / np.linalg.norm(X[4])
    assert share <= 1 + 1e-6
    assert (share > 1 - 1e-4) == (lam == 30.0)
