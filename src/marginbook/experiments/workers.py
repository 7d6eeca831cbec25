"""Where the tasks of a run are done: in this process, in worker processes, or on a Dask cluster."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from joblib import cpu_count
from joblib.externals.loky import get_reusable_executor
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from ..base.workers import leave_ctrl_c_to_parent
from .errors import ExperimentError
from .one_task import forget_data, limit_threads, measure_in_worker, measure_task
from .protocol import Protocol, Task
from .store import Outcome

CONNECT_SECONDS = 10
Submit = Callable[[Protocol, Task], "Future[Outcome]"]


@contextmanager
def workers(
    n_jobs: int, dask: str | None, n_tasks: int, threads: int = 1
) -> Iterator[tuple[Submit, int, int]]:
    """Yield what a task is handed to, how many it does at a time, and how many it should have at hand.

    Each task has so many `threads`.
    """
    forget_data()
    if dask is not None:
        with _dask_cluster(dask, threads) as found:
            yield found
        return
    count = min(cpu_count() if n_jobs < 0 else max(n_jobs, 1), n_tasks)
    if count == 1:
        with threadpool_limits(limits=threads):
            yield _at_once, 1, 1
        return

    def pool() -> Any:
        # asked for anew each time: it is another executor once a worker has died
        return get_reusable_executor(
            max_workers=count, timeout=30, initializer=_start_worker, initargs=(threads,)
        )

    try:
        yield (lambda protocol, task: pool().submit(measure_in_worker, protocol, task, threads)), count, count
    finally:
        # workers of an earlier run could hold earlier code and data
        pool().shutdown(kill_workers=True)


def _start_worker(threads: int = 1) -> None:
    leave_ctrl_c_to_parent()
    limit_threads(threads)


def _at_once(protocol: Protocol, task: Task) -> Future[Outcome]:
    future: Future[Outcome] = Future()
    future.set_result(measure_task(protocol, task))
    return future


@contextmanager
def _dask_cluster(address: str, threads: int) -> Iterator[tuple[Submit, int, int]]:
    try:
        from distributed import Client
    except ImportError:
        raise ExperimentError(
            "--dask needs the package distributed: pip install 'marginbook[dask]'"
        ) from None
    # its tracebacks about lost connections would bury the one line that we say about them
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ExperimentError(
            f"no Dask scheduler at {address} ({' '.join(str(error).split())}); start one with "
            "`dask scheduler`, or leave --dask out"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=30)
        except TimeoutError:
            raise ExperimentError(
                f"the Dask scheduler at {address} has no workers; start some with `dask worker {address}`"
            ) from None
        executor = client.get_executor(pure=False)
        at_once = max(sum(client.nthreads().values()), 1)

        def submit(protocol: Protocol, task: Task) -> Future[Outcome]:
            future: Future[Outcome] = executor.submit(measure_in_worker, protocol, task, threads)
            return future

        yield submit, at_once, 2 * at_once
