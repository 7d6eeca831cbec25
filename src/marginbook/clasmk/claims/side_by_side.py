"""Table 1 under every scaling of its rows."""

from __future__ import annotations

from ...claims import Verdict
from ...claims.open_parts import unless_better
from ...claims.read_as import ReadAs, of_tables
from ..paper.printed import PAPER_TABLES
from .tables import at_best, stored_scalings


def side_by_side() -> list[ReadAs]:
    """Return how well each scaling agrees with the printed table; empty before any results.

    Cells of learned weights are open where no solver of the paper's kind has been run. A scaling under which
    they could make the verdict better is undecided, as the table itself is.
    """
    parts, _ = stored_scalings()
    found = []
    for row in of_tables(PAPER_TABLES):
        if row.table == "table-1" and row.reading in parts:
            agree, tested = at_best(row.reading, parts[row.reading])
            better = PAPER_TABLES.calibration(row.table).judge(agree, tested)
            row = row._replace(verdict=str(unless_better(Verdict(row.verdict), [better])))
        found.append(row)
    return found
