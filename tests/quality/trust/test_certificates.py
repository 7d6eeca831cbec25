"""Certificates are judged by the truth: honest ones pass, those that lie are found out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from marginbook.quality.trust.conditioning import hard_problems, outcome
from marginbook.quality.trust.judging import Judged, judge
from marginbook.quality.trust.subjects import Subject, small_problem, subjects

#: without quadratic programs: each takes well below a second
QUICK = (
    "DRMClassifier closed",
    "DRMClassifier one-pass",
    "DRMClassifier gd",
    "MixedNormDRMClassifier q=2 r=1",
    "MAMCClassifier",
    "MDOClassifier",
    "SparseKFDAClassifier q=2 mm",
    "SparseKFDAClassifier q=0.5 mm",
    "KFDAClassifier fisher",
    "OLSKFDAClassifier",
    "LSSVMClassifier rbf",
    "CLASKTransformer",
    "LowRankLogisticClassifier full rank",
    "KMOMDClassifier",
    "NuclearNormSVMClassifier tau=1",
)


def subject(name: str) -> Subject:
    return next(one for one in subjects() if one.name == name)


@pytest.mark.parametrize("name", QUICK)
def test_certificates_are_honest_and_objectives_right(name: str) -> None:
    one = subject(name)
    found = judge(one, *small_problem(one.matrices, 2))
    assert found.honest == "yes", found
    assert found.warned == ""
    for digits in (found.objective_digits, found.optimum_digits):
        assert np.isnan(digits) or digits >= 6


def test_direct_solvers_reach_what_doubles_hold() -> None:
    for name in ("DRMClassifier closed", "KFDAClassifier fisher", "LSSVMClassifier rbf"):
        assert judge(subject(name), *small_problem(False, 3)).decision_digits >= 12


def test_a_gap_that_is_too_small_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    one = subject("SparseKFDAClassifier q=2 mm")

    def lying(model, X, y, T):  # type: ignore[no-untyped-def]
        model.dual_coef_ = model.dual_coef_ * 1.01  # and the gap is still the one of the optimum
        return one.judge(model, X, y, T)

    found = judge(replace(one, judge=lying), *small_problem(False, 0))
    assert found.honest == "no"
    assert found.optimum_digits < 6
    assert found.objective_digits < 6


def test_an_error_of_the_estimator_is_told() -> None:
    found = judge(subject("KFDAClassifier fisher"), *small_problem(False, 0), reg=0.0)
    assert found.honest == "-"
    assert found.warned.startswith("ValueError: route='fisher' needs reg > 0")


def test_a_warning_is_told() -> None:
    found = judge(subject("DRMClassifier gd"), *small_problem(False, 0), max_iter=1)
    assert found.warned == "ConvergenceWarning"
    assert found.honest == "yes"


GOOD = Judged(1e-16, 1e-17, 1e-13, "yes", 15.0, 15.0, 14.0, 16.0, "")


@pytest.mark.parametrize(
    ("changed", "possible", "word"),
    [
        ({}, np.nan, "right"),
        ({"warned": "ConvergenceWarning"}, np.nan, "warned"),
        ({"warned": "ValueError: scale the features"}, np.nan, "refused"),
        ({"warned": "no reference: ended"}, np.nan, "unknown"),
        ({"honest": "no"}, np.nan, "optimistic"),
        ({"decision_digits": 3.0}, 4.0, "as the data allow"),
        ({"decision_digits": 3.0}, 12.0, "objective right"),
        ({"decision_digits": 3.0, "optimum_digits": 2.0}, 12.0, "silent"),
        ({"decision_digits": 3.0, "optimum_digits": np.nan}, 12.0, "silent"),
        ({"decision_digits": 4.0, "optimum_digits": np.nan, "announced": 5.0}, 12.0, "as certified"),
        ({"decision_digits": 1.0, "optimum_digits": 4.0, "announced": 5.0}, 12.0, "as certified"),
        ({"decision_digits": np.nan}, np.nan, "right"),
    ],
)
def test_outcomes(changed: dict, possible: float, word: str) -> None:
    assert outcome(replace(GOOD, **changed), possible) == word


def test_hard_problems_get_harder() -> None:
    found = list(hard_problems(subject("DRMClassifier closed")))
    assert {one.suite for one in found} == {"hilbert", "near copies", "weak penalty", "feature scales"}
    for suite in ("hilbert", "near copies", "weak penalty", "feature scales"):
        numbers = [one.condition for one in found if one.suite == suite]
        assert numbers == sorted(numbers)
        assert numbers[-1] > 1e8


def test_the_ridge_machine_on_a_hilbert_matrix_warns_or_is_right() -> None:
    one = subject("DRMClassifier closed")
    for hard in hard_problems(one):
        if hard.suite == "hilbert":
            found = judge(one, hard.X, hard.y, hard.T, **hard.changed)
            assert found.warned or found.decision_digits >= 6
