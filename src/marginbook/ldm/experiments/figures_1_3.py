"""How Figures 1 and 3 are measured: the distribution of training margins, and what each parameter changes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .halves import Row, prepared
from .selection import Block, at_point, linear_block, rbf_blocks
from .tables_2_3 import MACHINES, fitted

#: what LDM has to choose besides the kernel
PARAMETERS = ("lambda1", "lambda2", "C")


def measure_margins(
    X_train: np.ndarray,
    y_train: np.ndarray,
    X_test: np.ndarray,
    y_test: np.ndarray,
    *,
    method: str,
    settings: Mapping[str, Any],
    seed: int,
    dataset: str,
) -> Row:
    """Measure the training margins of a machine whose parameters cross-validation chose (Figure 1).

    Parameters
    ----------
    X_train, y_train, X_test, y_test : (m, p), (m,), (n, p), (n,) arrays
    method : str
        One of :data:`marginbook.ldm.experiments.tables_2_3.MACHINES` with its kernel, such as ``"LDM(rbf)"``.
    settings : mapping
        As for :func:`marginbook.ldm.experiments.tables_2_3.measure_rbf`, and ``percent``, of the quantiles.
    seed : not used; every measure takes it
    dataset : str
        Seed of the folds.

    Returns
    -------
    dict
        ``margin_000`` (the smallest) to ``margin_100``: quantiles of y f(x), the values below which that
        percentage of the training rows lies; ``unit_000`` ...: the same divided by ``norm``, the length of
        w, so that they are distances from the plane; ``margin_mean`` and ``margin_variance``; ``accuracy``
        on the test half, ``parameters`` (JSON), ``n_train``.
    """
    X, y, Z, truth = prepared(X_train, y_train, X_test, y_test)
    name, kernel = _parts(method)
    if name not in MACHINES:
        raise ValueError(f"unknown machine {name!r} in {method!r}; choose from {', '.join(MACHINES)}")
    chosen, model = fitted(MACHINES[name], _blocks(kernel, X, Z, settings), y, settings, dataset)
    block, alpha = chosen.block, model.alpha[0]
    margins = y * model.decisions(block.train)[:, 0]
    norm = float(np.sqrt(max(0.0, alpha @ block.train @ alpha)))
    # each is the margin of some row, no mean of two
    quantiles = np.quantile(margins, np.array(settings["percent"]) / 100, method="inverted_cdf")
    row: Row = {
        "margin_mean": float(margins.mean()),
        "margin_variance": float(margins.var()),
        "norm": norm,
        "accuracy": float(np.mean((model.decisions(block.test)[:, 0] > 0) == (truth > 0))),
        "parameters": json.dumps({**block.parameters, **chosen.point}, sort_keys=True),
        "n_train": len(y),
    }
    for percent, value in zip(settings["percent"], quantiles, strict=True):
        row[f"margin_{percent:03d}"] = float(value)
        row[f"unit_{percent:03d}"] = float(value) / norm if norm > 0 else None
    return row


def measure_sensitivity(
    X_train: np.ndarray,
    y_train: np.ndarray,
    X_test: np.ndarray,
    y_test: np.ndarray,
    *,
    method: str,
    settings: Mapping[str, Any],
    seed: int,
    dataset: str,
) -> Row:
    """Measure the test accuracy of LDM while one parameter runs through its grid (Figure 3).

    The two other parameters, and the width of the rbf kernel, stay where cross-validation puts them.

    Parameters
    ----------
    X_train, y_train, X_test, y_test : (m, p), (m,), (n, p), (n,) arrays
    method : str
        "LDM", "LDM+1" or "LDM(C/m)" with its kernel, such as ``"LDM(rbf)"``.
    settings : mapping
        As for :func:`marginbook.ldm.experiments.tables_2_3.measure_rbf`.
    seed : not used; every measure takes it
    dataset : str
        Seed of the folds.

    Returns
    -------
    dict
        ``accuracy`` at the choice and ``parameters`` (JSON); ``lambda1_1``, ``lambda1_2``, ..., likewise
        ``lambda2_...`` and ``C_...``: accuracy at the first, second, ... value of that grid;
        ``lambda1_range``, ``lambda2_range``, ``C_range``: the largest less the smallest of them;
        ``dual_gap``, the largest relative gap.
    """
    X, y, Z, truth = prepared(X_train, y_train, X_test, y_test)
    name, kernel = _parts(method)
    if name not in MACHINES or not name.startswith("LDM"):
        raise ValueError(f"unknown method {method!r}; wanted LDM, LDM+1 or LDM(C/m) and a kernel")
    machine = MACHINES[name]
    chosen, _ = fitted(machine, _blocks(kernel, X, Z, settings), y, settings, dataset)
    block, gap = chosen.block, chosen.gap
    row: Row = {"parameters": json.dumps({**block.parameters, **chosen.point}, sort_keys=True)}
    for varied in PARAMETERS:
        fixed = {each: chosen.point[each] for each in PARAMETERS if each != varied}
        found = machine(block.train, y, at_point(settings, fixed))
        gap = max(gap, found.gap)
        reached = np.mean((found.decisions(block.test) > 0) == (truth[:, None] > 0), axis=0)
        row |= {f"{varied}_{k}": float(value) for k, value in enumerate(reached, 1)}
        row[f"{varied}_range"] = float(np.ptp(reached))
        row["accuracy"] = float(reached[found.points.index(chosen.point)])
    row["dual_gap"] = gap
    return row


def _parts(method: str) -> tuple[str, str]:
    """Return machine and kernel of a method such as ``"SVM-0(rbf)"``."""
    found = re.fullmatch(r"(.+)\((linear|rbf)\)", method)
    if not found:
        raise ValueError(f"unknown method {method!r}; wanted a machine and (linear) or (rbf)")
    return found[1], found[2]


def _blocks(kernel: str, X: np.ndarray, Z: np.ndarray, settings: Mapping[str, Any]) -> Iterator[Block]:
    return linear_block(X, Z) if kernel == "linear" else rbf_blocks(X, Z, settings["width"])
