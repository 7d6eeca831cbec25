"""LS-SVM whose C leave-one-out chooses, on no more rows than are needed for that."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from ...kernels import Kernel
from ..estimators.lssvm import LSSVMClassifier


@dataclass(eq=False, repr=False)
class ChosenLSSVM(ClassifierMixin, BaseEstimator):
    """`LSSVMClassifier` of all rows, with the C that is best by leave-one-out among at most `rows` of them.

    Parameters
    ----------
    grid : sequence of float
        The C to try.
    rows : int
        Random rows that the choice is made with.
    kernel, normalised
        As of `LSSVMClassifier`.
    random_state : int
    """

    grid: Sequence[float] = (1.0,)
    rows: int = 1000
    kernel: Kernel = "linear"
    normalised: bool = False
    random_state: int = 0

    def choice(self, n: int) -> np.ndarray:
        """Return the rows, of n, that the choice is made with."""
        return np.random.default_rng(self.random_state).permutation(n)[: self.rows]

    def trial(self, X: np.ndarray, y: np.ndarray) -> LSSVMClassifier:
        """Return the machine of the rows of the choice, (r, p) and (r,), with the best C."""
        grid = [float(C) for C in self.grid]
        return self._fitted(grid, X, y)

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Choose C, ``C_``, with the leave-one-out accuracy ``loo_accuracy_`` of the choice; fit all rows."""
        rows = self.choice(len(y))
        trial = self.trial(X[rows], y[rows])
        self.C_, self.loo_accuracy_ = trial.C_, trial.loo_accuracy_
        self.model_ = self._fitted(self.C_, X, y)
        self.classes_ = self.model_.classes_
        return self

    def _fitted(self, C: float | list[float], X: np.ndarray, y: np.ndarray) -> LSSVMClassifier:
        """Return the machine with `C`; an experiment tries widths that are too narrow on purpose."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="gamma is too", category=UserWarning)
            return LSSVMClassifier(C=C, kernel=self.kernel, normalised=self.normalised).fit(X, y)

    def decision_function(self, X: np.ndarray) -> Any:
        """Return the outputs for rows `X`, (n, p), as `LSSVMClassifier` does."""
        return self.model_.decision_function(X)

    def predict(self, X: np.ndarray) -> Any:
        """Return the class of each row of `X`, (n, p)."""
        return self.model_.predict(X)
