"""How the parameters of Table V are chosen: cross-validation on a random part of the training rows.

Every score is the accuracy of the predictions of all folds, pooled; the first of equals wins.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from ...base.splits import Split, stratified_folds
from ...experiments.fold import Settings, rng
from ..solvers.one_pass import ClassMoments, LinearMaps, linear_maps

Rows: TypeAlias = np.ndarray | csr_matrix

SVMS = {"L1-SVM": {"loss": "hinge", "dual": True}, "L2-SVM": {"loss": "squared_hinge", "dual": False}}

#: largest certificate of a grid point that counts
TOL = 1e-6


def selection_folds(codes: np.ndarray, settings: Settings, dataset: str) -> tuple[np.ndarray, list[Split]]:
    """Return ``cv_rows`` random rows and their stratified folds, pairs of (train, test) positions in them."""
    random = rng(dataset, "selection")
    size = min(int(settings["cv_rows"]), len(codes))
    part = np.sort(random.choice(len(codes), size, replace=False))
    largest = int(np.bincount(codes[part]).max())
    n_folds = min(int(settings["cv_folds"]), largest)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class has fewer rows than there are folds
        return part, stratified_folds(codes[part], n_folds, int(random.integers(2**31)))


def choose_drm(
    X: Rows, codes: np.ndarray, folds: Sequence[Split], settings: Settings, constant: bool
) -> tuple[dict[str, float], float]:
    """Return the alpha and beta of the highest accuracy of the pooled predictions, and that accuracy.

    Raises
    ------
    ValueError
        No point of the grid could be solved in double precision.
    """
    best: tuple[float, dict[str, float]] | None = None
    for alpha in settings["alpha"]:
        for beta in settings["beta"]:
            right = 0
            for train, test in folds:
                # a class that no row of the fold has must not take part: the zero map is no model of it
                present, numbers = np.unique(codes[train], return_inverse=True)
                maps = exact_maps(X[train], numbers, alpha, beta, constant)
                if not maps.kkt_residual <= TOL:
                    break
                right += int(np.sum(present[labels(maps, X[test], constant)] == codes[test]))
            else:
                score = right / len(codes)
                if best is None or score > best[0]:
                    best = score, {"alpha": float(alpha), "beta": float(beta)}
    if best is None:
        raise ValueError("no point of the grid could be solved in double precision; raise beta")
    return best[1], best[0]


def choose_svm(
    method: str,
    X: Rows,
    codes: np.ndarray,
    folds: Sequence[Split],
    settings: Settings,
    seed: int,
) -> tuple[float, float]:
    """Return the C of the highest accuracy of the pooled predictions, and that accuracy.

    A C whose fits reach the limit of iterations counts only where no other is left: coordinate descent for a
    large C leaves hyperplanes that jump from one iteration to the next.

    Parameters
    ----------
    method : {"L1-SVM", "L2-SVM"}
    X, codes : (n, p) array and (n,) class numbers
    folds : sequence of (train, test) positions
    settings : mapping
        ``C``, and as for :func:`linear_svm`.
    seed : int
    """
    best: tuple[bool, float, float] | None = None
    for C in settings["C"]:
        right, ended = 0, True
        for train, test in folds:
            if len(np.unique(codes[train])) == 1:  # LIBLINEAR refuses to learn that there is one class
                predicted = np.full(len(test), codes[train[0]])
            else:
                model = linear_svm(method, C, X[train], codes[train], settings, seed)
                predicted = model.predict(X[test])
                ended = ended and svm_ended(model)
            right += int(np.sum(predicted == codes[test]))
        if best is None or (ended, right / len(codes)) > best[:2]:
            best = ended, right / len(codes), float(C)
    if best is None:
        raise ValueError("settings['C'] must hold at least one value, got none")
    return best[2], best[1]


def svm_ended(model: LinearSVC) -> bool:
    """Tell whether LIBLINEAR met its tolerance before its limit of iterations."""
    return int(np.max(model.n_iter_)) < int(model.max_iter)


def linear_svm(method: str, C: float, X: Rows, codes: np.ndarray, settings: Settings, seed: int) -> LinearSVC:
    """Return a fitted linear SVM: "L1-SVM" (hinge, dual) or "L2-SVM" (squared hinge, primal TRON).

    Settings: ``svm_intercept``, whether there is a constant feature, ``svm_max_iter``, and ``svm_dual_tol``,
    the tolerance of the dual method, which LIBLINEAR itself sets to 0.1.
    """
    model = LinearSVC(
        C=C,
        tol=float(settings["svm_dual_tol"]) if SVMS[method]["dual"] else 1e-4,
        fit_intercept=bool(settings["svm_intercept"]),
        max_iter=int(settings["svm_max_iter"]),
        random_state=seed,
        **SVMS[method],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the iteration limit is part of the protocol
        return model.fit(X, codes)


def exact_maps(X: Rows, codes: np.ndarray, alpha: float, beta: float, constant: bool = False) -> LinearMaps:
    """Return the maps of the exact linear DRM of rows `X`, (n, p), with class numbers `codes`, (n,)."""
    size = X.shape[1] + int(constant)
    empty = ClassMoments.empty(int(codes.max()) + 1, size, float(alpha), float(beta))
    return linear_maps(empty.add(X, codes, constant))


def labels(maps: LinearMaps, X: Rows, constant: bool = False) -> np.ndarray:
    """Return the class numbers that the exact linear DRM gives to rows `X`, (m, p)."""
    found: np.ndarray = np.argmin(maps.dissimilarity(X, constant), axis=1)
    return found
