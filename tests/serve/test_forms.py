"""From a parameters cell to a form, and from the texts of a form to values."""

from __future__ import annotations

import re

import pytest

from marginbook.notebooks.fields import BadValues, Field, fields, query, values
from marginbook.notebooks.parameters import parse

from .conftest import FORM

CELL = """
n: int = 3  # how many, 1 to 9
m: int = 12  # points, at least 2
fold: int = 1  # which of the ten
eta: float = 0.5  # share of the energy
gamma: float = 0.1  # of exp(-gamma |x - z|^2)
kernel: str = "rbf"  # of the pictures: linear, rbf or poly, plus a constant
other: str = "linear"  # of the live slice: "linear" is Table 2, "rbf" Table 3
dataset: str = "iris"  # any set
datasets: list[str] = ["wine"]  # sets of the live slice
methods: list[str] = ["KNN(E)", "DRM(R)"]  # columns
splits: list[int] = [1, 2]  # which of the thirty halves
lams: list = [0.3, 0.1]  # penalties
seed: int = 0  # of all draws
slow: bool = False  # whether to wait
limit: int | None = None  # no more
n_jobs: int = 1  # worker processes
"""


@pytest.fixture(scope="module")
def form() -> dict[str, Field]:
    known = ["iris", "wine", "digits"]
    return {field.name: field for field in fields(parse(CELL), ["iris", "digits"], known)}


def test_a_comment_declares_bounds_and_choices(form: dict[str, Field]) -> None:
    bounds = {name: (field.least, field.most) for name, field in form.items()}
    assert bounds["n"] == (1, 9)
    assert bounds["m"] == (2, None)
    assert bounds["fold"] == (1, 10)
    assert bounds["splits"] == (1, 30)
    assert bounds["eta"] == (0, 1)
    assert bounds["seed"] == (0, 2**32 - 1)
    assert bounds["gamma"] == bounds["lams"] == (None, None)
    assert form["n_jobs"].least == 1
    assert form["kernel"].choices == ("linear", "rbf", "poly")
    assert form["other"].choices == ("linear", "rbf")


def test_a_parameter_that_names_data_sets_takes_those_at_hand(form: dict[str, Field]) -> None:
    assert (form["dataset"].kind, form["dataset"].choices) == ("choice", ("iris", "digits"))
    # the default stays, though it is not here: the page is to be shown as it is
    assert (form["datasets"].kind, form["datasets"].choices) == ("several", ("wine", "iris", "digits"))
    assert form["methods"].kind == "text"


@pytest.mark.parametrize(
    ("name", "texts", "value"),
    [
        ("n", ["9"], 9),
        ("eta", ["1"], 1),
        ("gamma", ["1e-3"], 0.001),
        ("gamma", ["-.5"], -0.5),
        ("slow", ["true"], True),
        ("datasets", ["iris", "digits"], ["iris", "digits"]),
        ("datasets", [""], []),
        ("methods", ["NB, KRR(P)"], ["NB", "KRR(P)"]),
        ("methods", ['["a, b"]'], ["a, b"]),
        ("splits", ["1, 3, 30"], [1, 3, 30]),
        ("lams", ["0.5, 1"], [0.5, 1]),
        ("limit", [""], None),
        ("limit", ["7"], 7),
    ],
)
def test_texts_become_values(form: dict[str, Field], name: str, texts: list[str], value: object) -> None:
    found = values([form[name]], {name: texts})[name]
    assert found == value
    assert type(found) is type(value)


def test_every_default_survives_the_form(form: dict[str, Field]) -> None:
    given = {name: field.texts(field.parameter.default) for name, field in form.items()}
    assert values(list(form.values()), given) == {n: f.parameter.default for n, f in form.items()}
    assert values(list(form.values()), {}) == {n: f.parameter.default for n, f in form.items()}


def test_all_that_is_wrong_is_told_at_once(form: dict[str, Field]) -> None:
    with pytest.raises(BadValues) as told:
        values(list(form.values()), {"n": ["10"], "splits": ["1, 31"], "dataset": ["wine"], "zzz": ["1"]})
    assert told.value.errors == {
        "n": "n: expected a number from 1 to 9",
        "splits": "splits: expected a number from 1 to 30",
        "dataset": "dataset: 'wine' is not one of iris, digits",
        "zzz": "'zzz' is no parameter of this page",
    }


def test_an_address_says_what_is_not_the_default(form: dict[str, Field]) -> None:
    chosen = {"n": 4, "datasets": ["iris"], "gamma": 0.1, "methods": ["a b", "c"]}
    assert query(form.values(), chosen) == "n=4&datasets=iris&methods=a+b%2C+c"


def test_the_parameters_of_the_book_all_have_a_field() -> None:
    from marginbook.notebooks.catalogue import available
    from marginbook.notebooks.fields import sets_here
    from marginbook.notebooks.parameters import parameters

    for id, notebook in available().items():
        declared = fields(parameters(notebook.read()), *sets_here())
        given = {field.name: field.texts(field.parameter.default) for field in declared}
        assert values(declared, given) == {f.name: f.parameter.default for f in declared}, id


def test_the_form_has_types_ranges_choices_and_what_each_means(client) -> None:
    text = client.get(FORM).text
    assert re.search(r'<input id="f-n" name="n" type="number" step="1" min="1" max="9" value="3"', text)
    assert '<option value="quick" selected>' in text
    assert '<option value="iris" selected>' in text
    assert '<option value="wine">' in text  # at hand: it comes with scikit-learn
    assert "how many lines" in text
    assert "no more than this" in text
    assert 'method="post"' in text


def test_an_address_fills_the_form(client) -> None:
    text = client.get(f"{FORM}?n=7&dataset=wine&numbers=1,2,3&word=a+%26+b").text
    assert 'value="7"' in text
    assert '<option value="wine" selected>' in text
    assert 'value="1,2,3"' in text
    assert 'value="a &amp; b"' in text
    assert 'role="alert"' not in text
    assert 'role="alert"' in client.get(f"{FORM}?n=70").text
    assert len(client.queue.runs) == 0


def test_a_bad_value_comes_back_with_what_was_entered(client) -> None:
    answer = client.post(FORM, data={"n": "70", "word": "mine"})
    assert answer.status_code == 422
    assert "n: expected a number from 1 to 9" in answer.text
    assert 'aria-invalid="true"' in answer.text
    assert 'value="70"' in answer.text
    assert 'value="mine"' in answer.text


def test_a_page_of_a_notebook_has_the_bar_and_others_have_none(client) -> None:
    page = client.get("/notebooks/toy/01_small.html")
    assert page.status_code == 200
    assert 'href="/-/run/toy/01_small"' in page.text
    assert "serve-bar" not in client.get("/").text


def test_without_a_book_one_is_told_what_to_do(client, home, cli) -> None:
    (home / "_build" / "html" / "index.html").unlink()
    answer = client.get("/")
    assert answer.status_code == 503
    assert "make book" in answer.text
    shown = cli("serve", "--port", "0")
    assert shown.exit_code == 1
    assert "there is no built book in" in shown.output
    assert "run `make book` or `marginbook book` first" in shown.output
