"""The claims on several classes, closed forms and Newton's method, and the rivals of the room."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from marginbook.claims import Kind, Verdict, ledger
from marginbook.claims.catalogue import rivals_of
from marginbook.kfda.claims import section_1_operators, section_3_newton
from marginbook.kfda.claims.rational import rationals
from marginbook.kfda.model.objective import Problem, objective


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        (section_1_operators.check_operators, Verdict.CORRECTED),
        (section_3_newton.check_closed_form, Verdict.CORRECTED),
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


def test_damped_newton_steps_end_at_the_minimum_of_a_convex_problem():
    problem, rho = next(iter(section_3_newton.clouds()))
    run = section_3_newton.majorize_minimize(problem, 1.5, rho, tol=1e-14, max_iter=5000)
    low = run.objective * (1 + 1e-5)
    assert section_3_newton.newton_steps(problem, 1.5, rho, lambda value: value <= low) < 100
    assert section_3_newton.newton_steps(problem, 1.5, rho, lambda value: False) is None


def test_every_proof_statement_and_arithmetic_claim_has_rivals():
    bare = [
        id
        for id, claim in ledger(["kfda"]).items()
        if claim.kind in (Kind.PROOF, Kind.STATEMENT, Kind.ARITHMETIC) and not rivals_of(id)
    ]
    assert bare == []
