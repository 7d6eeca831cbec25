"""Solvers: arrays in, a solution with its certificate out; what is exported here is the closed form."""

from ..model.objective import validate_parameters
from .direct import ClosedForm, EigenPath, NotPositiveDefinite, closed_form, unit_diagonal

__all__ = [
    "ClosedForm",
    "EigenPath",
    "NotPositiveDefinite",
    "closed_form",
    "unit_diagonal",
    "validate_parameters",
]
