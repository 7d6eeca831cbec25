"""What the browser computes for the explorables is what the estimators compute."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from marginbook.clasmk.model.features import FeatureMap
from marginbook.clasmk.model.kernel_sets import rbf
from marginbook.clasmk.model.objective import COMBINE, ratio
from marginbook.clasmk.model.statistics import separation
from marginbook.clasmk.model.subspaces import fit_subspaces
from marginbook.clasmk.solvers.dinkelbach import dinkelbach
from marginbook.drm import DRMClassifier
from marginbook.kernels import gram
from marginbook.kfda import SparseKFDAClassifier
from marginbook.kfda.claims.fixed_points import resting_point
from marginbook.kfda.claims.local_minima import local_minima
from marginbook.kfda.model.objective import Problem, objective, targets
from marginbook.kfda.solvers.irls import majorize_minimize
from marginbook.kfda.solvers.lasso import lasso
from marginbook.ldm import LDMClassifier

pytestmark = pytest.mark.browser

STATES = 50
CLOSE = 1e-6
GRID = np.linspace(-2.4, 2.4, 7)


def in_browser(page, call: str, states: list[dict[str, Any]]) -> list[Any]:
    """Return what the JavaScript function `call` makes of each state."""
    return json.loads(page.evaluate(f"async states => JSON.stringify(await ({call})(states))", states))


def drawn(number: int, classes: int) -> tuple[np.random.Generator, np.ndarray, np.ndarray]:
    """Return forty points or so around centres that may be close to each other, and their classes."""
    rng = np.random.default_rng(number)
    labels = np.sort(rng.integers(classes, size=40))
    labels[:classes] = range(classes)
    centres = rng.uniform(-1.5, 1.5, (classes, 2))
    return rng, centres[labels] + rng.uniform(0.1, 1) * rng.normal(size=(40, 2)), labels


LDM = """async states => {
  const { fitLdm } = await import("/_static/explore/ldm_model.js");
  return states.map(({ X, y, settings, grid }) => {
    const model = fitLdm(X, y, settings);
    return { values: [...model.grid(grid, grid)], margins: [...model.margins], gap: model.gap,
      objective: model.objective, intercept: model.intercept, length: model.length, one: model.decide(X[3]) };
  });
}"""


def test_ldm_is_that_of_the_library(explore: str, chromium) -> None:
    states, models = [], []
    for number in range(STATES):
        rng, X, labels = drawn(number, 2)
        y = 2 * labels - 1
        settings: dict[str, Any] = {
            "lambda1": float(10 ** rng.uniform(-2, 4)) if number % 5 else 0.0,
            "lambda2": float(10 ** rng.uniform(-2, 4)) if number % 7 else 0.0,
            "C": float(10 ** rng.uniform(-3, 3)),
            "kernel": "rbf" if number % 2 else "linear",
            "gamma": float(10 ** rng.uniform(-2, 1)),
        }
        constant = bool(rng.integers(2))
        model = LDMClassifier(**settings, fit_intercept=constant, solver="active-set", tol=1e-11)
        models.append((model.fit(X, y), X, y))
        settings["intercept"] = constant
        states.append({"X": X.tolist(), "y": y.tolist(), "settings": settings, "grid": GRID.tolist()})
    page = chromium.new_page()
    page.goto(explore + "book/numbers.html")
    points = np.array([(a, b) for b in GRID for a in GRID])
    for (model, X, y), found in zip(models, in_browser(page, LDM, states), strict=True):
        values = model.decision_function(X)
        scale = max(1.0, float(np.abs(values).max()))
        told = str(model)
        assert_allclose(found["margins"], y * values, atol=CLOSE * scale, rtol=0, err_msg=told)
        assert_allclose(found["values"], model.decision_function(points), atol=CLOSE * scale, err_msg=told)
        assert_allclose(found["one"], values[3], atol=CLOSE * scale, rtol=0, err_msg=told)
        assert_allclose(found["intercept"], model.intercept_, atol=CLOSE * scale, rtol=0, err_msg=told)
        assert_allclose(found["objective"], model.objective_, rtol=CLOSE, atol=CLOSE, err_msg=told)
        if model.kernel == "linear":
            assert_allclose(found["length"], np.linalg.norm(model.coef_), rtol=CLOSE, atol=CLOSE)
        assert 0 <= found["gap"] <= 1e-8 * max(1.0, abs(model.objective_)), told


QP = """async states => {
  const { boxQp } = await import("/_static/explore/box_qp.js");
  return states.map(({ H, lower, upper }) => {
    const found = boxQp(Float64Array.from(H.flat()), H.length, lower, upper);
    return { x: [...found.x], gap: found.gap };
  });
}"""


def test_the_quadratic_program_ends_at_its_optimum(explore: str, chromium) -> None:
    """Of every rank, also none: duals of forty points in the plane have rank 2."""
    states = []
    for number in range(STATES):
        rng = np.random.default_rng(number)
        root = rng.normal(size=(40, (0, 1, 2, 3, 40)[number % 5])) * 10 ** rng.uniform(-2, 1)
        lower = float(rng.choice([0.0, 0.01, 2.0]))
        upper = lower + float(10 ** rng.uniform(-2, 3))
        states.append({"H": (root @ root.T).tolist(), "lower": lower, "upper": upper})
    page = chromium.new_page()
    page.goto(explore + "book/numbers.html")
    for state, found in zip(states, in_browser(page, QP, states), strict=True):
        x, H = np.array(found["x"]), np.array(state["H"])
        assert state["lower"] <= x.min()
        assert x.max() <= state["upper"]
        gradient = H @ x - 1
        gap = np.sum(np.where(gradient > 0, x - state["lower"], x - state["upper"]) * gradient)
        assert gap <= 1e-8 * max(1.0, x.sum())


DRM = """async states => {
  const { fitDrm } = await import("/_static/explore/drm_model.js");
  return states.map(({ X, y, settings, grid }) => {
    const model = fitDrm(X, y, settings);
    const points = grid.flatMap((b) => grid.map((a) => [a, b]));
    const told = points.map((x) => model.explain(x));
    return { labels: [...model.grid(grid, grid)], delta: told.map((one) => [...one.dissimilarity]),
      weights: told.map((one) => [...one.weights]), parts: told.map((one) => one.parts) };
  });
}"""


def test_drm_is_that_of_the_library(explore: str, chromium) -> None:
    states, models = [], []
    for number in range(STATES):
        rng, X, y = drawn(number, 3)
        settings: dict[str, Any] = {
            "alpha": float(10 ** rng.uniform(-3, 3)) if number % 5 else 0.0,
            "beta": float(10 ** rng.uniform(-2, 2)),
            "kernel": "rbf" if number % 2 else "linear",
            "gamma": float(10 ** rng.uniform(-2, 1)),
        }
        constant = bool(rng.integers(2))
        models.append((DRMClassifier(**settings, fit_intercept=constant).fit(X, y), X, y))
        settings["intercept"] = constant
        states.append({"X": X.tolist(), "y": y.tolist(), "settings": settings, "grid": GRID.tolist()})
    page = chromium.new_page()
    page.goto(explore + "book/numbers.html")
    points = np.array([(a, b) for b in GRID for a in GRID])
    for (model, X, y), found in zip(models, in_browser(page, DRM, states), strict=True):
        delta, told = model.dissimilarity(points), str(model)
        scale = max(1.0, float(np.abs(delta).max()))
        assert_allclose(found["delta"], delta, atol=CLOSE * scale, rtol=0, err_msg=told)
        two = np.sort(delta, axis=1)[:, :2]
        clear = two[:, 1] - two[:, 0] > 10 * CLOSE * scale
        assert_allclose(np.array(found["labels"])[clear], model.predict(points)[clear], err_msg=told)
        if model.kernel == "linear":
            features = np.c_[points, np.ones(len(points))] if model.fit_intercept else points
            parts = np.einsum("cab,nb->nca", np.asarray(model.maps_.T), features)[:, :, :2]
            assert_allclose(found["parts"], parts, atol=CLOSE * max(1.0, np.abs(parts).max()), err_msg=told)
            sums = np.stack(
                [np.array(found["weights"])[:, y == label] @ X[y == label] for label in range(3)], 1
            )
            assert_allclose(sums, parts, atol=CLOSE * max(1.0, np.abs(parts).max()), err_msg=told)
        else:
            K = np.exp(-model.gamma_ * np.sum((X[:, None] - X) ** 2, axis=2))
            Kx = np.exp(-model.gamma_ * np.sum((X[:, None] - points) ** 2, axis=2))
            same = y[:, None] == y
            within = np.eye(40) - np.where(same, K / same.sum(axis=1), 0.0)
            w = np.linalg.solve(K + model.alpha * within + model.beta * np.eye(40), Kx).T
            assert_allclose(found["weights"], w, atol=CLOSE, rtol=CLOSE, err_msg=told)


CIRCLE = """async () => {
  const { contour } = await import("/_static/explore/contour.js");
  const grid = Float64Array.from({ length: 41 }, (_, i) => -2 + i / 10);
  const square = (k) => grid[k % 41] ** 2 + grid[Math.floor(k / 41)] ** 2;
  const values = Float64Array.from({ length: 41 * 41 }, (_, k) => square(k) - 1);
  return contour(grid, grid, values);
}"""


def test_the_curve_of_zeros_of_a_circle_is_one(explore: str, chromium) -> None:
    page = chromium.new_page()
    page.goto(explore + "book/numbers.html")
    (curve,) = (np.array(one) for one in page.evaluate(CIRCLE))
    assert_allclose(np.linalg.norm(curve, axis=1), 1.0, atol=5e-3)
    assert_allclose(curve[0], curve[-1])
    assert_allclose(np.linalg.norm(np.diff(curve, axis=0), axis=1).sum(), 2 * np.pi, rtol=5e-3)


KFDA = """async states => {
  const { fitKfda } = await import("/_static/explore/kfda_model.js");
  return states.map(({ X, positive, settings, grid }) => {
    const model = fitKfda(X, positive, settings);
    return { omega: [...model.omega], values: [...model.grid(grid, grid)], retained: model.retained,
      objective: model.objective, errors: model.errors };
  });
}"""


def test_kfda_is_that_of_the_library(explore: str, chromium) -> None:
    """The limit of (8) from the ridge solution; for q = 1 the lasso."""
    states, kept = [], []
    for number in range(STATES):
        rng, X, labels = drawn(number, 2)
        q = (1.0, 0.25, 0.5, 0.75, float(rng.uniform(0.2, 0.95)))[number % 5]
        rho, gamma = float(10 ** rng.uniform(-2.5, -0.3)), float(10 ** rng.uniform(-0.5, 1))
        settings = {"q": q, "rho": rho, "gamma": gamma}
        states.append({"X": X.tolist(), "positive": (labels == 0).tolist(), "settings": settings})
        states[-1]["grid"] = GRID.tolist()
    page = chromium.new_page()
    page.goto(explore + "book/numbers.html")
    points = np.array([(a, b) for b in GRID for a in GRID])
    for state, found in zip(states, in_browser(page, KFDA, states), strict=True):
        X, positive, told = np.array(state["X"]), np.array(state["positive"]), str(state["settings"])
        q, rho, gamma = state["settings"].values()
        problem = Problem(gram(("rbf", {"gamma": gamma}), X), targets(positive))
        omega = lasso(problem, rho, tol=1e-12).omega if q == 1 else resting_point(problem, q, rho)
        assert omega is not None, told
        value = objective(problem, omega, q, rho)
        assert_allclose(found["objective"], value, rtol=CLOSE, err_msg=told)
        assert found["retained"] == np.flatnonzero(omega[1:]).tolist(), told
        # the estimator stays where the browser is, and decides alike
        model = SparseKFDAClassifier(q, rho, gamma=gamma, start=np.array(found["omega"]))
        model.fit(X, positive)
        assert_allclose(model.objective_, value, rtol=CLOSE, err_msg=told)
        half = len(X) ** 2 / (2 * positive.sum() * (~positive).sum())
        values = model.decision_function(points) * half
        assert_allclose(found["values"], values, atol=CLOSE * max(1.0, np.abs(values).max()), err_msg=told)
        assert found["errors"] == np.sum(model.predict(X) != positive), told
        kept.append(len(model.retained_))
    assert len(set(kept)) > 5
    assert max(kept) > 10


TWO = """async states => {
  const { basins, limit, minimaOfTwo, path, problemOf } = await import("/_static/explore/kfda_model.js");
  return states.map(({ columns, yhat, start, settings, grid }) => {
    const problem = problemOf(columns, yhat);
    const minima = minimaOfTwo(problem, settings);
    const steps = path(problem, Float64Array.from(start), settings);
    return { minima, steps: steps.length - 1, last: [...steps.pop()],
      end: [...limit(problem, Float64Array.from(start), settings)],
      reached: [...basins(problem, minima, settings, grid, grid)].map((one) => minima[one].omega) };
  });
}"""


def test_two_coefficients_have_the_minima_and_the_steps_of_the_library(explore: str, chromium) -> None:
    states, counts = [], set()
    for number in range(STATES):
        rng, X, labels = drawn(number, 2)
        q = (1.0, 0.25, 0.5, 0.75, float(rng.uniform(0.2, 0.95)))[number % 5]
        settings = {"q": q, "rho": float(10 ** rng.uniform(-2, -0.3))}
        columns = gram(("rbf", {"gamma": float(10 ** rng.uniform(-0.5, 0.5))}), X)[[0, rng.integers(1, 40)]]
        states.append({"columns": columns.tolist(), "yhat": targets(labels == 0).tolist()})
        states[-1] |= {"settings": settings, "start": rng.uniform(0.1, 2, 2).tolist()}
        states[-1]["grid"] = np.linspace(0.05, 2, 4).tolist()
    page = chromium.new_page()
    page.goto(explore + "book/numbers.html")
    for state, found in zip(states, in_browser(page, TWO, states), strict=True):
        (q, rho), told = state["settings"].values(), str(state["settings"])
        first, second = np.array(state["columns"])
        problem = Problem(second[:, np.newaxis], np.array(state["yhat"]), first)
        if q == 1:
            wanted = [lasso(problem, rho, tol=1e-12).omega]
        else:
            wanted = [minimum.omega for minimum in local_minima(problem, q, rho)]
        minima = np.array([minimum["omega"] for minimum in found["minima"]])
        assert_allclose(minima, wanted, atol=CLOSE, err_msg=told)
        assert_allclose(
            [minimum["objective"] for minimum in found["minima"]],
            [objective(problem, omega, q, rho) for omega in wanted],
            rtol=CLOSE,
        )
        run = majorize_minimize(problem, q, rho, start=state["start"], max_iter=1000)
        assert found["steps"] == run.n_iter, told
        assert_allclose(found["last"], run.omega, atol=CLOSE, err_msg=told)
        end = resting_point(problem, q, rho, start=np.array(state["start"]))
        assert_allclose(found["end"], end, atol=CLOSE, err_msg=told)
        starts = [(a, b) for b in state["grid"] for a in state["grid"]]
        for start, reached in zip(starts, found["reached"], strict=True):
            end = resting_point(problem, q, rho, start=np.array(start))
            assert_allclose(reached, end, atol=1e-5, err_msg=f"{told} from {start}")
        counts.add(len(minima))
    assert counts >= {1, 2, 3, 4}


CLASMK = """async states => {
  const all = await import("/_static/explore/clasmk_model.js");
  const { dinkelbach, features, fitSubspaces, leads, ratio } = all;
  return states.map(({ X, y, basis, settings, start }) => {
    const model = fitSubspaces(X, y, basis, settings);
    const steps = dinkelbach(model.forms, start);
    const { weights } = steps[steps.length - 1];
    const seen = model.seen.map((i) => X[i]);
    return { N: model.forms.map(({ N }) => [...N]), D: model.forms.map(({ D }) => [...D]), weights,
      values: steps.map((one) => one.value), begin: ratio(model.forms, start),
      features: seen.map((x) => features(model, start, x).flat()),
      leads: leads(model, start, seen, model.seen.map((i) => y[i])) };
  });
}"""


def test_clasmk_is_that_of_the_library(explore: str, chromium) -> None:
    states, inside = [], 0
    for number in range(STATES):
        rng, X, y = drawn(number, 2)
        basis = np.zeros(40, bool)
        for label in range(2):
            basis[np.flatnonzero(y == label)[::2]] = True
        settings = {"sigmas": np.sort(rng.uniform(0.2, 3, 3)).tolist(), "combine": COMBINE[number % 5 == 0]}
        start = rng.dirichlet(np.ones(3), 2)
        states.append({"X": X.tolist(), "y": y.tolist(), "basis": basis.tolist(), "settings": settings})
        states[-1]["start"] = start.tolist()
    page = chromium.new_page()
    page.goto(explore + "book/numbers.html")
    for state, found in zip(states, in_browser(page, CLASMK, states), strict=True):
        X, y, basis, start = (np.array(state[name]) for name in ("X", "y", "basis", "start"))
        sigmas, combine = state["settings"].values()
        told = str(state["settings"])
        subspaces = fit_subspaces(X[basis], y[basis], rbf(sigmas), tol=0.01)
        measured = separation(subspaces, X[~basis], y[~basis], combine=combine)
        N, D = measured.numerator, measured.denominator
        assert_allclose(np.reshape(found["N"], N.shape), N, atol=CLOSE, err_msg=told)
        assert_allclose(np.reshape(found["D"], D.shape), D, atol=CLOSE, err_msg=told)
        assert_allclose(found["begin"], ratio(start, N, D, combine=combine), rtol=CLOSE, err_msg=told)
        best = dinkelbach(N, D, combine=combine)
        assert best.gap <= CLOSE or best.objective < CLOSE, "the library proves its minimum"
        near = {"rtol": CLOSE, "atol": CLOSE * CLOSE, "err_msg": told}
        assert_allclose(found["values"][-1], best.objective, **near)
        assert_allclose(ratio(found["weights"], N, D, combine=combine), best.objective, **near)
        assert np.all(np.diff(found["values"]) < 0)
        inside += np.sum(best.weights.max(axis=1) < 0.99)
        Z = FeatureMap.of(subspaces, np.arange(3), start, combine)(X[~basis])
        # two equal eigenvalues leave the order of two features open
        shown = np.array(found["features"])
        assert_allclose(shown @ shown.T, Z @ Z.T, atol=CLOSE, err_msg=told)
        apart, same = np.linalg.norm(Z[:, np.newaxis] - Z, axis=2), y[~basis, np.newaxis] == y[~basis]
        own = (apart * same).sum(axis=1) / (same.sum(axis=1) - 1)
        other = (apart * ~same).sum(axis=1) / (~same).sum(axis=1)
        assert_allclose(found["leads"], other - own, atol=CLOSE, err_msg=told)
    assert inside > 10
