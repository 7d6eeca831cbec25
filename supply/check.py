"""What a small change can break, in under a minute: ruff, mypy, and the tests that reach the change.

``python supply/check.py`` (`make check`) asks git what differs from the last commit, follows the imports of
package and tests backwards from there, and runs the test files that it meets, the nearest first, until its
time is over; it says how many tests were left for `make test`. Like `make test`, it leaves out long tests.
The first mypy of a clone takes all of the time; tests have 20 seconds nevertheless, and where none was done
the exit code is 1. A changed file that is no Python stands for the modules that mention its name, and for
the tests that look for files of its kind. What is loaded by name only (the ledger loads all rooms, a protocol
its measure) is not followed: the whole suite is there for that.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from marginbook.base.checkout import GIT
from marginbook.base.remembered import Remembered, sha256
from marginbook.cli.stopping import one_sentence

ROOT = Path(__file__).resolve().parents[1]
#: changes that every test could notice
EVERYTHING = {"pyproject.toml", "requirements.lock", "tests/conftest.py"}
#: tests that look for files by a pattern, of which no import and no name tells
LOOKED_FOR = {
    "tests/book/test_chapters.py": ("book/*.md", "notebooks/*.md", "_toc.yml"),
    "tests/book/test_reading.py": ("book/*.md",),
    "tests/notebooks/test_committed.py": ("notebooks/*",),
    "tests/test_readme.py": ("book/*.md", "CONTRIBUTING.md"),
    "tests/test_without_urls.py": ("notebooks/*",),
}
#: seconds that tests have, however long the stages before them and collecting took
LEAST = 20.0


def main() -> int:
    """Run the three stages; the exit code is 1 if one of them failed."""
    options = _options()
    until = time.time() + options.seconds
    files = changed(options.since)
    print(f"{len(files)} changed files since {options.since}", flush=True)
    python = [sys.executable, "-m"]
    stages = (["ruff", "check", "--quiet", "."], ["ruff", "format", "--check", "--quiet", "."], ["mypy"])
    failed = [stage[0] for stage in stages if subprocess.run([*python, *stage], cwd=ROOT).returncode]
    near = reached(files)
    print(f"{len(near)} test files reach them", flush=True)
    if near:
        least = min(LEAST, options.seconds)
        until = max(until, time.time() + least)
        told = {"MARGINBOOK_CHECK_UNTIL": str(until), "MARGINBOOK_CHECK_LEAST": str(least)}
        environment = {**os.environ, **told, "PYTHONPATH": _path()}
        options = ["-n", "2", "-p", "budget", "-p", "no:randomly", "-m", "not browser and not long"]
        tests = subprocess.run([*python, "pytest", *options, *near], cwd=ROOT, env=environment)
        failed += ["pytest"] if tests.returncode not in (0, 5) else []
    if failed:
        print(f"failed: {', '.join(failed)}")
    return int(bool(failed))


def changed(since: str) -> list[str]:
    """Return the files that differ from a commit, and those that git does not know yet."""
    told = [
        _git("diff", "--name-only", since, "--"),
        _git("ls-files", "--others", "--exclude-standard"),
    ]
    return sorted({line for text in told for line in text.splitlines()})


def reached(files: Iterable[str]) -> list[str]:
    """Return the test files that import, or mention, what changed: the nearest first.

    Parameters
    ----------
    files : iterable of str
        Paths relative to the checkout.
    """
    imports = graph()
    users: dict[str, list[str]] = {}
    for user, used in imports.items():
        for name in used:
            users.setdefault(name, []).append(user)
    start = set(files)
    if start & EVERYTHING:
        return sorted(filter(_is_test, imports))
    for file in sorted(start - set(imports)):
        start.update(mentions(Path(file).name, imports))
        start.update(
            test for test, kinds in LOOKED_FOR.items() if any(fnmatchcase(file, kind) for kind in kinds)
        )
    distance = dict.fromkeys(start & set(imports), 0)
    waiting = deque(sorted(distance))
    while waiting:
        file = waiting.popleft()
        for user in users.get(file, ()):
            if user not in distance:
                distance[user] = distance[file] + 1
                waiting.append(user)
    rooms = {Path(file).parts[2] for file in start if file.startswith("src/") and len(Path(file).parts) > 3}
    return sorted(
        filter(_is_test, distance), key=lambda test: (distance[test], Path(test).parts[1] not in rooms, test)
    )


def mentions(name: str, files: Iterable[str]) -> Iterator[str]:
    """Yield the files whose text has a name in it."""
    return (file for file in files if name in (ROOT / file).read_text(encoding="utf-8"))


def graph() -> dict[str, list[str]]:
    """Return the files that each Python file of package and tests imports, itself left out."""
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    names = {path: path.relative_to(ROOT).as_posix() for path in files}
    modules = {_module(path): name for path, name in names.items()}
    kept = Remembered("checked", sha256(Path(__file__).read_bytes(), sys.version.encode()))
    asked = {}
    for path, name in names.items():
        key = sha256(name.encode(), path.read_bytes())
        asked[name] = kept.get(key, partial(_imports, path), list)
    kept.save()
    found = {}
    for name, imports in asked.items():
        targets = {_defined(base, part, modules, asked) for base, part in imports}
        found[name] = sorted(targets - {None, name})
    for name in found:  # pytest loads them without an import
        fixtures = (Path(name).parent / "conftest.py").as_posix()
        if name.startswith("tests/") and fixtures in found and fixtures != name:
            found[name].append(fixtures)
    return found


def _imports(path: Path) -> list[list[str]]:
    """Return pairs of module and name in it; the name is empty for ``import module``."""
    module = _module(path)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    pairs = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            pairs += [[alias.name, ""] for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            pairs += [[base, alias.name] for alias in node.names]
    return pairs


def _defined(
    base: str, part: str, modules: dict[str, str], asked: dict[str, list[list[str]]], depth: int = 0
) -> str | None:
    """Return the file that defines a name: what a package only passes on is looked for behind it."""
    if f"{base}.{part}" in modules:
        return modules[f"{base}.{part}"]
    file = modules.get(base)
    if file is None or not file.endswith("__init__.py") or depth > 5:
        return file
    behind = next((pair for pair in asked[file] if part and pair[1] == part), None)
    return _defined(*behind, modules, asked, depth + 1) if behind else file


def _module(path: Path) -> str:
    name = path.relative_to(ROOT).with_suffix("").as_posix().removeprefix("src/").replace("/", ".")
    return name.removesuffix(".__init__")


def _is_test(file: str) -> bool:
    return file.startswith("tests/") and Path(file).name.startswith("test_")


def _path() -> str:
    return os.pathsep.join(filter(None, [str(ROOT / "supply"), os.environ.get("PYTHONPATH", "")]))


def _git(*arguments: str) -> str:
    if (
        not (ROOT / ".git").exists() or shutil.which("git") is None
    ):  # an archive, perhaps in another repository
        sys.exit("`make check` asks git what changed, and this is no checkout of git: call `make test`")
    return subprocess.run([*GIT, *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--since", default="HEAD", help="commit to compare with (default: the last one)")
    parser.add_argument(
        "--seconds",
        type=float,
        default=50,
        help="no test starts later, and 5 s after it none goes on (%(default)g)",
    )
    return parser.parse_args()


if __name__ == "__main__":
    with one_sentence():
        sys.exit(main())
