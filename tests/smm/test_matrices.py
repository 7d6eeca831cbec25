"""What counts as matrices: three axes, rows with a shape, columns; and what is refused, in one line."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from marginbook.smm.estimators import LowRankSVMClassifier
from marginbook.smm.estimators.level_sets import LevelSetClassifier
from marginbook.smm.estimators.matrix_input import parse_shape, validate_matrices, validate_training
from marginbook.smm.estimators.regression import RegressionFunctionEstimator
from marginbook.smm.estimators.selection import LowRankSVMClassifierCV

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4, 3))
Y = np.where(X[:, 0, 0] + 0.3 * RNG.normal(size=30) > 0, "in", "out")
EVERY = [
    LowRankSVMClassifier(),
    LevelSetClassifier(),
    RegressionFunctionEstimator(4),
    LowRankSVMClassifierCV(lams=(0.1,), cv=2),
]


def _name(model):
    return type(model).__name__


@given(n=st.integers(1, 4), d1=st.integers(1, 4), d2=st.integers(1, 4), seed=st.integers(0, 99))
def test_rows_are_written_one_after_the_other(n, d1, d2, seed):
    matrices = np.random.default_rng(seed).normal(size=(n, d1, d2))
    rows, y = np.array([[x for row in m for x in row] for m in matrices]), np.arange(n)
    model = LowRankSVMClassifier()
    of_rows, labels = validate_training(model, rows, y, (d1, d2))
    assert np.array_equal(of_rows, matrices)
    assert labels.tolist() == y.tolist()
    assert model.matrix_shape_ == (d1, d2)
    assert model.n_features_in_ == d1 * d2
    for again in (rows, matrices, matrices.tolist()):
        assert np.array_equal(validate_matrices(model, again), matrices)
    columns, _ = validate_training(model, rows, y)
    assert columns.shape == (n, d1 * d2, 1)


@pytest.mark.parametrize("model", EVERY, ids=_name)
def test_all_forms_of_one_sample_give_one_model(model):
    fits = [
        model.fit(X, Y),
        type(model)(**(model.get_params() | {"shape": (4, 3)})).fit(X.reshape(30, 12), Y),
        type(model)(**(model.get_params() | {"shape": [4, 3]})).fit(X.tolist(), list(Y)),
        type(model)(**model.get_params()).fit(X.astype(np.float32).astype(float), Y),
    ]
    for fitted in fits[:3]:
        assert fitted.matrix_shape_ == (4, 3)
        assert fitted.n_features_in_ == 12
        assert fitted.predict(X).tolist() == fits[0].predict(X.reshape(30, 12)).tolist()
    assert (fits[3].predict(X) == fits[0].predict(X)).mean() > 0.9


@pytest.mark.parametrize("model", EVERY, ids=_name)
def test_read_only_fortran_and_frames(model):
    frozen = np.asfortranarray(X)
    frozen.setflags(write=False)
    assert (model.fit(frozen, Y).predict(frozen) == model.fit(X, Y).predict(X)).all()
    frame = pd.DataFrame(X.reshape(30, 12), columns=[f"x{k}" for k in range(12)])
    fitted = model.fit(frame, Y)
    assert fitted.feature_names_in_.tolist() == list(frame.columns)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(frame[frame.columns[::-1]])


@pytest.mark.parametrize("model", EVERY, ids=_name)
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (sparse.csr_matrix(X.reshape(30, 12)), "does not take sparse data; call X.toarray()"),
        (X[:, :, :, None], "X has shape (30, 4, 3, 1), wanted (n, d1, d2), or (n, p) with shape=(d1, d2)"),
        (X[:, :, :0], "X has shape (30, 4, 0), 0 feature(s), while a minimum of 1 is required"),
        (np.where(X > 1, np.nan, X), "Input X contains NaN"),
        (np.where(X > 1, np.inf, X), "Input X contains infinity"),
        (X + 1j, "Complex data not supported"),
        (X[:20], "Found input variables with inconsistent numbers of samples: [20, 30]"),
        (np.ones(30), "Expected 2D array, got 1D array instead"),
        ([[1.0], [2.0, 3.0]], "inhomogeneous"),
    ],
)
def test_what_is_no_matrices_is_refused(model, data, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        model.fit(data, Y)


@pytest.mark.parametrize("model", EVERY, ids=_name)
def test_a_shape_must_fit(model):
    turned = type(model)(**(model.get_params() | {"shape": (3, 4)}))
    with pytest.raises(
        ValueError, match=re.escape("X holds matrices of (4, 3), but shape=(3, 4); transpose")
    ):
        turned.fit(X, Y)
    with pytest.raises(ValueError, match=re.escape("X has 10 columns, which are no matrices of 3 x 4")):
        turned.fit(X.reshape(30, 12)[:, :10], Y)
    with pytest.raises(ValueError, match=re.escape("X holds matrices of (3, 4), wanted (4, 3) as in fit")):
        model.fit(X, Y).predict(X.transpose(0, 2, 1))
    with pytest.raises(ValueError, match="X has 11 features, but"):
        model.predict(X.reshape(30, 12)[:, :11])


@pytest.mark.parametrize("shape", [(3,), 12, "43", (0, 12), (2.0, 6.0), (1, 2, 6), (True, 12), {4, 3}])
def test_a_shape_is_two_whole_numbers(shape):
    with pytest.raises(
        ValueError, match=re.escape("shape must be None or two whole numbers >= 1 such as (8, 8)")
    ):
        parse_shape(shape)


def test_shapes_of_numpy_are_whole_numbers_too():
    assert parse_shape(np.array([4, 3])) == parse_shape((np.int32(4), 3)) == (4, 3)
    assert parse_shape(None) is None
