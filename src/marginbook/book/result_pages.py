"""The printed tables beside ours, from ``results/`` and the comparison."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from ..base.project import resource
from ..claims.errata import PAPERS
from ..experiments import compare, experiments, load_protocol
from ..experiments.compare import counts
from .myst import NOTHING, badge, dropdown, plain, table

HEADINGS = ["data set", "method", "printed", "± printed", "ours", "± ours", "splits", "verdict"]
ARROWS = {"ours higher": "↑", "ours lower": "↓"}


def write(folder: Path) -> None:
    """Write ``results.md``: one section per experiment that has a protocol."""
    sections = [section(id) for id in experiments()]
    text = "\n".join(sections) or "No experiment has been described yet.\n"
    folder.joinpath("results.md").write_text(text, encoding="utf-8")


def section(id: str) -> str:
    protocol = load_protocol(id)
    lines = [f"(results-{id.replace('/', '-')})=", f"## {plain(protocol.title)}", ""]
    stored = resource("results", *f"{id}.csv".split("/"))
    if not stored.is_file():
        command = f"marginbook experiment run {id} --profile paper"
        lines.append(f"The full protocol has not been run on this checkout. `{command}` does it.\n")
    elif protocol.printed is None:
        who = "The paper prints" if protocol.room in PAPERS else "The papers print"
        lines.append(f"{who} no numbers for this; ours are in `results/{id}.csv`.\n")
    else:
        frame = compare(protocol)
        summary = ", ".join(f"{number} {verdict}" for verdict, number in counts(frame).items())
        lines.append(
            f"Metric: `{protocol.metric}`. ± is the {plain(protocol.plus_minus)}. "
            f"Cells: {summary}. The numbers: `results/{id}.csv`.\n"
        )
        rows = frame.to_dict("records")
        lines.append(
            "Each cell has the printed number over **ours**; = reproduced, ↑ ours higher, ↓ ours lower.\n"
        )
        lines.append(as_printed(rows))
        every = table(HEADINGS, [_row(row) for row in rows], classes="sortable wide")
        lines.append(dropdown("Every cell, to sort", every))
    if protocol.not_stated:
        body = "\n".join(f"{plain(gap)}\n: {plain(choice)}\n" for gap, choice in protocol.not_stated.items())
        title = "What the paper does not state, and what we assumed"
        lines.append(dropdown(title if protocol.room in PAPERS else "What we fixed, and how", body))
    return "\n".join(lines)


def as_printed(rows: list[dict[Any, Any]]) -> str:
    """Return the table as the paper lays it out: data sets down, methods across."""
    methods = list(dict.fromkeys(str(row["method"]) for row in rows))
    cells: dict[str, dict[str, str]] = {}
    for row in rows:
        mark = "=" if row["verdict"] == "reproduced" else ARROWS.get(row["direction"], "")
        ours = "" if math.isnan(row["ours_mean"]) else f"**{row['ours_mean']:.3f}** {mark}".rstrip()
        # a backslash at the end of a line breaks it
        text = f"{_number(row['printed_mean'])}\\\n{ours or '–'}"
        cells.setdefault(f"`{row['dataset']}`", {})[str(row["method"])] = text
    lines = [[name, *(own.get(method, NOTHING) for method in methods)] for name, own in cells.items()]
    return table(["data set", *map(plain, methods)], lines, classes="wide numbers")


def _row(row: dict[Any, Any]) -> list[str]:
    verdict = str(row["verdict"])
    arrow = f" {ARROWS[row['direction']]}" if row["direction"] in ARROWS else ""
    return [
        f"`{row['dataset']}`",
        plain(str(row["method"])),
        *(_number(row[name]) for name in ("printed_mean", "printed_std", "ours_mean", "ours_std")),
        str(row["ours_n"] or NOTHING),
        (badge(verdict) if " " not in verdict else verdict) + arrow,
    ]


def _number(value: float) -> str:
    return NOTHING if math.isnan(value) else f"{value:.3f}"
