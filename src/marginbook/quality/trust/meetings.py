"""Where two estimators are one machine: in a limit of its parameters one must answer as the other does.

The bridge derives most of these relations (:mod:`marginbook.bridge.claims`); here they are asked of the
public estimators, fitted as a user fits them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from ... import clasmk, drm, kfda, ldm, smm
from ...kernels import Kernel
from .stability import SHAPE, answers, difference, problem, setting

#: rows that are fitted
ROWS = 120
GAMMA = 0.05
NARROW: Kernel = ("rbf", {"gamma": GAMMA})
#: a hinge loss in a mean against lam, and in a sum with C against a half, are the same
LAM = 0.01
C = 1 / (2 * ROWS * LAM)


@dataclass(frozen=True)
class Meeting:
    """Two estimators that are one machine.

    Attributes
    ----------
    room : str
        Of the first estimator.
    build, other : callable
    where : str
        What makes them one, for readers.
    limit : float
        How far the decision values may be apart, relative to the largest; where a machine stops at a
        tolerance that bounds the objective or its slopes, the decision values are known less well.
    matrices : bool
    """

    room: str
    build: Callable[[], Any]
    other: Callable[[], Any]
    where: str
    limit: float
    matrices: bool = False


class RidgeOfSimilarLabels:
    """The DRM without alpha for two classes: kernel ridge with the targets y_j k(x_j, x), anew for each x."""

    shown = "KernelRidge"

    def __init__(self, beta: float) -> None:
        self.beta = beta

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        """Keep the rows."""
        self._rows, self._signs = X, np.where(y > 0, 1.0, -1.0)

    def decision_function(self, T: np.ndarray) -> np.ndarray:
        """Return twice the prediction at each row from the targets of that row."""
        columns = rbf_kernel(self._rows, T, gamma=GAMMA)
        ridge = KernelRidge(alpha=self.beta, kernel="rbf", gamma=GAMMA)
        ridge.fit(self._rows, self._signs[:, np.newaxis] * columns)
        return 2.0 * np.asarray(np.diag(ridge.predict(T)))


class LassoOnKernelColumns:
    """kFDA with q = 1 and a free bias: the lasso on kernel columns, with Fisher's targets."""

    shown = "Lasso"

    def __init__(self, rho: float) -> None:
        self.rho = rho

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        """Fit scikit-learn's coordinate descent."""
        self._rows = X
        targets = np.where(y > 0, len(y) / (y > 0).sum(), -len(y) / (y <= 0).sum())
        self._lasso = Lasso(alpha=self.rho, tol=1e-12, max_iter=10**6)
        self._lasso.fit(rbf_kernel(X, gamma=GAMMA), targets)
        self._middle, self._half = (targets.max() + targets.min()) / 2, np.ptp(targets) / 2

    def decision_function(self, T: np.ndarray) -> np.ndarray:
        """Return the predictions on a scale on which the targets are 1 and -1."""
        found = self._lasso.predict(rbf_kernel(T, self._rows, gamma=GAMMA))
        return np.asarray((found - self._middle) / self._half)


def meetings() -> list[Meeting]:
    """Return all pairs, in the order of the rooms."""
    return [
        Meeting(
            "drm",
            lambda: drm.MixedNormDRMClassifier(0.1, 0.1, 2, 2, "half-square", kernel=NARROW),
            lambda: drm.DRMClassifier(0.1, 0.1, NARROW),
            "q = r = 2",
            1e-8,
        ),
        Meeting(
            "drm",
            lambda: drm.DRMClassifierCV((0.1,), (0.1,), kernels=(NARROW,)),
            lambda: drm.DRMClassifier(0.1, 0.1, NARROW),
            "a grid of one point",
            1e-8,
        ),
        Meeting(
            "drm",
            lambda: drm.DRMClassifier(0.0, 0.1, NARROW),
            lambda: RidgeOfSimilarLabels(0.1),
            "alpha = 0: kernel ridge, labels weighted by similarity",
            1e-8,
        ),
        Meeting(
            "ldm",
            lambda: ldm.LDMClassifier(0.0, 0.0, C, kernel="linear"),
            lambda: smm.LowRankSVMClassifier(None, LAM, fit_intercept=False, shape=(3, 4)),
            "lambda1 = lambda2 = 0, and full rank without an intercept",
            2e-3,
        ),
        Meeting(
            "ldm",
            lambda: ldm.LDMClassifierCV((0.1,), (0.1,), (1.0,), kernel=NARROW),
            lambda: ldm.LDMClassifier(0.1, 0.1, 1.0, kernel=NARROW),
            "a grid of one point",
            1e-8,
        ),
        Meeting(
            "kfda",
            lambda: kfda.SparseKFDAClassifier(2.0, 0.01, NARROW, penalize_bias=False),
            lambda: kfda.KFDAClassifier(2 * 0.01 * ROWS, NARROW),
            "q = 2, and the bias is free",
            1e-4,
        ),
        Meeting(
            "kfda",
            lambda: kfda.SparseKFDAClassifier(1.0, 0.01, NARROW, penalize_bias=False),
            lambda: LassoOnKernelColumns(0.01),
            "q = 1, and the bias is free: the lasso",
            1e-4,
        ),
        Meeting(
            "clasmk",
            lambda: clasmk.MKLClassifier([NARROW]),
            lambda: SVC(C=1.0, gamma=GAMMA, tol=1e-8),
            "one kernel",
            2e-3,
        ),
        *_of_matrices(),
    ]


def _of_matrices() -> list[Meeting]:
    def meeting(build: Callable[[], Any], other: Callable[[], Any], where: str, limit: float) -> Meeting:
        return Meeting("smm", build, other, where, limit, matrices=True)

    rank = min(SHAPE)
    return [
        meeting(
            lambda: smm.LowRankSVMClassifier(None, LAM),
            lambda: smm.VectorSVMClassifier(LAM),
            "full rank",
            2e-3,
        ),
        meeting(
            lambda: smm.LowRankSVMClassifier(rank, LAM),
            lambda: smm.LowRankSVMClassifier(None, LAM),
            "the largest rank",
            1e-4,
        ),
        meeting(
            lambda: smm.LowRankSVMClassifierCV((2,), (LAM,), random_state=0),
            lambda: smm.LowRankSVMClassifier(2, LAM, random_state=0),
            "a grid of one point",
            1e-4,
        ),
        meeting(
            lambda: smm.NuclearNormSVMClassifier(0.0, C),
            lambda: smm.LowRankSVMClassifier(None, LAM),
            "tau = 0, and full rank",
            1e-4,
        ),
        meeting(
            lambda: smm.LowRankLogisticClassifier(None, LAM),
            lambda: smm.VectorLogisticClassifier(LAM),
            "full rank",
            1e-4,
        ),
        meeting(
            lambda: smm.LowRankSVMClassifier(None, LAM, loss="logistic"),
            lambda: smm.LowRankLogisticClassifier(None, LAM),
            "the logistic loss",
            1e-4,
        ),
    ]


def check(one: Meeting, seed: int = 0) -> float:
    """Return how far the answers of the two are apart, relative to the largest."""
    X, y, T = problem(one.matrices, seed)
    with threadpool_limits(1):
        first, second = (answers(build, X[:ROWS], y[:ROWS], T) for build in (one.build, one.other))
    return difference(first, second)[1]


def rows(room: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of the committed table for one room."""
    for one in meetings():
        if one.room == room:
            found, model, other = check(one), one.build(), one.other()
            yield {
                "room": room,
                "estimator": type(model).__name__,
                "setting": setting(model),
                "other": getattr(other, "shown", type(other).__name__),
                "where": one.where,
                "decisions": f"{found:.1e}",
                "limit": f"{one.limit:.0e}",
                "agrees": "yes" if found <= one.limit else "no",
            }
