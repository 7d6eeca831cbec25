"""Solvers: arrays in, a solution with its certificate out; what is exported here solves the dual."""

from .dual import Solution, active_set, coordinate_descent, solution_at

__all__ = ["Solution", "active_set", "coordinate_descent", "solution_at"]
