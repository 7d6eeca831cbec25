"""What has been measured and stored as CSV files, for the pages that show it."""

from __future__ import annotations

import csv
from pathlib import Path

Row = dict[str, str]


def stored_rows(path: Path) -> list[Row]:
    """Return the rows of a CSV file, none if it is not there."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
