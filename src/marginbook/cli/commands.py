"""What all commands share: Ctrl-C is one sentence and exit code 130, and a misspelt name gets the nearest."""

from __future__ import annotations

import re
from typing import Any

import click

from ..base.naming import suggestion
from .disks import naming_the_disk
from .printing import escape_what_cannot_be_shown
from .stopping import keeping, one_sentence

__all__ = ["Command", "Group", "keeping"]


class Command(click.Command):
    """A command that says in one sentence that it was stopped, also when that happens before it begins."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        escape_what_cannot_be_shown()
        with one_sentence():  # reading the arguments imports commands, and shows the help
            try:
                return super().make_context(*args, **extra)
            except click.BadParameter as error:
                given = re.match("'(.*?)' is not one of ", error.message)
                if given is None or error.param is None or not isinstance(error.param.type, click.Choice):
                    raise
                hint = suggestion(given[1], map(str, error.param.type.choices), otherwise="see --help")
                told = error.message.removesuffix(".") + hint
                raise click.BadParameter(told, error.ctx, error.param) from None

    def invoke(self, ctx: click.Context) -> Any:
        with one_sentence(), naming_the_disk():
            return super().invoke(ctx)


class Group(Command, click.Group):
    """A group of commands that names the nearest where there is none of the name."""

    command_class = Command  # its commands also do so for the values of their options

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            ctx.fail(f"no command {name!r}{suggestion(name, self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)
