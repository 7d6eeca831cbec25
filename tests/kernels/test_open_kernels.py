"""What a kernel given as a pair leaves open is the estimator's, and what it gives is its own."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from marginbook.clasmk import LSSVMClassifier
from marginbook.drm.estimators.classifier import DRMClassifier
from marginbook.drm.estimators.general import DiscriminativeRidgeClassifier
from marginbook.drm.estimators.selection import DRMClassifierCV
from marginbook.kernels import resolve_kernel
from marginbook.kernels.open_gamma import leaves_gamma_open
from marginbook.kfda.estimators.classifier import SparseKFDAClassifier
from marginbook.kfda.peers.ols import OLSKFDAClassifier
from marginbook.kfda.peers.ridge import KFDAClassifier
from marginbook.ldm.estimators.classifier import LDMClassifier
from marginbook.ldm.estimators.selection import LDMClassifierCV
from marginbook.ldm.peers.km_omd import KMOMDClassifier
from marginbook.ldm.peers.mamc import MAMCClassifier
from marginbook.smm.estimators import LowRankSVMClassifier

X, y = load_iris(return_X_y=True)
X, y = X[50::3], y[50::3]  # two classes

MODELS = [
    LSSVMClassifier(),
    DRMClassifier(),
    DiscriminativeRidgeClassifier(),
    SparseKFDAClassifier(),
    OLSKFDAClassifier(),
    KFDAClassifier(),
    LDMClassifier(),
    KMOMDClassifier(),
    MAMCClassifier(),
    LowRankSVMClassifier(),
]
EACH = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
# of gamma=0.3 and 7 on unscaled features some say that it is large
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def _decisions(model, **parameters):
    rows = X.reshape(-1, 2, 2) if isinstance(model, LowRankSVMClassifier) else X
    fitted = type(model)(**parameters).fit(rows, y)
    return fitted.decision_function(rows)


@EACH
@pytest.mark.parametrize("gamma", [0.3, "scale", "auto", None])
def test_an_open_gamma_is_the_estimators(model, gamma):
    np.testing.assert_array_equal(
        _decisions(model, kernel=("rbf", {}), gamma=gamma), _decisions(model, kernel="rbf", gamma=gamma)
    )


@EACH
def test_what_the_pair_gives_wins_and_the_rest_is_the_estimators(model):
    given = {"degree": 2, "gamma": 0.1, "coef0": 0.5}
    wanted = _decisions(model, kernel=("poly", given))
    others = {"degree": 3, "gamma": 7.0, "coef0": 2.0}
    np.testing.assert_array_equal(_decisions(model, kernel=("poly", given), **others), wanted)
    for key, value in given.items():
        part = {name: each for name, each in given.items() if name != key}
        np.testing.assert_array_equal(
            _decisions(model, kernel=("poly", part), **{**others, key: value}), wanted
        )


def test_kernels_of_a_leave_one_out_search():
    grid = {"alphas": (1.0,), "betas": (1.0,)}
    given = [("rbf", {}), ("poly", {"degree": 2}), ("rbf", {"gamma": 2.0}), "linear"]
    found = DRMClassifierCV(kernels=given, gamma=0.3, **grid).fit(X, y)
    wanted = ("poly", {"degree": 2, "gamma": 0.3, "coef0": 1.0})
    assert found.cv_results_["param_kernel"] == [("rbf", {"gamma": 0.3}), wanted, *given[2:]]


def test_gammas_of_a_search_over_folds():
    grid = {"lambda1s": (1.0,), "lambda2s": (1.0,), "Cs": (1.0,)}
    for gammas in (None, (0.1, 1.0)):
        pair, name = (
            LDMClassifierCV(kernel=kernel, gammas=gammas, **grid).fit(X, y) for kernel in (("rbf", {}), "rbf")
        )
        assert pair.gamma_ == name.gamma_
        np.testing.assert_array_equal(pair.cv_results_["param_gamma"], name.cv_results_["param_gamma"])
    with pytest.raises(ValueError, match=r"gammas are for a kernel .* that leaves its gamma open"):
        LDMClassifierCV(kernel=("rbf", {"gamma": 1.0}), gammas=(0.1, 1.0), **grid).fit(X, y)


def test_what_is_open():
    assert resolve_kernel(("rbf", {}), "scale", 3, 1.0) == ("rbf", {"gamma": "scale"})
    assert resolve_kernel(("rbf", {}), None, 3, 1.0) == ("rbf", {"gamma": None})
    assert resolve_kernel(("rbf", {"gamma": None}), 0.1, 3, 1.0) == ("rbf", {"gamma": None})
    assert resolve_kernel(("poly", {}), None, 2, 0.5)[1] == {"degree": 2, "gamma": 1.0, "coef0": 0.5}
    assert resolve_kernel(("linear", {}), 0.1, 3, 1.0) == ("linear", {})
    assert resolve_kernel(np.dot, 0.1, 3, 1.0) is np.dot
    with pytest.raises(ValueError, match="gamma of kernel 'rbf' must be a finite number >= 0, got -1"):
        resolve_kernel(("rbf", {}), -1, 3, 1.0)
    closed = ("linear", "precomputed", ("linear", {}), ("rbf", {"gamma": 1.0}), np.dot)
    assert not any(leaves_gamma_open(kernel) for kernel in closed)
