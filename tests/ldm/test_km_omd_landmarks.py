"""KM-OMD by landmarks: its coefficients, its threshold and its certificate are those of one function."""

import numpy as np
import pytest
from scipy import sparse

from marginbook.kernels import gram
from marginbook.kernels.landmarks import Landmarks
from marginbook.ldm.peers.km_omd import KMOMDClassifier

from .test_km_omd import two_clouds


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", lambda a, b: float(a @ b) ** 2])
def test_the_coefficients_of_landmarks_are_those_of_the_function(kernel, convert):
    if callable(kernel) and convert is sparse.csr_matrix:
        pytest.skip("a callable takes dense rows")
    X, y = two_clouds(80, 5)
    weights = np.random.default_rng(2).integers(0, 3, 80)
    for options in ({"n_components": 3}, {"n_components": 40}, {"n_components": None}):
        for counts in (None, weights):
            model = KMOMDClassifier(C=5.0, kernel=kernel, gamma=0.2, **options).fit(convert(X), y, counts)
            rows = X if model.n_components is None else X[model.support_]
            assert model.dual_coef_.shape == (len(rows),)
            sums = gram(model._kernel, X, rows) @ model.dual_coef_.T + model.intercept_
            np.testing.assert_allclose(model.decision_function(convert(X)), sums, rtol=1e-9, atol=1e-9)
            if counts is not None:
                assert (counts[model.support_] > 0).all()
            if kernel == "linear":
                np.testing.assert_allclose(model.coef_, rows.T @ model.dual_coef_, atol=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_few_landmarks_give_the_machine_of_their_features(kernel):
    """The function, its threshold and the certificate are those of one problem, of the linear kernel too."""
    X, y = two_clouds(80, 5)
    model = KMOMDClassifier(C=5.0, kernel=kernel, gamma=0.2, n_components=3, tol=1e-10).fit(X, y)
    features = Landmarks.fit(model._kernel, X, 3, np.random.RandomState(0)).transform(X)
    plain = KMOMDClassifier(C=5.0, kernel="linear", tol=1e-10).fit(features, y)
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(features), atol=1e-6)


def test_a_fit_without_landmarks_forgets_them():
    X, y = two_clouds(60, 3)
    model = KMOMDClassifier(C=5.0, n_components=10).fit(X, y).set_params(n_components=None).fit(X, y)
    fresh = KMOMDClassifier(C=5.0).fit(X, y)
    np.testing.assert_array_equal(model.dual_coef_, fresh.dual_coef_)
    np.testing.assert_array_equal(model.decision_function(X), fresh.decision_function(X))
