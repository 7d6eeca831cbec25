"""What is compared when the same data come in another order, and that the exact estimators pass it."""

from __future__ import annotations

import inspect
from importlib import import_module

import numpy as np
import pytest

from marginbook.base.rooms import papers
from marginbook.quality.trust.stability import Answers, Tried, difference, rows, tried

VARIANTS = ("again", "2 threads", "F order", "float32", "rows permuted", "columns permuted", "pieces")


def test_every_public_estimator_is_tried() -> None:
    public = set()
    for room in papers().values():
        module = import_module(room.package)
        public |= {
            name
            for name in module.__all__
            if inspect.isclass(getattr(module, name)) and hasattr(getattr(module, name), "get_params")
        }
    assert {one.name for one in tried()} == public


def test_differences_are_relative_to_the_largest() -> None:
    first = Answers(100.0, np.array([10.0, 1.0]))
    assert difference(first, Answers(101.0, np.array([10.0, 1.5]))) == pytest.approx((0.01, 0.05))
    assert difference(first, Answers(100.0, np.array([10.0]))) == (0.0, np.inf)
    assert np.isnan(difference(Answers(np.nan, np.ones(1)), Answers(np.nan, np.ones(1)))[0])


@pytest.mark.parametrize("place", [0, 1])
def test_the_ridge_machine_keeps_its_limits(place: int) -> None:
    found = list(rows(tried()[place]))
    assert [row["variant"] for row in found] == list(VARIANTS)
    assert all(row["kept"] == "yes" for row in found)
    assert float(found[0]["decisions"]) == 0.0


def test_an_estimator_that_looks_at_the_order_of_columns_is_found_out() -> None:
    class First:
        def get_params(self) -> dict:
            return {}

        def fit(self, X: np.ndarray, y: np.ndarray) -> None:
            self.coef = X[:, 0] @ y

        def decision_function(self, X: np.ndarray) -> np.ndarray:
            return X[:, 0] * self.coef

    found = {row["variant"]: row["kept"] for row in rows(Tried("drm", First, 1e-9))}
    assert found["columns permuted"] == "no"
    assert found["again"] == found["F order"] == "yes"
