"""What is public stays so: the list under version control, and the two steps in which a name goes."""

from __future__ import annotations

import difflib
import importlib
import re
import warnings
from pathlib import Path

import click
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_blobs

from marginbook.base.project import resource
from marginbook.cli import main

from . import deprecated, promised

CHANGES = Path(__file__).resolve().parents[1] / "CHANGELOG.md"
GONE, KEPT = promised.stored()[1], promised.stored()[0]


def test_the_page_names_what_is_public_outside_of_the_reference():
    page = resource("book", "api", "index.md").read_text(encoding="utf-8")
    outside = [line.split()[1] for line in KEPT if line.startswith(promised.OUTSIDE)]
    assert "MARGINBOOK_CACHE" in outside
    assert "cli" in outside
    assert [name for name in outside if f"`{name}`" not in page] == []
    named = re.findall(r"`(MARGINBOOK_\w+)`", page)
    assert sorted(named) == sorted(name for name in outside if name.isupper())


def leaving() -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return the old names of the page, each with what to take instead and since which version it warns."""
    page = resource("book", "api", "index.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(marginbook[^`]*|\$[^`]*)` \| (.+?) \| (\d+)\.(\d+)\.(\d+) \|$", page, re.M)
    return {old: (new, tuple(map(int, since))) for old, new, *since in rows}


def objections(gone: str, rows: dict[str, tuple[str, tuple[int, ...]]], changes: str) -> list[str]:
    """Return why a name was not allowed to go."""
    found, [(*version, name)] = [], promised.GONE.findall(gone)
    last = tuple(map(int, version))
    if name.startswith(promised.OUTSIDE):
        if int(promised.__version__.split(".")[0]) == last[0]:
            found.append(f"{name} cannot warn before it goes, and so has to stay until {last[0] + 1}.0")
    elif promised.in_two_steps(name) and not (name in rows and rows[name][1] <= last):
        found.append(
            f"{name} went without a warning: keep it, let it raise FutureWarning, list it in "
            "book/api/index.md, and take it out after a release"
        )
    newer = re.split(rf"^## \[?{re.escape('.'.join(version))}\b", changes, flags=re.M)[0]
    words = re.findall(r"[\w-]+", name.removeprefix("$ marginbook"))
    words = words[-2:] if name.endswith(")") else words[-1:]
    if not any(
        all(re.search(rf"(?<!\w){re.escape(w)}\b", entry) for w in words) for entry in newer.split("\n- ")
    ):
        found.append(f"{name} is gone, and no entry of CHANGELOG.md above {'.'.join(version)} says so")
    return found


def test_the_list_has_what_the_code_has():
    now = promised.surface()
    diff = "\n".join(difflib.unified_diff(KEPT, now, "tests/promised.txt", "the code", lineterm="", n=0))
    lost = "".join(f"\n  {each}" for each in promised.broken(KEPT, now))
    assert not diff, (
        f"what is public differs from the list; if it is meant, call: {promised.COMMAND}\n{diff}"
        + (f"\nold calls would miss:{lost}" if lost else "")
    )


HEADS = re.findall(r"^## \[?(Unreleased|\d+\.\d+\.\d+)", CHANGES.read_text(encoding="utf-8"), re.M)


@pytest.mark.parametrize("file", promised.copies(), ids=lambda file: file.stem)
def test_what_a_release_promised_is_kept_or_listed_as_gone(file):
    missing = promised.unkept(file, promised.surface(), GONE)
    assert missing == [], f"{file.name} has them: put them back, or call {promised.COMMAND} and say why"


@pytest.mark.parametrize("version", [each for each in HEADS if each[0] not in "0U"])
def test_a_release_leaves_a_copy_of_the_list(version):
    copy = promised.copy_of(version)
    assert copy.is_file(), f"cp tests/promised.txt tests/{copy.name}: CONTRIBUTING.md, A release"
    if version == HEADS[0]:  # nothing has been added since
        assert promised.read(copy)[0] == KEPT


def test_a_line_that_is_deleted_from_the_list_by_hand_is_missed(tmp_path):
    released = tmp_path / "promised-1.0.0.txt"
    released.write_text("# a list\nf(a)\ng(b)\nh\ngone after 1.0.0: old\n")
    gone = ["gone after 1.0.0: g(b)"]
    assert promised.unkept(released, ["f(a)", "g()"], gone) == ["h"]
    assert promised.unkept(released, ["f()", "h"], gone) == ["f(a)", "g"]
    before = ["gone after 0.9.0: g(b)"]  # it came again, and was promised then
    assert promised.unkept(released, ["f(a)", "g()", "h"], before) == ["g(b)"]


def test_copies_come_in_the_order_of_their_versions(tmp_path, monkeypatch):
    monkeypatch.setattr(promised, "FILE", tmp_path / "promised.txt")
    for version in ("1.10.0", "1.9.0"):
        promised.copy_of(version).write_text("")
    assert [file.stem for file in promised.copies()] == ["promised-1.9.0", "promised-1.10.0"]


@pytest.mark.parametrize("line", GONE)
def test_what_is_gone_was_allowed_to_go(line):
    assert objections(line, leaving(), CHANGES.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "name", [name for name in leaving() if not any(line.endswith(f": {name}") for line in GONE)]
)
def test_an_old_name_still_works_and_warns(name):
    assert deprecated.silent(name, main) == ""


#: of the old names, those of classes and of attributes of fitted estimators
OLD = [name for name in leaving() if re.fullmatch(r"marginbook(\.\w+)*\.[A-Z]\w+(\.\w+_)?", name)]


@pytest.mark.parametrize("name", OLD)
def test_an_old_name_gives_what_the_new_one_gives(name):
    take = leaving()[name][0].strip("`")
    cls, attribute = re.fullmatch(r"(.+\.[A-Z]\w+?)(?:\.(\w+_))?", name).groups()
    place, _, cls = cls.rpartition(".")
    kind = getattr(importlib.import_module(place), cls)
    X, y = make_blobs(40, centers=2, random_state=0)
    if attribute:
        model = kind().fit(X, y)
        with pytest.warns(FutureWarning, match=take):
            assert getattr(model, attribute) is getattr(model, take)
    else:
        new = getattr(importlib.import_module("marginbook"), take)().fit(X, y)
        with pytest.warns(FutureWarning, match=take):
            old = kind().fit(X, y)
        assert isinstance(old, type(new))
        assert_allclose(old.decision_function(X), new.decision_function(X))


def test_there_are_old_names_to_try():
    named = {"marginbook.LDMClassifierCV.estimator_", "marginbook.drm.DiscriminativeRidgeClassifier"}
    assert named <= set(OLD)


class Aged:
    """Warns of one parameter, and uses the words of the warning for another, too."""

    def fit(self, width, gamma_width):
        if width is not None:
            warnings.warn("width is gamma now", FutureWarning, stacklevel=2)
        return "FutureWarning: not said of gamma_width"

    def predict(self):
        return "no FutureWarning here"


@click.group()
def aged():
    """Stands for the command line."""


@aged.command(deprecated="take new")
@click.option("--out", deprecated="take --to")
@click.option("--to")
@click.argument("files", nargs=-1)
def old(out, to, files):
    """Write."""


@aged.command(deprecated=True)
def older():
    """Write."""


@pytest.mark.parametrize(
    ("name", "warns"),
    [
        ("$ marginbook old", True),
        ("$ marginbook old --out", True),
        ("$ marginbook old --to", False),
        ("$ marginbook old FILES", False),
        ("$ marginbook older", False),  # does not say what to take instead
        (f"{__name__}.Aged(width)", True),
        (f"{__name__}.Aged(gamma_width)", False),
        (f"{__name__}.Aged(gamma)", True),
        (f"{__name__}.Aged.fit", True),
        (f"{__name__}.Aged.predict", False),
    ],
)
def test_what_warns_is_known_from_what_only_has_the_words(name, warns):
    assert (deprecated.silent(name, aged) == "") == warns


def test_a_name_that_is_not_there_cannot_warn():
    with pytest.raises(LookupError, match="has no --from"):
        deprecated.silent("$ marginbook old --from", aged)


CHANGELOG = "## Unreleased\n\n- `LDMClassifier` has no `width`.\n- `load` is gone.\n\n## 1.1.0\n\n- `find`\n"
TABLE = {
    "marginbook.LDMClassifier(width)": ("gamma", (1, 1, 0)),
    "marginbook.datasets.load": ("get", (1, 2, 0)),
}


@pytest.mark.parametrize(
    ("gone", "wrong"),
    [
        ("marginbook.LDMClassifier(width)", []),
        ("marginbook.datasets.load", ["without a warning"]),  # it began to warn later
        ("marginbook.LDMClassifier(C)", ["without a warning", "no entry"]),
        ("marginbook.ldm.solvers.load", []),
        ("marginbook.ldm.solvers.find", ["no entry"]),  # the entry is an older one
        ("$ marginbook data load", ["without a warning"]),
        ("extra load", ["has to stay until 2.0"]),
        ("environment MARGINBOOK_LOAD", ["has to stay until 2.0", "no entry"]),
    ],
)
def test_a_name_goes_in_two_steps_and_with_an_entry(gone, wrong, monkeypatch):
    monkeypatch.setattr(promised, "__version__", "1.2.0")
    found = objections(f"gone after 1.1.0: {gone}", TABLE, CHANGELOG)
    assert len(found) == len(wrong)
    assert all(part in text for part, text in zip(wrong, found, strict=True))


@pytest.mark.parametrize(
    ("before", "now", "missed"),
    [
        ("f(a, b=1)", "f(a, b=1, c=2, *, d=3)", []),
        ("f(a, *, b=1)", "f(a, b=1)", []),
        ("f(a)", "f(a=0)", []),
        ("f(a, b=1)", "f(a, b=2)", ["f(b)"]),
        ("f(a, b=1)", "f(a, b)", ["f(b)"]),
        ("f(a, b=1)", "f(a, *, b=1)", ["f(b)"]),
        ("f(a, b=1)", "f(a, c=0, b=1)", ["f(b)"]),
        ("f(a, b)", "f(a, /, b)", ["f(a)"]),
        ("f(a, b=1)", "f(a)", ["f(b)"]),
        ("f(a)", "f(a, b)", ["f(b)"]),
        ("f(*a, **b)", "f(*a)", ["f(b)"]),
        ("f(a)", "g(a)", ["f"]),
        ("C.coef_", "C.coef_", []),
        ("C.coef_", "C.coef_()", ["C.coef_"]),
        ("$ run --out", "$ run --to", ["$ run --out"]),
    ],
)
def test_what_an_old_call_would_miss(before, now, missed):
    assert promised.broken([before], [now]) == missed


def test_what_leaves_the_code_stays_in_the_list(tmp_path, monkeypatch):
    monkeypatch.setattr(promised, "FILE", tmp_path / "promised.txt")
    for version, surface in (
        ("0.9.0", ["a", "b"]),
        ("0.9.0", ["b(x)"]),
        ("1.0.0", ["b(x)", "c"]),
        ("1.1.0", ["b()"]),
    ):
        monkeypatch.setattr(promised, "__version__", version)
        monkeypatch.setattr(promised, "surface", lambda found=surface: found)
        promised.main()
    assert promised.stored() == (["b()"], ["gone after 1.1.0: b(x)", "gone after 1.1.0: c"])
