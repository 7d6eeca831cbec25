"""``coef_`` of a linear kernel is what scikit-learn takes it for: weights of features."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.preprocessing import scale

from marginbook.kfda import KFDAClassifier, OLSKFDAClassifier, SparseKFDAClassifier

MACHINES = [KFDAClassifier, SparseKFDAClassifier, OLSKFDAClassifier]
X, CLASSES = load_wine(return_X_y=True)
X = scale(X)
y = (CLASSES == 2).astype(int)
WEIGHTS = np.random.default_rng(0).uniform(0.5, 2.0, len(y))


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("rows", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("given", [{}, {"threshold": "means"}, {"n_components": 30, "random_state": 0}])
def test_they_are_those_of_the_decision_function(machine, rows, given):
    model = machine(kernel="linear", **given).fit(rows(X), y, WEIGHTS)
    assert model.coef_.shape == (1, X.shape[1])
    n_negative, n_positive = model.class_count_
    unit = (n_negative + n_positive) ** 2 / (2 * n_negative * n_positive)
    constant = (model.intercept_ - model.threshold_) / unit
    decided = model.decision_function(rows(X))
    np.testing.assert_allclose(X @ model.coef_[0] + constant, decided, atol=1e-9 * np.abs(decided).max())


def test_of_several_classes_there_is_a_row_for_each():
    model = KFDAClassifier(kernel="linear").fit(X, CLASSES)
    assert model.coef_.shape == (3, X.shape[1])
    decided = model.decision_function(X)
    rest = decided - X @ model.coef_.T
    np.testing.assert_allclose(rest, np.broadcast_to(rest[0], rest.shape), atol=1e-9 * np.abs(decided).max())


@pytest.mark.parametrize("machine", MACHINES)
def test_they_serve_to_select_features(machine):
    """Two features tell the classes apart, and six are noise."""
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], 60)
    rows = rng.normal(size=(120, 8))
    rows[:, [2, 5]] += 3.0 * labels[:, None]
    wanted = np.isin(np.arange(8), [2, 5]).tolist()
    model = machine(kernel="linear")
    chosen = SelectFromModel(model, max_features=2, threshold=-np.inf).fit(rows, labels)
    assert chosen.get_support().tolist() == wanted
    assert RFE(model, n_features_to_select=2).fit(rows, labels).support_.tolist() == wanted


@pytest.mark.parametrize("machine", MACHINES)
def test_there_are_none_of_another_kernel_or_before_a_fit(machine):
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        model = machine(kernel="linear")
        assert not hasattr(model, "coef_")
        model.fit(X, y)
        assert hasattr(model, "coef_")
        for kernel, rows in (("rbf", X), ("precomputed", X @ X.T)):
            model.set_params(kernel=kernel).fit(rows, y)
            assert not hasattr(model, "coef_")
            with pytest.raises(AttributeError, match=f"only with kernel='linear', got kernel='{kernel}'"):
                _ = model.coef_
