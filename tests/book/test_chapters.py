"""What a method's chapter and its pages of the reference point at is there; its theorems bear its letter."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from importlib import import_module
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
import yaml

from marginbook.base.project import resource
from marginbook.base.rooms import papers, rooms
from marginbook.book.api_pages import modules, public_names, reference
from marginbook.book.scoreboard_table import ledger_anchor
from marginbook.book.search_entries import evidence_anchor
from marginbook.book.theorem_numbers import KINDS, letters, renumber
from marginbook.claims import ledger
from marginbook.kfda.claims.findings import few_rows
from marginbook.study.claims.advice import Findings
from marginbook.study.claims.finding_pictures import idea
from marginbook.study.claims.posteriors import ROPE
from marginbook.study.claims.rankings import results

from ..settled import SETTLED

CHAPTERS = sorted(room for room in rooms() if resource("book", f"{room}.md").is_file())
ORDER = [
    "What we found", "The model", "What holds and what does not", "Should I use it?", "How fast is it?",
    "The notebooks", "Learn and teach", "Quiz", "To take away",
]  # fmt: skip
# a paper that is new has no chapter yet
WRITTEN = [name for name in papers() if resource("book", f"{name}.md").is_file()]
ORDERED = dict.fromkeys(WRITTEN, ORDER) | {
    "bridge": [name for name in ORDER if name != "How fast is it?"],
    "which": [
        "The numbers, and their limits" if name == "What holds and what does not" else name
        for name in ORDER
        if name not in ("The model", "Should I use it?", "How fast is it?")
    ],
}
# words of verdicts: a last word is a lesson, and no result; those of others are held by tests of their rooms
VERDICTS = re.compile(r"\b(holds?|fails?|corrected|(?:not )?reproduced|undecided|significant(?:ly)?)\b")
REFERENCE = sorted(page for room in papers() for page in resource("book", "api").glob(f"{room}*.md"))


def pages(room: str) -> dict[str, str]:
    """Return the texts of a room's chapter and notebooks, in the order of the book."""
    found = [resource("book", f"{room}.md"), *sorted(resource("notebooks", room).glob("*.md"))]
    return {f"{path.parent.name}/{path.stem}": path.read_text("utf-8") for path in found}


@cache
def places() -> frozenset[str]:
    """Return the names of all places that sources name, and of those that come with the claims."""
    texts = [*resource("book").rglob("*.md"), *resource("notebooks").rglob("*.md")]
    named = {name for path in texts for name in re.findall(r"^\((.+)\)=$", path.read_text("utf-8"), re.M)}
    of_papers = {name for room in papers() for name in (f"errata-{room}", ledger_anchor(room))}
    return frozenset(named | of_papers | {evidence_anchor(claim) for claim in ledger().values()})


@pytest.mark.parametrize("page", ORDERED)
def test_every_chapter_has_the_same_parts_in_the_same_order(page: str) -> None:
    text = resource("book", f"{page}.md").read_text("utf-8")
    assert re.findall(r"^## (.+)$", text, re.M) == ORDERED[page]
    assert text.index("**The problem.**") < text.index("**The idea.**") < text.index("## What we found")


# what each chapter's answer to "Does it work?" rests on: with another verdict it has to be written anew
ANSWERS = {
    "drm": {"fig-4": "reproduced", "table-5-order": "not-reproduced"},
    "ldm": {"margin-weight": "holds", "intercept": "holds", "eq-4": "corrected", "table-2-wins": "undecided"},
    "kfda": {"q-half-sparser": "reproduced", "table-1": "undecided", "table-2": "undecided"},
    "clasmk": {"equal-weights": "holds", "table-1-order": "undecided"},
    "smm": {"real-rank-one": "reproduced", "real-low-rank": "undecided"},
}


@pytest.mark.parametrize("room", WRITTEN)
def test_a_chapter_says_on_its_first_screen_whether_the_method_works(room: str) -> None:
    above = resource("book", f"{room}.md").read_text("utf-8").partition("## What we found")[0]
    (answer,) = re.findall(r"^\*\*Does it work\?\*\* (.+(?:\n.+)*)", above, re.M)
    assert above.index("**The idea.**") < above.index(answer) < above.index("```{figure}")
    assert not re.search(r"\d", answer)
    rows = re.findall(
        rf": \*\*([a-z-]+)\*\*\. .*`{room}/([\w.-]+)`$", resource("LEDGER.md").read_text("utf-8"), re.M
    )
    ledger_says = {name: verdict for verdict, name in rows}
    assert {name: ledger_says[name] for name in ANSWERS[room]} == ANSWERS[room]


def test_the_answers_about_accuracy_are_those_of_the_common_bench() -> None:
    """DRM: the same as an SVM. kFDA: fewer rows, more errors. None is better, as "which" shows."""
    found = Findings(results())
    assert found.against[ROPE]["decision"]["DRM"] == "same"
    assert few_rows().holds
    (ax,) = idea().axes
    names = [label.get_text() for label in ax.get_yticklabels()]
    worse, same, better = (
        dict(zip(names, (bar.get_width() for bar in bars), strict=True)) for bars in ax.containers
    )
    plt.close(ax.figure)
    assert max(better.values()) < 1
    assert sorted(name for name, share in same.items() if share < 95) == ["CLASMK", "SMM"]
    assert all(worse[name] > 25 for name in ("CLASMK", "SMM"))


@pytest.mark.parametrize("page", ORDERED)
def test_a_chapter_ends_with_three_sentences(page: str) -> None:
    last = resource("book", f"{page}.md").read_text("utf-8").partition("## To take away\n")[2]
    points = re.findall(r"^- (.+)$", last, re.M)
    assert len(points) == 3
    if page in ("drm", "ldm", "smm", "bridge", "which"):
        assert not re.search(r"\d", last)
        assert not VERDICTS.search(last)


@pytest.mark.parametrize("page", ORDERED)
def test_what_there_is_to_do_begins_with_what_one_needs_and_how_long_it_takes(page: str) -> None:
    text = resource("book", f"{page}.md").read_text("utf-8")
    todo = text.partition("## Learn and teach\n")[2].partition("\n## ")[0]
    first = " ".join(todo.strip().split("\n\n")[0].split())
    assert first.startswith("**You need** ")
    assert "**You will be able to** " in first
    assert re.search(r" takes? about (an hour|\w+ hours)\b", first)


@pytest.mark.parametrize("room", CHAPTERS)
def test_every_place_that_a_chapter_links_to_exists(room: str) -> None:
    text = pages(room)[f"book/{room}"]
    linked = re.findall(r"\]\(#([\w-]+)\)", text)
    assert len(linked) == text.count("](#") > 0
    assert sorted(set(linked) - places()) == []


@pytest.mark.parametrize("room", SETTLED)
def test_every_reference_that_a_chapter_cites_is_listed(room: str) -> None:
    files = [resource("book", "references.bib"), papers()[room].paper("references.bib")]
    bibliography = "\n".join(path.read_text("utf-8") for path in files if path.is_file())
    listed = set(re.findall(r"^@\w+\{(\w+),", bibliography, re.M))
    text = pages(room)[f"book/{room}"]
    roles = re.findall(r"\{cite:[pt]\}`([\w,]+)`", text)
    assert len(roles) == text.count("{cite:") > 0
    assert sorted({key for keys in roles for key in keys.split(",")} - listed) == []


@pytest.mark.parametrize("page", REFERENCE, ids=lambda path: path.stem)
def test_each_module_of_the_reference_stands_under_its_own_name(page: Path) -> None:
    text = page.read_text("utf-8")
    included = re.findall(r"^```\{include\} \.\./_generated/api-([\w.]+)\.md$", text, re.M)
    assert len(included) == text.count("{include}")
    sections = text.split("\n## ")[1:]
    for module in included:
        (section,) = [one for one in sections if f"api-{module}.md" in one]
        assert f"`marginbook.{module}`" in section
        assert reference(f"marginbook.{module}").count(".. auto") == len(
            public_names(import_module(f"marginbook.{module}"))
        )


def test_every_room_with_a_paper_has_modules_in_the_reference() -> None:
    documented = {name.partition(".")[0] for name in modules(resource("book", "api"))}
    assert set(SETTLED) <= documented


def theorems(text: str) -> list[tuple[str, str, str]]:
    """Return kind, title and label of what is numbered."""
    found = re.findall(r"^`{3,}\{prf:(\w+)\}(.*)\n((?::.+\n)*)", text, re.M)
    return [
        (kind, title.strip(), label[1])
        for kind, title, options in found
        if kind in KINDS and (label := re.search(r"^:label: (.+)$", options, re.M))
    ]


@pytest.mark.parametrize("room", CHAPTERS)
def test_each_theorem_has_a_name_and_a_number_of_its_chapter(room: str) -> None:
    """As Sphinx hands them over, counted by kind through the book: the letter says that they are ours."""
    texts = pages(room)
    before, numbers, expected = 40, {}, {}
    ours: Counter[str] = Counter()
    for page, text in texts.items():
        assert ":nonumber:" not in text
        told = theorems(text)
        assert len(told) == len(re.findall(r"\{prf:(?!ref\}|proof\})", text)), f"{page}: one has no label"
        for kind, title, label in told:
            assert title, label
            ours[kind] += 1
            numbers.setdefault(page, {}).setdefault(kind, {})[label] = (before + ours[kind],)
            expected[label] = (f"{letters(rooms())[room]}{ours[kind]}",)
    renumber(numbers, {page: place for place, page in enumerate(texts)})
    assert {
        label: n for kinds in numbers.values() for named in kinds.values() for label, n in named.items()
    } == (expected)
    whole = "\n".join(texts.values())
    assert len(expected) == ours.total(), "two have one label"
    assert set(re.findall(r"\{prf:ref\}`(?:[^`<]+<)?([^`>]+)>?`", whole)) <= set(expected)
    assert set(expected).isdisjoint(claim.slug for claim in ledger().values())


@pytest.mark.parametrize("room", CHAPTERS)
def test_no_two_theorems_of_a_method_have_one_title(room: str) -> None:
    titles = Counter(title for text in pages(room).values() for _, title, _ in theorems(text))
    assert [title for title, times in titles.items() if times > 1] == []


def test_the_table_of_contents_has_the_pages_of_a_method_in_the_order_of_their_numbers() -> None:
    parts = yaml.safe_load(resource("_toc.yml").read_text("utf-8"))["parts"]
    chapters = {one["file"]: one for part in parts for one in part["chapters"] if "file" in one}
    for room in CHAPTERS:
        assert chapters[f"book/{room}"]["sections"] == [{"glob": f"notebooks/{room}/*"}]
