"""The generated pages say what the ledger, the registry and the results say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from marginbook.base.project import resource
from marginbook.base.public import public_names
from marginbook.book import api_pages, bench_pages, data_page, ledger_pages, myst, result_pages
from marginbook.book.checked_claims import Checked
from marginbook.book.search_entries import evidence_anchor
from marginbook.claims import Claim, Evidence, Verdict, check, ledger
from marginbook.claims.read_as import NOT_STORED, ReadAs, all_readings
from marginbook.datasets import registry
from marginbook.experiments import load_protocol, read_results
from marginbook.notebooks import available
from marginbook.quality.benchmarking import tables as bench_tables


def entry(id: str, verdict: Verdict, notebook: str = "drm/01_x#place") -> tuple[Claim, Evidence]:
    claim = Claim(id, f"Place of {id}", "$a = b$ always", notebook, lambda: evidence)
    evidence = Evidence(
        verdict=verdict,
        measured="error 3.1e-15",
        claimed="at most 1e-10",
        slack=1e-10,
        why="Because.",
        sizes={"n": [2, 30]},
        seeds=(0, 1),
    )
    return claim, evidence


@pytest.fixture
def written(tmp_path: Path) -> Path:
    entries = [entry("drm/a", Verdict.HOLDS), entry("drm/b.2", Verdict.FAILS), entry("drm/c", Verdict.HOLDS)]
    claims = {claim.id: claim for claim, _ in entries}
    evidence = {claim.id: found for claim, found in entries}
    ledger_pages.write(tmp_path, Checked(claims, evidence, {"drm/01_x"}))
    return tmp_path


def test_the_ledger_has_a_row_with_an_anchor_and_the_evidence_of_each_claim(written: Path) -> None:
    text = (written / "claims-drm.md").read_text()
    for slug, verdict in (("drm-a", "holds"), ("drm-b-2", "fails"), ("drm-c", "holds")):
        assert f"]{{#claim-{slug}}}" in text
        assert f"[{verdict}]{{.verdict .verdict-{verdict}}}" in text
    assert text.count("````{dropdown}") == 3
    for piece in (
        "$3.1 \\times 10^{-15}$",
        "at most $10^{-10}$",
        "n: \\[2, 30\\]; seeds: \\[0, 1\\]",
        "(#place)",
    ):
        assert piece in text


def test_the_overview_has_a_row_for_each_claim_and_no_formula(written: Path) -> None:
    text = (written / "claims.md").read_text()
    assert text.count("\n* - [") == 3
    assert "[Place of drm/b.2](#evidence-drm-b-2)" in text
    assert "- DRM\n" in text
    assert "$" not in text
    assert (written / "claims-ldm.md").read_text() == "No claim has been entered yet.\n"


def test_the_scoreboard_counts(written: Path) -> None:
    text = (written / "scoreboard.md").read_text()
    assert "- Discriminative Ridge Machine\n  - <span" in text
    assert 'claims-drm.html?kind=paper&amp;verdict=holds#ledger-drm">2 <span' in text
    assert 'claims-drm.html?kind=paper&amp;verdict=fails#ledger-drm">1 <span' in text
    assert "reproduced" not in text


def test_no_link_goes_to_a_notebook_that_is_not_in_the_book() -> None:
    assert ledger_pages.notebook_link("drm/09_later#x", {"drm/01_x"}) == ""
    assert ledger_pages.page_link("drm/09_later#x", {"drm/01_x"}) == ""
    assert "../notebooks/drm/01_x.ipynb" in ledger_pages.notebook_link("drm/01_x", {"drm/01_x"})


def test_a_section_of_a_notebook_named_after_the_claim_is_not_mistaken_for_its_row(tmp_path: Path) -> None:
    claim, evidence = entry("drm/a", Verdict.HOLDS, "drm/01_x#drm-a")
    ledger_pages.write(tmp_path, Checked({claim.id: claim}, {claim.id: evidence}, {"drm/01_x"}))
    ledger, chapter = ((tmp_path / name).read_text() for name in ("claims-drm.md", "verdicts-drm.md"))
    assert r"Shown in [drm/01\_x](#drm-a)" in ledger
    assert "[drm/01](#drm-a)" in ledger
    assert "[drm/01](#drm-a)" in chapter
    assert "[Place of drm/a](#evidence-drm-a)" in chapter
    assert "{#drm-a}" not in ledger  # else the link would end in the ledger itself


def test_the_ledger_takes_no_name_that_a_notebook_has() -> None:
    texts = [notebook.text.read_text(encoding="utf-8") for notebook in available().values()]
    taken = {name for text in texts for name in re.findall(r"^\(([\w.-]+)\)=$", text, re.MULTILINE)}
    ours = {name(claim) for claim in ledger().values() for name in (ledger_pages.row_anchor, evidence_anchor)}
    assert len(ours) == 2 * len(ledger())
    assert ours & taken == set()


def test_every_claim_points_at_a_place_in_a_notebook() -> None:
    notebooks = {id: notebook.text.read_text(encoding="utf-8") for id, notebook in available().items()}
    for claim in ledger().values():
        id, _, anchor = claim.notebook.partition("#")
        assert id in notebooks, claim.id
        assert not anchor or f"({anchor})=" in notebooks[id], claim.id


def test_the_data_page_has_every_set_and_why_some_are_missing(tmp_path: Path) -> None:
    data_page.write(tmp_path)
    text = (tmp_path / "data.md").read_text()
    entries = registry()
    for name, item in entries.items():
        assert f"`{name}`" in text
        if not item.available:
            assert myst.plain(item.reason) in text
    assert f"{len(entries)} data sets" in text
    assert data_page._tables(("drm/table-7", "drm/table-8", "ldm/table-1")) == "drm 7, 8; ldm 1"


def test_the_printed_layout_has_data_sets_down_and_methods_across() -> None:
    row = {
        "dataset": "glass2",
        "printed_mean": 0.7,
        "ours_mean": 0.71,
        "verdict": "reproduced",
        "direction": "",
    }
    lower = {**row, "verdict": "not-reproduced", "direction": "ours lower", "ours_mean": 0.1}
    text = result_pages.as_printed([{**row, "method": "A_1"}, {**lower, "method": "B"}])
    assert "* - data set\n  - A\\_1\n  - B\n* - `glass2`\n  - 0.700\\\n    **0.710** =\n" in text
    assert "**0.100** ↓" in text


def test_an_experiment_with_nothing_printed_shows_its_means() -> None:
    protocol = load_protocol("smm/bumps")
    stored = read_results(protocol.id)
    text = result_pages.ours(protocol)
    for (dataset, method), rows in stored.groupby(["dataset", "method"])[protocol.metric]:
        assert f"`{dataset}`" in text
        assert f"- {method}\n" in text
        assert f"- {rows.mean():#.3g} ± {rows.std():#.2g}\n" in text
    assert text in result_pages.section("smm/bumps")[0]


def test_a_table_of_which_one_metric_is_shown_has_the_counts_of_the_readings() -> None:
    best = ReadAs("table-1", "one_way", 124, 130, 1.0, "undecided")
    text, agreed = result_pages.section("kfda/table-1", [best, best._replace(reading="other", agree=9)])
    assert agreed == "124 of 130"
    assert "124 of 130 agree in the reading that agrees best: one\\_way. [All readings](#readings)" in text
    assert "All readings" not in result_pages.section("kfda/table-1", [best._replace(table="table-2")])[0]


def test_lists_of_experiments_say_which_verdicts_came_out_and_link_each(tmp_path: Path) -> None:
    ids = ["kfda/table-1", "kfda/table-2"]
    claims = dict(zip(ids, (entry(ids[0], "undecided"), entry(ids[1], "partly")), strict=True))
    checked = Checked(
        {id: claim for id, (claim, _) in claims.items()},
        {id: found for id, (_, found) in claims.items()},
        set(),
    )
    result_pages.write(tmp_path, {}, checked)
    text = (tmp_path / "results.md").read_text("utf-8")
    assert text.startswith("Verdicts on them: 1 partly, 1 undecided.")
    assert text.count("[why](#evidence-kfda-table-") == 2
    assert (
        (tmp_path / "results-kfda.md")
        .read_text("utf-8")
        .startswith("Verdicts on these tables and figures: 1 pa")
    )
    assert "Verdicts on" not in (tmp_path / "results-smm.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [(["reproduced"], False), (["reproduced", "not-testable"], True), (["not printed"], True)],
)
def test_cells_without_a_sign_are_explained_where_there_are_some(verdicts: list[str], said: bool) -> None:
    rows = [{"verdict": verdict, "direction": "", "ours_mean": 0.5} for verdict in verdicts]
    assert ("no sign" in result_pages._unmarked(rows)) == said


def test_every_name_that_a_room_exports_is_on_one_page_of_the_reference() -> None:
    pages = resource("book", "api")
    included = [
        name
        for path in sorted(pages.rglob("*.md"))
        for name in re.findall(r"_generated/api-(\w+)\.md", path.read_text("utf-8"))
        if name in public_names()
    ]
    with_chapter = [
        name
        for name, place in public_names().items()
        if resource("book", f"{place.rpartition('.')[2]}.md").is_file()
    ]
    assert sorted(included) == sorted(with_chapter)
    text = api_pages.of_name("LDMClassifier")
    assert ".. currentmodule:: marginbook.ldm\n" in text
    assert ".. autoclass:: LDMClassifier\n" in text


def test_the_reference_lists_what_a_module_exports() -> None:
    text = api_pages.reference("marginbook.drm")
    assert ".. autoclass:: DRMClassifier\n" in text
    assert "set_score_request" in text  # excluded, by name
    assert ".. autofunction:: root\n" in api_pages.reference("marginbook.base.project")


def test_ratios_with_a_goal_come_first_and_sizes_are_told(tmp_path, monkeypatch) -> None:
    place = "python,numpy,machine,blas\n", "3.11,2.4,x86_64,openblas\n"
    (tmp_path / "ldm.csv").write_text(
        f"what,ratio,goal,met,{place[0]}fit,60,50,yes,{place[1]}hard margin,184,,,{place[1]}"
    )
    (tmp_path / "ldm-sparse.csv").write_text("m,C,what,value,goal,met\n300000,10.0,sparse,0.45,1.5,yes\n")
    monkeypatch.setattr(bench_tables, "resource", lambda *parts: tmp_path / parts[-1])
    text = bench_pages.section("ldm")
    shown, _, hidden = text.partition("Other ratios")
    assert "* - fit\n  - 60\n  -\n  - 50\n  - yes" in shown
    assert "* - sparse, m = 300,000, C = 10\n  - 0.45\n  -\n  - 1.5\n  - yes" in shown
    assert "hard margin" not in shown
    assert "* - hard margin\n  - 184" in hidden
    assert "`make bench PAPER=kfda`" in bench_pages.section("kfda")
    assert "there is no `benchmarks/toy.py`" in bench_pages.section("toy")


def test_tables_refuse_rows_of_another_length() -> None:
    with pytest.raises(ValueError, match="a row has 1 cells, the table 2 headings"):
        myst.table(["a", "b"], [["x"]])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("error 4.4e-16", "error $4.4 \\times 10^{-16}$"),
        ("-2.6e-17 of K", "$-2.6 \\times 10^{-17}$ of K"),
        ("1e+06", "$10^{6}$"),
        ("drm/table-8e2", "drm/table-8e2"),
        ("$1e-3$ stays", "$1e-3$ stays"),
        ("0x1e-3 and a1e-3", "0x1e-3 and a1e-3"),
    ],
)
def test_powers_of_ten(text: str, shown: str) -> None:
    assert myst.powers(text) == shown


def test_readings_stand_side_by_side_the_best_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from marginbook.book import readings_page
    from marginbook.kfda.claims import side_by_side as kfda
    from marginbook.ldm.claims import side_by_side as ldm

    rows = [
        ReadAs("table-2", "one way", 3, 10, 2.5, "not-reproduced"),
        ReadAs("table-2", "another [way]", 9, 10, 0.25, "reproduced"),
        ReadAs("table-1", "one way", 5, 10, 1.0, "partly"),
        ReadAs("table-1", "by its one cell", 1, 1, 1.0, "partly"),
    ]
    monkeypatch.setattr(ldm, "side_by_side", lambda: rows)
    monkeypatch.setattr(kfda, "side_by_side", list)
    readings_page.write(tmp_path, all_readings())
    text = (tmp_path / "readings.md").read_text()
    places = [text.index(f"{row.agree} of {row.tested}") for row in (rows[3], rows[2], rows[1], rows[0])]
    assert places == sorted(places)
    assert r"another \[way\]" in text
    assert "[reproduced]{.verdict .verdict-reproduced}" in text


def test_every_table_with_several_readings_has_its_verdict_of_the_best() -> None:
    for room, rows in all_readings().items():
        first = {row.table: row for row in reversed(rows)}
        assert first, room
        for table, row in first.items():
            claim = f"{room}/{table.replace('figure-', 'fig-')}"
            # one that has not been run may agree better yet
            waits = any(other.table == table and other.verdict == NOT_STORED for other in rows)
            assert check(claim).verdict in (row.verdict, *(["undecided"] if waits else [])), (room, table)


def test_the_labels_on_phones_are_those_of_the_columns() -> None:
    css = resource("book", "_static", "reading.css").read_text(encoding="utf-8")
    labels = re.findall(
        r'\(\.verdicts, \.overview\) td:nth-child\((\d)\)::before \{ content: "([\w ]+): "', css
    )
    assert len(labels) == 1
    for headings in (ledger_pages.HEADINGS, ledger_pages.EVERY):
        assert [headings[int(place) - 1] for place, _ in labels] == [word.lower() for _, word in labels]


def test_a_page_of_a_task_begins_with_a_list_of_what_it_has() -> None:
    for path in sorted(resource("book", "api", "tasks").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        listed = re.findall(r"\{py:obj\}`~([\w.]+)`", text)
        held = [name for name in re.findall(r"_generated/api-(\w+)\.md", text) if name in public_names()]
        assert listed == [f"{public_names()[name]}.{name}" for name in held], path.name
