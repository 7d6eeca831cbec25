"""What users get wrong is named in one line, by every part of the room."""

import dask.array as da
import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import accuracy_score

from marginbook.drm import DRMClassifier, DRMClassifierCV, MixedNormDRMClassifier
from marginbook.drm.model.operators import DenseSystem
from marginbook.drm.peers import select
from marginbook.drm.solvers import EigenPath, closed_form
from marginbook.drm.solvers.leave_one_out import leave_one_out
from marginbook.kernels import KernelOverflow

from .weka import peers

X, y = make_blobs(30, 2, random_state=0, centers=2)
WHOLE = np.array([[2, 1, 0], [1, 2, 1], [0, 1, 2]])


def test_a_gram_matrix_of_whole_numbers_is_the_matrix_of_floats():
    """Class means of 3 and 2 examples are no whole numbers."""
    Kx, sizes = np.array([[1.0], [2.0], [1.0]]), [2, 1]
    for solve in (
        lambda K: closed_form(K, sizes, 1.0, 0.5).weights(Kx),
        lambda K: EigenPath(K, sizes, 1.0).weights(Kx, 0.5),
        lambda K: leave_one_out(K, sizes, 1.0, 0.5).delta,
        lambda K: DenseSystem(K, sizes, 1.0, 0.5).apply(Kx),
    ):
        np.testing.assert_allclose(solve(WHOLE), solve(WHOLE.astype(float)), rtol=1e-12)


@pytest.mark.parametrize(
    "name", peers(["SVM(R)", "SVM(P)", "KNN(E)", "RF", "C4.5", "entropy tree", "NB", "SLDA"])
)
def test_a_class_of_one_does_not_stop_a_peer(name):
    settings = {
        "C": [1.0], "sigma2": [1.0], "degree": [2], "n_neighbors": [1, 2], "n_trees": [5],
        "node_share": [0.1], "slda_ridge": [1.0], "slda_kept": [1], "loo_limit": 200, "svm_max_iter": 1000,
    }  # fmt: skip
    rows, labels = np.vstack([X[y == 0], X[y == 1][:1]]), np.array([0] * 15 + [1])
    model, _, score = select(name, rows, labels, accuracy_score, settings, 0)
    assert 0 < score <= 15 / 16  # the one example is always missed
    assert set(model.predict(rows)) <= {0, 1}


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (DRMClassifier(kernel="linear", solver="gd", tol=None), "tol must be a number >= 0, got None"),
        (DRMClassifierCV(scaling=None), "scaling must be one or both of none, max-abs, got None"),
        (DRMClassifierCV(tol=-1), "tol must be a number >= 0, got -1"),
        (DRMClassifierCV(alphas=(a for a in (1.0,))), "alphas must be a sequence"),
        (DRMClassifier(gamma="wide"), "gamma must be a number >= 0, 'scale', 'auto' or None, got 'wide'"),
        (DRMClassifier(gamma=-1.0), "gamma of kernel 'rbf' must be a finite number >= 0, got -1.0"),
        (DRMClassifier(kernel="poly", degree="3"), "degree of kernel 'poly' must be a finite number >= 0"),
        (DRMClassifier(kernel="precomputed", solver="ppa"), "not positive semidefinite"),
    ],
)
def test_parameters(estimator, message):
    negative = getattr(estimator, "kernel", None) == "precomputed"
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        estimator.fit(-np.eye(30) if negative else X, y)


def test_a_dask_array_without_rows():
    with pytest.raises(ValueError, match="X has no rows"):
        DRMClassifier(kernel="linear").fit(da.zeros((0, 2)), da.zeros(0))


def test_a_penalty_that_switches_everything_off_says_so():
    with pytest.warns(UserWarning, match="beta=1e\\+06 sets all weights to zero.* below beta="):
        MixedNormDRMClassifier(q=1, r=1, rho="identity", beta=1e6).fit(X, y)


@pytest.mark.parametrize("settings", [{}, {"n_components": 3}, {"solver": "closed"}, {"solver": "cg"}])
@pytest.mark.parametrize("classes", [2, 3])
def test_rows_too_far_for_a_number_are_refused_and_get_no_class_by_chance(settings, classes):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)), np.arange(12) % classes
    model = DRMClassifier(kernel="linear", **settings).fit(X, y)
    assert np.isfinite(model.decision_function(1e100 * X)).all()
    for answer in (model.predict, model.decision_function, model.dissimilarity):
        with np.errstate(all="ignore"), pytest.raises(KernelOverflow, match="scale the features"):
            answer(1e160 * X)


def test_parameters_and_labels_that_numpy_alone_would_complain_about():
    with pytest.raises(ValueError, match="kernels must be a sequence of at least one value"):
        DRMClassifierCV(kernels=np.array(0.5)).fit(X, y)
    missing = np.array([0, 1, None] * 10, dtype=object)
    with pytest.raises(ValueError, match="have no order"):
        MixedNormDRMClassifier(class_weight={0: 1.0, 1: 2.0}).fit(X, missing)
