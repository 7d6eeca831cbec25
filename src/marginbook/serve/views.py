"""What the pages of runs say: progress, results beside the published ones, lists."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import quote

import nbformat

from ..base.project import resource
from ..claims import readable
from ..notebooks.catalogue import Notebook
from ..notebooks.fields import Field, query
from .comparing import Pair, as_html, compared, sections, verdicts
from .markup import button, prose, shown_values, table, took, when
from .queue import Queue
from .runs import Run, Runs

_STATES = {
    "waiting": "waits",
    "running": "runs",
    "done": "done",
    "failed": "failed",
    "cancelled": "cancelled",
}
#: what papermill has written of a notebook that is not done
PARTIAL = "run.partial.ipynb"
#: of what a process has printed
_TAIL = 4000
_MOST_ROWS = 400
#: of the comparison with a printed table what is shown, and how it is called here
_COMPARED = {
    "dataset": "data set", "method": "method", "column": "what",
    "printed_mean": "printed", "printed_std": "±", "ours_mean": "ours", "ours_std": "±", "ours_n": "runs",
    "difference": "difference", "verdict": "verdict",
}  # fmt: skip


def address(run: Run) -> str:
    """Return where a run is shown."""
    return f"/-/runs/{run.id}"


def asked_at(run: Run) -> str:
    """Return where the form is that a run came from."""
    place = {"notebook": "run", "claim": "claims", "experiment": "experiments"}[run.kind]
    return f"/-/{place}/{quote(run.subject)}"


def progress(run: Run, runs: Runs, queue: Queue, cells: Sequence[str]) -> str:
    """Return how far a run is; `cells` are the first lines of the notebook's cells, empty for text."""
    if run.state == "waiting":
        ahead = queue.ahead(run)
        return f"<p>It waits: {ahead} run{'' if ahead == 1 else 's'} before it.</p>"
    found = runs.json(run, "progress.json")
    done, total = _count(found.get("done")), _count(found.get("total"))
    if not total:
        return '<p>It starts.</p><progress aria-label="progress"></progress>' + _tail(run, runs)
    unit = "cells" if run.kind == "notebook" else "done"
    told = f"<p>{done} of {total} {unit}</p>"
    told += f'<progress aria-label="progress" max="{total}" value="{done}"></progress>'
    return told + _cells(cells, done, total) + ("" if run.kind == "notebook" else _tail(run, runs))


def _cells(cells: Sequence[str], done: int, total: int) -> str:
    """Return the sections with cells of code, each with how far it is."""
    # papermill puts one cell in, after that of the parameters: it counts with the next
    offset = total - len(cells)
    numbers: dict[str, list[int]] = {}
    for number, title in enumerate(cells):
        if title:
            numbers.setdefault(title, []).append(number + offset)
    lines, now = [], True
    for title, own in numbers.items():
        ended = sum(number < done for number in own)
        state = "done" if ended == len(own) else "now" if now else "later"
        now = now and state == "done"
        sign = {"done": "✓", "now": "▸", "later": "·"}[state]
        part = f" ({ended} of {len(own)} cells)" if state == "now" and len(own) > 1 else ""
        lines.append(f'<li data-state="{state}">{sign} {escape(title)}{part}</li>')
    return f'<ol class="cells">{"".join(lines)}</ol>' if lines else ""


def titles(notebook: Notebook) -> list[str]:
    """Return the title of its section for each cell of code, and nothing for each cell of text."""
    return [title if cell.cell_type == "code" else "" for cell, title in sections(notebook.read())]


def head(run: Run, declared: Sequence[Field]) -> str:
    """Return what was asked, with what is not a default marked."""
    facts = f"{_STATES[run.state]}, asked {when(run.asked)}"
    if spent := took(run.began, run.ended):
        facts += f", took {spent}"
    told = f'<p class="quiet">{escape(run.kind)} · {escape(facts)}</p>'
    if run.message:
        said = escape(run.message)
        told += f'<p class="error" role="alert">{said}</p>' if run.state == "failed" else f"<p>{said}</p>"
    if run.kind != "notebook":
        return told
    rows = []
    docs = {field.name: field.parameter for field in declared}
    for name, value in run.values.items():
        text = f"<code>{escape(json.dumps(value, ensure_ascii=False))}</code>"
        if name in run.changed and name in docs:
            usual = escape(json.dumps(docs[name].default, ensure_ascii=False))
            text = f"<mark><strong>{text}</strong></mark> instead of <code>{usual}</code>"
        rows.append([f"<code>{escape(name)}</code>", text, prose(docs[name].doc if name in docs else "")])
    return told + (table(["parameter", "value", "what it is"], rows) if rows else "")


def again(run: Run, declared: Sequence[Field]) -> str:
    """Return the link to the form as it was filled, which others can open."""
    if run.kind != "notebook":
        return button(asked_at(run), "Run it again")
    asked = query(declared, run.values)
    way = f"{asked_at(run)}?{asked}" if asked else asked_at(run)
    return f'<p><a href="{escape(way)}">The form with these parameters</a>, an address to share.</p>'


def result(run: Run, runs: Runs, notebook: Notebook | None) -> str:
    """Return what came out of a run that is done."""
    found = runs.json(run, "result.json")
    if run.kind == "claim":
        return _evidence(run, found.get("evidence", {}))
    if run.kind == "experiment":
        return _table(found.get("table", {}))
    at = address(run)
    links = (
        f'<p>Take away: <a href="{at}/notebook">notebook (.ipynb)</a>, '
        f'<a href="{at}/download">page (.html)</a>.</p>'
    )
    framed = (
        f'<h2 id="page">The page of this run</h2><iframe src="{at}/page" title="The page of this run" '
        f'sandbox="allow-scripts allow-popups allow-popups-to-escape-sandbox"></iframe>'
    )
    return links + _beside(run, runs, notebook) + framed


def _beside(run: Run, runs: Runs, notebook: Notebook | None) -> str:
    if notebook is None or not notebook.stored.is_file():
        return "<p>Nothing is published to compare with.</p>"
    try:
        pairs = compared(
            notebook.read_stored(),
            nbformat.read(runs.place(run, "run.ipynb"), as_version=nbformat.NO_CONVERT),
        )
    except OSError:
        return "<p>The files of this run have gone.</p>"
    changed = [pair for pair in pairs if not pair.same]
    judged = [(verdicts(pair.published), verdicts(pair.ours)) for pair in pairs]
    old = {slug: verdict for before, _ in judged for slug, verdict in before.items()}
    new = {slug: verdict for _, now in judged for slug, verdict in now.items()}
    other = {slug: (old[slug], new[slug]) for slug in old.keys() & new.keys() if old[slug] != new[slug]}
    told = (
        f'<h2 id="compared">Beside the published page</h2><p><strong>{len(changed)} of {len(pairs)} outputs '
        f"differ</strong> from the <a href='/notebooks/{quote(run.subject)}.html'>published page</a>. "
        "What differs is open and marked; the others are the same.</p>"
    )
    if new:
        kept = len(old.keys() & new.keys()) - len(other)
        told += f"<p>Verdicts: {kept} of {len(new)} are the published ones."
        told += "".join(
            f" <mark>{escape(slug)}</mark>: {escape(before)}, now {escape(now)}."
            for slug, (before, now) in sorted(other.items())
        )
        told += "</p>"
    return told + "".join(_pair(pair) for pair in pairs)


def _pair(pair: Pair) -> str:
    sides = (
        f"<div><h3>Published</h3>{as_html(pair.published, pair.ours, pair.alt)}</div>"
        f"<div><h3>This run</h3>{as_html(pair.ours, pair.published, pair.alt)}</div>"
    )
    mark = "same" if pair.same else "changed"
    return (
        f'<details class="pair {mark}"{"" if pair.same else " open"}><summary><strong>{mark}</strong>: '
        f"{escape(pair.title)} (cell {pair.number})</summary>"
        f'<div class="sides">{sides}</div><details><summary>code</summary><pre>{escape(pair.source)}</pre>'
        "</details></details>"
    )


def _evidence(run: Run, found: Mapping[str, Any]) -> str:
    published = ledger_verdict(run.subject)
    now = str(found.get("verdict", ""))
    told = f"<p><strong>Here and now: {escape(now)}</strong>"
    if published:
        told += f"; the ledger says: {escape(published)}" + (
            " (the same)" if published == now else " (<mark>other</mark>)"
        )
    rows = [
        [escape(name), _said(found[name])]
        for name in ("measured", "claimed", "slack", "why", "reading", "sizes", "seeds")
        if found.get(name) not in (None, "", {}, [])
    ]
    return f"{told}.</p>" + table(["", "what the check found"], rows)


def _said(value: Any) -> str:
    return readable.as_html(escape(_facts(value) if isinstance(value, dict) else _plain(value)))


def ledger_verdict(id: str) -> str:
    """Return the verdict that the ledger of the repository has, nothing where there is none."""
    path = resource("LEDGER.md")
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    found = re.search(rf"^- .*?: \*\*([\w-]+)\*\*.*`{re.escape(id)}`$", text, re.MULTILINE)
    return found[1] if found else ""


def _table(found: Mapping[str, Any]) -> str:
    told = ""
    measured = [row for row in found.get("compared", []) if row.get("ours_n")]
    if measured:
        names = [name for name in _COMPARED if name in measured[0]]
        rows = [[escape(_plain(row[name])) for name in names] for row in measured[:_MOST_ROWS]]
        told += "<h2>Beside what is printed</h2>" + table([_COMPARED[name] for name in names], rows)
    elif "compared" in found:
        told += "<p>The quick slice runs on stand-ins: none of its numbers has a printed one beside it.</p>"
    elif found.get("remark"):
        told += f"<p>{escape(str(found['remark']))}</p>"
    rows = [[escape(str(cell)) for cell in row] for row in found.get("rows", [])[:_MOST_ROWS]]
    return told + "<h2>What was measured</h2>" + table([str(name) for name in found.get("columns", [])], rows)


def listing(runs: Runs) -> str:
    """Return the table of all runs."""
    rows = []
    for run in runs.all():
        link = f'<a href="{address(run)}">{escape(run.subject)}</a>'
        rows.append(
            [link, escape(run.kind), shown_values(run.changed) if run.kind == "notebook" else "",
             _STATES[run.state], when(run.asked), took(run.began, run.ended)]
        )  # fmt: skip
    if not rows:
        return "<p>Nothing has been run yet. Open a notebook of the book and press “Run this page again”.</p>"
    return table(["what", "", "other than the defaults", "state", "asked", "took"], rows)


def _tail(run: Run, runs: Runs) -> str:
    try:
        with runs.place(run, "log").open("rb") as log:
            log.seek(0, 2)
            log.seek(max(0, log.tell() - _TAIL))
            text = log.read().decode("utf-8", "replace")
    except OSError:
        return ""
    return f"<pre>{escape(text)}</pre>" if text.strip() else ""


def _count(value: Any) -> int:
    return value if isinstance(value, int) and 0 <= value < 100_000 else 0


def _facts(sizes: Mapping[str, Any]) -> str:
    """Return what a check was computed with: numbers of a list joined by commas, ranges as stated."""
    parts = {
        name: ", ".join(map(_plain, value)) if isinstance(value, list) else _plain(value)
        for name, value in sizes.items()
    }
    return "; ".join(f"{name}: {text}" for name, text in parts.items())


def _plain(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
