"""The chapter's line of counts is that of the ledger, and its example runs."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from marginbook.base.project import root
from marginbook.claims import check, ledger
from marginbook.claims.errata import errata

NAMES = {
    "proof": "Proofs",
    "statement": "Statements",
    "arithmetic": "The paper's text against its own tables",
    "experiment": "Our re-runs",
    "ours": "Ours",
}
WORDS = {"partly": "in part", "holds": "hold", "not-reproduced": "not"}


@pytest.fixture(scope="module")
def chapter() -> str:
    home = root()
    assert home is not None
    return (home / "book" / "kfda.md").read_text("utf-8")


def counted() -> dict[str, Counter[str]]:
    found = {kind: Counter() for kind in NAMES}
    for id, claim in ledger().items():
        if claim.paper == "kfda":
            found[str(claim.kind)][str(check(id).verdict)] += 1
    return found


def test_the_counts_by_kind_are_those_of_the_ledger(chapter: str) -> None:
    total = 0
    for kind, verdicts in counted().items():
        total += verdicts.total()
        line = re.search(rf"^- \*\*{re.escape(NAMES[kind])}\*\*: ([^.:]*)[.:]", chapter, re.M)
        assert line, f"no line on {NAMES[kind]}"
        told = re.findall(r"(\d+) (?:is |are )?([a-z][a-z -]*?)(?=,| and|$)", line[1])
        assert {word: int(n) for n, word in told} == {WORDS.get(v, v): n for v, n in verdicts.items()}
    assert f"All {total} claims" in chapter


def test_the_number_of_errata_is_right(chapter: str) -> None:
    claims = {id: claim for id, claim in ledger().items() if claim.paper == "kfda"}
    found = errata(claims, {id: check(id) for id in claims})
    assert f"The {len(found)} errata" in chapter


def test_the_example_runs_and_is_certified(chapter: str) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", chapter, re.S)
    space: dict = {}
    exec(compile(code, "book/kfda.md", "exec"), space)
    assert space["model"].dual_gap_ >= 0
    assert space["sparser"].is_local_minimum_
    assert len(space["sparser"].retained_) < len(space["model"].retained_) < 0.2 * len(space["X"])
