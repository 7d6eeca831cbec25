"""What the claims beyond the paper are made of, and that a wrong solver or rule changes their verdicts."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from marginbook.claims import Verdict
from marginbook.clasmk import claims
from marginbook.clasmk.claims import (
    beyond_criterion_2,
    beyond_dinkelbach,
    beyond_signs,
    beyond_thresholds,
    beyond_vertices,
    section_3_ratio_error,
)
from marginbook.clasmk.claims import beyond_criterion_2_choices as near
from marginbook.clasmk.claims import beyond_narrow_kernels as narrow
from marginbook.clasmk.claims.real_rows import PARTS, SETS, Rows, real_rows
from marginbook.clasmk.model.normalised_kernels import normalised_gram
from marginbook.clasmk.model.objective import diagonals, ratio
from marginbook.clasmk.model.statistics import Separation
from marginbook.clasmk.solvers.dinkelbach import dinkelbach
from marginbook.clasmk.solvers.kernel_choice import choose_exact, choose_greedy

KERNELS = [("rbf", {"gamma": 0.5}), ("rbf", {"gamma": 0.05}), ("poly", {"degree": 2})]


@pytest.fixture(scope="module")
def iris():
    rows = real_rows("iris", 0, 30)
    return rows, rows.subspaces(KERNELS)


# data


@pytest.mark.parametrize(("name", "per_class"), SETS)
def test_parts_are_disjoint_balanced_and_scaled_without_new_rows(name, per_class):
    rows = real_rows(name, 3, per_class)
    known = np.vstack([rows.X["basis"], rows.X["held_out"]])
    assert_allclose(known.mean(axis=0), 0, atol=1e-12)
    assert_allclose(known.std(axis=0), 1)
    counts = np.array([np.bincount(rows.y[part]) for part in PARTS])
    assert np.ptp(counts, axis=0).max() <= 1
    assert counts.sum(axis=0).max() <= per_class
    assert not np.isclose(rows.X["new"].mean(axis=0), 0, atol=1e-6).all()
    again, other = real_rows(name, 3, per_class), real_rows(name, 4, per_class)
    assert_array_equal(again.X["new"], rows.X["new"])
    assert other.X["new"].shape != rows.X["new"].shape or (other.X["new"] != rows.X["new"]).any()


# bases


def test_one_flip_changes_one_column_and_two_flips_nothing(iris):
    _, bases = iris
    other = beyond_signs.flipped(bases, 1, 2, column=1)
    for c, row in enumerate(other):
        for i, s in enumerate(row):
            change = np.flatnonzero((s.A != bases[c][i].A).any(axis=0))
            assert change.tolist() == ([1] if (c, i) == (1, 2) else [])
    assert_array_equal(beyond_signs.flipped(other, 1, 2, column=1)[1][2].A, bases[1][2].A)


def test_change_of_the_kernel_is_that_of_the_double_sum(iris):
    rows, bases = iris
    X = rows.X["new"][:9]
    nu = np.random.default_rng(0).dirichlet(np.ones(3), size=3)

    def h(of, combine):
        total = np.zeros((9, 9))
        for c, row in enumerate(of):
            for i, s in enumerate(row):
                for j, t in enumerate(row):
                    if combine == "concat" and i != j:
                        continue
                    z, w = s.coordinates(X), t.coordinates(X)
                    k = min(z.shape[1], w.shape[1])
                    total += np.sqrt(nu[c, i] * nu[c, j]) * z[:, :k] @ w[:, :k].T
        return total

    other = beyond_signs.with_signs(bases, np.random.default_rng(1))
    for combine in ("sum", "concat"):
        before, after = h(bases, combine), h(other, combine)
        expected = np.abs(before - after).max() / np.abs(before).max()
        assert_allclose(beyond_signs.kernel_change(X, bases, other, nu, combine), expected, atol=1e-12)
    assert expected < 1e-12


def test_the_order_of_choice_is_the_cholesky_factor(iris):
    _, bases = iris
    for row, again in zip(bases, beyond_signs.in_order_of_choice(bases), strict=True):
        for s, t in zip(row, again, strict=True):
            factor = np.linalg.cholesky(normalised_gram(s.kernel, s.rows))
            assert_allclose(t.coordinates(s.rows), factor, atol=1e-6)
            assert_allclose(
                t.A.T @ normalised_gram(s.kernel, s.rows) @ t.A, np.eye(t.n_components), atol=1e-8
            )


def test_vertices_have_no_sign_to_flip(iris):
    rows, bases = iris
    vertex = np.eye(3)[[0, 2, 1]]
    assert beyond_signs.worst_flip(rows.X["new"], bases, vertex) is bases
    other = beyond_signs.with_signs(bases, np.random.default_rng(0))
    assert beyond_signs.kernel_change(rows.X["new"], bases, other, vertex, "sum") == 0
    assert beyond_signs.kernel_change(rows.X["new"], bases, other, np.full((3, 3), 1 / 3), "sum") > 0.05


# choices and vertices


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.sampled_from(beyond_criterion_2.LAWS), st.integers(2, 5), st.integers(1, 6))
def test_linear_program_exact_rule_and_bounds_agree(seed, law, classes, kernels):
    n, d = beyond_criterion_2.random_terms(np.random.default_rng(seed), classes, kernels, law)
    exact = choose_exact(n, d).objective
    assert_allclose(beyond_vertices.least_by_linear_program(n, d), exact, rtol=1e-7, atol=1e-9)
    if d.min() > 0:
        assert near._below_bound(n, d)


@pytest.mark.parametrize("factor", [2.0, 100.0, 1e8])
def test_the_greedy_rule_misses_by_any_factor(factor):
    n, d = near.worst_case(factor)
    missed = choose_greedy(n, d).objective / choose_exact(n, d).objective
    assert 0.99 * factor < missed <= factor


def test_unknown_laws_are_refused():
    with pytest.raises(ValueError, match="unknown law 'normal'; choose from independent, widths, ties"):
        beyond_criterion_2.random_terms(np.random.default_rng(0), 2, 2, "normal")


def test_without_ties_weights_inside_are_strictly_worse():
    n, d = beyond_criterion_2.random_terms(np.random.default_rng(3), 3, 5, "independent")
    found = choose_exact(n, d)
    nearly = 0.99 * np.eye(5)[found.kernels] + 0.01 / 5
    assert (n * nearly).sum() / (d * nearly).sum() > found.objective


def test_with_a_tie_the_whole_face_is_optimal():
    n, d = np.array([[1.0, 2.0], [3.0, 9.0]]), np.array([[1.0, 2.0], [3.0, 3.0]])
    assert choose_exact(n, d).objective == 1.0
    for t in (0.0, 0.3, 1.0):
        nu = np.array([[t, 1 - t], [1.0, 0.0]])
        assert_allclose((n * nu).sum() / (d * nu).sum(), 1.0)


def test_random_statistics_are_positive_semidefinite_and_of_low_rank():
    measured = beyond_vertices.random_separation(np.random.default_rng(0), 3, 6, 2)
    for stack in (measured.numerator, measured.denominator):
        assert np.linalg.eigvalsh(stack).min() > -1e-12
        assert (np.linalg.matrix_rank(stack) == 3).all()


# the solver


def test_orders_of_convergence():
    errors = np.array([1e-1, 1e-2, 1e-4, 1e-8])
    path = np.r_[3 * (1 + errors), 3.0]
    assert_allclose(beyond_dinkelbach.error_orders(path), [2.0, 2.0], rtol=1e-6)
    linear = np.r_[3 * (1 + 0.5 ** np.arange(4, 9)), 3.0]
    assert max(beyond_dinkelbach.error_orders(linear)) < 1.3


def test_no_nelder_mead_run_is_below_the_proved_minimum():
    measured = beyond_vertices.random_separation(np.random.default_rng(5), 2, 3, 2)
    N, D = measured.numerator, measured.denominator
    found = dinkelbach(N, D)

    def value(x):
        squares = x.reshape(2, 3) ** 2
        return ratio(squares / squares.sum(axis=1, keepdims=True), N, D)

    rng = np.random.default_rng(0)
    ends = [minimize(value, rng.uniform(size=6), method="Nelder-Mead").fun for _ in range(8)]
    assert min(ends) >= found.objective * (1 - 1e-9)
    assert min(ends) <= found.objective * 1.02


# narrow kernels


def test_nearest_distances_by_a_loop(iris):
    rows, _ = iris
    other, own = np.inf, np.inf
    for x, c in zip(rows.X["held_out"], rows.y["held_out"], strict=True):
        for b, k in zip(rows.X["basis"], rows.y["basis"], strict=True):
            if c == k:
                own = min(own, np.sum((x - b) ** 2))
            else:
                other = min(other, np.sum((x - b) ** 2))
    assert_allclose(narrow.nearest(rows), (other, own))


def test_where_the_nearest_neighbour_is_of_another_class_the_ratio_grows():
    X = {"basis": np.array([[0.0], [1.0]]), "held_out": np.array([[0.9], [0.1]]), "new": np.zeros((2, 1))}
    rows = Rows("toy", X, dict.fromkeys(X, np.array([0, 1])))
    assert_allclose(narrow.nearest(rows), (0.01, 0.81))
    assert_allclose(narrow.log_ratio(rows, 20.0), 2 * 20 * 0.8, rtol=1e-6)


def test_both_thresholds_are_applied():
    measured = beyond_vertices.random_separation(np.random.default_rng(1), 2, 4, 2)
    measured = replace(measured, energy=np.array([[0.5, 0.0, 0.5, 0.5], [0.5, 0.1, 0.5, 0.5]]))
    weights, kept = beyond_thresholds.learned(measured, 0.2, 0.0)
    assert kept.tolist() == [0, 2, 3]
    assert (weights[:, 1] == 0).all()
    assert_allclose(weights.sum(axis=1), 1)
    single, _ = beyond_thresholds.learned(measured, 0.2, 1.0)
    assert ((single == 1).sum(axis=1) == 1).all()


# verdicts


def test_every_module_of_the_door_enters_its_claims():
    for module in (
        beyond_dinkelbach,
        beyond_criterion_2,
        narrow,
        near,
        section_3_ratio_error,
        beyond_signs,
        beyond_thresholds,
        beyond_vertices,
    ):
        assert getattr(claims, module.__name__.rsplit(".", 1)[1]) is module


def test_what_is_learned_from_the_signs_is_an_error_only_if_signs_change(monkeypatch):
    monkeypatch.setattr(beyond_signs, "SMALL", (("iris", 30),))
    assert beyond_signs.check_signs().verdict == Verdict.HOLDS
    assert beyond_signs.check_bases().verdict == Verdict.HOLDS
    monkeypatch.setattr(beyond_signs, "with_signs", lambda bases, rng: bases)
    monkeypatch.setattr(beyond_signs, "flipped", lambda bases, c, i: bases)
    monkeypatch.setattr(beyond_signs, "in_order_of_choice", lambda bases: bases)
    assert beyond_signs.check_signs().verdict == Verdict.FAILS
    assert beyond_signs.check_bases().verdict == Verdict.FAILS


def few(name, per_class=18, kernels=KERNELS):
    """Statistics of one small set, as `real_statistics` yields them."""
    rows = real_rows(name, 0, per_class)
    subspaces = rows.subspaces(kernels)
    mean = rows.separation(subspaces, denominator="mean", combine="concat")
    return [(f"{name}, few, 0.1", mean, rows.separation(subspaces))]


def test_a_greedy_rule_in_place_of_the_exact_one_is_noticed(monkeypatch):
    monkeypatch.setattr(beyond_criterion_2, "real_statistics", lambda: few("wine"))
    monkeypatch.setattr(beyond_vertices, "real_statistics", lambda: few("wine"))
    monkeypatch.setattr(beyond_vertices, "SMALL", ())
    assert beyond_criterion_2.check_criterion().verdict == Verdict.HOLDS
    assert beyond_vertices.check_concat().verdict == Verdict.HOLDS
    for module in (beyond_criterion_2, beyond_vertices):
        monkeypatch.setattr(module, "choose_exact", choose_greedy)
    assert beyond_criterion_2.check_criterion().verdict == Verdict.FAILS
    assert beyond_vertices.check_concat().verdict == Verdict.FAILS


def iris_statistics():
    """The first set of `real_statistics`, on which the greedy rule misses most."""
    return list(islice(beyond_criterion_2.real_statistics(), 6))


def test_an_exact_rule_in_place_of_the_greedy_one_is_noticed(monkeypatch):
    iris = iris_statistics()
    monkeypatch.setattr(near, "real_statistics", lambda: iris)
    assert near.check_greedy().verdict == Verdict.HOLDS
    monkeypatch.setattr(near, "choose_greedy", choose_exact)
    assert near.check_greedy().verdict == Verdict.FAILS


def test_smallest_weights_in_place_of_the_largest_are_noticed(monkeypatch):
    iris = iris_statistics()
    monkeypatch.setattr(near, "real_statistics", lambda: iris)
    assert near.check_largest().verdict == Verdict.HOLDS
    monkeypatch.setattr(near, "largest_weights", lambda weights: weights.argmin(axis=1))
    assert near.check_largest().verdict == Verdict.FAILS


def test_largest_weights_of_concatenated_kernels_minimise_criterion_2(monkeypatch):
    swapped = [(name, Separation(e.numerator, e.denominator), e) for name, _, e in few("wine") + few("iris")]
    monkeypatch.setattr(near, "real_statistics", lambda: swapped)
    monkeypatch.setattr(near, "dinkelbach", lambda N, D, max_nodes: dinkelbach(N, D, combine="concat"))
    assert near.check_largest().verdict == Verdict.HOLDS


def test_local_minimisers_in_the_subproblems_are_noticed(monkeypatch):
    monkeypatch.setattr(beyond_dinkelbach, "real_problems", lambda most: [few("iris")[0][2]])
    assert beyond_dinkelbach.check_dinkelbach().verdict == Verdict.HOLDS

    def local(N, D, *, start=None, tol=1e-10, max_nodes=0, max_iter=100):
        return dinkelbach(N, D, start=start, tol=tol, max_nodes=0)

    monkeypatch.setattr(beyond_dinkelbach, "dinkelbach", local)
    assert beyond_dinkelbach.check_dinkelbach().verdict == Verdict.FAILS


def test_a_sum_that_misses_its_vertices_is_noticed(monkeypatch):
    monkeypatch.setattr(beyond_vertices, "SMALL", (("iris", 30),))
    assert beyond_vertices.check_average().verdict == Verdict.HOLDS

    def uniform(N, D, max_nodes=0):
        found = dinkelbach(N, D, max_nodes=0)
        weights = np.full(N.shape[:2], 1 / N.shape[1])
        return replace(found, weights=weights, objective=ratio(weights, N, D))

    monkeypatch.setattr(beyond_vertices, "dinkelbach", uniform)
    assert beyond_vertices.check_average().verdict == Verdict.FAILS
    monkeypatch.setattr(beyond_vertices, "SETS", (("iris", 30),))
    assert beyond_vertices.check_sum().verdict == Verdict.FAILS
    monkeypatch.setattr(beyond_vertices, "dinkelbach", dinkelbach)
    assert beyond_vertices.check_sum().verdict == Verdict.HOLDS


def test_exchanged_distances_and_equal_thresholds_are_noticed(monkeypatch):
    monkeypatch.setattr(narrow, "SETS", (("iris", 30), ("wine", 30)))
    monkeypatch.setattr(beyond_thresholds, "SETS", (("wine", 60), ("wdbc", 60)))
    assert narrow.check_limit().verdict == Verdict.HOLDS
    assert beyond_thresholds.check_thresholds().verdict == Verdict.HOLDS
    true = narrow.nearest
    monkeypatch.setattr(narrow, "nearest", lambda rows: true(rows)[::-1])
    assert narrow.check_limit().verdict == Verdict.FAILS
    same = ((0.1, 0.1), (0.1, 0.1))
    assert beyond_thresholds.check_thresholds(pairs_of=same).verdict == Verdict.FAILS


def test_held_out_rows_in_place_of_those_of_the_bases_are_noticed(monkeypatch):
    monkeypatch.setattr(narrow, "SETS", (("wine", 60), ("wdbc", 60)))
    assert narrow.check_optimism().verdict == Verdict.HOLDS
    true = Rows.separation

    def on_other_rows(self, subspaces, part="held_out", **options):
        return true(self, subspaces, "held_out" if part == "basis" else part, **options)

    monkeypatch.setattr(Rows, "separation", on_other_rows)
    assert narrow.check_optimism().verdict == Verdict.FAILS


def test_diagonals_alone_are_what_concatenation_measures(iris):
    rows, bases = iris
    whole, own = rows.separation(bases), rows.separation(bases, combine="concat")
    assert_allclose(diagonals(whole.numerator), diagonals(own.numerator))
    assert_allclose(diagonals(whole.denominator), diagonals(own.denominator))


def test_ratios_and_errors_of_each_kernel_alone(iris):
    rows, bases = iris
    h, errors, energy = section_3_ratio_error.ratios_and_errors(rows, KERNELS, 0.0)
    assert_allclose(energy, rows.separation(bases).energy.mean(axis=0))
    measured = rows.separation(bases)
    for k in range(3):
        nu = np.tile(np.eye(3)[k], (3, 1))
        assert_allclose(h[k], ratio(nu, measured.numerator, measured.denominator))
        assert_allclose(errors[k], np.mean(beyond_signs.predictions(rows, bases, nu, "sum") != rows.y["new"]))


def test_ranks_that_agree_are_noticed(monkeypatch):
    rising = np.arange(1.0, 6.0)
    monkeypatch.setattr(section_3_ratio_error, "ratios_and_errors", lambda *_: (rising, rising, np.ones(5)))
    assert section_3_ratio_error.check_errors().verdict == Verdict.HOLDS
    monkeypatch.setattr(section_3_ratio_error, "ratios_and_errors", lambda *_: (rising, -rising, np.ones(5)))
    assert section_3_ratio_error.check_errors().verdict == Verdict.FAILS
    bent = np.array([9.0, 8.0, 1.0, 2.0, 3.0])
    monkeypatch.setattr(section_3_ratio_error, "ratios_and_errors", lambda *_: (rising, bent, 0.2 * rising))
    assert section_3_ratio_error.check_errors().verdict == Verdict.CORRECTED


def test_the_strictest_threshold_is_a_reading_of_its_own(monkeypatch):
    """A kernel that holds a twentieth of the energy is left out by eta = 1 with up to 20 classes."""
    found = np.arange(1.0, 6.0), np.array([9.0, 1.0, 2.0, 3.0, 4.0]), np.array([0.05, 1.0, 1.0, 1.0, 1.0])
    monkeypatch.setattr(section_3_ratio_error, "ratios_and_errors", lambda *_: found)
    evidence = section_3_ratio_error.check_errors()
    assert evidence.verdict == Verdict.CORRECTED
    assert "positive in 0 of 8" in evidence.measured
    assert (
        "positive in 8 of 8 divisions, and the kernel with the least ratio has a larger error than the "
        in (evidence.reading)
    )
    assert evidence.reading.endswith("in 0. But Section 4 asks for eta << 1.")


def test_of_the_papers_two_thresholds_that_which_does_better_has_the_verdict(monkeypatch):
    rising = np.arange(1.0, 6.0)
    found = {0.1: -rising, 0.01: rising}
    monkeypatch.setattr(
        section_3_ratio_error,
        "ratios_and_errors",
        lambda rows, kernels, eta: (rising, found[eta], np.ones(5)),
    )
    evidence = section_3_ratio_error.check_errors()
    assert evidence.verdict == Verdict.HOLDS
    assert evidence.reading.startswith("The verdict is that with eta = 0.01,")
    assert "with eta = 0.1 it is positive in 0, and larger in 8." in evidence.reading
