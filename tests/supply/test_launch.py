"""Binder, Colab and continuous integration: configurations that agree with the rest of the project."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest
import yaml

from marginbook.book import launch_page
from marginbook.book.compiling import compile_book

ROOT = Path(__file__).resolve().parents[2]
BINDER = ROOT / ".binder"
#: the files that repo2docker looks for in its folder
KNOWN = {"apt.txt", "environment.yml", "postBuild", "requirements.txt", "runtime.txt", "start"}
REPOSITORY = "https://github.com/somebody/marginbook"


def settings() -> dict:
    """Return _config.yml."""
    return yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))


def test_binder_finds_one_folder_with_files_that_it_knows() -> None:
    assert not (ROOT / "binder").exists()  # repo2docker refuses two
    names = {path.name for path in BINDER.iterdir()}
    assert {"requirements.txt", "runtime.txt", "postBuild"} <= names <= KNOWN


def test_binder_installs_the_lock_and_nothing_else() -> None:
    (line,) = (BINDER / "requirements.txt").read_text().splitlines()
    assert line.startswith("-r ")  # relative to the file that says it, as pip reads it
    assert (BINDER / line.removeprefix("-r ")).resolve() == ROOT / "requirements.lock"


def test_binder_has_the_python_of_the_environment_file() -> None:
    minor = (BINDER / "runtime.txt").read_text().strip().removeprefix("python-")
    assert f"  - python={minor}\n" in (ROOT / "environment.yml").read_text()


def test_post_build_is_a_program_that_adds_only_this_checkout() -> None:
    script = BINDER / "postBuild"
    assert script.read_text().startswith("#!/usr/bin/env bash\n")
    if os.name == "posix":
        assert os.access(script, os.X_OK)
    if shutil.which("bash"):
        assert subprocess.run(["bash", "-n", str(script)]).returncode == 0
    (install,) = (line for line in script.read_text().splitlines() if " pip install " in line)
    assert "--no-deps" in install
    assert "--no-build-isolation" in install  # else pip fetches a builder that no lock names


def test_the_cell_for_colab_names_extras_that_exist() -> None:
    cell, fetch = launch_page.setup(REPOSITORY, "main").splitlines()
    assert fetch == launch_page.FETCH
    (names,) = re.findall(r"marginbook\[([a-z,]+)\] @ git\+https", cell)
    assert {f"{name} = [" in (ROOT / "pyproject.toml").read_text() for name in names.split(",")} == {True}


def test_the_page_says_where_nothing_is_public_and_follows_the_setting() -> None:
    config = (ROOT / "_config.yml").read_text("utf-8")
    assert settings()["repository"]["url"] == ""  # the book that we build asks nobody
    assert "names no public repository" in launch_page.page(config)
    public = launch_page.page(config.replace('url: ""', f"url: {REPOSITORY}"))
    assert "names no public repository" not in public
    assert "https://mybinder.org/v2/gh/somebody/marginbook/main?urlpath=lab/tree/notebooks" in public
    assert f"git+{REPOSITORY}@main" in public


def test_without_an_address_the_book_is_compiled_without_buttons() -> None:
    config = yaml.safe_load(launch_page.config_of_build((ROOT / "_config.yml").read_text("utf-8")))
    known = settings()
    assert known["launch_buttons"]
    assert {**config, "repository": known["repository"], "launch_buttons": known["launch_buttons"]} == known
    assert not {"repository", "launch_buttons"} & set(config)


def test_one_setting_gives_notebook_pages_their_buttons(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "notebooks").mkdir(parents=True)
    known = settings()
    config = {
        "title": "Tiny",
        "only_build_toc_files": True,
        "execute": {"execute_notebooks": "off"},
        "repository": {**known["repository"], "url": REPOSITORY},
        "launch_buttons": known["launch_buttons"],
        "html": known["html"],
    }
    (source / "_config.yml").write_text(launch_page.config_of_build(yaml.safe_dump(config)))
    (source / "_toc.yml").write_text("format: jb-book\nroot: index\nchapters:\n  - file: notebooks/one\n")
    (source / "index.md").write_text("# First\n")
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python", "language": "python"}}
    cells = [nbformat.v4.new_markdown_cell("# One", id="a"), nbformat.v4.new_code_cell("1", id="b")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), source / "notebooks" / "one.ipynb")
    compile_book(source, tmp_path / "html", strict=False)
    page = (tmp_path / "html" / "notebooks" / "one.html").read_text()
    links = re.findall(r'href="(https://(?:mybinder|colab)[^"]*)"', page)
    assert links == [
        "https://mybinder.org/v2/gh/somebody/marginbook/main?urlpath=lab/tree/notebooks/one.ipynb",
        "https://colab.research.google.com/github/somebody/marginbook/blob/main/notebooks/one.ipynb",
    ]
    assert not re.findall(r'(?:src|<link[^>]* href)="https?://(?!schema)[^"]*"', page)


def jobs() -> dict:
    """Return the jobs of the workflow."""
    return yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))["jobs"]


def test_the_workflow_covers_three_systems_and_every_python_that_is_promised() -> None:
    matrix = jobs()["versions"]["strategy"]["matrix"]
    assert {name.split("-")[0] for name in matrix["system"]} == {"ubuntu", "macos", "windows"}
    assert matrix["python"] == ["3.11", "3.12", "3.13"]
    assert 'requires-python = ">=3.11"' in (ROOT / "pyproject.toml").read_text()


@pytest.mark.skipif(os.name == "nt", reason="the script is for bash")
@pytest.mark.parametrize("name", ["unit", "notebooks"])
@pytest.mark.parametrize(
    ("core", "flags", "taken"),
    [
        ("Haswell", "avx2", "Haswell"),
        ("SkylakeX", "avx2 avx512f", "SkylakeX"),
        ("SkylakeX", "avx2", "Nehalem"),  # its kernels would end there
    ],
)
def test_two_types_of_core_and_none_that_the_runner_lacks(
    tmp_path: Path, name: str, core: str, flags: str, taken: str
) -> None:
    job = jobs()[name]
    assert job["strategy"]["matrix"]["core"] == ["Haswell", "SkylakeX"]
    assert "env" not in job  # which the step below could not change
    commands = [step.get("run", "") for step in job["steps"]]
    (place,) = (place for place, command in enumerate(commands) if "GITHUB_ENV" in command)
    assert place < commands.index(f"make {name} PYTHON=python")
    (tmp_path / "cpuinfo").write_text(f"flags : {flags}\n")
    script = commands[place].replace("${{ matrix.core }}", core)
    script = script.replace("/proc/cpuinfo", shlex.quote(str(tmp_path / "cpuinfo")))
    kept = tmp_path / "env"
    subprocess.run(["bash", "-ec", script], env=os.environ | {"GITHUB_ENV": str(kept)}, check=True)
    assert kept.read_text() == f"OPENBLAS_CORETYPE={taken}\n"


def test_no_job_has_a_mirror_and_the_browser_is_installed_where_it_is_needed() -> None:
    assert "MARGINBOOK_MIRROR" not in (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")
    in_jobs = []
    for job in jobs().values():
        commands = [step.get("run", "") for step in job["steps"]]
        looking = [place for place, command in enumerate(commands) if "browser" in command.split()]
        installing = [place for place, command in enumerate(commands) if "playwright install" in command]
        assert all(installing and installing[0] < place for place in looking)
        in_jobs += looking
    assert in_jobs


def test_the_workflow_calls_what_there_is_and_pins_what_it_uses() -> None:
    steps = [step for job in jobs().values() for step in job["steps"]]
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.M))
    commands = [step["run"] for step in steps if "run" in step]
    called = {word for c in commands if c.startswith("make ") for word in c.split()[1:] if "=" not in word}
    # all that `make test` does, in jobs side by side, and the first command
    (of_test,) = re.findall(
        r"^test: \$\(READY\) (.+\n(?:\t.+\n)+)", (ROOT / "Makefile").read_text(), flags=re.M
    )
    words = {word for line in of_test.splitlines() for word in re.split("#+", line)[0].split()} & targets
    assert {"lint", "types", "unit", "notebooks", "strict", "browser"} <= words
    assert called == {"book", *words, "online", "versions", "lowest", "release"}
    assert called <= targets
    for command in commands:
        if command.startswith("python "):
            assert (ROOT / command.split()[1]).is_file()
    for step in steps:
        if "uses" in step:
            assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", step["uses"]), step["uses"]


@pytest.mark.skipif(os.name == "nt", reason="the script is for bash")
@pytest.mark.parametrize("failing", ["test", ""])
@pytest.mark.parametrize("mirror", ["named", "beside", ""])
def test_the_run_ends_with_its_report_and_names_what_failed_or_was_not_run(
    tmp_path: Path, failing: str, mirror: str
) -> None:
    beside = tmp_path / "shared" / "data" / "mirror"
    programs = {
        ".ci/run": (ROOT / ".ci" / "run").read_text(),
        "bin/id": "echo 1000",  # as an ordinary user: nothing is installed
        "bin/make": f'echo "=== with ${{MARGINBOOK_MIRROR:-nothing}}"; [ "$1" != "{failing}" ]',
        ".venv/bin/python": "echo Haswell",
        ".venv/bin/marginbook": "true",
    }
    for name, text in programs.items():
        file = tmp_path / "checkout" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text if text.startswith("#!") else f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)
    path = os.pathsep.join([str(tmp_path / "checkout" / "bin"), os.environ["PATH"]])
    kept = {"PATH": path, "TMPDIR": str(tmp_path)}
    if mirror:
        beside.mkdir(parents=True)
    if mirror == "named":
        kept["MARGINBOOK_MIRROR"] = "/a/mirror"
    done = subprocess.run(
        [tmp_path / "checkout" / ".ci" / "run"], env=kept, capture_output=True, text=True, timeout=60
    )
    lines = [line for line in done.stdout.splitlines() if not line.startswith("===")]
    report = [re.sub(r"^ +(\d+ s|-) +", "", line) for line in lines]
    if failing:
        assert report == ["make book, nothing at hand", "FAILED     make test, nothing at hand"]
    else:
        assert report[:2] == ["make book, nothing at hand", "make test, nothing at hand"]
        assert report[2].startswith("tests marked urls: left out by make test, ")
        if mirror:
            assert report[-1] == "make online, with the mirror"
        else:
            assert report[-1].startswith("make online: not run, ")
        # the stranger before has none
        given = [line.removeprefix("=== with ") for line in done.stdout.splitlines() if "=== with" in line]
        mirrors = {"named": ["/a/mirror"], "beside": [str(beside)], "": []}[mirror]
        assert given == [*["nothing"] * (len(given) - len(mirrors)), *mirrors]
    assert done.returncode == bool(failing)
    assert {found.name for found in tmp_path.iterdir()} <= {"checkout", "shared"}  # the rest is removed
