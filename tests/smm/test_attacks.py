"""What a room of estimators must survive: numbers far from 1, and certificates that say so when they fail."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from marginbook.smm.estimators import LowRankSVMClassifier
from marginbook.smm.model.objective import LOSSES
from marginbook.smm.solvers.block_descent import low_rank_svm
from marginbook.smm.solvers.global_bound import improve
from marginbook.smm.solvers.kernel_block_descent import low_rank_kernel_svm


@pytest.fixture
def sample() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4, 3))
    return X, np.where(X[:, 0, 0] + X[:, 1, 1] > 0.2, 1.0, -1.0)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("scale", [1e-150, 1e-50, 1e-20, 1e-8])
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_tiny_rows_have_a_finite_block_gap(sample, kernel, scale, loss):
    """The first state may be better than what the blocks find, by rounding; its gap is theirs then."""
    X, y = sample
    for fit_intercept in (False, True):
        found = low_rank_kernel_svm(
            X * scale, y, rank=2, lam=0.01, kernel=kernel, loss=loss, fit_intercept=fit_intercept
        )
        assert 0 <= found.block_gap <= 1e-6 * found.objective
        assert found.converged
        assert found.lower_bound <= found.objective * (1 + 1e-12)


def test_a_block_that_is_no_better_leaves_its_gap():
    """Random problems where the truncated full solution is the optimum: its gap once was infinite."""
    rng = np.random.default_rng(1)
    for _ in range(40):
        n, d1, d2 = int(rng.integers(3, 10)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
        X, y = rng.normal(size=(n, d1, d2)), rng.choice([-1.0, 1.0], n)
        found = low_rank_kernel_svm(
            X, y, rank=min(d1, d2), lam=10 ** rng.uniform(-4, 0), kernel="linear", loss="squared_hinge"
        )
        assert 0 <= found.block_gap <= 1e-6 * max(found.objective, 1e-5)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_an_open_block_is_not_converged(sample, fit_intercept):
    """No digits are left at this lam: the gap is all of the objective, and flag and warning say so."""
    X, y = sample
    model = LowRankSVMClassifier(2, lam=1e-50, loss="logistic", kernel="rbf", fit_intercept=fit_intercept)
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        model.fit(X, y)
    assert not model.converged_
    assert model.dual_gap_ > 0.1 * model.objective_
    assert np.isfinite(model.decision_function(X)).all()


def test_kernel_solver_refuses_no_sweeps(sample):
    X, y = sample
    for options in ({"max_iter": 0}, {"tol": np.nan}, {"tol": -1.0}):
        for solve in (low_rank_svm, low_rank_kernel_svm):
            with pytest.raises(ValueError, match="max_iter must be >= 1 and tol >= 0"):
                solve(X, y, rank=1, lam=0.1, **options)


@pytest.mark.parametrize("weight", [0, -1, np.nan, np.inf])
def test_a_class_cannot_weigh_nothing(sample, weight):
    """As with `sample_weight`; the constant machine of the other class is of no use to anyone."""
    X, y = sample
    with pytest.raises(ValueError, match="class_weight gives the weights"):
        LowRankSVMClassifier(class_weight={1: weight, -1: 1}).fit(X, y)


def test_a_bound_is_for_a_rank_that_there_is(sample):
    """A rank of -1 dropped the smallest singular value and made a bound of something else."""
    X, y = sample
    for rank in (-1, 0, 1.5, 4):
        with pytest.raises(ValueError, match="rank must be"):
            improve(X, y, rank=rank, lam=0.1)
    for broken, match in ((X * np.nan, "not finite"), (X[:, 0], "one matrix per sample")):
        with pytest.raises(ValueError, match=match):
            improve(broken, y, rank=1, lam=0.1)
    with pytest.raises(ValueError, match="start has"):
        improve(X, y, rank=1, lam=0.1, start=(np.zeros((3, 4)), 0.0))
    with pytest.raises(ValueError, match="multipliers has"):
        improve(X, y, rank=1, lam=0.1, multipliers=np.ones(3))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_start_from_another_world_does_no_harm(sample, kernel, loss):
    """Warm starts from other scales or the opposite labels end near new fits, in local minima."""
    X, y = sample
    for scale, sign in ((1e-6, 1), (1e3, 1), (1e6, 1), (1.0, -1)):
        model = LowRankSVMClassifier(1, 0.02, loss=loss, kernel=kernel, warm_start=True).fit(X, y)
        model.fit(X * scale, sign * y)
        new = LowRankSVMClassifier(1, 0.02, loss=loss, kernel=kernel).fit(X * scale, sign * y)
        assert 0 <= model.lower_bound_ <= model.objective_ * (1 + 1e-12)
        assert model.objective_ <= 1.2 * new.objective_ + 1e-9
        assert model.converged_


def test_a_start_far_worse_than_nothing(sample):
    X, y = sample
    for loss in LOSSES:
        far = np.full((4, 1), 1e100), np.full((3, 1), 1e100)
        found = low_rank_svm(X, y, rank=1, lam=0.1, loss=loss, start=far)
        nothing = low_rank_svm(X, y, rank=1, lam=0.1, loss=loss)
        assert found.objective <= 1.02 * nothing.objective
        with np.errstate(all="ignore"):
            huge = low_rank_svm(X * 1e100, y, rank=1, lam=0.1, loss=loss, fit_intercept=True, start=nothing)
        assert np.isfinite(huge.objective)
    with pytest.raises(ValueError, match="start has entries"):
        low_rank_svm(X, y, rank=1, lam=0.1, start=(np.full((4, 1), np.nan), np.ones((3, 1))))
    with pytest.raises(ValueError, match="rank must be"):
        low_rank_svm(X, y, rank=1.5, lam=0.1)


def test_a_small_tolerance_that_is_met_counts():
    """Blocks asked for 1e-12 that reach 1.1e-12 are solved well enough for a tolerance of 1e-10."""
    rng = np.random.default_rng(1)
    for _ in range(60):
        n, d1, d2 = int(rng.integers(4, 14)), int(rng.integers(2, 5)), int(rng.integers(2, 5))
        X, y = rng.normal(size=(n, d1, d2)), rng.choice([-1.0, 1.0], n)
        found = low_rank_svm(X, y, rank=1, lam=10 ** rng.uniform(-4, 0), fit_intercept=True, tol=1e-10)
        assert found.converged
        assert found.block_gap <= 1e-10 * max(found.objective, 1e-5)
