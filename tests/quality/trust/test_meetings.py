"""Where two estimators are one machine, they answer alike."""

from __future__ import annotations

from dataclasses import replace

import pytest

from marginbook import drm, kfda, ldm, smm
from marginbook.quality.trust import meetings
from marginbook.quality.trust.meetings import NARROW

PAIRS = meetings.meetings()
NAMES = [f"{type(one.build()).__name__}, {one.where}" for one in PAIRS]


@pytest.mark.parametrize("one", PAIRS, ids=NAMES)
def test_two_estimators_that_are_one_machine_answer_alike(one: meetings.Meeting) -> None:
    assert meetings.check(one) <= one.limit


#: the first estimator of a pair, a little outside of where the two meet
OUTSIDE = {
    "MixedNormDRMClassifier, q = r = 2": lambda: drm.MixedNormDRMClassifier(
        0.1, 0.1, 2, 2, "square", kernel=NARROW
    ),
    "DRMClassifier, alpha = 0: kernel ridge, labels weighted by similarity": lambda: drm.DRMClassifier(
        0.001, 0.1, NARROW
    ),
    "LDMClassifier, lambda1 = lambda2 = 0, and full rank without an intercept": lambda: ldm.LDMClassifier(
        0.01, 0.0, meetings.C, kernel="linear"
    ),
    "SparseKFDAClassifier, q = 2, and the bias is free": lambda: kfda.SparseKFDAClassifier(2.0, 0.01, NARROW),
    "SparseKFDAClassifier, q = 1, and the bias is free: the lasso": lambda: kfda.SparseKFDAClassifier(
        1.0, 0.01, NARROW
    ),
    "LowRankSVMClassifier, full rank": lambda: smm.LowRankSVMClassifier(3, meetings.LAM),
    "NuclearNormSVMClassifier, tau = 0, and full rank": lambda: smm.NuclearNormSVMClassifier(1.0, meetings.C),
    "LowRankLogisticClassifier, full rank": lambda: smm.LowRankLogisticClassifier(3, meetings.LAM),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_little_outside_they_do_not(name: str) -> None:
    one = PAIRS[NAMES.index(name)]
    assert meetings.check(replace(one, build=OUTSIDE[name])) > one.limit


def test_each_room_meets_another_machine() -> None:
    assert {one.room for one in PAIRS} == {"drm", "ldm", "kfda", "clasmk", "smm"}
