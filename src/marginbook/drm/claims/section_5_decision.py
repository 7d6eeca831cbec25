r"""The claims of Section V: what :math:`\psi_i=A(w^\star|_{C_i})` and the dissimilarities are."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...claims import Evidence, Rival, at_most, claim, decide
from ...datasets import Dataset, load
from ...kernels import Kernel, gram
from ..model.objective import class_slices
from ..solvers.leave_one_out import leave_one_out
from ..solvers.one_pass import ClassMoments, LinearMaps, linear_maps
from .problems import SIZES, longer_maps, problems
from .stored_results import protocol

#: the sets of Table III that are bundled, the last one of images, and how many rows of each at most
SETS = ("iris", "wine", "optdigits")
ROWS = 250
#: certificates of left-out fits; the others are as good
PROBES = 16
SMALL = 1e-9
#: a distance, in units of |x|, that is no matter of rounding or of a small beta
CLEAR = 0.01


def _orthogonal(rng: np.random.Generator, tilt: float) -> tuple[np.ndarray, np.ndarray, tuple[int, ...]]:
    """Return three classes in coordinates of their own, p > n, and a point in the span of the second.

    With a `tilt` the coordinates of the first class lean towards those of the second.
    """
    sizes, dimensions = (4, 3, 5), (3, 4, 6)
    X = np.zeros((sum(sizes), sum(dimensions)))
    for rows, columns in zip(class_slices(sizes), class_slices(dimensions), strict=True):
        X[rows, columns] = rng.normal(size=(rows.stop - rows.start, columns.stop - columns.start))
    X[:4, 3:7] = tilt * rng.normal(size=(4, 4))
    return X, rng.normal(size=3) @ X[4:7], sizes


def _maps(X: np.ndarray, sizes: tuple[int, ...], alpha: float, beta: float) -> LinearMaps:
    """Return the maps of the library, fitted to classes that follow each other."""
    y = np.repeat(np.arange(len(sizes)), sizes)
    return linear_maps(ClassMoments.empty(len(sizes), X.shape[1], alpha, beta).add(X, y))


def _parts(X: np.ndarray, sizes: tuple[int, ...], x: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    """Return the psi_i of the library, one row a class."""
    parts: np.ndarray = _maps(X, sizes, alpha, beta).T @ x
    return parts


def _projected(X: np.ndarray, sizes: tuple[int, ...], x: np.ndarray) -> np.ndarray:
    """Return the orthogonal projections of x onto the span of each class."""
    spans = [X[block].T for block in class_slices(sizes)]
    return np.array([A @ np.linalg.lstsq(A, x, rcond=None)[0] for A in spans])


def _along_the_others(rng: np.random.Generator, alpha: float = 0.0, beta: float = 1e-6) -> float:
    """Return how far the parts of independent classes are from oblique projections, in units of |x|.

    Those are onto the span of one class along the spans of the others, of the projection of x onto all. With
    a `beta` below 1e-6 rounding is more than what is left.
    """
    sizes = (4, 3, 5)
    X, x = rng.normal(size=(sum(sizes), 3 * sum(sizes))), rng.normal(size=3 * sum(sizes))
    w = np.linalg.lstsq(X.T, x, rcond=None)[0]
    oblique = np.array([X[block].T @ w[block] for block in class_slices(sizes)])
    gap = _parts(X, sizes, x, alpha, beta) - oblique
    return float(np.linalg.norm(gap, axis=1).max() / np.linalg.norm(x))


@claim(
    "drm/projection",
    kind="ours",
    where="Section V, second paragraph, second sentence",
    statement=r"the parts $\psi_i:=Aw^\star|_{C_i}$, which the paper names projections of $x$, are in "
    r"general not the orthogonal ones; for $\alpha=0$ and $\beta\to0$ they are those along the other classes "
    "if the classes are independent, and the orthogonal ones if these are orthogonal",
    notebook="drm/01_the_model#drm-projection",
    rivals=(
        Rival("always the orthogonal projection", {"general": False}),
        Rival("also where classes lean by 2 %", {"tilt": 0.02}),
        Rival("also with alpha = 0.02", {"alpha": 0.02}),
        Rival("also with beta = 0.02", {"beta": 0.02}),
        Rival("parts 2 % longer", swaps={"drm.solvers.one_pass.linear_maps": longer_maps}),
    ),
)
def check_projection(
    general: bool = True, tilt: float = 0.0, alpha: float = 0.0, beta: float = SMALL
) -> Evidence:
    """Compare psi_i with the orthogonal projection, in general and where classes are orthogonal, and others.

    Parameters
    ----------
    general : bool
        Without it, the general problems are those with orthogonal classes.
    tilt, alpha, beta : float
        Of the problems with orthogonal classes, and the latter two of those with independent ones.
    """
    rng = np.random.default_rng(37)
    shares, count = [], 0
    for problem in problems(seed=37, kernels=("linear",)):
        if max(problem.sizes) < problem.X.shape[1] and general:  # else every projection may be x itself
            exact = _projected(problem.X, problem.sizes, problem.x)
            for a in (0.0, 1.0):
                parts = _parts(problem.X, problem.sizes, problem.x, a, 1e-3)
                shares.append(float(np.linalg.norm(parts - exact, axis=1).max() / np.linalg.norm(problem.x)))
                count += 1
    orthogonal = 0.0
    for _ in range(5):
        X, x, sizes = _orthogonal(rng, tilt)
        gap = _parts(X, sizes, x, alpha, beta) - _projected(X, sizes, x)
        orthogonal = max(orthogonal, float(np.linalg.norm(gap, axis=1).max() / np.linalg.norm(x)))
        shares += [] if general else [orthogonal]
    oblique = max(_along_the_others(rng, alpha, max(beta, 1e-6)) for _ in range(5))
    tolerance = 1e-6
    apart, middle, high = np.quantile(shares, [0.0, 0.5, 1.0])
    slack = min(float(apart) - CLEAR, tolerance - max(orthogonal, oblique))
    return Evidence(
        verdict=decide(slack >= 0),
        measured=f"in general {100 * apart:.0f} to {100 * high:.0f} % of |x| from the orthogonal projection, "
        f"median {100 * middle:.0f} %; with alpha = {alpha:g} and a small beta at most "
        f"{at_most(orthogonal, tolerance)} |x| from it where the classes are orthogonal, and "
        f"{at_most(oblique, tolerance)} |x| from the oblique one where they are independent",
        claimed=f"at least {100 * CLEAR:g} %; 0 and 0",
        slack=slack,
        why="The parts come from one fit of x by all classes together, so they depend on each other. An "
        "orthogonal projection onto the span of one class does not depend on the others. The paper writes "
        "'the projection of x onto the subspace of C_i is psi_i := ...'. As the definition of a name this "
        "claims nothing, and the paper concludes nothing from the name; what it says of the values of psi_i "
        "is in drm/delta-values.",
        sizes={
            "problems": count + 10,
            "n": [sum(sizes) for sizes in SIZES],
            "alpha, beta": ["0, 1e-3", "1, 1e-3"],
        },
        seeds=(37,),
    )


class _Fit(NamedTuple):
    """How the left-out points of a set are with one kernel, alpha and beta; delta is in units of |x|^2.

    Attributes
    ----------
    accuracy : float
    close : float
        The share of the points of which all delta are near to what is stated.
    needed : float
        How far the most of the points are at most.
    own, rest : float
        The medians of delta_k and of all delta_j.
    points : int
    """

    accuracy: float
    close: float
    needed: float
    own: float
    rest: float
    points: int


def _left_out(data: Dataset, kernel: Kernel, other: float, near: float, most: float) -> Iterator[_Fit]:
    """Yield how the left-out points are, for every second alpha and beta of the paper's grid."""
    settings = protocol("table-3").settings
    every = slice(None, None, -(-len(data.y) // ROWS))
    y = np.asarray(data.y)[every]
    order = np.argsort(y, kind="stable")
    X = np.asarray(data.X, dtype=float)[every][order]
    largest = np.abs(X).max(axis=0)
    X = X / np.where(largest > 0, largest, 1.0)
    labels, sizes = np.unique(y[order], return_inverse=True, return_counts=True)[1:]
    K, rows = gram(kernel, X), np.arange(len(X))
    for alpha, beta in itertools.product(settings["alpha"][::2], settings["beta"][::2]):
        delta = leave_one_out(K, sizes, alpha, beta, probes=PROBES).delta
        relative = delta / np.diagonal(K)[:, None] + 1.0  # (10) leaves out |x|^2
        own = relative[rows, labels]
        rest = relative[labels[:, None] != np.arange(len(sizes))].reshape(len(X), -1)
        off = np.maximum(np.abs(own), np.abs(rest - other).max(axis=1))
        yield _Fit(
            float(np.mean(delta.argmin(axis=1) == labels)),
            float(np.mean(off <= near)),
            float(np.quantile(off, most, method="higher")),
            float(np.median(own)),
            float(np.median(rest)),
            len(X),
        )


@claim(
    "drm/delta-values",
    kind="statement",
    where="Section V, second paragraph, from 'When x truly belongs'",
    statement=r"when $x$ truly belongs to $C_k$, $\delta_k$ is approximately 0 and every other $\delta_j$ "
    r"approximately $2\|x\|_2^2$",
    notebook="drm/01_the_model#drm-projection",
    rivals=(
        Rival("anything approximately equal", {"near": np.inf}),
        Rival("corrected, |x|^2 for 2 |x|^2", {"other": 1.0}),
        Rival("corrected, 2 % above 2 |x|^2", {"other": 2.04}),
        Rival("corrected, a point outside of the span", {"outside": 0.1}),
        Rival("corrected, with beta = 0.02", {"beta": 0.02}),
        Rival("parts 2 % longer", swaps={"drm.solvers.one_pass.linear_maps": longer_maps}),
    ),
)
def check_dissimilarities(
    other: float = 2.0,
    near: float | None = None,
    outside: float = 0.0,
    beta: float = SMALL,
    names: Sequence[str] = SETS,
) -> Evidence:
    """Measure both on left-out points, with the kernels and grids of the paper, and in the ideal case.

    Of each kernel, the parameters with the best leave-one-out accuracy count, and of equals those under which
    most points are close; of each set, the kernel under which most points are.

    Parameters
    ----------
    other : float
        What delta_j is to be near to, in units of |x|^2.
    near : float, optional
        What counts as near; by default as in the protocol.
    outside : float
        How far x is from the span of its class in the ideal case.
    beta : float
        Of the ideal case.
    names : sequence of str
        Data sets.
    """
    plan = protocol("table-3")  # what "approximately" is read as, and of how many points
    bound, most = float(plan.thresholds["near"] if near is None else near), float(plan.thresholds["most"])
    kernels: dict[str, list[Kernel]] = {
        "rbf": [("rbf", {"gamma": 1 / (2 * sigma2)}) for sigma2 in plan.settings["sigma2"]],
        "polynomial": [
            ("poly", {"degree": degree, "gamma": 1.0, "coef0": 1.0}) for degree in plan.settings["degree"]
        ],
        "linear": ["linear"],
    }
    told, others, shares, typical, count = [], [], [], [], 0
    for name in names:
        data = load(name)
        found = {
            named: max(itertools.chain(*(_left_out(data, kernel, other, bound, most) for kernel in family)))
            for named, family in kernels.items()
        }
        best, *rest = sorted(found, key=lambda named: -found[named].close)
        fit = found[best]
        shares.append(fit.close)
        typical += [name] if max(abs(fit.own), abs(fit.rest - other)) <= bound else []
        count += fit.points
        told.append(
            f"on {name} for {100 * fit.close:.0f} % ({best} kernel; medians {fit.own:.2f} and "
            f"{fit.rest:.2f}, {100 * most:.0f} % within {fit.needed:.2f})"
        )
        others.append(f"{name} " + ", ".join(f"{named} {100 * found[named].close:.0f} %" for named in rest))
    worst, rng = 0.0, np.random.default_rng(38)
    for _ in range(5):
        X, x, classes = _orthogonal(rng, 0.0)
        x = x + outside * rng.normal(size=len(x))
        values = _maps(X, classes, 0.0, beta).dissimilarity(x[None])[0] / (x @ x) + 1.0
        worst = max(worst, float(np.abs(values - [other, 0.0, other]).max()))
    tolerance = 1e-6
    return Evidence(
        verdict=decide(min(shares) >= most, worst <= tolerance),
        measured=f"in units of |x|^2, delta_k is within {bound:g} of 0, and every delta_j of {other:g}, "
        f"{', '.join(told)} of the points; in the ideal case the values are at most "
        f"{at_most(worst, tolerance)} from 0 and {other:g}",
        claimed=f"0 and {other:g}, within {bound:g} for {100 * most:.0f} % of the points",
        slack=min(shares) - most,
        why="The points are left out one at a time; each feature is divided by its largest value, and the "
        "parameters have the best leave-one-out accuracy. The corrected statement, also checked: where x is "
        "in the span of its class, the other classes are orthogonal to it and alpha = 0, the values tend to "
        f"0 and {other:g} |x|^2 as beta goes to 0; that is the ideal case.",
        sizes={"points": count, "sets": len(names)},
        seeds=(38,),
        reading=f"'Approximately' is read as within {bound:g} |x|^2, and 'when' as for {100 * most:.0f} % of "
        "the points. Both were set after a first look, with the linear kernel on iris and wine; in brackets "
        "is the tolerance that would do. The paper's kernels are rbf and polynomial, and its formula is for "
        "the linear one: on each set that kernel counts which agrees best; with the others the shares are "
        f"{'; '.join(others)}. Read of a typical point, by the medians, both values are as stated on "
        f"{len(typical)} of {len(names)} sets. The sets are those of Table III that are bundled; none of "
        "faces or genes is.",
    )
