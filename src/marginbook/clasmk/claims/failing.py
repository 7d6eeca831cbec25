"""What evidence adds about the parts of a claim that fail, so that its text changes with its verdict."""

from __future__ import annotations


def failing(*parts: tuple[bool, str]) -> str:
    """Return the words of the parts that do not hold, to stand behind what is measured in any case.

    Parameters
    ----------
    *parts : (bool, str)
        Whether a part of the claim holds, and what is measured of it.

    Examples
    --------
    >>> failing((True, "corrected, in 30 of 30"), (False, "the last line is right in 2 of 30"))
    '; the last line is right in 2 of 30'
    """
    return "".join(f"; {words}" for holds, words in parts if not holds)
