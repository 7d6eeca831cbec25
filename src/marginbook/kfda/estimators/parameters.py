"""The parameters of the room's classifiers: their range, their kernel, and what the two classes are."""

from __future__ import annotations

from typing import Any

from ...base.parameters import is_number, validate_within

SOLVERS = ("auto", "mm", "plain", "squarem", "lasso")
THRESHOLDS = ("midpoint", "means")


def validate_q(q: Any) -> None:
    """Raise ValueError unless the exponent `q` of the penalty is in (0, 2]."""
    validate_within("(0, 2]", hint="; 1 is the lasso, 2 is ridge", q=q)


def validate_rho(rho: Any) -> None:
    """Raise ValueError unless the weight `rho` of the penalty is above 0, and its square a finite number."""
    if not (is_number(rho) and rho > 0):
        raise ValueError(
            f"rho must be a finite number > 0, got {rho!r}; without a penalty take KFDAClassifier"
        )
    if not 1e-100 <= rho <= 1e100:
        raise ValueError(f"rho must be in [1e-100, 1e+100], beyond which squares overflow, got {rho!r}")


def validate_cut(cut: Any) -> None:
    """Raise ValueError unless the relative `cut`, below which a coefficient counts as zero, is in [0, 1)."""
    validate_within("[0, 1)", meaning=", a share of the largest coefficient", cut=cut)
