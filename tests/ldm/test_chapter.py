"""The chapter's sentences that count statements say what the ledger says."""

from __future__ import annotations

import re
import tomllib
from collections import Counter

from marginbook.base.project import PACKAGE, resource
from marginbook.claims import Kind, Verdict, check, ledger

CLAIMS = {id: claim for id, claim in ledger().items() if claim.paper == "ldm"}
CHAPTER = resource("book", "ldm.md").read_text("utf-8")
WORDS = [
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]


def test_the_chapter_counts_the_statements_of_each_kind() -> None:
    kinds = Counter(claim.kind for claim in CLAIMS.values())
    told = re.search(r"We checked.*?of our own", CHAPTER, re.DOTALL)
    assert told
    assert [int(number) for number in re.findall(r"\d+", told[0])] == [
        len(CLAIMS),
        *(kinds[kind] for kind in (Kind.PROOF, Kind.STATEMENT, Kind.ARITHMETIC, Kind.EXPERIMENT, Kind.OURS)),
    ]
    assert f"All {len(CLAIMS)} statements and their verdicts" in CHAPTER


def test_the_chapter_counts_errata_and_verdicts() -> None:
    errata = tomllib.loads((PACKAGE / "ldm" / "claims" / "errata.toml").read_text("utf-8"))
    assert f"The {len(errata)} errata of the paper" in CHAPTER
    verdicts = {id: check(id).verdict for id in CLAIMS}
    paper = [id for id, claim in CLAIMS.items() if claim.kind is not Kind.OURS]
    corrected = [id for id in paper if verdicts[id] is Verdict.CORRECTED]
    assert [id for id in paper if verdicts[id] is Verdict.FAILS] == ["ldm/thm-3"]
    runs = Counter(verdicts[id] for id in paper if CLAIMS[id].kind is Kind.EXPERIMENT)
    some, none = (runs[verdict] for verdict in (Verdict.PARTLY, Verdict.NOT_REPRODUCED))
    text = " ".join(CHAPTER.split())
    assert f"Theorem 3 fails, and {WORDS[len(corrected)]} statements need a correction" in text
    assert f"one is reproduced, {some} are in part, and {none} are not" in text
    assert runs[Verdict.REPRODUCED] == 1
