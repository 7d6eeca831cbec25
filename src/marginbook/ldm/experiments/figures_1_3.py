"""How Figures 1 and 3 are measured: the distribution of training margins, and what each parameter changes."""

from __future__ import annotations

import re

import numpy as np

from ...experiments.candidates import at_point
from ...experiments.fold import Fold, Row, Settings
from .halves import prepared
from .tables_2_3 import MACHINES, fitted

#: what LDM has to choose besides the kernel
PARAMETERS = ("lambda1", "lambda2", "C")


def measure_margins(fold: Fold, method: str, settings: Settings) -> Row:
    """Measure the training margins of a machine whose parameters cross-validation chose (Figure 1).

    Parameters
    ----------
    method : str
        One of :data:`marginbook.ldm.experiments.tables_2_3.MACHINES` with its kernel, such as ``"LDM(rbf)"``.
    settings : mapping
        As for :func:`marginbook.ldm.experiments.tables_2_3.measure_rbf`, and ``percent``, of the quantiles.

    Returns
    -------
    dict
        ``margin_000`` (the smallest) to ``margin_100``: quantiles of y f(x), the values below which that
        percentage of the training rows lies; ``unit_000`` ...: the same divided by ``norm``, the length of
        w, so that they are distances from the plane; ``margin_mean`` and ``margin_variance``; ``accuracy``
        on the test half, ``parameters`` (JSON), ``n_train``.
    """
    name, kernel = _parts(method)
    if name not in MACHINES:
        raise ValueError(f"unknown machine {name!r} in {method!r}; choose from {', '.join(MACHINES)}")
    fold = prepared(fold)
    chosen, model = fitted(MACHINES[name], kernel, fold, settings)
    y, block, alpha = fold.y_train, chosen.block, model.alpha[0]
    margins = y * model.decisions(block.train)[:, 0]
    norm = float(np.sqrt(max(0.0, alpha @ block.train @ alpha)))
    # each is the margin of some row, no mean of two
    quantiles = np.quantile(margins, np.array(settings["percent"]) / 100, method="inverted_cdf")
    row: Row = {
        "margin_mean": float(margins.mean()),
        "margin_variance": float(margins.var()),
        "norm": norm,
        "accuracy": float(np.mean((model.decisions(block.test)[:, 0] > 0) == (fold.y_test > 0))),
        "parameters": chosen.as_json(),
        "n_train": len(y),
    }
    for percent, value in zip(settings["percent"], quantiles, strict=True):
        row[f"margin_{percent:03d}"] = float(value)
        row[f"unit_{percent:03d}"] = float(value) / norm if norm > 0 else None
    return row


def measure_sensitivity(fold: Fold, method: str, settings: Settings) -> Row:
    """Measure the test accuracy of LDM while one parameter runs through its grid (Figure 3).

    The two other parameters, and the width of the rbf kernel, stay where cross-validation puts them.

    Parameters
    ----------
    method : str
        "LDM", "LDM+1", "LDM(C/m)" or "LDM(4)" with its kernel, such as ``"LDM(rbf)"``.
    settings : mapping
        As for :func:`marginbook.ldm.experiments.tables_2_3.measure_rbf`.

    Returns
    -------
    dict
        ``accuracy`` at the choice and ``parameters`` (JSON); ``lambda1_1``, ``lambda1_2``, ..., likewise
        ``lambda2_...`` and ``C_...``: accuracy at the first, second, ... value of that grid;
        ``lambda1_range``, ``lambda2_range``, ``C_range``: the largest less the smallest of them;
        ``dual_gap``, the largest relative gap.
    """
    name, kernel = _parts(method)
    if name not in MACHINES or not name.startswith("LDM"):
        raise ValueError(f"unknown method {method!r}; wanted LDM, LDM+1, LDM(C/m) or LDM(4) and a kernel")
    fold = prepared(fold)
    chosen, _ = fitted(MACHINES[name], kernel, fold, settings)
    block, gap = chosen.block, chosen.gap
    row: Row = {"parameters": chosen.as_json()}
    for varied in PARAMETERS:
        fixed = {each: chosen.point[each] for each in PARAMETERS if each != varied}
        found = MACHINES[name](block.train, fold.y_train, at_point(settings, fixed))
        gap = max(gap, found.certificate)
        reached = np.mean(found.predict(block.test) == (fold.y_test[:, None] > 0), axis=0)
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
