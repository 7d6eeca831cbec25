"""What findings and summaries tell is what is stored: a sentence that changes is news, and shows as such."""

import json

import pytest

from marginbook.base.rooms import rooms

from .stored_evidence import differences
from .told import FILE, PARTS, told

STORED = json.loads(FILE.read_text(encoding="utf-8"))


def test_each_room_has_stored_what_it_tells() -> None:
    assert list(STORED) == [
        room for room in rooms() if room in STORED or any(told(room, part) for part in PARTS)
    ]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("room", STORED)
def test_findings_and_summary_tell_what_is_stored(room: str, part: str) -> None:
    stored, found = STORED[room][part], told(room, part)
    assert len(found) == len(stored)
    for one, other in zip(stored, found, strict=True):
        assert list(differences(one, other)) == [], "python -m tests.claims.told has what they tell now"
