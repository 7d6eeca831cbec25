"""The same data in another order, layout, type, number of threads or pieces: how far the answers move."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from ... import clasmk, drm, kfda, ldm, smm
from ...base.rooms import papers
from ...kernels import Kernel

#: rows and columns of the problem, shape of its matrices, and rows that are decided on
ROWS, COLUMNS, SHAPE, ASKED = 300, 12, (6, 4), 40
NARROW: Kernel = ("rbf", {"gamma": 0.05})
SEVERAL: list[Kernel] = [("rbf", {"gamma": 0.05}), ("rbf", {"gamma": 0.5}), ("poly", {"degree": 2})]


@dataclass(frozen=True)
class Tried:
    """A public estimator with what its answers may depend on.

    Attributes
    ----------
    room : str
    build : callable
    limit : float
        The stated tolerance of decision values, relative to their largest, where sums are reordered.
    drawn : bool
        Whether the place of a row decides what it is used for (folds, halves, the order of the steps): then
        rows are not permuted.
    matrices : bool
    """

    room: str
    build: Callable[[], Any]
    limit: float
    drawn: bool = False
    matrices: bool = False

    @property
    def name(self) -> str:
        return type(self.build()).__name__


def tried() -> list[Tried]:
    """Return every public estimator: those of a room that `_chosen` does not name, with their defaults."""
    found = _chosen()
    for key, room in papers().items():
        if all(one.room != key for one in found):
            module = importlib.import_module(room.package)
            public = (getattr(module, name) for name in module.__all__)
            found += [Tried(key, cls, 1e-5) for cls in public if hasattr(cls, "get_params")]
    return found


def _chosen() -> list[Tried]:
    exact, certified, loose = 1e-9, 1e-5, 1e-2
    return [
        Tried("drm", lambda: drm.DRMClassifier(0.1, 0.1, NARROW), exact),
        Tried("drm", lambda: drm.DRMClassifier(0.1, 0.1, "linear"), exact),
        Tried(
            "drm",
            lambda: drm.DRMClassifierCV((0.1, 1.0), (0.1, 1.0), kernels=(NARROW,)),
            exact,
        ),
        Tried(
            "drm",
            lambda: drm.MixedNormDRMClassifier(0.1, 0.1, 2, 1, "identity", kernel=NARROW),
            loose,
        ),
        Tried("ldm", lambda: ldm.LDMClassifier(kernel=NARROW), exact),
        Tried("ldm", lambda: ldm.LDMClassifier(kernel="linear"), certified),
        Tried(
            "ldm",
            lambda: ldm.LDMClassifierCV((0.1, 1.0), (0.1,), (1.0, 10.0), kernel=NARROW, scoring="loo-bound"),
            exact,
        ),
        Tried("ldm", lambda: ldm.MAMCClassifier(kernel=NARROW), exact),
        Tried("ldm", lambda: ldm.MDOClassifier(a=5.0, b=2.0), loose),
        Tried("ldm", lambda: ldm.KMOMDClassifier(kernel=NARROW), exact),
        Tried("kfda", lambda: kfda.SparseKFDAClassifier(kernel=NARROW), certified),
        Tried("kfda", lambda: kfda.SparseKFDAClassifier(q=0.5, rho=0.003, kernel=NARROW), certified),
        Tried("kfda", lambda: kfda.KFDAClassifier(kernel=NARROW), exact),
        Tried("kfda", lambda: kfda.OLSKFDAClassifier(kernel=NARROW), certified),
        Tried(
            "kfda",
            lambda: kfda.RealisationSearch(
                kfda.SparseKFDAClassifier(kernel=NARROW), {"rho": [0.03, 0.3]}, 2, random_state=0
            ),
            certified,
            True,
        ),
        Tried("clasmk", lambda: clasmk.CLASKTransformer(SEVERAL, random_state=0), certified, True),
        Tried("clasmk", lambda: clasmk.CLASMKTransformer(SEVERAL, random_state=0), certified, True),
        Tried("clasmk", lambda: clasmk.HierarchicalCLASMKClassifier(SEVERAL, random_state=0), loose, True),
        Tried("clasmk", lambda: clasmk.LSSVMClassifier(kernel=NARROW), exact),
        Tried("clasmk", lambda: clasmk.MKLClassifier(SEVERAL), loose),
        Tried("clasmk", lambda: clasmk.TwoLayerMKLClassifier(SEVERAL), loose),
        Tried("clasmk", lambda: clasmk.SubspaceKernelTransformer(NARROW), certified, True),
        Tried("smm", lambda: smm.LowRankSVMClassifier(random_state=0), certified, matrices=True),
        Tried("smm", lambda: smm.LowRankSVMClassifier(None), certified, matrices=True),
        Tried(
            "smm",
            lambda: smm.LowRankSVMClassifierCV((1, 2), (0.1, 0.01), cv=3, random_state=0),
            certified,
            True,
            True,
        ),
        Tried("smm", lambda: smm.LevelSetClassifier(0.3, random_state=0), certified, matrices=True),
        Tried("smm", lambda: smm.RegressionFunctionEstimator(4, random_state=0), certified, matrices=True),
        Tried("smm", lambda: smm.NuclearNormSVMClassifier(), certified, matrices=True),
        Tried("smm", lambda: smm.VectorSVMClassifier(), loose, matrices=True),
        Tried("smm", lambda: smm.VectorLogisticClassifier(), certified, matrices=True),
        Tried("smm", lambda: smm.LowRankLogisticClassifier(random_state=0), certified, matrices=True),
        Tried("smm", lambda: smm.CalibratedSVMClassifier(), loose, True, True),
    ]


@dataclass(frozen=True)
class Answers:
    """What one fit says: the objective, nan if there is none, and decision values of the rows asked about."""

    objective: float
    values: np.ndarray


def problem(matrices: bool, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return samples of two overlapping classes, labels, and samples to decide on."""
    rng = np.random.default_rng(seed)
    shape = SHAPE if matrices else (COLUMNS,)
    # a direction of rank one, so that the machines of low rank have something to find
    centre = (
        np.outer(rng.normal(size=shape[0]), rng.normal(size=shape[-1]))
        if matrices
        else rng.normal(size=shape)
    )
    y = rng.integers(0, 2, ROWS)
    ends = np.where(y, 0.3, -0.3).reshape(-1, *[1] * len(shape))
    return rng.normal(size=(ROWS, *shape)) + ends * centre, y, rng.normal(size=(ASKED, *shape))


def answers(build: Callable[[], Any], X: np.ndarray, y: np.ndarray, T: np.ndarray, step: int = 0) -> Answers:
    """Fit and ask; with `step`, in pieces of so many rows, and fit so where ``partial_fit`` can."""
    model = build()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if step and hasattr(model, "partial_fit"):
            for start in range(0, len(y), step):
                model.partial_fit(X[start : start + step], y[start : start + step], classes=np.unique(y))
        else:
            model.fit(X, y)
        ask = _question(model)
        parts = [T[start : start + step] for start in range(0, len(T), step)] if step else [T]
        values = np.concatenate([np.asarray(ask(part), dtype=float) for part in parts])
    objective = getattr(model, "objective_", np.nan)
    return Answers(float(np.sum(objective)), values)


def _question(model: Any) -> Callable[[np.ndarray], np.ndarray]:
    for name in ("level_decisions", "decision_function", "predict_proba", "transform"):
        if hasattr(model, name):
            found: Callable[[np.ndarray], np.ndarray] = getattr(model, name)
            return found
    raise TypeError(f"{type(model).__name__} has nothing that decides")


def difference(first: Answers, second: Answers) -> tuple[float, float]:
    """Return the relative differences of objectives, nan if there is none, and of decision values."""
    size = max(abs(first.objective), np.finfo(float).tiny)
    if first.values.shape != second.values.shape:
        return abs(first.objective - second.objective) / size, float("inf")
    scale = max(float(np.abs(first.values).max()), np.finfo(float).tiny)
    return abs(first.objective - second.objective) / size, float(
        np.abs(first.values - second.values).max()
    ) / scale


def variants(one: Tried, seed: int = 0) -> Iterator[tuple[str, tuple[float, float] | None]]:
    """Yield each variant with its differences, None where it has no meaning for the estimator."""
    X, y, T = problem(one.matrices, seed)
    rng = np.random.default_rng(seed + 1)
    with threadpool_limits(1):
        first = answers(one.build, X, y, T)
        yield "again", difference(first, answers(one.build, X, y, T))
    with threadpool_limits(2):
        yield "2 threads", difference(first, answers(one.build, X, y, T))
    with threadpool_limits(1):
        yield "F order", difference(first, answers(one.build, np.asfortranarray(X), y, np.asfortranarray(T)))
        X32, T32 = X.astype(np.float32), T.astype(np.float32)
        rounded = answers(one.build, X32.astype(float), y, T32.astype(float))
        yield "float32", difference(rounded, answers(one.build, X32, y, T32))
        order = rng.permutation(len(y))
        yield (
            "rows permuted",
            None if one.drawn else difference(first, answers(one.build, X[order], y[order], T)),
        )
        places = rng.permutation(X.shape[-1])
        yield "columns permuted", difference(first, answers(one.build, X[..., places], y, T[..., places]))
        yield "pieces", difference(first, answers(one.build, X, y, T, step=37))


def rows(one: Tried, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the rows of the committed table for one estimator."""
    for variant, found in variants(one, seed):
        limit = 0.0 if variant == "again" else one.limit
        yield {
            "room": one.room,
            "estimator": one.name,
            "setting": setting(one.build()),
            "variant": variant,
            "objective": "" if found is None or np.isnan(found[0]) else f"{found[0]:.1e}",
            "decisions": "" if found is None else f"{found[1]:.1e}",
            "limit": f"{limit:.0e}",
            "kept": "" if found is None else "yes" if found[1] <= limit else "no",
        }


def setting(model: Any) -> str:
    """Return what tells two rows of one estimator apart."""
    parameters = model.get_params()
    if type(model).__name__ in ("DRMClassifier", "LDMClassifier"):
        kernel = parameters["kernel"]
        return str(kernel if isinstance(kernel, str) else kernel[0])
    if type(model).__name__ == "SparseKFDAClassifier":
        return f"q={parameters['q']:g}"
    if type(model).__name__ == "LowRankSVMClassifier":
        return "full rank" if parameters["rank"] is None else f"rank {parameters['rank']}"
    return ""
