"""What findings and summaries tell: ``python -m tests.claims.told > tests/claims/told.json`` stores it."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

from marginbook.base.rooms import rooms
from marginbook.claims.findings import findings
from marginbook.claims.summary import summary

FILE = Path(__file__).with_name("told.json")


#: what is told, and who tells it
PARTS = {"findings": findings, "summary": lambda room: summary(room) or ()}


def told(room: str, part: str) -> list[dict[str, Any]]:
    """Return all that a room says in its findings or its summary, but for the pictures."""
    return [_said(one) for one in PARTS[part](room)]


def _said(one: Any) -> dict[str, Any]:
    said = {each.name: getattr(one, each.name) for each in fields(one) if each.name != "picture"}
    said["holds"] = bool(one.holds)
    return {name: value for name, value in said.items() if value != ""}


if __name__ == "__main__":
    stored = {room: {part: told(room, part) for part in PARTS} for room in rooms()}
    print(json.dumps(stored, indent=1, ensure_ascii=False))
