"""The methods that the paper compares itself with, with their grids, behind one `select`."""

from .selection import select

__all__ = ["select"]
