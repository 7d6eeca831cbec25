"""Every estimator obeys every law that follows from its model, and no other."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest

from marginbook.base.project import root
from marginbook.quality.trust import laws
from marginbook.quality.trust.stability import Answers, Tried, setting, tried

from ...settled import SETTLED

SUBJECTS = {f"{one.name} {setting(one.build())}".strip(): one for one in tried()}


#: what a law says nothing of, by its reason
UNASKED = {
    "units": {
        "a kernel without a width": "DRMClassifier linear, LDMClassifier linear, MDOClassifier, "
        "CLASKTransformer, CLASMKTransformer, HierarchicalCLASMKClassifier, MKLClassifier, "
        "TwoLayerMKLClassifier, "
        "LowRankSVMClassifier rank 1, LowRankSVMClassifier full rank, LowRankSVMClassifierCV, "
        "LevelSetClassifier, RegressionFunctionEstimator, NuclearNormSVMClassifier, VectorSVMClassifier, "
        "VectorLogisticClassifier, LowRankLogisticClassifier, CalibratedSVMClassifier"
    },
    "weights": {"not taken, or refused": "DRMClassifierCV, LDMClassifierCV"},
    "classes swapped": {"each class has levels of its own": "RegressionFunctionEstimator"},
}


@cache
def unasked() -> set[tuple[str, str]]:
    """Return the pairs of an estimator and a law that says nothing of it."""
    drawn = [name for name, one in SUBJECTS.items() if one.drawn]
    found = set(product(drawn, ("rows twice", "weights", "rows permuted")))
    for law, reasons in UNASKED.items():
        found |= {(name, law) for names in reasons.values() for name in names.split(", ")}
    return found


@pytest.mark.parametrize("law", laws.LAWS)
@pytest.mark.parametrize("name", SUBJECTS)
def test_a_law_holds_or_is_an_exception(name: str, law: str) -> None:
    one = SUBJECTS[name]
    found, why = laws.check(one, law), laws.exception(one, law)
    if one.room in SETTLED:  # a new paper has no reasons to give yet
        assert (found is None) == ((name, law) in unasked())
    if found is None:
        assert not why
    elif not why:
        assert found <= laws.tolerance(one, law)
    elif why != laws.LOCAL:  # a local minimum may be the same one, by luck
        assert found > laws.TOLERANCE


@pytest.mark.parametrize(("name", "law"), laws.LOOSER)
def test_what_may_differ_by_more_does(name: str, law: str) -> None:
    one = SUBJECTS[name]
    found = laws.check(one, law)
    assert found is not None
    assert min(laws.TOLERANCE, 10 * one.limit) < found <= laws.LOOSER[name, law]


def test_the_page_names_what_may_differ_by_more() -> None:
    page = " ".join((root() / "book" / "trust.md").read_text(encoding="utf-8").split())
    told = page[page.index("Two fits that stop earlier") :].partition("Tests ask")[0]
    assert len(laws.LOOSER) == 2
    for (name, _), limit in laws.LOOSER.items():
        assert f"`{name.split()[0]}`" in told
        assert f"{limit:g}".replace("1e-05", "1e-5") in told
    assert f"ten times the limit of the table above, or by more than {laws.TOLERANCE:g}" in page
    assert laws.TIMES == 10


def test_exceptions_are_of_estimators_that_are_tried() -> None:
    assert set(laws.exceptions()) <= set(SUBJECTS)
    assert all(set(each) <= set(laws.LAWS) for each in laws.exceptions().values())


class Wrong:
    """Decides by the first feature and row, the number of rows, the last label and the sign of a mean."""

    def get_params(self) -> dict:
        return {"kernel": ("rbf", {"gamma": 1.0})}

    def set_params(self, **changed: object) -> Wrong:
        return self

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None) -> None:
        self.offset = (
            X.shape[1] + len(y) + y[-1] + abs(X.mean()) + (sample_weight is not None) + 9 * X[0, 1] ** 2
        )

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        return 50.0 * X[:, 0] + self.offset


@pytest.mark.parametrize("law", laws.LAWS)
def test_an_estimator_that_breaks_a_law_is_found_out(law: str) -> None:
    found = laws.check(Tried("drm", Wrong, 1e-9), law)
    assert found is not None
    assert found > laws.TOLERANCE


def test_exceptions_are_of_one_setting_where_another_obeys() -> None:
    rbf, linear = (SUBJECTS[f"DRMClassifier {kernel}"] for kernel in ("rbf", "linear"))
    assert not laws.exception(rbf, "shift")
    assert laws.exception(linear, "shift")


def test_what_a_law_says_nothing_of_is_tried_for_the_others() -> None:
    assert unasked() < set(product(SUBJECTS, laws.LAWS))


@pytest.mark.parametrize("kind", [list, tuple])
def test_widths_change_of_one_kernel_and_of_several(kind: type) -> None:
    narrow, wide = ("rbf", {"gamma": 0.5}), ("rbf", {"gamma": 0.125})
    assert laws._widened({"kernel": narrow, "C": 1.0}, 2.0) == {"kernel": wide}
    several = laws._widened({"kernels": kind([narrow, narrow]), "base__kernel": narrow}, 2.0)
    assert several == {"kernels": kind([wide, wide]), "base__kernel": wide}
    assert laws._widened({"kernels": kind([narrow, ("poly", {})]), "kernel": narrow}, 2.0) == {}
    assert laws._widened({"kernel": "rbf"}, 2.0) == laws._widened({"kernels": None}, 2.0) == {}


def test_probabilities_change_columns_with_the_classes() -> None:
    one = SUBJECTS["VectorLogisticClassifier"]
    first, second = laws.swapped(one, laws.problem(True), np.random.default_rng(0)) or (None, None)
    assert isinstance(first, Answers)
    assert isinstance(second, Answers)
    np.testing.assert_allclose(first.values, second.values, atol=1e-6)
