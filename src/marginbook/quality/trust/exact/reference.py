"""What the computation with many digits says about one fitted estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Reference:
    r"""The truth about a solution that an estimator returned.

    Attributes
    ----------
    reported : float
        The certificate that the estimator reports.
    error : number of many digits
        What that certificate promises to bound, or to be: the objective of the returned solution less the
        true optimum, or the residual of the optimality conditions in the returned solution.
    size : number
        Magnitude of the terms that the certificate is computed from; double precision rounds by 2e-16 of it.
    value : number or None
        The objective of the returned solution, from its definition.
    reported_value : float or None
        The one that the estimator reports.
    optimum : number or None
        The least objective, where it can be computed.
    relative : bool
        Whether the certificate is a share of the objective.
    decisions : array or None
        Decision values of the true optimum for the rows asked about.
    """

    reported: float
    error: Any
    size: Any
    value: Any = None
    reported_value: float | None = None
    optimum: Any = None
    decisions: np.ndarray | None = None
    relative: bool = False
