"""The compared methods: which parameters each one tries, how it is fitted, and the probability it gives.

Labels are -1 and 1 throughout. A level path is one weighted machine for each level; the others have one
machine, whose probability is its own (logistic) or comes from a calibrator that is trained on decision values
of held-out folds of the training samples.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

from ...base.splits import stratified_folds
from ...experiments.fold import Point, Settings
from ..estimators.low_rank import LowRankSVMClassifier
from ..estimators.regression import RegressionFunctionEstimator
from ..model.aggregation import aggregate
from ..model.row_features import RowFeatures
from ..peers.calibrated import CalibratedSVMClassifier
from ..peers.logistic import LowRankLogisticClassifier
from ..peers.nuclear_norm import NuclearNormSVMClassifier
from ..peers.vector import VectorLogisticClassifier, VectorSVMClassifier
from .selection import Chooser, Judge, Judged
from .trials import Shared, in_row_features, path_values, single_values


def grid(settings: Settings, *names: str, **values: list[Any]) -> list[Point]:
    """Return all combinations, the last name fastest: lists of `settings` by name, or given `values`.

    >>> grid({"lams": [0.1, 0.01]}, "lams", rank=[1])
    [{'rank': 1, 'lam': 0.1}, {'rank': 1, 'lam': 0.01}]
    """
    axes = {**values, **{name.removesuffix("s"): settings[name] for name in names}}
    return [dict(zip(axes, point, strict=True)) for point in product(*axes.values())]


def flat(X: np.ndarray) -> np.ndarray:
    """Return matrices (n, d1, d2) as rows (n, d1 d2)."""
    return X.reshape(len(X), -1)


@dataclass(frozen=True)
class LevelPath(Chooser):
    """Weighted machines at levels h/H.

    Parameters
    ----------
    full : bool
        Full rank: the vector SVM.
    rank : int or None
        A fixed rank; None is chosen with lam.
    """

    full: bool = False
    rank: int | None = None

    def points(self, settings: Settings, shape: tuple[int, int]) -> list[Point]:
        """See `Chooser`."""
        if self.full:
            return grid(settings, "lams")
        ranks = settings["ranks"] if self.rank is None else [self.rank]
        return grid(settings, "lams", rank=possible(ranks, min(shape)))

    def trial(
        self, X: np.ndarray, y: np.ndarray, new: np.ndarray, point: Point, settings: Settings
    ) -> np.ndarray:
        """See `Chooser`; with fewer levels than the final fit."""
        return _path_trial(X, y, new, point, settings)

    def tries(self, settings: Settings) -> Hashable:
        """See `Chooser`: that the rank is fixed, or full, is in the point."""
        return type(self), settings["tuning_levels"], settings["trial_tol"]

    def fit(self, X: np.ndarray, y: np.ndarray, point: Point, settings: Settings, seed: int) -> Judge:
        """See `Chooser`."""
        return _path(X, y, point, settings)


@dataclass(frozen=True)
class RowKernelPath(Chooser):
    """A level path in features of the Gaussian kernel on rows, which landmark rows span."""

    def points(self, settings: Settings, shape: tuple[int, int]) -> list[Point]:
        """See `Chooser`; gamma is a multiple of 1 / d2."""
        gammas = [multiple / shape[1] for multiple in settings["gammas"]]
        ranks = possible(settings["ranks"], shape[0])
        return grid(settings, gamma=gammas, rank=ranks, lam=settings["kernel_lams"])

    def trial(
        self, X: np.ndarray, y: np.ndarray, new: np.ndarray, point: Point, settings: Settings
    ) -> np.ndarray:
        """See `Chooser`."""
        shared, point = _in_rows(X, point, settings)
        return _path_trial(shared.values, y, shared.features.transform(new), point, settings)

    def tries(self, settings: Settings) -> Hashable:
        """See `Chooser`."""
        names = ("tuning_levels", "trial_tol", "landmarks", "missed")
        return type(self), *(settings[name] for name in names)

    def fit(self, X: np.ndarray, y: np.ndarray, point: Point, settings: Settings, seed: int) -> Judge:
        """See `Chooser`."""
        shared, point = _in_rows(X, point, settings)
        return _Path(_path(shared.values, y, point, settings).model, shared.features)


@dataclass(frozen=True)
class Logistic(Chooser):
    """Logistic regression, of low rank or on vec(X)."""

    full: bool = False

    def points(self, settings: Settings, shape: tuple[int, int]) -> list[Point]:
        """See `Chooser`."""
        return LevelPath(self.full).points({**settings, "lams": settings["logistic_lams"]}, shape)

    def trial(
        self, X: np.ndarray, y: np.ndarray, new: np.ndarray, point: Point, settings: Settings
    ) -> np.ndarray:
        """See `Chooser`."""
        if self.full:
            return self._fit(X, y, point, settings["trial_tol"]).judge(new).probability
        return np.asarray(
            expit(single_values(X, y, new, loss="logistic", tol=settings["trial_tol"], **point))
        )

    def tries(self, settings: Settings) -> Hashable:
        """See `Chooser`."""
        return type(self), self.full, settings["trial_tol"]

    def fit(self, X: np.ndarray, y: np.ndarray, point: Point, settings: Settings, seed: int) -> Judge:
        """See `Chooser`."""
        return self._fit(X, y, point, settings["tol"])

    def _fit(self, X: np.ndarray, y: np.ndarray, point: Point, tol: float) -> Judge:
        if self.full:
            return _Single(VectorLogisticClassifier(**point).fit(X, y))
        model = LowRankLogisticClassifier(**point, tol=tol).fit(X, y)
        return _Single(model, gap=_share(model))


@dataclass(frozen=True)
class Calibrated(Chooser):
    """A machine with a calibrator of its decision values.

    Parameters
    ----------
    base : {"low-rank", "vector", "nuclear", "rbf"}
    how : {"sigmoid", "isotonic"}
    """

    base: str
    how: str = "sigmoid"

    def points(self, settings: Settings, shape: tuple[int, int]) -> list[Point]:
        """See `Chooser`; ``mu`` weighs the nuclear norm beside lam and the mean loss; gamma per entry."""
        if self.base == "nuclear":
            return grid(settings, "mus", lam=settings["nuclear_lams"])
        if self.base == "rbf":
            gammas = [multiple / (shape[0] * shape[1]) for multiple in settings["gammas"]]
            return grid(settings, gamma=gammas, lam=settings["kernel_lams"])
        return LevelPath(self.base == "vector").points(settings, shape)

    def trial(
        self, X: np.ndarray, y: np.ndarray, new: np.ndarray, point: Point, settings: Settings
    ) -> np.ndarray:
        """See `Chooser`; decision values."""
        if self.base == "low-rank":
            return single_values(X, y, new, loss="hinge", tol=settings["trial_tol"], **point)
        machine = self._machine(point, len(y), settings["trial_tol"])
        return np.asarray(machine.fit(X, y).decision_function(new))

    def tries(self, settings: Settings) -> Hashable:
        """See `Chooser`."""
        return type(self), self.base, settings["trial_tol"]

    def trial_probability(self, outputs: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
        """See `Chooser`: of the sigmoid that suits the labels best, whatever `how`."""
        unit = np.std(outputs) or 1.0
        sigmoid = LogisticRegression(C=1e6).fit(outputs[:, None] / unit, y)
        return np.asarray(sigmoid.predict_proba(new[:, None] / unit)[:, 1])

    def fit(self, X: np.ndarray, y: np.ndarray, point: Point, settings: Settings, seed: int) -> Judge:
        """See `Chooser`; the calibrator learns from the folds of `choose_by_folds`, the machine from all."""
        folds = stratified_folds(y, settings["folds"], seed)
        machine = self._machine(point, len(y), settings["tol"])
        model = CalibratedSVMClassifier(machine, method=self.how, cv=folds, ensemble=False).fit(X, y)
        base = model.calibrated_.calibrated_classifiers_[0].estimator
        return _Single(model, base, _share(base) if self.base == "low-rank" else None)

    def _machine(self, point: Point, n: int, tol: float) -> Any:
        lam = point["lam"]
        if self.base == "low-rank":
            return LowRankSVMClassifier(**point, tol=tol)
        if self.base == "vector":
            return VectorSVMClassifier(lam)
        # lam |B|^2 + mu |B|_* + mean loss, divided by 2 lam
        if self.base == "nuclear":
            return NuclearNormSVMClassifier(point["mu"] / (2 * lam), 1 / (2 * lam * n), tol=tol)
        kernel = SVC(C=1 / (2 * lam * n), gamma=point["gamma"])
        return make_pipeline(FunctionTransformer(flat), kernel)


#: what protocols call the methods
METHODS: dict[str, Chooser] = {
    "low-rank SVM, levels": LevelPath(),
    "vector SVM, levels": LevelPath(full=True),
    "low-rank logistic": Logistic(),
    "vector logistic": Logistic(full=True),
    "low-rank SVM, Platt": Calibrated("low-rank"),
    "vector SVM, Platt": Calibrated("vector"),
    "vector SVM, isotonic": Calibrated("vector", "isotonic"),
    "nuclear-norm SVM, Platt": Calibrated("nuclear"),
    "row-kernel SVM, levels": RowKernelPath(),
    "rbf SVM, Platt": Calibrated("rbf"),
    **{f"rank {rank} SVM, levels": LevelPath(rank=rank) for rank in (1, 2, 3, 5, 10, 20)},
}


def possible(ranks: list[int], most: int) -> list[int]:
    """Return the `ranks` up to `most`; `most` alone where all are larger."""
    return [rank for rank in ranks if rank <= most] or [most]


@dataclass(frozen=True)
class _Path:
    model: RegressionFunctionEstimator
    features: RowFeatures | None = None

    def judge(self, X: np.ndarray) -> Judged:
        X = X if self.features is None else self.features.transform(X)
        levels = self.model.level_decisions(X)
        # H is even: the middle one is the level 1/2
        return Judged(aggregate(levels, "count"), levels[:, levels.shape[1] // 2], levels)

    @property
    def gap(self) -> float:
        return float(np.mean(self.model.global_gap_ / self.model.objective_))


@dataclass(frozen=True)
class _Single:
    model: Any
    base: Any = None
    gap: float | None = None

    def judge(self, X: np.ndarray) -> Judged:
        probability = self.model.predict_proba(X)[:, 1]
        decision = probability - 0.5 if self.base is None else self.base.decision_function(X)
        return Judged(probability, decision)


def _path(X: np.ndarray, y: np.ndarray, point: Point, settings: Settings) -> _Path:
    rank, lam, tol = point.get("rank"), point["lam"], settings["tol"]
    return _Path(RegressionFunctionEstimator(settings["n_levels"], rank=rank, lam=lam, tol=tol).fit(X, y))


def _path_trial(
    X: np.ndarray, y: np.ndarray, new: np.ndarray, point: Point, settings: Settings
) -> np.ndarray:
    n_levels, tol = settings["tuning_levels"], settings["trial_tol"]
    values = path_values(X, y, new, n_levels=n_levels, rank=point.get("rank"), lam=point["lam"], tol=tol)
    return aggregate(values, "count")


def _in_rows(X: np.ndarray, point: Point, settings: Settings) -> tuple[Shared, Point]:
    """Return matrices in features of their rows, and the point with a rank that these can have."""
    shared = in_row_features(X, point["gamma"], settings["landmarks"], settings["missed"])
    return shared, {**point, "rank": min(point["rank"], *shared.values.shape[1:])}


def _share(model: Any) -> float:
    return float(model.global_gap_ / model.objective_)
