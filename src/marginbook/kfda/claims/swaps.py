"""What rivals put in the place of the library's functions: steps, gaps and targets, slightly wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Swap = Callable[[Any], Any]

TARGETS = "kfda.model.objective.targets"
STEP = "kfda.solvers.irls.step_stable"
GAP = "kfda.model.certificates.duality_gap"


def times_all(factor: float) -> Swap:
    """Return a swap: what the function returned, an array, times `factor`."""
    return lambda original: lambda *args, **named: factor * original(*args, **named)


def uneven(by: float) -> Swap:
    """Return a swap for the targets: the last one is larger than the first by the share `by`."""
    return lambda original: lambda positive: original(positive) * np.linspace(1, 1 + by, len(positive))


def penalty_times(factor: float) -> Swap:
    """Return a swap for a step of the iteration: that for a penalty times `factor`."""
    return lambda original: (
        lambda problem, omega, q, rho, **named: original(problem, omega, q, factor * rho, **named)
    )


def lengthened(relaxation: float) -> Swap:
    """Return a swap for a step of the iteration: `relaxation` times as long."""

    def swap(original: Any) -> Any:
        def step(problem: Any, omega: np.ndarray, q: float, rho: float, **named: Any) -> np.ndarray:
            after = original(problem, omega, q, rho, **named)
            return np.asarray(omega + relaxation * (after - omega))

        return step

    return swap


def plus(number: float) -> Swap:
    """Return a swap: what the function returned, and `number`."""
    return lambda original: lambda *args, **named: original(*args, **named) + number
