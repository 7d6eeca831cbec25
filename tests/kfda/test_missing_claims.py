"""The claims on several classes, closed forms and Newton's method, and the rivals of the room."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from marginbook.claims import Kind, Verdict, ledger
from marginbook.claims.catalogue import rivals_of
from marginbook.kfda.claims import newton_race, radicals, section_1_operators, section_3_newton
from marginbook.kfda.claims.rational import rationals
from marginbook.kfda.model.objective import Problem, objective


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        (section_1_operators.check_operators, Verdict.HOLDS),
        (section_3_newton.check_closed_form, Verdict.HOLDS),
        (section_3_newton.check_newton, Verdict.HOLDS),
    ],
)
def test_the_verdicts(check, verdict):
    assert check().verdict == verdict


def test_the_operators_span_the_coordinates_of_scikit_learn():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), 20)
    X = rng.normal(size=(80, 6)) + 2 * rng.normal(size=(4, 6))[labels]
    found = section_1_operators.operators(X, labels)
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-12)
    assert section_1_operators.rank(found) == 3
    scalings = LinearDiscriminantAnalysis(solver="eigen").fit(X, labels).scalings_[:, :3]
    assert section_1_operators.apart(found, scalings, 3) < 1e-8
    other = X + 0.5 * rng.normal(size=X.shape)
    assert section_1_operators.apart(section_1_operators.operators(other, labels), scalings, 3) > 0.01


def test_with_a_penalty_each_class_has_an_operator_of_its_own():
    rng = np.random.default_rng(1)
    labels = np.repeat(np.arange(3), 10)
    X = rng.normal(size=(30, 4)) + rng.normal(size=(3, 4))[labels]
    for q in (0.5, 1.0):
        vectors, smoothers, off, kept = section_1_operators.penalised_operators(X, labels, q, 1e-2)
        assert (vectors, smoothers) == (3, 3)
        assert off < 1e-5
        assert max(kept) < 30
    for q, rho in ((2.0, 1e-2), (1.0, 0.0)):  # the ridge and least squares have one smoother for all
        assert section_1_operators.penalised_operators(X, labels, q, rho)[1] == 1


def test_the_patterns_of_a_polynomial_modulo_primes():
    # x^4 + 1 is reducible modulo every prime; x^2 + 1 by the residue of p
    assert {max(radicals.pattern([1, 0, 0, 0, 1], p)) for p in (3, 5, 7, 17)} == {1, 2}
    assert radicals.pattern([1, 0, 1], 7) == [2]
    assert radicals.pattern([1, 0, 1], 13) == [1, 1]
    assert radicals.pattern([1, 0, 1], 2) is None  # a double factor
    assert radicals.pattern([1, 0, 7], 7) is None  # of a lower degree
    # (x^2 + 1) (x^3 - 2) modulo 7, where 2 is no cube
    assert sorted(radicals.pattern(radicals.times([1, 0, 1], [-2, 0, 0, 1]), 7)) == [2, 3]


def test_only_groups_that_are_not_solvable_are_called_so():
    assert radicals.no_radicals([-1, -1, 0, 0, 0, 1])  # x^5 - x - 1, the symmetric group
    for solvable in ([-2, 0, 0, 0, 0, 1], [1, 1, 1, 1, 1, 1, 1], [-3] + 8 * [0] + [1], [-1, 0, 0, 1]):
        assert not radicals.no_radicals(solvable)
    # reducible, although a factor has no root in radicals: nothing is claimed
    assert not radicals.no_radicals(radicals.times([-1, -1, 0, 0, 0, 1], [-2, 0, 1]))


def test_the_polynomial_of_two_coefficients_has_the_root_of_a_stationary_point():
    # u = (1, 2): A = [[2, 1], [1, 3]] and c such that u_i (c_i - (A u^2)_i) = 4
    A, u = np.array([[2, 1], [1, 3]]), np.array([1, 2])
    c = A @ u**2 + 4 // u
    f = section_3_newton.root_polynomial(A, c, 4)
    assert len(f) == 10
    assert sum(f) == 0  # the value at u_1 = 1


def test_the_formula_of_a_support_is_the_lowest_of_many_points():
    design, yhat = rationals([[1, 2, 1], [1, 0, 3]]), rationals([2, -2])
    found = section_3_newton.exact_minimum(design, yhat, Fraction(1, 3))
    assert found is not None
    problem = Problem(design[:, 1:].astype(float), yhat.astype(float))
    least = objective(problem, found.astype(float), 1.0, 1 / 6)
    rng = np.random.default_rng(1)
    for _ in range(300):
        other = found.astype(float) + rng.normal(size=3) * 10 ** rng.uniform(-4, 1)
        assert objective(problem, other, 1.0, 1 / 6) >= least
    assert np.all(section_3_newton.exact_minimum(design, yhat, Fraction(1000)) == 0)


@pytest.mark.parametrize("z", [-3.0, -0.4, 0.0, 0.7, 2.5])
@pytest.mark.parametrize("strength", [0.01, 0.3, 2.0])
def test_the_half_threshold_by_search(z, strength):
    def J(w):
        return 0.5 * (z - w) ** 2 + strength * abs(w) ** 0.5

    ends = sorted((0.05 * z, z)) if z else (-1.0, 1.0)
    best = min(0.0, minimize_scalar(J, bounds=ends, method="bounded", options={"xatol": 1e-12}).x, key=J)
    assert section_3_newton.half_threshold(z, strength) == pytest.approx(best, abs=1e-6)


def test_newton_runs_end_at_the_minimum_of_a_convex_problem():
    problem, rho = next(iter(newton_race.clouds()))
    run = newton_race.majorize_minimize(problem, 1.5, rho, tol=1e-14, max_iter=5000)
    found = newton_race.newton_run(problem, 1.5, rho, run.objective * (1 + 1e-5))
    assert found.arrived
    assert 0 < len(found.costs) < 100
    assert found.cost == sum(found.costs) > 0
    assert not newton_race.newton_run(problem, 1.5, rho, 0.0).arrived


def test_a_step_is_counted_within_the_budget():
    run = newton_race.Newton(costs=[1.0, 1.0, 4.0], lost=10.0)
    assert run.cost == 16
    assert [run.step_within(budget) for budget in (0.5, 2.0, 2.5)] == [1, 1, 2]
    assert newton_race.Newton(lost=3.0).step_within(9.0) == 0


@pytest.mark.parametrize("arguments", [{"powers": (1.5,)}, {"powers": (1.9,)}, {"share": 1.0}])
def test_newton_is_not_behind_where_it_should_not_be(arguments):
    assert section_3_newton.check_newton(**arguments).verdict == Verdict.FAILS


def test_every_proof_statement_and_arithmetic_claim_has_rivals():
    bare = [
        id
        for id, claim in ledger(["kfda"]).items()
        if claim.kind in (Kind.PROOF, Kind.STATEMENT, Kind.ARITHMETIC) and not rivals_of(id)
    ]
    assert bare == []
