"""Compile beforehand what the estimators compile at their first fit; needs nothing but the library."""

from __future__ import annotations

import importlib
import itertools
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from inspect import signature
from typing import Any

import numpy as np
from scipy import sparse

from ..base.extras import EXTRA_OF
from ..base.public import public_estimators

Say = Callable[[str], None]
#: values of parameters that lead into other compiled loops, for each estimator that has the parameter
OTHERWISE: dict[str, tuple[Any, ...]] = {"kernel": ("linear", "rbf"), "q": (1, 0.5)}


def warm_up(say: Say = print) -> tuple[int, int]:
    """Fit every public estimator to a few rows, dense and sparse, by each kernel and solver that it names.

    Parameters
    ----------
    say : callable
        Is given a line for each estimator, and one at the end: where the code is kept.

    Returns
    -------
    compiled, there : int
        How many functions were compiled now, and how many were found on the disk.
    """
    began = time.perf_counter()
    estimators = public_estimators()
    total = len(estimators)
    for number, (name, estimator) in enumerate(estimators.items(), 1):
        before, start = counted(), time.perf_counter()
        fits = sum(_fitted(model, rows) for model in _models(estimator) for rows in _rows())
        new = counted()[0] - before[0]
        took = time.perf_counter() - start
        told = f"{new} function{'s' * (new != 1)} compiled in {took:.1f} s" if new else "nothing to compile"
        say(f"{number}/{total} {name}: {told if fits else 'fits what another estimator compiles'}")
    compiled, there = counted()
    say(
        f"{compiled} functions compiled, {there} were there, {time.perf_counter() - began:.0f} s; "
        + (f"kept in {', '.join(places)}" if (places := kept_in()) else UNKEPT)
    )
    return compiled, there


UNKEPT = (
    "kept nowhere, as neither the installation nor a cache of this user can be written: "
    "name a folder in NUMBA_CACHE_DIR, for this command and for what comes after it"
)


def _models(estimator: type[Any]) -> Iterator[Any]:
    parameters = signature(estimator).parameters
    if any(each.default is each.empty for each in parameters.values()):
        return  # is given another estimator, which has a turn of its own
    values = {name: OTHERWISE[name] for name in OTHERWISE if name in parameters}
    yield estimator()
    for solver in (None, *(_solvers(estimator) if "solver" in parameters else ())):
        chosen = {} if solver is None else {"solver": solver}
        for given in itertools.product(*values.values()):
            yield estimator(**dict(zip(values, given, strict=True)), **chosen)


def _solvers(estimator: type[Any]) -> tuple[str, ...]:
    """Return the solvers that the room lists, without those that are packages of an extra."""
    place = estimator.__module__.rpartition(".")[0]
    try:
        listed = importlib.import_module(f"{place}.parameters").SOLVERS
    except (ModuleNotFoundError, AttributeError):
        return ()
    return tuple(name for name in listed if name not in EXTRA_OF)


def _rows() -> Iterator[Any]:
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(24, 4)) + (np.arange(24) % 2)[:, None]
    yield dense
    yield sparse.csr_matrix(dense)


def _fitted(model: Any, rows: Any) -> bool:
    """Fit and say whether that went: not every kernel takes every solver, nor every estimator sparse rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(rows, np.arange(24) % 2)
            if hasattr(model, "predict"):
                model.predict(rows)
        except Exception:  # each refuses in its own way what it does not take, or what lacks an extra
            return False
    return True


def _compiled() -> list[Any]:
    """Return the functions of ours that numba compiles, of all modules that are imported."""
    found = {}
    for module in [module for name, module in sys.modules.items() if name.startswith("marginbook.")]:
        for value in vars(module).values():
            if hasattr(value, "py_func") and hasattr(value, "stats"):
                found[id(value)] = value
    return list(found.values())


def counted() -> tuple[int, int]:
    """Return how many functions this process compiled, for each kind of arguments, and how many it read."""
    stats = [each.stats for each in _compiled()]
    return (
        sum(sum(each.cache_misses.values()) for each in stats),
        sum(sum(each.cache_hits.values()) for each in stats),
    )


def kept_in() -> list[str]:
    """Return the folders in which the compiled functions are kept, as few as hold them all."""
    paths = {str(each.stats.cache_path) for each in _compiled() if each.signatures and each.stats.cache_path}
    return [f"{os.path.commonpath(paths)}{os.sep}..."] if len(paths) > 3 else sorted(paths)
