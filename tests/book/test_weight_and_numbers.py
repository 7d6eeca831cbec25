"""Icons that pages use, the search where it is needed, and theorems numbered by chapter."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from marginbook.base.project import resource
from marginbook.base.rooms import rooms
from marginbook.book import finding_pages, trusted_page, weight
from marginbook.book.theorem_numbers import apply, chapter_of, letters, renumber
from marginbook.claims.findings import Finding, findings

# outlines come first, solid icons last
FONT = (
    '{"sun":[512,512,[9728],"f185","OUTLINE"]},'
    '{sun:[512,512,[9728],"f185","SOLID"],"arrow-up":[384,512,[8593],"f062","UP"]}'
)
PAGE = """<i class="fa-solid fa-sun fa-lg"></i><script src="../searchindex.js"></script>
<script src="../_static/other.js"></script>"""


def test_pages_keep_the_icons_they_show_and_only_the_search_loads_its_index(tmp_path: Path) -> None:
    script = tmp_path / weight.ICONS
    script.parent.mkdir(parents=True)
    script.write_text(FONT)
    for name in ("search.html", "a.html"):
        (tmp_path / name).write_text(PAGE)
    weight.lighten(tmp_path)
    assert "searchindex" in (tmp_path / "search.html").read_text()
    less = (tmp_path / "a.html").read_text()
    assert "searchindex" not in less
    assert "other.js" in less
    told = re.search(r"ICONS = (.*);", script.read_text())
    assert told
    assert json.loads(told[1]) == {"sun": [512, "SOLID"]}


def test_an_icon_that_is_not_known_keeps_them_all() -> None:
    assert weight.only({"sun", "unheard-of"}, FONT) == ""


def test_theorems_are_counted_by_chapter_and_kind_in_the_order_of_the_pages() -> None:
    numbers = {
        "notebooks/ldm/03_x": {"theorem": {"c": (4,), "d": (5,)}, "figure": {"f": (9,)}},
        "book/ldm": {"theorem": {"a": (2,)}, "lemma": {"b": (1,)}},
        "book/drm": {"theorem": {"e": (1,)}},
        "book/verdicts": {"theorem": {"g": (3,)}},
    }
    order = {"book/drm": 0, "book/ldm": 1, "notebooks/ldm/03_x": 2, "book/verdicts": 3}
    for _ in range(2):  # counted again, they stay
        renumber(numbers, order)  # type: ignore[arg-type]
        assert numbers["book/ldm"] == {"theorem": {"a": ("L1",)}, "lemma": {"b": ("L1",)}}
        assert numbers["notebooks/ldm/03_x"] == {
            "theorem": {"c": ("L2",), "d": ("L3",)},
            "figure": {"f": (9,)},
        }
        assert numbers["book/drm"]["theorem"] == {"e": ("D1",)}
        assert numbers["book/verdicts"]["theorem"] == {"g": (3,)}
    assert callable(apply)


def test_each_chapter_has_its_letter() -> None:
    assert letters(["drm", "dual", "smm"]) == {"drm": "D", "dual": "DU", "smm": "S"}
    assert chapter_of("book/glossary", ["drm"]) == ""


def finding(home: str) -> Finding:
    return Finding("It is so", "", {}, "ldm/01_x", home=home)


def test_the_home_page_has_cards_in_its_order_and_lists_the_rest() -> None:
    told = {
        "ldm": [(finding(f"L{k}."), f"p{k}.png") for k in range(3)],
        "smm": [(finding("S0."), "")],
        "study": [(finding("B0."), "b.png")],
    }
    text = finding_pages.home_page(told)
    cards, _, others = text.partition("Also:")
    assert [cards.index(piece) for piece in ("B0.", "L0.", "L1.")] == sorted(
        cards.index(piece) for piece in ("B0.", "L0.", "L1.")
    )
    assert ":link: which" in cards
    assert "- **L2.** [LDM](ldm.md)" in others
    assert "- **S0.** [SMM](smm.md)" in others
    assert finding_pages.home_page({}) == ""


def test_every_finding_of_the_home_page_begins_with_a_headline_in_bold() -> None:
    told = [one.home for room in rooms() for one in findings(room) if one.home]
    assert len(told) >= 8
    for home in told:
        bold = re.match(r"\*\*([^*]+[^*:])\*\*[: ]|\*\*([^*]+)\*\*$", finding_pages.headline(home))
        assert bold, home
        assert len((bold[1] or bold[2]).split()) > 2, f"no sentence: {home}"


def test_the_ways_in_follow_the_scoreboard_of_the_home_page() -> None:
    text = resource("book", "index.md").read_text("utf-8")
    headings = re.findall(r"^## (.+)$", text, re.M)
    assert headings.index("Where to begin") == headings.index("The scoreboard") + 1
    ways = text.partition("## Where to begin")[2].partition("\n## ")[0]
    named = re.findall(r"grid-item-card\}\n\*\*(.+?)\.\*\*", ways)
    assert named == ["Read it", "Run it", "Use it", "Teach with it"]


def test_what_is_not_stored_is_not_said() -> None:
    assert [trusted_page.rivals([]), *(f([]) for f in (
        trusted_page.certificates, trusted_page.order, trusted_page.again, trusted_page.robust,
    ))] == [""] * 5  # fmt: skip


@pytest.mark.parametrize("name", ["certificates", "stability", "recheck"])
def test_the_numbers_of_trust_are_those_stored(name: str, tmp_path: Path) -> None:
    trusted_page.write(tmp_path)
    text = (tmp_path / "checked.md").read_text()
    assert f"(#trust-{name})" in text
    rows = trusted_page.stored("trust", "recheck")
    assert rows
    for code in {row["made by"] for row in rows}:
        own = [row for row in rows if row["made by"] == code]
        counts = " of ".join(str(sum(int(row[name]) for row in own)) for name in ("same", "rows"))
        assert f"{counts} rows of {len(own)} experiment" in text
        assert f"that {code} made" in text
