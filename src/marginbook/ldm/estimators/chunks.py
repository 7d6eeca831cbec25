"""LDMClassifier on data in pieces: chunks of rows by Algorithm 2, files in LIBSVM's format block by block."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from ...base.labels import binary_signs
from ...base.parameters import is_whole, validate_flags
from ...kernels import kernel_name, tidy
from ...kernels.validation import validate_data
from ..solvers.libsvm_files import read_libsvm
from ..solvers.linear_cd_disk import DiskRows, averaged_sgd_blocks, solve_blocks
from .fitting import Fitting, begin, seed
from .gram_checks import finite_rows
from .parameters import steps_allowed, validate_settings

#: solvers that read a file block by block
FROM_DISK = ("auto", "dcd", "asgd")


def _is_stochastic(estimator: Any) -> bool:
    if estimator.solver != "asgd" or kernel_name(estimator.kernel) != "linear":
        raise AttributeError(
            "partial_fit of LDMClassifier needs kernel='linear' and solver='asgd'; an exact fit by chunks is "
            "that of DRMClassifier(kernel='linear')"
        )
    return True


def _reads_files(estimator: Any) -> bool:
    return estimator.solver in FROM_DISK and kernel_name(estimator.kernel) == "linear"


class TakesChunks(Fitting):
    """The part of LDMClassifier that only the linear kernel has."""

    @available_if(_is_stochastic)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, n_samples: int | None = None) -> Self:
        """Take one step of Algorithm 2 for each row of a chunk.

        Present only for the linear kernel with solver "asgd". It takes two classes and no weights. Each step
        draws two rows of the chunk, so chunks should be mixed as the whole is. After `fit` it goes on from
        there, with m the number of rows that `fit` got.

        Parameters
        ----------
        X : (n, d) array or CSR matrix
        y : (n,) labels
        classes : (2,) array, default=None
            Both labels; required in the first call.
        n_samples : int, default=None
            Number m of rows of the whole problem: every row's hinge weighs C against terms that do not grow
            with m. Read in the first call; without it m is the number of rows that came so far, and so wrong
            where rows come again.

        Raises
        ------
        ValueError
            For a first call without `classes`, other than two of them, others than those of the first call,
            unknown labels, `class_weight`, an `n_samples` that is no whole number, parameters out of range,
            and `lambda1`, `lambda2`, `C` or `fit_intercept` that changed since the first call.
        """
        first = not hasattr(self, "_state")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, reset=first)
        X = tidy(X)
        validate_settings(self)
        if self.class_weight is not None:
            raise ValueError("partial_fit takes no class_weight; repeat the rows")
        if first and classes is None:
            raise ValueError("the first call of partial_fit needs classes: both labels")
        known = self.classes_ if classes is None else binary_signs(classes, "LDMClassifier")[0]
        if not first and not np.array_equal(known, self.classes_):
            raise ValueError(
                f"classes {known.tolist()} differ from those of the first call: {self.classes_.tolist()}"
            )
        strangers = np.setdiff1d(y, known)
        if strangers.size:
            raise ValueError(f"label {strangers[0]} is not among the classes {known.tolist()}")
        signs = np.where(y == known[1], 1.0, -1.0)
        rows = finite_rows(X, self.fit_intercept)
        penalties = self._penalties()
        for name in ("objective_", "n_iter_", "margin_mean_", "margin_variance_"):  # of a fit to all rows
            self.__dict__.pop(name, None)
        if first:
            if not (n_samples is None or is_whole(n_samples)):
                raise ValueError(
                    "n_samples must be a whole number >= 1, that of the rows of all chunks together, got "
                    f"{n_samples!r}; leave it out to count the rows as they come"
                )
            self._forget()
            self.classes_, self.solver_, self._kernel = known, "asgd", ("linear", {})
            self._counting = n_samples is None
            self._state = begin(rows, signs, penalties, n_samples or len(signs), self.random_state)
        else:
            settings = (self._state.lambda1, self._state.lambda2, self._state.C, len(self._state.coef))
            if settings != (*penalties, rows.shape[1]):
                raise ValueError(
                    "lambda1, lambda2, C or fit_intercept changed since the first call; call fit instead"
                )
            if self._counting:
                self._state.n_samples += len(signs)
        self._state.partial_fit(rows, signs)
        self.n_steps_ = self._state.n_steps
        self._set_weights(self._state.coef)
        return self

    @available_if(_reads_files)
    def fit_file(
        self,
        path: str | Path,
        *,
        n_features: int | None = None,
        zero_based: bool = False,
        block_rows: int = 50_000,
        directory: str | Path | None = None,
    ) -> Self:
        """Fit to a file in LIBSVM's format that need not fit into memory.

        Present only for the linear kernel with solver "auto", "dcd" or "asgd". It takes two classes, no
        weights, a finite C, and no `fit_intercept`. The rows are dealt into blocks on disk, and one block is
        in memory at a time. Solver "asgd" runs Algorithm 2 on them; "dcd", which "auto" means here, ends with
        a duality gap as in memory. Its multipliers, the coefficients and margins of all rows stay in memory.

        Parameters
        ----------
        path : path
            Plain, .gz or .bz2. Of its two labels the larger is ``classes_[1]``.
        n_features : int, default=None
            Number d of features; the largest index of the file if not given.
        zero_based : bool, default=False
            Whether indices start from 0.
        block_rows : int, default=50000
            Rows of a block, about.
        directory : path, default=None
            Where the blocks go while they are needed, 12 bytes a non-zero; a temporary one if not given.

        Raises
        ------
        ValueError
            For a malformed line, which is named, other than two labels, `fit_intercept`, `class_weight`, an
            infinite C, and parameters out of range.
        """
        validate_settings(self)
        if self.class_weight is not None:
            raise ValueError("fit_file takes no class_weight; repeat the rows in the file")
        if self.fit_intercept:
            raise ValueError(
                "fit_file takes the features as they are, got fit_intercept=True; write a feature that is 1"
            )
        validate_flags(zero_based=zero_based)
        if not np.isfinite(self._penalties()[2]):
            raise ValueError("fit_file needs a finite C, got inf; fit the hard margin in memory")
        self._forget()
        rng = np.random.default_rng(seed(self.random_state))
        with DiskRows.from_libsvm(
            path,
            block_rows=block_rows,
            n_features=n_features,
            zero_based=zero_based,
            directory=directory,
            random_state=rng,
        ) as rows:
            self.classes_ = labels_of(path, zero_based)
            self.n_features_in_, self._kernel = rows.shape[1], ("linear", {})
            self.__dict__.pop("feature_names_in_", None)
            self.solver_ = "asgd" if self.solver == "asgd" else "dcd"
            self._signs = rows.y[np.argsort(rows.rows)]
            if self.solver_ == "asgd":
                run = averaged_sgd_blocks(rows, *self._penalties(), n_passes=self.n_passes, random_state=rng)
                w, self.objective_ = run.coef, run.objective
                self.n_iter_, self.n_steps_ = self.n_passes, run.n_steps
                self._set_statistics(rows.y * (rows @ w))
            else:
                steps = steps_allowed("dcd", self.max_iter)
                found = solve_blocks(rows, *self._penalties(), tol=self.tol, max_iter=steps, random_state=rng)
                w = found.coef
                self._keep([found], [rows.y * (rows @ w)], None, slice(None), rows.shape[0])
        self._set_weights(w)
        return self


def labels_of(path: str | Path, zero_based: bool) -> np.ndarray:
    """Return the two labels of a file that is known to have two, the smaller first: (2,)."""
    seen: set[float] = set()
    for _, y in read_libsvm(path, zero_based=zero_based):
        seen.update(np.unique(y).tolist())
        if len(seen) == 2:
            break
    return np.array(sorted(seen))
