"""The second run on the page about trust: ``results/twice/`` as a sentence, a figure and a table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..base.plotting import STYLE
from ..base.project import resource
from .myst import NOTHING, dropdown, plain, powers, table
from .stored import Row, stored_rows

#: the columns of counts, and how each is called; colours from hardly to much, on white and told apart in grey
MOVED = {
    "0": ("the same", "#e8e8e8"),
    "1e-12": ("by up to 1e-12", "#b9d9ee"),
    "1e-09": ("by up to 1e-9", "#7fb8dc"),
    "1e-06": ("by up to 1e-6", "#3f8fc4"),
    "1e-03": ("by up to 1e-3", "#E69F00"),
    "more": ("by more, or another text", "#D55E00"),
}

#: the head of the section, which is there once a second run is stored
SECTION = """
(trust-twice)=
## Stored results, run twice

A number can be reproduced to six digits and still depend on the order of a sum. `marginbook experiment
twice` draws rows of every experiment at random, runs them again, with another core type if
`OPENBLAS_CORETYPE` names one, another number of threads, or other packages, and compares all numbers to
the digits that are stored. Then it puts these rows in the place of the stored ones, and asks every
claim that reads them for its verdict again.

"""


def write(folder: Path) -> None:
    """Write ``trust-twice.md`` and, for each second run that is stored, ``trust-twice-NAME.png``."""
    parts = []
    for home in sorted(resource("results", "twice").glob("*/")):
        numbers, verdicts = stored_rows(home / "numbers.csv"), stored_rows(home / "verdicts.csv")
        if numbers:
            about = json.loads((home / "about.json").read_text("utf-8"))
            parts.append(section(home.name, numbers, verdicts, about))
            draw(numbers, folder / f"trust-twice-{home.name}.png")
    text = SECTION + "\n".join(parts) if parts else ""
    folder.joinpath("trust-twice.md").write_text(text, encoding="utf-8")


def section(run: str, numbers: Sequence[Row], verdicts: Sequence[Row], about: Mapping[str, Any]) -> str:
    """Return what a second run came to, with the figure and, behind a button, each experiment."""
    every = {name: sum(int(row[name]) for row in numbers) for name in ("rows", "cells", *MOVED)}
    beyond = every["1e-03"] + every["more"]
    changed = [row for row in verdicts if row["first"] != row["second"]]
    threads = f"{about['threads']} thread{'' if about['threads'] == 1 else 's'} of BLAS"
    new = "; ".join(f"{name} {value}" for name, value in about["other"].items()) or "nothing else was new"
    text = (
        f"**{run}:** {100 * about['share']:g} % of the seconds of each of {len(numbers)} experiments, drawn "
        f"at random, ran again with {threads} ({plain(new)}). Of {every['cells']} numbers and texts in "
        f"{every['rows']} rows {every['0']} are the same to 12 digits, and {every['cells'] - beyond} to six. "
        f"{_verdicts(len(changed), len(verdicts))}\n\n"
    )
    text += "".join(
        f"- `{row['claim']}` was {plain(row['first'])} and is {plain(row['second'])} with the rows of the "
        f"second run of `{row['experiment']}`.\n"
        for row in changed
    )
    alt = f"{len(numbers)} bars, one for each experiment, split by how far its numbers moved; see the table."
    text += (
        f"\n```{{figure}} trust-twice-{run}.png\n:alt: {alt}\n\nHow far the numbers of each experiment moved "
        "in the second run, as shares.\n```\n\n"
    )
    lines = [
        [
            f"`{row['experiment']}`",
            row["rows"],
            row["cells"],
            *(row[name] if int(row[name]) else NOTHING for name in MOVED),
            plain(row["where"]) or NOTHING,
        ]
        for row in numbers
    ]
    headings = ["experiment", "rows", "numbers", *(powers(told) for told, _ in MOVED.values()), "most"]
    return text + dropdown(f"Each experiment: {run}", table(headings, lines, classes="sortable wide"))


def _verdicts(changed: int, asked: int) -> str:
    if not asked:
        return "No claim reads them."
    if not changed:
        return f"None of {asked} verdicts on claims that read them changes."
    return f"{changed} of {asked} verdicts on claims that read them change{'s' if changed == 1 else ''}:"


def draw(numbers: Sequence[Row], path: Path) -> None:
    """Draw a bar for each experiment, split by how far its numbers moved."""
    import matplotlib.pyplot as plt  # only where a book is built

    with plt.rc_context(STYLE):  # type: ignore[arg-type]
        figure, axis = plt.subplots(figsize=(6.4, 1.4 + 0.27 * len(numbers)))
        places, left = range(len(numbers)), [0.0] * len(numbers)
        for name, (told, colour) in MOVED.items():
            shares = [100 * int(row[name]) / int(row["cells"]) for row in numbers]
            axis.barh(
                places, shares, left=left, color=colour, edgecolor="white", linewidth=0.4, label=powers(told)
            )
            left = [a + b for a, b in zip(left, shares, strict=True)]
        axis.set_yticks(places, [row["experiment"] for row in numbers])
        axis.set(xlim=(0, 100), ylim=(len(numbers) - 0.4, -0.6), xlabel="% of the numbers of an experiment")
        axis.grid(visible=False, axis="y")
        figure.legend(loc="outside lower center", ncols=2, fontsize=10)
        figure.savefig(path, metadata={"Software": None})
        plt.close(figure)
