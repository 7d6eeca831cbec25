"""Findings are bound to their claims: one that is not true any more is refused, whatever made it so."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest
from PIL import Image

from marginbook.base.rooms import rooms
from marginbook.book import finding_pages
from marginbook.book.checked_claims import Checked
from marginbook.claims import Claim, Evidence, Verdict, check, ledger
from marginbook.claims.findings import Finding, findings
from marginbook.notebooks import available

written = functools.cache(findings)  # they are drawn from stored results: not while tests are collected


@pytest.mark.parametrize("room", rooms())
def test_findings_are_true_and_lead_to_what_there_is(room: str) -> None:
    for one in written(room):
        assert set(one.needs) <= set(ledger()), one.title
        assert one.false({id: str(check(id).verdict) for id in one.needs}) == "", one.title
        id, _, anchor = one.page.partition("#")
        assert id in available(), one.title
        assert not anchor or f"({anchor})=" in available()[id].text.read_text("utf-8"), one.title
        assert re.search(r"[a-z]", one.title)
        assert not one.title.endswith(".")
        assert "$" not in one.title  # it is an entry of the table of contents, too


@pytest.mark.parametrize("room", rooms())
def test_another_verdict_of_any_claim_refuses_a_finding(room: str) -> None:
    for one in written(room):
        told = {id: str(check(id).verdict) for id in one.needs}
        for id in told:
            other = next(str(word) for word in Verdict if word != told[id])
            with pytest.raises(ValueError, match="not true any more"):
                finding_pages.refuse_false([one], {**told, id: other})


def drawn():
    from matplotlib.figure import Figure

    figure = Figure()
    figure.add_subplot().plot([0, 1])
    return figure


def test_a_page_has_heading_picture_evidence_and_the_card(tmp_path: Path, monkeypatch) -> None:
    claim = Claim("ldm/thm", "Theorem 9", "$a=b$", "ldm/03_x#there", lambda: evidence)
    evidence = Evidence(verdict=Verdict.FAILS, measured="1", claimed="2", slack=-1.0, why="Because.")
    one = Finding(
        "It fails",
        "By 3 points.",
        {"ldm/thm": "fails"},
        "ldm/03_x#there",
        drawn,
        "a line",
        "See.",
        home="It.",
    )
    monkeypatch.setattr(finding_pages, "findings", lambda room: [one] if room == "ldm" else [])
    finding_pages.write(tmp_path, Checked({claim.id: claim}, {claim.id: evidence}, {"ldm/03_x"}))
    text = (tmp_path / "findings-ldm.md").read_text()
    for piece in (
        "### 1. It fails",
        "By 3 points.",
        "[Theorem 9](#evidence-ldm-thm)",
        "[the notebook](#there)",
    ):
        assert piece in text
    assert (tmp_path / "findings" / "ldm-1.png").read_bytes().startswith(b"\x89PNG")
    assert "_generated/findings/ldm-1-card.png" in (tmp_path / "findings-home.md").read_text()
    width, height = Image.open(tmp_path / "findings" / "ldm-1-card.png").size
    assert width / height == pytest.approx(finding_pages.CARD[0] / finding_pages.CARD[1], rel=0.01)
    assert (tmp_path / "findings-drm.md").read_text() == ""


def test_the_card_of_the_comparison_leads_to_its_page() -> None:
    one = Finding("It is so", "", {}, "study/01_one_bench", home="It.")
    assert ":link: which\n" in finding_pages.home_card(one, "", "study")
    assert ":link: bridge\n" in finding_pages.home_card(one, "", "bridge")


def test_a_condition_that_fails_refuses_it_and_a_picture_needs_words() -> None:
    one = Finding("It is so", "", {}, "ldm/01_margins", holds=False)
    with pytest.raises(ValueError, match="condition"):
        finding_pages.refuse_false([one], {})
    with pytest.raises(ValueError, match="alternative text"):
        Finding("It is so", "", {}, "ldm/01_margins", picture=drawn)


def test_a_card_shows_the_verdict_in_html_and_in_text() -> None:
    from marginbook.claims import show

    cards = show("ldm/eq-4")
    html = cards._repr_html_()
    assert f"verdict-{check('ldm/eq-4').verdict}" in html
    assert 'data-claim="ldm-eq-4"' in html
    assert "$" not in html  # formulas stand as \( \), which Jupyter and the book both set
    assert repr(cards).startswith("ldm/eq-4: ")
    assert max(map(len, repr(cards).splitlines())) <= 79
