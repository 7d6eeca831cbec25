"""Small matrices are worked on by one BLAS thread, and the setting ends with the context."""

import inspect

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from marginbook.base.threads import WORTH, few_threads, on_few_threads

from ..test_conventions import ESTIMATORS


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_one_thread_for_small_matrices_only():
    with threadpool_limits(2, "blas"):
        before = blas_threads()
        with few_threads(WORTH - 1):
            assert set(blas_threads()) == {1}
        assert blas_threads() == before
        with few_threads(WORTH):
            assert blas_threads() == before


class Machine:
    @on_few_threads
    def fit(self, X, y=None):
        """Fit."""
        self.threads = set(blas_threads())
        return self


@pytest.mark.parametrize(
    "make", [np.zeros, lambda shape: sparse.csr_array(shape), lambda shape: [[0.0]] * shape[0]]
)
def test_few_rows_are_worked_on_by_one_thread(make):
    with threadpool_limits(2, "blas"):
        many = set(blas_threads())
        assert Machine().fit(make((WORTH - 1, 1))).threads == {1}
        assert Machine().fit(make((WORTH, 1))).threads == many
        assert set(blas_threads()) == many
    assert (Machine.fit.__name__, Machine.fit.__doc__) == ("fit", "Fit.")
    assert list(inspect.signature(Machine.fit).parameters) == ["self", "X", "y"]


@pytest.mark.parametrize("bad", [None, 3.0, np.float64(2.0), iter([1]), object()])
def test_what_has_no_rows_reaches_the_method(bad):
    assert Machine().fit(bad).threads == {1}


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_every_estimator_fits_few_rows_on_one_thread(name):
    """Thousands of steps on small matrices take up to forty times as long where threads wait."""
    assert ESTIMATORS[name].fit.__globals__["__name__"] == "marginbook.base.threads"
