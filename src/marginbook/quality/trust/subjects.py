"""Every public estimator whose answer can be judged with many digits, in the settings that are judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...clasmk import (
    CLASKTransformer,
    CLASMKTransformer,
    LSSVMClassifier,
    MKLClassifier,
    TwoLayerMKLClassifier,
)
from ...drm import DRMClassifier, DRMClassifierCV, MixedNormDRMClassifier
from ...kfda import KFDAClassifier, OLSKFDAClassifier, SparseKFDAClassifier
from ...ldm import KMOMDClassifier, LDMClassifier, LDMClassifierCV, MAMCClassifier, MDOClassifier
from ...smm import (
    LevelSetClassifier,
    LowRankLogisticClassifier,
    LowRankSVMClassifier,
    LowRankSVMClassifierCV,
    NuclearNormSVMClassifier,
    RegressionFunctionEstimator,
    VectorLogisticClassifier,
    VectorSVMClassifier,
)
from .exact import clasmk, drm, kfda, ldm, smm
from .exact.reference import Reference

Judge = Callable[[Any, np.ndarray, np.ndarray, np.ndarray], Reference]
#: rows, columns of a row, shape of a matrix, and rows that are asked about, of the small problems
ROWS, COLUMNS, SHAPE, ASKED = 10, 3, (2, 3), 3
RBF: tuple[str, dict[str, float]] = ("rbf", {"gamma": 0.5})
LINE: tuple[str, dict[str, float]] = ("linear", {})
PAIR = [("rbf", {"gamma": 1.0}), ("poly", {"degree": 2, "gamma": 1.0, "coef0": 1.0})]


@dataclass(frozen=True)
class Subject:
    """An estimator in one setting.

    Attributes
    ----------
    room : str
    estimator : str
        The public name.
    setting : str
        What tells it from the other subjects of the estimator.
    certificate : str
        The attribute that is judged, or what stands in for it.
    build : callable
        Makes the estimator; its keyword arguments replace parameters.
    judge : callable
        From `exact`.
    matrices : bool
        Whether samples are matrices.
    """

    room: str
    estimator: str
    setting: str
    certificate: str
    build: Callable[..., Any]
    judge: Judge
    matrices: bool = False

    @property
    def name(self) -> str:
        """Estimator and setting."""
        return f"{self.estimator} {self.setting}".rstrip()


def _subject(
    room: str, setting: str, certificate: str, cls: type, judge: Judge, matrices: bool = False, **fixed: Any
) -> Subject:
    def build(**changed: Any) -> Any:
        return cls(**{**fixed, **changed})

    return Subject(room, cls.__name__, setting, certificate, build, judge, matrices)


def subjects() -> list[Subject]:
    """Return all of them."""
    found: list[Subject] = []
    ridge: dict[str, Any] = {"alpha": 0.5, "beta": 0.1}
    for solver, kernel in (("closed", RBF), ("one-pass", LINE), ("gd", RBF), ("ppa", RBF), ("apg", RBF)):
        found.append(
            _subject(
                *("drm", solver, "kkt_residual_", DRMClassifier, drm.ridge_machine),
                **{**ridge, "kernel": kernel, "solver": solver, "max_iter": 5000},
            )
        )
    found.append(
        _subject(
            *("drm", "", "kkt_residual_", DRMClassifierCV, drm.chosen_ridge_machine),
            alphas=(0.1, 1.0),
            betas=(0.1, 1.0),
            kernels=(RBF,),
        )
    )
    for q, r, rho in ((2, 2, "half-square"), (1, 1, "identity"), (2, 1, "identity")):
        found.append(
            _subject(
                *("drm", f"q={q} r={r}", "gap of solution()", MixedNormDRMClassifier),
                drm.general_machine,
                **{**ridge, "kernel": RBF, "q": q, "r": r, "rho": rho},
            )
        )
    margins: dict[str, Any] = {"lambda1": 0.5, "lambda2": 0.5, "C": 1.0}
    for solver, kernel in (
        ("active-set", RBF),
        ("dcd", RBF),
        ("dcd", LINE),
        ("interior-point", LINE),
        ("asgd", LINE),
        ("cvxpy", RBF),
    ):
        promised = "none" if solver == "asgd" else "dual_gap_"
        found.append(
            _subject(
                *("ldm", f"{solver}, {kernel[0]}", promised, LDMClassifier, ldm.distribution_machine),
                **{**margins, "kernel": kernel, "solver": solver, "random_state": 0},
            )
        )
    grid: dict[str, Any] = {
        "lambda1s": (0.1, 1.0),
        "lambda2s": (0.1,),
        "Cs": (1.0,),
        "kernel": RBF,
        "scoring": "loo-bound",
    }
    found += [
        _subject("ldm", "", "dual_gap_", LDMClassifierCV, ldm.chosen_machine, **grid),
        _subject("ldm", "", "optimality_residual_", MAMCClassifier, ldm.mean_margin_machine, kernel=RBF),
        _subject("ldm", "", "dual_gap_", KMOMDClassifier, ldm.weighted_hulls_machine, kernel=RBF, C=10.0),
        _subject("ldm", "", "gradient_norm_", MDOClassifier, ldm.exponential_machine, a=5.0, b=2.0),
    ]
    for power, solver in ((1, "lasso"), (1, "mm"), (1, "plain"), (2, "mm"), (0.5, "mm"), (0.5, "squarem")):
        promised = "dual_gap_" if power >= 1 else "stationarity_"
        found.append(
            _subject(
                *("kfda", f"q={power} {solver}", promised, SparseKFDAClassifier, kfda.sparse_discriminant),
                q=power,
                solver=solver,
                rho=0.02,
                kernel=RBF,
            )
        )
    for route in ("least-squares", "fisher"):
        found.append(
            _subject(
                *("kfda", route, "residual_", KFDAClassifier, kfda.ridge_discriminant),
                reg=0.1,
                route=route,
                kernel=RBF,
            )
        )
    found.append(
        _subject(
            *("kfda", "", "residual_", OLSKFDAClassifier, kfda.selected_discriminant),
            n_terms=4,
            kernel=RBF,
        )
    )
    several: dict[str, Any] = {"kernels": PAIR, "C": 1.0}
    found += [
        _subject(
            *("clasmk", "rbf", "warning at 1e-4", LSSVMClassifier, clasmk.least_squares_machine),
            kernel=RBF,
        ),
        _subject("clasmk", "", "dual_gap_", MKLClassifier, clasmk.kernel_learning_machine, **several),
        _subject(
            *("clasmk", "", "stationarity_", TwoLayerMKLClassifier, clasmk.two_layer_machine), **several
        ),
        _subject(
            *("clasmk", "", "0: the choice is exact", CLASKTransformer, clasmk.chosen_kernels),
            kernels=PAIR,
            random_state=0,
        ),
        _subject(
            *("clasmk", "", "solution_.gap", CLASMKTransformer, clasmk.weighted_kernels),
            kernels=[*PAIR, LINE],
            random_state=0,
            threshold=0.0,
        ),
    ]
    found += _of_matrices()
    return found


def _of_matrices() -> list[Subject]:
    whole: dict[str, Any] = {"rank": None, "lam": 0.05}
    full = smm.matrix_machine
    return [
        _subject("smm", "full rank, hinge", "dual_gap_", LowRankSVMClassifier, full, True, **whole),
        _subject("smm", "full rank", "dual_gap_", LowRankLogisticClassifier, full, True, **whole),
        _subject(
            *("smm", "rank 1", "global_gap_", LowRankSVMClassifier, smm.rank_one_machine, True),
            rank=1,
            lam=0.05,
            bound_iter=400,
            n_restarts=5,
            random_state=0,
        ),
        _subject(
            *("smm", "full rank", "dual_gap_", LowRankSVMClassifierCV, smm.chosen_matrix_machine, True),
            ranks=(None,),
            lams=(0.1, 0.01),
            cv=3,
        ),
        _subject("smm", "full rank", "dual_gap_", LevelSetClassifier, full, True, pi=0.3, **whole),
        _subject(
            *("smm", "full rank", "dual_gap_", RegressionFunctionEstimator, smm.level_machines, True),
            n_levels=4,
            **whole,
        ),
        _subject(
            *("smm", "tau=1", "dual_gap_", NuclearNormSVMClassifier, smm.nuclear_machine, True), tau=1.0
        ),
        _subject(
            *("smm", "tau=0", "dual_gap_", NuclearNormSVMClassifier, smm.nuclear_machine, True), tau=0.0
        ),
        _subject("smm", "", "dual_gap_", VectorSVMClassifier, smm.vector_machine, True, lam=0.05),
        _subject("smm", "", "dual_gap_", VectorLogisticClassifier, smm.vector_machine, True, lam=0.05),
    ]


def small_problem(matrices: bool, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return samples of two overlapping classes, their labels 0 and 1, and rows to ask about."""
    rng = np.random.default_rng(seed)
    y = np.arange(ROWS) % 2
    shape = SHAPE if matrices else (COLUMNS,)
    centre = rng.normal(size=shape)
    X = rng.normal(size=(ROWS, *shape)) + np.where(y, 0.6, -0.6).reshape(-1, *[1] * len(shape)) * centre
    return X, y, rng.normal(size=(ASKED, *shape))
