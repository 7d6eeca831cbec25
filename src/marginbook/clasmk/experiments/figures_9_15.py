"""What Figures 9 to 15 time: the weights of one layer by a solver of the kind that the paper ran."""

from __future__ import annotations

import time
from functools import cache

import numpy as np

from ...experiments.fold import Fold, Row, Settings
from ..estimators.weighted_kernels import CLASMKTransformer
from ..model.kernel_sets import paper_kernels
from ..solvers.trust_constr import minimise_trust_constr
from .data import scaled_fold, setting_of
from .figures_2_23 import number_of


class _Forms(CLASMKTransformer):
    """`CLASMKTransformer` up to the forms of (33)."""

    def forms(self, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the (C, K, K) forms above and below the line, of the kernels that (35) keeps."""
        measured = self._learn(X, y, "sum").separation
        return measured.numerator, measured.denominator


@cache
def _warm_up() -> None:
    """Run the solver once, so that what comes with the first call is in no task's seconds."""
    minimise_trust_constr(np.array([np.diag([2.0, 1.0])] * 2), np.array([np.eye(2)] * 2))


def measure_limited(fold: Fold, method: str, settings: Settings) -> Row:
    """Learn the weights of the first layer with so many kernels as the method says, such as ``"K=17"``.

    Returns
    -------
    dict
        ``objective`` (33) at the end; ``weights_seconds``, processor seconds of the solver; its
        ``n_evaluations`` and ``n_iter``; ``converged``, 0 or 1; ``kept`` kernels; ``n_kernels``, ``n_train``.
    """
    n_kernels = number_of(method, "K=")
    fold = scaled_fold(fold, setting_of(settings, "scaling", fold.dataset))
    stated = {name: settings[name] for name in ("tol", "eta")}
    kernels = paper_kernels("figures", n_kernels)
    top, bottom = _Forms(kernels, random_state=fold.seed, **stated).forms(fold.X_train, fold.y_train)
    _warm_up()
    began = time.process_time()
    found = minimise_trust_constr(top, bottom, max_evaluations=int(settings["max_evaluations"]))
    seconds = time.process_time() - began
    return {
        "objective": found.objective,
        "weights_seconds": seconds,
        "n_evaluations": found.n_evaluations,
        "n_iter": found.n_iter,
        "converged": int(found.converged),
        "kept": top.shape[1],
        "n_kernels": n_kernels,
        "n_train": len(fold.y_train),
    }
