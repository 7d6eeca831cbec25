"""Laws that fits may obey: what happens to the data on one side, to the answers on the other.

A law relates two fits of one estimator. Which estimator obeys which law follows from its model: distances
know no origin, inner products do; a sum of losses counts a row twice that stands there twice, a mean does
not. The rooms say so of their own, and tests find every one of these exceptions, in both directions.
"""

from __future__ import annotations

import inspect
import tomllib
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from ...base.rooms import papers
from .stability import Answers, Tried, answers, difference, problem, setting

#: rows that are fitted; twice as many where rows are repeated
ROWS = 120
Data = tuple[np.ndarray, np.ndarray, np.ndarray]
#: answers to the problem and to what a law makes of it; None where the law says nothing of the estimator
Pair = tuple[Answers, Answers] | None


def shift(one: Tried, data: Data, rng: np.random.Generator) -> Pair:
    """Add one vector to every sample."""
    X, y, T = data
    by = rng.normal(size=X.shape[1:])
    return _both(one, data, (X + by, y, T + by))


def rotation(one: Tried, data: Data, rng: np.random.Generator) -> Pair:
    """Turn the space of the features, that of the rows and that of the columns of matrices."""
    X, y, T = data
    right = _orthogonal(X.shape[-1], rng)
    left = _orthogonal(X.shape[1], rng) if one.matrices else None

    def turned(Z: np.ndarray) -> np.ndarray:
        return Z @ right if left is None else left @ Z @ right

    return _both(one, data, (turned(X), y, turned(T)))


def units(one: Tried, data: Data, rng: np.random.Generator) -> Pair:
    """Measure all features in another unit, and the width of the kernel with them."""
    X, y, T = data
    scale = 2.0 ** rng.integers(2, 5)

    def build() -> Any:
        model = one.build()
        return model.set_params(**_widened(model.get_params(), scale))

    if not _widened(one.build().get_params(), scale):
        return None
    return answers(one.build, *data), answers(build, X * scale, y, T * scale)


def constant(one: Tried, data: Data, rng: np.random.Generator) -> Pair:
    """Add a feature that has one value everywhere."""
    X, y, T = data

    def longer(Z: np.ndarray) -> np.ndarray:
        return np.concatenate([Z, np.full((*Z.shape[:-1], 1), 1.5)], axis=-1)

    return _both(one, data, (longer(X), y, longer(T)))


def swapped(one: Tried, data: Data, rng: np.random.Generator) -> Pair:
    """Exchange the names of the two classes."""
    X, y, T = data
    model = one.build()
    first, second = answers(lambda: model, *data), answers(one.build, X, 1 - y, T)
    if hasattr(model, "level_decisions"):
        return None  # a level is of one class
    if hasattr(model, "decision_function"):
        return first, Answers(second.objective, -second.values)
    if hasattr(model, "predict_proba"):
        return first, Answers(second.objective, second.values[:, ::-1])
    return first, second


def twice(one: Tried, data: Data, rng: np.random.Generator) -> Pair:
    """Let every row stand there twice."""
    X, y, T = data
    return None if one.drawn else _both(one, data, (np.repeat(X, 2, axis=0), np.repeat(y, 2), T))


def weights(one: Tried, data: Data, rng: np.random.Generator) -> Pair:
    """Give rows the weights 0, 1 and 2 in place of leaving them out and repeating them."""
    X, y, T = data
    if one.drawn or "sample_weight" not in inspect.signature(one.build().fit).parameters:
        return None
    times = rng.integers(0, 3, len(y))
    model = one.build()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = model.fit
        model.fit = lambda X, y: fit(X, y, sample_weight=times)
        try:
            weighed = answers(lambda: model, *data)
        except ValueError:  # this setting refuses weights, and says so
            return None
    return answers(one.build, np.repeat(X, times, axis=0), np.repeat(y, times), T), weighed


def rows_permuted(one: Tried, data: Data, rng: np.random.Generator) -> Pair:
    """Give the rows in another order."""
    X, y, T = data
    order = rng.permutation(len(y))
    return None if one.drawn else _both(one, data, (X[order], y[order], T))


def columns_permuted(one: Tried, data: Data, rng: np.random.Generator) -> Pair:
    """Give the features in another order, of matrices the columns."""
    X, y, T = data
    order = rng.permutation(X.shape[-1])
    return _both(one, data, (X[..., order], y, T[..., order]))


LAWS: dict[str, Callable[[Tried, Data, np.random.Generator], Pair]] = {
    "shift": shift,
    "rotation": rotation,
    "units": units,
    "constant feature": constant,
    "classes swapped": swapped,
    "rows twice": twice,
    "weights": weights,
    "rows permuted": rows_permuted,
    "columns permuted": columns_permuted,
}

#: answers that are closer than `TIMES` the stated tolerance, and than this, relative to the largest, obey
TOLERANCE, TIMES = 2e-3, 10.0
#: estimators that stop earlier on one side of a law than their stated tolerance says, and what they keep
LOOSER = {
    ("LDMClassifier rbf", "weights"): 1e-5,  # with weights it stops at a gap of its tol
    ("LowRankLogisticClassifier", "shift"): TOLERANCE,  # far from the origin its intercept converges slowly
}
#: a reason by which a law may hold all the same
LOCAL = "not convex: the search can end in another local minimum"
#: why estimators of several rooms do not obey a law, by the word for it in ``claims/laws.toml``
REASONS = {
    "origin": "inner products depend on the origin",
    "intercept": "no intercept: a constant feature takes its place",
    "polynomial": "one of its kernels is polynomial, of inner products",
    "sum": "a sum of losses against a penalty: every row twice is half the penalty",
    "blocks": "one block of features for each class: the blocks change places",
    "level": "its level is a probability of one of the classes",
    "local": LOCAL,
}


@cache
def exceptions() -> dict[str, dict[str, str]]:
    """Return which laws an estimator does not obey, and why; by its name, and a setting where others do.

    A room says so in ``claims/laws.toml``, by one of `REASONS` or in words of its own; one without obeys all.
    """
    found: dict[str, dict[str, str]] = {}
    for room in papers().values():
        told = room.folder / "claims" / "laws.toml"
        if told.is_file():
            found |= tomllib.loads(told.read_text(encoding="utf-8"))
    return {name: {law: REASONS.get(why, why) for law, why in each.items()} for name, each in found.items()}


def exception(one: Tried, law: str) -> str:
    """Return why an estimator does not obey a law; an empty text if it does."""
    return exceptions().get(_told(one), {}).get(law, "")


def tolerance(one: Tried, law: str) -> float:
    """Return how far answers may be apart that obey, relative to the largest."""
    return LOOSER.get((_told(one), law), min(TOLERANCE, TIMES * one.limit))


def check(one: Tried, law: str, seed: int = 0) -> float | None:
    """Return how far the answers are apart, relative to the largest; None where the law says nothing."""
    X, y, T = problem(one.matrices, seed)
    rng = np.random.default_rng(seed + 2)
    with threadpool_limits(1):
        pair = LAWS[law](one, (X[:ROWS], y[:ROWS], T), rng)
    return None if pair is None else difference(*pair)[1]


def rows(one: Tried) -> Iterator[dict[str, Any]]:
    """Yield the rows of the committed table for one estimator."""
    for law in LAWS:
        found = check(one, law)
        yield {
            "room": one.room,
            "estimator": one.name,
            "setting": setting(one.build()),
            "law": law,
            "decisions": "" if found is None else f"{found:.1e}",
            "obeys": "" if found is None else "yes" if found <= tolerance(one, law) else "no",
            "why": exception(one, law),
        }


def _told(one: Tried) -> str:
    return f"{one.name} {setting(one.build())}".strip()


def _both(one: Tried, data: Data, other: Data) -> Pair:
    return answers(one.build, *data), answers(one.build, *other)


def _orthogonal(size: int, rng: np.random.Generator) -> np.ndarray:
    return np.linalg.qr(rng.normal(size=(size, size)))[0]


def _widened(parameters: dict[str, Any], scale: float) -> dict[str, Any]:
    """Return the kernels among the parameters for features times `scale`, where all of them are Gaussian."""
    found: dict[str, Any] = {}
    for name, value in parameters.items():
        if name.rpartition("__")[2] not in ("kernel", "kernels"):
            continue
        one = not isinstance(value, Sequence) or isinstance(value, str) or value[:1] == ("rbf",)
        kernels = [value] if one else list(value)
        if not all(isinstance(each, tuple) and each[0] == "rbf" for each in kernels):
            return {}
        wide = [("rbf", {"gamma": each[1]["gamma"] / scale**2}) for each in kernels]
        found[name] = wide[0] if one else type(value)(wide)
    return found
