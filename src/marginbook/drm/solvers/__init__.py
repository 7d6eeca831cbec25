"""Solvers: arrays in, a solution with its certificate out; what is exported here is the closed form."""

from ..model.objective import check_parameters
from .direct import ClosedForm, EigenPath, NotPositiveDefinite, closed_form, unit_diagonal

__all__ = [
    "ClosedForm",
    "EigenPath",
    "NotPositiveDefinite",
    "check_parameters",
    "closed_form",
    "unit_diagonal",
]
