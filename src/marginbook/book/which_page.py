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
        texts = {"answers": sentences([*headline(found), *advice(found)]), "table": overview(found)}
    for name, text in texts.items():
        folder.joinpath(f"which-{name}.md").write_text(text, encoding="utf-8")


def sentences(told: list[Sentence]) -> str:
    """Return the sentences as a list of terms with their explanation; refuse what does not hold."""
    for one in told:
        if not one.holds:
            raise ValueError(
                f"{one.when!r} is not true of the stored results any more; write the sentence in "
                "marginbook.study.claims.advice anew"
            )
    return "\n".join(f"{one.when}\n: {powers(one.text)}\n" for one in told)


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
    ropes = table(["method", *(f"rope {rope:g}" for rope in ROPES)], decisions, classes="sortable")
    return f"{table(HEADINGS, lines, classes='sortable wide numbers')}\n{ropes}"
