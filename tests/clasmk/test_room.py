"""What the room says about itself is so: its chapter's code runs."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

import marginbook.clasmk
from marginbook.clasmk.model.objective import forms
from marginbook.clasmk.solvers.dinkelbach import dinkelbach

from ..chapter_code import run_chapter


def test_what_the_room_offers_is_there():
    for name in marginbook.clasmk.__all__:
        assert getattr(marginbook.clasmk, name).__doc__


def test_the_code_of_the_chapter_runs():
    names = run_chapter("clasmk")
    assert names["several"].solution_.gap <= 1e-8
    assert names["several"].solution_.objective <= names["side_by_side"].objective_ * (1 + 1e-8)
    assert np.array_equal(names["side_by_side"].weights_.max(axis=1), np.ones(3))
    assert len(names["printed"].kept_kernels_) > len(names["several"].kept_kernels_)
    assert names["model"].score(names["X_test"], names["y_test"]) > 0.9
    assert names["layers"].weights_.shape == (len(names["by_layer"]), 3, 13)
    assert names["mkl"].dual_gap_ < 1e-3


@pytest.mark.parametrize("eta", [0.05, 0.5])
@pytest.mark.parametrize("copies", [2, 3])
def test_copies_of_a_kernel_lower_the_ratio_as_the_chapter_proves(copies, eta):
    """The proposition's bound, at a minimum of (33) for wine; concatenated, copies change nothing."""
    X, y = load_wine(return_X_y=True)
    kernels = [("rbf", {"gamma": g}) for g in (0.02, 0.1)]
    fitted = marginbook.clasmk.CLASMKTransformer(kernels, eta=eta, truncation="mean", random_state=0)
    measured = fitted.fit(scale(X), y).separation_
    once = dinkelbach(measured.numerator, measured.denominator)
    parts = (measured.numerator, measured.denominator)
    repeated = [np.tile(part, (1, copies, copies)) for part in parts]
    several = dinkelbach(*repeated)
    n, d = (forms(once.roots, part) for part in parts)
    grid = np.array(np.meshgrid(*[[1.0, copies]] * 3)).reshape(3, -1).T
    bound = ((grid @ n) / (grid @ d)).min()
    assert bound < once.objective * (1 - 1e-3)
    assert several.objective <= bound * (1 + 1e-8)
    alone, side_by_side = (dinkelbach(*of, combine="concat").objective for of in (parts, repeated))
    assert np.isclose(alone, side_by_side)
