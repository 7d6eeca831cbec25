"""One zip for students and one for instructors of each problem set, in folders of their own."""

from __future__ import annotations

import csv
import io
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import nbformat

from .. import __version__
from ..base import packages
from ..base.project import root
from .building import DERIVE, solutions, source, student
from .sets import ProblemSet

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first date that a zip can hold: the same bytes on every run

_STAMP = 315532800  # the same day, in seconds of Unix

#: marginbook itself, which no package index needs to have
WHEEL = f"marginbook-{__version__}-py3-none-any.whl"
# numpy, scipy and scikit-learn come with it
_REQUIREMENTS = f"./{WHEEL}\nmatplotlib>=3.9\njupyterlab>=4\n"

_FOR_STUDENTS = """# {title}

`{room}.ipynb` is the problem set: {count} exercises, {points} points.

1. In this folder, with Python 3.11 or newer: `python -m venv .venv`, then `source .venv/bin/activate`
   (on Windows `.venv\\Scripts\\activate`), then `pip install -r requirements.txt`. marginbook is the file
   `{wheel}` beside this one; pip fetches the rest.
2. `jupyter lab {room}.ipynb`, and run the cells from the top.
3. Hand in `{room}.ipynb` under the same name. Do not copy the cells into a new notebook: the answers are
   found by the names that these cells carry.
"""

_FOR_INSTRUCTORS = """# {title}: for instructors

| file | what it is |
|---|---|
| `solutions/{room}.ipynb` | every exercise with its solution and the explanation, to read |
| `source/{room}/{room}.ipynb` | for nbgrader: solutions between its marks |
| `nbgrader_config.py` | settings of the course; the same file for all sets |
| `points-{room}.csv` | exercise, title, kind, points of the check, points for the written derivation |

Unpack the zips of all sets into one course folder. There
`nbgrader generate_assignment {room}` writes `release/{room}/{room}.ipynb`, the notebook of the students' zip,
and `nbgrader autograde {room}` marks what is in `submitted/`. Without nbgrader,
`marginbook coursework grade FILE...` gives the marks of submitted notebooks.

Do not hand any of this to students.
"""

_CONFIG = '''"""Settings of the course for the problem sets of marginbook: nbgrader reads this file."""

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "marginbook"
# the starter stands above the solution in its cell: what is taken out needs no stub
c.ClearSolutions.code_stub = {{"python": ""}}
c.ClearSolutions.text_stub = {derive!r}
c.ExecutePreprocessor.timeout = 120
'''


def write(folder: str | Path, problems: Iterable[ProblemSet], written: int = 0) -> list[Path]:
    """Write ``students/<room>.zip`` and ``instructors/<room>.zip`` of each set; return their paths.

    Parameters
    ----------
    folder : path
    problems : iterable of ProblemSet
    written : int
        Points for each written derivation, as in `building.student`.
    """
    paths = []
    for each in problems:
        paths += write_students(Path(folder) / "students", [each], written)
        paths.append(_pack(Path(folder) / "instructors", each, for_instructors(each, written)))
    return paths


def write_students(folder: str | Path, problems: Iterable[ProblemSet], written: int = 0) -> list[Path]:
    """Write the students' ``<room>.zip`` of each set, and nothing else; return their paths.

    Raises
    ------
    RuntimeError
        Without a checkout, of which the zip holds a wheel, or where that cannot be built.
    """
    return [
        _pack(Path(folder), each, {**for_students(each, written), f"{each.room}/{WHEEL}": wheel()})
        for each in problems
    ]


def for_students(problems: ProblemSet, written: int = 0) -> dict[str, str]:
    """Return the texts of the students' zip, by name; the wheel is beside them."""
    room = problems.room
    return {
        f"{room}/{room}.ipynb": _text(student(problems, written)),
        f"{room}/README.md": _FOR_STUDENTS.format(
            title=problems.title,
            room=room,
            count=len(problems.exercises),
            points=problems.points,
            wheel=WHEEL,
        ),
        f"{room}/requirements.txt": _REQUIREMENTS,
    }


def for_instructors(problems: ProblemSet, written: int = 0) -> dict[str, str]:
    """Return the files of the instructors' zip, by name."""
    room = problems.room
    return {
        f"source/{room}/{room}.ipynb": _text(source(problems, written)),
        f"solutions/{room}.ipynb": _text(solutions(problems)),
        f"points-{room}.csv": _points(problems, written),
        "nbgrader_config.py": _CONFIG.format(derive=DERIVE),
        f"README-{room}.md": _FOR_INSTRUCTORS.format(title=problems.title, room=room),
    }


def wheel() -> bytes:
    """Return the wheel of this checkout; nothing is fetched, and the same sources give the same bytes.

    Raises
    ------
    RuntimeError
        Without a checkout, or where it cannot be built.
    """
    home = root()
    if home is None:
        raise RuntimeError("no checkout to build marginbook from: set MARGINBOOK_HOME to one")
    return _wheel_of(home)


@cache
def _wheel_of(home: Path) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        packages.build(home, Path(folder), _STAMP, ["wheel"])
        return (Path(folder) / WHEEL).read_bytes()


def _points(problems: ProblemSet, written: int) -> str:
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["exercise", "title", "kind", "check", "written"])
    for exercise in problems.exercises:
        by_hand = written if exercise.kind == "Derivation" else 0
        table.writerow([exercise.id, exercise.title, exercise.kind, exercise.points, by_hand])
    return out.getvalue()


def _text(node: nbformat.NotebookNode) -> str:
    return nbformat.writes(node, version=4) + "\n"


def _pack(folder: Path, problems: ProblemSet, files: Mapping[str, str | bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{problems.room}.zip"
    path.write_bytes(_zipped(files))
    return path


def _zipped(files: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return out.getvalue()
