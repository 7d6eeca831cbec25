"""How one entry of Tables 1 and 2 is measured: a method whose parameters one realisation chose."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from .grids import (
    Choice,
    Expansions,
    Row,
    Standard,
    cross_validate,
    finite,
    listed,
    positives,
    rbf,
    squared_distances,
    stratified_folds,
    width_unit,
)
from .methods import MACHINES, grid
from .partitions import pool, realisation


def measure_table(
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
    """Choose the parameters on one realisation, and count what they get wrong on all partitions of the set.

    Parameters
    ----------
    X_train, y_train, X_test, y_test : (n, p), (n,), (m, p), (m,) arrays
        The realisation r; the whole set and its other partitions come from
        :func:`marginbook.kfda.experiments.partitions.pool`, and must hold these rows.
    method : str
        One of :data:`marginbook.kfda.experiments.methods.MACHINES`.
    settings : mapping
        ``width``, multiples of its unit; the grids ``rho``, ``share``, ``ridge``, ``C``; ``folds``; ``tol``;
        ``svm_tol`` and ``svm_max_iter``; optionally ``partitions``, how many of them to use.
    seed : not used; the folds go by data set and realisation, so that all methods share them
    dataset : str

    Returns
    -------
    dict
        ``errors_refit``, ``retained_refit`` (JSON lists, one number per partition): wrong test rows and
        retained samples of the method trained on that partition with the choice. ``errors_fixed`` (JSON
        list): wrong test rows of the one classifier that realisation r trained; ``retained_fixed`` its
        samples, ``train_error_fixed`` its error on its own rows, in %. ``mcr`` and ``nrs``: the means of the
        first two in %. ``cv_error`` in %, ``parameters`` (JSON) and ``ties``, how many points of the grid
        share that error. ``certificate``, the largest relative one, and ``curvature``, the smallest, of all
        fits with the choice. ``n_train``, ``n_test``, ``n_pool``, ``n_partitions``, ``realisation``.
    """
    points = grid(method, settings)
    found = pool(dataset)
    r = realisation(found, X_train, y_train)
    positive, unit = positives(found.y), width_unit(found.X.shape[1])
    train = found.official_splits[r - 1][0]
    choice = cross_validate(
        MACHINES[method],
        squared_distances(Standard.of(found.X[train])(found.X[train])),
        positive[train],
        stratified_folds(positive[train], int(settings["folds"]), dataset, r),
        unit,
        points,
        settings,
    )
    one = fit(found.X, positive, train, method, choice, settings)
    wrong = one.decide(found.X) != positive
    partitions = found.official_splits[: settings.get("partitions")]
    refits = refit_all(dataset, method, _frozen(choice), json.dumps(dict(settings), sort_keys=True))
    sizes = np.array([len(test) for _, test in partitions])
    certificates = [one.model.certificate, *(each[2] for each in refits)]
    curvatures = [one.model.curvature, *(each[3] for each in refits)]
    n = len(train)
    return {
        "mcr": 100 * float(np.mean([each[0] for each in refits] / sizes)),
        "nrs": 100 * float(np.mean([each[1] for each in refits])) / n,
        "cv_error": 100 * choice.wrong / n,
        "parameters": json.dumps(
            {"width": choice.multiple, "sigma": choice.multiple * unit, **choice.point}, sort_keys=True
        ),
        "ties": choice.ties,
        "errors_refit": listed([each[0] for each in refits]),
        "retained_refit": listed([each[1] for each in refits]),
        "errors_fixed": listed([int(wrong[test].sum()) for _, test in partitions]),
        "retained_fixed": int(one.model.retained[0]),
        "train_error_fixed": 100 * float(np.mean(wrong[train])),
        "certificate": finite(np.fmax.reduce(certificates)),
        "curvature": finite(np.fmin.reduce(curvatures)),
        "n_train": n,
        "n_test": int(sizes[0]),
        "n_pool": len(positive),
        "n_partitions": len(partitions),
        "realisation": r,
    }


@dataclass(frozen=True)
class Fitted:
    """One machine at one point, with what it needs to decide about rows as they come in the set.

    Attributes
    ----------
    model : Expansions
        Of one point.
    standard : Standard
    samples : (k, p) array
        The retained rows, standardised.
    sigma : float
    """

    model: Expansions
    standard: Standard
    samples: np.ndarray
    sigma: float

    def decide(self, X: np.ndarray) -> np.ndarray:
        """Return whether the rows `X`, (m, p), are called positive; only retained samples are compared."""
        alpha = self.model.alpha[0]
        decisions = np.full(len(X), self.model.offset[0])
        if len(self.samples):
            K = rbf(squared_distances(self.standard(X), self.samples), self.sigma)
            decisions += K @ alpha[alpha != 0]
        return np.asarray(decisions > 0)


def fit(
    X: np.ndarray,
    positive: np.ndarray,
    train: np.ndarray,
    method: str,
    choice: Choice,
    settings: Mapping[str, Any],
) -> Fitted:
    """Fit `method` at the chosen point to the rows `train` of `X`, standardised by themselves."""
    standard, sigma = Standard.of(X[train]), choice.multiple * width_unit(X.shape[1])
    rows = standard(X[train])
    model = MACHINES[method](rbf(squared_distances(rows), sigma), positive[train], [choice.point], settings)
    return Fitted(model, standard, rows[model.alpha[0] != 0], sigma)


@lru_cache(maxsize=16)
def refit_all(
    dataset: str, method: str, choice: tuple[float, tuple[tuple[str, float], ...]], settings: str
) -> tuple[tuple[int, int, float, float], ...]:
    """Return wrong test rows, retained samples, certificate and curvature for each partition of a set.

    Realisations of a set often choose the same point: the last results are kept.

    Parameters
    ----------
    dataset, method : str
    choice : tuple
        Multiple of the width's unit, and the other parameters as pairs.
    settings : str
        JSON.
    """
    found, stated = pool(dataset), json.loads(settings)
    positive = positives(found.y)
    at = Choice(choice[0], dict(choice[1]), wrong=0, ties=0)
    rows = []
    for train, test in found.official_splits[: stated.get("partitions")]:
        one = fit(found.X, positive, train, method, at, stated)
        wrong = int(np.count_nonzero(one.decide(found.X[test]) != positive[test]))
        rows.append((wrong, int(one.model.retained[0]), one.model.certificate, one.model.curvature))
    return tuple(rows)


def _frozen(choice: Choice) -> tuple[float, tuple[tuple[str, float], ...]]:
    return choice.multiple, tuple(sorted(choice.point.items()))
