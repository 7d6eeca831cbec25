"""Small matrices are worked on by one BLAS thread, and the setting ends with the context."""

from threadpoolctl import threadpool_info, threadpool_limits

from marginbook.base.threads import WORTH, few_threads


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
