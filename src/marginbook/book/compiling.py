"""Jupyter Book as a child process, with a short account of what went wrong."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from .classic_scripts import make_classic
from .image_sizes import give_sizes
from .weight import lighten

SHOWN = 15  # problems that the terminal shows; the log has all
_PROBLEM = re.compile(r"\b(WARNING|ERROR|CRITICAL|SEVERE)\b:")
_PROGRESS = re.compile(r"(reading sources|writing output|copying images)\.\.\. *\[ *(\d+)%\]")
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class BuildFailed(RuntimeError):
    """The book did not compile, or has warnings in a strict build."""


def compile_book(
    source: Path, html: Path, *, strict: bool, progress: Callable[[str, int], None] | None = None
) -> list[str]:
    """Compile `source` to `html` and return the warnings; a failed build leaves `html` as it was.

    Parameters
    ----------
    source : path
        Tree with ``_config.yml`` and ``_toc.yml``.
    html : path
        Where ``index.html`` will be.
    strict : bool
        Warnings and missing references are errors; every page is read anew, as Sphinx repeats no warning
        of a page that it does not read.
    progress : callable, optional
        Called with a stage and its percentage.

    Raises
    ------
    BuildFailed
    """
    work = source.with_name(source.name + "-compiled")
    made = work / "_build" / "html"
    if strict:
        shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True, exist_ok=True)
    log = work / "build.log"
    # this Python's Jupyter Book, whatever PATH says
    start = (
        "from marginbook.book.network import watch; watch(); from jupyter_book.cli.main import main; main()"
    )
    command = [sys.executable, "-c", start, "build", str(source), "--path-output", str(work), "-n"]
    if strict:
        command += ["-W", "--keep-going"]
    code = _run(command, log, progress)
    warnings = problems(log.read_text(encoding="utf-8"), source)
    if code != 0 or not (made / "index.html").is_file() or (strict and warnings):
        shown = (
            warnings[:SHOWN] or [line for line in log.read_text(encoding="utf-8").splitlines() if line][-8:]
        )
        more = [f"… and {len(warnings) - SHOWN} more"] if len(warnings) > SHOWN else []
        count = f"{len(warnings)} warnings" if warnings else f"Jupyter Book ended with code {code}"
        raise BuildFailed("\n".join([f"the book did not compile: {count}; the log is {log}", *shown, *more]))
    _replace(made, html)
    return warnings


def problems(log: str, source: Path) -> list[str]:
    """Return the warnings and errors of a log, once each, with paths relative to the source tree."""
    lines = (_ANSI.sub("", line).strip() for line in log.splitlines())
    found = (line.replace(f"{source}/", "") for line in lines if _PROBLEM.search(line))
    return list(dict.fromkeys(found))


def _run(command: list[str], log: Path, progress: Callable[[str, int], None] | None) -> int:
    environment = {**os.environ, "NO_COLOR": "1", "PYTHONHASHSEED": "0", "COLUMNS": "200"}
    with log.open("w", encoding="utf-8") as kept:
        child = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=environment,
        )
        assert child.stdout is not None
        try:
            for (
                line
            ) in child.stdout:  # universal newlines: a carriage return of Sphinx's progress ends a line
                kept.write(line)
                step = _PROGRESS.search(_ANSI.sub("", line))
                if step and progress:
                    progress(step[1], int(step[2]))
            return child.wait()
        finally:
            if child.poll() is None:
                child.terminate()
                child.wait()


def _replace(made: Path, html: Path) -> None:
    """Put the new pages in the place of the old; the compiled tree stays for the next, incremental build."""
    fresh, old = html.with_name(html.name + ".new"), html.with_name(html.name + ".old")
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.rmtree(old, ignore_errors=True)
    shutil.copytree(made, fresh)
    give_sizes(fresh)
    make_classic(fresh)
    lighten(fresh)
    _give_head(fresh / "index.html")
    if html.exists():
        html.rename(old)
    fresh.rename(html)
    shutil.rmtree(old, ignore_errors=True)


def _give_head(page: Path) -> None:
    """Name title and icon in the bare redirect of Jupyter Book: browsers ask for favicon.ico else."""
    redirect = page.read_text(encoding="utf-8")
    if "<head" not in redirect:
        title = '<meta charset="utf-8"><title>Margins &amp; Discriminants</title>'
        icon = '<link rel="icon" href="_static/favicon.svg">'
        whole = f'<!doctype html><html lang="en"><head>{title}{icon}{redirect.strip()}</head></html>\n'
        page.write_text(whole, encoding="utf-8")
