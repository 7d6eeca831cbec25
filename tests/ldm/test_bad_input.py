"""What users get wrong is named in one line, by every estimator of the room."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning

from marginbook.kernels import KernelOverflow
from marginbook.ldm import KMOMDClassifier, LDMClassifier, LDMClassifierCV, MAMCClassifier, MDOClassifier
from marginbook.ldm.solvers.hard_margin import InfeasibleError

X, y = make_blobs(30, 2, random_state=0, centers=2, cluster_std=3.0)
EVERY = [LDMClassifier(), LDMClassifierCV(), MDOClassifier(), MAMCClassifier(), KMOMDClassifier()]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"lambda1": -0.1}, "lambda1 must be a finite number >= 0, got -0.1"),
        ({"lambda1": np.nan}, "lambda1 must be a finite number >= 0, got nan"),
        ({"lambda2": np.inf}, "lambda2 must be a finite number >= 0, got inf"),
        ({"lambda2": "1"}, "lambda2 must be a finite number >= 0, got '1'"),
        ({"C": 0}, "C must be a number > 0 (np.inf is the hard margin), got 0"),
        ({"C": True}, "C must be a number > 0 (np.inf is the hard margin), got True"),
        ({"lambda1": 1e160}, "lambda1 must be at most 1e+100, beyond which squares overflow, got 1e+160"),
        ({"C": 1e308}, "C must be at most 1e+100, beyond which squares overflow, got 1e+308"),
        ({"tol": None}, "tol must be a number >= 0, got None"),
        ({"max_iter": 0}, "max_iter must be a whole number >= 1, got 0"),
        ({"max_iter": 2.5}, "max_iter must be a whole number >= 1, got 2.5"),
        ({"n_passes": 0}, "n_passes must be a whole number >= 1, got 0"),
        ({"solver": "newton"}, "unknown solver 'newton'; choose from auto, active-set, interior-point, dcd"),
        ({"solver": "asgd"}, "solver 'asgd' needs kernel='linear', got 'rbf'; use 'active-set'"),
        ({"solver": "interior-point"}, "solver 'interior-point' needs kernel='linear', got 'rbf'"),
        (
            {"solver": "dcd", "C": np.inf},
            "C=inf, the hard margin, needs solver 'auto', 'active-set' or 'cvxpy'",
        ),
        ({"kernel": "sigmoid"}, "unknown kernel 'sigmoid'; choose from linear, poly, rbf, precomputed"),
        ({"kernel": ("rbf", {"sigma": 1})}, "kernel 'rbf' does not know sigma; it takes gamma"),
        ({"kernel": None}, "a kernel is a name, a pair such as"),
        ({"gamma": -1.0}, "gamma of kernel 'rbf' must be a finite number >= 0, got -1.0"),
        ({"gamma": "width"}, "gamma must be a number >= 0, 'scale', 'auto' or None, got 'width'"),
        ({"kernel": "poly", "degree": "3"}, "degree of kernel 'poly' must be a finite number >= 0, got '3'"),
        ({"kernel": "precomputed"}, "kernel='precomputed' needs a square matrix, got shape (30, 2)"),
        ({"kernel": ("poly", {"degree": 900})}, "is infinite or undefined on these data; scale the features"),
    ],
)
def test_parameters(parameters, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        LDMClassifier(**parameters).fit(X * 10, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"lambda1s": ()}, "lambda1s must be a sequence of at least one value, got ()"),
        ({"Cs": np.array(0.5)}, "Cs must be a sequence of at least one value, got array(0.5)"),
        ({"lambda2s": 0.5}, "lambda2s must be a sequence of at least one value, got 0.5"),
        ({"Cs": "10"}, "Cs must be a sequence of at least one value, got '10'"),
        ({"lambda1s": (0.1, -1)}, "lambda1 must be a finite number >= 0, got -1"),
        ({"Cs": (1.0, 0.0)}, "C must be a number > 0"),
        ({"Cs": (1.0, np.inf)}, "Cs must be finite, got inf; LDMClassifier(C=np.inf) is the hard margin"),
        (
            {"gammas": (0.1,), "kernel": "linear"},
            "gammas are for a kernel 'rbf' or 'poly' that leaves its gamma open, got 'linear'",
        ),
        ({"gammas": (None,)}, "gammas must be numbers, got None; gammas=None is the paper's grid"),
        ({"gammas": (0.1, -1.0)}, "gamma of kernel 'rbf' must be a finite number >= 0, got -1.0"),
        (
            {"scoring": 0.5},
            "scoring must be 'accuracy', 'loo-bound', a scorer's name, a callable or None, got 0.5",
        ),
        ({"scoring": lambda model: 0.5}, "must take (labels, decision values), or as a scorer of scikit-"),
        ({"scoring": "acuracy"}, "acuracy"),
        (
            {"cv": 1},
            "cv must be None, a number of folds >= 2, a splitter or pairs (train, test)",
        ),
        ({"cv": 40}, "cv must be at most the 30 rows of X, got 40 folds"),
        ({"tol": -1}, "tol must be a number >= 0, got -1"),
        ({"kernel": "precomputed"}, "kernel='precomputed' needs a square matrix, got shape (30, 2)"),
    ],
)
def test_grids(parameters, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        LDMClassifierCV(**parameters).fit(X, y)


@pytest.mark.parametrize("model", EVERY, ids=lambda model: type(model).__name__)
def test_labels_and_values(model):
    name = type(model).__name__
    with pytest.raises(ValueError, match=f"{name} needs (2|at least 2) classes, got one class: 7"):
        model.fit(X, np.full(30, 7))
    if name != "LDMClassifier":
        flowers, kinds = load_iris(return_X_y=True)
        with pytest.raises(ValueError, match=f"wrap {name} in OneVsRestClassifier .* of sklearn.multiclass"):
            model.fit(flowers, kinds)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        model.fit(X, X[:, 0])
    spoilt = X.copy()
    spoilt[3, 1] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.fit(spoilt, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, y[:-1])


@pytest.mark.parametrize("solver", ["dcd", "interior-point", "asgd"])
def test_a_nan_in_sparse_rows(solver):
    spoilt = sparse.csr_matrix(X)
    spoilt.data[5] = np.inf
    with pytest.raises(ValueError, match="Input X contains infinity"):
        LDMClassifier(kernel="linear", solver=solver).fit(spoilt, y)


def test_a_matrix_that_is_no_gram_matrix():
    G = X @ X.T
    crooked = G.copy()
    crooked[4, 2] += 1.0
    message = r"not symmetric: entry \(\d+, \d+\) is .* or \(G \+ G\.T\) / 2"
    for model in (LDMClassifier(kernel="precomputed"), LDMClassifierCV(kernel="precomputed")):
        with pytest.raises(ValueError, match=message):
            model.fit(crooked, y)
        with pytest.raises(
            ValueError, match="not positive semidefinite: its Gram matrix has the eigenvalue -"
        ):
            model.fit(G - 5.0 * np.eye(30), y)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        LDMClassifier(kernel=lambda a, b: -float(a @ b)).fit(X, y)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        LDMClassifier(kernel=("poly", {"degree": 2, "coef0": -300.0})).fit(X, y)


def test_a_gram_matrix_in_single_precision_is_one():
    features = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)
    labels = np.where(features[:, 0] > 0, 1, -1)
    G = np.vstack([features[k] @ features.T for k in range(200)])  # symmetric up to rounding only
    assert np.linalg.eigvalsh(G.astype(float)).min() < 0
    model = LDMClassifier(kernel="precomputed").fit(G, labels)
    linear = LDMClassifier(kernel="linear", solver="active-set").fit(features, labels)
    np.testing.assert_allclose(model.decision_function(G), linear.decision_function(features), atol=1e-2)


@pytest.mark.parametrize("options", [{}, {"solver": "dcd"}, {"solver": "asgd"}, {"solver": "active-set"}])
@pytest.mark.parametrize("size", [1e100, 1e160])
def test_features_beyond_double_precision(options, size):
    with pytest.raises(ValueError, match="scale the features"):
        LDMClassifier(kernel="linear", **options).fit(X * size, y)


def test_features_that_are_all_zero_tell_nothing():
    nothing = np.zeros((6, 2))
    for options in ({}, *({"kernel": "linear", "solver": s} for s in ("auto", "dcd", "asgd", "cvxpy"))):
        model = LDMClassifier(**options).fit(nothing, [0, 1] * 3)
        assert (model.decision_function(nothing) == 0).all()
        assert (model.predict(nothing) == 0).all()
        assert model.objective_ == pytest.approx(60.0)
    with pytest.warns(UserWarning, match="gamma is too small") as caught:
        LDMClassifier().fit(nothing, [0, 1] * 3)
    assert Path(caught[0].filename) == Path(__file__)  # it points at the user's line


def test_a_hard_margin_that_there_is_not():
    with pytest.raises(InfeasibleError, match="no hyperplane through the origin separates the classes"):
        LDMClassifier(C=np.inf, kernel="linear").fit(X, y)
    with pytest.raises(InfeasibleError):
        LDMClassifier(C=np.inf, kernel="linear", solver="cvxpy").fit(X, y)


def test_who_has_no_bound():
    with pytest.raises(ValueError, match="loo_bound needs dual variables, which solver='asgd' has not"):
        LDMClassifier(kernel="linear", solver="asgd").fit(X, y).loo_bound()
    with pytest.raises(ValueError, match="loo_bound needs a finite C, got the hard margin"):
        LDMClassifier(C=np.inf, gamma=10.0).fit(X, y).loo_bound()
    many, labels = np.random.default_rng(0).normal(size=(5001, 1)), np.arange(5001) % 2
    big = LDMClassifier(C=1e-4, kernel="linear", tol=1e-2).fit(many, labels)
    with pytest.raises(ValueError, match="needs the Gram matrix of all 5001 rows, and this fit kept none"):
        big.loo_bound()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"solver": "dcd", "max_iter": 2},
            r"solver 'dcd' stopped after 2 iterations at the relative duality gap \d.\d\de[+-]\d\d > "
            r"tol=1\.00e-06; raise max_iter or tol, or scale the features",
        ),
        ({"kernel": "linear", "solver": "dcd", "max_iter": 3}, r"'dcd' stopped after 3 iterations"),
        (
            {"tol": 1e-30},
            r"'active-set' stopped after \d+ .* > tol=1\.00e-30; more would not help: raise tol",
        ),
        ({"solver": "cvxpy", "tol": 0.0}, r"'cvxpy' .* > tol=0\.00e\+00; raise tol, or scale the features"),
    ],
)
def test_a_gap_above_the_tolerance_warns_with_both_numbers(options, message):
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        LDMClassifier(**options).fit(X, y)
    assert Path(caught[0].filename) == Path(__file__)  # it points at the user's line


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_gram_matrix_whose_trace_overflows_is_named_as_such():
    features = np.random.default_rng(0).normal(size=(40, 3))
    G = features @ features.T
    G = 1e307 * (G / np.abs(G).max() + np.eye(40))
    with pytest.raises(KernelOverflow, match="beyond double precision; scale the features"):
        LDMClassifier(kernel="precomputed").fit(G, np.arange(40) % 2)
