"""A sixth paper is one folder and its notebooks: `marginbook new` in a copy of the checkout."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

from marginbook.base.project import cache_dir, resource, root
from marginbook.base.rooms import Room, rooms
from marginbook.book import room_pages
from marginbook.cli import new

#: what of the checkout the new room does not meet: what is made, and what is being written just now
IGNORED = (
    ".git",
    ".venv",
    ".*_cache",
    ".hypothesis",
    ".marginbook",
    "_build",
    "_vendor",
    "_generated",
    "dist",
    "*.pyc.*",
    "*.nb[ci]*",
)
#: asks the whole house for the room, and assembles the source of the book around it
PROGRAM = """
import json
from pathlib import Path
from click.testing import CliRunner
from marginbook import claims, coursework, experiments, notebooks
from marginbook.book import api_pages, exhibit_pages, slides, source
from marginbook.book.slides.chapter import chapter
from marginbook.claims.errata import as_json
from marginbook.claims.ledger_file import markdown
from marginbook.cli import main
from marginbook.notebooks.citations import cite

wanted = {claim.id: claim for claim in claims.listed(["sixth"])}
found = claims.check_all(["sixth"], n_jobs=1)
books = {note.id: note.stored for note in notebooks.available().values()}
own = [note for note in notebooks.available().values() if note.room == "sixth"]


def generate(folder):
    assert "sixth" in api_pages.modules(folder.parent / "api")
    (folder / "api-sixth.md").write_text(api_pages.reference("marginbook.sixth"))


given = slides.Material("sixth", chapter("sixth"), [], {}, wanted, found, books)
source.assemble(Path(), Path("_build/source"), books, generate)
call = lambda *words: CliRunner().invoke(main, words).output
print(json.dumps({
    "verdicts": {id: str(each.verdict) for id, each in found.items()},
    "ledger": markdown(wanted, found),
    "claims": call("claims", "sixth"),
    "list": call("experiment", "list"),
    "errata": list(json.loads(as_json([]))["papers"]),
    "exhibits": [each.name for each in exhibit_pages.exhibits() if each.room == "sixth"],
    "sets": {key: each.title for key, each in coursework.available().items()},
    "drift": [line for each in own for line in notebooks.drift(each)],
    "cited": cite("sixth_paper"),
    "decks": slides.decks(),
    "deck": [cell.source for cell in slides.deck(given).cells],
}))
"""


def run(home: Path, *words: str, **changed: str) -> subprocess.CompletedProcess[str]:
    """Call Python in a copy of the checkout, with the package of the copy."""
    environment = {name: value for name, value in os.environ.items() if name != "MARGINBOOK_ROOMS"}
    environment |= {"PYTHONPATH": str(home / "src"), "MARGINBOOK_HOME": str(home)}
    environment |= {"MARGINBOOK_CACHE": str(home / "cache"), **changed}
    return subprocess.run(
        [sys.executable, *words], cwd=home, env=environment, capture_output=True, text=True, timeout=900
    )


def files(home: Path) -> dict[str, bytes]:
    """Return all files of a copy but those that are only kept for speed."""
    kept = {"__pycache__", "cache", "_build"}
    return {
        path.relative_to(home).as_posix(): path.read_bytes()
        for path in home.rglob("*")
        if path.is_file() and not kept & set(path.relative_to(home).parts)
    }


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[str]]:
    """A copy of the checkout with a new room, and the files that came with it."""
    checkout = root()
    assert checkout is not None
    home = tmp_path_factory.mktemp("checkout")
    # with what Python has compiled, which counts for the copies too
    shutil.copytree(checkout, home, ignore=shutil.ignore_patterns(*IGNORED), dirs_exist_ok=True)
    before = files(home)
    done = run(home, "-m", "marginbook", "new", "sixth", "--title", "Sixth machines", "--short", "Sixth")
    assert done.returncode == 0, done.stderr
    after = files(home)
    assert {name: after[name] for name in before} == before
    return home, set(after) - set(before)


def test_only_its_own_folders_are_written(copy: tuple[Path, set[str]]) -> None:
    home, written = copy
    folders = ("src/marginbook/sixth/", "notebooks/sixth/", "tests/sixth/")
    assert [name for name in written if not name.startswith(folders)] == []
    room = home / "src" / "marginbook" / "sixth"
    assert {path.name for path in room.iterdir() if path.is_dir()} - {"__pycache__"} == {
        "model", "solvers", "estimators", "peers", "paper", "experiments", "claims",
    }  # fmt: skip
    assert sum(name.endswith(".ipynb") for name in written) == 2
    left = re.compile("@(key|title|short|colour|order)@")
    assert [name for name in written if left.search((home / name).read_text("utf-8"))] == []


def test_ledger_experiments_coursework_and_book_have_it(copy: tuple[Path, set[str]]) -> None:
    home, _ = copy
    done = run(home, "-c", PROGRAM)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["verdicts"] == {"sixth/eq-1": "holds"}
    assert "## Sixth machines" in found["ledger"]
    assert "sixth/eq-1" in found["claims"]
    assert "sixth/table-1" in found["list"]
    assert found["errata"][-1] == "sixth"
    assert found["exhibits"] == ["Table 1"]
    assert found["sets"]["sixth"] == "Sixth machines"
    assert found["drift"] == []
    assert found["cited"] == "Author (n.d.)"
    assert "sixth" in found["decks"]
    assert found["deck"][0] == "# Sixth machines"
    assert any("verdict-holds" in text for text in found["deck"])
    source = home / "_build" / "source"
    contents = (source / "_toc.yml").read_text("utf-8")
    assert contents.index("book/smm") < contents.index("book/sixth") < contents.index("book/bridge")
    assert "notebooks/sixth/*" in contents
    assert "_generated/verdicts-sixth.md" in (source / "book" / "sixth.md").read_text("utf-8")
    assert "slides/sixth.html" in (source / "book" / "sixth.md").read_text("utf-8")
    assert "_generated/api-sixth.md" in (source / "book" / "api" / "sixth.md").read_text("utf-8")
    assert "autoclass:: SixthClassifier" in (source / "book" / "_generated" / "api-sixth.md").read_text(
        "utf-8"
    )
    assert "{sixth_paper," in (source / "book" / "references.bib").read_text("utf-8")
    assert (source / "notebooks" / "sixth" / "01_the_model.ipynb").is_file()


#: the pages of the book that those of the room link to; all of them would take minutes
BESIDE = ("book/index", "book/verdicts", "book/claims", "book/errata", "book/results", "book/api/index")
#: compiles the pages of the room and those, and tells the warnings
PAGES = """
import json, sys
from fnmatch import fnmatch
from pathlib import Path
import yaml
from marginbook import claims, notebooks
from marginbook.base.rooms import rooms
from marginbook.book import api_pages, bench_pages, check_pages, errata_pages, ledger_pages, result_pages
from marginbook.book import source
from marginbook.book.checked_claims import Checked
from marginbook.book.compiling import compile_book

tree, kept = Path("_build/pages"), sys.argv[1:]
books = {note.id: note.stored for note in notebooks.available().values()}
# with their checks imported, unlike `listed`
wanted = {claim.id: claim for claim in claims.find(["sixth"])}
checked = Checked(wanted, claims.check_all(["sixth"], n_jobs=1), set(books))
result_pages.rooms = lambda: {"sixth": rooms()["sixth"]}  # comparing all tables takes a while


def generate(folder):
    for of_claims in (ledger_pages, errata_pages):
        of_claims.write(folder, checked)
    result_pages.write(folder, {})
    for page in (bench_pages, api_pages):
        page.write(folder)
    check_pages.write(tree.with_name("pages.new") / "_extra", wanted.values())


def pruned(entries):
    for each in entries:
        if fnmatch("book/api/sixth", each.get("glob", "")):  # which finds many more
            yield {"file": "book/api/sixth"}
        elif each.get("file") in kept or "sixth" in str(each):
            below = {"sections": list(pruned(each["sections"]))} if "sections" in each else {}
            yield each | below


source.assemble(Path(), tree, books, generate)
source.vendor(tree)
(tree / "book" / "index.md").write_text("# Book\\n")
contents = yaml.safe_load((tree / "_toc.yml").read_text())
contents = {"format": "jb-book", "root": contents["root"], "chapters": [
    each for part in contents["parts"] for each in pruned(part["chapters"])
] + [{"file": "book/bibliography"}]}
(tree / "_toc.yml").write_text(yaml.safe_dump(contents, sort_keys=False))
print(json.dumps(compile_book(tree, Path("_build/html"), strict=False)))
"""


def test_its_pages_compile_without_a_warning(copy: tuple[Path, set[str]]) -> None:
    """What `marginbook book --strict` makes of it, without the pages of others."""
    home, _ = copy
    done = run(home, "-c", PAGES, *BESIDE)
    assert done.returncode == 0, done.stderr
    warnings = json.loads(done.stdout.splitlines()[-1])
    assert [line for line in warnings if "sixth" in line] == []
    html = home / "_build" / "html"
    beside = (html / "book" / "claims.html").read_text("utf-8")
    contents = re.findall(r'class="reference internal" href="([^"#]+)"', beside)
    for page in (
        "book/sixth.html",
        "book/claims-sixth.html",
        "book/results-sixth.html",
        "book/api/sixth.html",
        "notebooks/sixth/01_the_model.html",
        "notebooks/sixth/02_exercises.html",
    ):
        assert (html / page).is_file(), page
        assert os.path.relpath(page, "book") in contents, f"{page} is not in the table of contents"
    evidence = (html / "book" / "claims-sixth.html").read_text("utf-8")
    (code,) = set(re.findall(r'href="\.\./([^"]+)"><code[^>]*>check_solution</code>', evidence))
    assert "sixth/claims/section_2_solution.py" in evidence
    page, _, anchor = code.partition("#")
    assert f'id="{anchor}"' in (html / page).read_text("utf-8")


@pytest.mark.parametrize("key", ["isvm", "index2", "twinsvm"])
def test_each_key_has_its_page_of_the_reference_in_the_contents(key: str, tmp_path: Path) -> None:
    """Whatever it begins with: the pattern of these pages leaves out the one that is above them."""
    room = Room(key, f"marginbook.{key}", tmp_path, "T", 60, short="T", citation="t")
    parts = yaml.safe_load(resource("_toc.yml").read_text("utf-8"))["parts"]
    (above,) = [one for part in parts for one in part["chapters"] if one.get("file") == "book/api/index"]
    found = above["sections"] + room_pages.unlisted(above["sections"], [room])
    page = f"book/api/{key}"
    assert sum(one.get("file") == page or fnmatch(page, one.get("glob", "")) for one in found) == 1


#: for pytest, ``-p met``: tests with the new room in their name, and quick ones that look through all rooms
MET = """
NAMES = "coursework datasets faults notebooks robustness serve supply"
TOOLS = tuple(f"tests/{name}/" for name in NAMES.split())


def pytest_collection_modifyitems(items):
    items[:] = [
        item for item in items
        if "sixth" in item.nodeid.lower()
        or not ("[" in item.name or item.get_closest_marker("long") or item.nodeid.startswith(TOOLS))
    ]
"""
#: what `make check` would run for the files of the room
REACHED = """
import sys
sys.path.insert(0, "supply")
import check
print(*check.reached(sys.argv[1:]))
"""


def test_lint_types_and_the_tests_that_it_reaches_pass(copy: tuple[Path, set[str]]) -> None:
    """What `make check` does, but for tests of other rooms, and without its limit of a minute."""
    home, written = copy
    checkout = root()
    assert checkout is not None
    for words in (
        ("ruff", "check", "."),
        ("ruff", "format", "--check", "src/marginbook/sixth", "tests/sixth"),
    ):
        done = run(home, "-m", *words)
        assert done.returncode == 0, done.stdout
    known = home / ".mypy_cache"  # what mypy found out of the other modules: a minute of one core
    try:
        shutil.copytree(checkout / known.name, known)
    except (OSError, shutil.Error):  # there is none, or mypy is writing it just now
        shutil.rmtree(known, ignore_errors=True)
    done = run(home, "-m", "mypy", "src/marginbook/sixth")
    assert done.returncode == 0, done.stdout
    reached = set(run(home, "-c", REACHED, *sorted(written)).stdout.split())
    # which walks the notebooks, and imports nothing of them
    reached |= {"tests/book/test_layout_browser.py"}
    others = {f"tests/{key}/" for key in rooms()} | {"tests/cli/test_new_room.py"}
    asked = sorted(file for file in reached if not file.startswith(tuple(others)))
    assert {
        "tests/sixth/test_estimator.py",
        "tests/quality/trust/test_laws.py",
        "tests/base/test_public.py",
    } <= set(asked)
    (home / "cache").mkdir(exist_ok=True)
    (home / "cache" / "met.py").write_text(MET)
    options = ("-p", "met", "-p", "no:randomly", "-n", "0", "-m", "not browser and not urls")
    done = run(
        home,
        *("-m", "pytest", *options, *asked),
        PYTHONPATH=os.pathsep.join([str(home / "src"), str(home / "cache")]),
        MARGINBOOK_CACHE=str(cache_dir()),  # the evidence of other rooms is the same
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["drm", "--title", "T"], "'drm' is taken: src/marginbook/drm exists already"),
        (["faults", "--title", "T"], "'faults' is taken: tests/faults exists already"),
        (["glossary", "--title", "T"], "'glossary' is taken: book/glossary.md exists already"),
        (["two-words", "--title", "T"], "KEY 'two-words' cannot name a package"),
        (["Toy", "--title", "T"], "KEY 'Toy' cannot name a package"),
        (["class", "--title", "T"], "KEY 'class' cannot name a package"),
        (["toy", "--title", 'A "T"'], "no quotes"),
        (["toy", "--title", "T", "--short", "T-1"], "--short 'T-1' cannot begin the name of a class"),
        (["toy", "--title", "T", "--short", "LDM"], "--short 'LDM' is taken: ldm is called so"),
        (["mkl", "--title", "T"], "'MKL' is taken: marginbook.clasmk has MKLClassifier; choose another"),
        (["toy"], "Missing option '--title'"),
    ],
)
def test_what_cannot_be_a_room_is_refused(cli, monkeypatch, words: list[str], told: str) -> None:
    monkeypatch.setattr(new, "_filled", None)  # nothing may be written
    shown = cli("new", *words)
    assert shown.exit_code == 2
    assert told in " ".join(shown.output.split())


def test_without_a_checkout_of_its_own_nothing_is_written(cli, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(new, "_filled", None)
    monkeypatch.setattr(new, "root", lambda: tmp_path)
    shown = cli("new", "toy", "--title", "T")
    assert (shown.exit_code, "is not that of the checkout" in shown.output) == (1, True)
    monkeypatch.setattr(new, "root", lambda: None)
    shown = cli("new", "toy", "--title", "T")
    assert (shown.exit_code, "no checkout here" in shown.output) == (1, True)
