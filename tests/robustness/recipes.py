"""Rows and labels as recipes: small values that print, compare and make the same arrays again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from scipy import sparse

BASES = ("normal", "counts", "zeros", "constant-column", "equal-rows", "equal-columns", "line", "far", "gram")
SCALES = (1.0, 1e-8, 1e8, 1e-150, 1e150, 1e-300, 1e300, 5e-324)
DEFECTS = ("nan", "inf", "-inf", "one-huge", "mixed-scales")
DTYPES = ("float64", "float32", "float16", "int64", "int8", "bool", "object", "complex128", "str")
DENSE = ("C", "F", "strided", "reversed", "read-only", "list", "frame", "big-endian")
SPARSE = ("csr", "csc", "coo", "bsr", "lil", "dok", "dia", "csr_array", "csr-untidy")
CONTAINERS = (*DENSE, *SPARSE)
#: what is no table of numbers at all
ODD = ("none", "number", "text", "vector", "cube", "ragged", "empty-list", "dates", "generator", "masked")
LABELS = (
    "two", "signs", "text", "objects", "bool", "float", "three", "one-class", "each-its-own",
    "one-against-rest", "mixed-objects", "continuous", "nan", "none", "missing", "column",
    "short", "two-columns", "huge-numbers",
)  # fmt: skip


@dataclass(frozen=True)
class Rows:
    """How to make X: numbers of a kind, scaled, damaged, typed and wrapped."""

    n: int = 12
    p: int = 3
    base: str = "normal"
    scale: float = 1.0
    defect: str = ""
    dtype: str = "float64"
    container: str = "C"
    odd: str = ""
    seed: int = 0

    def make(self) -> Any:
        """Return X; the same on every call."""
        if self.odd:
            return _odd(self.odd, self.n, self.p)
        with np.errstate(all="ignore"):
            X = _damaged(self._numbers() * self.scale, self.defect).astype(_kind(self.dtype))
        return wrapped(X, self.container)

    @property
    def plain(self) -> bool:
        """Whether nothing is wrong with the numbers and their type."""
        numeric = self.dtype in ("float64", "float32", "int64", "int8")
        return not (self.odd or self.defect) and numeric and self.scale == 1

    def _numbers(self) -> np.ndarray:
        rng = np.random.default_rng(self.seed)
        n, p = self.n, self.p
        X = rng.normal(size=(n, p)) + np.where(np.arange(n) % 2, 1.0, -1.0)[:, None]
        if self.base == "counts":
            X = rng.integers(0, 4, size=(n, p)).astype(float)
        elif self.base == "zeros":
            X *= 0
        elif self.base == "constant-column" and p:
            X[:, 0] = 3.0
        elif self.base == "equal-rows" and n:
            X[:] = X[0]
        elif self.base == "equal-columns" and p:
            X[:] = X[:, :1]
        elif self.base == "line" and p:
            X = X[:, :1] * rng.normal(size=p)
        elif self.base == "far":
            X += 1e6
        elif self.base == "gram":
            X = X @ X.T + np.eye(n)
        return X


@dataclass(frozen=True)
class Labels:
    """How to make y for n rows."""

    kind: str = "two"

    def make(self, n: int) -> Any:
        """Return the labels; the same on every call."""
        i = np.arange(n)
        two = i % 2
        made: dict[str, Any] = {
            "two": two,
            "signs": 2 * two - 1,
            "text": np.array(["no", "yes"])[two],
            "objects": np.array(["b", "a"], dtype=object)[two],
            "bool": two.astype(bool),
            "float": two.astype(float),
            "three": i % 3,
            "one-class": np.ones(n, dtype=int),
            "each-its-own": i,
            "one-against-rest": (i == 0).astype(int),
            "mixed-objects": np.array([1, "a"], dtype=object)[two],
            "continuous": i + 0.5,
            "nan": np.where(i == 0, np.nan, two),
            "none": None,
            "missing": np.where(i == 0, None, two.astype(object)),
            "column": two[:, None],
            "short": two[: n // 2],
            "two-columns": np.stack([two, two], axis=1),
            "huge-numbers": np.where(two, 2**62, -(2**62)),
        }
        return made[self.kind]


def rows() -> st.SearchStrategy[Rows]:
    """Draw X: mostly a table with one or two things wrong, now and then no table."""
    table = st.builds(
        Rows,
        n=st.sampled_from((12, 16, 20, 30, 5, 4, 3, 2, 1, 0)),
        p=st.sampled_from((3, 6, 1, 2, 12, 40, 0)),
        base=st.sampled_from(BASES),
        scale=st.one_of(st.just(1.0), st.sampled_from(SCALES)),
        defect=st.one_of(st.just(""), st.just(""), st.just(""), st.sampled_from(DEFECTS)),
        dtype=st.one_of(st.just("float64"), st.just("float64"), st.sampled_from(DTYPES)),
        container=st.one_of(st.just("C"), st.sampled_from(CONTAINERS)),
        seed=st.integers(0, 3),
    )
    healthy = st.builds(Rows, n=st.integers(8, 24), base=st.sampled_from(("normal", "gram", "line")))
    odd = st.builds(Rows, odd=st.sampled_from(ODD))
    return st.integers(0, 19).flatmap(lambda k: odd if k == 0 else healthy if k < 6 else table)


def labels() -> st.SearchStrategy[Labels]:
    """Draw y: half of the time two classes in turn."""
    return st.one_of(st.just(Labels("two")), st.builds(Labels, st.sampled_from(LABELS)))


def wrapped(X: np.ndarray, container: str) -> Any:
    """Return the numbers of `X`, (n, p), in another container."""
    if container in ("csr", "csc", "coo", "bsr", "lil", "dok", "dia"):
        kind = X.dtype.kind in "fiub" and X.dtype != np.float16
        return (
            sparse.coo_matrix(X if kind else X.astype(float)).asformat(container)
            if X.dtype.kind != "U"
            else X
        )
    if container.startswith("csr"):
        return _csr(X, container)
    if container == "F":
        return np.asfortranarray(X)
    if container == "strided":
        return np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    if container == "reversed":
        return X[::-1, ::-1].copy()[::-1, ::-1]
    if container == "read-only":
        X = X.copy()
        X.flags.writeable = False
        return X
    if container == "list":
        return X.tolist()
    if container == "frame":
        return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    if container == "big-endian":
        return X.astype(X.dtype.newbyteorder(">"))
    return X


def _csr(X: np.ndarray, container: str) -> Any:
    if X.dtype.kind not in "fiub" or X.dtype == np.float16:
        return X
    if container == "csr_array":
        return sparse.csr_array(X)
    # each value in two halves, columns backwards: legal, and neither sorted nor summed
    n, p = X.shape
    columns = np.tile(np.repeat(np.arange(p)[::-1], 2), n)
    data = np.repeat((X.astype(float) / 2)[:, ::-1].ravel(), 2)
    return sparse.csr_matrix((data, columns, 2 * p * np.arange(n + 1)), shape=(n, p))


def _kind(dtype: str) -> Any:
    return {"object": object, "str": str}.get(dtype, dtype)


def _damaged(X: np.ndarray, defect: str) -> np.ndarray:
    if not X.size or not defect:
        return X
    if defect == "mixed-scales":
        return X * np.logspace(-120, 120, X.shape[1])
    X[-1, -1] = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf, "one-huge": 1e200}[defect]
    return X


def _odd(kind: str, n: int, p: int) -> Any:
    X = np.arange(float(n * p)).reshape(n, p)
    return {
        "none": lambda: None,
        "number": lambda: 3.5,
        "text": lambda: "rows",
        "vector": lambda: X[:, 0],
        "cube": lambda: np.stack([np.stack([X, X]), np.stack([X, -X])]),
        "ragged": lambda: [list(range(1 + i % 2)) for i in range(n)],
        "empty-list": list,
        "dates": lambda: np.full((n, p), np.datetime64("2020-01-01")),
        "generator": lambda: (row for row in X),
        "masked": lambda: np.ma.masked_less(X, 5.0),
    }[kind]()
