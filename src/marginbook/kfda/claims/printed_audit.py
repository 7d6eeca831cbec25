"""Claims about the paper's own numbers: the rows of means, the counts in its text, the sizes of the sets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...claims import Evidence, Rival, claim, decide, short
from ..paper.printed import (
    HALF,
    HALF_SPARSE,
    K1,
    KINDS,
    PUBLISHED,
    RIVAL,
    ROUNDING,
    TINY,
    printed,
    sizes,
    summary,
)
from .printed_sentences import alone, lowest, sentences
from .printed_swaps import with_cell, with_mean

if TYPE_CHECKING:
    import pandas as pd

#: the two rows of means, and where their cells are
ROWS = {"MCR": "errors", "NRS": "retained"}
#: tables that end with rows of means, and whose cells these are
MEANS = {"table-1": ("table-1",), "table-2": ("table-2",), "table-3": tuple(KINDS)}
#: "no fewer than 100 samples, no more than 70% majority class"
LEAST_ROWS, LARGEST_CLASS = 100, 0.70


def means_again() -> pd.DataFrame:
    """Average the printed cells again.

    Returns
    -------
    DataFrame
        `table`, `row`, `column`, `printed`, `again` (of the cells), `by_rows` (Table 3 only: the means of
        Tables 1 and 2, as printed, weighted by their sets), `difference` (printed - again), `rounding`
        (whether rounded cells and a rounded mean can differ by so much).
    """
    import pandas as pd

    weights = {table: len(printed(table).errors) for table in KINDS}
    rows = []
    for table, parts in MEANS.items():
        for row, side in ROWS.items():
            cells = getattr(printed(*parts), side)
            for column, text in summary(table, row).items():
                if text == "N/A":
                    continue
                again, by_rows = float(cells[column].mean()), math.nan
                if len(parts) > 1:
                    total = sum(weights[part] * float(summary(part, row)[column]) for part in parts)
                    by_rows = total / sum(weights.values())
                off = float(text) - again
                rows.append(
                    (table, row, column, float(text), again, by_rows, off, abs(off) <= 2 * ROUNDING + TINY)
                )
    names = ["table", "row", "column", "printed", "again", "by_rows", "difference", "rounding"]
    return pd.DataFrame(rows, columns=names)


@claim(
    "kfda/table-means",
    kind="arithmetic",
    where="Tables 1, 2 and 3",
    statement="the rows 'Mean' and Table 3 give the means of the columns of Tables 1 and 2",
    notebook="kfda/04_tables#kfda-table-means",
    rivals=[
        Rival("Table 1 has a mean error 0.2 higher", swaps=with_mean("table-1", "MCR", K1, "12.9")),
        Rival("one cell of Table 2 is higher by 2", swaps=with_cell("errors", "liver", K1, 27.1)),
        Rival("the row MCR alone is claimed, which is right", {"rows": ("MCR",)}),
    ],
)
def check_means(rows: Sequence[str] = tuple(ROWS)) -> Evidence:
    """Average the printed cells; for Table 3 by two ways, from the cells and from the printed means."""
    frame = means_again()
    frame = frame[frame["row"].isin(rows)]
    last = frame["table"] == "table-3"
    off = frame[~frame["rounding"]]
    places = dict.fromkeys(
        f"row {row} of Table {table[-1]}" for table, row in zip(off["table"], off["row"], strict=True)
    )
    # both ways to Table 3 must lead to the same number before the printed one can be called wrong
    gap = float((frame["again"] - frame["by_rows"]).abs().max())
    elsewhere = bool(frame.loc[~(last & (frame["row"] == "NRS")), "rounding"].all())
    in_last = " So the error is in Table 3." if not off.empty and last[off.index].all() else ""
    told = [f"{r.column} {r.printed:.1f}, where the cells give {r.again:.2f}" for r in off.itertuples()]
    digits = sum(f"{r.again:.1f}" == f"{r.printed:.1f}" for r in frame.itertuples())
    return Evidence(
        verdict=decide(off.empty, elsewhere and gap <= 2 * ROUNDING),
        measured=f"{int(frame['rounding'].sum())} of {len(frame)} printed values are the means, up to "
        f"rounding; the largest difference is {frame['difference'].abs().max():.2f}",
        claimed=f"{len(frame)} of {len(frame)}, within {2 * ROUNDING:.1f}",
        slack=float(2 * ROUNDING - frame["difference"].abs().max()),
        why=f"Exceptions{', in ' + ' and '.join(places) if places else ''}: {'; '.join(told) or 'none'}. "
        f"The printed means of Tables 1 and 2, weighted 13 to 7, are at most {gap:.2f} from those of the "
        f"cells of both.{in_last} {digits} of {len(frame)} agree to the digit; a rounded mean of rounded "
        "cells can be off by one unit of the last digit. NRS is the share of retained samples in %. The "
        "corrected statement, also checked: all means except the NRS of Table 3.",
        sizes={"means": len(frame), "sets": len(printed().errors)},
    )


def _recount(table: str, ties: str) -> Evidence:
    lines = sentences(table)
    off = [
        f"{what}: claimed {claimed}, counted {counted}"
        for what, claimed, counted in lines
        if claimed != counted
    ]
    right = len(lines) - len(off)
    return Evidence(
        verdict=decide(not off),
        measured=f"{right} of {len(lines)} counts are right",
        claimed=f"{len(lines)} of {len(lines)}",
        slack=float(right - len(lines)),
        why=f"Exceptions: {'; '.join(off) or 'none'}. {ties}",
        sizes={"sentences": len(lines), "sets": len(printed(table).errors)},
    )


@claim(
    "kfda/table-1-counts",
    kind="arithmetic",
    where="Section 4.1, from 'From Table 1 it can be seen' on",
    statement="the text's counts for Table 1: best in 6/13, sparser in 12/13, and so on",
    notebook="kfda/04_tables#kfda-table-1-counts",
    rivals=[
        Rival("Banana's best is kFDA_1's", swaps=with_cell("errors", "banana", K1, 9.6)),
        Rival("kFDA_0.5 is 0.1 worse on Titanic", swaps=with_cell("errors", "titanic", HALF, 21.2)),
        Rival("kFDA_OLS retains 0.2 less on Ringnorm", swaps=with_cell("retained", "ringnorm", RIVAL, 0.7)),
    ],
)
def check_counts_1() -> Evidence:
    """Recount every sentence about Table 1."""
    page = printed("table-1")
    counts = {
        "kFDA_1 is most accurate": (page.errors, K1),
        "kFDA_0.5 is most accurate": (page.errors, HALF),
        "kFDA_0.5 for min NRS is sparsest": (page.retained, HALF_SPARSE),
    }
    told = [
        f"{what} in {len(alone(cells, column))}, in {len(lowest(cells, column))} with ties"
        for what, (cells, column) in counts.items()
    ]
    return _recount(
        "table-1",
        f"'Best in' includes ties, also with columns of the same method: {'; '.join(told)}.",
    )


@claim(
    "kfda/table-2-counts",
    kind="arithmetic",
    where="Section 4.2, first paragraph and from 'Again selecting' on",
    statement="the text's counts for Table 2: best in 4/7, the published method in 2/7, and so on",
    notebook="kfda/04_tables#kfda-table-2-counts",
    rivals=[
        Rival("kFDA_1 is 0.1 worse on WDBC than printed as best", swaps=with_cell("errors", "wdbc", K1, 1.9)),
        Rival(
            "the published best of Chess is that of kFDA_1",
            swaps=with_cell("errors", "chess", PUBLISHED, 0.6),
        ),
    ],
)
def check_counts_2() -> Evidence:
    """Recount every sentence about Table 2."""
    page = printed("table-2")
    errors, kept = page.errors, page.retained
    sparser = [str(name) for name in kept.index if kept[HALF_SPARSE][name] < kept[RIVAL][name]]
    rest, row = kept.drop(index="sonar"), summary("table-2", "MCR")
    return _recount(
        "table-2",
        f"kFDA_1 alone is most accurate in {len(alone(errors, K1))}, with ties in "
        f"{len(lowest(errors, K1))}. Its average lead over the published results is "
        f"{(errors[PUBLISHED] - errors[K1]).mean():.2f} points; the means are printed as {row[PUBLISHED]} "
        f"and {row[K1]}. The mean NRS of kFDA_0.5 for min NRS is {kept[HALF_SPARSE].mean():.1f}, that of "
        f"kFDA_OLS {kept[RIVAL].mean():.1f}; without Sonar they are {rest[HALF_SPARSE].mean():.1f} and "
        f"{rest[RIVAL].mean():.1f}. It is sparser than kFDA_OLS on {len(sparser)} of {len(kept)} sets "
        f"({', '.join(sparser)}).",
    )


@claim(
    "kfda/table-sizes",
    kind="arithmetic",
    where="Section 4, second sentence",
    statement="the UCI data sets have no fewer than 100 samples and no more than 70 % of them in the "
    "larger class",
    notebook="kfda/04_tables#kfda-table-sizes",
    depends=("data_download/registry.toml",),
    rivals=[
        Rival("no fewer than 250 samples", {"least_rows": 250}),
        Rival("no more than 64 % in the larger class", {"largest_class": 0.64}),
        Rival("the IDA sets, too", {"table": "table-1"}),
    ],
)
def check_sizes(
    table: str = "table-2", least_rows: int = LEAST_ROWS, largest_class: float = LARGEST_CLASS
) -> Evidence:
    """Compare the printed training sizes with half of the public sets, and test what they were chosen by."""
    from ...datasets.registry import entry

    frame = sizes()
    uci = frame[frame["table"] == table]
    halves = int((uci["n_train"] == (uci["n_pool"] + 1) // 2).sum())
    classes = {str(name): entry(str(name)).classes.values() for name in uci.index}
    larger = {name: max(counts) / sum(counts) for name, counts in classes.items()}
    wanted = int(((uci["n_pool"] >= least_rows) & (uci.index.map(larger) <= largest_class)).sum())
    inside = int((frame["n_train"] < frame["n_pool"]).sum())
    return Evidence(
        verdict=decide(wanted == len(uci) and inside == len(frame)),
        measured=f"{wanted} of {len(uci)} sets have at least {least_rows} rows and at most "
        f"{100 * largest_class:.0f} % in one class",
        claimed=f"{len(uci)} of {len(uci)}",
        slack=min(
            largest_class - max(larger.values()),
            float(uci["n_pool"].min()) / least_rows - 1,
            short(inside, len(frame)),
        ),
        why="The rows without missing values in the public data sets are counted. Half of these, rounded up, "
        f"is the printed training size in {halves} of {len(uci)} cases, so the pools behind the partitions "
        f"are known. The largest class is that of {max(larger, key=lambda name: larger[name])}, "
        f"{100 * max(larger.values()):.0f} %. The condition of less than 10 % missing values is not "
        "checked, since our copies contain no rows with missing values.",
        sizes={"sets": len(frame)},
    )
