"""How the large data sets are measured: the linear DRM beside linear SVMs (Table V, Figures 2 and 3).

The iterative algorithms solve one problem for each test row, so they are run on a random part of them; the
exact one-pass form predicts all. How many iterations they need, and how their objective falls, is measured
for Figures 2 and 3.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.preprocessing import MaxAbsScaler

from ...base.parameters import validate_choice
from ...experiments.fold import Fold, Method, Point, Row, Settings, Trained, rng
from ..model.operators import LinearSystem
from ..solvers.first_order import accelerated, gradient_descent, proximal_point
from ..solvers.iteration import Iterates
from ..solvers.one_pass import LinearMaps
from .table_5_grid import (
    SVMS,
    Rows,
    choose_drm,
    choose_svm,
    exact_maps,
    labels,
    linear_svm,
    selection_folds,
    svm_ended,
)

ALGORITHMS = {"DRM-GD": "GD", "DRM-PPA": "PPA", "DRM-APG": "APG"}

#: numbers in an (n, m) array of weights: 8 MB, so that an iteration does not wait for memory
ENTRIES = 2**20


def measure_large(fold: Fold, method: str, settings: Settings) -> Row:
    """Measure one method on one data set of Table V.

    Every feature is divided by its largest absolute value in the training rows. Parameters are chosen by
    cross-validation on a random part of the training rows, the same for all methods, and the first of equals
    wins, with beta running fastest.

    Parameters
    ----------
    method : str
        "L1-SVM" and "L2-SVM" (LIBLINEAR: hinge; squared hinge, primal TRON), "DRM" (exact, one pass), "DRM+1"
        (the same with a constant feature), "DRM-GD", "DRM-PPA", "DRM-APG" (Algorithms 3, 5, 6, on random test
        rows, with the parameters of "DRM"), "majority".
    settings : mapping
        Grids ``alpha``, ``beta``, ``C``; ``cv_rows`` and ``cv_folds``; ``svm_max_iter``, ``svm_dual_tol`` and
        ``svm_intercept`` as for :func:`.table_5_grid.linear_svm`;
        ``iterative_test_points``, ``tol``, ``max_iter`` of the algorithms.

    Returns
    -------
    dict
        ``accuracy`` on the ``test_rows`` that were predicted, ``cv_score``, ``parameters`` (JSON), and of the
        training class that is most frequent ``majority``, its share of the test part. Of the algorithms also
        ``iterations_mean``, ``converged_share``, ``kkt_residual`` (the largest) and ``agreement``, the share
        of rows that they label as the exact solution does; of an SVM its iterations, and whether they ended
        before their limit.
    """
    validate_choice("method", method, METHODS)
    classes, codes = np.unique(fold.y_train, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"{fold.dataset}: wanted training rows of at least 2 classes, got only {classes[0]}")
    transform = MaxAbsScaler().fit(fold.X_train)
    X, Z = transform.transform(fold.X_train), transform.transform(fold.X_test)
    found, told = METHODS[method](replace(fold, X_train=X, y_train=codes, X_test=Z), settings)
    row: Row = dict.fromkeys(
        ("cv_score", "parameters", "iterations_mean", "converged_share", "kkt_residual", "agreement")
    )
    return row | {
        "accuracy": float(np.mean(classes[found.codes] == fold.y_test[found.rows])),
        "test_rows": len(found.codes),
        "majority": float(np.mean(fold.y_test == classes[np.argmax(np.bincount(codes))])),
        **told,
    }


class Labelled(NamedTuple):
    """What Table V reads of a trained method: which test rows it labelled, and their class numbers."""

    rows: np.ndarray
    codes: np.ndarray


def _all_rows(codes: np.ndarray) -> Labelled:
    return Labelled(np.arange(len(codes)), codes)


def _majority(fold: Fold, settings: Settings) -> Trained:
    return Trained(_all_rows(np.full(len(fold.y_test), np.argmax(np.bincount(fold.y_train)))), {})


def _svm(method: str, fold: Fold, settings: Settings) -> Trained:
    X, codes = fold.X_train, fold.y_train
    part, folds = selection_folds(codes, settings, fold.dataset)
    C, score = choose_svm(method, X[part], codes[part], folds, settings, fold.seed)
    model = linear_svm(method, C, X, codes, settings, fold.seed)
    told = {"cv_score": score, "parameters": json.dumps({"C": C})}
    told |= {"iterations_mean": int(np.max(model.n_iter_)), "converged_share": float(svm_ended(model))}
    return Trained(_all_rows(model.predict(fold.X_test)), told)


def _drm(algorithm: str | None, constant: bool, fold: Fold, settings: Settings) -> Trained:
    """Train the exact form; an algorithm, at its parameters, labels a random part of the test rows."""
    X, codes, Z = fold.X_train, fold.y_train, fold.X_test
    part, folds = selection_folds(codes, settings, fold.dataset)
    chosen, score = choose_drm(X[part], codes[part], folds, settings, constant)
    told: Row = {"cv_score": score, "parameters": json.dumps(chosen, sort_keys=True)}
    maps = exact_maps(X, codes, chosen["alpha"], chosen["beta"], constant)
    if algorithm is None:
        return Trained(_all_rows(labels(maps, Z, constant)), told)
    rows = test_points(len(fold.y_test), int(settings["iterative_test_points"]), fold.dataset)
    given, measured = _labels_by_iteration(algorithm, X, codes, Z[rows], chosen, settings)
    agreement = float(np.mean(given == labels(maps, Z[rows])))
    return Trained(Labelled(rows, given), told | measured | {"agreement": agreement})


#: the methods of Table V
METHODS: dict[str, Method] = {
    **{name: partial(_svm, name) for name in SVMS},
    **{name: partial(_drm, algorithm, False) for name, algorithm in ALGORITHMS.items()},
    "DRM": partial(_drm, None, False),
    "DRM+1": partial(_drm, None, True),
    "majority": _majority,
}


def _labels_by_iteration(
    algorithm: str, X: Rows, codes: np.ndarray, Z: Rows, chosen: Point, settings: Settings
) -> tuple[np.ndarray, Row]:
    """Return the class numbers that an algorithm gives to the rows of `Z`, and how it ended."""
    order = np.argsort(codes, kind="stable")
    system = LinearSystem(X[order], np.bincount(codes), chosen["alpha"], chosen["beta"])
    given, n_iter, converged, left = [], [], [], 0.0
    for Kx, found in solve(algorithm, system, Z, settings["tol"], settings["max_iter"]):
        given.append(np.argmin(system.dissimilarity(Kx, found.weights), axis=1))
        n_iter.append(found.n_iter)
        converged.append(found.converged)
        left = max(left, float(found.kkt_residual.max()))
    return np.concatenate(given), {
        "iterations_mean": float(np.concatenate(n_iter).mean()),
        "converged_share": float(np.concatenate(converged).mean()),
        "kkt_residual": left,
    }


def measure_convergence(fold: Fold, method: str, settings: Settings) -> Row:
    """Measure how fast one algorithm converges on one data set, with all training rows (Figures 2 and 3).

    Parameters
    ----------
    method : {"GD", "PPA", "APG"}
        See :func:`solve`.
    settings : mapping
        ``alpha``, ``betas``, ``tol``, ``max_iter``, ``test_points``; ``path_beta`` and ``path_iterations`` of
        the path of the objective.

    Returns
    -------
    dict
        For each beta, written as in ``iterations_1e+04``, over the test rows: ``iterations_...`` (mean),
        ``converged_...`` (share), ``kkt_residual_...`` (largest relative gradient left: the rule that stops
        the algorithms looks at the length of a step, which is short where the step size is). At
        ``path_beta``:

        ``iterations``, ``converged`` : as above
        ``objective_path`` : JSON list of f(w_t) - f* for the first test row, from w_0 = 0 on
        ``optimum`` : f*, exact; a difference below some 1e-16 of it is rounding, and may be negative
        ``multiplications``, ``multiplications_printed`` : an iteration of one test row, by the fused products
        of :class:`LinearSystem` and by the paper's (21) to (23)
    """
    codes = np.unique(fold.y_train, return_inverse=True)[1]
    transform = MaxAbsScaler().fit(fold.X_train)
    X, Z = transform.transform(fold.X_train), transform.transform(fold.X_test)
    points = Z[test_points(len(fold.y_test), int(settings["test_points"]), fold.dataset)]
    order, sizes, alpha = np.argsort(codes, kind="stable"), np.bincount(codes), float(settings["alpha"])
    X = X[order]
    row: Row = {"n": len(codes), "test_rows": points.shape[0]}
    tol, limit, at = settings["tol"], settings["max_iter"], float(settings["path_beta"])
    for beta in dict.fromkeys([*map(float, settings["betas"]), at]):
        found = [each for _, each in solve(method, LinearSystem(X, sizes, alpha, beta), points, tol, limit)]
        n_iter = np.concatenate([each.n_iter for each in found])
        measured: Row = {
            "iterations": float(n_iter.mean()),
            "converged": float(np.concatenate([each.converged for each in found]).mean()),
            "kkt_residual": float(max(each.kkt_residual.max() for each in found)),
        }
        row |= {f"{name}_{beta:.0e}": value for name, value in measured.items()}
        if beta == at:
            row |= measured
            row["multiplications"] = sum(each.multiplications for each in found) / int(n_iter.sum())
    first = points[:1]
    printed = LinearSystem(X, sizes, alpha, at, as_printed=True)
    _, few = next(solve(method, printed, first, 0.0, 3))
    row["multiplications_printed"] = few.multiplications / int(few.n_iter[0])
    system = LinearSystem(X, sizes, alpha, at)
    _, path = next(solve(method, system, first, 0.0, int(settings["path_iterations"]), record=True))
    row["optimum"] = optimum = _optimum(exact_maps(X, codes[order], alpha, at), first)
    row["objective_path"] = json.dumps([float(f"{f[0] - optimum:.5e}") for f in path.objective_path])
    return row


def _optimum(maps: LinearMaps, x: Any) -> float:
    r"""Return f* of one test row: :math:`-\frac12K_x^\top w^\star=-\frac12x^\top\sum_i\psi_i`."""
    vector = np.asarray(x.toarray() if issparse(x) else x, dtype=float)[0]
    return float(-0.5 * vector @ maps.T.sum(axis=0) @ vector)


def solve(
    algorithm: str, system: LinearSystem, Z: Rows, tol: float, max_iter: int, record: bool = False
) -> Iterator[tuple[np.ndarray, Iterates]]:
    """Yield kernel vectors, (n, b), and the weights that an algorithm finds, for the rows of `Z` in batches.

    Parameters
    ----------
    algorithm : str
        "GD", "PPA" or "APG", as Algorithms 3, 5, 6 print them; the last without backtracking, as their
        constants come from Lanczos' method.
    system : LinearSystem
    Z : (m, p) array of test rows
    tol, max_iter, record : as in :mod:`marginbook.drm.solvers.first_order`
    """
    validate_choice("algorithm", algorithm, ("GD", "PPA", "APG"))
    run: Callable[..., Iterates]
    constant: dict[str, Any]
    if algorithm == "GD":
        run, constant = gradient_descent, {}
    elif algorithm == "PPA":
        run, constant = proximal_point, {"c": system.safe_eigenvalue()}
    else:
        run, constant = accelerated, {"b": system.safe_eigenvalue() + system.beta}
    width = max(1, ENTRIES // system.n)
    for start in range(0, Z.shape[0], width):
        Kx = system.kernel_vectors(Z[start : start + width])
        yield Kx, run(system, Kx, max_iter=int(max_iter), tol=float(tol), record=record, **constant)


def test_points(n_rows: int, count: int, dataset: str) -> np.ndarray:
    """Return at most `count` random test rows, sorted; the same for every method."""
    return np.sort(rng(dataset, "test points").choice(n_rows, min(count, n_rows), replace=False))


test_points.__test__ = False  # type: ignore[attr-defined]  # pytest takes the name for a test's
