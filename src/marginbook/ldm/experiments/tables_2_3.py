"""How one entry of Tables 2 and 3 is measured: a method on one split of a regular data set."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np

from ...experiments.candidates import Candidates, Expansions, at_point, libsvm
from ...experiments.fold import Fold, Method, Row, Settings, Trained
from ..model.whitening import WhitenedGram
from ..peers.km_omd import solve_km_omd
from ..peers.mamc import solve_mamc
from ..solvers.grid import solve_grid
from .halves import Decisions, choosing_folds, mdo, measured
from .selection import KERNELS, Selected, select


def svm(G: np.ndarray, y: np.ndarray, settings: Settings) -> Expansions:
    """Fit LIBSVM, which has an intercept, for each C of the settings."""
    return libsvm(G, y, [{"C": float(C)} for C in settings["C"]], settings)


def ldm(G: np.ndarray, y: np.ndarray, settings: Settings) -> Expansions:
    """Fit LDM at each point of C x lambda1 x lambda2, C slowest: equals go to the smallest parameters."""
    axes = [[float(value) for value in settings[name]] for name in ("lambda1", "lambda2", "C")]
    grid = solve_grid(WhitenedGram(G, y), *axes, tol=settings["tol"])
    gap = float(np.max(grid.gap / np.maximum(1.0, np.abs(grid.objective))))
    alpha = np.moveaxis(grid.alpha, 2, 0).reshape(-1, len(y))
    points = [
        {"C": C, "lambda1": lambda1, "lambda2": lambda2}
        for C, lambda1, lambda2 in product(axes[2], axes[0], axes[1])
    ]
    return Expansions(points, alpha, np.zeros(len(points)), gap)


def ldm_with_constant(G: np.ndarray, y: np.ndarray, settings: Settings) -> Expansions:
    """Fit LDM with a constant feature, that is with the kernel k + 1."""
    found = ldm(G + 1.0, y, settings)
    return Expansions(found.points, found.alpha, found.alpha.sum(axis=1), found.certificate)


def svm_without_intercept(G: np.ndarray, y: np.ndarray, settings: Settings) -> Expansions:
    """Fit LDM with lambda1 = lambda2 = 0, which is the SVM without an intercept, for each C."""
    found = ldm(G, y, {**settings, "lambda1": [0.0], "lambda2": [0.0]})
    return Expansions(
        [{"C": point["C"]} for point in found.points], found.alpha, found.offset, found.certificate
    )


def per_example(candidates: Candidates) -> Candidates:
    """Return `candidates` with C / m in the place of C: the mean of the hinge losses instead of their sum."""

    def fit(G: np.ndarray, y: np.ndarray, settings: Settings) -> Expansions:
        grid = [float(C) for C in settings["C"]]
        found = candidates(G, y, {**settings, "C": [C / len(y) for C in grid]})
        own = dict(zip((C / len(y) for C in grid), grid, strict=True))
        return replace(found, points=[{**point, "C": own[point["C"]]} for point in found.points])

    return fit


def as_printed_in_4(G: np.ndarray, y: np.ndarray, settings: Settings) -> Expansions:
    """Fit LDM with the double sum on the left of (4) as its variance, m squared times that on the right."""
    grid = [float(lambda1) for lambda1 in settings["lambda1"]]
    heavy = [lambda1 * len(y) ** 2 for lambda1 in grid]
    found = ldm(G, y, {**settings, "lambda1": heavy})
    own = dict(zip(heavy, grid, strict=True))
    return replace(found, points=[{**point, "lambda1": own[point["lambda1"]]} for point in found.points])


def mamc(G: np.ndarray, y: np.ndarray, settings: Settings) -> Expansions:
    """Fit MAMC, which has no parameter."""
    found = solve_mamc(G @ y, y, float(np.trace(G)) / len(y))
    return Expansions([{}], found.coefficients[None, :], np.zeros(1))


def km_omd(G: np.ndarray, y: np.ndarray, settings: Settings) -> Expansions:
    """Fit KM-OMD with the weight 1 / C of the regularisation, for each C."""
    start: np.ndarray | None = None
    alpha, intercept, gap = [], [], 0.0
    for C in settings["C"]:
        solution = solve_km_omd(G, y, 1 / C, tol=settings["tol"], start=start)
        start = solution.gamma
        alpha.append(y * solution.gamma)
        intercept.append(-solution.threshold)
        gap = max(gap, solution.dual_gap / max(solution.objective, np.finfo(float).tiny))
    points = [{"C": float(C)} for C in settings["C"]]
    return Expansions(points, np.array(alpha), np.array(intercept), gap)


#: the methods of the tables that are expansions in a kernel, each at all points of its grid
MACHINES: dict[str, Candidates] = {
    "SVM": svm,
    "MAMC": mamc,
    "KM-OMD": km_omd,
    "LDM": ldm,
    "SVM-0": svm_without_intercept,
    "LDM+1": ldm_with_constant,
    "SVM-0(C/m)": per_example(svm_without_intercept),
    "LDM(C/m)": per_example(ldm),
    "LDM(4)": as_printed_in_4,
}


def fitted(
    candidates: Candidates, kernel: str, fold: Fold, settings: Settings
) -> tuple[Selected, Expansions]:
    """Choose width and parameters by cross-validation; return the choice, and the machine fitted at it.

    Parameters
    ----------
    candidates : Candidates
    kernel : {"linear", "rbf"}
    fold : Fold
        Prepared.
    settings : mapping
        As for `measure_rbf`.
    """
    y, blocks = fold.y_train, KERNELS[kernel](fold.X_train, fold.X_test, settings)
    folds = choosing_folds(y, int(settings["folds"]), fold.dataset)
    chosen = select(candidates, blocks, y, folds, settings)
    return chosen, candidates(chosen.block.train, y, at_point(settings, chosen.point))


def _train(candidates: Candidates, kernel: str, fold: Fold, settings: Settings) -> Trained:
    chosen, model = fitted(candidates, kernel, fold, settings)
    gap = np.fmax(chosen.gap, model.certificate)
    both = (model.decisions(block)[:, 0] for block in (chosen.block.train, chosen.block.test))
    return Trained(
        Decisions(*both),
        {
            "cv_score": chosen.score,
            "parameters": chosen.as_json(),
            "ties": chosen.ties,
            "dual_gap": None if np.isnan(gap) else float(gap),
        },
    )


#: the methods of Table 2, "linear", and of Table 3, "rbf"
METHODS: dict[str, dict[str, Method]] = {
    kernel: {name: partial(_train, each, kernel) for name, each in MACHINES.items()} for kernel in KERNELS
}
METHODS["linear"]["MDO"] = mdo


def measure_linear(fold: Fold, method: str, settings: Settings) -> Row:
    """Measure one method with the linear kernel on one split (Table 2).

    Parameters
    ----------
    method : str
        One of ``METHODS["linear"]``.
    settings : mapping
        Grids ``C``, ``lambda1``, ``lambda2``; ``folds``; ``tol`` of LDM's relative duality gap; ``svm_tol``
        and ``svm_max_iter`` of LIBSVM.

    Returns
    -------
    dict
        ``accuracy`` on the test half; ``cv_score``, ``parameters`` (JSON) and ``ties``, how many points of
        the grid share that score; ``dual_gap``, the largest relative gap met; ``margin_mean`` and
        ``margin_variance`` (divisor m) of the training margins; ``majority``, the test share of the class
        that is more frequent in training; ``n_train``, ``n_test``.
    """
    return measured(METHODS["linear"], fold, method, settings)


def measure_rbf(fold: Fold, method: str, settings: Settings) -> Row:
    """Measure one method with the rbf kernel on one split (Table 3).

    One of ``METHODS["rbf"]``; ``settings["width"]`` are the widths of the kernel.

    All else is as for `measure_linear`; the chosen ``width`` is a multiple of the mean distance of the
    training rows.
    """
    return measured(METHODS["rbf"], fold, method, settings)
