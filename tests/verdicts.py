"""What a check must come to: the verdict, and a slack on its side."""

from __future__ import annotations

from collections.abc import Callable

from marginbook.claims import Evidence, Verdict


def holds(check: Callable[[], Evidence]) -> None:
    """Fail unless the statement holds, with room to spare."""
    evidence = check()
    assert evidence.verdict == Verdict.HOLDS
    assert evidence.slack is not None
    assert evidence.slack > 0


def corrected(check: Callable[[], Evidence], *, exactly: bool = False) -> Evidence:
    """Return the evidence of what needs a correction; its slack is negative, or 0 where `exactly`."""
    evidence = check()
    assert evidence.verdict == Verdict.CORRECTED
    assert evidence.slack is not None
    assert evidence.slack <= 0 if exactly else evidence.slack < 0
    return evidence
