"""The tables and figures under every reading of their variance and their SVM."""

from __future__ import annotations

from ...claims import share
from ...claims.read_as import NOT_STORED, ReadAs, of_tables
from ..paper.printed import PAPER_TABLES
from ..paper.readings import LDM
from .figures_margins_counts import counted_margins, judged, parts
from .figures_parameters import sensitivity, swings
from .figures_readings import FIGURE_1, bound, calm


def side_by_side() -> list[ReadAs]:
    """Return how well each reading agrees with the print; empty before any results."""
    return of_tables(PAPER_TABLES, points=100.0) + readings_of_figures()


def readings_of_figures() -> list[ReadAs]:
    """Return how many of the parts of what the text reads off Figures 1 and 3 are so, under each reading."""
    rows = []
    if margins := counted_margins():
        for one in FIGURE_1:
            if one not in margins:
                rows.append(_row("figure-1", str(one), 0, 0))
                continue
            low, high, sets = parts(margins[one])
            verdict = str(judged({one: margins[one]}))
            rows.append(_row("figure-1", str(one), low + high, 2 * sets, verdict))
    table = sensitivity()
    if table is not None and not table.empty:
        ranges, _ = swings(table)
        rows += [
            _row("figure-3", words, *calm(ranges, machine, bound("fig-3", "calm")))
            for machine, words in LDM.items()
        ]
    return rows


def _row(figure: str, reading: str, agree: int, tested: int, verdict: str = "") -> ReadAs:
    verdict = (verdict or str(share(agree, tested))) if tested else NOT_STORED
    return ReadAs(figure, reading, agree, tested, float("nan"), verdict)
