"""Evidence as it is stored in ``results/claims/evidence.json``, and what is the same up to rounding."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from marginbook.base.project import resource

#: what `marginbook claims --json` wrote, by the ids of the claims
STORED: dict[str, dict[str, Any]] = {
    record["id"]: record
    for record in json.loads(resource("results", "claims", "evidence.json").read_text("utf-8"))
}
#: how far a float may be off: relative to itself, and at least
EXACT = 1e-6, 1e-9
#: a slack may hang on where an iteration ends, which another processor's rounding moves: by 7 % where most
ROUGH = 0.2, 1e-6
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def differences(stored: Any, found: Any, name: str = "") -> Iterator[str]:
    """Yield what of some evidence differs from the stored one, other than by rounding.

    In a text, a number with decimals may be one unit of its last digit away. A slack may be a fifth of itself
    away, and keeps its sign. All else is the same.
    """
    if isinstance(stored, dict) and isinstance(found, dict) and stored.keys() == found.keys():
        for key in stored:
            yield from differences(stored[key], found[key], f"{name}.{key}".removeprefix("."))
    elif isinstance(stored, str) and isinstance(found, str):
        if _NUMBER.split(stored) != _NUMBER.split(found) or not all(
            map(_near, _NUMBER.findall(stored), _NUMBER.findall(found))
        ):
            yield f"{name}: {stored!r} became {found!r}"
    elif isinstance(stored, float) and isinstance(found, float):
        relative, least = ROUGH if name == "slack" else EXACT
        turned = name == "slack" and (stored < 0, stored > 0) != (found < 0, found > 0)
        if turned or not math.isclose(stored, found, rel_tol=relative, abs_tol=least):
            yield f"{name}: {stored} became {found}"
    elif stored != found:
        yield f"{name}: {stored!r} became {found!r}"


def _near(one: str, other: str) -> bool:
    exponent = Decimal(one).as_tuple().exponent
    assert isinstance(exponent, int)
    unit = Decimal(1).scaleb(exponent) if "." in one or "e" in one else Decimal(0)
    return abs(Decimal(one) - Decimal(other)) <= unit
