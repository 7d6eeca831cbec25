"""The book from end to end: execute, check claims, generate, compile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.progress import Left
from ..base.project import root
from . import source as tree
from .compiling import BuildFailed, compile_book

if TYPE_CHECKING:
    from ..datasets.registry import Wheel
    from .checked_claims import Checked

Progress = Callable[[str, int, int], None]  # stage, how many are done, of how many (0: not known)


@dataclass(frozen=True)
class Built:
    """A built book: its first page, whether it was there already, and the warnings of a lenient build."""

    index: Path
    cached: bool
    warnings: tuple[str, ...] = ()


def make_book(
    *,
    execute: bool = True,
    strict: bool = True,
    fresh: bool = False,
    n_jobs: int = -1,
    progress: Progress | None = None,
    expect: Callable[[Left], None] | None = None,
) -> Built:
    """Build the book of this checkout into ``_build/html``.

    Parameters
    ----------
    execute : bool
        Execute the notebooks whose inputs changed; otherwise show the outputs stored in the repository.
    strict : bool
        Fail on any warning.
    fresh : bool
        Do everything again, also what is up to date.
    n_jobs : int
        Processes for notebooks and claims.
    progress : callable, optional
        Called with a stage and two counts.
    expect : callable, optional
        Called before the notebooks are executed, with what judges the seconds that they will take.

    Raises
    ------
    BuildFailed, NotebookFailed
    """
    home = root()
    if home is None:
        raise BuildFailed("no book here: run this in a checkout of marginbook, or set MARGINBOOK_HOME to one")
    html, stamp = home / "_build" / "html", home / "_build" / "html.stamp"
    inputs = tree.fingerprint(home, execute)
    if not fresh and _up_to_date(html, stamp, inputs, strict):
        return Built(html / "index.html", cached=True)
    say = progress or (lambda stage, done, total: None)
    _fetch_scripts()
    notebooks = _notebooks(execute, fresh, n_jobs, say, expect)
    source = home / "_build" / "source"

    def generate(folder: Path) -> None:
        from ..claims.read_as import all_readings
        from . import (
            api_pages,
            bad_input_pages,
            bench_pages,
            check_pages,
            checking_page,
            coursework_page,
            data_page,
            errata_pages,
            exhibit_pages,
            faults_page,
            finding_pages,
            guide_page,
            large_page,
            launch_page,
            ledger_pages,
            mutants_page,
            performance_page,
            readings_page,
            reproducibility_pages,
            result_pages,
            summary_page,
            supply_page,
            trust_page,
            trusted_page,
            which_page,
        )
        from .slides import making as slides

        checked = _ledger(set(notebooks), fresh, n_jobs, say)
        for of_claims in (ledger_pages, errata_pages, exhibit_pages):
            of_claims.write(folder, checked)
        readings = all_readings()  # takes a while
        readings_page.write(folder, readings)
        result_pages.write(folder, readings, checked)
        summary_page.write(folder, checked, readings)
        told = finding_pages.write(folder, checked)
        say("slides", 0, 0)
        pictures = folder / finding_pages.PICTURES
        extra = folder.parents[1] / "_extra"
        slides.write(extra, pictures, told, checked, notebooks)
        check_pages.write(extra, checked.claims.values())
        say("generated pages", 0, 0)
        for page in (
            data_page,
            reproducibility_pages,
            checking_page,
            bench_pages,
            performance_page,
            large_page,
            guide_page,
            trust_page,
            trusted_page,
            bad_input_pages,
            faults_page,
            mutants_page,
            coursework_page,
            which_page,
            launch_page,
            supply_page,
            api_pages,
        ):
            page.write(folder)

    tree.assemble(home, source, notebooks, generate)
    tree.vendor(source)
    warnings = compile_book(
        source, html, strict=strict, progress=lambda stage, percent: say(stage, percent, 100)
    )
    good_for = [inputs]
    if execute and _as_stored():  # then a build from the stored outputs would be the same
        good_for.append(tree.fingerprint(home, False))
    how = "strict" if strict else "lenient"
    stamp.write_text("".join(f"{each} {how}\n" for each in good_for), encoding="utf-8")
    return Built(html / "index.html", cached=False, warnings=tuple(warnings))


def script_wheels() -> tuple[Wheel, ...]:
    """Return the wheels that the scripts of pages and slides are read from."""
    from ..notebooks import mathjax
    from .slides import writing

    return mathjax.WHEEL, writing.WHEEL


def _fetch_scripts() -> None:
    """Bring them into the cache before the notebooks, which take minutes, are executed."""
    from ..datasets.dataset import FetchError
    from ..notebooks.mathjax import wheel

    try:
        for each in script_wheels():
            wheel(each)
    except FetchError as error:
        raise BuildFailed(f"{error}; scripts of the pages are read from it") from None


def _up_to_date(html: Path, stamp: Path, inputs: str, strict: bool) -> bool:
    if not (stamp.is_file() and (html / "index.html").is_file()):
        return False
    # a strict build will do where a lenient one is asked for, not the other way round
    good = {f"{inputs} strict"} if strict else {f"{inputs} strict", f"{inputs} lenient"}
    return not good.isdisjoint(stamp.read_text(encoding="utf-8").splitlines())


def _as_stored() -> bool:
    from .. import notebooks

    return all(map(notebooks.came_out_as_stored, notebooks.available().values()))


def _notebooks(
    execute: bool, fresh: bool, n_jobs: int, say: Progress, expect: Callable[[Left], None] | None
) -> dict[str, Path]:
    from .. import notebooks

    known = notebooks.available()
    if execute:
        seen: list[str] = []

        def count(id: str, how: str) -> None:
            seen.append(id)
            say("notebooks" if how == "cached" else f"notebooks: {id} {how}", len(seen), len(known))

        say("notebooks", 0, len(known))
        return notebooks.execute(known, n_jobs=n_jobs, fresh=fresh, progress=count, expect=expect)
    for notebook in known.values():
        if found := notebooks.drift(notebook):
            raise BuildFailed(
                f"{notebook.id}: the stored notebook is not that of its text ({found[0]}); "
                f"run `marginbook run --store {notebook.id}`, or build with --execute"
            )
        for number, cell in enumerate(notebook.read_stored().cells, start=1):
            if any(output.output_type == "error" for output in cell.get("outputs", [])):
                raise BuildFailed(f"{notebook.id}: cell {number} is stored with an error; run it again")
    return {id: notebook.stored for id, notebook in known.items()}


def _ledger(shown: set[str], fresh: bool, n_jobs: int, say: Progress) -> Checked:
    from ..claims import check_all, ledger
    from .checked_claims import Checked

    claims = ledger()
    done: list[str] = []

    def count(id: str, evidence: object) -> None:
        done.append(id)
        say("claims", len(done), len(claims))

    say("claims", 0, len(claims))
    return Checked(claims, check_all(n_jobs=n_jobs, fresh=fresh, progress=count), shown)
