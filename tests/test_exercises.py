"""Every exercise of every room: solved it passes, unsolved it fails, and nothing gives the solution away."""

import ast
import json
from pathlib import Path

import matplotlib
import pytest

from marginbook.coursework.exercises import Exercise, ExerciseError, read
from marginbook.notebooks import find as find_notebook

from .answered import attempt, problem_sets
from .given_away import leaks
from .settled import SETTLED

matplotlib.use("Agg")
SETS = problem_sets()
EXERCISES = [exercise for exercises in SETS.values() for exercise in exercises]
each = pytest.mark.parametrize("exercise", EXERCISES, ids=[exercise.id for exercise in EXERCISES])


def stored_outputs(id: str) -> dict[str, str]:
    """What each code cell of the stored notebook printed, by its source."""
    node = json.loads(find_notebook(id).stored.read_text())
    return {
        "".join(cell["source"]): "".join(
            "".join(output["text"]) for output in cell["outputs"] if output["output_type"] == "stream"
        )
        for cell in node["cells"]
        if cell["cell_type"] == "code"
    }


@each
def test_the_solution_passes_alone_and_prints_what_the_page_shows(exercise: Exercise) -> None:
    id = next(id for id, exercises in SETS.items() if exercise in exercises)
    assert attempt(exercise, exercise.solution) == stored_outputs(id)[exercise.check]


@each
def test_the_starter_is_unsolved(exercise: Exercise) -> None:
    with pytest.raises((AssertionError, NotImplementedError)) as caught:
        attempt(exercise, exercise.starter)
    assert str(caught.value), "a reader whose answer is refused is told why"


@each
def test_an_empty_answer_does_not_pass(exercise: Exercise) -> None:
    with pytest.raises((AssertionError, NotImplementedError, NameError)):
        attempt(exercise, "")


@each
def test_nothing_gives_the_solution_away(exercise: Exercise) -> None:
    for text in (exercise.starter, exercise.statement, exercise.title, *exercise.hints, exercise.setup):
        assert leaks(exercise, text) == []
    assert leaks(exercise, exercise.solution), "a solution says something that the starter does not"


@each
def test_the_check_draws_with_a_seed_and_explains_each_refusal(exercise: Exercise) -> None:
    assert "default_rng()" not in exercise.setup + exercise.check
    asserts = [node for node in ast.walk(ast.parse(exercise.check)) if isinstance(node, ast.Assert)]
    assert asserts
    assert all(node.msg for node in asserts), "a reader is told what is wrong"


def test_a_room_has_derivations_and_experiments_and_ids_of_its_own() -> None:
    ids = [exercise.id for exercise in EXERCISES]
    assert len(set(ids)) == len(ids)
    for id, exercises in SETS.items():
        assert {exercise.id.partition("/")[0] for exercise in exercises} == {id.partition("/")[0]}
        kinds = {exercise.kind for exercise in exercises}
        assert {"Derivation", "Experiment"} <= kinds or id.partition("/")[0] not in SETTLED
        assert len(exercises) >= 6 or id.partition("/")[0] not in SETTLED


@pytest.mark.parametrize("id", [id for id in SETS if id.partition("/")[0] in SETTLED])
def test_at_least_half_of_a_room_is_something_to_do(id: str) -> None:
    doing = [exercise.id for exercise in SETS[id] if exercise.kind in ("Programming", "Experiment")]
    assert 2 * len(doing) >= len(SETS[id])


# --- the markup

TEXT = """# Set

Words.

```{code-cell} ipython3
base = 2
```

(toy-exercise-double)=
## Double it

*Programming, 2 points*

Find $2x$. A fence of the statement:

```text
## no heading
```

```{code-cell} ipython3
:tags: [setup]

offset = 0
```

```python starter
def double(x):
    raise NotImplementedError("twice")
```

```{dropdown} Hint 1
Add.
```

:::{dropdown} Hint 2
:open:
Or multiply.
:::

```{code-cell} ipython3
:tags: [solution, hide-input]

def double(x):
    return base * x + offset
```

```{code-cell} ipython3
:tags: [check]

print("checking")
assert double(3) == 6, "3 is doubled to 6"
```

````{dropdown} Solution: addition
```text
x + x
```
````

## Afterwards

More words.
"""


@pytest.fixture
def write(tmp_path: Path):
    def write(text: str) -> Path:
        path = tmp_path / "07_exercises.md"
        header = "---\njupytext:\n  text_representation:\n    extension: .md\n    format_name: myst\n---\n\n"
        path.write_text(header + text)
        return path

    return write


def test_all_parts_are_found(write) -> None:
    (toy,) = read(write(TEXT))
    assert (toy.id, toy.title, toy.kind, toy.points) == ("toy/double", "Double it", "Programming", 2)
    assert toy.statement == "Find $2x$. A fence of the statement:\n\n```text\n## no heading\n```"
    assert toy.starter == 'def double(x):\n    raise NotImplementedError("twice")\n'
    assert toy.hints == ("Add.", "Or multiply.")
    assert (toy.common, toy.own, toy.results) == (("base = 2",), ("offset = 0",), ())
    assert toy.explanation == "```text\nx + x\n```"
    assert toy.setup == "base = 2\n\noffset = 0"
    assert attempt(toy, toy.solution) == "checking\n"
    with pytest.raises(AssertionError, match="3 is doubled to 6"):
        attempt(toy, "def double(x): return x")


def test_reading_executes_nothing(write) -> None:
    assert read(write(TEXT.replace("base = 2", "raise SystemExit")))


def test_a_leak_is_seen_in_comments_and_other_spellings(write) -> None:
    (toy,) = read(write(TEXT))
    assert leaks(toy, "# return base*x  +  offset") == ["return base * x + offset"]
    assert leaks(toy, "return base * y") == []


CHECK = "```{code-cell} ipython3\n:tags: [check]"
CELL = "```{code-cell} ipython3\n:tags: [%s]\n\nx = 1\n```\n\n"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("```python starter", "```python", "no block ```python starter, expected one"),
        ("[solution, hide-input]", "[setup]", "no cell tagged solution, expected one"),
        (CHECK, CELL % "check" + CHECK, "found 2 cell tagged check"),
        ("[check]", "[]", "expected exactly one of setup, solution, check, result"),
        ("[check]", "[check, solution]", "expected exactly one of"),
        ("{dropdown} Solution", "{dropdown} Derivation", "expected Hint or Solution first"),
        ("*Programming, 2 points*\n", "", "expected kind and points, as *Derivation, 3 points*"),
        ("*Programming, 2", "*Painting, 2", "begins with '*Painting, 2 points*'"),
        ("```{dropdown} Hint 1", "Stray.\n\n```{dropdown} Hint 1", "in no dropdown: 'Stray.'"),
        ("More words.", CELL % "x", "a code cell after the last exercise"),
        ("    raise NotImplementedError", "  return (", "the starter is not Python"),
        ("(toy-exercise-double)=", "(toy-double)=", "no exercise; one begins with"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_line(write, old: str, new: str, message: str) -> None:
    assert TEXT.count(old) == 1
    with pytest.raises(ExerciseError) as caught:
        read(write(TEXT.replace(old, new)))
    assert message in str(caught.value)
    assert "07_exercises.md" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_order_hints_and_ids_are_checked(write) -> None:
    early = TEXT.replace("```python starter", CELL % "check" + "```python starter")
    with pytest.raises(ExerciseError, match="the cell tagged solution must come before check"):
        read(write(early))
    bare = TEXT.replace("```{dropdown} Hint 1\nAdd.\n```", "").replace(
        ":::{dropdown} Hint 2\n:open:\nOr multiply.\n:::", ""
    )
    with pytest.raises(ExerciseError, match="no hint, expected at least one"):
        read(write(bare))
    section = TEXT[TEXT.index("(toy-") : TEXT.index("## Afterwards")]
    with pytest.raises(ExerciseError, match="2 exercises have the id toy/double, expected one"):
        read(write(TEXT.replace("## Afterwards", section + "## Afterwards")))
