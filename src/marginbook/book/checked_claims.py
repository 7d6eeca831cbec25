"""The claims as the book shows them: what every page about them is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..claims import Claim, Evidence


class Checked(NamedTuple):
    """All claims and what their checks found.

    Attributes
    ----------
    claims, evidence : mapping
        By claim id.
    shown : set of str
        Ids of the notebooks in the book: no link goes to another.
    """

    claims: Mapping[str, Claim]
    evidence: Mapping[str, Evidence]
    shown: set[str]
