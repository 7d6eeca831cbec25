"""Marks of a submission: its answers are put between the original cells, and everything is executed."""

from __future__ import annotations

import os
import re
import signal
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import nbformat

from ..notebooks.executing import KERNEL_ARGUMENTS, KERNEL_ENV
from .building import cell_id, source, student
from .sets import ProblemSet, find

TIMEOUT = 120  # seconds for one cell
MEMORY = 4.0  # GiB for one kernel
_SEED = re.compile(r"^(seed: int = )\d+", re.MULTILINE)
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


class SubmissionError(ValueError):
    """The file is no submission of a problem set; the message says what is missing."""


class SetupFailed(RuntimeError):
    """The set's own first cells fail on this machine, so that no mark would be the student's."""


@dataclass(frozen=True)
class Mark:
    """The mark of one exercise.

    Attributes
    ----------
    exercise : str
        ``"drm/one-pass"``.
    points, earned : int
    remark : str
        What the check printed, or the error that it ended with.
    """

    exercise: str
    points: int
    earned: int
    remark: str


def grade(
    submission: str | Path | nbformat.NotebookNode,
    timeout: float = TIMEOUT,
    seed: int | None = None,
    memory: float = MEMORY,
    progress: Callable[[str, int, int], None] | None = None,
) -> list[Mark]:
    """Return the marks of a submitted notebook, one for each exercise of its set.

    The student's code runs with the rights of the caller. Only the answer cells are taken from the
    submission, by their ids; cells that were changed or deleted come from the original. As in nbgrader, a
    check earns its points when it ends without an error. Derivations are for a person to mark.

    Parameters
    ----------
    submission : path or notebook
    timeout : float, default=120
        Seconds for one cell. An exercise with a cell that takes longer fails; the others are marked.
    seed : int, default=None
        Draw the data of the checks with another seed than students see. What the reference solution does not
        pass with this seed is not counted: its mark is 0 of 0.
    memory : float, default=4.0
        GiB for one kernel, where the system can bound it (Linux).
    progress : callable, optional
        Called with the name of the file, how many exercises are marked, and how many it has; with a seed
        also for the reference solution.

    Raises
    ------
    SubmissionError
        If it is no notebook of one of the sets.
    UnknownSet
        If it names an unknown set, which is any without a checkout of marginbook.
    SetupFailed
        If the cells before the first exercise fail, which are the set's and not the student's.
    """
    node = submission if isinstance(submission, nbformat.NotebookNode) else _read(Path(submission))
    problems = _set_of(node)
    answers = {
        cell.metadata["nbgrader"].get("grade_id"): cell.source
        for cell in node.cells
        if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("solution")
    }
    whole = student(problems)
    for cell in whole.cells:
        cell.source = answers.get(cell["id"], cell.source) if _is_answer(cell) else cell.source
    name = "a notebook" if isinstance(submission, nbformat.NotebookNode) else Path(submission).name
    tell = progress or (lambda what, done, total: None)
    fair = {}
    if seed is not None:
        reference = source(problems)
        _set_seed(reference, seed)
        _set_seed(whole, seed)
        fair = _outcomes(problems, reference, timeout, memory, partial(tell, f"the reference for {name}"))
    outcomes = _outcomes(problems, whole, timeout, memory, partial(tell, name))
    marks = []
    for exercise, (passed, remark) in zip(problems.exercises, outcomes.values(), strict=True):
        if fair and not fair[exercise.id][0]:
            marks.append(Mark(exercise.id, 0, 0, f"not counted: the reference fails with the seed {seed}"))
        else:
            marks.append(Mark(exercise.id, exercise.points, exercise.points if passed else 0, remark))
    return marks


def _read(path: Path) -> nbformat.NotebookNode:
    try:
        return nbformat.read(path, as_version=4)
    except Exception as error:
        raise SubmissionError(f"no notebook that can be read: {type(error).__name__}") from None


def _set_of(node: nbformat.NotebookNode) -> ProblemSet:
    room = node.metadata.get("marginbook", {}).get("set")
    if room is None:
        raise SubmissionError(
            "the notebook names no problem set, expected one made by `marginbook coursework`"
        )
    return find(room)


def _is_answer(cell: nbformat.NotebookNode) -> bool:
    return cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("solution", False)


def _set_seed(node: nbformat.NotebookNode, seed: int) -> None:
    """Change the parameter in the first cell of the setup."""
    cell = next(cell for cell in node.cells if cell.cell_type == "code")
    cell.source, found = _SEED.subn(rf"\g<1>{seed}", cell.source)
    if found != 1:
        raise SubmissionError(
            "the first code cell of this set has no line `seed: int = ...`; mark without a seed"
        )


def _outcomes(
    problems: ProblemSet,
    node: nbformat.NotebookNode,
    timeout: float,
    memory: float,
    progress: Callable[[int, int], None],
) -> dict[str, tuple[bool, str]]:
    """Execute the notebook; return for each exercise whether its check passed, and what it said.

    An answer that does not end, or ends the kernel, costs its own points only: another kernel runs the rest,
    with the answers before it, as one exercise may use a function of another.
    """
    total = len(problems.exercises)
    found = _Told(lambda done: progress(done, total))
    lost: set[str] = set()
    progress(0, total)
    while len(found) < total:
        try:
            _execute(problems, node, timeout, memory, found, lost)
        except _Ended as end:
            found[end.exercise] = (False, end.remark)
            lost.add(end.exercise)
    return {exercise.id: found[exercise.id] for exercise in problems.exercises}


class _Told(dict[str, tuple[bool, str]]):
    """Outcomes by exercise; how many there are is told with each."""

    def __init__(self, tell: Callable[[int], None]) -> None:
        super().__init__()
        self._tell = tell

    def __setitem__(self, exercise: str, outcome: tuple[bool, str]) -> None:
        super().__setitem__(exercise, outcome)
        self._tell(len(self))


class _Ended(Exception):
    """The kernel cannot go on, because of one exercise."""

    def __init__(self, exercise: str, remark: str) -> None:
        super().__init__(remark)
        self.exercise, self.remark = exercise, remark


def _execute(
    problems: ProblemSet,
    node: nbformat.NotebookNode,
    timeout: float,
    memory: float,
    found: dict[str, tuple[bool, str]],
    lost: set[str],
) -> None:
    """Execute cells in one kernel, past errors; not those of `lost`, and no check that `found` has."""
    from nbclient.exceptions import CellTimeoutError, DeadKernelError

    from ..notebooks.forked import Manager
    from .bounded import BoundedClient

    parts = _parts(problems)
    with tempfile.TemporaryDirectory() as folder:
        client = BoundedClient(
            node,
            # the set's own imports are not what is timed
            timeout_func=lambda cell: timeout if cell["id"] in parts else max(timeout, TIMEOUT),
            allow_errors=True,
            kernel_name="python3",
            kernel_manager_class=Manager,
            shutdown_kernel="immediate",  # a loop would not listen
            resources={"metadata": {"path": folder}},
            extra_arguments=KERNEL_ARGUMENTS,
        )
        client.log.disabled = True  # what it logs is in the marks
        with client.setup_kernel(env={**os.environ, **KERNEL_ENV, "MPLBACKEND": "agg"}):
            client.execute_cell(_limit(memory), 0)
            for index, cell in enumerate(node.cells):
                exercise, part = parts.get(cell["id"], ("", "setup" if cell.cell_type == "code" else ""))
                if not part or exercise in lost or (part == "check" and exercise in found):
                    continue
                try:
                    client.execute_cell(cell, index)
                except CellTimeoutError:
                    how = f"the {part} did not end within {timeout if exercise else TIMEOUT:g} seconds"
                except DeadKernelError:
                    how = f"the kernel {_exit(client)} in the {part}"
                else:
                    how = ""
                if how and exercise:
                    raise _Ended(exercise, how)
                if not exercise and (how or not _outcome(cell, memory)[0]):
                    raise SetupFailed(
                        f"the setup of {problems.room} failed: {how or _outcome(cell, memory)[1]}"
                    )
                if part == "answer":
                    answered, said = _outcome(cell, memory)
                elif part == "check":
                    passed, remark = _outcome(cell, memory)
                    # what the check misses is what the answer did not come to define
                    found[exercise] = (passed, remark if passed or answered else f"in the answer, {said}")


def _parts(problems: ProblemSet) -> dict[str, tuple[str, str]]:
    """Return exercise and part of each code cell by its id; no part where it only shows results."""
    found = {}
    for exercise in problems.exercises:
        names = {f"setup-{k}": "setup" for k in range(1, len(exercise.own) + 1)}
        for name, part in {**names, "answer": "answer", "check": "check"}.items():
            found[cell_id(exercise, name)] = (exercise.id, part)
        for k in range(1, len(exercise.results) + 1):
            found[cell_id(exercise, f"result-{k}")] = (exercise.id, "")
    return found


def _limit(memory: float) -> nbformat.NotebookNode:
    """Return a cell that bounds the memory of the kernel, where the system can do that."""
    size = int(memory * 2**30)
    return nbformat.v4.new_code_cell(
        "try:\n    import resource\n"
        f"    resource.setrlimit(resource.RLIMIT_DATA, ({size}, {size}))\n"
        "except (ImportError, OSError, ValueError):\n    pass"
    )


def _exit(client: Any) -> str:
    """Say how the kernel ended."""
    process = getattr(client.km.provisioner, "process", None)
    code = process.poll() if process is not None else None
    if code == -signal.SIGKILL:
        return "was killed, as when memory runs out,"
    if code is None or code < 0:
        return f"died{'' if code is None else f' of signal {-code}'}"
    return f"ended with code {code}"


def _outcome(cell: nbformat.NotebookNode, memory: float) -> tuple[bool, str]:
    errors = [output for output in cell.outputs if output.output_type == "error"]
    if errors:
        value = _ESCAPES.sub("", errors[0].evalue).strip()
        said = value.splitlines()[0] if value else "no message"
        if errors[0].ename == "MemoryError" and not value:
            said = f"wanted more than {memory:g} GiB"
        return False, f"{errors[0].ename}: {said}"
    printed = "".join(output.text for output in cell.outputs if output.output_type == "stream")
    return True, printed.strip()
