r"""Claims on what (29)-(30) leave open: the basis of each subspace, its signs above all.

A subspace has many orthonormal bases; :math:`U_{c,i}R` spans what :math:`U_{c,i}` does for every orthogonal
R. The coordinates :math:`z_{c,i}` become :math:`R^\top z_{c,i}`. In :math:`h_c=\sum_{i,j}\sqrt{\nu_{c,i}
\nu_{c,j}}\,z_{c,i}(x)^\top z_{c,j}(\tilde x)` the terms with i = j do not notice, those with
:math:`i\ne j` do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from ...claims import Evidence, Rival, at_most, claim, decide, short
from ..estimators.lssvm import LSSVMClassifier
from ..model.embedding import Subspace
from ..model.features import FeatureMap
from ..model.kernel_sets import paper_kernels
from ..model.truncation import representative
from ..solvers.dinkelbach import dinkelbach
from .failing import failing
from .real_rows import WEIGHTS, Rows, real_rows

Bases = list[list[Subspace]]
#: relative rounding of a kernel matrix
ROUNDING = 1e-9
SMALL = (("iris", 50), ("wine", 48), ("wdbc", 90))


def with_signs(subspaces: Sequence[Sequence[Subspace]], rng: np.random.Generator) -> Bases:
    """Return the same subspaces with a random sign for each column of each basis."""
    return [[replace(s, A=s.A * rng.choice((-1.0, 1.0), s.n_components)) for s in row] for row in subspaces]


def flipped(subspaces: Sequence[Sequence[Subspace]], c: int, i: int, column: int = 0) -> Bases:
    """Return the same subspaces with the opposite sign of one column, of class c and kernel i."""
    found = [list(row) for row in subspaces]
    A = found[c][i].A.copy()
    A[:, column] *= -1
    found[c][i] = replace(found[c][i], A=A)
    return found


def in_order_of_choice(subspaces: Sequence[Sequence[Subspace]]) -> Bases:
    r"""Return the same subspaces with the orthonormal basis that the greedy embedding itself makes.

    Gram and Schmidt, sample by sample: :math:`A=R^{-1}` with :math:`K_{BB}=R^\top R`, up to samples whose
    residual is below the tolerance 1e-6. The signs are such that the first sample is positive.
    """
    found = []
    for row in subspaces:
        bases = []
        for s in row:
            # the chosen samples in coordinates of the basis: C C' = K_BB, so that Q of C' = Q R turns it
            turn, triangle = np.linalg.qr(s.coordinates(s.rows).T)
            bases.append(replace(s, A=s.A @ turn * np.where(np.diag(triangle) < 0, -1.0, 1.0)))
        found.append(bases)
    return found


def kernel_change(X: np.ndarray, one: Bases, other: Bases, weights: np.ndarray, combine: str) -> float:
    """Return the largest difference of h (30) between two bases, relative to its largest entry.

    Parameters
    ----------
    X : (n, p) array
    one, other : C lists of K Subspace
    weights : (C, K) array
    combine : {"sum", "concat"}
    """
    kept = np.arange(weights.shape[1])
    features = [FeatureMap.of(bases, kept, weights, combine)(X) for bases in (one, other)]
    h, g = (z @ z.T for z in features)
    return float(np.abs(h - g).max() / np.abs(h).max())


def predictions(rows: Rows, bases: Bases, weights: np.ndarray, combine: str) -> np.ndarray:
    """Return the classes that an LS-SVM on the features gives to the new rows, (n,)."""
    features = FeatureMap.of(bases, np.arange(weights.shape[1]), weights, combine)
    known = np.vstack([rows.X["basis"], rows.X["held_out"]])
    labels = np.concatenate([rows.y["basis"], rows.y["held_out"]])
    found: np.ndarray = LSSVMClassifier(C=1.0).fit(features(known), labels).predict(features(rows.X["new"]))
    return found


def worst_flip(X: np.ndarray, bases: Bases, weights: np.ndarray) -> Bases:
    """Return the bases with one sign changed, of a first column, such that h under "sum" changes most."""
    places = [(c, i) for c, i in product(*map(range, weights.shape)) if 0 < weights[c, i] < 1]
    if not places:
        return bases
    tried = [flipped(bases, c, i) for c, i in places]
    return max(tried, key=lambda other: kernel_change(X, bases, other, weights, "sum"))


def real_bases(name: str, per_class: int, seed: int = 0) -> tuple[Rows, Bases]:
    """Return rows of a real set, and subspaces of the kernels of Table 4 that (35) keeps with eta = 0.1."""
    rows = real_rows(name, seed, per_class)
    subspaces = rows.subspaces(paper_kernels("table-4"))
    kept = representative(rows.separation(subspaces, combine="concat").energy, 0.1)
    return rows, [[row[i] for i in kept] for row in subspaces]


def _first(change: Callable[..., Bases]) -> Callable[..., Bases]:
    """Return a function that leaves the bases as they are; they come first, or after the rows."""
    return lambda *given: next(part for part in given if isinstance(part, list))


@claim(
    "clasmk/sign-ambiguity",
    kind="ours",
    where="Definition 1, (29)-(30)",
    statement="the sum (29), and what is learned with it, depends on the signs of the basis vectors, which "
    "the subspaces do not determine; the concatenation does not",
    notebook=f"{WEIGHTS}#clasmk-signs",
    rivals=(
        Rival(
            "signs that stay",
            swaps={
                "clasmk.claims.beyond_signs.worst_flip": _first,
                "clasmk.claims.beyond_signs.with_signs": _first,
            },
        ),
        Rival("the sum in the place of the concatenation", {"mended": "sum"}),
    ),
)
def check_signs(*, mended: str = "concat") -> Evidence:
    """Change one sign, then all at random; compare h, predictions on real data, and the least ratio."""
    rng = np.random.default_rng(640)
    one, without, moved, tested, ranges = [], [], 0, 0, {}
    stacked, stacked_moved = 0.0, 0
    for name, per_class in SMALL:
        rows, bases = real_bases(name, per_class)
        measured = rows.separation(bases)
        found = dinkelbach(measured.numerator, measured.denominator)
        new = rows.X["new"]
        uniform = np.full(found.weights.shape, 1 / found.weights.shape[1])
        for weights in (found.weights, uniform):
            others = [worst_flip(new, bases, weights), with_signs(bases, rng), with_signs(bases, rng)]
            one.append(kernel_change(new, bases, others[0], weights, "sum"))
            without += [kernel_change(new, bases, other, weights, "sum") for other in others[1:]]
            stacked = max(stacked, *(kernel_change(new, bases, o, weights, mended) for o in others))
            for side in (False, True):
                combine = mended if side else "sum"
                first = predictions(rows, bases, weights, combine)
                changes = [int((predictions(rows, o, weights, combine) != first).sum()) for o in others]
                if not side:
                    moved, tested = moved + sum(changes), tested + len(first) * len(others)
                else:
                    stacked_moved += sum(changes)
        values = [found.objective]
        for _ in range(4):
            other = rows.separation(with_signs(bases, rng))
            values.append(dinkelbach(other.numerator, other.denominator, max_nodes=30).objective)
        ranges[name] = round(max(values) / min(values), 2)
    return Evidence(
        verdict=decide(max(one) > ROUNDING and moved > 0 and stacked <= ROUNDING and stacked_moved == 0),
        measured=f"reversing the sign of one basis vector changes h on new rows by {min(one):.0%} to "
        f"{max(one):.0%} of its largest entry, random signs by up to {max(without):.0%}; {moved} of {tested} "
        "predictions of an LS-SVM change. Random signs change the least ratio (33) by a factor of up to "
        f"{max(ranges.values()):.1f}"
        + failing(
            (stacked <= ROUNDING, f"under concatenation h changes by up to {at_most(stacked, ROUNDING)}"),
            (stacked_moved == 0, f"under concatenation {stacked_moved} predictions change"),
        ),
        claimed="a change with the sum; none with the concatenation",
        slack=min(max(one) - ROUNDING, short(moved, 1), short(ROUNDING, stacked), short(0, stacked_moved)),
        why="Definition 1 takes bases as given, Section 3.1 determines only their span, and the sign of an "
        "eigenvector is arbitrary. (29) adds coordinates of different kernels, whose numbers of coordinates "
        f"differ, too. Under concatenation the same changes alter h by at most {at_most(stacked, ROUNDING)} "
        f"and {stacked_moved} predictions. Definition 1 defines a kernel only with a convention; here the "
        "mean of each coordinate over the class is not negative.",
        sizes={"sets": [name for name, _ in SMALL], "rows": tested, "least ratio, factor": ranges},
        seeds=(0, 640),
    )


@claim(
    "clasmk/basis-ambiguity",
    kind="ours",
    where="Algorithm 1, 'using KPCA or any iterative methods'",
    statement="with the sum (29), two methods for bases of the same subspaces give two kernels and two "
    "ratios (33); with the concatenation they give the same",
    notebook=f"{WEIGHTS}#clasmk-signs",
    rivals=(
        Rival("one method twice", swaps={"clasmk.claims.beyond_signs.in_order_of_choice": _first}),
        Rival("the sum in the place of the concatenation", {"mended": "sum"}),
    ),
)
def check_bases(*, mended: str = "concat") -> Evidence:
    """Take principal directions and those of Gram and Schmidt: the same subspaces; compare h and (33)."""
    change, factor, stacked, apart = [], [], 0.0, 0.0
    for name, per_class in SMALL:
        rows, bases = real_bases(name, per_class)
        other, new = in_order_of_choice(bases), rows.X["new"]
        uniform = np.full((len(bases), len(bases[0])), 1 / len(bases[0]))
        change.append(kernel_change(new, bases, other, uniform, "sum"))
        stacked = max(stacked, kernel_change(new, bases, other, uniform, mended))
        values = []
        for of in (bases, other):
            measured = rows.separation(of)
            values.append(dinkelbach(measured.numerator, measured.denominator, max_nodes=30).objective)
        factor.append(max(values) / min(values))
        for row, again in zip(bases, other, strict=True):
            for s, t in zip(row, again, strict=True):
                z, w = s.coordinates(new), t.coordinates(new)
                apart = max(apart, float(np.abs(z @ z.T - w @ w.T).max()))
    return Evidence(
        verdict=decide(
            min(change) > ROUNDING and max(factor) > 1 + ROUNDING and max(stacked, apart) <= ROUNDING
        ),
        measured="with the basis of the greedy embedding, built sample by sample, h changes by "
        f"{min(change):.0%} to {max(change):.0%} of its largest entry at equal weights, and the least ratio "
        f"(33) by a factor of up to {max(factor):.2f}"
        + failing(
            (stacked <= ROUNDING, f"under concatenation h changes by up to {at_most(stacked, ROUNDING)}"),
            (apart <= ROUNDING, f"projections on the two bases differ by up to {at_most(apart, ROUNDING)}"),
        ),
        claimed="a change with the sum; none with the concatenation",
        slack=min(min(change) - ROUNDING, max(factor) - 1 - ROUNDING, short(ROUNDING, max(stacked, apart))),
        why="Both are orthonormal bases of the same subspaces, with signs fixed by the same kind of rule: "
        f"inner products of projections agree to {at_most(apart, ROUNDING)}. The sum adds the first "
        "coordinate of one kernel to the first of another, so the order of the coordinates matters, too. "
        f"Under concatenation h changes by at most {at_most(stacked, ROUNDING)}.",
        sizes={"sets": [name for name, _ in SMALL], "kernels": "table-4"},
        seeds=(0,),
    )
