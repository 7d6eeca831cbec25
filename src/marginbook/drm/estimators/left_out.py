"""The scores of a grid by exact leave-one-out: what DRMClassifierCV evaluates, kernel by kernel."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer
from sklearn.preprocessing import MaxAbsScaler

from ...kernels import Kernel, KernelOverflow, gram
from ..solvers.direct import NotPositiveDefinite
from ..solvers.leave_one_out import LeaveOneOut, leave_one_out
from .training_kernel import augmented

SCALINGS = ("none", "max-abs")

#: left-out fits that are certified at each grid point; those of the chosen one all are
PROBES = 32


class _LeftOut(ClassifierMixin, BaseEstimator):
    """Stands for the n left-out models in front of a scorer: example k asks for its own prediction."""

    def __init__(self, delta: np.ndarray, classes: np.ndarray) -> None:
        # a class that vanished with its only example is farther than any: scorers want finite numbers
        farthest = np.max(delta, where=np.isfinite(delta), initial=0.0)
        self.delta = np.where(np.isfinite(delta), delta, 2 * farthest + 1)
        self.classes_ = classes

    def decision_function(self, index: np.ndarray) -> np.ndarray:
        delta = self.delta[index]
        return delta[:, 0] - delta[:, 1] if delta.shape[1] == 2 else -delta

    def predict(self, index: np.ndarray) -> np.ndarray:
        return self.classes_[np.argmin(self.delta[index], axis=1)]


class _Identity(MaxAbsScaler):
    """No scaling, with the interface of a scaler."""

    def transform(self, X: np.ndarray) -> np.ndarray:
        return X


def validate_scoring(scoring: Any) -> None:
    """Raise ValueError unless `scoring` is None, or a scorer or the name of one, and of no probabilities."""
    if not (scoring is None or isinstance(scoring, str) or callable(scoring)):
        raise ValueError(f"scoring must be None, a scorer's name or a callable, got {scoring!r}")
    asked = getattr(
        get_scorer(scoring) if isinstance(scoring, str) else scoring, "_response_method", "predict"
    )
    if "predict_proba" in asked and "decision_function" not in asked:  # a method, or several in order
        raise ValueError(f"scoring={scoring!r} needs probabilities, and the machine has only decision values")


def scaler(name: str) -> MaxAbsScaler:
    """Return the unfitted transformer of one of `SCALINGS`."""
    return MaxAbsScaler() if name == "max-abs" else _Identity()


def prepared(X: Any, scaling: str, constant: bool) -> Any:
    """Return the training data as the kernel sees them."""
    return augmented(scaler(scaling).fit_transform(X), constant)


def digest(kernel: Kernel, X: Any) -> bytes:
    """Return a hash of the Gram matrix; the same one for all that overflow."""
    try:
        return hashlib.sha256(np.ascontiguousarray(gram(kernel, X)).data).digest()
    except KernelOverflow:
        return b""


def left_out(
    K: np.ndarray, sizes: np.ndarray, alpha: float, beta: float, tol: float, probes: int | None = None
) -> LeaveOneOut:
    """Return the left-out fits; certify all, or about `probes` of them.

    With `probes`, one that misses `tol` by far, by every way there is, ends the work: the grid point is lost.
    """
    # a few examples may need a solve of their own; many mean that the system is beyond reach
    fallback, give_up = max(8, len(K) // 20), np.inf if probes is None else 100 * tol
    return leave_one_out(K, sizes, alpha, beta, tol / 100, fallback=fallback, probes=probes, give_up=give_up)


def score_kernel(
    X: np.ndarray,
    y: np.ndarray,
    classes: np.ndarray,
    kernel: Kernel,
    alphas: Sequence[float],
    betas: Sequence[float],
    scoring: Any,
    tol: float,
) -> list[tuple[float, float, float, float]]:
    """Return (alpha, beta, score, certificate) of every grid point of one kernel; X is grouped by class."""
    sizes = np.array([np.sum(y == label) for label in classes])
    index = np.arange(len(y))
    rows = []
    try:
        K = gram(kernel, X)
    except KernelOverflow:  # at every grid point
        return [(alpha, beta, np.nan, np.inf) for alpha in alphas for beta in betas]
    for alpha in alphas:
        for beta in betas:
            try:
                found = left_out(K, sizes, alpha, beta, tol, PROBES)
                residual = float(found.kkt_residual.max())
            except NotPositiveDefinite:
                residual = np.inf
            score = np.nan
            if residual <= tol:
                model = _LeftOut(found.delta, classes)
                score = (
                    float(np.mean(model.predict(index) == y))
                    if scoring is None
                    else float(
                        (get_scorer(scoring) if isinstance(scoring, str) else scoring)(model, index, y)
                    )
                )
            rows.append((float(alpha), float(beta), score, residual))
    return rows
