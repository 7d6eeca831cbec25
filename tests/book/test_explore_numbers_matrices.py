"""What the browser computes for the matrices of the SMM's explorable is what the library computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from marginbook.smm import RegressionFunctionEstimator
from marginbook.smm.claims.idea_problem import idea_problem
from marginbook.smm.model.objective import weights_for
from marginbook.smm.solvers.block import solve_inner
from marginbook.smm.solvers.block_descent import low_rank_svm

from .test_explore_numbers import CLOSE, STATES, drawn, in_browser

pytestmark = pytest.mark.browser


HINGE = """async states => {
  const { hinge } = await import("/_static/explore/hinge.js");
  return states.map(({ Z, y, C, lam }) => {
    const found = hinge(Float64Array.from(Z.flat()), Z[0].length, y, Float64Array.from(C), lam);
    return { w: [...found.w], b: found.b, c: [...found.multipliers], objective: found.objective };
  });
}"""


def test_the_block_of_a_hinge_problem_is_that_of_the_library(explore: str, chromium) -> None:
    states, wanted = [], []
    for number in range(STATES):
        rng, _, labels = drawn(number, 2)
        y, p = 2.0 * labels - 1, int(rng.integers(1, 13))
        Z = rng.normal(size=(40, p)) + y[:, None] * rng.normal(size=p)
        lam, level = float(10 ** rng.uniform(-3, 0)), float(rng.uniform(0.05, 0.95))
        weights = weights_for(level, y)
        found = solve_inner(Z, y, lam=lam, sample_weight=weights, fit_intercept=True, tol=1e-12)
        wanted.append(found)
        states.append({"Z": Z.tolist(), "y": y.tolist(), "C": (weights / 40).tolist(), "lam": lam})
    page = chromium.new_page()
    page.goto(explore + "book/numbers.html")
    for state, one, found in zip(states, wanted, in_browser(page, HINGE, states), strict=True):
        assert_allclose(found["objective"], one.objective, rtol=1e-9, atol=1e-12)
        scale = max(1.0, float(np.abs(one.weights).max()))
        assert_allclose(found["w"], one.weights, atol=CLOSE * scale)
        c, y = np.array(found["c"]), np.array(state["y"])
        # multipliers prove it: the dual value of any that are feasible is a lower bound
        assert (c >= 0).all()
        assert (c <= np.array(state["C"]) * (1 + 1e-12)).all()
        assert abs(c @ y) < 1e-9
        dual = c.sum() - np.sum(((c * y) @ np.array(state["Z"])) ** 2) / (4 * state["lam"])
        assert found["objective"] - dual <= 1e-9 * max(1.0, found["objective"])


SMM = """async states => {
  const { fitMatrix, weightsOf } = await import("/_static/explore/smm_model.js");
  const one = ({ coef, intercept, objective }) => ({ coef: [...coef], intercept, objective });
  return states.map(({ X, y, rank, lam, levels }) => {
    const matrices = X.map((matrix) => Float64Array.from(matrix.flat()));
    const fit = (level, more) => fitMatrix(
      matrices, y, [X[0].length, X[0][0].length], { rank, lam, weights: weightsOf(y, level), ...more });
    const first = fit(levels[0], { sweeps: 3, tol: 0 });
    return [one(first), one(fit(levels[1], { sweeps: 3, tol: 0, start: first })),
      one(fit(levels[0], { tol: 1e-10 }))];
  });
}"""


def test_smm_is_the_alternation_of_the_library(explore: str, chromium) -> None:
    """From the same starts, that of full rank and a neighbour, for all ranks.

    Where both blocks meet a kink of the hinge, progress can be as slow as rounding allows: coefficients are
    compared after three sweeps, the objective at the end.
    """
    states, wanted = [], []
    for number in range(STATES):
        rng = np.random.default_rng(number)
        shape = (6, 5) if number % 2 else (3, 5)
        X = rng.normal(size=(60, *shape)).round(3)
        direction = np.outer(*(rng.normal(size=d) for d in shape))
        y = np.where(np.einsum("nij,ij->n", X, direction) + rng.normal(size=60) > 0, 1.0, -1.0)
        rank, lam = 1 + number % min(shape), float(10 ** rng.uniform(-3, -0.5))
        levels = [h / 10 for h in rng.choice(np.arange(1, 10), 2, replace=False).tolist()]
        settings: dict[str, Any] = {"rank": rank, "lam": lam, "fit_intercept": True, "method": "alternation"}
        few = {**settings, "max_iter": 3, "tol": 1e-13}
        first = low_rank_svm(X, y, sample_weight=weights_for(levels[0], y), **few)
        second = low_rank_svm(X, y, sample_weight=weights_for(levels[1], y), start=first, **few)
        last = low_rank_svm(X, y, sample_weight=weights_for(levels[0], y), tol=1e-10, **settings)
        wanted.append((first, second, last))
        states.append({"X": X.tolist(), "y": y.tolist(), "rank": rank, "lam": lam, "levels": levels})
    page = chromium.new_page()
    page.goto(explore + "book/numbers.html")
    for state, models, found in zip(states, wanted, in_browser(page, SMM, states), strict=True):
        told = f"rank {state['rank']}, lambda {state['lam']:.1e}, levels {state['levels']}"
        for model, one in zip(models[:2], found[:2], strict=True):
            scale = max(1.0, float(np.abs(model.coef).max()))
            assert_allclose(one["coef"], model.coef.ravel(), atol=CLOSE * scale, err_msg=told)
            assert_allclose(one["intercept"], model.intercept, atol=CLOSE * scale, err_msg=told)
        for model, one in zip(models, found, strict=True):
            assert_allclose(one["objective"], model.objective, rtol=CLOSE, err_msg=told)


LEVEL_SETS = """async ([sample, rank, lam, levels]) => {
  const { drawn, SHAPE } = await import("/_static/explore/smm_data.js");
  const { levelSets } = await import("/_static/explore/smm_model.js");
  const data = drawn(sample);
  const sets = levelSets(data.X, data.y, SHAPE, { rank, lam, levels });
  while (sets.more());
  return { X: data.X.map((one) => [...one]), fresh: data.fresh.map((one) => [...one]), y: data.y,
    probability: data.fresh.map((one) => sets.probability(one)),
    coef: Array.from({ length: levels - 1 }, (_, k) => [...sets.fit(k + 1).coef]) };
}"""


@pytest.mark.parametrize("sample", [1, 2, 20])
def test_the_sample_and_its_probability_are_those_of_the_library(explore: str, chromium, sample: int) -> None:
    """At full rank, where the estimator's answer depends on no start."""
    page = chromium.new_page()
    page.goto(explore + "book/numbers.html")
    problem = idea_problem(sample)
    found = page.evaluate(LEVEL_SETS, [sample, 5, 0.01, 10])
    for name in ("X", "fresh", "y"):
        value = problem.new if name == "fresh" else getattr(problem, name)
        assert_allclose(np.ravel(found[name]), np.ravel(value), atol=1e-12)
    model = RegressionFunctionEstimator(10, rank=5, lam=0.01, tol=1e-10).fit(problem.X, problem.y)
    assert_allclose(found["coef"], np.asarray(model.coef_).reshape(9, -1), atol=1e-5)
    assert_allclose(found["probability"], model.predict_proba(problem.new)[:, 1], atol=1e-12)


SVD = """async states => {
  const { svd } = await import("/_static/explore/svd.js");
  return states.map((A) => {
    const { left, s, right } = svd(Float64Array.from(A.flat()), A.length, A[0].length);
    return { left: left.map((one) => [...one]), s, right: right.map((one) => [...one]) };
  });
}"""


def test_singular_values_of_small_matrices(explore: str, chromium) -> None:
    states = []
    for number in range(STATES):
        rng = np.random.default_rng(number)
        rows, columns, inner = rng.integers(1, 8, 3).tolist()
        states.append((rng.normal(size=(rows, inner)) @ rng.normal(size=(inner, columns))).tolist())
    states.append(np.zeros((3, 2)).tolist())
    page = chromium.new_page()
    page.goto(explore + "book/numbers.html")
    for A, found in zip(map(np.array, states), in_browser(page, SVD, states), strict=True):
        s = np.array(found["s"])
        assert_allclose(s, np.linalg.svd(A, compute_uv=False), atol=1e-13 * max(1.0, s.max()))
        left, right = (np.array(found[side]).T for side in ("left", "right"))
        assert_allclose((left * s) @ right.T, A, atol=1e-13 * max(1.0, s.max()))
        kept = s > 1e-12 * max(s.max(), 1e-300)
        for basis in (left[:, kept], right[:, kept]):
            assert_allclose(basis.T @ basis, np.eye(kept.sum()), atol=1e-13)
