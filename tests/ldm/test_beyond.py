"""Theorem 3 as printed, its two readings, and the claims on leave-one-out."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose

from marginbook.ldm.claims.exact_line import Parameters, expectation, expected_error, left_out_error, train
from marginbook.ldm.claims.exact_line import printed_bound as line_printed_bound
from marginbook.ldm.claims.leave_one_out_selection import SCORES, choose
from marginbook.ldm.claims.printed_theorem_3 import (
    counted_bound,
    plane_points,
    printed_bound,
    repelling_points,
    restricted_leave_one_out,
)
from marginbook.ldm.claims.section_3_expectation import check_expectation
from marginbook.ldm.claims.section_3_leave_one_out import check_bound, check_restricted
from marginbook.ldm.claims.section_3_theorem_3 import check_theorem_3, on_repelling_law, partitions
from marginbook.ldm.model.whitening import WhitenedGram
from marginbook.ldm.solvers import active_set
from marginbook.ldm.solvers.leave_one_out_exact import exact_leave_one_out

CASES = [(0.0, 0.0, 1.0), (0.25, 0.25, 10.0), (30.0, 70.0, 0.1), (0.01, 5.0, 20.0)]


def fit(X, y, lambda1, lambda2, C):
    H = WhitenedGram(X @ X.T, y).hessian(lambda1)
    return H, active_set(H, y, lambda1, lambda2, C, tol=1e-12)


@pytest.mark.parametrize(("lambda1", "lambda2", "C"), CASES)
def test_restricted_machine_is_the_primal_without_one_hinge(lambda1, lambda2, C):
    import cvxpy as cp

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(9, 2)), np.where(np.arange(9) < 4, 1.0, -1.0)
    H, model = fit(X, y, lambda1, lambda2, C)
    found = restricted_leave_one_out(H, lambda2, C, solution=model)
    for i in (0, 5):
        w = cp.Variable(2)
        margins = cp.multiply(y, X @ w)
        mean = cp.sum(margins) / 9
        hinge = cp.sum(cp.pos(1 - margins[np.delete(np.arange(9), i)]))
        value = cp.sum_squares(w) / 2 + 2 * lambda1 / 9 * cp.sum_squares(margins - mean)
        cp.Problem(cp.Minimize(value - lambda2 * mean + C * hinge)).solve(solver=cp.CLARABEL)
        assert_allclose(found[i], y[i] * X[i] @ w.value, atol=1e-4)


@pytest.mark.parametrize("m", [2, 3, 8])
@pytest.mark.parametrize(
    ("lambda1", "lambda2", "C"), [(0.0, 1.0, 10.0), (2**-2, 0.6, 100.0), (9.0, 70.0, 0.01)]
)
def test_repelling_points_are_all_misclassified_where_the_theorem_says_none(m, lambda1, lambda2, C):
    X, y = repelling_points(m)
    H, model = fit(X, y, lambda1, lambda2, C)
    assert printed_bound(H, model.beta, C) == 0.0
    assert_allclose(model.margins, lambda2 * m, rtol=1e-9)
    exact = exact_leave_one_out(X @ X.T, y, lambda1, lambda2, C)
    assert_allclose(exact, -3 * lambda2 * m, rtol=1e-6)
    # the restricted machines are the machine itself: no dual variable was positive
    assert_allclose(restricted_leave_one_out(H, lambda2, C, solution=model), model.margins, rtol=1e-9)


def test_printed_bound_adds_up():
    H = np.diag([2.0, 3.0, 1.0, 1.0])
    beta = np.array([0.0, 0.5, 2.0, 0.25])
    assert printed_bound(H, beta, 2.0) == pytest.approx((3 * 0.75 + 1) / 4)
    assert counted_bound(H, beta, 2.0) == 0.5


def test_leave_one_out_needs_two_points():
    with pytest.raises(ValueError, match="at least 2 points, got m=1"):
        repelling_points(1)


@pytest.mark.parametrize("seed", range(40))
def test_machine_on_a_line_equals_the_solver(seed):
    rng = np.random.default_rng(seed)
    v = [Fraction(int(a), 2) for a in rng.integers(-4, 5, size=rng.integers(1, 7))]
    exact = Parameters(Fraction(int(rng.integers(3)), 4), Fraction(int(rng.integers(12))), Fraction(3, 2))
    machine = train(v, exact)
    x = np.array(v, dtype=float)[:, None]
    parameters = float(exact.lambda1), float(exact.lambda2), float(exact.C)
    H, model = fit(x, np.ones(len(v)), *parameters)
    assert_allclose(model.margins, x[:, 0] * float(machine.w), atol=1e-5)
    # the certificate of the exact machine: its dual variables lie in the box and give w
    beta = np.array(machine.beta, dtype=float)
    assert ((beta >= 0) & (beta <= parameters[2])).all()
    assert_allclose(
        x[:, 0] @ (beta + parameters[1] / len(v)) / float(machine.q), float(machine.w), atol=1e-12
    )
    # the dual is not unique for equal points, but its sums are
    if len(set(v)) == len(v):
        assert float(line_printed_bound(v, exact)) == pytest.approx(
            printed_bound(H, model.beta, parameters[2])
        )


def test_leave_one_out_on_a_line_equals_retraining():
    v = (Fraction(1), Fraction(-1, 2), Fraction(2), Fraction(-3))
    exact = Parameters(Fraction(1), Fraction(8), Fraction(1))
    x = np.array(v, dtype=float)[:, None]
    margins = exact_leave_one_out(x @ x.T, np.ones(4), 1.0, 8.0, 1.0)
    assert margins[1] == 0.0  # 1 + 2 - 3, which floating point misses by 1e-15 to either side
    assert left_out_error(v, exact) == Fraction(int(np.sum(margins <= 0)), 4)


def test_expectation_is_the_sum_over_all_samples():
    atoms, weights = (Fraction(1), Fraction(3)), (Fraction(1, 4), Fraction(3, 4))
    assert expectation(atoms, weights, 3, lambda v: sum(v, Fraction(0))) == 3 * Fraction(10, 4)
    # one draw: w has the sign of the atom, and is wrong on the other one
    sides = (Fraction(1), Fraction(-1))
    parameters = Parameters(Fraction(0), Fraction(1), Fraction(1))
    assert expected_error(sides, weights, 1, parameters) == 2 * Fraction(3, 16)


def test_choices_are_made_by_the_smallest_score():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(60) % 2, 1.0, -1.0)
    choice = choose(rng.normal(size=(60, 3)) + 0.4 * y[:, None], y, 30, 1)
    assert choice.scores.shape == (len(choice.settings), len(SCORES))
    bound, exact = choice.scores[:, 0], choice.scores[:, 1]
    assert (exact <= bound).all()
    assert choice.trained.max() < 30
    for k, error in enumerate(choice.chosen()):
        assert error in choice.test[choice.scores[:, k] == choice.scores[:, k].min()]


@pytest.mark.parametrize("check", [check_theorem_3, check_expectation, check_bound, check_restricted])
def test_claims_are_decided_by_what_is_measured(check):
    evidence = check()
    assert evidence.measured
    negative = "fails" if check is check_theorem_3 else "corrected"
    assert evidence.verdict == ("holds" if evidence.slack > 0 else negative)


def test_theorem_3_fails_inside_the_printed_grid_and_holds_for_the_svm():
    error, bound = on_repelling_law((2**-8, 2**-8, 10.0), 8)
    assert bound == 0
    assert error == pytest.approx((59 / 60) ** 8)
    assert check_theorem_3(settings=((0.0, 0.0, 10.0),)).verdict == "holds"


def test_partitions_stand_for_all_samples():
    """With as many types as partitions, the chances of the samples of each sum to one."""
    assert len(list(partitions(8))) == 22
    one, _ = on_repelling_law((0.0, 0.0, 1.0), 3, lambda *_: 1.0)
    assert on_repelling_law((0.0, 0.0, 1.0), 3, lambda *_: 1.0)[1] == pytest.approx(1.0)
    assert 0 < one < 1


def test_the_inequality_of_theorem_3_is_reached_by_its_own_machines():
    evidence = check_restricted()
    assert evidence.verdict == "holds"
    assert evidence.reach > 0.99
    assert check_restricted(factor=0.98).verdict == "fails"
    assert check_restricted(retrained=True).verdict == "fails"


def test_plane_points_cross_the_printed_bound():
    X, y = plane_points()
    for lambda2, said, true in ((1.0, 5.0, 3), (32.0, 0.0, 3), (8.0, 3.0, 0)):
        H, model = fit(X, y, 1.0, lambda2, 1.0)
        assert 8 * printed_bound(H, model.beta, 1.0) == pytest.approx(said, abs=0.01)
        assert np.sum(exact_leave_one_out(X @ X.T, y, 1.0, lambda2, 1.0) < 0) == true
