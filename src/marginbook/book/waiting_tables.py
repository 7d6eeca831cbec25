"""What a user waits for: first fits, which compile, and sparse linear machines; from the stored tables."""

from __future__ import annotations

from ..quality.benchmarking.tables import Row
from .growth_tables import number_of
from .myst import NOTHING, plain, table

#: CPU seconds that no first fit should take
FIRST = 5.0


def first_fits_section(rows: list[Row]) -> str:
    """Return how long the first fit of each estimator takes, the longest first."""
    if not rows:
        return "Nothing is stored; `make bench PAPER=first_fits` measures it.\n"
    columns = ("fit_s", "again_s", "cached_s", "import_s")
    cells = [
        [plain(row["estimator"]), *(number_of(float(row[column])) for column in columns)]
        for row in sorted(rows, key=lambda row: -float(row["fit_s"]))
    ]
    headings = ["", "first fit, empty cache", "second fit", "first fit, full cache", "imports"]
    below = sum(float(row["fit_s"]) < FIRST for row in rows)
    told = f"{below} of {len(rows)} estimators take less than {FIRST:g} s for their first fit.\n\n"
    return told + table(headings, cells, classes="")


def first_fit_sentence(rows: list[Row]) -> str:
    """Return the sentence of the guide about the longest first fit."""
    if not rows:
        return "`make bench PAPER=first_fits` measures how long.\n"
    last = max(rows, key=lambda row: float(row["fit_s"]))
    return (
        f"With an empty cache the longest first fit of {len(rows)} estimators, that of "
        f"`{last['estimator']}`, took {number_of(float(last['fit_s']))} s of a processor "
        f"([all of them](performance.md#the-first-fit)).\n"
    )


def sparse_linear_section(rows: list[Row]) -> str:
    """Return what linear machines cost on many sparse rows."""
    if not rows:
        return "Nothing is stored; `make bench PAPER=sparse_linear` measures it.\n"
    cells = [
        [
            plain(row["estimator"]),
            number_of(float(row["fit_s"]))
            + (f" (×\u00a0{row['times']} of {plain(row['against'])})" if row["times"] else ""),
            *(number_of(float(row[column])) for column in ("predict_s", "memory_mib")),
            row["certificate"] or NOTHING,
            f"{100 * float(row['accuracy']):.0f}",
        ]
        for row in rows
    ]
    size = rows[0]
    told = (
        f"{int(size['rows']):,} rows of {int(size['features']):,} features, of which "
        f"{number_of(float(size['entries']))} are not 0 in a row on average.\n\n"
    )
    headings = ["", "seconds of a fit", "of a predicted row", "MiB of a fit", "certificate", "right, %"]
    return told + table(headings, cells, classes="")
