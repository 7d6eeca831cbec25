"""The options of ``marginbook experiment``, and how its errors end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..cli.commands import Group
from .errors import ExperimentError, UnknownName
from .protocol import PROFILES


class Experiments(Group):
    """Turns errors into one line and the exit code: 2 for wrong usage, else 1."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except UnknownName as error:
            raise click.UsageError(str(error)) from None
        except ExperimentError as error:
            raise click.ClickException(str(error)) from None


def names(ctx: click.Context, param: click.Parameter, value: str | None) -> list[str] | None:
    """Return the names that an option has between commas."""
    if value is None:
        return None
    found = [name.strip() for name in value.split(",") if name.strip()]
    if not found:
        raise click.BadParameter("expected names with commas between them")
    return found


def numbers(ctx: click.Context, param: click.Parameter, value: str | None) -> list[int] | None:
    """Return the whole numbers that an option has between commas."""
    try:
        found = names(ctx, param, value)
        return None if found is None else [int(name) for name in found]
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a list of numbers such as 1,2") from None


def workers(ctx: click.Context, param: click.Parameter, value: int) -> int:
    """Return a number of worker processes, at least 1 or -1."""
    if value == 0 or value < -1:
        raise click.BadParameter(
            f"{value} worker processes cannot be; give -1 or at least 1", param_hint="--n-jobs"
        )
    return value


_PATH = click.Path(path_type=Path)
quick_or_paper = click.option(
    "--profile", type=click.Choice(PROFILES), default="quick", show_default=True,
    help="quick: a first look; paper: the whole protocol. `experiment list` shows what each takes.",
)  # fmt: skip
paper_or_quick = click.option(
    "--profile", type=click.Choice(PROFILES), default="paper", show_default=True,
    help="Whose results: of the whole protocol, or of a first look.",
)  # fmt: skip
store_option = click.option(
    "--store",
    type=_PATH,
    metavar="PATH",
    help="File of finished tasks. Default: .marginbook/experiments.sqlite",
)
out_option = click.option(
    "--out",
    type=_PATH,
    metavar="DIR",
    help="Folder of the CSV files. Default: results (paper), _build/results (quick)",
)


def jobs_option(default: int) -> Any:
    """Return the option for the number of worker processes."""
    told = "Worker processes; -1: one per core."
    return click.option("--n-jobs", type=int, default=default, show_default=True, callback=workers, help=told)
