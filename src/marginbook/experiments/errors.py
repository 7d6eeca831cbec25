"""Errors that a user of the experiments can put right; each message is one line."""

from __future__ import annotations

from ..base.naming import suggestion

__all__ = ["ExperimentError", "StoreError", "UnknownName", "suggestion"]


class ExperimentError(Exception):
    """The work cannot go on as things are; the message says why and what to do."""


class UnknownName(ExperimentError):
    """No experiment, data set, method or split of that name: a mistake of usage."""


class StoreError(ExperimentError):
    """The store of results cannot be read or written."""
