"""Claims, the evidence for them, and the ledger of all claims.

A claim is one statement, table or figure of a paper, or one of ours, together with a function that checks it.
The check measures and lets the numbers decide: no verdict is written by hand anywhere. Its rivals, false
neighbours that the same check must refute, show whether it would have noticed an error.
"""

from .catalogue import ROOMS as _ROOMS
from .catalogue import Claim, claim, find, ledger, listed
from .checking import CheckFailed, check, check_all
from .evidence import (
    Evidence,
    Kind,
    Verdict,
    at_most,
    decide,
    decide_below,
    scoreboard,
    share,
    share_by_chance,
    share_open,
    short,
)
from .rivals import Rival, given, returns, times
from .show import show

__all__ = [
    "ROOMS",
    "CheckFailed",
    "Claim",
    "Evidence",
    "Kind",
    "Rival",
    "Verdict",
    "at_most",
    "check",
    "check_all",
    "claim",
    "decide",
    "decide_below",
    "find",
    "given",
    "ledger",
    "listed",
    "returns",
    "scoreboard",
    "share",
    "share_by_chance",
    "share_open",
    "short",
    "show",
    "times",
]

#: the titles of the rooms by the first part of their claims' ids, in the order of the book
ROOMS = _ROOMS
