"""The claim on more than two classes: how many operators least squares gives, and what they span."""

from __future__ import annotations

import numpy as np

from ...claims import Evidence, Rival, at_most, claim, decide
from .section_2_fisher import CUT

#: classes that are tried, and sizes of the classes
CLASSES = (3, 4, 5, 7)


def operators(X: np.ndarray, labels: np.ndarray, intercept: bool = True) -> np.ndarray:
    """Return the directions, (p, C), of least squares on the indicators of the C classes."""
    indicators = (labels[:, None] == np.unique(labels)).astype(float)
    design = np.column_stack([np.ones(len(X)), X]) if intercept else X
    return np.asarray(np.linalg.lstsq(design, indicators, rcond=CUT)[0][-X.shape[1] :])


def rank(directions: np.ndarray) -> int:
    """Return the rank, singular values below 1e-8 of the largest being rounding."""
    values = np.linalg.svd(directions, compute_uv=False)
    return int(np.sum(values > 1e-8 * values[0]))


def discriminant_space(X: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the directions, (p, C), that span Fisher's discriminant coordinates: S_W^{-1}(m_k - m)."""
    means = np.array([X[labels == name].mean(axis=0) for name in np.unique(labels)])
    centred = X - means[np.searchsorted(np.unique(labels), labels)]
    return np.asarray(np.linalg.solve(centred.T @ centred, (means - X.mean(axis=0)).T))


def apart(one: np.ndarray, other: np.ndarray, k: int) -> float:
    """Return the sine of the largest principal angle between the leading k directions of two spans."""
    first, second = (np.linalg.svd(directions)[0][:, :k] for directions in (one, other))
    return float(np.linalg.norm(second - first @ (first.T @ second), 2))


@claim(
    "kfda/operators",
    kind="statement",
    where="Section 1, third paragraph, second sentence; Section 5, last sentence",
    statement="for $C>2$ classes the least-squares solution gives as many operators as there are classes, "
    "and it is not clear how these can be related to the multinomial discriminant coordinates",
    notebook="kfda/05_error_and_sparsity#kfda-operators",
    rivals=[
        Rival("without the intercept, where there are C", {"intercept": False}),
        Rival("C - 2 of them are enough", {"fewer": 2}),
        Rival("they span the coordinates of other classes", {"wrong_label": True}),
    ],
)
def check_operators(intercept: bool = True, fewer: int = 1, wrong_label: bool = False) -> Evidence:
    """Count independent operators; compare their span with Fisher's, in input space and in a kernel's."""
    rng = np.random.default_rng(78)
    as_many = right = count = 0
    angle = 0.0
    for c in CLASSES:
        for p in (2 * c, 20):
            for _ in range(3):
                labels = rng.permutation(np.repeat(np.arange(c), rng.integers(6, 20, size=c)))
                X = rng.normal(size=(len(labels), p)) + 2 * rng.normal(size=(c, p))[labels]
                if wrong_label:
                    named = labels.copy()
                    named[0] = (named[0] + 1) % c
                else:
                    named = labels
                found, wanted = operators(X, labels, intercept), discriminant_space(X, named)
                as_many += rank(found) == c
                right += rank(found) == c - fewer
                angle = max(angle, apart(found, wanted, c - fewer))
                count += 1
    tolerance = 1e-8
    return Evidence(
        verdict=decide(as_many == count, right == count and angle <= tolerance),
        measured=f"of the operators for C classes C - 1 are independent in {right} of {count} problems, C in "
        f"{as_many}; the sine of the largest angle between their span and that of Fisher's coordinates is at "
        f"most {at_most(angle, tolerance)}",
        claimed="C; no relation",
        slack=float(as_many - count),
        why="The class indicators sum to 1, which the intercept fits, so the C directions sum to 0. "
        "Regressing the indicators gives B = S_T^{-1} (class sums of centred rows). By Woodbury's identity, "
        "S^{-1}(m_k - m) spans the same space for S = S_T and S = S_W. So the span is Fisher's, and an "
        "eigendecomposition of order C - 1 gives the coordinates (Hastie, Tibshirani and Buja, 1994), with "
        "kernel columns as with features. This holds without a penalty; whether sparse operators share their "
        "samples is another question.",
        sizes={"problems": count, "C": list(CLASSES)},
        seeds=(78,),
    )
