"""The build, on a book of two pages: what is an error, what is kept, what is not done twice."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from marginbook.base.project import resource
from marginbook.book import BuildFailed, book_command, making
from marginbook.book.compiling import compile_book, problems
from marginbook.book.references import exists
from marginbook.book.source import assemble, fingerprint
from marginbook.datasets import FetchError
from marginbook.datasets.registry import Wheel
from marginbook.notebooks import executing, mathjax

CONFIG = """title: Tiny
only_build_toc_files: true
execute: {execute_notebooks: "off"}
sphinx:
  recursive_update: true
  config:
    extensions: [myst_nb, jupyter_book, sphinx_comments, sphinx_togglebutton, sphinx_copybutton,
      sphinx_external_toc, sphinx_design, sphinx_book_theme, sphinx.ext.autodoc, sphinx_jupyterbook_latex,
      marginbook.book.references]
"""
TOC = "format: jb-book\nroot: index\nchapters:\n  - file: second\n"


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    source = tmp_path / "source"
    source.mkdir()
    (source / "_config.yml").write_text(CONFIG)
    (source / "_toc.yml").write_text(TOC)
    (source / "index.md").write_text("# First\n\n[on](second.md) {py:func}`marginbook.base.project.root`\n")
    (source / "second.md").write_text("# Second\n\n$x^2$\n")
    return source


def test_a_sound_book_compiles_without_a_warning(tiny: Path, tmp_path: Path) -> None:
    seen: list[tuple[str, int]] = []
    assert compile_book(tiny, tmp_path / "html", strict=True, progress=lambda *step: seen.append(step)) == []
    assert "Second" in (tmp_path / "html" / "second.html").read_text()
    assert ("writing output", 100) in seen


WRONG = {
    "[nowhere](absent.md)": "WARNING: 'myst' cross-reference target not found: 'absent.md'",
    "{py:func}`marginbook.base.project.rooot`": "WARNING: py:func reference target not found",
    "```{nonsense}\n```": "WARNING: Unknown directive type: 'nonsense'",
    "{ref}`lost`": "WARNING: undefined label: 'lost'",
}


def test_a_strict_build_fails_on_a_warning_and_keeps_the_old_pages(tiny: Path, tmp_path: Path) -> None:
    html = tmp_path / "html"
    html.mkdir()
    (html / "index.html").write_text("old")
    # a page for each, so that one build shows what fails each of them
    (tiny / "_toc.yml").write_text(TOC + "".join(f"  - file: wrong{k}\n" for k in range(len(WRONG))))
    for k, text in enumerate(WRONG):
        (tiny / f"wrong{k}.md").write_text(f"# Wrong\n\n{text}\n")
    with pytest.raises(BuildFailed) as caught:
        compile_book(tiny, html, strict=True)
    for k, told in enumerate(WRONG.values()):
        assert f"wrong{k}.md:3: {told}" in str(caught.value)
    assert (html / "index.html").read_text() == "old"


def test_theorems_bear_the_letter_of_their_chapter(tiny: Path, tmp_path: Path) -> None:
    """Also where another page refers to one, as Sphinx counts them through the book first."""
    extensions = "sphinx_proof, marginbook.book.references, marginbook.book.theorem_numbers"
    config = CONFIG.replace("marginbook.book.references", extensions).replace(
        "config:", "config:\n    numfig: true"
    )
    (tiny / "_config.yml").write_text(config)
    (tiny / "index.md").write_text("# First\n")
    (tiny / "_toc.yml").write_text(
        "format: jb-book\nroot: index\nchapters:\n  - file: ldm/a\n  - file: drm/b\n"
    )
    for page, more in (("ldm/a", ""), ("drm/b", "{prf:ref}`ldm-a`\n")):
        (tiny / page).parent.mkdir()
        label = page.replace("/", "-")
        theorem = f"# Page\n\n```{{prf:theorem}} T\n:label: {label}\nx\n```\n\n{more}"
        (tiny / f"{page}.md").write_text(theorem)
    assert compile_book(tiny, tmp_path / "html", strict=True) == []
    told = [(tmp_path / "html" / f"{page}.html").read_text() for page in ("ldm/a", "drm/b")]
    assert "Theorem L1" in told[0]
    assert "Theorem D1" in told[1]
    assert "Theorem L1" in told[1]


def test_a_lenient_build_returns_the_warnings(tiny: Path, tmp_path: Path) -> None:
    (tiny / "second.md").write_text("# Second\n\n{ref}`lost`\n")
    (warning,) = compile_book(tiny, tmp_path / "html", strict=False)
    assert "undefined label: 'lost'" in warning
    assert (tmp_path / "html" / "index.html").is_file()


def test_a_broken_configuration_says_why(tiny: Path, tmp_path: Path) -> None:
    (tiny / "_toc.yml").unlink()
    with pytest.raises(BuildFailed, match="Jupyter Book ended with code"):
        compile_book(tiny, tmp_path / "html", strict=False)


def test_problems_are_told_once_and_without_colours(tmp_path: Path) -> None:
    line = f"{tmp_path}/a.md:1: WARNING: x"
    log = f"\x1b[91m{line}\x1b[39;49;00m\nfine\n{line}\nERROR: y\n"
    assert problems(log, tmp_path) == ["a.md:1: WARNING: x", "ERROR: y"]


def test_only_objects_that_exist_are_excused() -> None:
    assert exists("marginbook.base.project")
    assert exists("marginbook.base.project.root")
    assert exists("marginbook.claims.Evidence.slack")
    assert not exists("marginbook.base.project.rooot")
    assert not exists("marginbook.absent.root")
    assert not exists("numpy.ndarray")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    (home / "book").mkdir(parents=True)
    (home / "data_download").mkdir()
    shutil.copy(resource("data_download", "registry.toml"), home / "data_download")
    (home / "pyproject.toml").write_text("[project]\n")
    (home / "_config.yml").write_text(CONFIG)
    (home / "_toc.yml").write_text(TOC.replace("index", "book/index").replace("second", "book/second"))
    (home / "book" / "index.md").write_text("# First\n")
    (home / "book" / "second.md").write_text("# Second\n")
    monkeypatch.setenv("MARGINBOOK_HOME", str(home))
    return home


def test_the_source_tree_is_clean_and_keeps_the_time_of_what_did_not_change(home: Path) -> None:
    source = home / "_build" / "source"
    run = home / "done.ipynb"
    run.write_text("{}")

    def generate(folder: Path) -> None:
        (folder / "part.md").write_text("generated")

    assemble(home, source, {"drm/01_x": run}, generate)
    names = {path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()}
    assert names == {
        "_config.yml", "_toc.yml", "book/index.md", "book/second.md", "book/_generated/part.md",
        "notebooks/drm/01_x.ipynb",
    }  # fmt: skip
    first, second = source / "book/index.md", source / "book/second.md"
    before = first.stat().st_mtime_ns, second.stat().st_mtime_ns
    (home / "book" / "second.md").write_text("# Changed\n")
    assemble(home, source, {}, generate)
    assert first.stat().st_mtime_ns == before[0]
    assert second.read_text() == "# Changed\n"
    assert not (source / "notebooks/drm/01_x.ipynb").exists()


@pytest.mark.parametrize(
    "name", ["_config.yml", "book/index.md", "notebooks/drm/01_x.md", "results/drm/table.csv"]
)
def test_the_fingerprint_notices_every_input(home: Path, name: str) -> None:
    before = fingerprint(home)
    (home / "_build").mkdir()
    (home / "_build" / "noise").write_text("x")
    assert fingerprint(home) == before
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("changed")
    assert fingerprint(home) != before


def test_a_failed_cell_fails_the_book(home: Path) -> None:
    from marginbook.notebooks.catalogue import METADATA

    room = home / "notebooks" / "drm"
    room.mkdir(parents=True)
    (room / "01_bad.md").write_text(
        "---\njupytext:\n  text_representation:\n    extension: .md\n    format_name: myst\n"
        f"kernelspec: {METADATA['kernelspec']}\n---\n\n# Bad\n\n```{{code-cell}} ipython3\n1 / 0\n```\n"
    )
    result = CliRunner().invoke(book_command, ["--n-jobs", "1"])
    assert result.exit_code == 1
    assert "drm/01_bad: cell 2 (In [1]) raised ZeroDivisionError: division by zero; kept in" in result.output
    assert not (home / "_build" / "html").exists()
    unstored = CliRunner().invoke(book_command, ["--no-execute"])
    assert unstored.exit_code == 1
    assert "run `marginbook run --store drm/01_bad`" in unstored.output


@pytest.mark.parametrize(
    ("outputs", "same"),
    [
        ({"text/plain": "1", "image/png": "old"}, True),
        ({"text/plain": "1", "image/png": "new"}, True),  # pixels depend on the processor
        ({"text/plain": "2", "image/png": "old"}, False),
        ({"text/plain": "1"}, False),
    ],
)
def test_a_build_from_stored_outputs_is_done_if_the_executed_ones_were_the_same(
    home: Path, monkeypatch: pytest.MonkeyPatch, outputs: dict[str, str], same: bool
) -> None:
    room = home / "notebooks" / "drm"
    room.mkdir(parents=True)
    (room / "01_good.md").write_text("# Good\n")
    (room / "01_good.ipynb").write_text(json.dumps({"cells": [{"text/plain": "1", "image/png": "old"}]}))
    executed = home / "executed.ipynb"
    executed.write_text(json.dumps({"cells": [outputs]}))
    compiled: list[bool] = []

    def compile_(source: Path, html: Path, *, strict: bool, progress: object) -> list[str]:
        compiled.append(strict)
        html.mkdir(parents=True, exist_ok=True)
        (html / "index.html").touch()
        return []

    monkeypatch.setattr(making, "_fetch_scripts", lambda: None)
    monkeypatch.setattr(making, "_notebooks", lambda *given: {"drm/01_good": executed})
    monkeypatch.setattr(executing, "_executed_path", lambda notebook: executed)
    monkeypatch.setattr(making, "compile_book", compile_)
    monkeypatch.setattr(making.tree, "assemble", lambda *given: None)
    monkeypatch.setattr(making.tree, "vendor", lambda *given: None)
    assert not making.make_book(strict=True).cached
    assert making.make_book(execute=False, strict=True).cached == same
    assert len(compiled) == (1 if same else 2)
    assert making.make_book(execute=same, strict=False).cached  # what was strict will do for a lenient build
    (home / "book" / "second.md").write_text("# Changed\n")
    assert not making.make_book(execute=False, strict=True).cached


def test_scripts_that_cannot_be_fetched_end_a_build_before_the_notebooks(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(wanted: Wheel, scratch: Path) -> Path:
        raise FetchError(f"pip cannot fetch {wanted.package}=={wanted.version}: no network")

    monkeypatch.setenv("MARGINBOOK_CACHE", str(home / "empty"))
    monkeypatch.setattr(mathjax, "download", refuse)
    monkeypatch.setattr(making, "_notebooks", lambda *given: pytest.fail("too late"))
    told = (
        r"^pip cannot fetch django-static-mathjax==[\d.]+: no network; scripts of the pages are read from it$"
    )
    with pytest.raises(BuildFailed, match=told):
        making.make_book()


def test_help_has_an_example() -> None:
    assert "marginbook book --no-execute" in CliRunner().invoke(book_command, ["--help"]).output
