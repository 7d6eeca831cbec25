"""A sample of the stored results with the newest packages that there are: do results hang on the lock?

``python3.13 supply/newest.py`` makes an environment of its own, ``.venv-newest``, with the newest version of
every package that this Python can have, runs `marginbook experiment twice` there, and leaves what came out in
``results/twice/newest``, which the page about trust shows. What is given goes on to that command, such as the
name of an experiment; `marginbook experiment twice --help` says what it takes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / ".venv-newest"
#: a fiftieth of the seconds that all results took is half an hour
OPTIONS = ("--name", "newest", "--threads", "1", "--share", "0.02")


def main(given: Sequence[str]) -> int:
    """Set up, run; the exit code is that of the run."""
    parser = argparse.ArgumentParser(
        usage="%(prog)s [-h] [ARGUMENT ...]",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _, passed_on = parser.parse_known_args(given)
    python = HOME / "bin" / "python"
    if not python.is_file():
        subprocess.run([sys.executable, "-m", "venv", str(HOME)], check=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    newest = ["--upgrade", "--upgrade-strategy", "eager", "--prefer-binary"]
    subprocess.run([*pip, *newest, "--editable", f"{ROOT}[experiments,oracle]"], check=True)
    command = [str(python), "-m", "marginbook", "experiment", "twice", *OPTIONS, *passed_on]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        print("stopped; what was run is kept, call it again to go on", file=sys.stderr)
        sys.exit(130)
