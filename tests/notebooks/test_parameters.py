"""Declarations are read from the syntax tree; values are checked against them."""

import nbformat
import pytest

from marginbook.notebooks.parameters import Parameter, ParameterError, check, convert, parameters, parse

SOURCE = """
datasets: list[str] = ["glass2"]  # sets to run
n_jobs = 1  # processes # really
tolerance = 1e-6
grid = [0.1, 1]  # mixed numbers
seed: int | None = None  # unset
mode: Literal["quick", "paper"] = "quick"
table: dict[str, float] = {"a": 1}
label = "x"  # a word
long = [
    "one",
    "two",
]  # on several lines
"""


def declared() -> dict[str, Parameter]:
    return {item.name: item for item in parse(SOURCE)}


def test_names_types_defaults_and_comments_are_read() -> None:
    found = declared()
    assert [(p.type, p.default, p.doc) for p in found.values()] == [
        ("list[str]", ["glass2"], "sets to run"),
        ("int", 1, "processes # really"),
        ("float", 1e-6, ""),
        ("list[float]", [0.1, 1], "mixed numbers"),
        ("int | None", None, "unset"),
        ("Literal['quick', 'paper']", "quick", ""),
        ("dict[str, float]", {"a": 1}, ""),
        ("str", "x", "a word"),
        ("list[str]", ["one", "two"], "on several lines"),
    ]


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("datasets", '["glass2", "ecoli4"]', ["glass2", "ecoli4"]),
        ("n_jobs", "2", 2),
        ("tolerance", "1", 1),
        ("grid", "[1, 2.5]", [1, 2.5]),
        ("seed", "null", None),
        ("seed", "3", 3),
        ("mode", "paper", "paper"),
        ("table", '{"b": 2.5}', {"b": 2.5}),
        ("label", "word", "word"),
        ("label", '"word"', "word"),
        ("label", "5", "5"),
        ("label", "true", "true"),
    ],
)
def test_values_of_the_command_line(name: str, text: str, value: object) -> None:
    assert convert(declared().values(), [(name, text)]) == {name: value}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("datasets", "glass2"),
        ("datasets", "[1]"),
        ("n_jobs", "1.5"),
        ("n_jobs", "true"),
        ("tolerance", "false"),
        ("tolerance", "small"),
        ("seed", "1.0"),
        ("mode", "long"),
        ("table", '{"a": "b"}'),
        ("grid", "{}"),
    ],
)
def test_a_wrong_type_names_the_right_one(name: str, text: str) -> None:
    with pytest.raises(ParameterError) as caught:
        convert(declared().values(), [(name, text)])
    message = str(caught.value)
    assert message.startswith(f"{name} must be {declared()[name].type}, such as ")
    assert "n_jobs: int = 1  processes" in message
    assert "\n" not in message


def test_a_wrong_name_lists_the_right_ones() -> None:
    with pytest.raises(ParameterError) as caught:
        check(parse("n_jobs = 1  # processes\nseed = 0"), {"n_job": 2})
    assert str(caught.value) == (
        "no parameter 'n_job'; did you mean n_jobs? (it takes: n_jobs: int = 1  processes; seed: int = 0)"
    )


def test_a_name_given_twice_is_an_error() -> None:
    with pytest.raises(ParameterError, match="n_jobs is given twice"):
        convert(declared().values(), [("n_jobs", "1"), ("n_jobs", "2")])


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import os", "is not an assignment"),
        ("a = b = 1", "is not an assignment"),
        ("x.y = 1", "not a name"),
        ("x = print(1)", "must be a literal"),
        ("x: int = 'a'", "is annotated int, its default 'a' is not one"),
        ("x: Path = 'a'", "cannot check values of type 'Path'"),
    ],
)
def test_declarations_that_cannot_be_checked_are_refused(source: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        parse(source)


def test_two_tagged_cells_are_refused() -> None:
    cells = [nbformat.v4.new_code_cell("a = 1", metadata={"tags": ["parameters"]}) for _ in range(2)]
    with pytest.raises(ParameterError, match="2 cells carry the tag"):
        parameters(nbformat.v4.new_notebook(cells=cells))
