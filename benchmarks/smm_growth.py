"""The estimators of matrices that `growth.py` fits to more and more rows of 20 features, taken as 5 x 4."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from marginbook.smm import (
    LevelSetClassifier,
    LowRankLogisticClassifier,
    LowRankSVMClassifier,
    NuclearNormSVMClassifier,
    RegressionFunctionEstimator,
    VectorLogisticClassifier,
    VectorSVMClassifier,
)

SHAPE = (5, 4)
#: landmark rows of the kernel between rows, which has n * 5 rows
LANDMARKS = 100

#: name -> estimator, exact unless it says landmarks
CASES: dict[str, Callable[[], Any]] = {
    "LowRankSVMClassifier, rank 2": lambda: LowRankSVMClassifier(2, shape=SHAPE),
    "LowRankSVMClassifier, rank 2, squared hinge": lambda: LowRankSVMClassifier(
        2, loss="squared_hinge", shape=SHAPE
    ),
    "LowRankSVMClassifier, rank 2, rbf, 100 landmarks": lambda: LowRankSVMClassifier(
        2, lam=1e-4, loss="squared_hinge", kernel="rbf", n_components=LANDMARKS, shape=SHAPE
    ),
    "LowRankLogisticClassifier, rank 2": lambda: LowRankLogisticClassifier(2, shape=SHAPE),
    "LevelSetClassifier, rank 2": lambda: LevelSetClassifier(0.5, 2, shape=SHAPE),
    "LevelSetClassifier, rank 2, rbf, 100 landmarks": lambda: LevelSetClassifier(
        0.5, 2, kernel="rbf", n_components=LANDMARKS, shape=SHAPE
    ),
    "RegressionFunctionEstimator, rank 2, rbf, 100 landmarks": lambda: RegressionFunctionEstimator(
        20, rank=2, kernel="rbf", n_components=LANDMARKS, shape=SHAPE
    ),
    "RegressionFunctionEstimator, rank 2": lambda: RegressionFunctionEstimator(20, rank=2, shape=SHAPE),
    "NuclearNormSVMClassifier": lambda: NuclearNormSVMClassifier(shape=SHAPE),
    "VectorSVMClassifier": lambda: VectorSVMClassifier(shape=SHAPE),
    "VectorLogisticClassifier": lambda: VectorLogisticClassifier(shape=SHAPE),
}
