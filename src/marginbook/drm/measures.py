"""How one entry of a table of the paper is measured: pure functions of the data, the method and the seed."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..kernels import Kernel
from .model_selection import SCALINGS, DRMClassifierCV, NothingSolvable, scaler
from .peers import SCALE_FREE, select

Row = dict[str, float | int | str | None]


def measure_imbalanced(
    X_train: np.ndarray,
    y_train: np.ndarray,
    X_test: np.ndarray,
    y_test: np.ndarray,
    *,
    method: str,
    settings: Mapping[str, Any],
    seed: int,
    dataset: str,
) -> Row:
    """Measure one method on one fold of Table VIII: G-mean (28) with and without scaling.

    ``g_mean_none`` and ``g_mean_max_abs`` are the two that the paper takes the better of; ``g_mean`` belongs
    to the scaling that cross-validation prefers, without a look at the test fold. Where nothing can be solved
    (polynomials of large numbers on unscaled data), the entry is None.
    """
    from imblearn.metrics import geometric_mean_score

    row: Row = {"g_mean": None, "scaling": None}
    chosen: dict[str, Any] = {}
    best = -np.inf
    for scaling in SCALINGS:
        if scaling != SCALINGS[0] and method in SCALE_FREE:
            suffix, first = scaling.replace("-", "_"), SCALINGS[0].replace("-", "_")
            row[f"g_mean_{suffix}"], row[f"cv_score_{suffix}"] = (
                row[f"g_mean_{first}"],
                row[f"cv_score_{first}"],
            )
            continue
        transform = scaler(scaling).fit(X_train)
        scaled = transform.transform(X_train)
        suffix = scaling.replace("-", "_")
        try:
            if method.startswith(("DRM", "KRR")):
                model, parameters, score = _select_drm(
                    method, scaled, y_train, geometric_mean_score, settings
                )
            else:
                model, parameters, score = select(
                    method, scaled, y_train, geometric_mean_score, settings, seed
                )
        except NothingSolvable:
            row[f"g_mean_{suffix}"] = row[f"cv_score_{suffix}"] = None
            continue
        value = float(geometric_mean_score(y_test, model.predict(transform.transform(X_test))))
        row[f"g_mean_{suffix}"], row[f"cv_score_{suffix}"] = value, score
        chosen[scaling] = parameters
        if score > best:
            best, row["g_mean"], row["scaling"] = score, value, scaling
    row["parameters"] = json.dumps(chosen, sort_keys=True)
    return row


def _select_drm(
    method: str, X: np.ndarray, y: np.ndarray, score: Callable[..., float], settings: Mapping[str, Any]
) -> tuple[DRMClassifierCV, dict[str, Any], float]:
    """Choose kernel, alpha and beta by exact leave-one-out; kernel ridge is the DRM with alpha = 0."""
    kernels: list[Kernel]
    if method.endswith("(R)"):
        kernels = [("rbf", {"gamma": 1 / (2 * sigma2)}) for sigma2 in settings["sigma2"]]
    else:
        kernels = [("poly", {"degree": degree, "gamma": 1.0, "coef0": 1.0}) for degree in settings["degree"]]
    alphas = settings["alpha"] if method.startswith("DRM") else [0.0]
    model = DRMClassifierCV(
        alphas,
        settings["beta"],
        kernels,
        scoring=lambda left_out, index, truth: score(truth, left_out.predict(index)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ConvergenceWarning
        )  # points beyond double precision: part of the protocol
        model.fit(X, y)
    name, value = model.kernel_
    parameters = {"kernel": name, **value, "alpha": model.alpha_, "beta": model.beta_}
    return model, parameters, model.best_score_
