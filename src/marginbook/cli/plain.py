"""``marginbook`` without the extra ``cli``: warmup and guide, which need no other package."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

from .printing import escape_what_cannot_be_shown
from .stopping import one_sentence

INSTALL = "needs click, which is not installed: pip install 'marginbook[cli]'"
ADVICE = f"{INSTALL}; without it there are `marginbook guide` and `marginbook warmup`"
HELP = f"""\
Usage: {{program}} [OPTIONS] COMMAND [ARGS]...

Options:
  --version     Show the version.
  -h, --help    Show this.

Commands:
  warmup        Compile what the estimators compile at their first fit.
  guide [NAME]  Show the user guide, or what it says of one estimator.

Every other command {INSTALL}
"""


def _wrong(usage: str) -> NoReturn:
    """Say what is wrong with the usage, and end with 2, as click does."""
    print(f"Error: {usage}", file=sys.stderr)
    raise SystemExit(2)


def main(arguments: Sequence[str] | None = None, prog_name: str = "marginbook") -> None:
    """Run a command that needs no extra, show which there are, or name the extra and exit with 1.

    Wrong usage ends with 2.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    escape_what_cannot_be_shown()
    with one_sentence():
        if given[-1:] in (["-h"], ["--help"]) and given[:-1] in ([], ["warmup"], ["guide"]):
            sys.stdout.write(HELP.format(program=prog_name))
        elif given == ["warmup"]:
            from .warming import warm_up

            warm_up(lambda line: print(line, flush=True))
        elif given[:1] == ["guide"] and len(given) <= 2:
            from .reading import guide, section

            try:
                sys.stdout.write(section(given[1]) if given[1:] else guide())
            except KeyError as error:
                _wrong(error.args[0])
        elif given == ["--version"]:
            from .. import __version__

            print(f"{prog_name}, version {__version__}")
        elif given[:1] in (["warmup"], ["guide"]):
            takes = "takes no argument" if given[0] == "warmup" else "takes the name of one estimator"
            _wrong(f"`{prog_name} {given[0]}` {takes}, got {' '.join(given[1:])}")
        else:
            print(f"`{' '.join([prog_name, *given[:1]])}` {ADVICE}", file=sys.stderr)
            raise SystemExit(1)
