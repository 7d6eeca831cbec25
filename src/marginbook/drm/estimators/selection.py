"""Choice of kernel, alpha, beta and scaling by exact leave-one-out, as the paper's protocol asks for."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ...base.labels import encode_classes
from ...base.parameters import validate_flags
from ...base.partial_fit import NoPartialFit
from ...base.threads import on_few_threads
from ...base.user_line import user_level
from ...kernels import Kernel, gram, kernel_name, resolve_kernel, tidy
from ...kernels.open_gamma import leaves_gamma_open
from ...kernels.validation import validate_data
from ..model.objective import validate_parameters
from ..solvers.iteration import validate_tol
from .classifier import DRMClassifier
from .left_out import PROBES, SCALINGS, digest, left_out, prepared, scaler, score_kernel, validate_scoring
from .prediction import require_matrices

__all__ = ["PAPER_GRID", "PROBES", "SCALINGS", "DRMClassifierCV", "NothingSolvable", "scaler"]

PAPER_GRID = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)


class NothingSolvable(ValueError):
    """No point of a grid could be solved in double precision."""


@dataclass(eq=False, repr=False)
class DRMClassifierCV(NoPartialFit, ClassifierMixin, BaseEstimator):
    """Discriminative ridge machine with its parameters chosen by exact leave-one-out.

    Every grid point costs about one fit (see :mod:`marginbook.drm.solvers.leave_one_out`) instead of n: some
    six n x n arrays, so a few thousand rows. It takes no weights of rows: a left-out copy of a row would be
    predicted by the others. Nor does it take folds or groups. For these, ``sample_weight`` and
    ``class_weight`` take :class:`~sklearn.model_selection.GridSearchCV` of a :class:`DRMClassifier`; for
    imbalanced classes `scoring` may be enough. Source: Peng & Cheng, who choose by leave-one-out on this grid
    of alpha and beta.

    Read more in the :ref:`user guide <guide-drmclassifiercv>` (``marginbook guide``).

    Parameters
    ----------
    alphas, betas : sequence of float, default=(1e-3, ..., 1e3)
    kernels : sequence of kernels, default=("rbf",)
        Each as in :class:`DRMClassifier`.
    scaling : {"none", "max-abs"} or a sequence of both, default="none"
        "max-abs" divides each feature by its largest absolute value in the training data.
    scoring : str or callable, default=None
        Accuracy by default, else a scikit-learn scorer, but none of probabilities; it is given the pooled
        left-out predictions and decision values. `score` is what it says of new rows.
    tol : float, default=1e-6
        A grid point gets the score NaN when the largest certificate of its left-out fits that were probed is
        above this: of about 32 of them, of all n once a probe is above tol / 100, and always of all n at the
        chosen point. A warning counts such grid points.
    n_jobs : int, default=None
        Kernels and scalings evaluated at the same time.
    fit_intercept : bool, default=False
        Append a constant feature after scaling, as :class:`DRMClassifier` does.
    gamma : float, "scale", "auto" or None, default="scale"
        Of kernels that leave it open, a name or a pair. It is that of the scaled training data, which have
        the constant feature if `fit_intercept`.

    Attributes
    ----------
    best_params_ : dict
        The choice for :class:`DRMClassifier`: ``alpha``, ``beta``, ``kernel``, also as `alpha_`, `beta_`,
        `kernel_`. Of equal scores the first in the grid wins, as in scikit-learn's searches, but with beta
        running fastest, then alpha, kernel and scaling, which is not the order of ``ParameterGrid``.
    scaling_ : str
        The choice of `scaling`, which is no parameter of :class:`DRMClassifier`.
    best_score_ : float
        Its leave-one-out score.
    best_index_ : int
    best_estimator_ : DRMClassifier, or Pipeline
        Fitted to all data with the choice. Where `scaling_` is "max-abs", it is a pipeline of `scaler_` and a
        :class:`DRMClassifier`, so that it takes rows as they are given.
    scaler_ : transformer
        Fitted to all data; the identity where `scaling_` is "none".
    n_splits_ : int
        The number of rows.
    scorer_ : callable
        As of scikit-learn's searches.
    cv_results_ : dict
        ``params``, a list of dicts as `best_params_`, and arrays ``param_alpha``, ``param_beta``,
        ``param_kernel``, ``param_scaling``, ``mean_test_score``, ``rank_test_score`` and ``kkt_residual``, an
        entry for every grid point. (``alpha``, ``beta``, ``kernel``, ``scaling``, ``score`` are their former
        names.)
    kkt_residual_ : float
        Certificate of the machine in `best_estimator_`.
    classes_, n_features_in_

    Examples
    --------
    >>> from marginbook.drm import DRMClassifierCV
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> cv = DRMClassifierCV(kernels=[("rbf", {"gamma": g}) for g in (0.1, 1.0)]).fit(X, y)
    >>> round(cv.best_score_, 3), cv.best_params_["kernel"]
    (0.973, ('rbf', {'gamma': 0.1}))
    """

    alphas: Sequence[float] = PAPER_GRID
    betas: Sequence[float] = PAPER_GRID
    kernels: Sequence[Kernel] = ("rbf",)
    scaling: str | Sequence[str] = "none"
    scoring: str | Callable[..., float] | None = None
    tol: float = 1e-6
    n_jobs: int | None = None
    fit_intercept: bool = False
    gamma: float | str | None = "scale"

    @on_few_threads
    def fit(self, X: Any, y: Any) -> Self:
        """Choose by leave-one-out on rows `X`, (n, p), with labels `y`, (n,), then fit to all of them.

        Raises
        ------
        ValueError
            For fewer than two classes, parameters out of range, and a precomputed kernel; as its subclass
            `NothingSolvable` where no grid point could be solved in double precision.
        MemoryError
            Where six n x n arrays are more than this machine has.

        Warns
        -----
        ConvergenceWarning
            If grid points were left out of the choice.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        X = tidy(X)
        validate_flags(fit_intercept=self.fit_intercept)
        self.classes_, codes = encode_classes(y, "DRMClassifierCV")
        scalings = self._validate_parameters()
        order = np.argsort(codes, kind="stable")
        require_matrices(len(order), 6, "GridSearchCV of DRMClassifier(n_components=500)")
        rows = {scaling: prepared(X[order], scaling, self.fit_intercept) for scaling in scalings}
        cells = [
            (scaling, _resolved(kernel, self.gamma, rows[scaling]))
            for scaling in scalings
            for kernel in self.kernels
        ]
        # kernels far narrower than the data all give the identity: equal Gram matrices are solved once
        digests = [digest(kernel, rows[scaling]) for scaling, kernel in cells]
        first: dict[bytes, tuple[str, Kernel]] = {}
        for key, cell in zip(digests, cells, strict=True):
            first.setdefault(key, cell)
        scores = Parallel(n_jobs=self.n_jobs)(
            delayed(score_kernel)(
                rows[scaling],
                y[order],
                self.classes_,
                kernel,
                self.alphas,
                self.betas,
                self.scoring,
                self.tol,
            )
            for scaling, kernel in first.values()
        )
        scored = dict(zip(first, scores, strict=True))
        self._tabulate(
            [(cell, *row) for cell, key in zip(cells, digests, strict=True) for row in scored[key]]
        )
        self._choose(X, y)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row of `X`, (m, p)."""
        X = self._validated(X)
        return self.best_estimator_.predict(X)

    def decision_function(self, X: Any) -> np.ndarray:
        """As :meth:`DRMClassifier.decision_function`."""
        X = self._validated(X)
        return self.best_estimator_.decision_function(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return what `scoring` says of the chosen machine on rows `X` with labels `y`: larger is better.

        Parameters
        ----------
        X : (m, p) array or CSR matrix
        y : (m,) labels
        sample_weight : (m,) array, optional
            Given to `scoring` as ``sample_weight``, which then must be one of its parameters.
        """
        X = self._validated(X)
        options = {} if sample_weight is None else {"sample_weight": sample_weight}
        # not of self: without `scoring`, the scorer asks what it is given for its score
        return float(self.scorer_(self.best_estimator_, X, y, **options))

    @property
    def estimator_(self) -> DRMClassifier | Pipeline:
        """The former name of `best_estimator_`, for one release."""
        if "best_estimator_" in self.__dict__:
            warnings.warn("estimator_ is now best_estimator_", FutureWarning, stacklevel=user_level())
        return self.best_estimator_

    def _validate_parameters(self) -> list[str]:
        single = isinstance(self.scaling, str) or not np.iterable(self.scaling)
        scalings: list[Any] = [self.scaling] if single else list(self.scaling)
        unknown = [name for name in scalings if name not in SCALINGS]
        if unknown or not scalings:
            raise ValueError(f"scaling must be one or both of {', '.join(SCALINGS)}, got {self.scaling!r}")
        for name in ("alphas", "betas", "kernels"):
            value = getattr(self, name)
            # an array without dimensions has a __len__, which fails
            if not hasattr(value, "__len__") or getattr(value, "ndim", 1) == 0 or not len(value):
                raise ValueError(f"{name} must be a sequence of at least one value, got {value!r}")
        validate_scoring(self.scoring)
        resolve_kernel("rbf", self.gamma, 3, 1.0)  # says what is wrong with gamma
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

    def _tabulate(self, grid: list[tuple[Any, ...]]) -> None:
        # without the scaling, which is no parameter of DRMClassifier
        params = [{"alpha": alpha, "beta": beta, "kernel": kernel} for (_, kernel), alpha, beta, *_ in grid]
        columns: dict[str, Any] = {
            name: np.array([one[name] for one in params]) for name in ("alpha", "beta")
        }
        columns["scaling"] = np.array([scaling for (scaling, _), *_ in grid])
        columns["kernel"] = [one["kernel"] for one in params]
        self.cv_results_: dict[str, Any] = {"params": params}
        for name, column in columns.items():
            self.cv_results_[f"param_{name}"] = self.cv_results_[name] = column
        scores = np.array([row[3] for row in grid])
        self.cv_results_["mean_test_score"] = self.cv_results_["score"] = scores
        self.cv_results_["kkt_residual"] = np.array([row[4] for row in grid])

    def _choose(self, X: np.ndarray, y: np.ndarray) -> None:
        results = self.cv_results_
        self.best_index_ = best = self._certified(X, y)
        scores = results["mean_test_score"]
        dropped = int(np.isnan(scores).sum())
        if dropped:
            warnings.warn(
                f"{dropped} of {len(scores)} grid points are beyond double precision on these data and were "
                "left out of the choice (score NaN in cv_results_)",
                ConvergenceWarning,
                stacklevel=user_level(),
            )
        results["rank_test_score"] = rankdata(-np.where(np.isnan(scores), -np.inf, scores), "min").astype(int)
        self.best_params_: dict[str, Any] = dict(results["params"][best])
        self.alpha_, self.beta_ = float(self.best_params_["alpha"]), float(self.best_params_["beta"])
        self.kernel_, self.scaling_ = self.best_params_["kernel"], str(results["param_scaling"][best])
        self.best_score_ = float(scores[best])
        self.n_splits_, self.scorer_ = len(y), check_scoring(DRMClassifier(), self.scoring)
        self.scaler_ = scaler(self.scaling_).fit(X)
        machine = DRMClassifier(
            **self.best_params_, solver="closed", fit_intercept=self.fit_intercept, tol=self.tol
        )
        machine.fit(self.scaler_.transform(X), y)
        self.kkt_residual_ = machine.kkt_residual_
        self.best_estimator_: DRMClassifier | Pipeline = machine
        if self.scaling_ != "none":
            self.best_estimator_ = Pipeline([("scaler", self.scaler_), ("machine", machine)])

    def _certified(self, X: Any, y: np.ndarray) -> int:
        """Return the first best grid point all of whose left-out fits meet `tol`: the grid looked at some."""
        results, order = self.cv_results_, np.argsort(y, kind="stable")
        scores, sizes = results["mean_test_score"], np.unique(y, return_counts=True)[1]
        while not np.isnan(scores).all():
            best = int(np.nanargmax(scores))
            at = results["params"][best]
            train = prepared(X[order], str(results["param_scaling"][best]), self.fit_intercept)
            found = left_out(gram(at["kernel"], train), sizes, at["alpha"], at["beta"], self.tol)
            results["kkt_residual"][best] = residual = float(found.kkt_residual.max())
            if residual <= self.tol:
                return best
            scores[best] = np.nan
        raise NothingSolvable(
            "no grid point could be solved in double precision; raise beta or scale the data"
        )

    def _validated(self, X: Any) -> Any:
        check_is_fitted(self, "best_estimator_")
        return tidy(validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        named = self.kernels if np.iterable(self.kernels) else ()  # fit says what is wrong with it
        tags.input_tags.sparse = not any(callable(kernel) for kernel in named)
        return tags


def _resolved(kernel: Kernel, gamma: float | str | None, X: Any) -> Kernel:
    """Return `kernel` with the numbers that it leaves open, for rows `X`."""
    if not leaves_gamma_open(kernel):
        return kernel
    if gamma is None and kernel_name(kernel) == "rbf":
        gamma = "auto"  # the same, as a number
    return resolve_kernel(kernel, gamma, 3, 1.0, X)
