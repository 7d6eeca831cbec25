"""The numbers that the chapter says in words are those of the claims."""

from __future__ import annotations

import re
from collections import Counter

from marginbook.base.project import resource
from marginbook.claims import Kind, Verdict, check, ledger

CLAIMS = [claim for claim in ledger().values() if claim.id.startswith("drm/")]
TEXT = resource("book", "drm.md").read_text(encoding="utf-8")
LINES = {
    Kind.PROOF: "15 hold, 4 are corrected",
    Kind.STATEMENT: "1 holds, 3 are corrected, 1 cannot be tested",
    Kind.ARITHMETIC: "5 hold, 5 are corrected",
    Kind.EXPERIMENT: "4 reproduced, 3 in part, 2 not, 5 undecided",
    Kind.OURS: "5 hold",
}
WORDS = {
    Verdict.HOLDS: "hold",
    Verdict.CORRECTED: "corrected",
    Verdict.NOT_TESTABLE: "cannot be tested",
    Verdict.REPRODUCED: "reproduced",
    Verdict.PARTLY: "in part",
    Verdict.NOT_REPRODUCED: "not",
    Verdict.UNDECIDED: "undecided",
}


def test_the_counts_by_kind_are_those_of_the_claims():
    for kind, line in LINES.items():
        assert line in TEXT
        pieces = [re.fullmatch(r"(\d+) (?:are )?(.+)", piece) for piece in line.split(", ")]
        told = {one[2].replace("holds", "hold"): int(one[1]) for one in pieces if one}
        counts = Counter(WORDS[check(claim.id).verdict] for claim in CLAIMS if claim.kind == kind)
        assert told == counts


def test_the_folds_say_how_much_is_in_them():
    assert f"All {len(CLAIMS)} claims with their verdicts" in TEXT
    corrected = [c for c in CLAIMS if c.kind != Kind.OURS and check(c.id).verdict == Verdict.CORRECTED]
    assert f"{len(corrected)} errata, and what is true instead" in TEXT


def test_the_two_counts_of_table_9_are_those_of_its_cells():
    from marginbook.claims.printed_tables import TESTED
    from marginbook.drm.claims.stored_results import cells

    frame = cells("table-9")
    tested = frame[frame["verdict"].isin(TESTED)]
    own = tested["method"] == "DRM"
    assert (tested["verdict"] == TESTED[0]).all()
    for words in (
        f"All {len(tested)} cells of Table IX agree",
        f"{(~own).sum()} of the over-sampled peers",
        f"{own.sum()} that repeat",
    ):
        assert words in TEXT
    assert "nine times we put another method in the place" in TEXT
    assert "three of these wrong tables would have passed" in TEXT
    assert "of 9 tables of wrong columns, 3 would pass" in check("drm/table-9").why
