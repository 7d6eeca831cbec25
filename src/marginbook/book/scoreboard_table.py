"""The scoreboard of the home page: claims by paper and verdict, each count a link into the ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from urllib.parse import urlencode

from ..claims import ROOMS, Evidence, scoreboard
from .myst import table

LEDGER = "claims.html"  # from a page beside it


def scoreboard_table(evidence: Mapping[str, Evidence]) -> str:
    """Return one row per paper and a last one for all, as MyST.

    Parameters
    ----------
    evidence : mapping
        By claim id.
    """
    rows, whole = [], Counter[str]()
    for room, counts in scoreboard(evidence).items():
        words = {str(verdict): number for verdict, number in counts.items() if number}
        whole.update(words)
        rows.append([ROOMS[room], str(sum(words.values())), _cell(words, room)])
    if len(rows) > 1:
        rows.append(["**All**", f"**{whole.total()}**", _cell(whole)])
    return table(["paper", "claims", "verdicts"], rows, widths=[32, 10, 58], classes="scoreboard")


def ledger_anchor(room: str) -> str:
    """Return the name of the place where a paper's part of the ledger starts."""
    return f"ledger-{room}"


def _cell(words: Mapping[str, int], room: str = "") -> str:
    # plain HTML: Markdown's own links take no query
    bar = "".join(
        f'<span class="verdict-{word}" style="flex-grow:{number}"></span>' for word, number in words.items()
    )
    links = " ".join(_link(word, number, room) for word, number in words.items())
    return f'<span class="share" aria-hidden="true">{bar}</span>{links}'


def _link(word: str, number: int, room: str) -> str:
    query = urlencode({"paper": room, "verdict": word} if room else {"verdict": word}).replace("&", "&amp;")
    place = f"#{ledger_anchor(room)}" if room else ""
    return (
        f'<a class="count" href="{LEDGER}?{query}{place}">{number} '
        f'<span class="verdict verdict-{word}">{word}</span></a>'
    )
