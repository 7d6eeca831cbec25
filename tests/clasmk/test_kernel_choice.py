"""One kernel for each class: the exact rule against all choices, and where the greedy rule misses."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from marginbook.clasmk.solvers.kernel_choice import (
    choice_ratio,
    choose_exact,
    choose_exhaustive,
    choose_greedy,
    choose_kernels,
)


@st.composite
def _terms(draw):
    shape = (draw(st.integers(2, 5)), draw(st.integers(1, 5)))
    # small integers make ties and zeros frequent
    numbers = st.one_of(st.integers(0, 4).map(float), st.floats(0, 10).map(lambda x: round(x, 6)))
    n, d = draw(arrays(float, shape, elements=numbers)), draw(arrays(float, shape, elements=numbers))
    if not d.any():
        d[0, 0] = 1.0
    scale = draw(st.sampled_from([1e-12, 1.0, 1e12]))
    return n * scale, d


@settings(max_examples=300)
@given(_terms())
def test_exact_is_exhaustive(terms):
    n, d = terms
    exact, exhaustive = choose_exact(n, d), choose_exhaustive(n, d)
    assert exact.objective == pytest.approx(exhaustive.objective, rel=1e-12, abs=0)
    assert choice_ratio(exact.kernels, n, d) == exact.objective
    assert choose_greedy(n, d).objective >= exact.objective * (1 - 1e-12)


@settings(max_examples=50)
@given(_terms())
def test_values_fall_and_passes_are_bounded(terms):
    n, d = terms
    found = choose_exact(n, d)
    path = np.array(found.objective_path)
    assert (np.diff(path) <= 0).all()
    assert found.n_iter == len(path) - 1 <= n.shape[0] * (n.shape[1] - 1) + 2


def test_exhaustive_is_a_loop():
    rng = np.random.default_rng(0)
    n, d = rng.random((2, 4, 3))
    best = min(product(range(3), repeat=4), key=lambda k: choice_ratio(k, n, d))
    found = choose_exhaustive(n, d)
    assert tuple(found.kernels) == best
    assert found.n_iter == 3**4


def test_greedy_misses():
    # class 0 has the better ratio of its own with little energy, but the sum wants energy
    n, d = np.array([[0.0, 0.1], [1.0, 1.0]]), np.array([[0.01, 1.0], [1.0, 1.0]])
    greedy, exact = choose_greedy(n, d), choose_exact(n, d)
    assert greedy.kernels[0] == 0
    assert exact.kernels[0] == 1
    assert greedy.objective == pytest.approx(1 / 1.01)
    assert exact.objective == pytest.approx(1.1 / 2)


def test_a_hundred_classes():
    rng = np.random.default_rng(1)
    n, d = rng.random((2, 100, 50))
    found = choose_exact(n, d)
    costs = n - found.objective * d
    assert costs.min(axis=1).sum() == pytest.approx(0, abs=1e-10)  # the condition of optimality
    assert found.n_iter <= 10


def test_zero_denominators_are_avoided():
    n, d = np.array([[0.0, 1.0], [0.0, 2.0]]), np.array([[0.0, 1.0], [0.0, 1.0]])
    for rule in ("exact", "exhaustive"):
        found = choose_kernels(n, d, rule=rule)
        # a class may take its kernel without energy, but not both classes
        assert found.objective == 1.0, rule
    assert list(choose_greedy(n, d).kernels) == [1, 1]
    half = choose_greedy(np.array([[0.0, 0.0], [3.0, 1.0]]), np.array([[0.0, 0.0], [1.0, 1.0]]))
    assert half.objective == 1.0  # a class with no energy at all counts only through its numerator


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e12, 1e300])
def test_scale(scale):
    rng = np.random.default_rng(2)
    n, d = rng.random((2, 3, 4))
    plain = choose_exact(n, d)
    assert np.array_equal(choose_exact(scale * n, d).kernels, plain.kernels)
    assert np.array_equal(choose_exact(scale * n, scale * d).kernels, plain.kernels)


def test_one_kernel_and_identical_kernels():
    one = choose_exact([[1.0], [2.0]], [[3.0], [4.0]])
    assert one.objective == pytest.approx(3 / 7)
    same = choose_exact(np.ones((3, 4)), np.ones((3, 4)))
    assert list(same.kernels) == [0, 0, 0]


def test_what_is_refused():
    ok = np.ones((2, 3))
    with pytest.raises(ValueError, match="wanted both"):
        choose_exact(ok, np.ones((2, 4)))
    with pytest.raises(ValueError, match="got 1 class, wanted at least 2"):
        choose_exact(ok[:1], ok[:1])
    with pytest.raises(ValueError, match="n has entries that are negative"):
        choose_exact(-ok, ok)
    with pytest.raises(ValueError, match="d has entries that are negative or not finite"):
        choose_greedy(ok, np.inf * ok)
    with pytest.raises(ValueError, match="all denominators are zero"):
        choose_exact(ok, 0 * ok)
    with pytest.raises(
        ValueError, match=r'17 kernels for 10 classes make 2015993900449 choices.*rule="exact"'
    ):
        choose_exhaustive(np.ones((10, 17)), np.ones((10, 17)))
    with pytest.raises(ValueError, match="rule must be one of"):
        choose_kernels(ok, ok, rule="best")
