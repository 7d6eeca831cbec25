"""The printed tables beside ours, from ``results/`` and the comparison."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from ..experiments import compare, experiments, load_protocol
from ..experiments.compare import counts
from ..project import resource
from .myst import NOTHING, badge, dropdown, plain, table

HEADINGS = ["data set", "method", "printed", "± printed", "ours", "± ours", "splits", "verdict"]


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
        lines.append(f"The paper prints no numbers for this; ours are in `results/{id}.csv`.\n")
    else:
        frame = compare(protocol)
        summary = ", ".join(f"{number} {verdict}" for verdict, number in counts(frame).items())
        lines.append(
            f"Metric: `{protocol.metric}`. ± is the {plain(protocol.plus_minus)}. "
            f"Cells: {summary}. The numbers: `results/{id}.csv`.\n"
        )
        lines.append(
            table(HEADINGS, [_row(row) for row in frame.to_dict("records")], classes="sortable wide")
        )
    if protocol.not_stated:
        body = "\n".join(f"{plain(gap)}\n: {plain(choice)}\n" for gap, choice in protocol.not_stated.items())
        lines.append(dropdown("What the paper does not state, and what we assumed", body))
    return "\n".join(lines)


def _row(row: dict[Any, Any]) -> list[str]:
    verdict = str(row["verdict"])
    arrow = {"ours higher": " ↑", "ours lower": " ↓"}.get(row["direction"], "")
    return [
        f"`{row['dataset']}`",
        plain(str(row["method"])),
        *(_number(row[name]) for name in ("printed_mean", "printed_std", "ours_mean", "ours_std")),
        str(row["ours_n"] or NOTHING),
        (badge(verdict) if " " not in verdict else verdict) + arrow,
    ]


def _number(value: float) -> str:
    return NOTHING if math.isnan(value) else f"{value:.3f}"
