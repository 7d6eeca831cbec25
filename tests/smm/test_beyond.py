"""The claims beyond the draft: what they come to, what changes them, and oracles."""

import itertools

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginbook.claims import Verdict
from marginbook.smm.claims import (
    beyond_bound,
    beyond_bound_tight,
    beyond_estimation,
    beyond_levels,
    beyond_levels_rules,
    beyond_permuted,
    section_4_linear_kernel,
    tables_real_sets,
)
from marginbook.smm.claims.problems import drawn, samples
from marginbook.smm.model.objective import objective
from marginbook.smm.solvers.global_bound import improve

from ..verdicts import holds


@pytest.fixture(autouse=True)
def _fewer(monkeypatch):
    def few(seed, repeats=1, intercepts=(False, True)):
        return itertools.islice(samples(seed, repeats, intercepts), 0, None, 2)

    for module in (beyond_bound, beyond_bound_tight, section_4_linear_kernel):
        monkeypatch.setattr(module, "samples", few)


@pytest.mark.parametrize(
    "check",
    [
        beyond_levels.check_probability_bound,
        beyond_levels_rules.check_count,
        beyond_levels_rules.check_interval,
        beyond_levels_rules.check_one_wrong,
        beyond_levels.check_crossing_paths,
        beyond_bound.check_bound,
        beyond_bound.check_certificate,
        beyond_bound.check_share,
        beyond_bound_tight.check_strong_penalty,
        beyond_bound_tight.check_tight,
        beyond_bound_tight.check_gap,
        beyond_bound_tight.check_triplets,
        beyond_permuted.check_permuted,
        section_4_linear_kernel.check_linear_kernel,
        beyond_estimation.check_complexity,
        beyond_estimation.check_estimation,
    ],
)
def test_these_hold(check):
    holds(check)


def test_a_bound_with_too_few_singular_values_would_fail(monkeypatch):
    own = beyond_bound.bound

    def careless(c, X, y, *, rank, **settings):
        return own(c, X, y, rank=rank - 1, **settings)

    for module in (beyond_bound, beyond_bound_tight):
        monkeypatch.setattr(module, "bound", careless)
    assert beyond_bound.check_bound().verdict == Verdict.FAILS
    assert beyond_bound.check_certificate().verdict == Verdict.FAILS
    assert beyond_bound_tight.check_strong_penalty().verdict == Verdict.FAILS


def test_a_rule_that_forgets_a_level_would_fail(monkeypatch):
    monkeypatch.setattr(
        beyond_levels_rules, "count_rule", lambda s: (0.5 + (s[:, 1:] > 0).sum(axis=1)) / (s.shape[1] + 1)
    )
    assert beyond_levels_rules.check_count().verdict == Verdict.FAILS
    assert beyond_levels_rules.check_interval().verdict == Verdict.FAILS
    monkeypatch.setattr(beyond_levels_rules, "count_rule", beyond_levels_rules.interval_rule)
    assert beyond_levels_rules.check_one_wrong().verdict == Verdict.FAILS
    assert beyond_levels_rules.check_interval().verdict == Verdict.FAILS  # nothing is attained any more


def test_crossing_pairs_that_are_missed_would_fail(monkeypatch):
    own = beyond_levels_rules.crossing_pairs
    monkeypatch.setattr(beyond_levels_rules, "crossing_pairs", lambda s: np.maximum(own(s) - 1, 0))
    assert beyond_levels_rules.check_interval().verdict == Verdict.FAILS


@settings(max_examples=100)
@given(st.lists(st.sampled_from([-1.0, 1.0]), min_size=1, max_size=40))
def test_interval_and_count_are_as_near_as_crossings_let_them(decisions):
    H = len(decisions) + 1
    pairs = sum(a <= 0 < b for a, b in itertools.combinations(decisions, 2))
    f = np.array([decisions])
    apart = abs(beyond_levels_rules.interval_rule(f)[0] - beyond_levels_rules.count_rule(f)[0])
    assert apart <= max(pairs - 1, 0) / (2 * H) + 1e-12


def test_other_entries_in_other_matrices_would_fail(monkeypatch):
    """The permutation must be the same for all matrices."""
    rng = np.random.default_rng(0)

    def shuffled(X, order):
        return rng.permuted(X.reshape(len(X), -1), axis=1).reshape(X.shape)

    monkeypatch.setattr(beyond_permuted, "permuted", shuffled)
    assert beyond_permuted.check_permuted().verdict == Verdict.FAILS


@settings(max_examples=60)
@given(st.floats(0, 1), st.lists(st.floats(-2, 2), min_size=1, max_size=15))
def test_wrong_levels_cost_what_they_should(p, decisions):
    H = len(decisions) + 1
    pi, f = np.arange(1, H) / H, np.array(decisions)
    risk = (1 - pi) * p * np.maximum(1 - f, 0) + pi * (1 - p) * np.maximum(1 + f, 0)
    excess = (risk - 2 * np.minimum((1 - pi) * p, pi * (1 - p))).sum()
    k = int(((f > 0) != (p > pi)).sum())
    assert k * (k - 1) / (4 * H) <= excess + 1e-12
    assert abs(beyond_levels_rules.count_rule(f[None, :])[0] - p) <= 1 / (2 * H) + k / H + 1e-12


@pytest.mark.parametrize("kappa", [1.0, 3.0, 10.0])
def test_the_floor_of_the_example_by_search(kappa):
    """Rank 1: scan u_1 v_1, u_2 v_2 and the ratio of the two other entries."""
    X, y = beyond_bound_tight.with_a_gap(kappa)
    lowest = np.inf
    grid = np.linspace(-1.5, 1.5, 61)
    for a, d in itertools.product(grid, grid):
        for ratio in (0.05, 0.3, 1.0, 3.0, 20.0):
            off = np.sqrt(abs(a * d))
            B = np.array([[a, off * ratio], [np.sign(a * d) * off / ratio, d]])
            assert abs(np.linalg.det(B)) < 1e-12
            lowest = min(lowest, float(np.maximum(1 - y * np.einsum("nij,ij->n", X, B), 0).mean()))
    assert lowest >= (5 - 1 / kappa) / 6 - 1e-12


def test_the_ceiling_of_the_example_by_cvxpy():
    """The envelope's minimum, with the squared nuclear norm, is the best bound by multipliers."""
    X, y = beyond_bound_tight.with_a_gap(10.0)
    B = cp.Variable((2, 2))
    losses = [cp.pos(1 - label * cp.sum(cp.multiply(x, B))) for x, label in zip(X, y, strict=True)]
    problem = cp.Problem(cp.Minimize(sum(losses) / 6 + 0.01 * cp.square(cp.normNuc(B))))
    problem.solve(solver="SCS", eps=1e-7)
    assert problem.value <= 4 / 6 + 0.04 + 1e-5
    assert problem.value < (5 - 0.1) / 6


def test_maximised_bounds_do_not_exceed_the_best_of_many_descents():
    X, y = drawn(np.random.default_rng(3), 20, 3, 3, 1)
    c = beyond_bound_tight.maximise_bound(X, y, lam=0.05, rank=1)
    assert np.all((c > 0) & (c < 1 / 20))
    D = beyond_bound.bound(c, X, y, lam=0.05, rank=1, loss="logistic", weights=np.ones(20))
    flat = beyond_bound.bound(
        np.full(20, 0.5 / 20), X, y, lam=0.05, rank=1, loss="logistic", weights=np.ones(20)
    )
    rng = np.random.default_rng(4)
    values = [
        objective(np.outer(rng.normal(size=3), rng.normal(size=3)), 0.0, X, y, lam=0.05, loss="logistic")
        for _ in range(200)
    ]
    assert flat <= D <= min(values)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_two_ways_to_maximise_the_bound_agree(seed):
    """Quasi-Newton steps on the multipliers, and proximal steps on the matrices of the relaxation."""
    X, y = drawn(np.random.default_rng(seed), 30, 4, 3, 1)
    c = beyond_bound_tight.maximise_bound(X, y, lam=0.1, rank=1)
    D = beyond_bound.bound(c, X, y, lam=0.1, rank=1, loss="logistic", weights=np.ones(30))
    other = improve(X, y, rank=1, lam=0.1, loss="logistic", max_iter=2000).value
    assert pytest.approx(other, rel=5e-3) == D


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_the_largest_inner_product_at_a_rank_by_singular_values(rank):
    rng = np.random.default_rng(rank)
    M = rng.normal(size=(3, 5))
    assert beyond_estimation.climbed(M, rank, rng) == pytest.approx(beyond_estimation.top_norm(M, rank))
    left, sigma, right = np.linalg.svd(M, full_matrices=False)
    best = (left[:, :rank] * sigma[:rank]) @ right[:rank]
    assert np.sum(best * M) / np.linalg.norm(best) == pytest.approx(beyond_estimation.top_norm(M, rank))


def test_the_complexity_of_vectors_is_that_of_full_rank():
    X = np.random.default_rng(4).normal(size=(6, 3, 2))
    eps = beyond_estimation.signs(6)
    assert eps.shape == (64, 6)
    norms = np.linalg.norm(eps @ X.reshape(6, -1), axis=1)
    np.testing.assert_allclose(beyond_estimation.top_norm(beyond_estimation.sums(X, eps), 2), norms)
    assert norms.mean() <= beyond_estimation.bounds(X, 2)[0]


def test_functions_of_the_small_class_are_in_it():
    for rank in (1, 2):
        B, b = beyond_estimation.small_class(2.0, 1.0, rank)
        assert len(B) == len(b) > 1000
        sigma = np.linalg.svd(B, compute_uv=False)
        assert np.linalg.norm(sigma, axis=1).max() <= 2 + 1e-12
        assert (sigma[:, 1].max() > 0.1) == (rank == 2)
        assert np.abs(b).max() == 1


@pytest.mark.parametrize(("q", "pi"), [(0.005, 0.5), (0.1, 0.5), (0.1, 0.2)])
def test_a_rare_matrix_reaches_the_bound_of_a_level(q, pi):
    """The excess is 2(1 - pi) q (1 - q), and the bound 2(1 - pi) q."""
    assert beyond_estimation.rare(q=q, pi=pi) == pytest.approx(1 - q)


def test_what_sets_cost():
    y = np.array([1.0, 1.0, -1.0, -1.0])
    inside = np.array([[True, False], [True, True], [True, False], [False, False]])
    # levels 1/3 and 2/3: a negative one inside costs 1/3, a positive one outside 1/3
    np.testing.assert_allclose(tables_real_sets.cost(inside, y), [1 / 12, 1 / 12])


def test_level_sets_of_real_digits(monkeypatch):
    monkeypatch.setattr(tables_real_sets, "SPLITS", 3)
    assert tables_real_sets.check_real_sets(shuffled=True).verdict == Verdict.NOT_REPRODUCED
    monkeypatch.undo()
    evidence = tables_real_sets.check_real_sets()
    assert evidence.verdict == Verdict.REPRODUCED
    assert evidence.slack > 0
