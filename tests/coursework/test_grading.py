"""The reference solution earns all points, the starter none, and a submission cannot change its checks."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from marginbook.coursework import Mark, ProblemSet, available, bounded, grade, grading, source, student
from marginbook.coursework.grading import SetupFailed, SubmissionError

SETS = available()
each = pytest.mark.parametrize("problems", SETS.values(), ids=SETS)


@each
def test_the_reference_solution_earns_full_marks(problems: ProblemSet) -> None:
    marks = grade(source(problems))
    assert [(mark.exercise, mark.earned) for mark in marks] == [
        (exercise.id, exercise.points) for exercise in problems.exercises
    ]


@each
def test_the_unsolved_starter_earns_nothing_and_each_refusal_says_why(problems: ProblemSet) -> None:
    marks = grade(student(problems))
    assert [mark.exercise for mark in marks if mark.earned] == []
    assert [mark.points for mark in marks] == [exercise.points for exercise in problems.exercises]
    for mark in marks:
        error, _, message = mark.remark.partition(": ")
        assert error in ("AssertionError", "NotImplementedError"), mark
        assert message not in ("", "no message"), mark


@pytest.fixture
def submit(toy: ProblemSet, monkeypatch: pytest.MonkeyPatch):
    """Grade the student's notebook of the small set with these answers."""
    monkeypatch.setattr(grading, "find", {"toy": toy}.__getitem__)

    def submit(
        change: Callable[[nbformat.NotebookNode], object] = id,
        timeout: float = 60,
        seed=None,
        memory: float = 4,
        **answers: str,
    ):
        node = student(toy)
        for cell in node.cells:
            name = cell["id"].removeprefix("toy-").removesuffix("-answer")
            cell.source = answers.get(name, cell.source)
        change(node)
        return grade(node, timeout, seed, memory)

    return submit


def test_one_right_answer_earns_its_points(submit) -> None:
    assert submit(triple="def triple(x):\n    return 3 * x") == [
        Mark("toy/double", 2, 0, "NotImplementedError: twice"),
        Mark("toy/triple", 3, 3, ""),
    ]


def test_checks_that_were_changed_or_deleted_come_from_the_original(submit) -> None:
    def tamper(node: nbformat.NotebookNode) -> None:
        for cell in node.cells:
            if cell["id"] == "toy-double-check":
                cell.source = "pass"
        node.cells = [cell for cell in node.cells if cell["id"] not in ("toy-triple-check", "toy-setup-1")]

    assert [mark.earned for mark in submit(tamper)] == [0, 0]
    solved = submit(tamper, double="def double(x): return 2 * x", triple="def triple(x): return 3 * x")
    assert [(mark.earned, mark.remark) for mark in solved] == [(2, "right: doubled"), (3, "")]


def test_another_seed_counts_what_the_reference_passes(submit, toy: ProblemSet, monkeypatch) -> None:
    # the first check draws; the second one is met by the reference for the students' seed only
    double, triple = toy.exercises
    drawn = "import random\nx = random.Random(seed).random()\nassert double(x) == 2 * x, 'is not doubled'"
    changed = [
        replace(double, common=("seed: int = 0  # of all", "base = 2"), check=drawn),
        replace(triple, check=triple.check + "\nassert seed == 0, 'another draw'"),
    ]
    monkeypatch.setattr(grading, "find", {"toy": replace(toy, exercises=tuple(changed))}.__getitem__)
    fitted = f"def double(x):\n    return {2 * random.Random(0).random()!r}"
    right = "def triple(x): return 3 * x"
    assert [mark.earned for mark in submit(double=fitted, triple=right)] == [2, 3]
    caught, uncounted = submit(double=fitted, triple=right, seed=7)
    assert caught == Mark("toy/double", 2, 0, "AssertionError: is not doubled")
    assert uncounted == Mark("toy/triple", 0, 0, "not counted: the reference fails with the seed 7")
    assert submit(double="def double(x): return 2 * x", seed=7)[0].earned == 2


def test_each_exercise_is_told_when_it_is_marked(toy: ProblemSet, monkeypatch, tmp_path: Path) -> None:
    common = ("seed: int = 0  # of all", "base = 2")
    seeded = replace(toy, exercises=tuple(replace(each, common=common) for each in toy.exercises))
    monkeypatch.setattr(grading, "find", {"toy": seeded}.__getitem__)
    nbformat.write(student(seeded), tmp_path / "one.ipynb")
    told: list[tuple[str, int, int]] = []
    grade(tmp_path / "one.ipynb", seed=7, progress=lambda *what: told.append(what))
    names = ("the reference for one.ipynb", "one.ipynb")
    assert told == [(name, done, 2) for name in names for done in range(3)]


def test_a_set_without_a_seed_says_so(submit) -> None:
    with pytest.raises(SubmissionError, match="has no line `seed: int"):
        submit(seed=7)


TRIPLE = "def triple(x): return 3 * x"


@pytest.mark.parametrize(
    "loop",
    [
        "while True:\n        pass",
        # one that no interrupt ends
        "while True:\n        try:\n            while True: pass\n        except BaseException: pass",
    ],
)
def test_an_endless_loop_is_named_and_the_other_exercises_are_marked(submit, loop: str) -> None:
    assert submit(double=f"def double(x):\n    {loop}", triple=TRIPLE, timeout=3) == [
        Mark("toy/double", 2, 0, "the check did not end within 3 seconds"),
        Mark("toy/triple", 3, 3, ""),
    ]


def test_of_a_loop_that_prints_for_ever_the_beginning_is_kept(submit, monkeypatch) -> None:
    executed: list[nbformat.NotebookNode] = []
    execute = grading._execute

    def watched(problems: ProblemSet, node: nbformat.NotebookNode, *others: object) -> None:
        executed.append(node)
        execute(problems, node, *others)

    monkeypatch.setattr(grading, "_execute", watched)
    loop = "while True:\n        print('x' * 10**6, flush=True)\n        time.sleep(0.05)"
    late, right = submit(double=f"import time\ndef double(x):\n    {loop}", triple=TRIPLE, timeout=3)
    assert late == Mark("toy/double", 2, 0, "the check did not end within 3 seconds")
    assert right.earned == 3
    (check,) = (cell for cell in executed[0].cells if cell["id"] == "toy-double-check")
    assert 0 < sum(len(output.text) for output in check.outputs) <= bounded.MOST


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("stream", {"name": "stdout", "text": "x" * 300}),
        ("stream", {"name": "stdout", "text": "x" * 3_000_000}),
        ("display_data", {"data": {"text/plain": "x"}, "metadata": {}}),
        ("display_data", {"data": {"text/plain": "x" * 400_000}, "metadata": {}}),
    ],
)
def test_outputs_of_each_cell_have_a_bound_and_errors_have_none(kind: str, content: dict) -> None:
    client = bounded.BoundedClient(nbformat.v4.new_notebook())
    client.clear_before_next_output = False  # as before a cell is executed

    def shown(times: int, kind: str, content: dict) -> None:
        for _ in range(times):
            message = {"header": {"msg_type": kind}, "msg_type": kind, "content": dict(content)}
            message["parent_header"] = {"msg_id": "1"}
            client.output(outs, message, None, 0)

    for _ in range(2):  # each cell begins anew
        outs: list[nbformat.NotebookNode] = []
        shown(5000, kind, content)
        kept = sum(
            len(each.get("text", "")) + len(each.get("data", {}).get("text/plain", "")) for each in outs
        )
        assert 0 < len(outs) <= 1000
        assert bounded.MOST / 5000 < kept + len(outs) <= bounded.MOST
        shown(1, "error", {"ename": "E", "evalue": "", "traceback": []})
        assert outs[-1].output_type == "error"


def test_an_error_behind_much_that_was_printed_is_told(submit) -> None:
    first, _ = submit(double="for _ in range(20):\n    print('x' * 10**5, flush=True)\n3 / 0")
    assert first.remark == "in the answer, ZeroDivisionError: division by zero"


def test_an_endless_loop_in_the_answer_itself(submit) -> None:
    late, right = submit(double="while True: pass", triple=TRIPLE, timeout=3)
    assert late == Mark("toy/double", 2, 0, "the answer did not end within 3 seconds")
    assert right.earned == 3


@pytest.mark.parametrize(
    ("answer", "remark"),
    [
        ("import os\nos._exit(3)", "the kernel ended with code 3 in the answer"),
        (
            "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)",
            "the kernel died of signal 11 in the answer",
        ),
        (
            "import os, signal\ndef double(x): os.kill(os.getpid(), signal.SIGKILL)",
            "the kernel was killed, as when memory runs out, in the check",
        ),
    ],
)
def test_a_kernel_that_ends_costs_one_exercise(submit, answer: str, remark: str) -> None:
    assert submit(double=answer, triple=TRIPLE) == [
        Mark("toy/double", 2, 0, remark),
        Mark("toy/triple", 3, 3, ""),
    ]


def test_an_error_of_the_answer_is_the_remark_and_not_what_the_check_misses(submit) -> None:
    first, second = submit(double="def double(x) return 2", triple="3 / 0")
    assert first.remark.startswith("in the answer, SyntaxError: expected ':'")
    assert second.remark == "in the answer, ZeroDivisionError: division by zero"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the memory of a process")
def test_more_memory_than_there_is_for_one_kernel(submit) -> None:
    hungry = "def double(x):\n    rows = []\n    while True:\n        rows.append(bytearray(10**7))"
    full, right = submit(double=hungry, triple=TRIPLE, memory=1)
    assert (full.earned, full.remark) == (0, "MemoryError: wanted more than 1 GiB")
    assert right.earned == 3


def test_answers_before_a_lost_exercise_are_there_for_those_after_it(submit) -> None:
    double = "import os\ndef double(x): return 2 * x\ndef more(x): return double(x) + x"
    assert [mark.earned for mark in submit(double=double, triple="triple = more")] == [2, 3]
    first, second = submit(double=double, triple="triple = more\nos._exit(1)")
    assert (first.earned, second.remark) == (2, "the kernel ended with code 1 in the answer")


def test_a_setup_that_fails_is_no_students_fault(submit, toy: ProblemSet, monkeypatch) -> None:
    broken = tuple(replace(each, common=("raise OSError('no data')",)) for each in toy.exercises)
    monkeypatch.setattr(grading, "find", {"toy": replace(toy, exercises=broken)}.__getitem__)
    with pytest.raises(SetupFailed, match="the setup of toy failed: OSError: no data"):
        submit(triple=TRIPLE)


def test_what_is_no_submission_is_said(tmp_path: Path) -> None:
    with pytest.raises(SubmissionError, match="names no problem set, expected one made by"):
        grade(nbformat.v4.new_notebook())
    (tmp_path / "text.ipynb").write_text("no JSON")
    with pytest.raises(SubmissionError, match="no notebook that can be read"):
        grade(tmp_path / "text.ipynb")
