"""Choice of kernel, alpha, beta and scaling by exact leave-one-out, as the paper's protocol asks for."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ...base.labels import encode_classes
from ...kernels import Kernel, KernelOverflow, gram, kernel_name, tidy
from ..model.objective import validate_parameters
from ..solvers.direct import NotPositiveDefinite
from ..solvers.iteration import validate_tol
from ..solvers.leave_one_out import LeaveOneOut, leave_one_out
from .classifier import DRMClassifier

PAPER_GRID = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)
SCALINGS = ("none", "max-abs")

#: left-out fits that are certified at each grid point; those of the chosen one all are
PROBES = 32


class NothingSolvable(ValueError):
    """No point of a grid could be solved in double precision."""


class DRMClassifierCV(ClassifierMixin, BaseEstimator):
    """Discriminative ridge machine with its parameters chosen by exact leave-one-out.

    Every grid point costs about one fit (see :mod:`marginbook.drm.solvers.leave_one_out`) instead of n.

    Parameters
    ----------
    alphas, betas : sequence of float, default=(1e-3, ..., 1e3)
    kernels : sequence of kernels, default=(("rbf", {"gamma": None}),)
        Each as in :class:`DRMClassifier`.
    scaling : {"none", "max-abs"} or a sequence of both, default="none"
        "max-abs" divides each feature by its largest absolute value in the training data.
    scoring : str or callable, default=None
        Accuracy by default, else a scikit-learn scorer; it is given the pooled left-out predictions.
    tol : float, default=1e-6
        A grid point one of whose left-out fits has a larger certificate gets the score NaN, and a warning
        counts them.
    n_jobs : int, default=None
        Kernels and scalings evaluated at the same time.
    fit_intercept : bool, default=False
        Append a constant feature after scaling, as :class:`DRMClassifier` does.

    Attributes
    ----------
    alpha_, beta_, kernel_, scaling_ :
        The choice. Of equal scores the first in the grid wins, with beta running fastest, then alpha, kernel
        and scaling, as in scikit-learn's searches.
    best_score_ : float
        Its leave-one-out score.
    cv_results_ : dict of arrays
        ``scaling``, ``kernel``, ``alpha``, ``beta``, ``score``, ``kkt_residual`` of every grid point.
    estimator_ : DRMClassifier
        Fitted to all data with the choice.
    kkt_residual_ : float
        Certificate of `estimator_`.
    classes_, n_features_in_

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> cv = DRMClassifierCV(kernels=[("rbf", {"gamma": g}) for g in (0.1, 1.0)]).fit(X, y)
    >>> round(cv.best_score_, 3), cv.kernel_
    (0.973, ('rbf', {'gamma': 0.1}))
    """

    def __init__(
        self,
        alphas: Sequence[float] = PAPER_GRID,
        betas: Sequence[float] = PAPER_GRID,
        kernels: Sequence[Kernel] = (("rbf", {"gamma": None}),),
        scaling: str | Sequence[str] = "none",
        scoring: str | Callable[..., float] | None = None,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        fit_intercept: bool = False,
    ) -> None:
        self.alphas = alphas
        self.betas = betas
        self.kernels = kernels
        self.scaling = scaling
        self.scoring = scoring
        self.tol = tol
        self.n_jobs = n_jobs
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any) -> Self:
        """Choose by leave-one-out on rows `X`, (n, p), with labels `y`, (n,), then fit to all of them."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        X = tidy(X)
        self.classes_, codes = encode_classes(y, "DRMClassifierCV")
        scalings = self._check()
        order = np.argsort(codes, kind="stable")
        cells = [(scaling, k) for scaling in scalings for k in range(len(self.kernels))]
        prepared = {scaling: _prepared(X[order], scaling, self.fit_intercept) for scaling in scalings}
        # kernels far narrower than the data all give the identity: equal Gram matrices are solved once
        digests = [_digest(self.kernels[k], prepared[scaling]) for scaling, k in cells]
        first: dict[bytes, tuple[str, int]] = {}
        for digest, cell in zip(digests, cells, strict=True):
            first.setdefault(digest, cell)
        rows = Parallel(n_jobs=self.n_jobs)(
            delayed(_score_kernel)(
                prepared[scaling],
                y[order],
                self.classes_,
                self.kernels[k],
                self.alphas,
                self.betas,
                self.scoring,
                self.tol,
            )
            for scaling, k in first.values()
        )
        scored = dict(zip(first, rows, strict=True))
        grid = [(cell, *row) for cell, digest in zip(cells, digests, strict=True) for row in scored[digest]]
        self.cv_results_: dict[str, Any] = {
            "scaling": np.array([cell[0] for cell, *_ in grid]),
            "kernel": [self.kernels[cell[1]] for cell, *_ in grid],
            "alpha": np.array([row[1] for row in grid]),
            "beta": np.array([row[2] for row in grid]),
            "score": np.array([row[3] for row in grid]),
            "kkt_residual": np.array([row[4] for row in grid]),
        }
        self._choose(X, y)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row of `X`, (m, p)."""
        scaled = self._scaled(X)
        return self.estimator_.predict(scaled)

    def decision_function(self, X: Any) -> np.ndarray:
        """As :meth:`DRMClassifier.decision_function`."""
        scaled = self._scaled(X)
        return self.estimator_.decision_function(scaled)

    def _check(self) -> list[str]:
        single = isinstance(self.scaling, str) or not np.iterable(self.scaling)
        scalings: list[Any] = [self.scaling] if single else list(self.scaling)
        unknown = [name for name in scalings if name not in SCALINGS]
        if unknown or not scalings:
            raise ValueError(f"scaling must be one or both of {', '.join(SCALINGS)}, got {self.scaling!r}")
        for name in ("alphas", "betas", "kernels"):
            if not hasattr(getattr(self, name), "__len__") or not len(getattr(self, name)):
                raise ValueError(
                    f"{name} must be a sequence of at least one value, got {getattr(self, name)!r}"
                )
        if not (self.scoring is None or isinstance(self.scoring, str) or callable(self.scoring)):
            raise ValueError(f"scoring must be None, a scorer's name or a callable, got {self.scoring!r}")
        if isinstance(self.kernels, str):
            raise ValueError(f"kernels must be a sequence of kernels, got the single name {self.kernels!r}")
        if any(kernel_name(kernel) == "precomputed" for kernel in self.kernels):
            raise ValueError("DRMClassifierCV does not take a precomputed kernel: use leave_one_out() on it")
        validate_tol(self.tol)
        for alpha in self.alphas:
            validate_parameters(alpha, 1.0)
        for beta in self.betas:
            validate_parameters(0.0, beta)
        return scalings

    def _choose(self, X: np.ndarray, y: np.ndarray) -> None:
        results = self.cv_results_
        best = self._certified(X, y)
        dropped = int(np.isnan(results["score"]).sum())
        if dropped:
            warnings.warn(
                f"{dropped} of {len(results['score'])} grid points are beyond double precision on these data "
                "and were left out of the choice (score NaN in cv_results_)",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.alpha_ = float(results["alpha"][best])
        self.beta_ = float(results["beta"][best])
        self.kernel_ = results["kernel"][best]
        self.scaling_ = str(results["scaling"][best])
        self.best_score_ = float(results["score"][best])
        self.scaler_ = scaler(self.scaling_).fit(X)
        self.estimator_ = DRMClassifier(
            self.alpha_, self.beta_, self.kernel_, solver="closed", fit_intercept=self.fit_intercept
        )
        self.estimator_.fit(self.scaler_.transform(X), y)
        self.kkt_residual_ = self.estimator_.kkt_residual_

    def _certified(self, X: Any, y: np.ndarray) -> int:
        """Return the first best grid point all of whose left-out fits meet `tol`: the grid looked at some."""
        results, order = self.cv_results_, np.argsort(y, kind="stable")
        sizes = np.unique(y, return_counts=True)[1]
        while not np.isnan(results["score"]).all():
            best = int(np.nanargmax(results["score"]))
            train = _prepared(X[order], results["scaling"][best], self.fit_intercept)
            left_out = _left_out(
                gram(results["kernel"][best], train),
                sizes,
                results["alpha"][best],
                results["beta"][best],
                self.tol,
            )
            results["kkt_residual"][best] = residual = float(left_out.kkt_residual.max())
            if residual <= self.tol:
                return best
            results["score"][best] = np.nan
        raise NothingSolvable(
            "no grid point could be solved in double precision; raise beta or scale the data"
        )

    def _scaled(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "estimator_")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return self.scaler_.transform(tidy(X))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        named = self.kernels if np.iterable(self.kernels) else ()  # fit says what is wrong with it
        tags.input_tags.sparse = not any(callable(kernel) for kernel in named)
        return tags


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


def scaler(name: str) -> MaxAbsScaler:
    """Return the unfitted transformer of one of `SCALINGS`."""
    return MaxAbsScaler() if name == "max-abs" else _Identity()


def _prepared(X: Any, scaling: str, constant: bool) -> Any:
    """Return the training data as the kernel sees them."""
    scaled = scaler(scaling).fit_transform(X)
    if not constant:
        return scaled
    ones = np.ones((X.shape[0], 1))
    return (
        sparse.csr_matrix(sparse.hstack([scaled, ones])) if sparse.issparse(X) else np.hstack([scaled, ones])
    )


def _digest(kernel: Kernel, X: Any) -> bytes:
    """Return a hash of the Gram matrix; the same one for all that overflow."""
    try:
        return hashlib.sha256(np.ascontiguousarray(gram(kernel, X)).data).digest()
    except KernelOverflow:
        return b""


def _left_out(
    K: np.ndarray, sizes: np.ndarray, alpha: float, beta: float, tol: float, probes: int | None = None
) -> LeaveOneOut:
    # a few examples may need a solve of their own; many mean that the system is beyond reach
    return leave_one_out(K, sizes, alpha, beta, tol / 100, fallback=max(8, len(K) // 20), probes=probes)


def _score_kernel(
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
    except KernelOverflow:  # no grid point of it can be had
        return [(alpha, beta, np.nan, np.inf) for alpha in alphas for beta in betas]
    for alpha in alphas:
        for beta in betas:
            try:
                left_out = _left_out(K, sizes, alpha, beta, tol, PROBES)
                residual = float(left_out.kkt_residual.max())
            except NotPositiveDefinite:
                residual = np.inf
            score = np.nan
            if residual <= tol:
                model = _LeftOut(left_out.delta, classes)
                score = (
                    float(np.mean(model.predict(index) == y))
                    if scoring is None
                    else float(
                        (get_scorer(scoring) if isinstance(scoring, str) else scoring)(model, index, y)
                    )
                )
            rows.append((float(alpha), float(beta), score, residual))
    return rows
