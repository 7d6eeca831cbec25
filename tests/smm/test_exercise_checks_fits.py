"""Answers to the exercises on steps and probabilities: other right ones pass, typical wrong ones do not."""

from __future__ import annotations

from ..answered import Answered, altered

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
}

WRONG = {
    "the features are not whitened": (
        "smm/block",
        altered("smm/block", ("(turn / np.sqrt(sizes)) @ turn.T", "np.eye(V.shape[1])")),
        "the least objective",
    ),
    "W is returned for U": (
        "smm/block",
        altered("smm/block", ("W @ whiten", "W")),
        "the least objective",
    ),
    "the weights are missing": (
        "smm/block",
        altered("smm/block", (", sample_weight=w / len(y)", "")),
        "the least objective",
    ),
    "the penalty without its factor 2": (
        "smm/block",
        altered("smm/block", ("1 / (2 * lam)", "1 / lam")),
        "the least objective",
    ),
    "the wrong side of a Cholesky factor": (
        "smm/block",
        altered(
            "smm/block",
            ("(turn / np.sqrt(sizes)) @ turn.T", "np.linalg.inv(np.linalg.cholesky(V.T @ V))"),
        ),
        "the least objective",
    ),
    "rows and columns change places": (
        "smm/one-step",
        altered(
            "smm/one-step",
            ('("V", X), ("U", X.transpose(0, 2, 1))', '("U", X), ("V", X.transpose(0, 2, 1))'),
        ),
        "V has 5 rows",
    ),
    "only the rows": (
        "smm/one-step",
        altered("smm/one-step", (', ("U", X.transpose(0, 2, 1))', ",")),
        "columns are enough, so are",
    ),
    "the rows of the mean": (
        "smm/one-step",
        altered("smm/one-step", ("turned.reshape(-1, turned.shape[2])", "turned.mean(axis=0)[:2]")),
        "one step ends at",
    ),
    "both sides of the odds exchanged": (
        "smm/probability",
        altered("smm/probability", ("return negative /", "return positive /")),
        "from which you read",
    ),
    "the level is forgotten": (
        "smm/probability",
        altered("smm/probability", ("(1 - pi) * slope(f), pi * slope(-f)", "slope(f), slope(-f)")),
        "from which you read",
    ),
    "the weights of the two classes exchanged": (
        "smm/probability",
        altered("smm/probability", ("(1 - pi) * slope(f), pi *", "pi * slope(f), (1 - pi) *")),
        "from which you read",
    ),
    "Platt's shape for all losses": (
        "smm/probability",
        "def probability(f, pi, slope):\n    return 1 / (1 + np.exp(-f) * (1 - pi) / pi)\n",
        "squared hinge loss",
    ),
    "the sets instead of their complements": (
        "smm/constant",
        altered("smm/constant", ("(H - inside) / H", "inside / H")),
        "the printed sum is",
    ),
    "one level too many": (
        "smm/constant",
        altered("smm/constant", ("range(1, H)", "range(0, H)")),
        "the printed sum is",
    ),
    "without the half step": (
        "smm/constant",
        altered("smm/constant", ("1 + 1 / (2 * H) - value", "1 - value")),
        "and the count",
    ),
    "the half step downwards": (
        "smm/constant",
        altered("smm/constant", ("1 + 1 / (2 * H)", "1 - 1 / (2 * H)")),
        "and the count",
    ),
    "the widths of the cells below": (
        "smm/uneven",
        altered("smm/uneven", ("(edges[2:] - edges[:-2]) / 2", "edges[1:-1] - edges[:-2]")),
        "nested, the middle is",
    ),
    "without the first half cell": (
        "smm/uneven",
        altered("smm/uneven", ("levels[0] / 2 + ", "")),
        "with 0 sets",
    ),
    "the interval rule": (
        "smm/uneven",
        altered("smm/uneven", ("return levels[0] / 2 + inside @ weights(levels)", """
    above = (inside * levels).max(axis=1)
    below = np.where(inside > 0, 1.0, levels).min(axis=1)
    return (above + below) / 2""")),
        "each by itself",
    ),
    "equal weights of the regression": (
        "smm/uneven",
        altered(
            "smm/uneven",
            ("inside @ weights(levels)", "inside @ (np.r_[levels[1:], 1] - np.r_[0, levels[:-1]]) / 2"),
            ("return (edges[2:] - edges[:-2]) / 2", "return np.ones(len(levels))"),
        ),
        "the regression moves",
    ),
}  # fmt: skip


class TestAnswers(Answered):
    RIGHT, WRONG = RIGHT, WRONG
