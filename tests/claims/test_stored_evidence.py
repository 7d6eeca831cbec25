"""What came out for each claim is what is stored, and what the papers' theory came out as.

Evidence that changes is news: ``marginbook claims --json > results/claims/evidence.json`` stores it, and the
difference shows what became of which claim.
"""

import json
import tomllib
from pathlib import Path

import pytest

from marginbook.claims import Claim, Kind, Verdict, check, ledger
from marginbook.claims.ledger_file import record

from ..settled import WITH_CHAPTER
from .stored_evidence import STORED, differences

#: room -> theory that did not come out as printed (`corrected`), that no correction saves (`fails`), and
#: that is checked on all cases or a fixed grid of them, so that nothing is drawn at random (`enumerated`)
EXPECTED = {
    path.parent.name: tomllib.loads(path.read_text(encoding="utf-8"))
    for path in sorted(Path(__file__).parents[1].glob("*/verdicts.toml"))
}
#: modules with claims about tables and figures, whose verdicts depend on results
ABOUT_RESULTS = ("table", "figures", "printed")


def is_theory(claim: Claim) -> bool:
    return not claim.module.rpartition(".")[2].startswith(ABOUT_RESULTS)


THEORY = [id for id, claim in ledger().items() if is_theory(claim)]


def listed(id: str, under: str) -> bool:
    room, _, name = id.partition("/")
    return name in EXPECTED.get(room, {}).get(under, [])


def expected(id: str) -> Verdict:
    named = [verdict for verdict in (Verdict.CORRECTED, Verdict.FAILS) if listed(id, verdict.value)]
    assert len(named) < 2, f"{id} is expected to be {' and '.join(named)}"
    return named[0] if named else Verdict.HOLDS


def test_each_claim_has_stored_evidence() -> None:
    assert list(STORED) == [id for id, claim in ledger().items() if claim.paper in WITH_CHAPTER]


@pytest.mark.parametrize("id", STORED)
def test_evidence_is_as_stored(id: str) -> None:
    found = json.loads(json.dumps(record(ledger()[id], check(id))))
    assert list(differences(STORED[id], found)) == [], "marginbook claims --json has what came out"


def test_rounding_is_no_difference() -> None:
    stored = {"text": "0.25 and 1e-12 of 3", "sizes": {"n": 3}, "slack": 0.5, "reach": 0.5}
    near = {"text": "0.24 and 2e-12 of 3", "sizes": {"n": 3}, "slack": 0.55, "reach": 0.5 + 1e-8}
    assert list(differences(stored, near)) == []
    far = {"text": "0.25 and 1e-12 of 4", "sizes": {"n": 4}, "slack": 0.7, "reach": 0.55}
    names = [each.partition(":")[0] for each in differences(stored, far)]
    assert names == ["text", "sizes.n", "slack", "reach"]
    for text in ("0.27 and 1e-12 of 3", "0.25 and 1e-12 of 3.", "0.25 and 1e-11 of 3"):
        assert len(list(differences(stored, stored | {"text": text}))) == 1
    assert len(list(differences(stored, stored | {"more": 1}))) == 1
    assert len(list(differences(stored, stored | {"slack": None}))) == 1
    for slack in (0.0, -1e-8):  # which speaks against the claim
        assert len(list(differences({"slack": 1e-8}, {"slack": slack}))) == 1


@pytest.mark.parametrize("id", THEORY)
def test_theory_is_as_expected(id: str) -> None:
    """What the papers' theory came out as; a change is news, and changes `tests/<room>/verdicts.toml`."""
    evidence = STORED.get(id) or record(ledger()[id], check(id))  # a new room has not stored any
    assert evidence["verdict"] == expected(id)
    assert evidence["slack"] is not None
    assert evidence["verdict"] != Verdict.HOLDS or evidence["slack"] > 0
    assert evidence["sizes"]
    assert evidence["seeds"] or ledger()[id].depends or listed(id, "enumerated")


@pytest.mark.parametrize("room", EXPECTED)
def test_what_a_room_expects_is_about_its_theory(room: str) -> None:
    assert set(EXPECTED[room]) <= {"corrected", "fails", "enumerated"}
    named = {f"{room}/{name}" for names in EXPECTED[room].values() for name in names}
    assert named
    assert named <= set(THEORY)


def test_a_verdict_in_favour_never_has_a_negative_slack() -> None:
    in_favour = (Verdict.HOLDS, Verdict.REPRODUCED)
    found = [each for each in STORED.values() if each["verdict"] in in_favour]
    assert len(found) > 100
    assert [each["id"] for each in found if each["slack"] is not None and each["slack"] < 0] == []


def test_what_is_ours_is_stated_as_it_is() -> None:
    """A paper is corrected, we state what we found: nothing of ours is wrong as stated."""
    wrong = (Verdict.CORRECTED, Verdict.FAILS)
    ours = [each for each in STORED.values() if each["kind"] == Kind.OURS]
    assert [each["id"] for each in ours if each["verdict"] in wrong] == []
