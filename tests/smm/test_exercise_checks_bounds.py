"""Answers to the exercises on bounds, kernels and ranks: other right ones pass, typical wrong ones do not."""

from __future__ import annotations

from ..answered import Answered, altered, exercises
from . import test_exercise_checks_fits as fits
from . import test_exercise_experiments as experiments

RIGHT = {
    "by a search on the interval": (
        "smm/scale",
        """
def best_multiple(c, X, y, w, lam, rank):
    M = np.einsum("n,nij->ij", c * y, X)
    S = np.sort(np.linalg.eigvalsh(M @ M.T))[::-1][:rank].sum()
    low, high = 0.0, min(w[i] / (len(y) * c[i]) for i in range(len(y)) if c[i] > 0)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if c.sum() > middle * S / (2 * lam) else (low, middle)
    return low, low * c.sum() - low**2 * S / (4 * lam)
""",
    ),
    "from the margins at lambda = 1": (
        "smm/threshold",
        """
def threshold(X, y, w, rank):
    M = sum(w[i] * y[i] * X[i] for i in range(len(y))) / len(y)
    values, vectors = np.linalg.eigh(M.T @ M)
    P = vectors[:, -rank:]
    B = M @ P @ P.T / 2
    return max(y[i] * np.sum(B * X[i]) for i in range(len(y)) if w[i] > 0)
""",
    ),
    "distinct monomials only, and other witnesses": (
        "smm/polynomial",
        """
from math import factorial
def features(X, degree, lam):
    n, d1, d2 = X.shape
    columns = []
    for powers in product(range(degree + 1), repeat=d2):
        left = degree - sum(powers)
        if left < 0:
            continue
        count = factorial(degree) / factorial(left)
        for p in powers:
            count /= factorial(p)
        monomial = np.sqrt(count * lam**left) * np.prod(X ** np.array(powers), axis=2)
        if left == 0:
            columns.append(monomial[:, :, None])
        else:
            columns.append(monomial[:, :, None] * np.eye(d1))
    return np.concatenate(columns, axis=2)

def witness(degree, lam, d1):
    if degree % 2:
        return np.zeros((2, d1, 3)), np.eye(2 * d1)[-1]
    X = np.zeros((2, d1, 2))
    X[0, -1, 1] = abs(lam) ** 0.5
    X[1] = -X[0]
    v = np.zeros(2 * d1)
    v[[d1 - 1, -1]] = 3.0, -3.0
    return X, v
""",
    ),
    "in coordinates of the feature space": (
        "smm/cut",
        """
def cut(K, U, C, r):
    sizes, vectors = np.linalg.eigh(K)
    V = (vectors * np.sqrt(np.maximum(sizes, 0))).T @ C
    left = np.linalg.svd(U @ V.T)[0][:, :r]
    return left, C @ U.T @ left
""",
    ),
    "zeros and a stray one further up": (
        "smm/crossing",
        """
def largest(q, H):
    return (q - 1) * 0.5 / H

def farthest(q, H):
    return [1] * (H - 2 - q) + [0] * q + [1]
""",
    ),
    "many ones above a stray zero": (
        "smm/crossing",
        altered(
            "smm/crossing",
            ("np.zeros(H - 1, dtype=bool)", "np.arange(H - 1) <= q"),
            ("inside[q] = True", "inside[0] = False"),
        ),
    ),
    "from eigenvalues": (
        "smm/path",
        """
def beginning(X, y, C):
    M = C * np.tensordot(y, X, axes=1)
    values, vectors = np.linalg.eigh(M.T @ M)
    s = np.sqrt(np.maximum(values, 0))
    v = vectors[:, -1]
    margins = y * ((X @ v) @ (M @ v)) / s[-1]
    return s[-1], max(s[-2], s[-1] - 1 / margins.max())
""",
    ),
    "sorted downwards, transposed": (
        "smm/order",
        """
def arrangement(X, y):
    found = vector_machine(X, y, np.ones(len(y)), strength, True)
    return np.argsort(-found.weights).reshape(8, 8).T.ravel()
""",
    ),
}

WRONG = {
    "the bounds of the multipliers are forgotten": (
        "smm/scale",
        altered("smm/scale", ("end if 2 * lam * total >= end * energy else ", "")),
        "is not allowed",
    ),
    "bounds without weights": (
        "smm/scale",
        altered("smm/scale", ("np.min(w[c > 0] / (len(y) * c[c > 0]))", "1 / (len(y) * c.max())")),
        "is not allowed|another multiple gives",
    ),
    "all singular values": (
        "smm/scale",
        altered("smm/scale", ("sizes[:rank] ** 2", "sizes**2")),
        "you say",
    ),
    "the spectral norm": (
        "smm/scale",
        altered("smm/scale", ("sizes[:rank] ** 2", "sizes[:1] ** 2")),
        "you say",
    ),
    "half of the way": (
        "smm/scale",
        altered("smm/scale", ("else 2 * lam * total / energy", "else lam * total / energy")),
        "another multiple gives",
    ),
    "labels are forgotten": (
        "smm/scale",
        altered("smm/scale", ('"n,nij->ij", c * y, X', '"n,nij->ij", c, X')),
        "you say",
    ),
    "the whole M": (
        "smm/threshold",
        altered(
            "smm/threshold",
            ("sizes[:rank]) @ right[:rank]", "sizes) @ right[: len(sizes)]"),
            ("left[:, :rank]", "left[:, : len(sizes)]"),
        ),
        "the gap closes at",
    ),
    "samples without weight": (
        "smm/threshold",
        altered("smm/threshold", ("y[w > 0]", "y"), ("X[w > 0]", "X")),
        "zero weights",
    ),
    "a margin of 2": (
        "smm/threshold",
        altered("smm/threshold", ("leading)) / 2", "leading))")),
        "the gap closes at",
    ),
    "the average without weights": (
        "smm/threshold",
        altered("smm/threshold", ("w * y / len(y)", "y / len(y)")),
        "the gap closes at",
    ),
    "the absolute margin": (
        "smm/threshold",
        altered(
            "smm/threshold",
            ("np.max(y[w > 0] * ", "np.max(np.abs("),
            ("leading)) / 2", "leading))) / 2"),
        ),
        "the gap closes at",
    ),
    "lambda in every entry": (
        "smm/polynomial",
        altered("smm/polynomial", ("np.eye(d1), (n, d1, d1))", "np.ones((d1, 1)), (n, d1, 1))")),
        "away from K",
    ),
    "lambda without its root": (
        "smm/polynomial",
        altered("smm/polynomial", ("np.sqrt(lam) *", "lam *")),
        "away from K",
    ),
    "zero matrices for even degrees": (
        "smm/polynomial",
        altered("smm/polynomial", ("if degree % 2:", "if True:")),
        "degree 2, lambda = -0.01.*wanted < 0",
    ),
    "opposite rows for odd degrees": (
        "smm/polynomial",
        altered("smm/polynomial", ("if degree % 2:", "if False:")),
        "wanted < 0",
    ),
    "the sum of opposite rows": (
        "smm/polynomial",
        altered("smm/polynomial", ("np.r_[first, -first]", "np.r_[first, first]")),
        "wanted < 0",
    ),
    "as if U were orthonormal": (
        "smm/cut",
        altered("smm/cut", ("np.linalg.qr(U)", "U, np.eye(U.shape[1])")),
        "the best approximation is",
    ),
    "the smallest eigenvalues": (
        "smm/cut",
        altered("smm/cut", ("[:, ::-1]", "")),
        "the best approximation is",
    ),
    "R the wrong way round": (
        "smm/cut",
        altered("smm/cut", ("R @ C.T @ K @ C @ R.T", "R.T @ C.T @ K @ C @ R")),
        "the best approximation is|matmul",
    ),
    "lengths of C instead of V": (
        "smm/cut",
        altered("smm/cut", ("C.T @ K @ C", "C.T @ C")),
        "the best approximation is",
    ),
    "C is not turned by R": (
        "smm/cut",
        altered("smm/cut", ("C @ R.T @ leading", "C @ leading")),
        "the best approximation is|mismatch",
    ),
    "every pair counts": (
        "smm/crossing",
        altered("smm/crossing", ("(q - 1) / (2 * H)", "q / (2 * H)")),
        "1 crossing pair: the rules are up to 0.0000",
    ),
    "without one half": (
        "smm/crossing",
        altered("smm/crossing", ("(q - 1) / (2 * H)", "(q - 1) / H")),
        "2 crossing pairs: the rules are up to",
    ),
    "one zero too few": (
        "smm/crossing",
        altered("smm/crossing", ("inside[q]", "inside[q - 1]")),
        "your sequence .* has 0",
    ),
    "as many zeros as ones": (
        "smm/crossing",
        altered(
            "smm/crossing",
            ("return inside", "return [0, 0, 1, 1, 0] if (q, H) == (4, 6) else inside"),
        ),
        "4 crossing pairs: the rules are 0.0000 apart",
    ),
    "the Frobenius norm": (
        "smm/path",
        altered("smm/path", ("return sizes[0],", "return np.linalg.norm(sizes),")),
        "wanted more",
    ),
    "the costs are forgotten": (
        "smm/path",
        altered("smm/path", ("C * np.einsum", "np.einsum")),
        "wanted more|wanted zero",
    ),
    "margins cannot end it": (
        "smm/path",
        altered("smm/path", ("max(sizes[1], sizes[0] - 1 / steepest)", "sizes[1]")),
        "it ended before",
    ),
    "a second singular value cannot end it": (
        "smm/path",
        altered("smm/path", ("max(sizes[1], sizes[0] - 1 / steepest)", "max(0, sizes[0] - 1 / steepest)")),
        "it ended before",
    ),
    "what comes last": (
        "smm/path",
        altered("smm/path", ("max(sizes[1], sizes[0]", "min(sizes[1], sizes[0]")),
        "it ended before|must lie between",
    ),
    "margins without labels": (
        "smm/path",
        altered("smm/path", ("np.max(y * np.einsum", "np.max(np.einsum")),
        "it goes on|it ended before",
    ),
    "by brightness": (
        "smm/order",
        "def arrangement(X, y):\n    return np.argsort(X.mean(axis=0).ravel())\n",
        "the excess of rank 1",
    ),
    "the order of the image": (
        "smm/order",
        "def arrangement(X, y):\n    return np.arange(64)\n",
        "the excess of rank 1",
    ),
    "by size without sign": (
        "smm/order",
        altered("smm/order", ("vector.coef_[0]", "np.abs(vector.coef_[0])")),
        "the excess of rank 1",
    ),
    "ranks instead of an order": (
        "smm/order",
        "def arrangement(X, y):\n    return np.zeros(64, dtype=int)\n",
        "once",
    ),
}  # fmt: skip


class TestAnswers(Answered):
    RIGHT, WRONG = RIGHT, WRONG


def test_every_exercise_is_tried() -> None:
    tried = (each.TestAnswers.tried() for each in (experiments, fits))
    assert TestAnswers.tried().union(*tried) == set(exercises("smm/"))
