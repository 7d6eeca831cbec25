"""The unit tests on another Python, or with the oldest versions that pyproject.toml allows.

``python supply/unit_tests.py --python python3.12`` makes an environment of its own from a lock, runs
there what `make unit` runs, and writes what came out into ``results/supply``; the book shows these files.
`make lowest` calls it for the other lock.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
TESTS = ("-m", "not browser", "--doctest-modules", "src", "tests")
#: asked inside the new environment: the script itself may run on another Python
ABOUT = """
import importlib.metadata, json, platform
from marginbook.base.checkout import commit
found = {each.metadata["Name"].lower().replace("_", "-"): each.version
         for each in importlib.metadata.distributions()}
print(json.dumps({"python": platform.python_version(), "system": platform.system(),
                  "machine": platform.machine(), "libc": "-".join(platform.libc_ver()), "installed": found,
                  "commit": commit("results") or ""}))
"""


def main() -> int:
    """Set up, run, write; the exit code is that of the tests."""
    options = _options()
    lock = ROOT / options.lock
    kind = "lowest" if "lowest" in lock.name else "locked"
    minor = _output(options.python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
    environment = ROOT / "_build" / "supply" / f"{kind}-{minor}"
    python = _environment(options.python, environment, lock)
    about = json.loads(_output(python, "-c", ABOUT))
    print(f"Python {about['python']}, {lock.name}: {len(about['installed'])} packages", flush=True)
    _run(python, "-m", "marginbook", "data", "fetch", "--registries-only")
    report = environment / "report.xml"
    workers = [] if options.workers == 1 else ["-n", str(options.workers)]
    tests = [*TESTS[:3], *(options.tests or TESTS[3:])]
    done = subprocess.run([python, "-m", "pytest", *workers, *tests, f"--junitxml={report}"], cwd=ROOT)
    outcome = {
        **{name: about[name] for name in ("python", "system", "machine", "libc")},
        "commit": about["commit"],
        "lock": lock.name,
        "lock_sha256": hashlib.sha256(lock.read_bytes()).hexdigest(),
        "packages": {name: about["installed"][name] for name in direct() if name in about["installed"]},
        **counts(report),
    }
    if options.tests:
        print(json.dumps(outcome, indent=1))  # a part of the tests: nothing to keep
        return done.returncode
    file = ROOT / "results" / "supply" / f"{kind}-{minor}-{about['system'].lower()}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")
    print(f"{file.relative_to(ROOT)}: {outcome['passed']} passed, {outcome['failed']} failed")
    return done.returncode


def direct() -> list[str]:
    """Return the names that the base of pyproject.toml and the extras of a user ask for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [
        *project["dependencies"],
        *(line for name in ("oracle", "experiments", "dask", "book", "bench") for line in extras[name]),
    ]
    names = (re.match(r"[A-Za-z0-9_.-]+", line)[0].lower() for line in wanted)  # type: ignore[index]
    return sorted({name for name in names if name != "marginbook"})


def counts(report: Path, home: Path = ROOT) -> dict[str, object]:
    """Return how many tests passed, failed and were skipped, which failed, and why some were skipped.

    The reasons name files relative to `home`, the checkout or a copy of its tests.
    """
    passed, failed, why = 0, [], Counter[str]()
    for case in ET.parse(report).getroot().iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            failed.append(name)
        elif skipped is not None:
            why[skipped.get("message", "").replace(f"{home}/", "")] += 1
        else:
            passed += 1
    failed = sorted(set(failed))
    return {
        "passed": passed,
        "failed": len(failed),
        "skipped": sum(why.values()),
        "failures": failed,
        "skips": dict(sorted(why.items())),
    }


def _environment(python: str, folder: Path, lock: Path) -> str:
    """Return the Python of a virtual environment that holds the lock and this checkout."""
    made = (
        folder / ("Scripts" if os.name == "nt" else "bin") / ("python.exe" if os.name == "nt" else "python")
    )
    mark = folder / ".lock"
    wanted = hashlib.sha256(lock.read_bytes()).hexdigest()
    uv = shutil.which("uv")  # much quicker than pip, and as strict about hashes
    pip = [uv, "pip", "install", "--quiet", "--python", str(made)] if uv else [str(made), *PIP]
    if not (mark.is_file() and mark.read_text(encoding="utf-8") == wanted):
        _run(python, "-m", "venv", "--clear", str(folder))
        _run(*pip, "--only-binary", ":all:", "--require-hashes", "-r", str(lock))
        _run(*pip, "--no-deps", "--no-build-isolation", "--editable", str(ROOT))
        mark.write_text(wanted, encoding="utf-8")
    return str(made)


def _run(*command: str) -> None:
    subprocess.run(command, cwd=ROOT, check=True)


def _output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", default=sys.executable, help="the Python to run with (default: this one)")
    parser.add_argument(
        "--lock", default="requirements.lock", help="the lock to install (default: %(default)s)"
    )
    parser.add_argument("--workers", type=int, default=2, help="processes of pytest (default: %(default)s)")
    parser.add_argument("tests", nargs="*", help="only these; nothing is written then")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:  # marginbook, which has a sentence for it, need not be installed here
        print("stopped; nothing was written", file=sys.stderr)
        sys.exit(130)
