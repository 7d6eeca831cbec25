"""The tests of what fits and predicts, from a wheel with nothing but its core dependencies.

``python supply/wheel_alone.py`` builds the wheel, installs it in an environment of its own with the core
packages of a lock, pytest and hypothesis, and runs a copy of the tests outside of the checkout: once with the
newest versions, of requirements.lock, once with the oldest, of requirements-lowest.lock. Long tests
are left out without ``--all``. What came out is in ``results/wheel``; the book shows it.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from unit_tests import ABOUT, PIP, ROOT, counts

from marginbook.base import packages
from marginbook.base.checkout import commit
from marginbook.base.rooms import papers
from marginbook.book.locked_packages import locked
from marginbook.cli.stopping import keeping, one_sentence

LOCKS = {"newest": "requirements.lock", "oldest": "requirements-lowest.lock"}
#: what the tests need besides the library
TOOLS = ("pytest", "hypothesis")
#: files beside the rooms' that ask all estimators
OF_ALL = ("test_conventions.py", "test_public.py")
#: folders of tests beside the rooms' whose files may be about what fits and predicts
FOUNDATIONS = ("base", "kernels")
#: a file that looks at the checkout
NOT = {"test_floor_plan.py"}
#: folders of a room that fit and predict; what a test imports of the others needs extras or a checkout
FITTING = ("model", "solvers", "estimators", "peers")
#: packages of the library, at any depth: what ``from marginbook.drm import model`` may name
FOLDERS = {path.name for path in (ROOT / "src" / "marginbook").rglob("*") if path.is_dir()}
#: what would let the checkout, or another one, into the new environment
LEAKS = ("PYTHONPATH", "PYTHONHOME", "PYTEST_ADDOPTS", "MARGINBOOK_HOME", "VIRTUAL_ENV")
#: asked in the new environment: that the copy in it is the one that tests import, without a checkout around
FOUND = """
import marginbook
from marginbook.base.project import root
print(marginbook.__file__, root())
"""


def main() -> int:
    """Build, install, run, write; the exit code is 1 if a test failed."""
    options = _options()
    built = ROOT / "_build" / "wheel"
    shutil.rmtree(built / "dist", ignore_errors=True)
    packages.build(ROOT, built / "dist", int(time.time()), ["wheel"])
    [wheel] = (built / "dist").glob("*.whl")
    failed = 0
    for which in options.versions:
        failed |= _measure(which, options.python, wheel, options.tests, options.all)
    return failed


def _measure(which: str, python: str, wheel: Path, asked: list[str], also_long: bool) -> int:
    lock = ROOT / LOCKS[which]
    with tempfile.TemporaryDirectory(prefix="wheel-alone-") as name:
        home = Path(name).resolve()
        own = _environment(python, home / "environment", lock, wheel)
        about = json.loads(_output(own, "-c", ABOUT, cwd=home))
        print(f"{which}: Python {about['python']}, {len(about['installed'])} packages", flush=True)
        shutil.copytree(ROOT / "tests", home / "tests", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(Path(__file__).with_name("wheel_conftest.py"), home / "conftest.py")
        (home / "pytest.ini").write_text(settings(), encoding="utf-8")
        environment = {key: value for key, value in os.environ.items() if key not in LEAKS}
        environment |= {"MARGINBOOK_CACHE": str(home / "cache"), "CI": "1"}  # the same examples in each run
        place, checkout = _output(own, "-c", FOUND, cwd=home, env=environment).rsplit(maxsplit=1)
        if not Path(place).is_relative_to(home / "environment") or checkout != "None":
            raise SystemExit(f"the tests would not ask the wheel but {place}, in the checkout {checkout}")
        tests = asked or [f"tests/{path}" for path in chosen(home / "tests")]
        report, begin = home / "report.xml", time.monotonic()
        marks = "not browser and not urls" + ("" if also_long else " and not long")
        command = [own, "-m", "pytest", "-p", "no:cacheprovider", "-m", marks, f"--junitxml={report}", *tests]
        code = subprocess.run(command, cwd=home, env=environment).returncode
        if code not in (0, 1):
            raise SystemExit(f"pytest ended with {code}, and nothing was stored")
        found = counts(report, home)
        seconds = round(time.monotonic() - begin)
    outcome = {
        **{name: about[name] for name in ("python", "system", "machine", "libc")},
        "commit": commit("results") or "",
        "lock": lock.name,
        "lock_sha256": sha256(lock.read_bytes()).hexdigest(),
        "packages": {each: number for each, number in sorted(about["installed"].items()) if each != "pip"},
        "files": len(tests),
        "long": also_long,
        "seconds": seconds,
        **found,
    }
    if asked:
        print(json.dumps(outcome, indent=1))  # a part of the tests: nothing to keep
        return code
    file = ROOT / "results" / "wheel" / f"{which}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")
    print(f"{file.relative_to(ROOT)}: {found['passed']} passed, {found['failed']} failed", flush=True)
    return code


def chosen(tests: Path) -> list[str]:
    """Return the test files of what fits and predicts, relative to the folder of tests.

    These are the files that import a model, a solver, an estimator or a peer, or the kernels, and of the
    library nothing that needs more than the core: no experiment, no claim, no page. What single
    tests need of extras is skipped by `wheel_conftest.py`.
    """
    rooms = set(papers())
    folders = [tests, *(tests / name for name in (*FOUNDATIONS, *rooms))]
    files = sorted(path for folder in folders for path in folder.glob("test_*.py"))
    return [path.relative_to(tests).as_posix() for path in files if path.name in OF_ALL or _fits(path, rooms)]


def _fits(path: Path, rooms: set[str]) -> bool:
    parts = [name.split(".")[1:] for name in _imported(path) if name.split(".")[0] == "marginbook"]
    core = [each for each in parts if not each or each[0] in {"kernels", *rooms}]
    other = {each[1] for each in core if each and each[0] in rooms and len(each) > 1} - set(FITTING)
    beside = {each[0] for each in parts if each} - {"kernels", "base", "datasets", "quality", *rooms}
    return bool(core) and not other and not beside and path.name not in NOT


def _imported(path: Path) -> Iterator[str]:
    """Yield the modules of ``import`` in a file, those inside of functions, too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            deep = node.module.count(".") < 2  # from marginbook.drm import model
            for each in node.names:
                yield f"{node.module}.{each.name}" if deep and each.name in FOLDERS else node.module


def settings() -> str:
    """Return the settings of pytest in pyproject.toml, as a file beside a copy of the tests."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    given = project["tool"]["pytest"]["ini_options"]
    lines = ["[pytest]"]
    for name, value in given.items():
        text = value if isinstance(value, str) else "".join(f"\n    {each}" for each in value)
        lines.append(f"{name} = {text}")
    return "\n".join(lines) + "\n"


def pins(lock: Path) -> list[str]:
    """Return the lines of a lock that name a package, its version and where it is for, without hashes."""
    return [f"{one.name}=={one.version}" + f" ; {one.marker}" * bool(one.marker) for one in locked(lock)]


def _environment(python: str, folder: Path, lock: Path, wheel: Path) -> str:
    """Return the Python of a new environment: the wheel, what it asks for as in the lock, and the tools."""
    made = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)
    only = folder / "constraints.txt"
    only.write_text("\n".join(pins(lock)) + "\n", encoding="utf-8")
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    pip = [uv, "pip", "install", "--quiet", "--python", str(made)] if uv else [str(made), *PIP]
    command = [*pip, "--only-binary", ":all:", "--constraint", str(only), str(wheel), *TOOLS]
    subprocess.run(command, cwd=folder, check=True)
    return str(made)


def _output(*command: str, cwd: Path = ROOT, env: dict[str, str] | None = None) -> str:
    return subprocess.run(command, cwd=cwd, env=env, check=True, capture_output=True, text=True).stdout


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", default=sys.executable, help="the Python to run with (default: this one)")
    parser.add_argument(
        "--versions", nargs="+", choices=LOCKS, default=list(LOCKS), help="which locks (default: both)"
    )
    parser.add_argument("--all", action="store_true", help="also the long tests (tests/long.txt)")
    parser.add_argument("--tests", nargs="+", default=[], help="only these; nothing is written then")
    return parser.parse_args()


if __name__ == "__main__":
    with one_sentence(), keeping("versions that were measured whole are written"):
        sys.exit(main())
