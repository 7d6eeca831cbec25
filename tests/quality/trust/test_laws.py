"""Every estimator obeys every law that follows from its model, and no other."""

from __future__ import annotations

import numpy as np
import pytest

from marginbook.quality.trust import laws
from marginbook.quality.trust.stability import Answers, Tried, setting, tried

SUBJECTS = {f"{one.name} {setting(one.build())}".strip(): one for one in tried()}


@pytest.mark.parametrize("law", laws.LAWS)
@pytest.mark.parametrize("name", SUBJECTS)
def test_a_law_holds_or_is_an_exception(name: str, law: str) -> None:
    one = SUBJECTS[name]
    found, why = laws.check(one, law), laws.exception(one, law)
    if found is None:
        assert not why
    elif not why:
        assert found <= laws.TOLERANCE
    elif why != laws.LOCAL:  # a local minimum may be the same one, by luck
        assert found > laws.TOLERANCE


def test_exceptions_are_of_estimators_that_are_tried() -> None:
    assert set(laws.exceptions()) <= set(SUBJECTS)
    assert all(set(each) <= set(laws.LAWS) for each in laws.exceptions().values())


class Wrong:
    """Decides by the first feature, by the number of rows, by the last label and by the sign of a mean."""

    def get_params(self) -> dict:
        return {"kernel": ("rbf", {"gamma": 1.0})}

    def set_params(self, **changed: object) -> Wrong:
        return self

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None) -> None:
        self.offset = X.shape[1] + len(y) + y[-1] + abs(X.mean()) + (sample_weight is not None)

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


def test_what_a_law_says_nothing_of_is_not_asked() -> None:
    assert laws.check(SUBJECTS["RealisationSearch"], "rows twice") is None
    assert laws.check(SUBJECTS["DRMClassifier linear"], "units") is None


def test_probabilities_change_columns_with_the_classes() -> None:
    one = SUBJECTS["VectorLogisticClassifier"]
    first, second = laws.swapped(one, laws.problem(True), np.random.default_rng(0)) or (None, None)
    assert isinstance(first, Answers)
    assert isinstance(second, Answers)
    np.testing.assert_allclose(first.values, second.values, atol=1e-6)
