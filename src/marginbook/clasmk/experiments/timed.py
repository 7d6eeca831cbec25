"""The room's transformers, with the seconds that bases and weights take."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from typing import Any, Self

import numpy as np

from ...experiments.fold import Settings
from ...kernels import Kernel
from ..estimators.chosen_kernels import CLASKTransformer
from ..estimators.fitting import ClassSubspaces, Learned
from ..estimators.weighted_kernels import CLASMKTransformer
from ..model.embedding import Subspace
from ..model.kernel_sets import paper_kernels


class _Timed(ClassSubspaces):
    """Processor seconds of a fit: ``basis_seconds_``, ``learn_seconds_`` (with statistics), ``seconds_``."""

    def _bases(self, X: np.ndarray, codes: np.ndarray) -> list[list[Subspace]]:
        began = time.process_time()
        found = super()._bases(X, codes)
        self.basis_seconds_ = time.process_time() - began
        return found

    def _learn(self, X: Any, y: Any, combine: str) -> Learned:
        began = time.process_time()
        found = super()._learn(X, y, combine)
        self.learn_seconds_ = time.process_time() - began
        return found

    def fit(self, X: Any, y: Any) -> Self:
        """Fit as the transformer does, and note the seconds."""
        began = time.process_time()
        super().fit(X, y)
        self.seconds_ = time.process_time() - began
        return self

    @property
    def weights_seconds_(self) -> float:
        """The seconds from the statistics to the features: of the weights, or of the choice of kernels."""
        return self.seconds_ - self.learn_seconds_


class TimedCLASK(_Timed, CLASKTransformer):
    """`CLASKTransformer` with its seconds."""


class TimedCLASMK(_Timed, CLASMKTransformer):
    """`CLASMKTransformer` with its seconds."""


#: a second look at the truncation: by half the energy of the classes on average
HALF: dict[str, Any] = {"truncation": "mean", "eta": 0.5}
#: how each method of Table 1 sets the transformer; CLASK-ML takes the kernel of the largest weight, (39)
TRANSFORMERS: dict[str, tuple[type[Any], dict[str, Any]]] = {
    "CLASMK-ML": (TimedCLASMK, {}),
    "CLASK-ML": (TimedCLASMK, {"threshold": 1.0}),
    "CLASMK-ML concat": (TimedCLASMK, {"combine": "concat"}),
    "CLASK-ML exact": (TimedCLASK, {"rule": "exact"}),
    "CLASMK-ML half": (TimedCLASMK, HALF),
    # (33) over the samples that it prints; (35) over the others, which it prints
    "CLASMK-ML on M_B": (TimedCLASMK, {"weights_on": "basis"}),
}


@cache
def warm_up() -> None:
    """Compile what is compiled on first use, so that it is in no task's seconds."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 2)), np.arange(40) % 2
    TimedCLASMK(paper_kernels("table-4")[3:7], random_state=0).fit(X + y[:, None], y)


def transformer(method: str, kernels: Sequence[Kernel], settings: Settings, seed: int) -> Any:
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
    warm_up()
    kind, fixed = TRANSFORMERS[method]
    stated = {name: settings[name] for name in ("tol", "eta")}
    if kind is TimedCLASMK:
        stated["threshold"] = settings["threshold"]
    return kind(list(kernels), random_state=seed, **{**stated, **fixed})
