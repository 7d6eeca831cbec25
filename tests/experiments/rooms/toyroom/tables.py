"""What the toy room measures, and the data that it brings."""

import os
import time
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.datasets import load_wine, make_blobs
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid


def _dataset(name: str, X: Any, y: Any) -> SimpleNamespace:
    folds = (np.arange(len(y)) % 5 + 1).astype(np.int8)
    source = os.environ.get("TOYROOM_SOURCE", "0" * 64)
    return SimpleNamespace(X=X, y=y, name=name, sha256=source, folds=folds, test_mask=None)


def blobs() -> SimpleNamespace:
    return _dataset("blobs", *make_blobs(n_samples=120, centers=3, cluster_std=1.0, random_state=7))


def wine() -> SimpleNamespace:
    return _dataset("wine", *load_wine(return_X_y=True))


def measure(
    X_train: Any, y_train: Any, X_test: Any, y_test: Any, *, method: str, settings: Mapping[str, Any], seed: int,
    dataset: str,
) -> dict[str, Any]:  # fmt: skip
    time.sleep(settings.get("pause", 0))
    if method == "raises":
        raise ZeroDivisionError("this method always fails")
    if method == "dies":
        os._exit(9)
    if method == "textless":
        return {"accuracy": object()}
    model = {
        "nearest": lambda: KNeighborsClassifier(settings["neighbours"]),
        "centroid": NearestCentroid,
        "forest": lambda: RandomForestClassifier(settings["trees"], random_state=seed),
    }[method]()
    model.fit(X_train, y_train)
    # a sum of irrational terms, so that a change of its order or of the seed would show
    spread = float(np.sum(np.sqrt(np.abs(X_train @ X_train.T))))
    return {"accuracy": model.score(X_test, y_test), "spread": spread, "n_train": len(y_train), "seed": seed,
            "params": f'{{"neighbours": {settings["neighbours"]}}}'}  # fmt: skip


EXPERIMENTS = dict.fromkeys(["folds", "random", "trouble", "slow"], measure)
DATASETS = {"blobs": blobs, "wine": wine}
