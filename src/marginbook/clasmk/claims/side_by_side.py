"""Table 1 under every scaling of its rows."""

from __future__ import annotations

from ...claims.read_as import ReadAs, of_tables
from ..paper.printed import PAPER_TABLES


def side_by_side() -> list[ReadAs]:
    """Return how well each scaling agrees with the printed table; empty before any results."""
    return of_tables(PAPER_TABLES)
