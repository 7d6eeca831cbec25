"""Tables 2 and 3 under every reading of their variance and their SVM."""

from __future__ import annotations

from ...claims.printed_tables import TESTED
from ...claims.read_as import ReadAs
from ..paper.printed import PAPER_TABLES
from .readings import as_read, available


def side_by_side() -> list[ReadAs]:
    """Return how well each reading agrees with the print; empty before any results."""
    rows = []
    for table in ("table-2", "table-3"):
        stored = PAPER_TABLES.results(table)
        for reading in available(stored) if stored is not None else ():
            assert stored is not None
            cells = PAPER_TABLES.cells(table, as_read(stored, reading))
            tested = cells[cells["verdict"].isin(TESTED)]
            rows.append(
                ReadAs(
                    table,
                    str(reading),
                    int((tested["verdict"] == TESTED[0]).sum()),
                    len(tested),
                    100 * float(tested["difference"].abs().mean()),
                    str(PAPER_TABLES.agreement(table, cells).verdict),
                )
            )
    return rows
