"""What more than two classes cost in retained samples: one-versus-rest and one-versus-one machines."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np

from ...experiments.candidates import at_point
from ...experiments.fold import Fold, Point, Row, Settings
from .grids import Standard, choosing_folds, cross_validate, rbf, squared_distances, width_unit
from .methods import MACHINES, grid

SCHEMES = ("one-vs-rest", "one-vs-one")


def measure_multiclass(fold: Fold, method: str, settings: Settings) -> Row:
    """Measure a scheme of binary machines, all with the same parameters, on one split.

    Parameters
    ----------
    method : str
        A machine and a scheme, such as ``"kFDA-1 one-vs-rest"``.
    settings : mapping
        As for :func:`marginbook.kfda.experiments.tables_1_2.measure_table`.

    Returns
    -------
    dict
        ``mcr`` of the test rows in %; ``nrs_union``, the training rows that at least one machine retains,
        and ``nrs_machine``, the mean over the machines of the share of its own training rows, in %;
        ``kernels_per_row``: the union's size, what one prediction has to compute; ``n_coefficients``, of all
        machines; ``n_machines``, ``cv_error``, ``parameters`` (JSON), ``ties``, ``n_classes``, ``n_train``,
        ``n_test``.
    """
    name, _, scheme = method.partition(" ")
    if scheme not in SCHEMES:
        raise ValueError(f"unknown scheme {scheme!r} of {method!r}; choose from {', '.join(SCHEMES)}")
    grid(name, settings)  # an unknown machine is named before anything is computed
    standard = Standard.of(fold.X_train)
    classes, codes = np.unique(fold.y_train, return_inverse=True)
    X, unit = standard(fold.X_train), width_unit(fold.X_train.shape[1])
    folds = choosing_folds(codes, int(settings["folds"]), fold.dataset, len(codes))
    candidates = partial(fit_scheme, name, scheme)
    choice = cross_validate(candidates, X, codes, folds, settings)
    sigma = choice.multiple * unit
    model = candidates(rbf(squared_distances(X), sigma), codes, at_point(settings, choice.point))
    predicted = classes[model.predict(rbf(squared_distances(standard(fold.X_test), X), sigma))[:, 0]]
    used = model.alpha[:, 0] != 0
    shares = [np.mean(each[rows]) for each, rows in zip(used, model.members, strict=True)]
    union = int(np.count_nonzero(used.any(axis=0)))
    return {
        "mcr": 100 * float(np.mean(predicted != fold.y_test)),
        "nrs_union": 100 * union / len(codes),
        "nrs_machine": 100 * float(np.mean(shares)),
        "kernels_per_row": union,
        "n_coefficients": int(np.count_nonzero(used)),
        "n_machines": len(used),
        **choice.columns(unit, len(codes)),
        "n_classes": len(classes),
        "n_train": len(codes),
        "n_test": len(fold.y_test),
    }


@dataclass(frozen=True)
class Scheme:
    """Several binary machines at k points each.

    Attributes
    ----------
    points : list of dict
    pairs : list of (int, int)
        The positive class of each machine and the negative one; -1 is "all others".
    members : list of int arrays
        Its training rows.
    alpha : (number of machines, k, n) array
    offset : (number of machines, k) array
    n_classes : int
    certificate : float
        Not looked at here.
    """

    points: list[Point]
    pairs: list[tuple[int, int]]
    members: list[np.ndarray]
    alpha: np.ndarray
    offset: np.ndarray
    n_classes: int
    certificate: float = float("nan")

    def predict(self, K: np.ndarray) -> np.ndarray:
        """Return the class codes of the rows of `K`, (m, n), at each point: (m, k).

        One-versus-rest takes the class with the largest decision value; one-versus-one counts votes, and
        among equals adds up decision values, squeezed so that they cannot outweigh a vote.
        """
        decisions = np.einsum("mn,jkn->jmk", K, self.alpha, optimize=True) + self.offset[:, None]
        if self.pairs[0][1] < 0:
            return np.array([first for first, _ in self.pairs])[np.argmax(decisions, axis=0)]
        votes = np.zeros((self.n_classes, *decisions.shape[1:]))
        for (first, second), values in zip(self.pairs, decisions, strict=True):
            lead = values / (3 * (1 + np.abs(values)) * self.n_classes)
            votes[first] += (values > 0) + lead
            votes[second] += (values <= 0) - lead
        return np.asarray(np.argmax(votes, axis=0))


def fit_scheme(name: str, scheme: str, K: np.ndarray, codes: np.ndarray, settings: Settings) -> Scheme:
    """Fit all machines of a scheme to a Gram matrix (n, n) with class codes (n,) at the points of the grid.

    A decision value of kFDA is divided by half the distance of its two targets, so that machines with
    classes of different sizes compare: the targets themselves then decide by +1 and -1.
    """
    points = grid(name, settings)
    present = [int(code) for code in np.unique(codes)]
    pairs = [(code, -1) for code in present] if scheme == "one-vs-rest" else list(combinations(present, 2))
    members, alphas, offsets = [], [], []
    for first, second in pairs:
        rows = np.flatnonzero((codes == first) | (codes == second) | (second < 0))
        positive = codes[rows] == first
        found = MACHINES[name](K[np.ix_(rows, rows)], positive, settings)
        half = 1.0
        if name != "SVM":
            half = 0.5 * len(rows) * (1 / positive.sum() + 1 / (~positive).sum())
        alpha = np.zeros((len(points), len(codes)))
        alpha[:, rows] = found.alpha / half
        members.append(rows)
        alphas.append(alpha)
        offsets.append(found.offset / half)
    return Scheme(points, pairs, members, np.array(alphas), np.array(offsets), int(max(present)) + 1)
