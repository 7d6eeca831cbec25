r"""What the within-class term is worth: the DRM beside kernel ridge regression at each beta (Figure 5).

Kernel ridge is the DRM with :math:`\alpha=0`. The paper fixes beta and reports the best performance over all
other parameters; whether "best" was judged on the test rows it does not say. Both readings are measured here.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...base.parameters import validate_choice
from ...experiments.fold import Fold, Row, Settings
from ...kernels import Kernel, KernelOverflow, gram
from ..estimators.selection import SCALINGS, DRMClassifierCV, NothingSolvable, scaler
from ..model.objective import class_products, dissimilarity, kkt_residual
from ..solvers.direct import NotPositiveDefinite, closed_form

NAMES = ("DRM(R)", "DRM(P)", "KRR(R)", "KRR(P)")

#: largest certificate of a fit that counts, as in the choice by leave-one-out
TOL = 1e-6


def measure_ablation(fold: Fold, method: str, settings: Settings) -> Row:
    """Measure one method on one fold, for each beta of the grid: G-mean (28) on the test rows.

    Parameters
    ----------
    method : str
        One of `NAMES`.
    settings : mapping
        Grids ``alpha``, ``beta``, ``sigma2``, ``degree``, as in Table VIII.

    Returns
    -------
    dict
        For each beta, written as in ``chosen_1e+00``:

        ``best_...``
            The largest G-mean *on the test rows* over kernels, alpha and scaling: a choice that no user has.
        ``chosen_...``, ``loo_...``, ``parameters_...``
            The G-mean on the test rows where exact leave-one-out on the training rows (G-mean of the pooled
            predictions, first of equals) chose kernel, alpha and scaling; its score; the choice as JSON.

        Points beyond double precision are left out, and where none remains the entries are None.
    """
    validate_choice("method", method, NAMES)
    kernels, alphas = kernels_and_alphas(method, settings)
    betas = [float(beta) for beta in settings["beta"]]
    best: dict[float, float | None] = dict.fromkeys(betas)
    for scaling in SCALINGS:
        transform = scaler(scaling).fit(fold.X_train)
        scaled = replace(
            fold, X_train=transform.transform(fold.X_train), X_test=transform.transform(fold.X_test)
        )
        for beta, predicted in predictions(scaled, kernels, alphas, betas):
            value = g_mean(fold.y_test, predicted)
            best[beta] = value if best[beta] is None else max(value, best[beta] or 0.0)
    row: Row = {}
    for beta in betas:
        name = column(beta)
        row[f"best_{name}"] = best[beta]
        row[f"chosen_{name}"] = row[f"loo_{name}"] = row[f"parameters_{name}"] = None
        try:
            model = _choose(fold.X_train, fold.y_train, kernels, alphas, beta)
        except NothingSolvable:
            continue
        row[f"chosen_{name}"] = g_mean(fold.y_test, model.predict(fold.X_test))
        row[f"loo_{name}"] = model.best_score_
        kernel, parameters = model.kernel_
        choice = {"kernel": kernel, **parameters, "alpha": model.alpha_, "scaling": model.scaling_}
        row[f"parameters_{name}"] = json.dumps(choice, sort_keys=True)
    return row


def g_mean(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Return the G-mean (28), the geometric mean of the recalls."""
    from imblearn.metrics import geometric_mean_score  # an extra, which other measures can do without

    return float(geometric_mean_score(truth, predicted))


def column(beta: float) -> str:
    """Return how a beta is written in the names of columns.

    >>> column(0.001), column(1.0)
    ('1e-03', '1e+00')
    """
    return f"{beta:.0e}"


def predictions(
    fold: Fold, kernels: Sequence[Kernel], alphas: Sequence[float], betas: Sequence[float]
) -> Iterator[tuple[float, np.ndarray]]:
    """Yield beta and the predicted labels of the test rows for every grid point that can be solved.

    Parameters
    ----------
    fold : Fold
        Of n training and m test rows, scaled as they are to be.
    kernels : sequence of kernels
    alphas, betas : sequence of float

    Yields
    ------
    beta : float
    predicted : (m,) array
        Left out are kernels that overflow, and points whose certificate misses `TOL`.
    """
    classes, codes = np.unique(fold.y_train, return_inverse=True)
    rows, sizes = fold.X_train[np.argsort(codes, kind="stable")], np.bincount(codes)
    for kernel in kernels:
        try:
            K, Kx = gram(kernel, rows), gram(kernel, rows, fold.X_test)
        except KernelOverflow:
            continue
        for alpha in alphas:
            for beta in betas:
                try:
                    form = closed_form(K, sizes, alpha, beta)
                except NotPositiveDefinite:
                    continue
                W = form.weights(Kx)
                if not kkt_residual(form.matrix, W, Kx) <= TOL:
                    continue
                delta = dissimilarity(sizes, Kx, W, *class_products(K, sizes, W))
                yield beta, classes[np.argmin(delta, axis=1)]


def _choose(
    X: np.ndarray, y: np.ndarray, kernels: Sequence[Kernel], alphas: Sequence[float], beta: float
) -> DRMClassifierCV:
    """Return the model whose other parameters leave-one-out prefers at this beta."""
    model = DRMClassifierCV(
        alphas,
        [beta],
        kernels,
        scaling=SCALINGS,
        scoring=lambda left_out, index, truth: g_mean(truth, left_out.predict(index)),
        tol=TOL,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # points that are left out: part of the protocol
        return model.fit(X, y)


def kernels_and_alphas(method: str, settings: Settings) -> tuple[list[Kernel], list[float]]:
    """Return the grid of a method such as "DRM(R)" or "KRR(P)", which is the DRM with alpha = 0."""
    kernels: list[Kernel]
    if method.endswith("(R)"):
        kernels = [("rbf", {"gamma": 1 / (2 * sigma2)}) for sigma2 in settings["sigma2"]]
    else:
        kernels = [("poly", {"degree": degree, "gamma": 1.0, "coef0": 1.0}) for degree in settings["degree"]]
    return kernels, [float(alpha) for alpha in settings["alpha"]] if method.startswith("DRM") else [0.0]
