"""Table 1 by other solvers of (33): local ones from equal weights, as the paper's was, beside the minimum."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from ...base.parameters import validate_choice
from ...experiments.fold import Fold, Row, Settings
from ..estimators.weighted_kernels import CLASMKTransformer
from ..model.features import FeatureMap
from ..model.objective import kkt_residual, ratio
from ..model.truncation import thresholded
from ..solvers.dinkelbach import dinkelbach
from ..solvers.slsqp import slsqp
from ..solvers.solution import Weights
from ..solvers.trust_constr import minimise_trust_constr
from .data import scaled_fold, setting_of
from .tables_1_2 import SINGLE, errors


def equal_weights(numerator: np.ndarray, denominator: np.ndarray, *, max_iter: int) -> Weights:
    """Return 1/K for each class, where Algorithm 1 starts, from (C, K, K) arrays; `max_iter` is not used."""
    weights = np.full(numerator.shape[:2], 1 / numerator.shape[1])
    value = ratio(weights, numerator, denominator)
    residual = kkt_residual(weights, numerator, denominator)
    return Weights(weights, value, None, residual, 0, True, np.array([value]))


#: how each method finds the weights of the kernels that (35) keeps; all but the last from equal weights
SOLVERS: dict[str, Callable[..., Weights]] = {
    "equal weights": equal_weights,
    "interior point, 3000 evaluations": minimise_trust_constr,
    "interior point": partial(minimise_trust_constr, max_evaluations=None),
    "SLSQP": slsqp,
    "global minimum": dinkelbach,
}


class _Learner(CLASMKTransformer):
    """`CLASMKTransformer` up to the weights."""

    def fit_weights(self, X: np.ndarray, y: np.ndarray, solver: str, max_iter: int) -> tuple[Weights, float]:
        """Fit the features with the weights of a solver; return its end, and the least ratio there is."""
        learned = self._learn(X, y, "sum")
        top, bottom = learned.separation.numerator, learned.separation.denominator
        least = dinkelbach(top, bottom, max_iter=max_iter).objective
        began = time.process_time()
        found = SOLVERS[solver](top, bottom, max_iter=max_iter)
        self.weights_seconds_ = time.process_time() - began
        weights = thresholded(found.weights, self.threshold)
        self.objective_ = ratio(weights, top, bottom)
        self.weights_ = self._spread(weights, learned.kept)
        self.map_ = FeatureMap.of(learned.subspaces, learned.kept, self.weights_, "sum")
        return found, least


def measure_solvers(fold: Fold, method: str, settings: Settings) -> Row:
    """Learn the features of CLASMK-ML with one solver, and an LS-SVM in them, as `measure_table` does.

    Parameters
    ----------
    method : str
        One of `SOLVERS`.
    settings : mapping
        Those of :func:`marginbook.clasmk.experiments.tables_1_2.measure_table`, and ``max_iter`` of the
        solver.

    Returns
    -------
    dict
        ``error``, ``error_loo``, ``C_loo``, ``weights``, ``objective``, ``kept`` and ``n_features`` as in
        Table 1. Of the solver, before the threshold (37): ``ratio``, its objective over the global minimum,
        ``n_iter``, ``n_evaluations`` (0 where there are none to count), ``converged``, 0 or 1,
        ``kkt_residual``. Processor seconds: ``weights_seconds``. ``n_train``, ``n_test``.
    """
    validate_choice("method", method, SOLVERS)
    fold = scaled_fold(fold, setting_of(settings, "scaling", fold.dataset))
    stated = {name: settings[name] for name in ("tol", "eta", "threshold")}
    model = _Learner(list(SINGLE.values()), random_state=fold.seed, **stated)
    found, least = model.fit_weights(fold.X_train, fold.y_train, method, settings["max_iter"])
    Z = model.transform(fold.X_train)
    scores = errors(Z, model.transform(fold.X_test), fold, settings)
    return {
        **{name: scores[name] for name in ("error", "error_loo", "C_loo")},
        "objective": float(model.objective_),
        "ratio": found.objective / least if least else 1.0,
        "n_iter": found.n_iter,
        "n_evaluations": found.n_evaluations,
        "converged": int(found.converged),
        "kkt_residual": found.kkt_residual,
        "weights": json.dumps(model.weights_.round(6).tolist()),
        "kept": len(model.kept_kernels_),
        "n_features": Z.shape[1],
        "weights_seconds": model.weights_seconds_,
        "n_train": len(fold.y_train),
        "n_test": len(fold.y_test),
    }
