"""How one entry of Tables 2 and 3 is measured: a method on one split of a regular data set."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from ..model.whitening import WhitenedGram
from ..peers.km_omd import solve_km_omd
from ..peers.mamc import solve_mamc
from ..solvers.grid import solve_grid
from .halves import Row, decided, fit_mdo, prepared, stratified_folds
from .selection import (
    Block,
    Expansions,
    Machine,
    Selected,
    at_point,
    linear_block,
    rbf_blocks,
    select,
)


def svm(G: np.ndarray, y: np.ndarray, settings: Mapping[str, Any]) -> Expansions:
    """Fit LIBSVM, which has an intercept, for each C of the settings."""
    grid = [float(C) for C in settings["C"]]
    alpha, intercept = np.zeros((len(grid), len(y))), np.zeros(len(grid))
    for k, C in enumerate(grid):
        model = SVC(C=C, kernel="precomputed", tol=settings["svm_tol"], max_iter=settings["svm_max_iter"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the iteration limit is part of the protocol
            model.fit(G, y)
        alpha[k, model.support_], intercept[k] = model.dual_coef_[0], model.intercept_[0]
    return Expansions([{"C": C} for C in grid], alpha, intercept)


def ldm(G: np.ndarray, y: np.ndarray, settings: Mapping[str, Any]) -> Expansions:
    """Fit LDM at each point of C x lambda1 x lambda2, C slowest: equals go to the smallest parameters."""
    axes = [[float(value) for value in settings[name]] for name in ("lambda1", "lambda2", "C")]
    grid = solve_grid(WhitenedGram(G, y), *axes, tol=settings["tol"])
    gap = float(np.max(grid.gap / np.maximum(1.0, np.abs(grid.objective))))
    alpha = np.moveaxis(grid.alpha, 2, 0).reshape(-1, len(y))
    points = [
        {"C": C, "lambda1": lambda1, "lambda2": lambda2}
        for C, lambda1, lambda2 in product(axes[2], axes[0], axes[1])
    ]
    return Expansions(points, alpha, np.zeros(len(points)), gap)


def ldm_with_constant(G: np.ndarray, y: np.ndarray, settings: Mapping[str, Any]) -> Expansions:
    """Fit LDM with a constant feature, that is with the kernel k + 1."""
    found = ldm(G + 1.0, y, settings)
    return Expansions(found.points, found.alpha, found.alpha.sum(axis=1), found.gap)


def svm_without_intercept(G: np.ndarray, y: np.ndarray, settings: Mapping[str, Any]) -> Expansions:
    """Fit LDM with lambda1 = lambda2 = 0, which is the SVM without an intercept, for each C."""
    found = ldm(G, y, {**settings, "lambda1": [0.0], "lambda2": [0.0]})
    return Expansions([{"C": point["C"]} for point in found.points], found.alpha, found.intercept, found.gap)


def per_example(machine: Machine) -> Machine:
    """Return `machine` with C / m in the place of C: the mean of the hinge losses instead of their sum."""

    def fit(G: np.ndarray, y: np.ndarray, settings: Mapping[str, Any]) -> Expansions:
        grid = [float(C) for C in settings["C"]]
        found = machine(G, y, {**settings, "C": [C / len(y) for C in grid]})
        own = dict(zip((C / len(y) for C in grid), grid, strict=True))
        return replace(found, points=[{**point, "C": own[point["C"]]} for point in found.points])

    return fit


def as_printed_in_4(G: np.ndarray, y: np.ndarray, settings: Mapping[str, Any]) -> Expansions:
    """Fit LDM with the double sum on the left of (4) as its variance, m squared times that on the right."""
    grid = [float(lambda1) for lambda1 in settings["lambda1"]]
    heavy = [lambda1 * len(y) ** 2 for lambda1 in grid]
    found = ldm(G, y, {**settings, "lambda1": heavy})
    own = dict(zip(heavy, grid, strict=True))
    return replace(found, points=[{**point, "lambda1": own[point["lambda1"]]} for point in found.points])


def mamc(G: np.ndarray, y: np.ndarray, settings: Mapping[str, Any]) -> Expansions:
    """Fit MAMC, which has no parameter."""
    found = solve_mamc(G @ y, y, float(np.trace(G)) / len(y))
    return Expansions([{}], found.coefficients[None, :], np.zeros(1))


def km_omd(G: np.ndarray, y: np.ndarray, settings: Mapping[str, Any]) -> Expansions:
    """Fit KM-OMD with the weight 1 / C of the regularisation, for each C."""
    start: np.ndarray | None = None
    alpha, intercept, gap = [], [], 0.0
    for C in settings["C"]:
        solution = solve_km_omd(G, y, 1 / C, tol=settings["tol"], start=start)
        start = solution.gamma
        alpha.append(y * solution.gamma)
        intercept.append(-solution.threshold)
        gap = max(gap, solution.dual_gap / max(solution.objective, np.finfo(float).tiny))
    points = [{"C": float(C)} for C in settings["C"]]
    return Expansions(points, np.array(alpha), np.array(intercept), gap)


#: the methods of the tables that are expansions in a kernel
MACHINES: dict[str, Machine] = {
    "SVM": svm,
    "MAMC": mamc,
    "KM-OMD": km_omd,
    "LDM": ldm,
    "SVM-0": svm_without_intercept,
    "LDM+1": ldm_with_constant,
    "SVM-0(C/m)": per_example(svm_without_intercept),
    "LDM(C/m)": per_example(ldm),
    "LDM(4)": as_printed_in_4,
}


def measure_linear(
    X_train: np.ndarray,
    y_train: np.ndarray,
    X_test: np.ndarray,
    y_test: np.ndarray,
    *,
    method: str,
    settings: Mapping[str, Any],
    seed: int,
    dataset: str,
) -> Row:
    """Measure one method with the linear kernel on one split (Table 2).

    Parameters
    ----------
    X_train, y_train, X_test, y_test : (m, p), (m,), (n, p), (n,) arrays
    method : str
        One of `MACHINES`, or "MDO", which has no parameter to choose.
    settings : mapping
        Grids ``C``, ``lambda1``, ``lambda2``; ``folds``; ``tol`` of LDM's relative duality gap; ``svm_tol``
        and ``svm_max_iter`` of LIBSVM.
    seed : int
        Of the random starts of MDO; nothing else is random but the folds, which go by `dataset`.
    dataset : str

    Returns
    -------
    dict
        ``accuracy`` on the test half; ``cv_score``, ``parameters`` (JSON) and ``ties``, how many points of
        the grid share that score; ``dual_gap``, the largest relative gap met; ``margin_mean`` and
        ``margin_variance`` (divisor m) of the training margins; ``majority``, the test share of the class
        that is more frequent in training; ``n_train``, ``n_test``.
    """
    X, y, Z, truth = prepared(X_train, y_train, X_test, y_test)
    if method == "MDO":
        model = fit_mdo(X, y, seed)
        return decided(model.decision_function(X), y, model.decision_function(Z), truth) | {
            "parameters": json.dumps({"a": model.a, "b": model.b})
        }
    return _measure(method, linear_block(X, Z), y, truth, settings, dataset)


def measure_rbf(
    X_train: np.ndarray,
    y_train: np.ndarray,
    X_test: np.ndarray,
    y_test: np.ndarray,
    *,
    method: str,
    settings: Mapping[str, Any],
    seed: int,
    dataset: str,
) -> Row:
    """Measure one method with the rbf kernel on one split (Table 3); ``settings["width"]`` are its widths.

    Parameters and columns are those of `measure_linear`; the chosen ``width`` is a multiple of the mean
    distance of the training rows.
    """
    X, y, Z, truth = prepared(X_train, y_train, X_test, y_test)
    return _measure(method, rbf_blocks(X, Z, settings["width"]), y, truth, settings, dataset)


def fitted(
    machine: Machine, blocks: Iterator[Block], y: np.ndarray, settings: Mapping[str, Any], dataset: str
) -> tuple[Selected, Expansions]:
    """Choose kernel and parameters by cross-validation; return the choice, and the machine fitted at it."""
    folds = stratified_folds(y, int(settings["folds"]), dataset)
    chosen = select(machine, blocks, y, folds, settings)
    return chosen, machine(chosen.block.train, y, at_point(settings, chosen.point))


def _measure(
    method: str,
    blocks: Iterator[Block],
    y: np.ndarray,
    truth: np.ndarray,
    settings: Mapping[str, Any],
    dataset: str,
) -> Row:
    if method not in MACHINES:
        raise ValueError(f"unknown method {method!r}; choose from {', '.join(MACHINES)}; linear: MDO")
    chosen, model = fitted(MACHINES[method], blocks, y, settings, dataset)
    block = chosen.block
    gap = np.fmax(chosen.gap, model.gap)
    return decided(model.decisions(block.train)[:, 0], y, model.decisions(block.test)[:, 0], truth) | {
        "cv_score": chosen.score,
        "parameters": json.dumps({**block.parameters, **chosen.point}, sort_keys=True),
        "ties": chosen.ties,
        "dual_gap": None if np.isnan(gap) else float(gap),
    }
