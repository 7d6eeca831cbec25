"""Which method, when: the table and the sentences of the comparison of all methods."""

from __future__ import annotations

import math
from pathlib import Path

from ..study.claims.advice import REFERENCE, Findings, Sentence, advice, headline
from ..study.claims.posteriors import ROPES
from ..study.claims.rankings import complete, results
from .myst import NOTHING, plain, powers, table

HEADINGS = [
    "method", "rank", "accuracy, %", f"worse than {REFERENCE}, %", "same, %", "better, %", "G-mean, %",
    "rows needed, %", "tuning, s", "1000 predictions, ms",
]  # fmt: skip
COMPARED = ("worse", "same", "better")


def write(folder: Path) -> None:
    """Write ``which-answers.md`` and ``which-table.md``.

    Raises
    ------
    ValueError
        A sentence of the page is not true of the stored results.
    """
    rows = results()
    if rows is None or not complete(rows):
        texts = dict.fromkeys(("answers", "table"), "The comparison is not stored, or not all of it.\n")
    else:
        found = Findings(rows)
        told = advice(found)
        behind = sentences([*headline(found), *told])
        texts = {"answers": answers(told), "table": f"{behind}\n{overview(found)}"}
    for name, text in texts.items():
        folder.joinpath(f"which-{name}.md").write_text(text, encoding="utf-8")


def answers(told: list[Sentence]) -> str:
    """Return what to take when, a row for each; refuse what does not hold."""
    refuse_false(told)
    rows = [[one.when, f"**{one.take}** {one.why}"] for one in told]
    return table(["You want", "Take, and why"], rows, widths=(24, 76), classes="answers")


def sentences(told: list[Sentence]) -> str:
    """Return the sentences as a list of terms with their explanation; refuse what does not hold."""
    refuse_false(told)
    return "\n".join(f"{one.when}\n: {powers(one.text)}\n" for one in told)


def refuse_false(told: list[Sentence]) -> None:
    """Raise ValueError for the first sentence that is not true of the stored results."""
    for one in told:
        if not one.holds:
            raise ValueError(
                f"{one.when!r} is not true of the stored results any more; write the sentence in "
                "marginbook.study.claims.advice anew"
            )


def overview(found: Findings) -> str:
    """Return one row per method, by average rank, and what changes with the rope."""
    lines = []
    for name in found.order:
        others = name != REFERENCE
        needed = found.of(name, "needed")
        lines.append(
            [
                plain(name),
                f"{found.of(name, 'rank'):.1f}",
                f"{found.of(name, 'accuracy'):.1f}",
                *(f"{100 * found.chance(name, how):.0f}" if others else NOTHING for how in COMPARED),
                f"{found.of(name, 'g_mean'):.1f}",
                NOTHING if math.isnan(needed) else f"{needed:.0f}",
                f"{found.seconds(name):.2f}",
                f"{1000 * found.of(name, 'predict'):.1f}",
            ]
        )
    decisions = [
        [plain(name), *(str(found.against[rope]["decision"][name]) for rope in ROPES)]
        for name in found.order
        if name != REFERENCE
    ]
    ropes = table(["method", *(f"within {rope:g}" for rope in ROPES)], decisions, classes="sortable")
    return f"{table(HEADINGS, lines, classes='sortable wide numbers')}\n{ropes}"
