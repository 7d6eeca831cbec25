"""Every printed table and figure leads to a command, and to a place in the book."""

from __future__ import annotations

from pathlib import Path

import pytest

from marginbook.base.project import root
from marginbook.book import exhibit_pages
from marginbook.book.checked_claims import Checked
from marginbook.book.exhibit_pages import Exhibit, beyond, claims_about, commands, exhibits, mentions
from marginbook.claims import Claim, Evidence, Kind, Verdict, ledger
from marginbook.claims.errata import PAPERS, of_a_paper
from marginbook.experiments import experiments, load_protocol


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("Table VIII", {("Table", 8)}),
        ("Tables II and III", {("Table", 2), ("Table", 3)}),
        ("Tables 2, 3 and 5", {("Table", 2), ("Table", 3), ("Table", 5)}),
        ("Section 5.3.3, Figures 9 to 11", {("Figure", 9), ("Figure", 10), ("Figure", 11)}),
        ("Figures 2, 4 to 5 and 7", {("Figure", 2), ("Figure", 4), ("Figure", 5), ("Figure", 7)}),
        ("Table IX and Figure 4", {("Table", 9), ("Figure", 4)}),
        ("Tables 1 and 2, Section 4.1", {("Table", 1), ("Table", 2)}),
        ("Section VII-A2, footnote 1", set()),
        ("Theorem 3", set()),
    ],
)
def test_places_are_read_from_text(text: str, places: set[tuple[str, int]]) -> None:
    assert mentions(text) == places


@pytest.mark.parametrize("room", PAPERS)
def test_the_list_has_no_gaps_and_all_that_claims_and_protocols_name(room: str) -> None:
    listed = [place for exhibit in exhibits() if exhibit.room == room for place in sorted(exhibit.places)]
    assert len(listed) == len(set(listed))
    for kind in ("Table", "Figure"):
        numbers = sorted(number for what, number in listed if what == kind)
        assert numbers == list(range(1, len(numbers) + 1))
    texts = [claim.where for claim in ledger().values() if claim.paper == room]
    texts += [load_protocol(id).title for id in experiments() if id.startswith(f"{room}/")]
    named = {place for text in texts for place in mentions(text)}
    assert named - set(listed) == set()


@pytest.mark.parametrize("exhibit", exhibits(), ids=lambda exhibit: f"{exhibit.room} {exhibit.name}")
def test_each_leads_to_a_command_or_a_page(exhibit: Exhibit) -> None:
    home = root()
    assert home is not None
    about = claims_about(exhibit, ledger().values())
    typed = commands(exhibit, about)
    assert typed or exhibit.page
    for command in typed:
        program, *words = command.split()
        if program == "make":
            assert words == ["bench", f"PAPER={exhibit.room}"]
            assert (home / "benchmarks" / f"{exhibit.room}.py").is_file()
        elif words[0] == "experiment":
            assert words[2] in experiments()
        elif words[0] == "claims":
            assert words[1] in ledger()
        else:
            assert words == ["data", "list"]
    if exhibit.page:
        assert (home / "book" / exhibit.page).resolve().with_suffix(".md").is_file()


def test_each_printed_table_that_a_run_compares_leads_to_that_run() -> None:
    typed = {
        command
        for exhibit in exhibits()
        for command in commands(exhibit, claims_about(exhibit, ledger().values()))
    }
    for id in experiments():
        if id.partition("/")[0] in PAPERS and load_protocol(id).printed:
            assert f"marginbook experiment run {id} --profile paper" in typed


def test_runs_of_ours_are_told_apart() -> None:
    assert "clasmk/layer-solvers" in beyond("clasmk")  # "Table 4 with weights that are not learned"
    assert "clasmk/table-4" not in beyond("clasmk")
    assert beyond("ldm") == []


def test_a_row_has_command_verdict_and_notebook(tmp_path: Path) -> None:
    wanted = {id: claim for id, claim in ledger().items() if of_a_paper(claim)}
    evidence = {
        id: Evidence(verdict=Verdict.PARTLY, measured="", claimed="", slack=None, why="") for id in wanted
    }
    exhibit_pages.write(tmp_path, Checked(wanted, evidence, {"drm/05_imbalanced"}))
    text = (tmp_path / "exhibits.md").read_text()
    for piece in (
        "* - Table VIII\n",
        "`marginbook experiment run drm/table-8 --profile paper`",
        "[partly]{.verdict .verdict-partly} [table-8](#evidence-drm-table-8)",
        "(#drm-table-8)",
        "The paper prints neither tables nor figures.",
    ):
        assert piece in text


def test_the_claim_about_the_numbers_comes_first() -> None:
    def entry(id: str, where: str, kind: Kind = Kind.EXPERIMENT) -> Claim:
        return Claim(
            id,
            where,
            "",
            "x",
            lambda: Evidence(verdict=Verdict.HOLDS, measured="", claimed="", slack=None, why=""),
            kind=kind,
        )

    entries = [
        entry("ldm/a", "Section 2, Table 3"),
        entry("ldm/b", "Tables 2 to 4"),
        entry("ldm/c", "Table 3"),
        entry("ldm/d", "Table 3", Kind.OURS),
        entry("drm/e", "Table 3"),
    ]
    about = claims_about(Exhibit("ldm", "Table 3", "x"), entries)
    assert [claim.id for claim in about] == ["ldm/c", "ldm/a", "ldm/b"]
