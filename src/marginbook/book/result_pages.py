"""The printed tables beside ours, from ``results/`` and the comparison."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..base.project import resource
from ..base.rooms import rooms
from ..claims.cell_verdicts import TESTED
from ..claims.errata import PAPERS
from ..claims.ledger_file import in_words as counts_in_words
from ..claims.read_as import ReadAs
from ..experiments import compare, experiments, load_protocol, read_results
from ..experiments.compare import counts
from ..experiments.protocol import Protocol
from .checked_claims import Checked
from .exhibit_pages import beyond
from .myst import NOTHING, badge, dropdown, in_words, plain, table
from .room_pages import short_name
from .search_entries import evidence_anchor

HEADINGS = ["data set", "method", "printed", "± printed", "ours", "± ours", "splits", "verdict"]
#: a deviation below this share of the mean is that of a constant
ROUNDING = 1e-12
#: metrics whose column does not say what it is
NAMES = {
    "g_mean": "G-mean",
    "mcr": "error rate",
    "mcr_middle": "error rate at the middle rho",
    "nrs": "number of retained samples",
    "mae": "mean absolute error",
    "brier": "Brier score",
    "margin_mean": "mean of the margins",
    "accuracy_last": "accuracy of the last layer",
    "weights_seconds": "seconds of the weights",
    "chosen_1e+00": "G-mean at beta = 1",
}
#: what the page shows of a run, where that is not what its protocol compares
SHOWN = {"clasmk/limited": "weights_seconds"}
#: what cannot be shown as a mean
ELSEWHERE = {"clasmk/heat-maps": "[The weights themselves](#clasmk-fig-24) are in a notebook. "}
ARROWS = {"ours higher": "↑", "ours lower": "↓"}


def write(folder: Path, readings: Mapping[str, Sequence[ReadAs]], checked: Checked | None = None) -> None:
    """Write ``results.md``, the list of experiments, and the tables of each room to ``results-ROOM.md``.

    `readings` are those of `all_readings`; the verdict on an experiment is that of the claim with its name.
    """
    rows: list[list[str]] = []
    for room in rooms():
        own = [id for id in experiments() if id.startswith(f"{room}/")]
        if not own:
            continue
        sections = []
        for id in own:
            text, agreed = section(id, readings.get(room, ()))
            verdict = _verdict(id, checked)
            sections.append(text)
            rows.append([f"[{_heading(load_protocol(id))}](#{_anchor(id)})", agreed, verdict or NOTHING])
        if came_out := _counted(own, checked):
            sections.insert(0, f"Verdicts on these tables and figures: {came_out}.\n")
        folder.joinpath(f"results-{room}.md").write_text("\n".join(sections), encoding="utf-8")
    headings = ["experiment", "cells reproduced", "verdict"]
    listed = table(headings, rows, widths=[54, 20, 26], classes="sortable fixed")
    if came_out := _counted(experiments(), checked):
        listed = f"Verdicts on them: {came_out}.\n\n{listed}"
    folder.joinpath("results.md").write_text(
        listed if rows else "No experiment has been described yet.\n", encoding="utf-8"
    )


def section(id: str, readings: Sequence[ReadAs] = ()) -> tuple[str, str]:
    """Return an experiment's section of its page, and its number of reproduced cells in words.

    Of `readings`, those of the experiment's room, the best of a table comes first.
    """
    protocol = load_protocol(id)
    lines = [f"({_anchor(id)})=", f"## {_heading(protocol)}", ""]
    stored = resource("results", *f"{id}.csv".split("/"))
    agreed = "not in the paper" if id in beyond(protocol.room) else "no numbers printed"
    if not stored.is_file():
        command = f"marginbook experiment run {id} --profile paper"
        lines.append(f"This checkout has no stored results. `{command}` computes them.\n")
        agreed = "not run"
    elif protocol.printed is None:
        who = "The paper prints" if protocol.room in PAPERS else "The papers print"
        lines.append(
            f"{who} no numbers to compare with. Ours, as means: {_name(shown(protocol))}. "
            f"{_spread(protocol.plus_minus)}. {ELSEWHERE.get(id, '')}What else was measured is in "
            f"`results/{id}.csv`."
            f"{_part(protocol)}\n"
        )
        lines.append(ours(protocol))
    else:
        frame = compare(protocol)
        found = counts(frame)
        summary = ", ".join(f"{number} {in_words(verdict)}" for verdict, number in found.items())
        tested = sum(number for verdict, number in found.items() if verdict in TESTED)
        agreed = f"{found.get('reproduced', 0)} of {tested}" if tested else "none tested"
        lines.append(
            f"Metric: {_name(protocol.metric)}. {_spread(protocol.plus_minus)}. "
            f"Cells: {summary}. Stored in `results/{id}.csv`.{_part(protocol)}\n"
        )
        if reading := frame.attrs["reading"]:
            lines.append(f"Read as {plain(reading)}\n")
        best = next((row for row in readings if row.table == id.partition("/")[2]), None)
        if best and best.tested > tested:  # the verdict is about more than the one metric
            lines.append(
                "The table below has one metric of the paper's table, in one reading. Of all its cells "
                f"{best.agree} of {best.tested} agree in the reading that agrees best: "
                f"{plain(best.reading)}. [All readings](#readings)\n"
            )
            agreed = f"{best.agree} of {best.tested}"
        rows = frame.to_dict("records")
        lines.append(
            "Each cell has the printed number and below it **ours**: = where they agree, ↑ or ↓ where "
            f"ours is higher or lower{_unmarked(rows)}.\n"
        )
        lines.append(as_printed(rows))
        every = table(HEADINGS, [_row(row) for row in rows], classes="sortable wide")
        lines.append(dropdown("Every cell, to sort", every))
    if protocol.not_stated:
        body = "\n".join(f"{plain(gap)}\n: {plain(choice)}\n" for gap, choice in protocol.not_stated.items())
        title = "What the paper does not state, and what we assumed"
        lines.append(dropdown(title if protocol.room in PAPERS else "What we fixed, and how", body))
    return "\n".join(lines), agreed


def shown(protocol: Protocol) -> str:
    """Return the column of the stored results whose means the page shows."""
    return SHOWN.get(protocol.id, protocol.metric)


def _name(metric: str) -> str:
    return f"{NAMES[metric]} (`{metric}`)" if metric in NAMES else f"`{metric}`"


def _counted(ids: Iterable[str], checked: Checked | None) -> str:
    """Return how many of the experiments with a claim of their name have which verdict; empty: none has."""
    found = Counter(checked.evidence[id].verdict for id in ids if checked and id in checked.claims)
    return counts_in_words(found)


def _verdict(id: str, checked: Checked | None) -> str:
    claim = checked.claims.get(id) if checked else None
    if checked is None or claim is None:
        return ""
    return f"{badge(checked.evidence[id].verdict)} [why](#{evidence_anchor(claim)})"


def _part(protocol: Protocol) -> str:
    there, asked = len(read_results(protocol.id)), len(protocol.tasks("paper"))
    return f" So far {there:,} of the {asked:,} rows of the protocol are computed." if there < asked else ""


def _anchor(id: str) -> str:
    return f"results-{id.replace('/', '-')}"


def as_printed(rows: list[dict[Any, Any]]) -> str:
    """Return the table as the paper lays it out: data sets down, methods across."""
    methods = list(dict.fromkeys(str(row["method"]) for row in rows))
    cells: dict[str, dict[str, str]] = {}
    for row in rows:
        ours = "" if math.isnan(row["ours_mean"]) else f"**{row['ours_mean']:.3f}** {_sign(row)}".rstrip()
        # a backslash at the end of a line breaks it
        text = f"{_number(row['printed_mean'])}\\\n{ours or '–'}"
        cells.setdefault(f"`{row['dataset']}`", {})[str(row["method"])] = text
    lines = [[name, *(own.get(method, NOTHING) for method in methods)] for name, own in cells.items()]
    return table(["data set", *map(plain, methods)], lines, classes="wide numbers")


def ours(protocol: Protocol) -> str:
    """Return the means of an experiment that has nothing printed to be compared with: methods across."""
    grouped = read_results(protocol.id).groupby(["dataset", "method"])[shown(protocol)]
    cells = {key: _mean_and_deviation(rows.mean(), rows.std()) for key, rows in grouped}
    methods = [method for method in protocol.methods if any(method == name for _, name in cells)]
    sets = [one for one in protocol.datasets if any(one == name for name, _ in cells)]
    lines = [[f"`{one}`", *(cells.get((one, method), NOTHING) for method in methods)] for one in sets]
    return table(["data set", *map(plain, methods)], lines, classes="sortable wide numbers")


def _mean_and_deviation(mean: float, deviation: float) -> str:
    if math.isnan(mean):
        return NOTHING
    if math.isnan(deviation):
        return f"{mean:.3g}"
    return f"{_digits(mean, 3)} ± {_digits(deviation if deviation > ROUNDING * abs(mean) else 0.0, 2)}"


def _digits(number: float, places: int) -> str:
    return f"{number:#.{places}g}".removesuffix(".")  # also those that are zero


def _heading(protocol: Protocol) -> str:
    name, title = short_name(protocol.room), plain(protocol.title)
    return title if title.startswith(name) else f"{name}, {title}"


def _sign(row: dict[Any, Any]) -> str:
    return "=" if row["verdict"] == "reproduced" else ARROWS.get(row["direction"], "")


def _unmarked(rows: list[dict[Any, Any]]) -> str:
    there = any(not _sign(row) and not math.isnan(row["ours_mean"]) for row in rows)
    return ", no sign where ours cannot be compared, as on another version of a set" if there else ""


def _spread(plus_minus: str) -> str:
    none = plus_minus.startswith("none: ")
    return f"There is no ±: {plain(plus_minus[6:])}" if none else f"The ± is the {plain(plus_minus)}"


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
