"""The two commands as on a machine without a network, from an archive of the commit and `make wheels`.

``python supply/offline.py`` (`make offline`) unpacks ``git archive HEAD`` in a new folder, so that there is
no git, and calls `make book` and `make test` there with an empty home and empty caches. They run where no
other machine can be reached (``unshare -rn``, Linux), and pip takes the wheels of ``_build/wheels``. What
came out goes to ``results/ci/offline.json``; the book shows it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from marginbook.base.checkout import GIT
from marginbook.cli.stopping import keeping, one_sentence
from marginbook.quality.benchmarking.environment import cores, processor

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "results" / "ci" / "offline.json"
#: what is kept of the environment of whoever calls
KEPT = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR")
#: a network of its own, with nothing in it but the machine's own address, at which kernels and `serve` answer
ALONE = ("unshare", "-rn", "sh", "-c")
UP = "ip link set lo up"
COMMANDS = ("book", "test")


def main() -> int:
    """Unpack, run, write; the exit code is 1 if a command failed, and nothing is written then."""
    options = _options()
    wheels = sorted(options.wheels.resolve().glob("*.whl"))
    if not wheels:
        raise SystemExit(f"no wheels in {options.wheels}: call `make wheels` where there is a network")
    require_no_network()
    about: dict[str, Any] = {
        "commit": _git("rev-parse", "--short=12", "HEAD").decode().strip(),
        "python": platform.python_version(),
        "machine": f"{processor()}, {cores()} cores",
        "wheels": len(wheels),
        "megabytes": round(sum(path.stat().st_size for path in wheels) / 1e6),
        "commands": {},
    }
    with unpacked() as folder:
        environment = surroundings(folder, wheels[0].parent)
        for command in COMMANDS:
            words = ["make", "--no-print-directory", f"PYTHON={sys.executable}", command]
            start = time.monotonic()
            code, said = alone(
                [*words, "ARGS=--all"] if options.all else words, folder / "source", environment
            )
            if code:
                print(f"`make {command}` ended with {code}; nothing was written", file=sys.stderr)
                return 1
            row: dict[str, Any] = {"seconds": round(time.monotonic() - start)}
            about["commands"][command] = row | counted(said)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(about | {"long": options.all}, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {OUT.relative_to(ROOT)}")
    return 0


def require_no_network() -> None:
    """End the program where the network cannot be taken away."""
    code, said = alone(["true"], ROOT, {"PATH": os.environ.get("PATH", os.defpath)}, shown=False)
    if code:
        raise SystemExit(
            f"the network cannot be taken away here ({said.strip() or code}): call this on Linux"
        )


@contextmanager
def unpacked() -> Iterator[Path]:
    """Yield a folder with the archive of the commit in ``source``, and an empty ``home``."""
    with tempfile.TemporaryDirectory(prefix="offline-") as name:
        folder = Path(name)
        (folder / "home").mkdir()
        archive = folder / "source.tar"
        archive.write_bytes(_git("archive", "--format=tar", "HEAD"))
        careful: Any = {"filter": "data"} if sys.version_info >= (3, 11, 4) else {}
        shutil.unpack_archive(archive, folder / "source", **careful)
        archive.unlink()
        yield folder


def surroundings(folder: Path, wheels: Path) -> dict[str, str]:
    """Return the environment of the commands: a stranger's, with pip sent to the wheels."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    # as an address: pip takes a space for the end of a path
    return kept | {"HOME": str(folder / "home"), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": wheels.as_uri()}


def alone(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], *, shown: bool = True
) -> tuple[int, str]:
    """Run a command without a network, show what it prints, and return it after the exit code."""
    said = []
    try:
        with subprocess.Popen(
            [*ALONE, f"{UP} && exec {shlex.join(words)}"],
            cwd=folder,
            env=dict(environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                said.append(line)
                if shown:
                    print(line, end="", flush=True)
    except OSError as error:  # no unshare
        return 1, str(error)
    return process.returncode, "".join(said)


def counted(said: str) -> dict[str, int]:
    """Return how many tests passed and were skipped, by the last lines of all runs of pytest."""
    ends = re.findall(r"^.*\b\d+ passed\b.* in \d.*$", said, flags=re.M)
    found = {
        word: sum(map(int, re.findall(rf"(\d+) {word}\b", "\n".join(ends)))) for word in ("passed", "skipped")
    }
    return found if ends else {}


def _git(*words: str) -> bytes:
    try:
        return subprocess.run([*GIT, *words], cwd=ROOT, check=True, capture_output=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(f"an archive of the commit needs a checkout of git ({error})") from None


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--wheels", type=Path, default=ROOT / "_build" / "wheels", help="folder (default: _build/wheels)"
    )
    parser.add_argument("--all", action="store_true", help="also the long tests (tests/long.txt)")
    return parser.parse_args()


if __name__ == "__main__":
    with one_sentence(), keeping("nothing was written"):
        sys.exit(main())
