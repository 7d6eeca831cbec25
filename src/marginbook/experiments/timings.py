"""What tasks will take, judged by those that are done, and the order to run them in."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from statistics import fmean, median

from .protocol import Task

# as if so much had been seen of costs in proportion to n: the square of a spread of log(n)
_PRIOR = 0.25
# without any timing only ratios matter, which the number of rows gives
_SECONDS_OF_A_ROW = 1e-3


class Timings:
    r"""Timings of done tasks, and what others should take by them.

    A method that was timed on a data set takes the median of its splits there. On another data set of
    :math:`n` rows it takes :math:`a\,n^p`; both are fitted to the data sets where it was timed, :math:`p`
    with a small prior weight on 1, so that a single data set leaves it at 1 and rows that the method does not
    use (as where it draws a fixed number of them) bring it towards 0. A method that was never timed takes the
    median of the others.

    What is assumed before anything is measured, such as timings of another machine, holds up to a factor: the
    median ratio of what was measured to what was assumed of the same tasks, of the method where it has one.

    Parameters
    ----------
    n_rows : mapping from str to int
        By data set.

    Examples
    --------
    >>> timings = Timings({"small": 100, "large": 300})
    >>> timings.learn(Task("r/t", "small", 1, "m", "paper"), 2.0)
    >>> task = Task("r/t", "large", 1, "m", "paper")
    >>> round(timings.expected([task])[task], 6)
    6.0
    """

    def __init__(self, n_rows: Mapping[str, int]) -> None:
        self._n_rows = dict(n_rows)
        self._seconds: dict[tuple[str, str], dict[str, dict[int, float]]] = {}
        self._assumed: dict[Task, float] = {}

    def learn(self, task: Task, seconds: float, n_rows: int = 1) -> None:
        """Take in a timing; a later one of the same task replaces it."""
        self._n_rows.setdefault(task.dataset, n_rows)
        of_method = self._seconds.setdefault((task.profile, task.method), {})
        of_method.setdefault(task.dataset, {})[task.split] = max(seconds, 1e-6)

    def assume(self, task: Task, seconds: float) -> None:
        """Take in what a task took elsewhere: it counts until its method is timed on its data set here."""
        self._assumed[task] = max(seconds, 1e-6)

    def known(self, profile: str) -> bool:
        """Tell whether anything of `profile` was timed, here or elsewhere."""
        timed = {of for of, _ in self._seconds} | {task.profile for task in self._assumed}
        return profile in timed

    def measured(self, tasks: Iterable[Task]) -> bool:
        """Tell whether of all `tasks` the method was timed here on the data set."""
        return all(task.dataset in self._seconds.get((task.profile, task.method), {}) for task in tasks)

    def expected(self, tasks: Iterable[Task]) -> dict[Task, float]:
        """Return the seconds that each task should take."""
        seen = {
            method: {dataset: median(splits.values()) for dataset, splits in of_method.items()}
            for method, of_method in self._seconds.items()
        }
        curves = {method: self._curve(of_method) for method, of_method in seen.items()}
        known: dict[tuple[str, str, str], float] = {}
        factors = self._factors()
        costs = {}
        for task in tasks:
            cell = task.profile, task.method, task.dataset
            if task in self._assumed and not self.measured([task]):
                factor = factors.get(cell[:2], factors.get((task.profile, ""), 1.0))
                costs[task] = factor * self._assumed[task]
                continue
            if cell not in known:
                known[cell] = self._of_cell(cell, seen, curves)
            costs[task] = known[cell]
        return costs

    def order(self, tasks: Iterable[Task]) -> list[Task]:
        """Return the tasks: first one of each method on each data set not timed yet, then the longest."""
        costs = self.expected(tasks)
        first: dict[tuple[str, str, str], Task] = {}
        for task in sorted(costs):
            if task not in self._assumed and not self.measured([task]):
                first.setdefault((task.profile, task.method, task.dataset), task)
        ahead = set(first.values())
        return sorted(costs, key=lambda task: (task not in ahead, -costs[task], task))

    def _of_cell(
        self,
        cell: tuple[str, str, str],
        seen: Mapping[tuple[str, str], Mapping[str, float]],
        curves: Mapping[tuple[str, str], tuple[float, float]],
    ) -> float:
        profile, method, dataset = cell
        if (timed := seen.get((profile, method), {}).get(dataset)) is not None:
            return timed
        n = max(self._n_rows.get(dataset, 1), 1)
        own = curves.get((profile, method))
        used = [own] if own else [curve for (of, _), curve in curves.items() if of == profile]
        return median(a * n**p for a, p in used) if used else _SECONDS_OF_A_ROW * n

    def _factors(self) -> dict[tuple[str, str], float]:
        """Return what was measured as a multiple of what was assumed: of each method, and of all ("")."""
        ratios: dict[tuple[str, str], list[float]] = {}
        for task, assumed in self._assumed.items():
            seconds = self._seconds.get((task.profile, task.method), {}).get(task.dataset, {}).get(task.split)
            if seconds is not None:
                for method in (task.method, ""):
                    ratios.setdefault((task.profile, method), []).append(seconds / assumed)
        return {of: median(found) for of, found in ratios.items()}

    def _curve(self, seconds: Mapping[str, float]) -> tuple[float, float]:
        x = [math.log(max(self._n_rows[dataset], 1)) for dataset in seconds]
        y = [math.log(value) for value in seconds.values()]
        centre, level = fmean(x), fmean(y)
        slope = _PRIOR + sum((u - centre) * (v - level) for u, v in zip(x, y, strict=True))
        slope = min(max(slope / (_PRIOR + sum((u - centre) ** 2 for u in x)), 0.0), 3.0)
        return math.exp(median(v - slope * u for u, v in zip(x, y, strict=True))), slope
