"""Evidence as a card in a notebook: the verdict, a sentence, the numbers behind a fold."""

from __future__ import annotations

import re
import textwrap
from html import escape

from .catalogue import Claim, find
from .checking import check
from .evidence import Evidence
from .readable import as_html

_FORMULA = re.compile(r"\$([^$]+)\$")


class Cards:
    """What `show` returns: HTML where a notebook can show it, text elsewhere."""

    def __init__(self, found: list[tuple[Claim, Evidence]]) -> None:
        self._found = found

    def __repr__(self) -> str:
        told = (
            f"{claim.id}: {evidence.verdict}. {evidence.measured}. {evidence.why}"
            for claim, evidence in self._found
        )
        return "\n".join(textwrap.fill(text, 79, subsequent_indent="    ") for text in told)

    def _repr_html_(self) -> str:
        return "\n".join(_card(claim, evidence) for claim, evidence in self._found)


def show(*ids: str) -> Cards:
    """Check claims, or take their kept evidence, and return it as one card for each.

    Parameters
    ----------
    *ids : str
        Such as ``"ldm/thm-3"``.

    Examples
    --------
    >>> from marginbook.claims.show import show
    >>> print(show("ldm/eq-4"))  # doctest: +ELLIPSIS
    ldm/eq-4: corrected. ...
    """
    return Cards([(claim, check(claim.id)) for claim in find(ids)])


def _card(claim: Claim, evidence: Evidence) -> str:
    # the book turns data-claim into a link to the ledger; elsewhere the words stand alone
    file = escape(claim.source.partition(":")[0])
    words = evidence.verdict.replace("-", " ")
    behind = [
        f"<b>Claimed:</b> {_text(evidence.claimed)}",
        _text(evidence.why),
        *([f"<b>Reading:</b> {_text(evidence.reading)}"] if evidence.reading else []),
        f"Checked by <code>{escape(claim.function)}</code> in <code>{file}</code>; "
        f"in a terminal: <code>marginbook claims {escape(claim.id)}</code>",
    ]
    return (
        '<div class="evidence-card tex2jax_process">'
        f'<p><span class="verdict verdict-{evidence.verdict}">{words}</span> '
        f'<b><a data-claim="{claim.slug}">{_text(claim.place)}</a></b> {_text(claim.statement)}</p>'
        f"<p><b>Measured:</b> {_text(evidence.measured)}</p>"
        f"<details><summary>Why</summary>{''.join(f'<p>{line}</p>' for line in behind)}</details>"
        "</div>"
    )


def _text(words: str) -> str:
    """Return text as HTML; formulas between dollar signs as MathJax and Jupyter both read them."""
    return _FORMULA.sub(r"\\(\1\\)", as_html(escape(words, quote=False))).replace("`", "")
