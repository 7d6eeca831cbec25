"""What the documents name is there: commands and their options, targets of make, files, notebooks, claims."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from marginbook.base.project import root
from marginbook.cli import main
from marginbook.experiments import experiments
from marginbook.notebooks.catalogue import available, find
from marginbook.notebooks.parameters import ParameterError, convert, parameters

from .git import git

HERE = root()
#: but for the changelog, which may name what is gone, and the ledger, which a command writes
PAGES = sorted(
    {
        *(HERE / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
        *HERE.glob("book/**/*.md"),
        *HERE.glob("notebooks/*/*.md"),
    }
    - set(HERE.glob("book/_generated/**/*.md"))
)
#: what is made, or made up, or not of this project
ELSEWHERE = re.compile(
    r"_build/|\.venv/|\.marginbook/|(students|instructors|release|submitted|DIR)/|.*(twinsvm|1\.0\.0|example\.org)"
)
#: of programs beside the command: the file behind each, in which its options stand
PROGRAMS = {
    "lowest": "supply/unit_tests.py", "versions": "supply/unit_tests.py", "newest": "supply/newest.py",
    "notebooks": "supply/compared.py", "mutants": "supply/mutants.py", "portable": "supply/portable.py",
    "alone": "supply/wheel_alone.py", "stages": "supply/stages.py", "offline": "supply/offline.py",
    "check": "supply/check.py",
    "bench": "src/marginbook/quality/benchmarking/suite.py", "test": "Makefile", "unit": "Makefile",
    "browser": "Makefile",
}  # fmt: skip


def code(text: str) -> list[str]:
    """Return what is set as code: pieces in lines, and lines of blocks without their prompt and comment."""
    text = text.replace("\\\n", " ")
    fences = re.findall(r"^ *```(?:console|bash|\n)(.*?)^ *```", text, flags=re.M | re.S)
    lines = [line.strip().removeprefix("$ ") for block in fences for line in block.splitlines()]
    pieces = re.findall(r"(?<!`)`([^`\n]+)`(?!`)", re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S))
    return [re.split(r"\s#\s|\s[>&|]", piece)[0] for piece in [*lines, *pieces]]


def wrong_command(words: list[str]) -> str:
    """Return what is wrong with the words after ``marginbook``, or an empty text."""
    command: click.Command = main
    at: list[str] = []
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(click.Context(command), words[0])
        if found is None:
            return f"no command {words[0]}"
        command, at, words = found, [*at, words[0]], words[1:]
    known = {each for param in command.params for each in [*param.opts, *param.secondary_opts]} | {"--help"}
    if unknown := [word for word in words if re.match(r"--?[a-z]", word) and word not in known]:
        return f"no option {unknown[0]}"
    ids = [word for word in words if re.fullmatch(r"[a-z]+/[\w.-]+", word)]
    there = {"claims": claims, "experiment": experiments, "run": available}
    if at and at[0] in there and (lost := [id for id in ids if id not in there[at[0]]()]):
        return f"nothing is called {lost[0]}"
    if at == ["run"] and ids:
        given = [(words[k + 1], words[k + 2]) for k, word in enumerate(words) if word == "-p"]
        try:
            convert(parameters(find(ids[0]).read()), given)
        except ParameterError as error:
            return str(error)
    return ""


@cache
def claims() -> frozenset[str]:
    """Return the ids that LEDGER.md lists."""
    return frozenset(re.findall(r"`(\S+/\S+)`$", (HERE / "LEDGER.md").read_text("utf-8"), flags=re.M))


@cache
def targets() -> frozenset[str]:
    return frozenset(re.findall(r"^([a-z]+):", (HERE / "Makefile").read_text("utf-8"), flags=re.M))


def wrong_program(words: list[str]) -> Iterator[str]:
    """Yield what is wrong with a call of make or Python; `words` begin after ``make`` or ``python``."""
    if words[0] in targets():
        yield from (
            f"no target {word}" for word in words if re.fullmatch("[a-z]+", word) and word not in targets()
        )
        given = [word.partition("=")[2] for word in words if word.startswith("ARGS=")]
        options, file = " ".join(given).split(), PROGRAMS.get(words[0], "")
    elif words[0] == "-m":
        options, file = words[2:], f"{words[1].replace('.', '/')}.py"
        if words[1].partition(".")[0] != "tests":
            return
    elif re.fullmatch(r"[\w/]+\.py", words[0]):
        options, file = words[1:], words[0]
    else:
        return
    if file and not (HERE / file).is_file():
        yield f"no file {file}"
    elif options := [word for word in options if word.startswith("--")]:
        text = (HERE / file).read_text("utf-8")
        yield from (f"{file} has no option {word}" for word in options if word.partition("=")[0] not in text)


def wrong(piece: str) -> list[str]:
    """Return what a piece of code names that is not there."""
    piece = piece.removeprefix(".venv/bin/")
    try:
        words = shlex.split(piece)
    except ValueError:  # a formula, or a text with an apostrophe
        return []
    while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
        words = words[1:]
    if any(ELSEWHERE.match(word) for word in words):
        return []
    if len(words) > 1 and words[0] == "marginbook":
        return [found] if (found := wrong_command(words[1:])) else []
    if len(words) > 1 and words[0] in ("make", "python"):
        return list(wrong_program(words[1:]))
    if (
        len(words) == 1
        and re.fullmatch(r"[\w.-]+(/[\w.*<>-]+)+/?", words[0])
        and not ELSEWHERE.match(words[0])
    ):
        return [] if there(words[0].rstrip("/")) else [f"no file {words[0]}"]
    return []


@cache
def files() -> frozenset[str]:
    """Return all files and folders of the source tree."""
    made = {".git", ".venv", "_build", "dist", "__pycache__", "_vendor", ".marginbook"}
    found = (
        path.relative_to(HERE)
        for top in HERE.iterdir()
        if top.name not in made
        for path in [top, *top.rglob("*")]
    )
    return frozenset(path.as_posix() for path in found if not made & set(path.parts))


@cache
def there(name: str) -> bool:
    """Return whether a file, or a claim, experiment or notebook, is called so; ``<room>`` stands for any."""
    name = re.sub(r"<\w+>|\bNN(?=_)", "*", name).replace("*_title", "*")
    if "*" in name:
        pattern = re.compile(re.escape(name).replace(r"\*", "[^/]+") + "$")
        return any(pattern.search(file) for file in files())
    ends = any(file == name or file.endswith(f"/{name}") for file in files())
    return ends or name in claims() or name in available() or name in experiments()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(HERE).as_posix())
def test_what_a_page_names_is_there(page: Path) -> None:
    found = {piece: told for piece in code(page.read_text("utf-8")) if (told := wrong(piece))}
    assert found == {}


@pytest.mark.parametrize(
    ("piece", "told"),
    [
        ("marginbook clams drm", "no command clams"),
        ("marginbook data fech", "no command fech"),
        ("marginbook claims drm --jason", "no option --jason"),
        ("marginbook claims drm/thm-99", "nothing is called drm/thm-99"),
        ("marginbook run drm/01_the_model -p betta 1", "betta"),
        ("make boook", ""),  # might be English
        ("make book tset", "no target tset"),
        ('make mutants ARGS="--sed 2"', "no option --sed"),
        ("python benchmarks/fault.py", "no file benchmarks/fault.py"),
        ("python benchmarks/faults.py --onli", "no option --onli"),
        ("python -m tests.promise", "no file tests/promise.py"),
        ("tests/test_floorplan.py", "no file tests/test_floorplan.py"),
        ("src/marginbook/<room>/solver/", "no file src/marginbook/<room>/solver/"),
    ],
)
def test_what_is_not_there_is_seen(piece: str, told: str) -> None:
    assert told in "".join(wrong(piece))
    assert bool(told) == bool(wrong(piece))


@pytest.mark.skipif(not (HERE / ".git").exists(), reason="an archive says not which folders were made in it")
def test_the_map_has_every_folder_of_the_repository() -> None:
    tops = {line.partition("/")[0] for line in git(HERE, "ls-files").splitlines() if "/" in line}
    page = (HERE / "book" / "map.md").read_text("utf-8")
    assert [top for top in sorted(tops) if f"`{top}/" not in page] == []
