"""What users get wrong is named in one line, by every classifier of the room."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning

import marginbook.kfda
from marginbook.base.parameters import is_number, validate_flags
from marginbook.kfda import KFDAClassifier, OLSKFDAClassifier, RealisationSearch, SparseKFDAClassifier

X, y = make_blobs(30, 2, random_state=0, centers=2, cluster_std=3.0)
MACHINES = [SparseKFDAClassifier(), SparseKFDAClassifier(q=0.5), KFDAClassifier(), OLSKFDAClassifier()]
EVERY = [*MACHINES, RealisationSearch(SparseKFDAClassifier(), {"rho": [0.1]}, 2)]


def _name(model):
    return type(model).__name__


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"q": 0}, "q must be a number in (0, 2], got 0; 1 is the lasso, 2 is ridge"),
        ({"q": 2.5}, "q must be a number in (0, 2], got 2.5"),
        ({"q": np.nan}, "q must be a number in (0, 2], got nan"),
        ({"q": "1"}, "q must be a number in (0, 2], got '1'"),
        ({"q": True}, "q must be a number in (0, 2], got True"),
        ({"rho": -0.1}, "rho must be a finite number > 0, got -0.1; without a penalty take KFDAClassifier"),
        ({"rho": 0.0}, "rho must be a finite number > 0, got 0.0; without a penalty take KFDAClassifier"),
        ({"rho": np.inf}, "rho must be a finite number > 0, got inf"),
        ({"rho": None}, "rho must be a finite number > 0, got None"),
        ({"rho": 1e-300}, "rho must be in [1e-100, 1e+100], beyond which squares overflow, got 1e-300"),
        ({"cut": 1.0}, "cut must be a number in [0, 1), a share of the largest coefficient, got 1.0"),
        ({"cut": -1e-3}, "cut must be a number in [0, 1), a share of the largest coefficient, got -0.001"),
        ({"tol": -1.0}, "tol must be a number >= 0, got -1.0"),
        ({"tol": "small"}, "tol must be a number >= 0, got 'small'"),
        ({"max_iter": 0}, "max_iter must be a whole number >= 1, got 0"),
        ({"max_iter": 10.0}, "max_iter must be a whole number >= 1, got 10.0"),
        ({"penalize_bias": "yes"}, "penalize_bias must be True or False, got 'yes'"),
        ({"solver": "newton"}, "unknown solver 'newton'; choose from auto, mm, plain, squarem, lasso"),
        ({"solver": None}, "unknown solver None; choose from auto, mm, plain, squarem, lasso"),
        ({"solver": "lasso", "q": 0.5}, "solver 'lasso' needs q=1, got q=0.5; use 'mm'"),
        ({"threshold": "zero"}, "unknown threshold 'zero'; choose from midpoint, means"),
        ({"start": "zeros"}, "unknown start 'zeros'; choose from ridge"),
        (
            {"start": np.ones(30)},
            "start has shape (30,), wanted 31 finite numbers: the bias, then a coefficient for each row",
        ),
        ({"start": np.full(31, np.nan)}, "start has shape (31,), wanted 31 finite numbers"),
        ({"kernel": "sigmoid"}, "unknown kernel 'sigmoid'; choose from linear, poly, rbf, precomputed"),
        ({"kernel": ("rbf", {"sigma": 1})}, "kernel 'rbf' does not know sigma; it takes gamma"),
        ({"kernel": None}, "a kernel is a name, a pair such as"),
        ({"gamma": -1.0}, "gamma of kernel 'rbf' must be a finite number >= 0, got -1.0"),
        ({"gamma": "wide"}, "gamma must be a number >= 0, 'scale', 'auto' or None, got 'wide'"),
        ({"gamma": "scale", "n_components": 0}, "n_components must be None or a whole number >= 1, got 0"),
        ({"class_weight": "equal"}, "class_weight must be a dictionary of classes, 'balanced' or None"),
        ({"kernel": "poly", "degree": "3"}, "degree of kernel 'poly' must be a finite number >= 0, got '3'"),
        ({"kernel": "precomputed"}, "kernel='precomputed' needs a square matrix, got shape (30, 2)"),
        ({"kernel": ("poly", {"degree": 900})}, "is infinite or undefined on these data; scale the features"),
    ],
)
def test_parameters(parameters, message):
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        SparseKFDAClassifier(**parameters).fit(X * 10, y)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("model", EVERY, ids=_name)
def test_labels_and_values(model):
    name = _name(getattr(model, "estimator", model))
    if model in MACHINES:
        with pytest.raises(ValueError, match=f"{name} needs (at least )?2 classes, got one class: 7"):
            model.fit(X, np.full(30, 7))
    flowers, kinds = load_iris(return_X_y=True)
    if name == "KFDAClassifier":
        assert model.fit(flowers, kinds).classes_.tolist() == [0, 1, 2]
    else:
        with pytest.raises(ValueError, match=f"wrap {name} in OneVsRestClassifier or OneVsOneClassifier"):
            model.fit(flowers, kinds)
    with pytest.raises(ValueError, match=r"Unknown label type|Supported target types"):
        model.fit(X, X[:, 0])
    spoilt = X.copy()
    spoilt[3, 1] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.fit(spoilt, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, y[:-1])
    with pytest.raises(ValueError, match="expecting 2 features as input"):
        model.fit(X, y).predict(X[:, :1])


@pytest.mark.parametrize("model", MACHINES, ids=_name)
def test_kernels_that_do_not_fit(model):
    options = {**model.get_params(), "kernel": "precomputed"}
    with pytest.raises(
        ValueError, match=re.escape("kernel='precomputed' needs a square matrix, got shape (30, 2)")
    ):
        type(model)(**options).fit(X, y)
    with pytest.raises(
        ValueError, match=r"kernel='precomputed' does not take sparse data, .* call X.toarray"
    ):
        type(model)(**options).fit(sparse.csr_matrix(X @ X.T), y)
    K = X @ X.T
    with pytest.raises(ValueError, match="expecting 30 features as input"):
        type(model)(**options).fit(K, y).predict(K[:, :4])


def test_infinity_in_sparse_rows():
    spoilt = sparse.csr_matrix(X)
    spoilt.data[5] = np.inf
    with pytest.raises(ValueError, match="Input X contains infinity"):
        SparseKFDAClassifier(kernel="linear").fit(spoilt, y)


@pytest.mark.parametrize("q", [0.5, 1.0, 1.5])
@pytest.mark.parametrize("size", [1e80, 1e160])
def test_features_beyond_double_precision(q, size):
    with pytest.raises(ValueError, match="scale the features"):
        SparseKFDAClassifier(q, kernel="linear").fit(X * size, y)


def test_features_that_are_all_zero_tell_nothing():
    nothing, labels = np.zeros((9, 2)), np.array(["a", "b", "b"] * 3)
    for options in ({}, {"kernel": "linear"}, {"q": 0.5}, {"q": 2}, {"threshold": "means"}):
        model = SparseKFDAClassifier(**options).fit(nothing, labels)
        assert (model.predict(nothing) == "b").all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"solver": "plain", "max_iter": 2},
            r"solver 'plain' stopped after 2 iterations at the relative change of J \d.\d\de[+-]\d\d > "
            r"tol=1\.00e-05; raise max_iter or tol, or scale the features",
        ),
        ({"solver": "plain", "q": 0.5, "tol": 1e-13, "max_iter": 3}, r"'plain' .* > tol=1\.00e-13; raise"),
        (
            {"solver": "squarem", "max_iter": 1, "tol": 1e-12},
            r"'squarem' stopped after 1 iteration at .* > tol",
        ),
        ({"tol": 0.0}, r"'lasso' .* relative duality gap \d.* > tol=0\.00e\+00; raise tol or rho, or scale"),
        ({"q": 1.5, "tol": 0.0}, r"'mm' .* relative duality gap .* > tol=0\.00e\+00; raise tol or rho"),
        ({"q": 0.5, "tol": 0.0}, r"'mm' .* stationarity residual .* > tol=0\.00e\+00; raise tol or rho"),
        (
            {"q": 0.5, "max_iter": 1},
            r"'mm' stopped after 1 iteration at .* > tol=1\.00e-04; raise max_iter or tol, or scale",
        ),
        ({"q": 1.5, "max_iter": 1}, r"'mm' stopped after 1 iteration at .* > tol=1\.00e-08; raise max_iter"),
    ],
)
def test_a_missed_tolerance_warns_with_both_numbers(options, message):
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        model = SparseKFDAClassifier(**options).fit(X, y)
    assert Path(caught[0].filename) == Path(__file__)  # it points at the user's line
    assert not model.converged_


def test_what_counts_as_a_number_and_a_flag():
    assert all(is_number(value) for value in (1, 0.5, np.float32(2), np.int64(3)))
    assert not any(is_number(value) for value in (True, np.True_, np.nan, np.inf, "1", None, 1j))
    validate_flags(flag=np.bool_(True))
    with pytest.raises(ValueError, match="flag must be True or False, got 1"):
        validate_flags(flag=1)


def test_what_the_room_offers_is_there():
    for name in marginbook.kfda.__all__:
        assert getattr(marginbook.kfda, name).__doc__


@pytest.mark.parametrize("model", MACHINES, ids=str)
def test_a_gamma_that_leaves_most_rows_alone_is_told(model):
    """A few near pairs lift the mean of the Gram matrix: only its rows show what is wrong."""
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(size=(40, 3)), 1e4 * rng.normal(size=(60, 3))])
    with pytest.warns(UserWarning, match="gamma is too large for most rows"):
        clone(model).set_params(kernel=("rbf", {"gamma": 0.5})).fit(rows, np.arange(100) % 2)
