"""What to say of a name that is not there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches


def suggestion(
    name: str,
    known: Iterable[str],
    otherwise: str | None = None,
    cutoff: float = 0.5,
    told: Mapping[str, str] | None = None,
) -> str:
    """Return "; did you mean ...?" for the end of an error message; where nothing is near, what there is.

    Parameters
    ----------
    name : str
    known : iterable of str
    otherwise : str, optional
        Where nothing is near; by default the list of `known`.
    cutoff : float
        Likeness from which names are near, from 0 to 1.
    told : mapping, optional
        What is told of a name that is near, as where a thing has several; the name itself by default.

    Examples
    --------
    >>> suggestion("table-9", ["table-8", "fig-4"])
    '; did you mean table-8?'
    >>> suggestion("nope", ["table-8", "fig-4"], "see --list")
    '; see --list'
    """
    known = list(known)
    close = get_close_matches(name, known, n=3, cutoff=cutoff)
    if close:
        close = list(dict.fromkeys((told or {}).get(each, each) for each in close))
        return f"; did you mean {' or '.join(close)}?"
    return f"; {otherwise or 'there are ' + (', '.join(known) or 'none')}"
