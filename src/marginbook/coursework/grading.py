"""Marks of a submission: its answers are put between the original cells, and everything is executed."""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import nbformat

from ..notebooks.executing import KERNEL_ARGUMENTS, KERNEL_ENV
from .building import source, student
from .sets import ProblemSet, find

TIMEOUT = 120  # seconds for one cell
_SEED = re.compile(r"^(seed: int = )\d+", re.MULTILINE)
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


class SubmissionError(ValueError):
    """The file is no submission of a problem set; the message says what is missing."""


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
    submission: str | Path | nbformat.NotebookNode, timeout: float = TIMEOUT, seed: int | None = None
) -> list[Mark]:
    """Return the marks of a submitted notebook, one for each exercise of its set.

    The student's code runs with the rights of whoever calls this. Only the answer cells are taken from the
    submission, by their ids; cells that were changed or deleted come from the original. As in nbgrader, a
    check earns its points when it ends without an error. Derivations are for a person to mark.

    Parameters
    ----------
    submission : path or notebook
    timeout : float
        Seconds for one cell, which is interrupted after that.
    seed : int, optional
        Draw the data of the checks with another seed than students see. What the reference solution does not
        pass with this seed is not counted: its mark is 0 of 0.

    Raises
    ------
    SubmissionError
        If it is no notebook of one of the sets.
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
    fair = {}
    if seed is not None:
        reference = source(problems)
        _set_seed(reference, seed)
        _set_seed(whole, seed)
        fair = _outcomes(problems, reference, timeout)
    marks = []
    for exercise, (passed, remark) in zip(
        problems.exercises, _outcomes(problems, whole, timeout).values(), strict=True
    ):
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
        raise SubmissionError("the notebook names no problem set, wanted one made by `marginbook coursework`")
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
    problems: ProblemSet, node: nbformat.NotebookNode, timeout: float
) -> dict[str, tuple[bool, str]]:
    """Execute the notebook; return for each exercise whether its check passed, and what it said."""
    died = _execute(node, timeout)
    cells = {cell["id"]: cell for cell in node.cells}
    checks = {each.id: cells[f"{each.id.replace('/', '-')}-check"] for each in problems.exercises}
    return {id: _outcome(check, died) for id, check in checks.items()}


def _execute(node: nbformat.NotebookNode, timeout: float) -> str:
    """Execute all cells in place, past errors; return why that ended early, if it did."""
    from nbclient import NotebookClient
    from nbclient.exceptions import DeadKernelError

    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            node,
            timeout=timeout,
            interrupt_on_timeout=True,
            allow_errors=True,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
            extra_arguments=KERNEL_ARGUMENTS,
        )
        try:
            client.execute(env={**os.environ, **KERNEL_ENV, "MPLBACKEND": "agg"})
        except DeadKernelError:
            return "not reached: the kernel died before this check"
    return ""


def _outcome(check: nbformat.NotebookNode, died: str) -> tuple[bool, str]:
    errors = [output for output in check.outputs if output.output_type == "error"]
    if errors:
        value = _ESCAPES.sub("", errors[0].evalue).strip()
        return False, f"{errors[0].ename}: {value.splitlines()[0] if value else 'no message'}"
    if check.execution_count is None:
        return False, died or "not reached"
    printed = "".join(output.text for output in check.outputs if output.output_type == "stream")
    return True, printed.strip()
