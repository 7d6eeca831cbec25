"""Rooms are found by their ``paper.toml``: what it says, what of it is refused; and no list names them."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from marginbook.base.plotting import COLOURS
from marginbook.base.project import PACKAGE, root
from marginbook.base.rooms import ELSEWHERE, RoomError, packages, papers, rooms
from marginbook.claims import ROOMS
from marginbook.claims.errata import PAPERS
from marginbook.experiments.protocol import experiments, load_protocol
from marginbook.notebooks.citations import cite

from ..settled import SETTLED

PAPER = """title = "Toy"
short = "TOY"
authors = ["A. Author"]
citation = "toy_paper"
colour = "sky"
order = 15
"""


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The ``paper.toml`` of a room that lives outside of marginbook."""
    paper = tmp_path / "toyelsewhere" / "paper"
    paper.mkdir(parents=True)
    (paper.parent / "__init__.py").write_text('"""A room."""\n')
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv(ELSEWHERE, "toyelsewhere")
    (paper / "paper.toml").write_text(PAPER)
    return paper / "paper.toml"


def test_every_room_is_found_and_the_papers_come_first() -> None:
    assert set(rooms()) == {path.parents[1].name for path in PACKAGE.glob("*/paper/paper.toml")}
    assert list(rooms())[: len(papers())] == list(papers()) == list(PAPERS)
    assert [key for key in rooms() if key in ROOMS] == list(ROOMS)
    assert all((folder / "__init__.py").is_file() for folder in packages().values())


@pytest.mark.parametrize("key", papers())
def test_what_a_paper_says_of_itself_is_known_elsewhere(key: str) -> None:
    room = papers()[key]
    assert room.colour in COLOURS
    first = room.authors[0].split()[-1]
    assert first in cite(room.citation)
    assert str(room.year or "") in cite(room.citation)


def test_no_two_papers_share_a_colour_or_a_short_name() -> None:
    settled = [papers()[key] for key in SETTLED]
    for field in ("colour", "short", "citation", "order"):
        assert len({getattr(room, field) for room in settled}) == len(settled)


def test_a_room_may_live_elsewhere(elsewhere: Path) -> None:
    found = rooms()["toyelsewhere"]
    assert (found.package, found.title, found.paper("x.csv")) == (
        "toyelsewhere",
        "Toy",
        elsewhere.with_name("x.csv"),
    )
    assert list(papers())[:2] == ["drm", "toyelsewhere"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("order = 15", "", "lacks order"),
        ('short = "TOY"', "", "lacks short"),
        ("order = 15", 'order = "first"', "order = 'first', wanted int"),
        ("order = 15", "ordre = 15", "has 'ordre'; its fields are title, order"),
        ("order = 15", "order =", "is not valid TOML"),
    ],
)
def test_what_it_lacks_or_misspells_is_named(elsewhere: Path, old: str, new: str, told: str) -> None:
    elsewhere.write_text(PAPER.replace(old, new))
    with pytest.raises(RoomError, match=re.escape(told)) as caught:
        rooms()
    assert str(caught.value).startswith("toyelsewhere/paper/paper.toml")


def test_a_package_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ELSEWHERE, "no_such_room")
    with pytest.raises(RoomError, match="MARGINBOOK_ROOMS names 'no_such_room'"):
        rooms()


def lists_of_rooms(text: str) -> list[str]:
    """Return the passages that name all five papers within six lines, each as a word in quotes."""
    lines = text.splitlines()
    wanted = [re.compile(rf"[\"']{key}[\"']") for key in SETTLED]
    passages = ["\n".join(lines[start : start + 6]) for start in range(len(lines))]
    return [passage for passage in passages if all(word.search(passage) for word in wanted)]


def test_no_list_of_rooms_would_have_to_be_edited() -> None:
    home = root()
    assert home is not None
    files = [path for folder in ("src", "supply") for path in (home / folder).rglob("*.py")]
    files.append(home / "benchmarks" / "__main__.py")
    files += [path for path in (home / "src").rglob("*.toml") if path.name != "protocol.toml"]
    assert [path.as_posix() for path in files if lists_of_rooms(path.read_text(encoding="utf-8"))] == []
    assert lists_of_rooms(repr(SETTLED))


@pytest.mark.parametrize("room", sorted({name.partition("/")[0] for name in experiments()}))
def test_every_protocol_of_a_room_has_its_measure_and_says_what_the_paper_does_not(room: str) -> None:
    measures = import_module(f"marginbook.{room}.experiments").EXPERIMENTS
    names = [name.partition("/")[2] for name in experiments() if name.startswith(f"{room}/")]
    assert sorted(names) == sorted(measures)
    for name in names:
        protocol = load_protocol(f"{room}/{name}")
        assert protocol.measure() is measures[name]
        assert protocol.not_stated
        assert len(protocol.tasks("quick")) < len(protocol.tasks("paper"))
