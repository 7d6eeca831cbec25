"""What happens when things break: ``results/faults/`` as tables and a figure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from pathlib import Path

from ..base.plotting import COLOURS, STYLE
from ..base.project import resource
from . import long_runs_page
from .myst import plain, table
from .stored import Row, stored_rows

COMMAND = "python benchmarks/faults.py"
#: parts that are named before the fault
SIGNALS = ("Ctrl-C", "TERM")
#: the parts of the page: which rows are in it
PARTS = {
    "results": ("store", "export", *SIGNALS),
    "downloads": ("download", "archive", "cache"),
    "files": ("data file",),
    "machines": ("machine",),
}
#: phases of a run: how they are drawn, and their name in the legend
PHASES = {
    "start": ("s", COLOURS["vermilion"], "killed while starting"),
    "work": ("o", COLOURS["blue"], "killed at work"),
}


def write(folder: Path) -> None:
    """Write the parts of the page on faults, ``faults-*.md``, and ``faults-kills.png``."""
    kills, faults = stored("kills"), stored("faults")
    folder.joinpath("faults-kills.md").write_text(killed(kills), encoding="utf-8")
    for name, parts in PARTS.items():
        rows = [row for row in faults if row["part"] in parts]
        folder.joinpath(f"faults-{name}.md").write_text(listed(rows), encoding="utf-8")
    folder.joinpath("faults-found.md").write_text(found(kills, faults), encoding="utf-8")
    draw(kills, folder / "faults-kills.png")
    long_runs_page.write(folder)


def stored(name: str) -> list[Row]:
    """Return the rows of ``results/faults/NAME.csv``, none if it is not there."""
    return stored_rows(resource("results", "faults", f"{name}.csv"))


def found(kills: Sequence[Row], faults: Sequence[Row]) -> str:
    """Return in a sentence whether the promise was kept."""
    if not (kills and faults):
        return ""
    bad = sum(int(row[name]) for row in kills for name in ("lost", "doubled", "torn"))
    kept = sum(row["outcome"] == "passed" for row in faults)
    return (
        f"After {sum(bool(row['kill']) for row in kills)} kills {bad} results are lost, doubled or torn; "
        f"{kept} of {len(faults)} faults end as promised.\n"
    )


def killed(rows: Sequence[Row]) -> str:
    """Return in words what the kills did to the results."""
    if not rows:
        return f"Nothing is stored; `{COMMAND}` measures it.\n"
    kills = [row for row in rows if row["kill"]]
    early = sum(row["phase"] == "start" for row in kills)
    counts = ", ".join(
        f"{name} {sum(int(row[name]) for row in rows)}" for name in ("lost", "doubled", "torn")
    )
    longest = max(float(row["seconds"]) for row in kills)
    last = rows[-1]
    same = "the same bytes as" if last["same_bytes"] == "yes" else "**other bytes than**"
    return (
        f"{len(kills)} kills, {early} of them while the run was starting, at most {longest:.0f} s after its "
        f"start; {int(last['after']):,} results at the end. Results {counts}. The files that the last run "
        f"exported have {same} those of a run that nobody disturbed.\n"
    )


def listed(rows: Iterable[Row]) -> str:
    """Return faults with what the user is told and the test that causes each."""
    lines = [
        [
            plain(f"{row['part']} {row['fault']}" if row["part"] in SIGNALS else row["fault"]),
            plain(row["told"]) if row["told"] else "nothing: the work goes on",
            f"`{row['test'].removeprefix('tests/').replace('::', '` `')}`"
            + ("" if row["outcome"] == "passed" else f" ({row['outcome']} when this was measured)"),
        ]
        for row in rows
    ]
    if not lines:
        return f"Nothing is stored; `{COMMAND}` measures it.\n"
    headings = ["what breaks", "what the user is told", "test"]
    return f"{len(lines)} faults.\n\n" + table(
        headings, lines, widths=[22, 48, 30], classes="sortable wide cards faults"
    )


def draw(rows: Sequence[Row], path: Path) -> None:
    """Draw finished results over the time that the killed runs had, with a mark at each kill."""
    rows = [row for row in rows if row["kill"]]
    if not rows:
        return
    import matplotlib.pyplot as plt  # only where a book is built

    times = list(accumulate(float(row["seconds"]) / 60 for row in rows))
    bad = [sum(int(row[name]) for name in ("lost", "doubled", "torn")) for row in rows]
    with plt.rc_context(STYLE):  # type: ignore[arg-type]
        figure, axis = plt.subplots()
        axis.plot([0.0, *times], [0, *(int(row["after"]) for row in rows)], color="#999999", linewidth=1)
        for phase, (marker, colour, label) in PHASES.items():
            points = [
                (time, int(row["after"]))
                for time, row in zip(times, rows, strict=True)
                if row["phase"] == phase
            ]
            if points:
                axis.plot(*zip(*points, strict=True), marker, color=colour, label=label)
        axis.plot(times, bad, color=COLOURS["black"], label="lost, doubled or torn")
        axis.set(
            xlabel="minutes that the killed runs had",
            ylabel="results in the store",
            ylim=(-max(int(row["after"]) for row in rows) / 30 - 1, None),
        )
        axis.legend(fontsize=9, loc="upper left")
        figure.savefig(path, metadata={"Software": None})
        plt.close(figure)
