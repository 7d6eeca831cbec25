"""What the room's classifiers share: a sum of kernels, of which prediction needs only the retained rows."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from ...base.labels import binary_classes, encode_classes
from ...base.memory import require_memory
from ...base.parameters import validate_choice, validate_limits
from ...base.partial_fit import NoPartialFit
from ...base.refit import forget
from ...base.threads import on_few_threads
from ...base.weights import ClassWeight, row_weights
from ...kernels import Kernel, kernel_name, resolve_kernel, tidy
from ...kernels.expansions import kernel_sums
from ...kernels.tags import tag_input
from ...kernels.validation import validate_data, validate_square
from .parameters import THRESHOLDS
from .rows import Rows
from .threshold import decision_threshold
from .training_gram import candidate_design, training_design

#: share of the machine's memory that a kernel matrix may take
SHARE = 0.6
#: what a fit leaves beside the attributes that end with an underscore
_PRIVATE = ("_kernel", "_weights", "_direction", "_rows")


class KernelMachine(NoPartialFit, ClassifierMixin, BaseEstimator):
    r"""Two classes by the sign of :math:`b+\sum_i\alpha_ik(x_i,x)-\tau`; subclasses find alpha and b.

    The decision function is that difference in units of :math:`N^2/(2N_1N_2)`, half the distance of the two
    targets. Least squares with these targets then estimates :math:`2P(\text{positive}\mid x)-1`, whatever the
    sizes of the classes, so that machines of several classes can be compared. Rows with weights of their own
    count as often as these say, in N, :math:`N_1` and :math:`N_2` too; weights of classes are factors of the
    loss only.

    A subclass for several classes, each against the rest, sets ``_several``; what is said of alpha, b and tau
    then has one column or number for each class, and the largest decision value wins.

    A subclass has the parameters `kernel`, `gamma`, `degree`, `coef0`, `n_components`, `class_weight` and
    `random_state`, checks its own in ``_validate_parameters``, and ends ``_fit`` with ``_keep``.

    Attributes
    ----------
    classes_ : (2,) array
        The second is the positive one.
    class_count_ : (2,) array
        Its training rows, or the sum of their own weights, and before it that of the first: N2, N1.
    dual_coef_ : (N,) array, alpha
    coef_ : (1, d) array
        Of a linear kernel: the weights of the features in the decision function.
    intercept_ : float, b
    threshold_ : float, tau
    retained_ : (r,) array of int
        The training rows with a coefficient, in order.
    retained_fraction_ : float
        Their share, r / N.
    gamma_ : float
        Of "rbf" and "poly", as used.
    n_features_in_ : int
    """

    _several: ClassVar[bool] = False
    kernel: Kernel
    gamma: float | str | None
    degree: float
    coef0: float
    n_components: int | None
    class_weight: ClassWeight
    random_state: Any
    threshold: str
    classes_: np.ndarray
    class_count_: np.ndarray
    dual_coef_: np.ndarray
    intercept_: Any
    threshold_: Any
    n_features_in_: int

    @on_few_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows `X`, (N, d), or the (N, N) kernel matrix for "precomputed", and labels `y`, (N,).

        Parameters
        ----------
        X, y
        sample_weight : (N,) array, optional
            Numbers >= 0: a row of weight k counts as k equal ones.

        Raises
        ------
        ValueError
            For other than two classes, parameters out of range, or a kernel matrix that is not square, or not
            what this machine needs.
        MemoryError
            Where the kernel matrix would not fit; `n_components` does without it.
        """
        validate_choice("threshold", self.threshold, THRESHOLDS)
        self._validate_parameters()
        return self._fit(self._validated(X, y, sample_weight))

    def _validate_parameters(self) -> None:
        """Raise ValueError for parameters of the subclass that are out of range."""
        raise NotImplementedError

    def _fit(self, rows: Rows) -> Self:
        """Fit to the rows that count."""
        raise NotImplementedError

    def _validated(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Check what `fit` gets, drop what an earlier one left; return the rows that count.

        Parameters
        ----------
        X : (N, d) array or sparse matrix, or the (N, N) matrix for "precomputed"
        y : (N,) labels
        sample_weight : (N,) array, number or None
        """
        forget(self, *_PRIVATE)
        resolve_kernel(self.kernel, self.gamma, self.degree, self.coef0)
        validate_limits(n_components=self.n_components)
        name = kernel_name(self.kernel)
        dense = name in ("precomputed", "callable")
        if dense and sparse.issparse(X):
            raise ValueError(
                f"kernel={self.kernel!r} does not take sparse data, of shape {X.shape}; call X.toarray()"
            )
        X, y = validate_data(self, X, y, accept_sparse=False if dense else "csr", dtype=np.float64)
        X = tidy(X)
        codes = None
        if self._several:
            self.classes_, found = encode_classes(y, type(self).__name__)
            positive, codes = found > 0, found if len(self.classes_) > 2 else None
        else:
            self.classes_, positive = binary_classes(y, type(self).__name__)
        if name == "precomputed":
            validate_square(X)
        weights = row_weights(X, y, sample_weight, self.class_weight)
        own = row_weights(X, y, sample_weight)
        rows = Rows(X, positive, weights, own, None, len(positive), codes)
        if weights is not None and not weights.all():
            kept = np.flatnonzero(weights)
            part = X[np.ix_(kept, kept)] if name == "precomputed" else X[kept]
            own = None if own is None else own[kept]
            codes = None if codes is None else codes[kept]
            rows = Rows(part, positive[kept], weights[kept], own, kept, len(positive), codes)
        self._kernel: Kernel = resolve_kernel(self.kernel, self.gamma, self.degree, self.coef0, rows.X, own)
        if name in ("rbf", "poly"):
            given = self._kernel[1]["gamma"]  # type: ignore[index]
            self.gamma_ = 1.0 / X.shape[1] if given is None else float(given)
            self._kernel = (name, {**self._kernel[1], "gamma": self.gamma_})  # type: ignore[index]
        numbers = rows.positive if rows.codes is None else rows.codes
        self.class_count_ = np.bincount(numbers, weights=rows.own, minlength=2)
        return rows

    def _reserve(self, n: int, columns: int | None = None) -> None:
        """Raise MemoryError where the kernel matrix of `n` rows would not leave room for the fit."""
        if kernel_name(self._kernel) != "precomputed":  # which is there already
            require_memory(
                f"the kernel matrix of {n:,} rows takes",
                float(n) * (n if columns is None else columns),
                f"give n_components, such as {type(self).__name__}(n_components=500)",
                share=SHARE,
            )

    def _candidates(self, rows: Rows) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the design ``[1 K]`` of candidate columns, (n, m+1), by columns, and which rows they are.

        All n, and None, without `n_components`.
        """
        n = len(rows.positive)
        if self.n_components is None or self.n_components >= n:
            self._reserve(n)
            return training_design(self._kernel, rows.X), None
        drawn = check_random_state(self.random_state)
        columns = np.sort(drawn.choice(n, int(self.n_components), replace=False))
        self._reserve(n, len(columns))
        return candidate_design(self._kernel, rows.X, columns), columns

    def _keep(
        self,
        rows: Rows,
        coef: np.ndarray,
        intercept: Any,
        fitted: np.ndarray,
        columns: np.ndarray | None = None,
        direction: np.ndarray | None = None,
    ) -> Self:
        """Keep the solution, and of the rows what prediction needs: those with a coefficient.

        Parameters
        ----------
        rows : Rows
        coef : (m,) array
            Coefficients of the rows numbered `columns`, of all n by default.
        intercept : float
        fitted : (n,) array
            f on the rows, for the threshold. Of K classes the three are (m, K), (K,) and (n, K).
        columns : (m,) array of int, optional
        direction : (d,) array, optional, or (d, K)
            Of a linear kernel, where it is known better than by its sum over the rows.
        """
        places = np.arange(len(rows.positive)) if columns is None else columns
        self.dual_coef_ = np.zeros((rows.n_given, *coef.shape[1:]))
        self.dual_coef_[rows.names(places)] = coef
        if rows.codes is None:
            self.intercept_ = float(intercept)
            self.threshold_ = decision_threshold(self.threshold, fitted, rows.positive, rows.own)
        else:
            self.intercept_ = intercept
            self.threshold_ = np.array([
                decision_threshold(self.threshold, f, rows.codes == c, rows.own)
                for c, f in enumerate(fitted.T)
            ])  # fmt: skip
        used = coef != 0 if rows.codes is None else coef.any(axis=1)
        self.retained_ = np.flatnonzero(
            self.dual_coef_ if rows.codes is None else self.dual_coef_.any(axis=1)
        )
        self.retained_fraction_ = len(self.retained_) / rows.n_given
        self._weights = self.dual_coef_[self.retained_]
        name = kernel_name(self._kernel)
        kept = places[used]
        if name == "linear":  # one vector instead of rows
            self._direction = np.asarray(rows.X[kept].T @ coef[used]) if direction is None else direction
        elif name != "precomputed":
            self._rows = rows.X[kept]  # a copy
        return self

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the features in the decision function, (1, d), or (K, d) for K > 2 classes.

        Only of a linear kernel. That function is ``X @ coef_.T + (intercept_ - threshold_) / unit``, and the
        unit is half the distance of the two targets.
        """
        if "dual_coef_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no coef_ before fit")
        if "_direction" not in vars(self):
            raise AttributeError(
                f"{type(self).__name__} has coef_, weights of features, only with kernel='linear', got "
                f"kernel={self.kernel!r}; dual_coef_ has the coefficients of the training rows"
            )
        return np.atleast_2d((self._direction / self._units()).T)

    def _units(self) -> Any:
        """Return half the distance of the two targets, for each class where there are several."""
        if self.dual_coef_.ndim == 2:
            total = self.class_count_.sum()
            return total**2 / (2.0 * self.class_count_ * (total - self.class_count_))
        n_negative, n_positive = self.class_count_
        return float((n_negative + n_positive) ** 2 / (2.0 * n_negative * n_positive))

    def decision_function(self, X: Any) -> np.ndarray:
        """Return how far f is above the threshold, in half distances of the targets; > 0 is ``classes_[1]``.

        Of more than two classes, each has its f, and the largest is the answer.

        Parameters
        ----------
        X : (n, d) array or sparse matrix; (n, N) for "precomputed", of which only the retained columns count

        Returns
        -------
        (n,) array, or (n, n_classes)
            In float64; of a linear kernel, in float32 where `X` is.
        """
        check_is_fitted(self, "dual_coef_")
        name = kernel_name(self._kernel)
        sparse_too = False if name in ("precomputed", "callable") else "csr"
        kinds = [np.float64, np.float32] if name == "linear" else np.float64
        X = validate_data(self, X, accept_sparse=sparse_too, dtype=kinds, reset=False)
        if name == "linear":
            sums = np.asarray(X @ self._direction.astype(X.dtype, copy=False))
        elif name == "precomputed":
            sums = X[:, self.retained_] @ self._weights
        else:
            sums = kernel_sums(self._kernel, X, self._rows, self._weights)
        return np.asarray((sums + (self.intercept_ - self.threshold_)) / self._units())

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row of `X`, (n, d), or (n, N) for "precomputed"; at 0 the first one."""
        decisions = self.decision_function(X)
        if decisions.ndim == 2:
            return np.asarray(self.classes_[decisions.argmax(axis=1)])
        return self.classes_[(decisions > 0).astype(int)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tag_input(tags, self.kernel)
        tags.classifier_tags.multi_class = self._several
        return tags
