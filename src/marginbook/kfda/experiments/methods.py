"""The machines of the tables, each fitted to one Gram matrix at all points of its grid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from ...base.parameters import validate_choice
from ...experiments.candidates import Candidates, Expansions, libsvm
from ...experiments.fold import Point, Settings
from ..model.objective import Problem, midpoint, targets
from ..peers.ols_forward_selection import orthogonal_least_squares
from ..peers.ridge_path import ridge_path
from ..solvers.lasso import lasso_path
from ..solvers.majorise_minimise import shrinking_mm
from ..solvers.solution import Solution


def threshold(positive: np.ndarray) -> float:
    """Return the paper's threshold, the midpoint of the two targets of the classes (n,) of bool."""
    return midpoint(int(positive.sum()), int((~positive).sum()))


def exact_lasso(
    K: np.ndarray, positive: np.ndarray, points: Sequence[Point], settings: Settings
) -> Expansions:
    """Fit kFDA_1 exactly at each ``rho``; the certificate is the duality gap relative to J."""
    found = lasso_path(Problem(K, targets(positive)), [point["rho"] for point in points])
    gap = max(float(one.dual_gap or 0.0) / max(one.objective, np.finfo(float).tiny) for one in found)
    return _expansions(found, points, positive, gap)


def concave(
    q: float, K: np.ndarray, positive: np.ndarray, points: Sequence[Point], settings: Settings
) -> Expansions:
    """Fit kFDA_q, q < 1, at each ``rho`` by majorise-minimise from the ridge solution of the same rho.

    Parameters
    ----------
    q : float
    K : (n, n) array
    positive : (n,) array of bool
    points : sequence of dict
    settings : mapping
        ``tol``, the relative change of J at which the iteration ends.
    """
    problem = Problem(K, targets(positive))
    found = [shrinking_mm(problem, q, point["rho"], tol=settings["tol"]) for point in points]
    return _expansions(found, points, positive, max(float(one.stationarity or 0.0) for one in found))


def ridge(K: np.ndarray, positive: np.ndarray, points: Sequence[Point], settings: Settings) -> Expansions:
    """Fit kFDA with a ridge and a free bias, ``ridge`` per sample; the certificate is of its equations."""
    n = len(positive)
    found = ridge_path(K, targets(positive), [point["ridge"] * n for point in points])
    offset = np.array([one.bias for one in found]) - threshold(positive)
    alpha = np.array([one.coef for one in found])
    return Expansions(list(points), alpha, offset, max(one.residual for one in found))


def forward_selection(
    K: np.ndarray, positive: np.ndarray, points: Sequence[Point], settings: Settings
) -> Expansions:
    """Fit kFDA_OLS: orthogonal least squares with as many terms as ``share`` of the samples, at least one.

    The bias is there from the start and is not counted; fewer terms are taken where no further column is
    numerically independent of those chosen.
    """
    n = len(positive)
    wanted = [max(1, round(point["share"] * n)) for point in points]
    found = orthogonal_least_squares(K, targets(positive), max_terms=max(wanted))
    omega = np.array([found.omega(found.n_terms(min(count, len(found.samples)))) for count in wanted])
    return Expansions(list(points), omega[:, 1:], omega[:, 0] - threshold(positive), found.residual)


#: what each of them chooses besides the width, and whether large values come first: the sparsest does
GRIDS = {
    "kFDA-1": ("rho", True),
    "kFDA-0.5": ("rho", True),
    "kFDA-OLS": ("share", False),
    "kFDA": ("ridge", True),
    "SVM": ("C", False),
}


def grid(method: str, settings: Settings) -> list[Point]:
    """Return the points of the grid of `method`, the one that regularises most first.

    Raises
    ------
    ValueError
        There is no such method.
    """
    validate_choice("method", method, GRIDS)
    name, large_first = GRIDS[method]
    return [{name: float(value)} for value in sorted(settings[name], reverse=large_first)]


def _expansions(
    found: Sequence[Solution], points: Sequence[Point], positive: np.ndarray, certificate: float
) -> Expansions:
    omega = np.array([one.omega for one in found])
    curvature = [one.curvature for one in found if one.curvature is not None]
    return Expansions(
        list(points),
        omega[:, 1:],
        omega[:, 0] - threshold(positive),
        certificate,
        min(curvature, default=float("nan")),
    )


_FITS: dict[str, Callable[..., Expansions]] = {
    "kFDA-1": exact_lasso,
    "kFDA-0.5": partial(concave, 0.5),
    "kFDA-OLS": forward_selection,
    "kFDA": ridge,
    "SVM": libsvm,
}


def _at_grid(method: str, K: np.ndarray, positive: np.ndarray, settings: Settings) -> Expansions:
    return _FITS[method](K, positive, grid(method, settings), settings)


#: the methods of the tables, each at all points of its grid
MACHINES: dict[str, Candidates] = {name: partial(_at_grid, name) for name in _FITS}
