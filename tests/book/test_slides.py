"""Lecture slides: what is in a deck, from where, and that a file of slides asks nobody for anything."""

from __future__ import annotations

import hashlib
import re
import zipfile
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest

from marginbook.book import room_pages
from marginbook.book.coursework_page import HEADINGS
from marginbook.book.slides import Material, deck, making, write_deck, writing
from marginbook.book.slides.chapter import Block, Chapter, chapter, grid, plain, sentences
from marginbook.book.slides.deck import MOST, shared_out
from marginbook.book.slides.figures import main_figures
from marginbook.claims import Claim, Evidence, Kind, Verdict
from marginbook.claims.findings import Finding
from marginbook.claims.readable import as_html
from marginbook.datasets.dataset import FetchError

from ..settled import WITH_CHAPTER
from .slides_material import PIXEL, ROOMS, heads, material

TEXT = """# A chapter

**The problem.** Which?

```{figure} _generated/findings/ldm-idea.png
:alt: a dot
:class: finding

The dot. [More](#more)
```

**The idea.** {cite:t}`zhang_large` do $a. B$. It works.

## The model

It is [linear](#ldm-x):

$$
a = b .
$$

[All symbols](notation.md).

```{dropdown} More
Hidden.
```

## Should I use it?

Yes. See the [reference](api/ldm.md), and the [tables](results.md).

```python
# no heading
```

## Quiz

**1.** Why?

```{dropdown} Answer
So. [More](#more)
```

```{dropdown} 2. And then?
Nothing.
```

## Take away

- One.
"""


@pytest.fixture
def small(tmp_path: Path) -> Material:
    """A deck of one finding, one claim and no notebook."""
    picture = tmp_path / "ldm-1.png"
    picture.write_bytes(PIXEL)
    evidence = Evidence(verdict=Verdict.FAILS, measured="1", claimed="2", slack=-1.0, why="Because.")
    claim = Claim("ldm/thm", "Theorem 9", "$|a|=b$", "ldm/03_x#there", lambda: evidence, kind=Kind.PROOF)
    one = Finding("It fails", "By 3 points. See $x$.", {"ldm/thm": "fails"}, "ldm/03_x", holds=True)
    one = replace(one, picture=lambda: None, alt="a line", caption="It falls.")
    pictures = {"1": picture, "idea": tmp_path / "ldm-idea.png"}
    pictures["idea"].write_bytes(PIXEL)
    return Material("ldm", Chapter(TEXT), [one], pictures, {claim.id: claim}, {claim.id: evidence}, {})


def test_a_deck_says_what_chapter_finding_and_claim_say(small: Material) -> None:
    notebook = deck(small)
    nbformat.validate(notebook)
    assert heads(notebook)[1:] == [
        "The problem", "The idea", "The idea in a picture", "The model", "It fails", "It fails",
        "Theorems and proofs, checked", "Should I use it?", "Question 1", "Question 2", "To take away",
    ]  # fmt: skip
    texts = [cell.source for cell in notebook.cells]
    assert "- Zhang and Zhou (2014) do $a. B$.\n- It works." in texts
    assert "It is linear:\n\n$$\na = b .\n$$" in texts
    assert "- By 3 points.\n- See $x$." in texts
    assert any(
        "Theorem 9" in text and "verdict-fails" in text and "\\vert a\\vert =b" in text for text in texts
    )
    assert "Yes." in texts
    fragments = [
        cell.source for cell in notebook.cells if cell.metadata.slideshow["slide_type"] == "fragment"
    ]
    assert fragments == ["So.", "Nothing."]
    notes = [cell.source for cell in notebook.cells if cell.metadata.slideshow["slide_type"] == "notes"]
    assert notes == ["Measured:\n\n- Theorem 9: 1"]
    drawn = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [(cell.metadata.alt, cell.metadata.width) for cell in drawn] == [("a dot", 1), ("a line", 1)]
    assert not any("](" in text or "{cite" in text or "Hidden" in text for text in texts)
    assert deck(small) == notebook


def test_a_finding_that_no_longer_holds_refuses_the_deck(small: Material) -> None:
    other = replace(small.evidence["ldm/thm"], verdict=Verdict.HOLDS)
    with pytest.raises(ValueError, match="'It fails' is not true any more: ldm/thm is holds"):
        deck(replace(small, evidence={"ldm/thm": other}))
    with pytest.raises(ValueError, match="condition"):
        deck(replace(small, told=[replace(small.told[0], holds=False)]))


def test_a_room_without_chapter_and_findings_has_a_deck_of_its_claims(small: Material) -> None:
    claim = replace(small.claims["ldm/thm"], kind=Kind.OURS)
    bare = replace(small, chapter=Chapter(""), told=[], pictures={}, claims={claim.id: claim})
    assert heads(deck(bare))[1:] == ["What was checked"]


def test_a_finding_of_many_sentences_goes_on_with_the_rest(small: Material) -> None:
    said = [f"Sentence {number} is here." for number in range(9)]
    notebook = deck(replace(small, told=[replace(small.told[0], text=" ".join(said))]))
    lists = [cell.source.splitlines() for cell in notebook.cells if "- Sentence" in cell.source]
    assert [len(rows) for rows in lists] == [5, 4]
    assert [row for rows in lists for row in rows] == [f"- {sentence}" for sentence in said]
    assert [title for title in heads(notebook) if "It fails" in title] == [
        "It fails", "It fails", "It fails (continued)",
    ]  # fmt: skip


def test_beside_a_finding_stand_statements_that_fit(small: Material) -> None:
    claim = small.claims["ldm/thm"]
    texts = {
        "a": ("It is short", claim.where, Kind.PROOF),
        "b": ("It is long, " * 20, "Theorem 9 and equation (2)", Kind.PROOF),
        "c": ("It is long, " * 20, "Theorem 9", Kind.OURS),  # ours, so not what the paper's theorem says
        "d": (f"Short, with $a={'b' * 40}$", "Section 4", Kind.PROOF),
    }
    claims = {
        id: replace(claim, id=id, statement=text, where=where, kind=kind)
        for id, (text, where, kind) in texts.items()
    }
    told = [replace(small.told[0], needs=dict.fromkeys(claims, "fails"))]
    found = dict.fromkeys(claims, small.evidence["ldm/thm"])
    (column,) = (
        cell.source
        for cell in deck(replace(small, told=told, claims=claims, evidence=found)).cells
        if cell.metadata.part == "checked"
    )
    badge = '<span class="verdict verdict-fails">fails</span>'
    assert column.splitlines()[2:] == [
        f"- It is short {badge}", f"- Theorem 9 {badge}", f"- 2 more statements, in the book {badge}",
    ]  # fmt: skip
    many = {
        f"a{number}": replace(claims["a"], id=f"a{number}", statement="It is short " * 8, where="Section 4")
        for number in range(9)
    }
    told = [replace(small.told[0], needs=dict.fromkeys(many, "fails"))]
    cells = deck(
        replace(small, told=told, claims=many, evidence=dict.fromkeys(many, small.evidence["ldm/thm"]))
    ).cells
    (column,) = (cell.source for cell in cells if cell.metadata.part == "checked")
    assert 0 < column.count("- It is short") < 9
    assert column.endswith(f"more statements, in the book {badge}")


@pytest.mark.parametrize("room", WITH_CHAPTER)
def test_every_deck_has_every_finding_and_a_size_for_a_lecture(room: str, tmp_path: Path) -> None:
    given = material(room, tmp_path)
    notebook = deck(given)
    titles = heads(notebook)
    assert 12 <= len(titles) <= MOST
    assert given.told
    assert [title for title in titles if title in {one.title for one in given.told}] == [
        one.title for one in given.told for _ in range(2)
    ]
    texts = "\n".join(cell.source for cell in notebook.cells)
    columns = [cell.source for cell in notebook.cells if cell.metadata.part == "checked"]
    for one, column in zip([one for one in given.told if one.needs], columns, strict=True):
        rows = [row for row in column.splitlines() if row.startswith("- ")]
        counts = [re.match(r"- (\d+) (?:more )?statements?, in the book <", row) for row in rows]
        assert sum(int(count[1]) if count else 1 for count in counts) == len(one.needs)
    for cell in notebook.cells:
        if cell.metadata.get("part") == "words" and all(
            row.startswith("- ") for row in cell.source.splitlines()
        ):
            assert len(cell.source.splitlines()) <= 6, cell.source
    for one in given.told:
        assert all(f"- {sentence}" in texts for sentence in sentences(plain(one.text)))
        for id in one.needs:
            assert f"- {given.claims[id].place}: {as_html(given.evidence[id].measured)}" in texts
    for start in ("The problem", "The idea", "The model", "Should I use it?", "Question 3", "To take away"):
        assert any(title.startswith(start) for title in titles), start
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.metadata.alt.strip()
    # no markup of the book is left, and no link: what is projected is not clicked on
    assert not re.search(r"\{[\w:]+\}`|\]\([^)]*\)|^:::|^```", texts, re.MULTILINE)


def test_every_chapter_and_the_page_for_courses_lead_to_the_deck() -> None:
    from marginbook.base.project import resource
    from marginbook.base.rooms import rooms
    from marginbook.book import coursework_page

    for room in ROOMS:
        if room in WITH_CHAPTER:
            text = resource("book", f"{rooms()[room].chapter}.md").read_text("utf-8")
            assert f'href="../slides/{room}.html"' in text
        assert f'href="../slides/{room}.html"' in room_pages._filled("chapter", rooms()[room])
    cells = coursework_page._cells(next(iter(coursework_page.available().values())))
    assert "../slides/" in cells[HEADINGS.index("slides")]


class Addresses(HTMLParser):
    """What a page loads or leads to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.images: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "data")]
        if tag == "img":
            self.images.append(dict(attrs))


@pytest.fixture
def wheels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace reveal.js and MathJax: no test here is about them, or fetches them."""
    monkeypatch.setattr(writing, "reveal", lambda *members: [f"/* {member} */" for member in members])
    monkeypatch.setattr(writing, "mathjax", lambda member: b"'</script>'")


@pytest.mark.usefixtures("wheels")
def test_a_file_of_slides_names_no_other_address(small: Material, tmp_path: Path) -> None:
    path = tmp_path / "out" / "ldm.html"
    assert write_deck(deck(small, "../book/ldm.html"), path) is None
    text = path.read_text("utf-8")
    page = Addresses()
    page.feed(text)
    others = {address for address in page.found if not address.startswith("data:")}
    assert others == {"../book/ldm.html"}
    assert not re.search(r"url\((?!data:)|@import|//unpkg|cdnjs|require\.js", text)
    assert text.count("<section ") == text.count("</section>") == len(heads(deck(small)))
    assert [(image["alt"], image["height"]) for image in page.images] == [("a dot", "1"), ("a line", "1")]
    for member in ("dist/reveal.js", "dist/reveal.css", "plugin/notes/notes.js", "LICENSE"):
        assert f"/* {member} */" in text
    assert ".verdict-fails" in text
    assert text.count("</script>") == text.count("<script")


def test_without_mathjax_formulas_stay_and_a_remark_says_so(small, tmp_path, monkeypatch, wheels) -> None:
    def fail(member: str) -> bytes:
        raise FetchError("no network")

    monkeypatch.setattr(writing, "mathjax", fail)
    assert write_deck(deck(small), tmp_path / "x.html") == "formulas stay as TeX: no network"


def test_reveal_js_comes_from_one_wheel_known_by_its_hash(tmp_path: Path, monkeypatch) -> None:
    from marginbook.notebooks import mathjax

    made = tmp_path / "made.whl"
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("sphinx_revealjs/_static/revealjs/dist/reveal.js", "Reveal")
    digest = hashlib.sha256(made.read_bytes()).hexdigest()
    calls: list[str] = []

    def download(wanted, scratch: Path) -> Path:
        calls.append(wanted.package)
        return Path(made.rename(scratch / "w.whl"))

    monkeypatch.setattr(writing, "WHEEL", replace(writing.WHEEL, sha256=digest))
    monkeypatch.setattr(mathjax, "download", download)
    monkeypatch.setenv("MARGINBOOK_CACHE", str(tmp_path / "cache"))
    assert [writing.reveal("dist/reveal.js") for _ in range(2)] == [["Reveal"]] * 2
    assert calls == [writing.WHEEL.package]


def test_the_command_writes_decks_and_says_where(cli, small, tmp_path, monkeypatch, wheels) -> None:
    monkeypatch.setattr(making, "findings", lambda room: list(small.told))
    monkeypatch.setattr(making, "ledger", lambda: small.claims)
    monkeypatch.setattr(making, "check_all", lambda *ids, **options: small.evidence)
    monkeypatch.setattr(making.finding_pages, "draw", lambda folder, room, told: {})
    shown = cli("slides", "ldm", "--out", str(tmp_path / "out"))
    assert shown.exit_code == 0, shown.output
    assert f"wrote {tmp_path / 'out' / 'ldm.html'}" in shown.output
    assert "It fails" in (tmp_path / "out" / "ldm.html").read_text("utf-8")
    broken = [replace(small.told[0], holds=False)]
    monkeypatch.setattr(making, "findings", lambda room: broken)
    shown = cli("slides", "ldm", "--out", str(tmp_path / "out"))
    assert (shown.exit_code, "not true any more" in shown.output) == (1, True)
    shown = cli("slides", "ldn")
    assert (shown.exit_code, "no slides of 'ldn'; did you mean ldm?" in shown.output) == (2, True)


def test_the_figure_of_a_finding_is_the_next_one_and_not_its_picture_again(tmp_path: Path) -> None:
    from base64 import b64encode

    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

    def figure(caption: str):
        output = new_output("display_data", data={"image/png": b64encode(PIXEL).decode()})
        words = {"figure": {"caption": caption}, "image": {"alt": "a dot"}}
        return new_code_cell(outputs=[output], metadata={"mystnb": words})

    cells = [
        new_markdown_cell("# All"), figure("First of them."), new_markdown_cell("(here)=\n## Here [it](#is)"),
        figure("It falls and falls."), figure("Another thing altogether."),
    ]  # fmt: skip
    nbformat.write(new_notebook(cells=cells), tmp_path / "a.ipynb")
    nbformat.write(new_notebook(cells=cells[:2]), tmp_path / "b.ipynb")
    notebooks = {"ldm/01_a": tmp_path / "a.ipynb", "ldm/02_b": tmp_path / "b.ipynb"}
    told = Finding("F", "", {}, "ldm/01_a#here", picture=lambda: None, alt="x", caption="It falls and falls")
    both = main_figures(notebooks, [told], 4)
    assert [(each.notebook, each.heading, each.caption) for each in both] == [
        ("ldm/01_a", "Here it", "Another thing altogether."), ("ldm/02_b", "All", "First of them."),
    ]  # fmt: skip
    assert [each.notebook for each in main_figures(notebooks, [told], 1)] == ["ldm/01_a"]
    assert main_figures(notebooks, [told], 0) == []


def test_blocks_are_shared_out_alike_and_no_slide_is_nearly_empty() -> None:
    found = [Block("x" * 80)] * 10
    sizes = [len(group) for group in shared_out(found, most=9 * found[0].lines)]
    assert sizes == [5, 5]
    assert shared_out([], most=3.0) == []
    assert [len(group) for group in shared_out([Block("x" * 9000), Block("y")], most=5.0)] == [1, 1]


def test_a_table_of_the_book_becomes_one_of_markdown() -> None:
    text = ":header-rows: 1\n\n* - a\n  - b\n* - $|x|$ and\n    more\n  - $\\|y\\|$\n"
    assert grid(text) == ("| a | b |\n| --- | --- |\n| $\\vert x\\vert $ and more | $\\Vert y\\Vert $ |")


def test_the_idea_goes_on_below_its_figure() -> None:
    figure = "```{figure} a/idea.png\n:alt: points\n\nA caption.\n```\n"
    script = "```{raw} html\n<script></script>\n```\n"
    more = f"{figure}\n{script}\nThen more.\n\n(a-found)=\n## What we found\n\nNo."
    assert Chapter(f"# A\n\n**The idea.** First.\n\n{more}").idea() == "First. Then more."
    assert Chapter("# A\n\n**The idea.** Alone.\n\n## What we found\n\nNo.").idea() == "Alone."


def test_a_chapter_that_nobody_wrote_is_empty() -> None:
    nobody = chapter("nobody")
    assert (nobody.lead("problem"), nobody.figure(), nobody.section("The model")) == ("", None, [])
    assert (nobody.questions(), nobody.taken_away()) == ([], [])
