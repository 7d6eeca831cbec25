"""The stored outputs of the notebooks come out again: nbval, strict, on those that no build has compared.

``make book`` executes a notebook whenever code, data or results that it uses have changed. Where what came
out is what is stored, cell by cell, nbval would only do the same again: ``python supply/compared.py``
(`make notebooks`) leaves such a notebook out. With ``--all`` every notebook is executed anew.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from marginbook.cli.stopping import one_sentence
from marginbook.notebooks import available, came_out_as_stored

ROOT = Path(__file__).resolve().parents[1]
#: how the outputs of notebooks are compared, here and in portable.py
NBVAL = (
    "--dist=loadfile", "-p", "no:cacheprovider", "-p", "no:randomly", "--nbval", "--nbval-current-env",
    "--nbval-cell-timeout=300", "--nbval-sanitize-with", "tests/nbval-sanitize.cfg",
)  # fmt: skip


def main() -> int:
    """Compare; the exit code is that of pytest."""
    options = _options()
    known = available().values()
    left = [each for each in known if options.all or not came_out_as_stored(each)]
    if len(left) < len(known):
        print(f"{len(known) - len(left)} of {len(known)} notebooks came out as stored when the book was made")
    if not left:
        return 0
    files = [each.stored.relative_to(ROOT).as_posix() for each in left]
    command = [sys.executable, "-m", "pytest", "-n2", "--durations=25", *NBVAL, *files]
    return subprocess.run(command, cwd=ROOT).returncode


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--all", action="store_true", help="also those that the book has compared")
    return parser.parse_args()


if __name__ == "__main__":
    with one_sentence():
        sys.exit(main())
