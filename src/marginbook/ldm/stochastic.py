"""LDMClassifier in chunks: Algorithm 2, averaged stochastic gradients, on data that come piece by piece."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import validate_data

from ..kernels import kernel_name
from .asgd import AveragedSGD, initial_step
from .peer_machine import binary_signs
from .settings import check_counts, check_settings
from .training import Penalties, with_constant


def _is_stochastic(estimator: Any) -> bool:
    return estimator.solver == "asgd" and kernel_name(estimator.kernel) == "linear"


class TakesChunks:
    """The part of LDMClassifier that solver "asgd" has alone."""

    classes_: np.ndarray
    fit_intercept: bool
    random_state: Any
    _kernel: Any
    _state: AveragedSGD

    @available_if(_is_stochastic)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, n_samples: int | None = None) -> Self:
        """Take one step of Algorithm 2 for each row of a chunk; present only for solver "asgd".

        Each step draws two rows of the chunk, so chunks should be mixed as the whole is. After `fit` it goes
        on from there, with m the number of rows that `fit` got.

        Parameters
        ----------
        X : (n, d) array or CSR matrix
        y : (n,) labels
        classes : (2,) array
            Both labels; required in the first call.
        n_samples : int, optional
            Number m of rows of the whole problem: every row's hinge weighs C against terms that do not grow
            with m. Read in the first call; without it m is the number of rows that came so far, and so wrong
            where rows come again.

        Raises
        ------
        ValueError
            For unknown labels, and for parameters that changed since the first call.
        """
        first = not hasattr(self, "_state")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, reset=first)
        check_settings(self)
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
        rows = with_constant(X) if self.fit_intercept else X
        penalties = self._penalties()
        for name in ("objective_", "n_iter_", "margin_mean_", "margin_variance_"):  # of a fit to all rows
            self.__dict__.pop(name, None)
        if first:
            if n_samples is not None:
                check_counts(n_samples=n_samples)
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

    def _penalties(self) -> Penalties:
        raise NotImplementedError

    def _forget(self) -> None:
        raise NotImplementedError

    def _set_weights(self, w: np.ndarray) -> None:
        raise NotImplementedError


def begin(rows: Any, signs: np.ndarray, penalties: Penalties, m: int, random_state: Any) -> AveragedSGD:
    """Return the state before the first step, its step size found by trial on a first chunk.

    Parameters
    ----------
    rows : (n, d) array or CSR matrix
    signs : (n,) array of -1 and +1
    penalties : lambda1, lambda2, C
    m : int
        Rows of the whole problem.
    random_state : int, RandomState or None
    """
    lambda1, lambda2, C = penalties
    rng = np.random.default_rng(seed(random_state))
    # the trial weighs the hinge by C times the rows that it is given: m C here too
    gamma0 = initial_step(rows, signs, lambda1, lambda2, C * m / len(signs), random_state=rng)
    return AveragedSGD(rows.shape[1], m, lambda1, lambda2, C, gamma0=gamma0, random_state=rng)


def seed(random_state: Any) -> int:
    """Return a whole number for NumPy's generators from scikit-learn's ways to say it."""
    return int(check_random_state(random_state).randint(2**31 - 1))
