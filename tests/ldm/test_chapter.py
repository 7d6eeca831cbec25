"""The chapter's sentences that count statements say what the ledger says."""

from __future__ import annotations

import re
import tomllib
from collections import Counter

from marginbook.base.project import PACKAGE, resource
from marginbook.claims import Kind, Verdict, check, ledger

CLAIMS = {id: claim for id, claim in ledger().items() if claim.paper == "ldm"}
CHAPTER = resource("book", "ldm.md").read_text("utf-8")
NAMES = {
    Kind.PROOF: "Proofs",
    Kind.STATEMENT: "Statements",
    Kind.ARITHMETIC: "The paper's text against its own tables",
    Kind.EXPERIMENT: "Our re-runs",
    Kind.OURS: "Ours",
}
WORDS = {"holds": "hold", "fails": "fail", "partly": "in part", "not-reproduced": "not"}


def test_the_chapter_counts_the_verdicts_by_kind() -> None:
    for kind, name in NAMES.items():
        line = re.search(rf"^- \*\*{re.escape(name)}\*\*: ([^.]*)\.", CHAPTER, re.M)
        assert line, f"no line on {name}"
        told = {
            WORDS.get(word, word): int(number)
            for number, word in re.findall(r"(\d+) (?:is |are )?([a-z][a-z -]*?)(?=,|$)", line[1])
        }
        found = Counter(str(check(id).verdict) for id, claim in CLAIMS.items() if claim.kind is kind)
        assert told == {WORDS.get(verdict, verdict): number for verdict, number in found.items()}
    assert f"All {len(CLAIMS)} claims with their verdicts" in CHAPTER


def test_the_chapter_counts_errata_and_names_what_fails() -> None:
    errata = tomllib.loads((PACKAGE / "ldm" / "claims" / "errata.toml").read_text("utf-8"))
    assert f"The {len(errata)} errata of the paper" in CHAPTER
    paper = [id for id, claim in CLAIMS.items() if claim.kind is not Kind.OURS]
    failed = [id for id in paper if check(id).verdict is Verdict.FAILS]
    assert sorted(failed) == ["ldm/superiority-theory", "ldm/thm-3"]
    assert "Theorem 3 fails." in CHAPTER
    assert "No theory shows LDM to be superior." in CHAPTER
    assert check("ldm/fig-1").verdict is Verdict.UNDECIDED  # so says the notebook on margins
    assert check("ldm/never-worse").verdict is Verdict.UNDECIDED
    assert {check(f"ldm/table-{n}-order").verdict for n in (2, 3, 4)} == {Verdict.UNDECIDED}
