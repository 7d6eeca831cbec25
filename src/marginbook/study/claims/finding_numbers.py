"""What the findings and their pictures read of the stored results."""

from __future__ import annotations

from functools import cache

from .advice import Findings
from .rankings import results

#: a paper's method, the same without its own ingredient, and what that is
INGREDIENTS = (
    ("DRM", "kernel ridge", "the within-class term and the rule"),
    ("LDM", "SVM", "mean and variance of the margins"),
    ("kFDA-0.5", "kFDA", "the sparse penalty"),
    ("CLASMK", "CLASMK equal", "learned weights"),
)
#: kernel machines of the bench that have an intercept, and those that have none
WITH, WITHOUT = ("SVM", "kFDA", "kFDA-0.5", "CLASMK"), ("kernel ridge", "LDM", "DRM")


@cache
def stored() -> Findings:
    """Return what the stored results say."""
    rows = results()
    assert rows is not None
    return Findings(rows)
