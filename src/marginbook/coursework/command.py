"""``marginbook coursework``: write the problem sets, mark submissions."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import click

from ..base.progress import Stages
from ..base.project import root
from ..cli.commands import Group, keeping


class WrongUsage(click.ClickException):
    """A name that no problem set has, or a file that cannot be read: one line, without the usage text."""

    exit_code = 2


@click.group("coursework", cls=Group, invoke_without_command=True)
@click.pass_context
def coursework(context: click.Context) -> None:
    """Write the problem sets, or mark submitted notebooks. Without a subcommand: write all of them.

    \b
    Examples:
      marginbook coursework
      marginbook coursework write drm ldm --written 2
      marginbook coursework grade submitted/*/drm/drm.ipynb
    """
    if context.invoked_subcommand is None:
        context.invoke(write_command)


@coursework.command("write")
@click.argument("sets", nargs=-1)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder; _build/coursework if not given.",
)
@click.option(
    "--written",
    default=0,
    show_default=True,
    type=click.IntRange(min=0),
    help="Points for each written derivation, marked by a person.",
)
@keeping("problem sets that were written before are whole")
def write_command(sets: tuple[str, ...], out: Path | None, written: int) -> None:
    """Write a zip for students and one for instructors of each set.

    \b
    Examples:
      marginbook coursework write
      marginbook coursework write smm --out course --written 2
    """
    from .packing import write
    from .sets import UnknownSet, available, find

    try:
        problems = [find(name) for name in sets or available()]
    except UnknownSet as error:
        raise WrongUsage(str(error)) from None
    if not problems:
        raise click.ClickException(
            "no exercises here: run this in a checkout of marginbook, or set MARGINBOOK_HOME to one"
        )
    folder = out or (root() or Path.cwd()) / "_build" / "coursework"
    try:
        paths = write(folder, problems, written)
    except RuntimeError as error:
        raise click.ClickException(str(error)) from None
    for path in paths:
        click.echo(f"wrote {path}")


@coursework.command("grade")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option("--csv", "as_csv", is_flag=True, help="One line for each exercise of each file, as CSV.")
@click.option("--timeout", default=120.0, show_default=True, help="Seconds for one cell.")
@click.option("--memory", default=4.0, show_default=True, help="GiB for one kernel; bounded on Linux.")
@click.option("--seed", type=int, help="Draw the data of the checks with this seed instead of the students'.")
@keeping("no submission was changed")
def grade_command(
    files: tuple[Path, ...], as_csv: bool, timeout: float, memory: float, seed: int | None
) -> None:
    """Mark submitted notebooks by executing them. Their code runs with your rights.

    \b
    Examples:
      marginbook coursework grade drm.ipynb
      marginbook coursework grade submitted/*/drm/drm.ipynb --seed 7 --csv > marks.csv
    """
    from .grading import SetupFailed, SubmissionError, grade
    from .sets import UnknownSet

    table = csv.writer(sys.stdout, lineterminator="\n")
    if as_csv:
        table.writerow(["file", "exercise", "points", "earned", "remark"])
    for path in files:
        try:
            # one for each file: while it is open, what is printed on a terminal goes through it
            with Stages() as stages:
                marks = grade(path, timeout, seed, memory, progress=stages.at)
        except (SubmissionError, UnknownSet) as error:
            raise WrongUsage(f"{path}: {error}") from None
        except SetupFailed as error:
            raise click.ClickException(f"{path}: nothing is marked: {error}") from None
        if as_csv:
            table.writerows([path, mark.exercise, mark.points, mark.earned, mark.remark] for mark in marks)
            continue
        for mark in marks:
            click.echo(f"{mark.earned:3d} of {mark.points}  {mark.exercise}  {mark.remark}")
        total = sum(mark.points for mark in marks)
        click.echo(f"{sum(mark.earned for mark in marks):3d} of {total}  {path}")
