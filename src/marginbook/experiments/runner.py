"""Runs the tasks of an experiment that are not in the store yet, on this machine or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING

from ..base.extras import naming_the_extra
from ..datasets.dataset import DatasetNotFetched
from .errors import ExperimentError
from .one_task import data_hash
from .progress import RunProgress
from .protocol import Protocol, Task, load_protocol
from .shipped import shipped
from .store import Outcome, Signature, Store, current, is_current
from .timings import Timings
from .workers import Submit, workers

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class Inputs:
    """What the data sets of a run look like now.

    Attributes
    ----------
    signatures : dict
        By data set: what a current result must have been made from.
    n_rows : dict
        By data set.
    missing : dict
        Data sets that could not be loaded, with the reason and what to do.
    to_fetch : dict
        Of the missing ones those that only have to be fetched: by data set, its name for
        ``marginbook data fetch``.
    """

    signatures: dict[str, Signature]
    n_rows: dict[str, int]
    missing: dict[str, str]
    to_fetch: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    """What a run came to: counts of tasks, the failures, and the data sets that were not there.

    `lacking` has the methods that need Weka or a package of an extra, which is not installed, with a
    sentence that says how to install it; nothing of them was run or stored.
    """

    experiment: str
    profile: str
    asked: int
    done: int
    ran: int
    failed: list[Outcome] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    to_fetch: dict[str, str] = field(default_factory=dict)
    lacking: dict[str, str] = field(default_factory=dict)


def inspect_inputs(protocol: Protocol, profile: str, datasets: Iterable[str]) -> Inputs:
    """Load each data set once and return what the results on it depend on."""
    found = Inputs({}, {}, {})
    code = protocol.code()
    for name in dict.fromkeys(datasets):
        try:
            data = protocol.load(name)
            found.signatures[name] = Signature(code, data_hash(data), protocol.settings_hash(profile, name))
            found.n_rows[name] = len(data.y)
        except Exception as error:  # whatever is wrong with one set, the others can run
            found.missing[name] = " ".join(str(error).split()) or type(error).__name__
            if isinstance(error, DatasetNotFetched) and error.name:
                found.to_fetch[name] = error.name
    return found


def run(
    experiment: str | Protocol,
    profile: str = "quick",
    *,
    n_jobs: int = -1,
    dask: str | None = None,
    store: str | PathLike[str] | None = None,
    datasets: Iterable[str] | None = None,
    methods: Iterable[str] | None = None,
    splits: Iterable[int] | None = None,
    tasks: Iterable[Task] | None = None,
    threads: int = 1,
    console: Console | None = None,
) -> Report:
    """Run what is missing of an experiment; what is in the store and still holds is not run again.

    Parameters
    ----------
    experiment : str or Protocol
        An id such as ``"drm/table-8"``, or a protocol that you changed.
    profile : {"quick", "paper"}, default="quick"
        `export` and `read_results` have "paper" by default.
    n_jobs : int, default=-1
        Worker processes; -1 is one per core, 1 works in this process.
    dask : str, default=None
        Address of a Dask scheduler; its workers need this package and the data. `n_jobs` is then ignored.
    store : path, optional
        Default: `marginbook.experiments.store.default_path`.
    datasets, methods, splits : optional
        Run only these.
    tasks : iterable of Task, optional
        Run these, whatever else is given.
    threads : int, default=1
        Of BLAS and OpenMP in each worker; with more than one, sums have other orders.
    console : rich.console.Console, optional
        Where progress is shown; default: standard error.

    Returns
    -------
    Report
        Failed tasks are in it and in the store; the next run tries them again.

    Raises
    ------
    ExperimentError
        Unknown names, a store that cannot be written, no Dask cluster.
    KeyboardInterrupt
        After the workers were stopped; finished tasks are kept.
    """
    protocol = load_protocol(experiment) if isinstance(experiment, str) else experiment
    if console is None:
        with naming_the_extra():
            from rich.console import Console

        console = Console(stderr=True)
    if tasks is None:
        tasks = protocol.tasks(profile, datasets=datasets, methods=methods, splits=splits)
    tasks = list(tasks)
    inputs = inspect_inputs(protocol, profile, (task.dataset for task in tasks))
    possible = [task for task in tasks if task.dataset in inputs.signatures]
    failed: list[Outcome] = []
    lacking: dict[str, str] = {}
    with Store(store) as results:
        results.verify()
        if damaged := results.drop_damaged(protocol.id):
            console.print(
                f"{len(damaged)} stored results were damaged on the disk, such as {damaged[0]}; "
                "these tasks are run again",
                soft_wrap=True,
            )
        results.drop_dead_claims()
        held = {outcome.task for outcome in current(results, protocol, possible, inputs.signatures)}
        todo = [task for task in possible if task not in held]
        timings = known_timings(results, protocol, inputs.n_rows, possible)
        todo = timings.order(todo)
        ran = 0
        if todo:
            with (
                workers(n_jobs, dask, len(todo), threads) as (submit, at_once, at_hand),
                RunProgress(protocol.id, todo, timings, console, at_once) as bar,
            ):
                queue = _unclaimed(results, todo, inputs.signatures, bar, lacking)
                for outcome in _as_finished(submit, at_hand, protocol, queue):
                    if outcome.lacks:
                        lacking.setdefault(outcome.task.method, outcome.lacks)
                        bar.finished(outcome.task, None)
                        continue
                    outcome = _checked(outcome, inputs.signatures[outcome.task.dataset])
                    results.record(outcome)
                    ran += 1
                    failed += [outcome] if outcome.error is not None else []
                    bar.finished(outcome.task, outcome)
        results.drop_dead_claims()
        done = len(current(results, protocol, possible, inputs.signatures))
    return Report(
        protocol.id, profile, len(tasks), done, ran, failed, inputs.missing, inputs.to_fetch, lacking
    )


def known_timings(
    store: Store, protocol: Protocol, n_rows: Mapping[str, int], tasks: Iterable[Task]
) -> Timings:
    """Return the timings of the store, and for `tasks` those that are shipped."""
    timings = shipped(protocol).timings(n_rows, tasks)
    for outcome in store.outcomes(protocol.id):
        if outcome.error is None:
            timings.learn(outcome.task, outcome.seconds, outcome.n_rows)
    return timings


def _unclaimed(
    store: Store,
    tasks: Iterable[Task],
    signatures: Mapping[str, Signature],
    bar: RunProgress,
    lacking: Mapping[str, str],
) -> Iterator[Task]:
    """Yield the tasks nobody else has done; those that another run is at go last.

    None of a method that is found, meanwhile, to lack a package.
    """
    later: list[Task] = []
    for first_round, queue in ((True, tasks), (False, later)):
        for task in queue:
            if task.method in lacking:
                bar.finished(task, None)
            elif is_current(stored := store.get(task), signatures[task.dataset]):
                bar.finished(task, stored)
            elif first_round and not store.claim(task):
                later.append(task)
            else:
                yield task


def _as_finished(submit: Submit, width: int, protocol: Protocol, tasks: Iterable[Task]) -> Iterator[Outcome]:
    """Yield outcomes as they come; a task that brings its worker down is tried once more, alone."""
    suspects: list[Task] = []
    yield from _window(submit, width, protocol, iter(tasks), suspects)
    culprits: list[Task] = []
    yield from _window(submit, 1, protocol, iter(suspects), culprits)
    for task in culprits:
        yield Outcome(
            task, Signature("", "", ""), error="its worker process died twice: killed, or out of memory"
        )


def _window(
    submit: Submit, width: int, protocol: Protocol, tasks: Iterator[Task], broken: list[Task]
) -> Iterator[Outcome]:
    pending: dict[Future[Outcome], Task] = {}
    while True:
        while len(pending) < width and (task := next(tasks, None)) is not None:
            try:
                pending[submit(protocol, task)] = task
            except BrokenExecutor:
                broken.append(task)
        if not pending:
            return
        for future in wait(pending, return_when=FIRST_COMPLETED).done:
            task = pending.pop(future)
            try:
                yield future.result()
            except BrokenExecutor:
                broken.append(task)
            except CancelledError:
                raise ExperimentError(
                    "the Dask scheduler went away; finished tasks are kept, the same command resumes"
                ) from None
            except Exception as error:
                # the task itself never raises: its worker was lost, or cannot import us
                yield Outcome(task, Signature("", "", ""), error=f"{type(error).__name__}: {error}")


def _checked(outcome: Outcome, expected: Signature) -> Outcome:
    if outcome.error is not None:
        return Outcome(outcome.task, expected, error=outcome.error)
    for what in ("code", "data", "settings"):
        if getattr(outcome.signature, what) != getattr(expected, what):
            told = f"the worker has other {what} than this process; update and restart the workers"
            return Outcome(outcome.task, expected, error=told)
    return outcome
