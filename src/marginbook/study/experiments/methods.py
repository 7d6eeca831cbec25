"""The compared methods: the ranges of their parameters, how each is made, and how sparse a fit is.

``gamma`` is a multiple of 1/p for p standardised features, the same range for all methods with the Gaussian
kernel. The papers' methods have the models that the papers print; where a paper leaves a choice, the room's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC

from ...clasmk.estimators.lssvm import LSSVMClassifier
from ...clasmk.estimators.weighted_kernels import CLASMKTransformer
from ...clasmk.model.features import FeatureMap
from ...clasmk.model.kernel_sets import paper_kernels
from ...drm.estimators.classifier import DRMClassifier
from ...experiments.fold import Point
from ...kfda.estimators.classifier import SparseKFDAClassifier
from ...kfda.peers.ridge import KFDAClassifier
from ...ldm.estimators.classifier import LDMClassifier
from ...smm.estimators.level_sets import LevelSetClassifier
from .candidates import Range
from .tuning import Tuned

GAMMA = Range(1 / 64, 16)
TREES = 200


@dataclass(eq=False, repr=False)
class SubspaceClassifier(ClassifierMixin, BaseEstimator):
    """CLASMK-ML: weighted subspaces of 13 kernels for each class, and an LS-SVM in their coordinates.

    Parameters
    ----------
    equal : bool
        Equal weights of the kernels that take part, where Algorithm 1 starts, instead of learned ones.
    eta : float
        Energy, in [0, 1], of held-out rows that a kernel must hold to take part.
    C : float
        Of the LS-SVM.
    random_state : int
        Of the split into rows for subspaces and rows for weights.
    """

    equal: bool = False
    eta: float = 0.5
    C: float = 1.0
    random_state: int = 0

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Fit to rows `X`, (n, p), and labels `y`, (n,)."""
        kind = _EqualWeights if self.equal else CLASMKTransformer
        self.features_ = kind(
            paper_kernels("table-4"), eta=self.eta, truncation="mean", random_state=self.random_state
        ).fit(X, y)
        self.base_ = LSSVMClassifier(C=self.C).fit(self.features_.transform(X), y)
        self.classes_ = self.base_.classes_
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class of each row of `X`, (m, p)."""
        return np.asarray(self.base_.predict(self.features_.transform(X)))

    def rows_used(self) -> int:
        """Return how many training rows the subspaces compare a new row with."""
        chosen = [one.rows for part in self.features_.map_.parts for _, _, one in part]
        return len(np.unique(np.concatenate(chosen), axis=0))


class _EqualWeights(CLASMKTransformer):
    def fit(self, X: Any, y: Any) -> Self:
        """Fit the subspaces to rows `X`, (n, p), and labels `y`, (n,); every kernel weighs the same."""
        learned = self._learn(X, y, "sum")
        weights = np.full((len(self.classes_), len(learned.kept)), 1 / len(learned.kept))
        self.weights_ = self._spread(weights, learned.kept)
        self.map_ = FeatureMap.of(learned.subspaces, learned.kept, self.weights_, "sum")
        return self


@dataclass(eq=False, repr=False)
class SignedRidge(ClassifierMixin, BaseEstimator):
    """The sign of kernel ridge regression to targets -1 and 1; scikit-learn has the regression only."""

    alpha: float = 1.0
    gamma: float = 1.0

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Fit to rows `X`, (n, p), and labels `y`, (n,) of two classes."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.ridge_ = KernelRidge(alpha=self.alpha, kernel="rbf", gamma=self.gamma).fit(X, 2.0 * codes - 1)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class of each row of `X`, (m, p)."""
        return np.asarray(self.classes_[(self.ridge_.predict(X) > 0).astype(int)])


def _all_rows(model: Any, n: int) -> float:
    return float(n)


def _drm(at: Point, shape: tuple[int, int], seed: int) -> Any:
    return DRMClassifier(alpha=at["alpha"], beta=at["beta"], gamma=at["gamma"] / shape[1])


def _ldm(at: Point, shape: tuple[int, int], seed: int) -> Any:
    return LDMClassifier(at["lambda1"], at["lambda2"], at["C"], gamma=at["gamma"] / shape[1])


def _kfda_half(at: Point, shape: tuple[int, int], seed: int) -> Any:
    return SparseKFDAClassifier(q=0.5, rho=at["rho"], gamma=at["gamma"] / shape[1])


def _kfda(at: Point, shape: tuple[int, int], seed: int) -> Any:
    return KFDAClassifier(reg=at["ridge"] * shape[0], gamma=at["gamma"] / shape[1])


def _clasmk(equal: bool) -> Callable[[Point, tuple[int, int], int], Any]:
    return lambda at, shape, seed: SubspaceClassifier(equal, at["eta"], at["C"], seed)


def _smm(at: Point, shape: tuple[int, int], seed: int) -> Any:
    return LevelSetClassifier(pi=0.5, rank=1, lam=at["lam"])


def _svm(at: Point, shape: tuple[int, int], seed: int) -> Any:
    return SVC(C=at["C"], gamma=at["gamma"] / shape[1])


def _kernel_ridge(at: Point, shape: tuple[int, int], seed: int) -> Any:
    return SignedRidge(alpha=at["alpha"], gamma=at["gamma"] / shape[1])


def _forest(at: Point, shape: tuple[int, int], seed: int) -> Any:
    return RandomForestClassifier(
        TREES,
        max_features=max(1, round(at["features"] * shape[1])),
        min_samples_leaf=max(1, round(at["leaf"])),
        random_state=seed,
    )


def _lda(at: Point, shape: tuple[int, int], seed: int) -> Any:
    return LinearDiscriminantAnalysis(solver="lsqr", shrinkage=at["shrinkage"])


_SUBSPACES = {"eta": Range(0.1, 0.7, log=False), "C": Range(1e-3, 1e2)}

#: what the protocol calls the methods
METHODS: dict[str, Tuned] = {
    "DRM": Tuned(
        {"gamma": GAMMA, "alpha": Range(1e-3, 1e1), "beta": Range(1e-3, 1e1)}, _drm, _all_rows, "drm"
    ),
    "LDM": Tuned(
        {
            "gamma": GAMMA,
            "C": Range(1e-1, 1e3),
            "lambda1": Range(2**-8, 2**-2),
            "lambda2": Range(2**-8, 2**-2),
        },
        _ldm,
        _all_rows,
        "ldm",
    ),
    "kFDA-0.5": Tuned(
        {"gamma": GAMMA, "rho": Range(1e-5, 10**-0.5)},
        _kfda_half,
        lambda model, n: float(len(model.retained_)),
        "kfda",
    ),
    "kFDA": Tuned({"gamma": GAMMA, "ridge": Range(1e-5, 1e1)}, _kfda, _all_rows, "kfda"),
    "CLASMK": Tuned(_SUBSPACES, _clasmk(False), lambda model, n: float(model.rows_used()), "clasmk"),
    "CLASMK equal": Tuned(_SUBSPACES, _clasmk(True), lambda model, n: float(model.rows_used()), "clasmk"),
    "SMM": Tuned({"lam": Range(1e-5, 1e1)}, _smm, paper="smm"),
    "SVM": Tuned({"gamma": GAMMA, "C": Range(1e-1, 1e3)}, _svm, lambda model, n: float(len(model.support_))),
    "kernel ridge": Tuned({"gamma": GAMMA, "alpha": Range(1e-3, 1e1)}, _kernel_ridge, _all_rows),
    "random forest": Tuned({"features": Range(0.05, 1.0), "leaf": Range(0.7, 16)}, _forest),
    "LDA": Tuned({"shrinkage": Range(1e-4, 1.0)}, _lda),
}
