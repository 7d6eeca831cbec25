"""One small problem of two clouds on which the methods are shown side by side, and what they make of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.kernel_ridge import KernelRidge

from ...clasmk.estimators.lssvm import LSSVMClassifier
from ...drm.model.objective import class_products, dissimilarity
from ...drm.solvers.direct import closed_form
from ...kernels import gram
from ...kfda.peers.ridge import KFDAClassifier
from ...ldm.model.whitening import WhitenedGram
from ...ldm.solvers.dual import active_set
from .margins import whitened
from .problems import Pair


def two_clouds(
    n_negative: int = 24, n_positive: int = 12, gamma: float = 0.7, seed: int = 0, new: int = 50
) -> Pair:
    """Return two overlapping clouds in the plane, the negative one first, and new points around them."""
    rng = np.random.default_rng(seed)
    y = np.repeat([-1.0, 1.0], (n_negative, n_positive))
    X = rng.normal(size=(len(y), 2)) + np.where(y[:, None] > 0, [1.2, 0.4], [-0.6, 0.0])
    points = rng.normal(size=(new, 2)) * 1.5
    return at(X, y, points, gamma)


def at(X: np.ndarray, y: np.ndarray, new: np.ndarray, gamma: float) -> Pair:
    """Return the problem of rows `X`, labels `y` and points `new` with a Gaussian kernel."""
    kernel = ("rbf", {"gamma": gamma})
    return Pair(X, y, new, kernel, gram(kernel, X), gram(kernel, X, new))


def ridge(pair: Pair, beta: float) -> np.ndarray:
    """Return what kernel ridge of the labels predicts at the new points."""
    model = KernelRidge(alpha=beta, kernel="precomputed").fit(pair.K, pair.y)
    return np.asarray(model.predict(pair.Kx.T))


def ridge_by_drm(pair: Pair, beta: float) -> np.ndarray:
    """Return the labels times the DRM's weights without its within-class term."""
    return np.asarray(pair.y @ closed_form(pair.K, pair.sizes, 0.0, beta).weights(pair.Kx))


def drm(pair: Pair, beta: float) -> np.ndarray:
    """Return what the DRM decides by, with the same weights: half the difference of its dissimilarities."""
    W = closed_form(pair.K, pair.sizes, 0.0, beta).weights(pair.Kx)
    KW, own = class_products(pair.K, pair.sizes, W)
    delta = dissimilarity(pair.sizes, pair.Kx, W, KW, own)
    return np.asarray(delta[:, 0] - delta[:, 1]) / 2


def ldm_without_hinge(pair: Pair, beta: float) -> np.ndarray:
    """Return the minimiser of the LDM's quadratic part, lambda1 = n / (4 beta) and lambda2 = 1."""
    n = len(pair.y)
    _, Gx = whitened(pair, n / (4 * beta))
    return np.asarray(pair.y @ Gx) / n


def ldm(pair: Pair, lambda1: float, lambda2: float, C: float) -> np.ndarray:
    """Return the LDM's decisions at the new points; with lambda1 = lambda2 = 0 those of the SVM."""
    H = WhitenedGram(pair.K, pair.y).hessian(lambda1)
    return np.asarray(active_set(H, pair.y, lambda1, lambda2, C, tol=1e-12).alpha @ pair.Kx)


def five(pair: Pair, beta: float, C: float) -> dict[str, np.ndarray]:
    """Return what five classifiers decide by at the new points, above 0 for the positive class.

    The LDM has the variance's weight at which it would be kernel ridge without hinge, lambda1 = n / (4 beta),
    lambda2 = 1, and the C of the SVM; `beta` is the ridge of the others.
    """
    _, fisher, threshold = fisher_and_machine(pair, beta)
    return {
        "kernel ridge": ridge(pair, beta),
        "SVM": ldm(pair, 0.0, 0.0, C),
        "kFDA": fisher - threshold,
        "DRM": drm(pair, beta),
        "LDM": ldm(pair, len(pair.y) / (4 * beta), 1.0, C),
    }


def angles(pair: Pair, lambda1: float, costs: Sequence[float] | np.ndarray) -> dict[str, list[float]]:
    """Return the angles in degrees between the LDM with lambda2 = 1 and three simpler machines, for each C.

    They are kernel ridge of the labels with the ridge n / (4 lambda1), the SVM of the whitened kernel without
    intercept, and MAMC.
    """
    n = len(pair.y)
    H = WhitenedGram(pair.K, pair.y).hessian(lambda1)
    fit = KernelRidge(alpha=n / (4 * lambda1), kernel="precomputed").fit(pair.K, pair.y)
    found: dict[str, list[float]] = {"kernel ridge": [], "SVM, whitened": [], "MAMC": []}
    for C in costs:
        ldm, svm = (active_set(H, pair.y, lambda1, mean, C, tol=1e-12).alpha for mean in (1.0, 0.0))
        for name, peer in zip(found, (fit.dual_coef_, svm, pair.y), strict=True):
            found[name].append(angle(pair.K, ldm, peer))
    return found


def angle(K: np.ndarray, one: np.ndarray, other: np.ndarray) -> float:
    """Return the angle in degrees between two sums of features with these coefficients."""
    lengths = np.sqrt((one @ K @ one) * (other @ K @ other))
    return float(np.degrees(np.arccos(np.clip(one @ K @ other / lengths, -1, 1))))


def fisher_and_machine(pair: Pair, mu: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Return outputs at the new points of LS-SVM and kFDA on kernel columns, and kFDA's threshold."""
    machine = LSSVMClassifier(C=1 / mu, kernel="linear").fit(pair.K, pair.y)  # rows of K are the features
    fisher = KFDAClassifier(reg=mu, kernel="precomputed").fit(pair.K, pair.y)
    negative, positive = pair.sizes
    threshold = len(pair.y) / 2 * (1 / positive - 1 / negative)
    outputs = pair.Kx.T @ np.ravel(fisher.dual_coef_) + fisher.intercept_
    return np.asarray(machine.decision_function(pair.Kx.T)), np.asarray(outputs), float(threshold)


def left_out(pair: Pair, beta: float) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return leave-one-out outputs of three machines: of n fits, and by the formula of each room."""
    n, K, y = len(pair.y), pair.K, pair.y
    P = np.linalg.inv(K + beta * np.eye(n))
    machine = LSSVMClassifier(C=1 / beta, kernel="precomputed")
    fisher = KFDAClassifier(reg=beta, kernel="precomputed")
    by_formula = {
        "kernel ridge": y - P @ y / np.diag(P),
        "LS-SVM": machine.fit(K, y).loo_decision_,
        "kFDA": fisher.fit(K, y).loo_decision_,
    }
    refitted = {name: np.empty(n) for name in by_formula}
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        inner, row = K[np.ix_(rest, rest)], K[i : i + 1, rest]
        plain = KernelRidge(alpha=beta, kernel="precomputed").fit(inner, y[rest])
        refitted["kernel ridge"][i] = plain.predict(row)[0]
        refitted["LS-SVM"][i] = machine.fit(inner, y[rest]).decision_function(row)[0]
        refitted["kFDA"][i] = fisher.fit(inner, y[rest]).decision_function(row)[0]
    return {name: (refitted[name], np.asarray(by_formula[name])) for name in by_formula}
