"""The errata: the claims that did not survive and no others; their corrections, the rule, page and file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from marginbook.book import errata_pages
from marginbook.book.checked_claims import Checked
from marginbook.claims import Claim, Evidence, Kind, Verdict, check, ledger
from marginbook.claims import errata as module
from marginbook.claims.errata import (
    MEANING,
    PAPERS,
    Change,
    Erratum,
    Severity,
    Unclassified,
    document,
    entries,
    errata,
    of_a_paper,
    schema,
    severity,
)

WRONG = (Verdict.CORRECTED, Verdict.FAILS)


def made(id: str, verdict: Verdict, kind: Kind = Kind.PROOF) -> tuple[dict[str, Claim], dict[str, Evidence]]:
    evidence = Evidence(
        verdict=verdict,
        measured="error 3.1e-15",
        claimed="0",
        slack=-1.0,
        why="Because\nof it.",
        sizes={"n": [2, 30]},
        seeds=(0, 1),
    )
    claim = Claim(id, "Theorem 1", "$a = b$ always", "drm/01_x#place", lambda: evidence, kind=kind)
    return {id: claim}, {id: evidence}


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {
        "drm/a": (Change.NUMBER, "It is 2."),
        "ldm/b": (Change.NOTATION, "$a<b$"),
        "kfda/c": (Change.SCOPE, "x"),
    }
    monkeypatch.setattr(module, "entries", lambda: table)


@pytest.mark.parametrize("id", [id for id, claim in ledger().items() if of_a_paper(claim)])
def test_what_does_not_survive_has_a_correction_and_nothing_else_has(id: str) -> None:
    assert (check(id).verdict in WRONG) == (id in entries())


def test_a_correction_belongs_to_a_claim_of_a_paper() -> None:
    assert [id for id in entries() if id not in ledger() or not of_a_paper(ledger()[id])] == []


@pytest.mark.parametrize("id", list(entries()))
def test_a_correction_is_a_sentence_that_differs_from_what_is_printed(id: str) -> None:
    _, true = entries()[id]
    assert true.count("$") % 2 == 0
    assert true.endswith(".")
    assert true.strip() == true != ledger()[id].statement
    assert "\n" not in true
    assert len(true) <= 180


@pytest.mark.parametrize("id", list(entries()))
def test_a_correction_can_be_read_alone(id: str) -> None:
    first = entries()[id][1].split(maxsplit=1)[0]
    # a pronoun would stand for something in what is printed
    assert first not in {"It", "They", "This", "That", "These", "Those", "All"}


def test_severity_follows_from_verdict_and_change() -> None:
    assert {severity(Verdict.FAILS, change) for change in Change} == {Severity.SERIOUS}
    assert [severity(Verdict.CORRECTED, change) for change in Change] == [
        Severity.SERIOUS, Severity.MODERATE, Severity.MODERATE,
        Severity.SLIGHT, Severity.SLIGHT, Severity.SLIGHT,
    ]  # fmt: skip
    assert list(MEANING) == list(Change)


def test_an_erratum_without_a_correction_is_named(known: None) -> None:
    with pytest.raises(
        Unclassified, match=r"smm/new did not survive .* add a table with `changes` and `true`"
    ):
        errata(*made("smm/new", Verdict.FAILS))


@pytest.mark.parametrize(
    ("id", "kind", "verdict"),
    [
        ("drm/a", "ours", Verdict.FAILS),
        ("bridge/a", "proof", Verdict.FAILS),
        ("drm/a", "proof", Verdict.HOLDS),
        ("drm/a", "experiment", Verdict.NOT_REPRODUCED),
    ],
)
def test_what_is_ours_or_true_or_not_reproduced_is_no_erratum(
    known: None, id: str, kind: str, verdict: Verdict
) -> None:
    assert errata(*made(id, verdict, Kind(kind))) == []


@pytest.fixture
def found(known: None) -> list[Erratum]:
    made_up = [made("drm/a", Verdict.CORRECTED), made("ldm/b", Verdict.FAILS)]
    claims = {id: claim for own, _ in made_up for id, claim in own.items()}
    return errata(claims, {id: evidence for _, own in made_up for id, evidence in own.items()})


def test_the_file_obeys_its_schema(found: list[Erratum]) -> None:
    Draft202012Validator.check_schema(schema())
    content = json.loads(module.as_json(found))
    Draft202012Validator(schema()).validate(content)
    assert content["errata"][0]["true"] == "It is 2."
    assert content["errata"][0]["severity"] == "slight"
    assert content["errata"][1]["severity"] == "serious"
    assert content["errata"][1]["evidence"]["why"] == "Because of it."
    assert list(content["papers"]) == list(PAPERS)


@pytest.mark.parametrize(
    ("field", "value"),
    [("severity", "grave"), ("verdict", "holds"), ("true", ""), ("id", "bridge/a"), ("more", 1)],
)
def test_the_schema_refuses_what_it_does_not_describe(found: list[Erratum], field: str, value: Any) -> None:
    content = document(found)
    content["errata"][0][field] = value
    with pytest.raises(ValidationError):
        Draft202012Validator(schema()).validate(content)


def test_the_schema_describes_every_field_and_has_the_words_of_the_library() -> None:
    whole = schema()["properties"]
    one = whole["errata"]["items"]["properties"]
    for fields in (whole, one, one["evidence"]["properties"]):
        assert [name for name, field in fields.items() if not field.get("description")] == []
    assert one["changes"]["enum"] == [str(change) for change in Change]
    assert one["severity"]["enum"] == [str(grave) for grave in Severity]
    assert one["paper"]["enum"] == list(PAPERS)
    assert whole["layout"]["const"] == module.LAYOUT


def test_the_page_has_a_row_for_each_and_the_files_lie_beside_it(
    found: list[Erratum], tmp_path: Path
) -> None:
    claims = {erratum.claim.id: erratum.claim for erratum in found}
    folder = tmp_path / "_generated"
    folder.mkdir()
    evidence = {e.claim.id: e.evidence for e in found}
    errata_pages.write(folder, Checked(claims, evidence, {"drm/01_x"}))
    text = (folder / "errata.md").read_text()
    for piece in (
        "`drm/a`", "It is 2.", "$a<b$", "error $3.1 \\times 10^{-15}$", "(#evidence-drm-a)", "(#place)",
        "[serious]{.verdict .severity-serious}\\\n    notation", "{cite:p}`zhang_large`",
        "No statement of the paper that was checked so far needs a correction.",
    ):  # fmt: skip
        assert piece in text
    rule = (folder / "errata-rule.md").read_text()
    assert all(meaning in rule for meaning in MEANING.values())
    chapters = {room: (folder / f"errata-{room}.md").read_text() for room in PAPERS}
    for piece in ("[slight]{.verdict .severity-slight} [Theorem 1](#evidence-drm-a)", "*True:* It is 2.\n"):
        assert piece in chapters["drm"]
    assert "ldm" not in chapters["drm"]
    assert "*Printed:* $a = b$ always.\n" in chapters["ldm"]
    assert chapters["smm"] == errata_pages.NONE
    content = json.loads((tmp_path / "_static" / "errata.json").read_text())
    assert [record["id"] for record in content["errata"]] == ["drm/a", "ldm/b"]
    assert json.loads((tmp_path / "_static" / content["$schema"]).read_text()) == schema()


def test_serious_errata_come_first(found: list[Erratum]) -> None:
    slight = found[0]
    grave = replace(slight, change=Change.CONCLUSION, claim=replace(slight.claim, id="drm/z"))
    text = errata_pages.section("drm", [slight, grave], set())
    assert text.index("`drm/z`") < text.index("`drm/a`")
    listed = errata_pages.chapter([slight, grave])
    assert listed.index("evidence-drm-z") < listed.index("evidence-drm-a")


def test_the_command_prints_a_table_and_the_file(cli: Any) -> None:
    shown = cli("errata", "ldm", "--severity", "serious", "--n-jobs", "1")
    assert shown.exit_code == 0
    assert "ldm/thm-3" in shown.output
    assert "ldm/eq-4" not in shown.output
    content = json.loads(cli("errata", "ldm", "--json", "--n-jobs", "1").output)
    Draft202012Validator(schema()).validate(content)
    assert {record["id"] for record in content["errata"]} == {id for id in entries() if id.startswith("ldm/")}
    assert cli("errata", "nobody").exit_code == 2


def test_a_paper_without_errata_is_told_in_a_sentence(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marginbook.claims.errata_command.entries", dict)
    assert cli("errata", "ldm").output == "no errata\n"
    assert cli("errata", "ldm", "--severity", "slight").output == "no errata of severity slight\n"
    assert json.loads(cli("errata", "ldm", "--json").output)["errata"] == []


@pytest.mark.browser
def test_the_built_book_offers_the_file_and_shows_each_erratum(html: Path) -> None:
    content = json.loads((html / "_static" / "errata.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema()).validate(content)
    page = (html / "book" / "errata.html").read_text(encoding="utf-8")
    (downloaded,) = {path.read_text(encoding="utf-8") for path in html.glob("_downloads/*/errata.json")}
    assert json.loads(downloaded) == content
    assert {record["id"] for record in content["errata"]} == set(entries())
    assert [record["id"] for record in content["errata"] if f">{record['id']}<" not in page] == []
