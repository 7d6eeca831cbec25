"""What makes the book pleasant: boxes that run a page again, sizes of figures, entries of the search."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import nbformat
import pytest

from marginbook.base.project import resource
from marginbook.base.rooms import rooms
from marginbook.book import check_pages, image_sizes, rerun_boxes, scoreboard_table, search_entries
from marginbook.claims import Claim, Evidence, Kind, Verdict, ledger
from marginbook.claims.catalogue import listed
from marginbook.claims.show import _card
from marginbook.notebooks import Parameter, available, parameters
from marginbook.notebooks.parameters import convert

from ..settled import SETTLED

BOOKS = sorted(available())


@pytest.mark.parametrize("id", BOOKS)
def test_the_command_of_a_box_gives_every_parameter_its_default(id: str) -> None:
    declared = parameters(available()[id].read())
    words = shlex.split(rerun_boxes.command(id, declared).replace("\\\n", ""))
    assert words[:3] == ["marginbook", "run", id]
    assert words[-1] == "--html"
    flags, names, values = words[3:-1:3], words[4:-1:3], words[5:-1:3]
    assert set(flags) <= {"-p"}
    assert convert(declared, zip(names, values, strict=True)) == {
        item.name: item.default for item in declared
    }


def test_awkward_words_reach_the_notebook_as_they_are() -> None:
    for word in ("it's", "5", "null", "two words", '"quoted"', "$HOME"):
        item = Parameter("a", "str", word, "")
        line = shlex.split(rerun_boxes.command("drm/01_x", [item]).replace("\\\n", ""))
        assert convert([item], [(line[4], line[5])]) == {"a": word}


def notebook() -> nbformat.NotebookNode:
    cells = [
        nbformat.v4.new_markdown_cell("# Title\n\nStory.", id="one"),
        nbformat.v4.new_code_cell(
            "rate: float = 0.5  # as `fit` takes it, a_b", metadata={"tags": ["parameters"]}, id="two"
        ),
    ]
    return nbformat.v4.new_notebook(cells=cells)


def test_a_page_gets_its_box_and_the_files_to_take_away_do_not(tmp_path: Path) -> None:
    executed, text = tmp_path / "run.ipynb", tmp_path / "text.md"
    nbformat.write(notebook(), executed)
    text.write_text("# Title\n")
    source = tmp_path / "source"
    rerun_boxes.place("drm/01_x", executed, text, source)
    page = nbformat.read(source / "notebooks/drm/01_x.ipynb", as_version=4)
    assert [cell.cell_type for cell in page.cells] == ["markdown", "markdown", "code"]
    box = page.cells[1].source
    for piece in ("-p rate 0.5", "`rate`", "`float`", "as `fit` takes it, a\\_b", "</downloads/drm/01_x.md>"):
        assert piece in box
    taken = nbformat.read(source / "downloads/drm/01_x.ipynb", as_version=4)
    assert 'form("drm/01_x")' in taken.cells.pop(1).source
    assert taken == nbformat.read(executed, as_version=4)
    exercises = notebook()
    exercises.cells.append(nbformat.v4.new_code_cell("1", metadata={"tags": ["solution"]}, id="three"))
    assert rerun_boxes.with_form("drm/07_exercises", exercises) == exercises
    assert (source / "downloads/drm/01_x.md").read_bytes() == text.read_bytes()
    before = (source / "notebooks/drm/01_x.ipynb").read_bytes()
    rerun_boxes.place("drm/01_x", executed, text, source)
    assert (source / "notebooks/drm/01_x.ipynb").read_bytes() == before


def test_a_notebook_without_parameters_says_so() -> None:
    assert "It takes no parameters." in rerun_boxes.box("drm/01_x", [])


def test_figures_get_their_pixels_once(tmp_path: Path) -> None:
    from PIL import Image

    Image.new("RGB", (30, 20)).save(tmp_path / "a b.png")
    page = tmp_path / "page.html"
    page.write_text(
        '<img alt="x" src="a%20b.png"/><img src="a%20b.png" style="width: 50%"/>'
        '<img src="gone.png"><img src="data:image/png;base64,">'
    )
    assert image_sizes.give_sizes(tmp_path) == 1
    assert page.read_text().startswith('<img width="30" height="20" alt="x" src="a%20b.png"/><img src=')
    assert image_sizes.give_sizes(tmp_path) == 0


@pytest.mark.parametrize(
    ("where", "entries"),
    [
        ("Theorem VI.3 and equation (19)", "!Theorem VI.3, !Equation (19)"),
        ("Section 5.4, Figures 24 to 27", "!Section 5.4, !Figure 24"),
        ("Table VIII, the mean", "!Table VIII"),
        ("Abstract; first line!", "!Abstract first line"),
    ],
)
def test_the_search_knows_the_numbers_of_a_place(where: str, entries: str) -> None:
    claim = Claim("drm/x.1", where, "", "", lambda: None)  # type: ignore[arg-type, return-value]
    assert search_entries.search_entries(claim).startswith(
        f"```{{index}} {entries}\n:name: evidence-drm-x-1\n"
    )


def test_every_count_of_the_scoreboard_is_a_link() -> None:
    verdicts = {
        "drm/a": Verdict.HOLDS,
        "drm/b": Verdict.HOLDS,
        "ldm/a": Verdict.HOLDS,
        "ldm/b": Verdict.FAILS,
    }
    found = {
        id: Evidence(verdict=verdict, measured="", claimed="", slack=None, why="", sizes={}, seeds=())
        for id, verdict in verdicts.items()
    }
    kinds = dict.fromkeys(verdicts, Kind.PROOF) | {"ldm/a": Kind.OURS}
    text = scoreboard_table.scoreboard_table(kinds, found)
    counts = re.findall(r'href="claims([^"]+)">(\d+) ', text)
    assert counts == [
        ("-drm.html?kind=paper&amp;verdict=holds#ledger-drm", "2"),
        ("-ldm.html?kind=paper&amp;verdict=fails#ledger-ldm", "1"),
        ("-ldm.html?kind=ours&amp;verdict=holds#ledger-ldm", "1"),
        (".html?kind=paper&amp;verdict=holds", "2"),
        (".html?kind=paper&amp;verdict=fails", "1"),
        (".html?kind=ours&amp;verdict=holds", "1"),
    ]


def test_every_row_of_the_scoreboard_has_the_order_of_the_verdicts_in_words() -> None:
    verdicts = {"drm/a": Verdict.NOT_REPRODUCED, "ldm/a": Verdict.HOLDS, "ldm/b": Verdict.NOT_TESTABLE}
    found = {
        id: Evidence(verdict=verdict, measured="", claimed="", slack=None, why="", sizes={}, seeds=())
        for id, verdict in verdicts.items()
    }
    text = scoreboard_table.scoreboard_table(dict.fromkeys(verdicts, Kind.PROOF), found)
    shown = re.findall(r'verdict=([a-z-]+)[^>]*>1 <span class="verdict verdict-([a-z-]+)">([^<]+)<', text)
    assert [words for *_, words in shown[-3:]] == ["holds", "not reproduced", "not testable"]
    assert all(query == style == words.replace(" ", "-") for query, style, words in shown)


def test_a_card_of_evidence_leads_to_the_ledger_of_its_paper() -> None:
    card = {
        "output_type": "display_data",
        "metadata": {},
        "data": {"text/html": '<a data-claim="ldm-thm-3">x</a>'},
    }
    cell = nbformat.from_dict({"cell_type": "code", "outputs": [card], "source": "", "metadata": {}})
    (output,) = rerun_boxes.as_read(cell).outputs
    assert output.data["text/html"] == '<a href="../../book/claims-ldm.html#evidence-ldm-thm-3">x</a>'


def card(measured: str) -> str:
    found = Evidence(
        verdict=Verdict.HOLDS, measured=measured, claimed="0", slack=None, why="so", sizes={}, seeds=()
    )
    return _card(listed(["ldm/thm-3"])[0], found)


def read(html: str, source: str = "", tags: Sequence[str] = ()) -> nbformat.NotebookNode:
    output = {"output_type": "execute_result", "metadata": {}, "data": {"text/html": html}}
    raw = {"cell_type": "code", "outputs": [output], "source": source, "metadata": {"tags": list(tags)}}
    return rerun_boxes.as_read(nbformat.from_dict(raw))


def test_a_card_keeps_verdict_and_statement_in_sight_and_folds_more_than_a_few_numbers() -> None:
    for many in (False, True):
        # tags and entities are not what a reader sees
        measured = "1 < 2 and 10^-5; " * 7 + "and so on. " * many
        html = read(card(measured)).outputs[0].data["text/html"]
        seen, _, behind = html.partition("<details>")
        assert 'class="verdict verdict-holds">holds<' in seen
        assert "evidence-ldm-thm-3" in seen
        assert ("Measured:" in seen, "Measured:" in behind) == (not many, many)
        assert behind.startswith(f"<summary>{'The numbers, and why' if many else 'Why'}</summary>")
        assert html.count("Measured:") == 1
        assert behind.endswith("</details></div>")


def test_a_card_leads_to_the_code_of_its_check() -> None:
    (claim,) = listed(["ldm/thm-3"])
    html = read(card("1")).outputs[0].data["text/html"]
    assert f'<a href="../../{check_pages.address(claim)}"><code>{claim.function}</code> in <code>' in html


def test_a_cell_that_is_only_evidence_is_not_behind_a_button() -> None:
    for tag in ("hide-input", "hide-cell"):
        assert read("", 'show("ldm/thm-3")', [tag, "x"]).metadata.tags == ["x", "remove-input"]
        assert read("", 'display(table)\nshow("ldm/thm-3")', [tag]).metadata.tags == [tag]


@pytest.mark.parametrize("id", BOOKS)
def test_no_card_of_a_notebook_is_behind_a_button(id: str) -> None:
    for cell in map(rerun_boxes.as_read, available()[id].read_stored().cells):
        shown = any(
            "evidence-card" in out.get("data", {}).get("text/html", "") for out in cell.get("outputs", [])
        )
        assert not shown or not {"hide-cell", "hide-output"} & set(cell.metadata.get("tags", [])), cell.source


def test_the_code_of_every_check_is_a_page_with_a_place_for_it(tmp_path: Path) -> None:
    claims = ledger().values()
    check_pages.write(tmp_path, claims)
    pages = {path: path.read_text("utf-8") for path in tmp_path.rglob("*.html")}
    for claim in claims:
        file, _, function = check_pages.address(claim).partition("#")
        assert f'def <span id="{function}">{function}</span>(' in pages[tmp_path / file], claim.id
    for path, text in pages.items():
        top = "../" * (len(path.relative_to(tmp_path).parts) - 1)
        assert f'href="{top}book/claims.html"' in text
    assert "<b>" not in check_pages.page("drm/claims/x.py", 'say("<b>")')


def test_a_notebook_says_to_the_search_what_it_treats() -> None:
    assert rerun_boxes.box("ldm/03_leave_one_out", []).startswith("```{index} !leave-one-out\n```\n")
    assert "{index}" not in rerun_boxes.box("drm/99_none", [])
    treated = {f"{room.key}/{name}" for room in rooms().values() for name in room.subjects}
    assert treated <= set(available())
    assert len(treated) >= 14


def glossary() -> dict[str, str]:
    text = resource("book", "glossary.md").read_text(encoding="utf-8")
    body = text.partition("```{glossary}\n")[2].partition("\n```")[0]
    return dict(re.findall(r"^(\S.*)\n((?:  .*\n?)+)", body + "\n", re.MULTILINE))


def test_the_glossary_is_in_order_and_explains_words_that_the_book_uses() -> None:
    def words(text: str) -> str:
        return " ".join(re.sub("[-_]", " ", text.lower()).split())

    terms = [words(term) for term in glossary()]
    assert len(terms) >= 40
    assert terms == sorted(terms)
    pages = [path for path in resource("book").glob("*.md") if path.stem != "glossary"]
    pages += [book.text for book in available().values()]
    used = " ".join(words(path.read_text(encoding="utf-8")) for path in pages)
    assert [term for term in terms if term not in used] == []


def test_the_notation_page_has_a_table_for_each_room_and_names_that_the_code_has() -> None:
    text = resource("book", "notation.md").read_text(encoding="utf-8")
    parts = dict(
        re.findall(r"^\(notation-(\w+)\)=\n(.*?)(?=^\(notation-|\Z)", text, re.MULTILINE | re.DOTALL)
    )
    assert set(SETTLED) <= set(parts)
    for room in SETTLED:
        sources = "".join(
            path.read_text(encoding="utf-8")
            for folder in (resource("src", "marginbook", room), resource("src", "marginbook"))
            for path in (
                folder.rglob("*.py") if folder.name == room else [folder / "kernels" / "__init__.py"]
            )
        )
        rows = re.findall(r"^\* - .*\n  - .*\n  -(.*)$", parts[room], re.MULTILINE)
        assert len(rows) >= 10
        names = {
            word
            for row in rows
            for code in re.findall("`([^`]+)`", row)
            for word in re.findall(r"[A-Za-z]\w*", code)
        }
        assert sorted(name for name in names if not re.search(rf"\b{name}\b", sources)) == []
