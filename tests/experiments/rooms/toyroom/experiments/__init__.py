"""What the toy room measures, and the data that it brings.

scikit-learn is imported only where it is used: the tests start this room in many processes.
"""

import os
import time
from types import SimpleNamespace
from typing import Any

import numpy as np

from marginbook.experiments.fold import Fold, Row, Settings


def _dataset(name: str, X: Any, y: Any, n_folds: int = 5) -> SimpleNamespace:
    folds = (np.arange(len(y)) % n_folds + 1).astype(np.int8)
    source = os.environ.get("TOYROOM_SOURCE", "0" * 64)
    return SimpleNamespace(X=X, y=y, name=name, sha256=source, folds=folds, test_mask=None)


def blobs() -> SimpleNamespace:
    from sklearn.datasets import make_blobs

    return _dataset("blobs", *make_blobs(n_samples=120, centers=3, cluster_std=1.0, random_state=7))


def wine() -> SimpleNamespace:
    from sklearn.datasets import load_wine

    return _dataset("wine", *load_wine(return_X_y=True))


def clouds(name: str = "clouds", n_folds: int = 12) -> SimpleNamespace:
    rng, y = np.random.default_rng(0), np.arange(240) // 80
    return _dataset(name, rng.normal(size=(240, 6)) + y[:, None], y, n_folds=n_folds)


def crowd() -> SimpleNamespace:
    return clouds("crowd", 60)


def measure(fold: Fold, method: str, settings: Settings) -> Row:
    X_train, y_train, X_test, seed = fold.X_train, fold.y_train, fold.X_test, fold.seed
    time.sleep(settings.get("pause", 0))
    if method == "raises":
        raise ZeroDivisionError("this method always fails")
    if method == "dies":
        os._exit(9)
    if method == "textless":
        return {"accuracy": object()}
    if method in ("nearest", "forest"):
        predicted = _scikit_learn(method, settings, seed).fit(X_train, y_train).predict(X_test)
    else:
        predicted = _nearest_mean(X_train, y_train, X_test, seed if method == "projected" else None)
    # a sum of irrational terms, so that a change of its order or of the rows would show
    spread = float(np.sum(np.sqrt(np.abs(X_train @ X_train.T))))
    accuracy = float(np.mean(predicted == fold.y_test))
    params = f'{{"neighbours": {settings.get("neighbours", 0)}}}'
    return {"accuracy": accuracy, "spread": spread, "n_train": len(y_train), "seed": seed, "params": params}


def _scikit_learn(method: str, settings: Settings, seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.neighbors import KNeighborsClassifier

    if method == "nearest":
        return KNeighborsClassifier(settings["neighbours"])
    return RandomForestClassifier(settings["trees"], random_state=seed)


def _nearest_mean(X_train: Any, y_train: Any, X_test: Any, seed: int | None) -> Any:
    if seed is not None:
        directions = np.random.default_rng(seed).normal(size=(X_train.shape[1], 2))
        X_train, X_test = X_train @ directions, X_test @ directions
    classes = np.unique(y_train)
    means = np.array([X_train[y_train == c].mean(axis=0) for c in classes])
    return classes[np.argmin(((X_test[:, None] - means) ** 2).sum(axis=2), axis=1)]


EXPERIMENTS = dict.fromkeys(["folds", "random", "trouble", "slow", "many"], measure)
DATASETS = {"blobs": blobs, "wine": wine, "clouds": clouds, "crowd": crowd}
