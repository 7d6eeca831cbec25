"""The room's transformers, with the seconds that bases and weights take."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...kernels import Kernel
from ..embedding import Subspace
from ..learning import ClassSubspaces
from ..objective import diagonals
from ..solvers.dinkelbach import dinkelbach
from ..solvers.kernel_choice import choose_exact
from ..transformers import CLASKTransformer, CLASMKTransformer


class _TimedBases(ClassSubspaces):
    def _bases(self, X: np.ndarray, codes: np.ndarray) -> list[list[Subspace]]:
        began = time.process_time()
        found = super()._bases(X, codes)
        self.basis_seconds_ = time.process_time() - began
        return found


class TimedCLASK(_TimedBases, CLASKTransformer):
    """`CLASKTransformer` with ``basis_seconds_``."""


class TimedCLASMK(_TimedBases, CLASMKTransformer):
    """`CLASMKTransformer` with ``basis_seconds_``."""


#: how each method of Table 1 sets the transformer; CLASK-ML takes the kernel of the largest weight, (39)
TRANSFORMERS: dict[str, tuple[type[Any], dict[str, Any]]] = {
    "CLASMK-ML": (TimedCLASMK, {}),
    "CLASK-ML": (TimedCLASMK, {"threshold": 1.0}),
    "CLASMK-ML concat": (TimedCLASMK, {"combine": "concat"}),
    "CLASK-ML exact": (TimedCLASK, {"rule": "exact"}),
}


def transformer(method: str, kernels: Sequence[Kernel], settings: Mapping[str, Any], seed: int) -> Any:
    """Return the transformer of a `method` with the tolerances that `settings` state.

    Parameters
    ----------
    method : str
        One of `TRANSFORMERS`.
    kernels : sequence of kernels
    settings : mapping
        ``tol``, ``eta``, ``threshold``.
    seed : int
        Of the split into rows for the bases and rows for the weights.
    """
    kind, fixed = TRANSFORMERS[method]
    stated = {name: settings[name] for name in ("tol", "eta")}
    if kind is TimedCLASMK:
        stated["threshold"] = settings["threshold"]
    return kind(list(kernels), random_state=seed, **{**stated, **fixed})


def seconds_of(work: Callable[[], Any]) -> float:
    """Return the processor seconds that `work` takes; below a tenth of a second, the least of three runs."""
    taken: list[float] = []
    while not taken or (taken[0] < 0.1 and len(taken) < 3):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return min(taken)


def weights_seconds(model: Any) -> float:
    """Return the seconds in which the fitted `model` gets its weights, or choice, from the statistics."""
    top, bottom = model.separation_.numerator, model.separation_.denominator
    if isinstance(model, CLASKTransformer):
        return seconds_of(lambda: choose_exact(diagonals(top), diagonals(bottom)))
    return seconds_of(lambda: dinkelbach(top, bottom, combine=model.combine, max_iter=model.max_iter))
