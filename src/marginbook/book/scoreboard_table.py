"""The scoreboard: claims by paper and verdict, each count a link into the ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from urllib.parse import urlencode

from ..claims import ROOMS, Evidence, Kind, Verdict, scoreboard
from .myst import NOTHING, in_words, table

#: what the ledger's filter by kind calls our claims, and those of the papers
OURS, PAPERS = str(Kind.OURS), "paper"


def scoreboard_table(kinds: Mapping[str, Kind], evidence: Mapping[str, Evidence]) -> str:
    """Return one row per paper and a last one for all, as MyST: the paper's bar, and ours beside it.

    Parameters
    ----------
    kinds, evidence : mapping
        By claim id.
    """
    rows: list[list[str]] = []
    whole = {False: Counter[str](), True: Counter[str]()}
    for room, parts in scoreboard(kinds, evidence).items():
        words = {own: {str(v): n for v, n in counts.items() if n} for own, counts in parts.items()}
        for own in whole:
            whole[own].update(words[own])
        rows.append([ROOMS[room], *(_cell(words[own], own, room) for own in whole)])
    if len(rows) > 1:
        # a counter has the order in which the papers came, a paper that of the verdicts
        every = {own: {str(v): counts[v] for v in Verdict if counts[v]} for own, counts in whole.items()}
        rows.append(["**All**", *(_cell(every[own], own) for own in every)])
    return table(["", "claims of the paper", "ours"], rows, widths=[24, 46, 30], classes="scoreboard")


def ledger_anchor(room: str) -> str:
    """Return the name of the place where a paper's part of the ledger starts."""
    return f"ledger-{room}"


def _cell(words: Mapping[str, int], ours: bool, room: str = "") -> str:
    if not words:
        return NOTHING
    # plain HTML: Markdown's own links take no query
    bar = "".join(
        f'<span class="verdict-{word}" style="flex-grow:{number}"></span>' for word, number in words.items()
    )
    links = " ".join(_link(word, number, ours, room) for word, number in words.items())
    return f'<span class="share" aria-hidden="true">{bar}</span>{links}'


def ledger_page(room: str = "") -> str:
    """Return the page of a room's claims, or of all, as seen from a page beside it."""
    return f"claims-{room}.html" if room else "claims.html"


def _link(word: str, number: int, ours: bool, room: str) -> str:
    query = urlencode({"kind": OURS if ours else PAPERS, "verdict": word}).replace("&", "&amp;")
    place = f"#{ledger_anchor(room)}" if room else ""
    return (
        f'<a class="count" href="{ledger_page(room)}?{query}{place}">{number} '
        f'<span class="verdict verdict-{word}">{in_words(word)}</span></a>'
    )
