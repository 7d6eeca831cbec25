"""The estimators of CLASMK-ML's room whose growth with the rows `growth.py` measures; imported only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from marginbook.clasmk import LSSVMClassifier, MKLClassifier

#: widths of the kernels of MKL, around that of "scale" for 20 standardised features
GAMMAS = (0.005, 0.02, 0.05, 0.2)

#: name -> estimator, unfitted, for 20 standardised features; exact with a certificate, except the landmarks
CASES: dict[str, Callable[[], Any]] = {
    "LSSVM": lambda: LSSVMClassifier(kernel="rbf"),
    "LSSVM, 1000 landmarks": lambda: LSSVMClassifier(kernel="rbf", n_components=1000, random_state=0),
    "LSSVM linear": lambda: LSSVMClassifier(),
    "MKL, 4 widths": lambda: MKLClassifier([("rbf", {"gamma": gamma}) for gamma in GAMMAS]),
}


def certificate(model: Any) -> str:
    """Return what a fitted model says of its own accuracy: residual of the equations, or duality gap."""
    found = getattr(model, "dual_gap_", None)
    return f"gap {found:.1e}" if found is not None else f"residual {np.max(model.kkt_residual_):.1e}"
