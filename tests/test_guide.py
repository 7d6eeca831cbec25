"""What the user guide says of results is in the stored tables; what it says of estimators, they do."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest

import marginbook
from marginbook.base.project import resource
from marginbook.cli.reading import guide
from marginbook.quality.benchmarking.tables import stored

GUIDE = resource("book", "guide.md").read_text(encoding="utf-8")
#: kernels that see all rows as the same
TWO = [("rbf", {"gamma": 1e-13}), ("rbf", {"gamma": 3e-13})]
#: the guide says that these do not warn of it
SILENT = {
    "CLASKTransformer": {"kernels": TWO},
    "CLASMKTransformer": {"kernels": TWO},
    "SubspaceKernelTransformer": {"kernel": TWO[0]},
    "MAMCClassifier": {"gamma": 1e-13},
}


def test_landmarks_give_the_labels_that_the_guide_promises() -> None:
    said = re.search(r"500 give the exact\s+label of (\d+) % of the rows, 1,200 of (\d+) %", GUIDE)
    assert said is not None
    for landmarks, share in zip((500, 1200), said.groups(), strict=True):
        rows = [row for row in stored("growth") if row["estimator"] == f"DRM, {landmarks} landmarks"]
        found = [100 * float(row["labels_equal"]) for row in rows if row["labels_equal"]]
        assert found
        assert min(found) > int(share) - 0.5


def test_no_seconds_are_typed_in() -> None:
    assert not re.findall(r"\d+ (?:s|ms|seconds|minutes)\b", guide())


def test_searches_have_what_the_guide_promises() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 3)) + y[:, None]
    few: dict[str, dict[str, Any]] = {
        "DRMClassifierCV": {"alphas": (0.1,), "betas": (0.1,)},
        "LDMClassifierCV": {"lambda1s": (0.1,), "lambda2s": (0.1,), "Cs": (1.0,), "cv": 2},
        "LowRankSVMClassifierCV": {"ranks": (1,), "lams": (0.1,), "cv": 2},
    }
    said = re.search(r"These have\s+([^.]*), too\.", GUIDE)
    assert said is not None
    promised = re.findall("`(.*?)`", said[1])
    assert len(promised) == 6
    for name, given in few.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            search = getattr(marginbook, name)(**given).fit(X, y)
        assert all(hasattr(search, what) for what in promised)


def told_of_scale(model: Any) -> bool:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.fit(rng.normal(size=(60, 4)) + y[:, None], y)
    return any("scale the features" in str(each.message) for each in told)


def test_the_guide_names_those_that_do_not_warn_of_the_scale() -> None:
    said = re.search(r"all as the same; ([^.]*) do not\.", GUIDE)
    assert said is not None
    for name, given in SILENT.items():
        assert name.removesuffix("Transformer" if name.startswith("CLAS") else "") in said[1]
        assert not told_of_scale(getattr(marginbook, name)(**given))


@pytest.mark.parametrize(
    "name", ["DRMClassifier", "LDMClassifier", "KFDAClassifier", "LSSVMClassifier", "LowRankSVMClassifier"]
)
def test_others_do(name: str) -> None:
    assert told_of_scale(getattr(marginbook, name)(kernel=TWO[0]))


@pytest.mark.parametrize("name", ["MKLClassifier", "TwoLayerMKLClassifier"])
def test_so_do_machines_with_several_kernels(name: str) -> None:
    assert told_of_scale(getattr(marginbook, name)(kernels=TWO))
