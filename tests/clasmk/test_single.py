"""One kernel in one subspace of all rows: it approximates the kernel as far as it promises."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginbook.clasmk.estimators.lssvm import LSSVMClassifier
from marginbook.clasmk.model.normalised_kernels import normalised_gram
from marginbook.clasmk.peers.single_kernel import SubspaceKernelTransformer

RBF = ("rbf", {"gamma": 0.02})


@parametrize_with_checks(
    [
        SubspaceKernelTransformer(),
        SubspaceKernelTransformer(("poly", {"degree": 8}), order="sequential", max_rank=5),
        SubspaceKernelTransformer(RBF, n_components=2),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return scale(X), y


@pytest.mark.parametrize("kernel", [RBF, ("poly", {"degree": 12})])
@pytest.mark.parametrize("order", ["pivoted", "sequential"])
def test_products_of_coordinates_are_the_kernel_up_to_the_tolerance(wine, kernel, order):
    X, _ = wine
    model = SubspaceKernelTransformer(kernel, tol=0.05, order=order).fit(X)
    Z, K = model.transform(X), normalised_gram(kernel, X)
    error = K - Z @ Z.T
    assert model.residual_ <= 0.05
    np.testing.assert_allclose(error.diagonal().max(), model.residual_, atol=1e-9)
    # what the span leaves of two vectors has at most the product of its lengths as inner product
    assert np.abs(error).max() <= 0.05 + 1e-9
    assert np.linalg.eigvalsh(error).min() > -1e-8
    np.testing.assert_allclose((Z[model.basis_indices_] @ Z.T), K[model.basis_indices_], atol=1e-6)


def test_with_no_tolerance_the_machine_is_that_of_the_whole_kernel(wine):
    X, y = wine
    train, new = slice(0, None, 2), slice(1, None, 2)
    pipe = make_pipeline(SubspaceKernelTransformer(RBF, tol=0), LSSVMClassifier(10.0)).fit(X[train], y[train])
    whole = LSSVMClassifier(10.0, kernel=RBF, normalised=True).fit(X[train], y[train])
    np.testing.assert_allclose(pipe.decision_function(X[new]), whole.decision_function(X[new]), atol=1e-4)
    np.testing.assert_allclose(pipe[-1].loo_decision_, whole.loo_decision_, atol=1e-4)


def test_rank_and_components_are_capped_and_named(wine):
    X, _ = wine
    model = SubspaceKernelTransformer(RBF, max_rank=7, n_components=3).fit(X)
    assert len(model.basis_indices_) == 7
    assert list(model.get_feature_names_out()) == [f"subspacekerneltransformer{i}" for i in range(3)]
    spread = (model.transform(X) ** 2).mean(axis=0)
    assert (np.diff(spread) <= 1e-12).all()


def test_copies_and_constants_span_one_direction():
    model = SubspaceKernelTransformer().fit(np.ones((6, 3)))
    np.testing.assert_allclose(model.transform(np.ones((2, 3))), [[1.0], [1.0]])


def test_grid_search_over_both_steps(wine):
    X, y = wine
    pipe = make_pipeline(SubspaceKernelTransformer(RBF, tol=0.05), LSSVMClassifier([0.1, 1.0, 10.0]))
    search = GridSearchCV(pipe, {"subspacekerneltransformer__tol": [0.3, 0.05]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.93


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "precomputed"}, "has no rows to span a subspace with"),
        ({"kernel": "tanh"}, "unknown kernel 'tanh'"),
        ({"tol": 2.0}, r"tol must be a number in \[0, 1\], a squared distance, got 2.0"),
        ({"max_rank": 0}, "max_rank must be None or a whole number >= 1, got 0"),
        (
            {"n_components": 2.5},
            r"n_components must be .* or a float in \(0, 1\], got 2.5",
        ),
        ({"order": "random"}, "unknown order 'random'; choose from pivoted, sequential"),
    ],
)
def test_clear_errors(parameters, message):
    with pytest.raises(ValueError, match=message):
        SubspaceKernelTransformer(**parameters).fit(np.eye(3) + 1)


def test_a_row_of_zeros_has_no_normalised_linear_kernel():
    with pytest.raises(ValueError, match=r"k\(x, x\)"):
        SubspaceKernelTransformer("linear").fit(np.array([[1.0, 2.0], [0.0, 0.0]]))
