"""What all public estimators share, found by walking the rooms: a new one is asked at once."""

from __future__ import annotations

import ast
import doctest
import os
import re
import warnings
from contextlib import suppress
from inspect import getdoc, signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.svm import SVC
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
)
from sklearn.utils.validation import has_fit_parameter

from marginbook.base.project import resource, root
from marginbook.base.public import public_estimators, public_names
from marginbook.book.guide_page import machines
from marginbook.cli.reading import guide, section

from .all_rows import AllRows
from .robustness.candidates import USUAL

#: a room that has no chapter yet is not asked
ESTIMATORS = {
    name: each
    for name, each in public_estimators().items()
    if root() is None or (root() / "book" / f"{public_names()[name].rpartition('.')[2]}.md").is_file()
}
#: which take rows in pieces: each by one of its solvers
IN_PIECES = {"DRMClassifier", "LDMClassifier"}
#: equal up to their `tol`, as libsvm computes in single precision: tests/clasmk/test_mkl.py has the law
TO_THE_TOLERANCE = {"MKLClassifier", "TwoLayerMKLClassifier"}
#: whose folds the check must be able to name: rows of a part are rows of X
IN_PARTS = {"RealisationSearch": {"realisations": AllRows()}}
WEIGHTED = [name for name, each in ESTIMATORS.items() if has_fit_parameter(each, "sample_weight")]
#: whose docstring says itself what the kernel may be, and not "as in" another
OWN_KERNELS = [
    name for name, each in ESTIMATORS.items() if re.search(r"\nkernel : .* or callable, ", getdoc(each))
]
TERMS = ("Objective", "Search", "Cost", "Certificate", "Pitfalls")


def made(name: str) -> Any:
    """Return an estimator that is quick to fit."""
    model = ESTIMATORS[name](**USUAL.get(name, {}))
    return model.set_params(random_state=0) if "random_state" in model.get_params(deep=False) else model


def fitted(name: str, **changed: Any) -> Any:
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return made(name).set_params(**changed).fit(rng.normal(size=(40, 4)) + y[:, None], y)


def checked() -> set[str]:
    """Return the names that tests give to scikit-learn's checks."""
    trees = (
        ast.parse(path.read_text(encoding="utf-8")) for path in Path(__file__).parent.glob("*/test_*.py")
    )
    return {
        each.id
        for tree in trees
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "parametrize_with_checks"
        for each in ast.walk(call.args[0])
        if isinstance(each, ast.Name)
    }


def test_scikit_learn_checks_every_estimator():
    missing = set(ESTIMATORS) - checked()
    assert not missing, "give them to parametrize_with_checks in their room's tests"


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_polynomial_kernel_has_the_degree_of_svc_by_default(name):
    assert getattr(made(name), "degree", SVC().degree) == SVC().degree


@pytest.mark.parametrize("name", WEIGHTED)
def test_a_weight_of_two_is_the_row_twice(name):
    """Whole weights are repeated rows, and rows of weight 0 are not there."""
    if name in TO_THE_TOLERANCE:
        pytest.skip("equal up to tol: tests/clasmk/test_mkl.py")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = made(name).set_params(**IN_PARTS.get(name, {}))
        check_sample_weight_equivalence_on_dense_data(name, model)
        if get_tags(model).input_tags.sparse:
            check_sample_weight_equivalence_on_sparse_data(name, model)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_who_asks_for_partial_fit_is_told_what_to_take(name):
    model = made(name)
    assert not hasattr(model, "partial_fit")  # of the two that have it, the default solver has not
    with pytest.raises(AttributeError) as refused:
        model.partial_fit([[0.0]], [0])
    if name not in IN_PIECES:  # else: give it the mixin NoPartialFit
        assert re.search(rf"{name} is fitted to all rows at once.*(DRMClassifier|sample)", str(refused.value))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_numbers_that_are_not_finite_are_refused_in_one_line(name, bad):
    X = np.random.default_rng(0).normal(size=(40, 4))
    X[3, 2] = bad
    model, whole = made(name), fitted(name)
    asked = getattr(whole, "predict", None) or whole.transform
    for call in (lambda: model.fit(X, np.arange(40) % 2), lambda: asked(X)):
        with pytest.raises(ValueError, match=r"NaN|infinity") as refused:
            call()
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", OWN_KERNELS)
def test_a_kernel_of_ones_own_gets_two_vectors_and_the_docstring_says_so(name):
    seen = set()

    def product(x, z):
        seen.update((np.ndim(x), np.ndim(z)))
        return float(x @ z)

    fitted(name, kernel=product)
    assert seen == {1}
    assert "A callable gets two rows, each a vector, and returns a number" in " ".join(
        getdoc(ESTIMATORS[name]).split()
    )


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_docstring_leads_to_the_guide(name):
    assert f":ref:`user guide <guide-{name.lower()}>` (``marginbook guide``)" in getdoc(ESTIMATORS[name])
    assert f"(guide-{name.lower()})=\n#### {name}\n" in resource("book", "guide.md").read_text("utf-8")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_guide_names_parameters_and_certificates_that_exist(name):
    text = section(name)
    told = dict(re.findall(r"^(\w+)\n: (.*?)$", text, flags=re.M))
    assert tuple(told) == TERMS
    parameters = set(signature(ESTIMATORS[name]).parameters)
    for given in re.findall(r"`(\w+)(?:=[^`]*)?`", told["Search"]):
        assert given in parameters | {"GridSearchCV"}, given
    models = [fitted(name), *([fitted(name, q=0.5)] if name == "SparseKFDAClassifier" else [])]
    for attribute in re.findall(r"`([a-z]\w*_)(?:\.\w+)?`", told["Certificate"]):
        assert any(hasattr(model, attribute) for model in models), attribute


def test_the_guide_knows_no_other_estimators():
    sections = set(re.findall(r"^#### (\w+)$", guide(), flags=re.M))
    assert sections == set(ESTIMATORS)
    assert {title.partition(",")[0] for title in machines()} - {"SVC"} <= set(ESTIMATORS)


@pytest.mark.parametrize(("page", "least"), [("guide", 15), ("tour", 10)])
def test_the_quickstart_runs(page, least):
    chapter = resource("book", f"{page}.md")
    if not chapter.is_file():
        pytest.skip("a chapter that the wheel does not carry")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = doctest.testfile(str(chapter), module_relative=False, encoding="utf-8")
    assert result.attempted >= least
    assert result.failed == 0


def test_the_table_of_ridges_names_every_parameter_of_strength():
    """Every estimator that has one of the five names is in the table, in a row with it."""
    table = guide().partition("## What the ridge is called")[2].partition("\n## ")[0]
    rows = [row.split("|")[1:3] for row in table.splitlines() if row.startswith("| `")]
    known = {(name, word) for names, words in rows for name in re.findall(r"`(\w+)`", names)
             for word in re.findall(r"`(\w+)`", words)}  # fmt: skip
    for name, each in ESTIMATORS.items():
        for word in {"beta", "reg", "rho", "lam", "C", "tau"} & set(signature(each).parameters):
            if (name, word) != ("MixedNormDRMClassifier", "rho"):  # there a function of the norm
                assert (name, word) in known or f"{name}, {word}" in {"HierarchicalCLASMKClassifier, C"}


def test_the_guide_can_be_asked_for_one_estimator(cli):
    assert cli("guide", "LDMClassifier").output == section("LDMClassifier")
    assert cli("guide").output.strip() == guide().strip()
    wrong = cli("guide", "LDMClasifier")
    assert wrong.exit_code == 2
    assert "no section 'LDMClasifier'; did you mean LDMClassifier" in wrong.output


def test_warnings_point_at_the_line_of_the_user():
    X, y = make_classification(60, 6, random_state=0)
    wrong, seen = [], set()
    for name, each in ESTIMATORS.items():
        few = USUAL.get(name, {}) | ({"max_iter": 1} if "max_iter" in signature(each).parameters else {})
        for rows in (X, X.reshape(len(X), 2, 3)):
            with warnings.catch_warnings(record=True) as caught, suppress(ValueError):
                warnings.simplefilter("always")
                each(**few).fit(rows, y)
            ours = [one for one in caught if f"{os.sep}sklearn{os.sep}" not in one.filename]
            seen |= {name for _ in ours}
            wrong += [f"{name}: {one.filename}:{one.lineno}" for one in ours if one.filename != __file__]
    assert wrong == []
    assert len(seen) > 5


#: whose scores are differences of nearly equal squares, or of probabilities: computed and given in float64
IN_FLOAT64 = {"DRMClassifier", "DRMClassifierCV", "MixedNormDRMClassifier", "CalibratedSVMClassifier",
              "RegressionFunctionEstimator", "HierarchicalCLASMKClassifier", "MKLClassifier",
              "TwoLayerMKLClassifier"}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in ESTIMATORS if "Search" not in name])
def test_float32_stays_float32_where_nothing_cancels(name: str) -> None:
    X, y = make_classification(80, 6, random_state=0)
    model = ESTIMATORS[name]()
    if "kernel" in model.get_params() and hasattr(model, "predict"):
        model.set_params(kernel="linear")
    ask = "transform" if hasattr(model, "transform") else "decision_function"
    model.fit(X, y)
    if not hasattr(model, ask):
        ask = "predict_proba"
    X32 = X.astype(np.float32)
    found, exact = getattr(model, ask)(X32), getattr(model, ask)(X32.astype(float))
    assert exact.dtype == np.float64
    assert found.dtype == (np.float64 if name in IN_FLOAT64 else np.float32)
    np.testing.assert_allclose(found, exact, rtol=1e-4, atol=1e-5 * np.abs(exact).max())
