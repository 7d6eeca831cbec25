"""Checks of this room's exercises accept right answers of other kinds and refuse typical wrong ones."""

from __future__ import annotations

import pytest

from marginbook.coursework.exercises import problem_sets

from . import test_exercise_experiments as experiments

EXERCISES = {exercise.id: exercise for exercise in problem_sets()["smm/07_exercises"]}


def answer(id: str, *changes: tuple[str, str]) -> str:
    """Return the solution with parts replaced, each of which it has once."""
    text = EXERCISES[id].solution
    for old, new in changes:
        assert text.count(old) == 1, f"{old!r} is {text.count(old)} times in the solution of {id}"
        text = text.replace(old, new)
    return text


RIGHT = {
    "by the library's own inner solver and a QR factor": (
        "smm/block",
        """
def u_step(X, y, w, V, lam):
    Q, R = np.linalg.qr(V)
    found = vector_machine(X @ Q, y, w, lam, fit_intercept=True)
    return found.weights.reshape(X.shape[1], -1) @ np.linalg.inv(R).T, found.intercept
""",
    ),
    "LIBSVM, with a Cholesky factor": (
        "smm/block",
        """
def u_step(X, y, w, V, lam):
    back = np.linalg.inv(np.linalg.cholesky(V.T @ V))
    machine = SVC(kernel="linear", C=1.0, tol=1e-9)
    machine.fit((X @ V @ back.T).reshape(len(y), -1), y, sample_weight=w / (2 * lam * len(y)))
    return machine.coef_.reshape(X.shape[1], -1) @ back, machine.intercept_[0]
""",
    ),
    "independent rows instead of singular vectors": (
        "smm/one-step",
        """
from scipy.linalg import qr
def fixed(X):
    found = []
    for side, Z in (("U", X.transpose(0, 2, 1)), ("V", X)):
        rows = Z.reshape(-1, Z.shape[2])
        r = np.linalg.matrix_rank(rows)
        found.append((r, side, 5.0 * rows[qr(rows.T, pivoting=True)[2][:r]].T))
    r, side, basis = min(found, key=lambda each: each[0])
    return side, basis
""",
    ),
    "by odds": (
        "smm/probability",
        """
def probability(f, pi, slope):
    odds = pi / (1 - pi) * slope(-f) / slope(f)
    return odds / (1 + odds)
""",
    ),
    "from the machines themselves": (
        "smm/constant",
        """
def printed(n_positive, n, H):
    y = np.where(np.arange(n) < n_positive, 1.0, -1.0)
    outside = 1
    for h in range(1, H):
        w = np.where(y > 0, 1 - h / H, h / H)
        outside += vector_machine(np.zeros((n, 1)), y, w, 1.0, True).intercept <= 0
    return outside / H

def repaired(value, H):
    return (H - round(value * H) + 0.5) / H
""",
    ),
    "middles of a sorted sequence": (
        "smm/uneven",
        """
def estimate(inside, levels):
    ends = np.concatenate([[0], levels, [1]])
    middles = (ends[1:] + ends[:-1]) / 2
    return middles[0] + (inside * np.diff(middles)).sum(axis=1)

def weights(levels):
    ends = np.concatenate([[0], levels, [1]])
    return 10 * np.diff((ends[1:] + ends[:-1]) / 2)
""",
    ),
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
        answer(
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
}  # fmt: skip

WRONG = {
    "the features are not whitened": (
        answer("smm/block", ("(turn / np.sqrt(sizes)) @ turn.T", "np.eye(V.shape[1])")),
        "smm/block",
        "the least objective",
    ),
    "W is returned for U": (
        answer("smm/block", ("W @ whiten", "W")),
        "smm/block",
        "the least objective",
    ),
    "the weights are missing": (
        answer("smm/block", (", sample_weight=w / len(y)", "")),
        "smm/block",
        "the least objective",
    ),
    "the penalty without its factor 2": (
        answer("smm/block", ("1 / (2 * lam)", "1 / lam")),
        "smm/block",
        "the least objective",
    ),
    "the wrong side of a Cholesky factor": (
        answer(
            "smm/block",
            ("(turn / np.sqrt(sizes)) @ turn.T", "np.linalg.inv(np.linalg.cholesky(V.T @ V))"),
        ),
        "smm/block",
        "the least objective",
    ),
    "rows and columns change places": (
        answer(
            "smm/one-step",
            ('("V", X), ("U", X.transpose(0, 2, 1))', '("U", X), ("V", X.transpose(0, 2, 1))'),
        ),
        "smm/one-step",
        "V has 5 rows",
    ),
    "only the rows": (
        answer("smm/one-step", (', ("U", X.transpose(0, 2, 1))', ",")),
        "smm/one-step",
        "columns are enough, so are",
    ),
    "the rows of the mean": (
        answer("smm/one-step", ("turned.reshape(-1, turned.shape[2])", "turned.mean(axis=0)[:2]")),
        "smm/one-step",
        "one step ends at",
    ),
    "both sides of the odds exchanged": (
        answer("smm/probability", ("return negative /", "return positive /")),
        "smm/probability",
        "from which you read",
    ),
    "the level is forgotten": (
        answer("smm/probability", ("(1 - pi) * slope(f), pi * slope(-f)", "slope(f), slope(-f)")),
        "smm/probability",
        "from which you read",
    ),
    "the weights of the two classes exchanged": (
        answer("smm/probability", ("(1 - pi) * slope(f), pi *", "pi * slope(f), (1 - pi) *")),
        "smm/probability",
        "from which you read",
    ),
    "Platt's shape for all losses": (
        "def probability(f, pi, slope):\n    return 1 / (1 + np.exp(-f) * (1 - pi) / pi)\n",
        "smm/probability",
        "squared hinge loss",
    ),
    "the sets instead of their complements": (
        answer("smm/constant", ("(H - inside) / H", "inside / H")),
        "smm/constant",
        "the printed sum is",
    ),
    "one level too many": (
        answer("smm/constant", ("range(1, H)", "range(0, H)")),
        "smm/constant",
        "the printed sum is",
    ),
    "without the half step": (
        answer("smm/constant", ("1 + 1 / (2 * H) - value", "1 - value")),
        "smm/constant",
        "and the count",
    ),
    "the half step downwards": (
        answer("smm/constant", ("1 + 1 / (2 * H)", "1 - 1 / (2 * H)")),
        "smm/constant",
        "and the count",
    ),
    "the widths of the cells below": (
        answer("smm/uneven", ("(edges[2:] - edges[:-2]) / 2", "edges[1:-1] - edges[:-2]")),
        "smm/uneven",
        "nested, the middle is",
    ),
    "without the first half cell": (
        answer("smm/uneven", ("levels[0] / 2 + ", "")),
        "smm/uneven",
        "with 0 sets",
    ),
    "the interval rule": (
        answer("smm/uneven", ("return levels[0] / 2 + inside @ weights(levels)", """
    above = (inside * levels).max(axis=1)
    below = np.where(inside > 0, 1.0, levels).min(axis=1)
    return (above + below) / 2""")),
        "smm/uneven",
        "each by itself",
    ),
    "equal weights of the regression": (
        answer(
            "smm/uneven",
            ("inside @ weights(levels)", "inside @ (np.r_[levels[1:], 1] - np.r_[0, levels[:-1]]) / 2"),
            ("return (edges[2:] - edges[:-2]) / 2", "return np.ones(len(levels))"),
        ),
        "smm/uneven",
        "the regression moves",
    ),
    "the bounds of the multipliers are forgotten": (
        answer("smm/scale", ("end if 2 * lam * total >= end * energy else ", "")),
        "smm/scale",
        "is not allowed",
    ),
    "bounds without weights": (
        answer("smm/scale", ("np.min(w[c > 0] / (len(y) * c[c > 0]))", "1 / (len(y) * c.max())")),
        "smm/scale",
        "is not allowed|another multiple gives",
    ),
    "all singular values": (
        answer("smm/scale", ("sizes[:rank] ** 2", "sizes**2")),
        "smm/scale",
        "you say",
    ),
    "the spectral norm": (
        answer("smm/scale", ("sizes[:rank] ** 2", "sizes[:1] ** 2")),
        "smm/scale",
        "you say",
    ),
    "half of the way": (
        answer("smm/scale", ("else 2 * lam * total / energy", "else lam * total / energy")),
        "smm/scale",
        "another multiple gives",
    ),
    "labels are forgotten": (
        answer("smm/scale", ('"n,nij->ij", c * y, X', '"n,nij->ij", c, X')),
        "smm/scale",
        "you say",
    ),
    "the whole M": (
        answer(
            "smm/threshold",
            ("sizes[:rank]) @ right[:rank]", "sizes) @ right[: len(sizes)]"),
            ("left[:, :rank]", "left[:, : len(sizes)]"),
        ),
        "smm/threshold",
        "the gap closes at",
    ),
    "samples without weight": (
        answer("smm/threshold", ("y[w > 0]", "y"), ("X[w > 0]", "X")),
        "smm/threshold",
        "zero weights",
    ),
    "a margin of 2": (
        answer("smm/threshold", ("leading)) / 2", "leading))")),
        "smm/threshold",
        "the gap closes at",
    ),
    "the average without weights": (
        answer("smm/threshold", ("w * y / len(y)", "y / len(y)")),
        "smm/threshold",
        "the gap closes at",
    ),
    "the absolute margin": (
        answer(
            "smm/threshold",
            ("np.max(y[w > 0] * ", "np.max(np.abs("),
            ("leading)) / 2", "leading))) / 2"),
        ),
        "smm/threshold",
        "the gap closes at",
    ),
    "lambda in every entry": (
        answer("smm/polynomial", ("np.eye(d1), (n, d1, d1))", "np.ones((d1, 1)), (n, d1, 1))")),
        "smm/polynomial",
        "away from K",
    ),
    "lambda without its root": (
        answer("smm/polynomial", ("np.sqrt(lam) *", "lam *")),
        "smm/polynomial",
        "away from K",
    ),
    "zero matrices for even degrees": (
        answer("smm/polynomial", ("if degree % 2:", "if True:")),
        "smm/polynomial",
        "degree 2, lambda = -0.01.*wanted < 0",
    ),
    "opposite rows for odd degrees": (
        answer("smm/polynomial", ("if degree % 2:", "if False:")),
        "smm/polynomial",
        "wanted < 0",
    ),
    "the sum of opposite rows": (
        answer("smm/polynomial", ("np.r_[first, -first]", "np.r_[first, first]")),
        "smm/polynomial",
        "wanted < 0",
    ),
    "as if U were orthonormal": (
        answer("smm/cut", ("np.linalg.qr(U)", "U, np.eye(U.shape[1])")),
        "smm/cut",
        "the best approximation is",
    ),
    "the smallest eigenvalues": (
        answer("smm/cut", ("[:, ::-1]", "")),
        "smm/cut",
        "the best approximation is",
    ),
    "R the wrong way round": (
        answer("smm/cut", ("R @ C.T @ K @ C @ R.T", "R.T @ C.T @ K @ C @ R")),
        "smm/cut",
        "the best approximation is|matmul",
    ),
    "lengths of C instead of V": (
        answer("smm/cut", ("C.T @ K @ C", "C.T @ C")),
        "smm/cut",
        "the best approximation is",
    ),
    "C is not turned by R": (
        answer("smm/cut", ("C @ R.T @ leading", "C @ leading")),
        "smm/cut",
        "the best approximation is|mismatch",
    ),
    "every pair counts": (
        answer("smm/crossing", ("(q - 1) / (2 * H)", "q / (2 * H)")),
        "smm/crossing",
        "1 crossing pair: the rules are up to 0.0000",
    ),
    "without one half": (
        answer("smm/crossing", ("(q - 1) / (2 * H)", "(q - 1) / H")),
        "smm/crossing",
        "2 crossing pairs: the rules are up to",
    ),
    "one zero too few": (
        answer("smm/crossing", ("inside[q]", "inside[q - 1]")),
        "smm/crossing",
        "your sequence .* has 0",
    ),
    "as many zeros as ones": (
        answer(
            "smm/crossing",
            ("return inside", "return [0, 0, 1, 1, 0] if (q, H) == (4, 6) else inside"),
        ),
        "smm/crossing",
        "4 crossing pairs: the rules are 0.0000 apart",
    ),
    "the Frobenius norm": (
        answer("smm/path", ("return sizes[0],", "return np.linalg.norm(sizes),")),
        "smm/path",
        "wanted more",
    ),
    "the costs are forgotten": (
        answer("smm/path", ("C * np.einsum", "np.einsum")),
        "smm/path",
        "wanted more|wanted zero",
    ),
    "margins cannot end it": (
        answer("smm/path", ("max(sizes[1], sizes[0] - 1 / steepest)", "sizes[1]")),
        "smm/path",
        "it ended before",
    ),
    "a second singular value cannot end it": (
        answer("smm/path", ("max(sizes[1], sizes[0] - 1 / steepest)", "max(0, sizes[0] - 1 / steepest)")),
        "smm/path",
        "it ended before",
    ),
    "what comes last": (
        answer("smm/path", ("max(sizes[1], sizes[0]", "min(sizes[1], sizes[0]")),
        "smm/path",
        "it ended before|must lie between",
    ),
    "margins without labels": (
        answer("smm/path", ("np.max(y * np.einsum", "np.max(np.einsum")),
        "smm/path",
        "it goes on|it ended before",
    ),
    "by brightness": (
        "def arrangement(X, y):\n    return np.argsort(X.mean(axis=0).ravel())\n",
        "smm/order",
        "the excess of rank 1",
    ),
    "the order of the image": (
        "def arrangement(X, y):\n    return np.arange(64)\n",
        "smm/order",
        "the excess of rank 1",
    ),
    "by size without sign": (
        answer("smm/order", ("vector.coef_[0]", "np.abs(vector.coef_[0])")),
        "smm/order",
        "the excess of rank 1",
    ),
    "ranks instead of an order": (
        "def arrangement(X, y):\n    return np.zeros(64, dtype=int)\n",
        "smm/order",
        "once",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", RIGHT)
def test_another_right_answer_is_accepted(kind: str) -> None:
    id, text = RIGHT[kind]
    assert EXERCISES[id].attempt(text).startswith("right")


@pytest.mark.parametrize("kind", WRONG)
def test_a_typical_wrong_answer_is_refused_and_told_why(kind: str) -> None:
    text, id, reason = WRONG[kind]
    with pytest.raises(AssertionError, match=reason):
        EXERCISES[id].attempt(text)


def test_every_exercise_is_tried_with_right_and_wrong_answers() -> None:
    tried = {id for id, _ in RIGHT.values()}
    assert tried == {id for _, id, _ in WRONG.values()}
    assert tried | set(experiments.RIGHT) == set(EXERCISES)
