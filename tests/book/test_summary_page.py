"""The findings on two pages: every sentence is bound, none is false, and nothing that failed is left out."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from marginbook.base.project import resource
from marginbook.base.rooms import papers
from marginbook.book import finding_pages, printed_summary, summary_page
from marginbook.book.checked_claims import Checked
from marginbook.claims import Claim, Evidence, Kind, Verdict, check, check_all, ledger
from marginbook.claims.summary import Sentence, Summary, summaries
from marginbook.notebooks import available
from marginbook.study.claims import summary as study_summary
from marginbook.study.claims.advice import Findings

from ..settled import SETTLED

#: what no summary may pass over
SORE = {Verdict.FAILS, Verdict.NOT_REPRODUCED, Verdict.UNDECIDED, Verdict.NOT_TESTABLE}
#: nor what came out in part, which is no success either
PART = SORE | {Verdict.PARTLY}
#: of rooms without claims: a condition on stored results binds a sentence
WITHOUT_CLAIMS = {"study"}


@pytest.fixture(scope="module")
def told() -> dict[str, Summary]:
    return summaries()


@pytest.mark.parametrize("room", [*SETTLED, "bridge", "study"])
def test_every_sentence_is_bound_and_true(told: dict[str, Summary], room: str) -> None:
    for one in told[room]:
        assert set(one.needs) <= set(ledger())
        assert one.needs or room in WITHOUT_CLAIMS, one.title
        assert one.false({id: str(check(id).verdict) for id in one.needs}) == "", one.title
        if not one.needs:
            id, _, anchor = one.page.partition("#")
            assert f"({anchor})=" in available()[id].text.read_text("utf-8")
        assert one.title.endswith(".")
        assert not set("$`[]") & set(one.title)  # formulas would wait for MathJax, and links are the claims


@pytest.mark.parametrize("room", sorted(WITHOUT_CLAIMS))
def test_a_sentence_without_claims_is_false_of_other_results(
    told: dict[str, Summary], room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not [claim for claim in ledger().values() if claim.paper == room]
    assert all(one.holds for one in told[room])
    rows = study_summary.stored().rows.copy()
    rows.loc[rows["method"] == "DRM", "accuracy"] += 5
    rows.loc[rows["method"] == "kFDA-0.5", "needed"] = 100
    other_results = Findings(rows)
    monkeypatch.setattr(study_summary, "stored", lambda: other_results)
    other = list(study_summary.summary())
    assert len(other) == len(list(told[room]))
    assert not any(one.holds for one in other)
    with pytest.raises(ValueError, match="its condition on the stored results fails"):
        finding_pages.refuse_false(other, {})


@pytest.mark.parametrize("room", [*SETTLED, "bridge", "study"])
def test_another_verdict_of_any_claim_stops_the_build(told: dict[str, Summary], room: str) -> None:
    for one in told[room]:
        for id, verdict in one.needs.items():
            other = next(str(word) for word in Verdict if word != verdict)
            with pytest.raises(ValueError, match="not true any more"):
                finding_pages.refuse_false([one], {**one.needs, id: other})
        failed = Sentence(one.title, one.needs, holds=False, page=one.page)
        with pytest.raises(ValueError, match="its condition on the stored results fails"):
            finding_pages.refuse_false([failed], one.needs)


def test_a_sentence_cannot_be_bound_to_nothing() -> None:
    with pytest.raises(ValueError, match="bound to nothing"):
        Sentence("All is well.", {})


@pytest.mark.parametrize("room", SETTLED)
def test_a_paper_hears_first_what_holds(told: dict[str, Summary], room: str) -> None:
    assert len(told[room].holds) >= 4
    good = {Verdict(word) for one in told[room].holds for word in one.needs.values()}
    assert not PART & good


@pytest.mark.parametrize("room", SETTLED)
def test_nothing_that_failed_or_stays_open_is_left_out(told: dict[str, Summary], room: str) -> None:
    said = {id for one in told[room] for id in one.needs}
    own = {id: claim for id, claim in ledger().items() if claim.paper == room and claim.kind != Kind.OURS}
    found = check_all(list(own), n_jobs=1)
    assert sorted(id for id in own if found[id].verdict in PART and id not in said) == []


def test_the_page_itself_states_no_result() -> None:
    text = resource("book", "summary.md").read_text("utf-8")
    prose = re.sub(r"`[^`]*`|```.*?```", "", text, flags=re.S)
    assert not re.search(r"\d", prose)
    assert not re.search(r"^- ", prose, flags=re.M)
    assert not re.search(r"\b(holds? for|reproduced|undecided|significant|better)\b", prose)
    for part in ("counts", "all", "papers", "limits", "object"):
        assert f"_generated/summary-{part}.md" in text
    for heading in ("## What our re-runs cannot tell", "## How to object"):
        assert heading in text


def entry(id: str, verdict: Verdict, kind: Kind = Kind.STATEMENT) -> tuple[Claim, Evidence]:
    found = Evidence(verdict=verdict, measured="", claimed="", slack=None, why="")
    return Claim(id, "Theorem 9", "$a=b$", "ldm/03_x#there", lambda: found, kind=kind), found


@pytest.fixture
def checked() -> Checked:
    entries = [
        entry("ldm/a", Verdict.HOLDS),
        entry("ldm/b", Verdict.HOLDS),
        entry("ldm/c", Verdict.PARTLY),
        entry("ldm/d", Verdict.FAILS, Kind.OURS),
    ]
    claims = {claim.id: claim for claim, _ in entries}
    return Checked(claims, {claim.id: found for claim, found in entries}, {"study/01_x"})


def test_a_section_counts_the_papers_claims_and_leads_to_the_evidence(checked: Checked) -> None:
    summary = Summary(
        (Sentence("It holds.", {"ldm/a": "holds"}),),
        (Sentence("In part.", {"ldm/c": "partly", "ldm/a": "holds"}),),
    )
    text = summary_page.paper(papers()["ldm"], summary, checked)
    assert "3 [statements](#ledger-ldm): 2 hold, 1 in part." in text
    assert "- It holds. [[a](#evidence-ldm-a)]{.ids}" in text
    assert "[[c](#evidence-ldm-c) [a](#evidence-ldm-a)]{.ids}" in text
    assert text.index("What holds") < text.index("What does not, as printed")
    assert "What we could not decide" not in text


def test_many_claims_are_one_link_and_results_lead_to_their_notebook(checked: Checked) -> None:
    many = Sentence("So many.", {f"bridge/{letter}": "holds" for letter in "abcdefgh"})
    assert summary_page.ways(many, checked) == "[[8 claims](#ledger-bridge)]{.ids}"
    assert summary_page.ways(Sentence("This.", {}, page="study/01_x#there"), checked) == (
        "[[study/01](#there)]{.ids}"
    )
    assert (
        summary_page.ways(Sentence("This.", {"ldm/a": "holds"}), checked)
        == "[[ldm/a](#evidence-ldm-a)]{.ids}"
    )


def test_an_objection_goes_where_the_book_is_public_or_to_the_sender() -> None:
    assert "sender" in summary_page.address("repository:\n  url: ''\n")
    told = summary_page.address("repository:\n  url: https://example.org/me/marginbook/\n")
    assert "<https://example.org/me/marginbook/issues>" in told


def test_the_address_of_the_book_is_one_setting() -> None:
    assert printed_summary.public_address("") == ""
    assert printed_summary.public_address("sphinx: {config: {html_baseurl: ''}}") == ""
    config = "sphinx: {config: {html_baseurl: https://example.org/book}}"
    assert printed_summary.public_address(config) == "https://example.org/book/"


def test_a_pdf_keeps_its_length_and_loses_date_and_machine() -> None:
    made = (
        b"<< /URI (https://beside.invalid/book/claims-ldm.html#x) >> "
        b"<< /URI (https://beside.invalid/a.html) >> "
        b"/CreationDate (D:20261127110000+00'00')"
    )
    there = printed_summary.settled(made, 0)
    assert len(there) == len(made)
    assert b"/URI (./claims-ldm.html#x) " in there
    assert b"/URI (../a.html) " in there
    assert b"(D:19700101000000+00'00')" in there


def test_what_cannot_be_printed_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def printing() -> Path:
        """In a thread of its own: in that of tests with a browser a loop of events runs already."""
        with ThreadPoolExecutor(1) as alone:
            return alone.submit(printed_summary.print_summary, tmp_path, 0).result()

    with pytest.raises(printed_summary.NotPrinted, match="no such page"):
        printing()
    page = tmp_path / printed_summary.PAGE
    page.parent.mkdir()
    page.write_text('<p class="take-along as-pdf"></p>')
    monkeypatch.setattr(printed_summary, "chromium", lambda own: "")
    with pytest.raises(printed_summary.NotPrinted, match="no Chromium here"):
        printing()
    monkeypatch.setattr(printed_summary, "chromium", lambda own: "/bin/false")
    with pytest.raises(printed_summary.NotPrinted, match="Chromium cannot print it"):
        printing()
    assert "href" not in page.read_text()  # no link to a file that is not there
    for _ in range(2):
        printed_summary.link_to_pdf(page)
    assert page.read_text().count(f'href="{printed_summary.NAME}"') == 1
