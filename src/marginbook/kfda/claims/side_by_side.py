"""Tables 1 and 2 under every reading of what was tested, and of what counts as zero."""

from __future__ import annotations

from ...claims.read_as import NOT_STORED, ReadAs
from .tables_readings import all_readings


def side_by_side() -> list[ReadAs]:
    """Return how well each reading agrees with the print; empty before any results."""
    frame = all_readings()
    rows = [
        ReadAs(
            table=row["table"],
            reading=str(row["reading"]),
            agree=row["agree"],
            tested=row["tested"],
            distance=row["off_errors"],
            verdict=str(row["verdict"]),
        )
        for row in frame.to_dict("records")
    ]
    return rows + [
        ReadAs(table, str(reading), 0, 0, float("nan"), NOT_STORED)
        for table, absent in frame.attrs["absent"].items()
        for reading in absent
    ]
