"""What the room's estimators share: validation, the weights of samples, one solve, and what a fit leaves."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from ...base.labels import encode_classes
from ...base.partial_fit import NoPartialFit
from ...base.refit import forget
from ...base.user_line import user_level
from ...kernels import Kernel, kernel_name, warn_of_scale
from ...kernels.decomposition import svd
from ..model.objective import combination
from ..solvers.block_descent import low_rank_svm
from ..solvers.kernel_block_descent import mapped_kernel_svm
from ..solvers.kernel_rows import MappedRows, map_rows
from ..solvers.kernel_solution import KernelSolution, decisions_of
from ..solvers.solution import LowRankSolution
from .certificates import MatrixSolution, certificates, warn_unconverged
from .equal_samples import find_copies
from .matrix_input import Shape, linear_values, validate_matrices, validate_training
from .parameters import gamma_of_rows, resolve_rank, resolve_row_kernel, validate_machine

#: a solution nearby; with a kernel also U alone
Start: TypeAlias = LowRankSolution | KernelSolution | np.ndarray
#: share of the squared norms of rows that landmarks may miss without a warning
MISSED = 0.01


class MatrixMachine(NoPartialFit, ClassifierMixin, BaseEstimator):
    r"""Low-rank machines :math:`f(X)=\langle B,X\rangle+b`, one or several; subclasses say which.

    A subclass has the parameters `rank`, `lam`, `loss`, `kernel`, `gamma`, `degree`, `coef0`, `n_components`,
    `fit_intercept`, `n_restarts`, `shape`, `tol`, `max_iter` and `random_state`, calls ``_validated`` at the
    beginning of ``fit``, ``_solve`` for each machine, and ``_keep`` at its end.
    """

    rank: int | None
    lam: float
    loss: str
    kernel: Kernel
    gamma: float | str | None
    degree: float
    coef0: float
    n_components: int | None
    fit_intercept: bool
    n_restarts: int
    bound_iter: int
    shape: Any
    tol: float
    max_iter: int
    random_state: Any
    classes_: np.ndarray
    matrix_shape_: Shape
    n_features_in_: int

    def _validate_parameters(self) -> None:
        """Raise ValueError for a parameter out of range."""
        validate_machine(self)

    def _validated(
        self, X: Any, y: Any, sample_weight: Any, binary: bool = False
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Check what `fit` gets, drop what an earlier one left.

        Parameters
        ----------
        X : (n, d1, d2) or (n, p) array
        y : (n,) labels
        sample_weight : (n,) array or None
        binary : bool
            Whether more than two classes are an error.

        Returns
        -------
        X : (m, d1, d2) array
            All samples, m = n; or, where some have no weight or are equal, each that counts once.
        codes : (m,) array of int
            The place of each label in ``classes_``.
        weights : (m,) array
            The sample weights, all 1 by default, as they are; of equal samples their sum.
        """
        forget(self, "_fit_copies", "_fit_kernel", "_fit_machines")
        self._validate_parameters()
        X, y = validate_training(self, X, y, self.shape)
        name = type(self).__name__
        self.classes_, codes = encode_classes(y, name)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        weighted = np.unique(codes[weights > 0])
        if binary and len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass, with "
                f"{len(self.classes_)} classes; wrap {name} in OneVsRestClassifier of sklearn.multiclass"
            )
        if len(weighted) < len(self.classes_):
            without = [str(label) for k, label in enumerate(self.classes_) if k not in weighted]
            raise ValueError(
                f"{name} needs samples of positive weight in each class, got none in {', '.join(without)}"
            )
        self._fit_copies = find_copies(X, codes, weights)
        kept = self._fit_copies.kept
        if len(kept) < len(X):
            X, codes = X[kept], codes[kept]
        weights = self._fit_copies.weights
        self._fit_kernel = resolve_row_kernel(self.kernel, self.gamma, self.degree, self.coef0, X, weights)
        gamma = gamma_of_rows(self._fit_kernel, X.shape[2])
        if gamma is not None:
            self.gamma_ = gamma
        self.rank_ = resolve_rank(self.rank, self.matrix_shape_, self._fit_kernel)
        return X, codes, weights

    def _seed(self) -> int:
        """Return a seed that `random_state` gives: one integer for all machines of a fit."""
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _mapped(self, X: np.ndarray) -> MappedRows | None:
        """Return the rows of `X`, (n, d1, d2), in the feature space that all machines share, if any."""
        if kernel_name(self._fit_kernel) == "linear":
            return None
        m = None if self.n_components is None else int(self.n_components)
        mapped = map_rows(X, self._fit_kernel, max_features=m)
        if m is None:
            warn_of_scale(self._fit_kernel, mapped.blocks.values)
        return mapped

    def _solve(
        self,
        X: np.ndarray,
        signs: np.ndarray,
        weights: np.ndarray,
        seed: int,
        start: Start | None = None,
        mapped: MappedRows | None = None,
        gram: np.ndarray | None = None,
    ) -> MatrixSolution:
        """Return the machine for labels `signs`, (n,), of -1 and 1 and the whole `weights`, (n,).

        Raises
        ------
        ValueError
            If the objective overflows.
        """
        options: dict[str, Any] = {
            "rank": self.rank_,
            "lam": float(self.lam),
            "loss": self.loss,
            "sample_weight": weights,
            "fit_intercept": bool(self.fit_intercept),
            "n_restarts": int(self.n_restarts) if start is None else 0,
            "start": start,
            "tol": float(self.tol),
            "max_iter": int(self.max_iter),
            "random_state": seed,
        }
        steps = int(self.bound_iter)
        found: MatrixSolution
        with np.errstate(all="ignore"):  # steps that overflow are not taken
            if mapped is None:
                found = low_rank_svm(X, signs, bound_iter=steps, gram=gram, **options)
            else:
                found = mapped_kernel_svm(mapped, signs, relaxation=steps, **options)
        if not np.isfinite(found.objective):
            raise ValueError("the objective of these matrices overflows; scale the features")
        return found

    def _keep(self, found: Sequence[MatrixSolution], single: bool) -> None:
        """Keep the machines and their certificates: as they are if there is a `single` one, else stacked."""
        self._fit_machines = list(found)
        for name, value in certificates(found, self._fit_copies).items():
            setattr(self, name, value[0] if single else value)
        self.n_iter_ = max(1, max(machine.n_iter for machine in found))
        self.converged_ = all(machine.converged for machine in found)
        warn_unconverged(type(self).__name__, found, self.tol)
        missed = max((one.missed for one in found if isinstance(one, KernelSolution)), default=0.0)
        if missed > MISSED:
            smoother = "take a smoother kernel"
            if kernel_name(self._fit_kernel) == "rbf":
                smoother = "scale the features (StandardScaler), or lower gamma, as gamma='scale' may"
            warnings.warn(
                f"the {self.n_components} landmarks miss {missed:.1%} of the squared norms of all rows in "
                f"the feature space, more than {MISSED:.0%}; raise n_components, or {smoother}",
                UserWarning,
                stacklevel=user_level(),
            )

    def _start_of(self, machine: MatrixSolution, X: np.ndarray, signs: np.ndarray) -> Start | None:
        """Return a start from an earlier `machine`, with as many columns as are needed, if its shape fits."""
        linear = kernel_name(self._fit_kernel) == "linear"
        if isinstance(machine, KernelSolution):
            if linear or machine.shape != self.matrix_shape_:
                return None
            return machine if machine.U.shape[1] == self.rank_ else machine.U[:, : self.rank_]
        if not linear or machine.coef.shape != self.matrix_shape_:
            return None
        return resized(machine, self.rank_, X, signs)

    def _values(self, X: Any) -> np.ndarray:
        """Return the decision values of all machines on `X`, (m, d1, d2) or (m, p): (m, machines)."""
        check_is_fitted(self, "matrix_shape_")
        linear = kernel_name(self._fit_kernel) == "linear"
        return self._machine_values(validate_matrices(self, X, single=linear))

    def _machine_values(self, X: np.ndarray) -> np.ndarray:
        mapped = [machine for machine in self._fit_machines if isinstance(machine, KernelSolution)]
        if mapped:
            return decisions_of(mapped, X)
        linear = [machine for machine in self._fit_machines if isinstance(machine, LowRankSolution)]
        return np.column_stack([linear_values(machine.coef, machine.intercept, X) for machine in linear])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags


def resized(machine: LowRankSolution, rank: int, X: np.ndarray, signs: np.ndarray) -> LowRankSolution:
    """Return `machine` with `rank` columns of U and V: the leading ones, and new ones where it has too few.

    New columns of V are the leading right singular vectors of M(c) outside the span of the old ones, in which
    the objective falls fastest; those of U are zero, so that the objective does not change.

    Parameters
    ----------
    machine : LowRankSolution
    rank : int
    X : (n, d1, d2) array
    signs : (n,) array of -1 and 1
    """
    U, V = machine.U[:, :rank], machine.V[:, :rank]
    missing = rank - U.shape[1]
    if missing <= 0:
        return replace(machine, U=U, V=V)
    # of other samples no multipliers are known
    same = len(machine.multipliers) == len(X)
    M = combination(machine.multipliers, X, signs) if same else X.mean(axis=0)
    fresh = svd(M - M @ V @ np.linalg.pinv(V))[2][:missing].T
    nothing = np.zeros((len(U), missing))
    return replace(machine, U=np.hstack([U, nothing]), V=np.hstack([V, fresh]))


def class_weights(
    class_weight: Any, classes: np.ndarray, codes: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Return the weight of each sample's class, (n,), as scikit-learn's `class_weight` says it.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
    classes : (K,) array
    codes : (n,) array of int
        The place of each label in `classes`.
    weights : (n,) array
        Of the samples, which "balanced" counts with.

    Raises
    ------
    ValueError
        For a weight of a class that is not finite and above 0.
    """
    of_class = compute_class_weight(class_weight, classes=classes, y=classes[codes], sample_weight=weights)
    if not (np.isfinite(of_class) & (of_class > 0)).all():
        raise ValueError(f"class_weight gives the weights {of_class}, wanted finite weights > 0")
    return np.asarray(of_class)[codes]
