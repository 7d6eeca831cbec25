"""The parameters that the room's own estimators share: keyword-only, except for the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from ...kernels import Kernel


@dataclass(eq=False, repr=False)
class SubspaceParameters:
    """What concerns the subspaces, their statistics and the kernels that take part."""

    kernels: Sequence[Kernel] | None = None
    _: KW_ONLY
    denominator: str = "energy"
    eta: float = 0.1
    truncation: str = "sum"
    tol: float = 1e-3
    max_rank: int | None = None
    n_components: int | float | None = None
    order: str = "pivoted"
    basis_fraction: float = 0.5
    weights_on: str = "nu"
    random_state: Any = None
    verbose: int = 0

    def _say(self, what: str) -> None:
        if self.verbose:
            print(f"[{type(self).__name__}] {what}", flush=True)


@dataclass(eq=False, repr=False)
class WeightParameters(SubspaceParameters):
    """Those of the subspaces, and what concerns the weights of several kernels."""

    _: KW_ONLY
    combine: str = "sum"
    threshold: float = 0.1
    solver: str = "dinkelbach"
    max_iter: int = 1000
