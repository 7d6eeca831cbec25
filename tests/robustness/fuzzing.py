"""Coverage-guided fuzzing of the parsers with atheris, which is no dependency: install it to run this.

``python -m tests.robustness.fuzzing --seconds 30`` fuzzes every format for so long, each in a process of its
own with bounded memory, and writes ``results/robustness/parsers.csv``. What is found is printed, and stored
in ``--findings``.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import importlib.metadata
import json
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from marginbook.cli.stopping import keeping, one_sentence

with one_sentence():  # these imports take seconds
    from marginbook.base.project import PACKAGE

    from .seeds import seeds

KINDS = ("keel", "arff", "csv", "table", "libsvm", "libsvm-bz2", "npy", "npz", "idx", "matlab", "r")
#: bytes of address space, seconds for one file, and bytes of a file
MEMORY, LIMIT, LONGEST = 3 * 2**30, 10, 2048
FOLDER = PACKAGE.parents[1] / "results" / "robustness"
CORPUS = Path(__file__).parent / "corpus"
#: a file that is written where it costs nothing
SCRATCH = "/dev/shm" if os.path.isdir("/dev/shm") else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz every format, or with ``--worker`` one of them; return 1 if there was a fault."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", default=KINDS)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--findings", type=Path, default=Path(tempfile.gettempdir()) / "findings")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.worker:
        work(given.kinds[0], given.seconds, given.worker, given.findings)
    given.findings.mkdir(parents=True, exist_ok=True)
    rows = [_run(kind, given.seconds, given.findings) for kind in given.kinds]
    given.folder.mkdir(parents=True, exist_ok=True)
    with (given.folder / "parsers.csv").open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    return int(any(row["faults"] for row in rows))


def _run(kind: str, seconds: int, findings: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        for content in [*seeds(kind), *(path.read_bytes() for path in sorted(CORPUS.glob(f"{kind}--*")))]:
            (corpus / hashlib.sha256(content).hexdigest()).write_bytes(content)
        counts = Path(folder) / "counts.json"
        command = [sys.executable, "-m", "tests.robustness.fuzzing", kind, "--seconds", str(seconds)]
        command += ["--worker", folder, "--findings", str(findings)]
        ended = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
        found = json.loads(counts.read_text()) if counts.is_file() else {}
        grown = len(list(corpus.iterdir()))
    covered = re.findall(r"cov: (\d+) ft: (\d+)", ended.stderr)
    died = "" if ended.returncode == 0 else f"ended with {ended.returncode}: {ended.stderr[-2000:]}"
    messages = [*found.pop("faults", {}).values(), *([died] if died else [])]
    for message in messages:
        print(f"FAULT {kind}: {message}", flush=True)
    row = {"format": kind, "seconds": seconds, "files": found.get("files", 0), "right": found.get("right", 0)}
    row |= {"refused": found.get("refused", 0), "messages": found.get("messages", 0)}
    row |= {"branches": int(covered[-1][0]) if covered else 0, "corpus": grown, "faults": len(messages)}
    row |= {"python": platform.python_version(), "atheris": importlib.metadata.version("atheris")}
    print(" ".join(f"{key}={value}" for key, value in row.items()), flush=True)
    return row


def work(kind: str, seconds: int, folder: Path, findings: Path) -> None:
    """Fuzz one format until the time is over; libFuzzer ends the process."""
    import atheris

    with atheris.instrument_imports(include=["marginbook.datasets", "rdata", "numpy.lib._format_impl"]):
        from .parsing import parse
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    scratch = Path(tempfile.mkdtemp(dir=SCRATCH))
    counts: Counter[str] = Counter()
    messages: set[str] = set()
    faults: dict[str, str] = {}

    def one(content: bytes) -> None:
        counts["files"] += 1
        try:
            said = parse(kind, content, scratch)
            counts["right" if said == "right" else "refused"] += 1
            messages.add(re.sub(r"\d+|'.*?'|\".*?\"", "", said)[:60])
        except Exception as error:
            place = error.__traceback__
            while place and place.tb_next:
                place = place.tb_next
            line = f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}" if place else ""
            key = f"{type(error).__name__} {line}"
            if key not in faults:
                faults[key] = f"{key}: {error!s:.200}"
                (findings / f"{kind}--{hashlib.sha256(content).hexdigest()[:12]}").write_bytes(content)
        if counts["files"] % 50 == 0:
            _store()

    def _store() -> None:
        found = dict(counts) | {"messages": len(messages), "faults": faults}
        (folder / "counts.json").write_text(json.dumps(found))

    options = [f"-max_total_time={seconds}", f"-timeout={LIMIT}", f"-max_len={LONGEST}", "-seed=1"]
    options += ["-rss_limit_mb=0", f"-artifact_prefix={findings}/{kind}--", "-print_final_stats=1"]
    atheris.Setup([sys.argv[0], *options, str(folder / "corpus")], one)
    atheris.Fuzz()


if __name__ == "__main__":
    with one_sentence(), keeping("nothing was written but the findings"):
        sys.exit(main())
