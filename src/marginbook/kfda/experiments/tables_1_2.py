"""How one entry of Tables 1 and 2 is measured: a method whose parameters one realisation chose."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from ...base.parameters import validate_choice
from ...experiments.candidates import Expansions, at_point
from ...experiments.fold import Fold, Method, Row, Settings, Trained
from .cuts import EXPONENTS, retained_at_cuts
from .grids import (
    Standard,
    choosing_folds,
    cross_validate,
    finite,
    listed,
    positives,
    rbf,
    squared_distances,
    width_unit,
)
from .methods import MACHINES
from .partitions import pool, realisation


def measure_table(fold: Fold, method: str, settings: Settings) -> Row:
    """Choose the parameters on one realisation, and count what they get wrong on all partitions of the set.

    Parameters
    ----------
    method : str
        One of `METHODS`.
    settings : mapping
        ``width``, multiples of its unit; the grids ``rho``, ``share``, ``ridge``, ``C``; ``folds``; ``tol``;
        ``svm_tol`` and ``svm_max_iter``; ``cuts``, relative to the largest coefficient, and ``stop`` and
        ``max_iter`` of the paper's iteration; optionally ``partitions``, how many of them to use.

    Returns
    -------
    dict
        ``errors_refit``, ``retained_refit`` (JSON lists, one number per partition): wrong test rows and
        retained samples of the method trained on that partition with the choice. ``errors_fixed`` (JSON
        list): wrong test rows of the one classifier that realisation r trained; ``retained_fixed`` its
        samples, ``train_error_fixed`` its error on its own rows, in %. ``retained_cuts_refit`` (JSON, a list
        over the partitions for each cut) and ``retained_cuts_fixed`` (JSON, a number for each): samples above
        the ``cuts`` (JSON) where the paper's iteration stops; None for methods whose zeros are exact. ``mcr``
        and ``nrs``: the means of ``errors_refit`` and ``retained_refit`` in %. ``cv_error`` in %,
        ``parameters`` (JSON) and ``ties``, how many points of the grid share that error. ``certificate``, the
        largest relative one, and ``curvature``, the smallest, of all fits with the choice. ``n_train``,
        ``n_test``, ``n_pool``, ``n_partitions``, ``realisation``.
    """
    validate_choice("method", method, METHODS)
    found = pool(fold.dataset)
    r = realisation(found, fold.X_train, fold.y_train)
    positive = positives(found.y)
    train, test = found.official_splits[r - 1]
    one, told = METHODS[method](
        Fold(found.X[train], positive[train], found.X[test], positive[test], fold.dataset, r), settings
    )
    wrong = one.predict(found.X) != positive
    partitions = found.official_splits[: settings.get("partitions")]
    refits = refit_all(fold.dataset, method, told["parameters"], json.dumps(dict(settings), sort_keys=True))
    sizes = np.array([len(test) for _, test in partitions])
    certificates = [one.model.certificate, *(each[2] for each in refits)]
    curvatures = [one.model.curvature, *(each[3] for each in refits)]
    n = len(train)
    above = [each[4] for each in refits]
    return {
        "mcr": 100 * float(np.mean([each[0] for each in refits] / sizes)),
        "nrs": 100 * float(np.mean([each[1] for each in refits])) / n,
        **told,
        "errors_refit": listed([each[0] for each in refits]),
        "retained_refit": listed([each[1] for each in refits]),
        "errors_fixed": listed([int(wrong[test].sum()) for _, test in partitions]),
        "retained_fixed": int(one.model.retained[0]),
        "cuts": listed(settings["cuts"]) if one.above else None,
        "retained_cuts_refit": listed([list(counts) for counts in zip(*above, strict=True)])
        if one.above
        else None,
        "retained_cuts_fixed": listed(one.above) if one.above else None,
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
    above : list of int
        Samples above each cut where the paper's iteration stops; empty for a method that it is not of.
    """

    model: Expansions
    standard: Standard
    samples: np.ndarray
    sigma: float
    above: list[int]

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return whether the rows `X`, (m, p), are called positive; only retained samples are compared."""
        alpha = self.model.alpha[0]
        decisions = np.full(len(X), self.model.offset[0])
        if len(self.samples):
            K = rbf(squared_distances(self.standard(X), self.samples), self.sigma)
            decisions += K @ alpha[alpha != 0]
        return np.asarray(decisions > 0)


def fit(method: str, X: np.ndarray, positive: np.ndarray, multiple: float, settings: Settings) -> Fitted:
    """Fit the one point that the settings state to rows `X`, (n, p), standardised by themselves."""
    standard, sigma = Standard.of(X), multiple * width_unit(X.shape[1])
    rows = standard(X)
    K = rbf(squared_distances(rows), sigma)
    model = MACHINES[method](K, positive, settings)
    above = []
    if method in EXPONENTS:
        above = retained_at_cuts(K, positive, EXPONENTS[method], model.points[0]["rho"], settings)
    return Fitted(model, standard, rows[model.alpha[0] != 0], sigma, above)


def _train(method: str, fold: Fold, settings: Settings) -> Trained:
    """Choose width and point by cross-validation, and fit all rows there; the seed is of the folds."""
    X, positive = fold.X_train, fold.y_train
    folds = choosing_folds(positive, int(settings["folds"]), fold.dataset, fold.seed)
    choice = cross_validate(MACHINES[method], Standard.of(X)(X), positive, folds, settings)
    model = fit(method, X, positive, choice.multiple, at_point(settings, choice.point))
    return Trained(model, choice.columns(width_unit(X.shape[1]), len(positive)))


#: the methods of the tables; labels are True for the positive class
METHODS: dict[str, Method] = {name: partial(_train, name) for name in MACHINES}


@lru_cache(maxsize=16)
def refit_all(
    dataset: str, method: str, parameters: str, settings: str
) -> tuple[tuple[int, int, float, float, list[int]], ...]:
    """Return wrong test rows, retained samples, certificate, curvature, `above` for each partition of a set.

    Realisations of a set often choose the same point: the last results are kept.

    Parameters
    ----------
    dataset, method : str
    parameters, settings : str
        JSON: what was chosen, with the ``width``, and what the protocol states.
    """
    found, chosen, stated = pool(dataset), json.loads(parameters), json.loads(settings)
    positive, at = positives(found.y), at_point(stated, chosen)
    rows = []
    for train, test in found.official_splits[: stated.get("partitions")]:
        one = fit(method, found.X[train], positive[train], chosen["width"], at)
        wrong = int(np.count_nonzero(one.predict(found.X[test]) != positive[test]))
        model = one.model
        rows.append((wrong, int(model.retained[0]), model.certificate, model.curvature, one.above))
    return tuple(rows)
