"""What is true of all five methods, in short."""

from __future__ import annotations

from ...claims.summary import Sentence, Summary
from .findings import family


def summary() -> Summary:
    """Return how the methods are related."""
    found = family()
    return Summary(
        (
            Sentence(
                "The five methods are one family: switch off what a paper adds, and kernel ridge "
                "regression or a support vector machine is left.",
                found.needs,
                found.holds,
            ),
        )
    )
