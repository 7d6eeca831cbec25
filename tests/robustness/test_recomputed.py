"""What a fit of kFDA says of its own accuracy is so, whatever stopped it."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from marginbook.kfda import KFDAClassifier, SparseKFDAClassifier

from .judging import Fault, check_fitted
from .recipes import Labels, Rows
from .recomputed import check_certificate

X, y = Rows(20, 6, seed=1).make(), Labels("two").make(20)


@pytest.mark.parametrize(
    "rows",
    [
        np.zeros((20, 3)),
        X * 1e-300,  # the kernel is constant to the last digit
        np.full((20, 1), 7.0),
    ],
    ids=["zeros", "tiny", "equal"],
)
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("route", ["least-squares", "fisher"])
def test_a_kernel_without_contrast_leaves_no_residual(rows, kernel, route):
    """Where all differences between the classes are rounding, the solution 0 is exact."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = KFDAClassifier(kernel=kernel, route=route).fit(rows, y)
    assert model.residual_ < 1e-10
    assert np.abs(model.decision_function(rows)).max() < 1e-10


@pytest.mark.parametrize(
    "model",
    [KFDAClassifier(1e-100), KFDAClassifier(1.0, kernel="poly", coef0=1e6)],
    ids=["ridge-of-nothing", "large-constant"],
)
def test_equations_that_rounding_leaves_unsolved_are_told_of(model):
    rows = Rows(17, 3, base="line").make() if model.reg < 1 else Rows(9, 3).make()
    with pytest.warns(ConvergenceWarning, match="rounding leaves the equations a relative residual of"):
        model.fit(rows, np.arange(len(rows)) % 2)
    assert model.residual_ > 1e-4


@pytest.mark.parametrize("q", [0.5, 1.0, 1.5])
@pytest.mark.parametrize("solver", ["plain", "squarem", "mm"])
@pytest.mark.parametrize("penalize_bias", [True, False])
@pytest.mark.parametrize(
    "class_weight", [None, "balanced", {0: 0.3, 1: 7.0}], ids=["none", "balanced", "given"]
)
def test_the_paper_s_iterations_say_what_they_miss(q, solver, penalize_bias, class_weight):
    """They stop by the change of J, without a warning; so the judge computes the certificate again."""
    cut = 0.05 if solver == "mm" else 0.0
    model = SparseKFDAClassifier(
        q, solver=solver, cut=cut, penalize_bias=penalize_bias, gamma=0.1, class_weight=class_weight
    ).fit(X, y)
    check_certificate(model, X, y)
    for name in {"dual_gap_", "kkt_residual_", "stationarity_", "objective_"} & {*vars(model)}:
        said = getattr(model, name)
        for wrong in (0.5 * said, 2 * said + 1e-3, np.nan):
            setattr(model, name, wrong)
            if abs(said) > 1e-6 or np.isnan(wrong):
                with pytest.raises(Fault, match=f"{name} is .*, which by its definition is"):
                    check_certificate(model, X, y)
        setattr(model, name, said)
    assert not check_fitted(model)


@pytest.mark.parametrize("q", [0.5, 1.0, 1.5])
def test_certificates_are_those_of_the_columns_that_were_drawn(q):
    model = SparseKFDAClassifier(q, gamma=0.1, n_components=9, random_state=4).fit(X, y)
    check_certificate(model, X, y)
    model.random_state = 5
    with pytest.raises(Fault):
        check_certificate(model, X, y)


def test_the_gap_that_is_said_bounds_what_is_missing():
    exact = SparseKFDAClassifier(solver="lasso", gamma=0.1).fit(X, y)
    for solver in ("plain", "squarem"):
        model = SparseKFDAClassifier(solver=solver, gamma=0.1).fit(X, y)
        assert 1e-6 < model.objective_ - exact.objective_ <= model.dual_gap_
