"""Checks of this room's exercises accept right answers of other kinds and refuse typical wrong ones."""

from __future__ import annotations

from ..answered import Answered, altered, exercises
from . import test_exercise_experiments as experiments

RIGHT = {
    "by logarithms": (
        "clasmk/degree",
        """
def normalised(X, Z, degree):
    inner = 1.0 + X @ Z.T
    lengths = np.add.outer(*(np.log1p((rows**2).sum(axis=1)) for rows in (X, Z)))
    with np.errstate(divide="ignore"):
        found = np.exp(degree * (np.log(np.abs(inner)) - lengths / 2))
    return np.where(inner < 0, (-1.0) ** degree, 1.0) * found

def width(degree, radius):
    return 0.5 * degree / (1 + radius**2)
""",
    ),
    "another first sample and a basis turned": (
        "clasmk/embedding",
        """
def greedy(column, n, tol):
    B, columns, left = [], [], np.ones(n)
    while not B or left.max() > tol:
        B.append(n - 1 if not B else int(np.argmax(left)))
        columns.append(column(B[-1]))
        K = np.array(columns)
        values, vectors = np.linalg.eigh(K[:, B])
        L = K.T @ vectors / np.sqrt(values)
        left = 1 - (L**2).sum(axis=1)
    return B, L
""",
    ),
    "noise on both coordinates, means of either sign": (
        "clasmk/negative",
        """
def possible(C, lam, noise):
    return noise < 1 - 1 / (C * lam - lam + 1)

def samples(C, lam, noise):
    both = list(product(product((-1, 1), repeat=C), repeat=2))
    energy = (1 - noise) * (np.eye(C) + lam * (1 - np.eye(C)))
    draws = np.zeros((len(both), C, C, 3))
    draws[..., 0] = -np.sqrt(energy)
    for k, share in enumerate((0.36, 0.64)):
        signs = np.array([pair[k] for pair in both])
        draws[..., 1 + k] = signs[:, None, :] * np.sqrt(share * (1 - energy))
    return draws
""",
    ),
    "the zero of a concave function by bisection": (
        "clasmk/choice",
        """
def choose(n, d):
    classes = np.arange(len(n))
    low, high = 0.0, n.sum() / d.max() + 1.0
    for _ in range(200):
        middle = (low + high) / 2
        below = (n - middle * d).min(axis=1).sum() < 0
        low, high = (low, middle) if below else (middle, high)
    return np.argmin(n - high * d, axis=1)
""",
    ),
    "three kernels": (
        "clasmk/mediants",
        """
def terms(q):
    d = np.full((len(q), 3), 1e-9)
    d[np.argmax(q), :] = 1e-4
    d[np.argmin(q), 2] = 1.0
    n = q[:, None] * d * [1.0, 1.5, 1.0]
    n[np.argmin(q), 2] *= 1.0001
    top = max(1.0, n.max())
    return n / top, d / top
""",
    ),
    "two widths": ("clasmk/overlap", "def gammas():\n    return (2, 50)\n"),
    "the best vertex of all": (
        "clasmk/vertex",
        """
from marginbook.clasmk.solvers.kernel_choice import choose_exact
def to_vertex(nu, n, d):
    return choose_exact(n, d).kernels
""",
    ),
    "from the general solver": (
        "clasmk/copies",
        """
def weights(n, d, m):
    value = n.sum() / d.sum()
    for _ in range(50):
        t = np.where(n < value * d, m, 1)
        value = (n * t).sum() / (d * t).sum()
    found = np.zeros((len(n), m))
    found[t == 1, -1] = 1.0
    found[t == m] = 1 / m
    return found
""",
    ),
    "by enumeration and by singular values": (
        "clasmk/signs",
        altered(
            "clasmk/signs",
            ('np.linalg.norm(M, "nuc")', "np.linalg.svd(M)[1].sum()"),
            ("np.abs(np.diag(M)).sum()", "max(np.diag(M) @ s for s in product((-1, 1), repeat=len(M)))"),
        ),
    ),
    "trained again": (
        "clasmk/folds",
        """
def left_out(inverse, y, fold):
    H = np.linalg.inv(inverse)
    rows = np.asarray(fold) + 1
    kept = np.setdiff1d(np.arange(len(H)), rows)
    return H[np.ix_(rows, kept)] @ np.linalg.solve(H[np.ix_(kept, kept)], np.r_[0.0, y][kept])
""",
    ),
    "row by row": (
        "clasmk/marginal",
        """
def marginal(xi, codes, T):
    printed, signed = [], []
    for row, c in zip(xi, codes):
        low, high = np.partition(row, -2)[-2:]
        printed.append((high - low) / 2 <= T)
        signed.append((row[c] - max(np.delete(row, c))) / 2 <= T)
    return printed, signed
""",
    ),
    "the best known bounds": (
        "clasmk/gap",
        """
from marginbook.clasmk.solvers.mkl import learn_weights
def bounds(kernels, y, C, weights):
    found = learn_weights(kernels, y[:, None], C, tol=1e-6)
    return found.lower_bound, found.machines.value
""",
    ),
}

WRONG = {
    "the sign of odd degrees is lost": (
        "clasmk/degree",
        altered("clasmk/degree", ("return ((1.0 + X @ Z.T)", "return (np.abs(1.0 + X @ Z.T)")),
        "a value is -",
    ),
    "a factor 2 in the width": (
        "clasmk/degree",
        altered("clasmk/degree", ("(2 * (1 + radius**2))", "(1 + radius**2)")),
        "gamma is",
    ),
    "the length of the rows is forgotten": (
        "clasmk/degree",
        altered("clasmk/degree", ("(2 * (1 + radius**2))", "2")),
        "gamma is",
    ),
    "the nearest sample comes next": (
        "clasmk/embedding",
        altered("clasmk/embedding", ("int(np.argmax(residual))", "int(np.flatnonzero(residual > tol)[0])")),
        "another one",
    ),
    "distances instead of squared distances": (
        "clasmk/embedding",
        altered("clasmk/embedding", ("residual.max() > tol", "residual.max() > tol**2")),
        "and is chosen",
    ),
    "all columns are looked at": (
        "clasmk/embedding",
        altered("clasmk/embedding", ("np.empty((n, 0))", "np.stack([column(i) for i in range(n)])[:, :0]")),
        "looked at",
    ),
    "the direction has not length 1": (
        "clasmk/embedding",
        altered("clasmk/embedding", (" / np.sqrt(residual[j])", "")),
        "another one",
    ),
    "noise of the paper in all blocks": (
        "clasmk/negative",
        altered("clasmk/negative", ("np.where(np.eye(C, dtype=bool), 1.0, lam)", "np.ones((C, C))")),
        r"quotient \(24\)",
    ),
    "one sign for all blocks": (
        "clasmk/negative",
        altered("clasmk/negative", ("signs[:, None, :] *", "signs[:, :1, None] *")),
        "covariance",
    ),
    "noise with a mean": (
        "clasmk/negative",
        altered("clasmk/negative", ("signs[:, None, :] *", "np.abs(signs[:, None, :]) *")),
        "the noise has a mean",
    ),
    "the condition without C - 1": (
        "clasmk/negative",
        altered("clasmk/negative", ("(1 + (C - 1) * lam)", "(1 + lam)")),
        "possible is",
    ),
    "a single pass": (
        "clasmk/choice",
        altered("clasmk/choice", ("        best = candidate", "        return candidate")),
        "of all choices",
    ),
    "one kernel for all": (
        "clasmk/choice",
        "def choose(n, d):\n    with np.errstate(all='ignore'):\n"
        "        return np.full(len(n), np.nanargmin(n.sum(axis=0) / d.sum(axis=0)))\n",
        "of all choices",
    ),
    "one pass from the sum over all kernels": (
        "clasmk/choice",
        "def choose(n, d):\n    return np.argmin(n - d * n.sum() / d.sum(), axis=1)\n",
        "of all choices",
    ),
    "the second kernel is as large as the others": (
        "clasmk/mediants",
        altered("clasmk/mediants", ("d[low, 1] = 1.0", "d[low, 1] = d[low, 0]")),
        r"\(27\) loses",
    ),
    "the second kernel is the better one": (
        "clasmk/mediants",
        altered("clasmk/mediants", ("*= 1 + 1e-6", "*= 1 - 1e-6")),
        "best quotients",
    ),
    "out of range": (
        "clasmk/mediants",
        altered("clasmk/mediants", ("d[low, 1] = 1.0", "d[low, 1] = 2.0")),
        r"wanted in \(0, 1\]",
    ),
    "widths that represent all classes": (
        "clasmk/overlap",
        "def gammas():\n    return [0.001, 0.01, 0.1]\n",
        "times",
    ),
    "too many widths": (
        "clasmk/overlap",
        "def gammas():\n    return np.geomspace(1e-3, 100, 12)\n",
        "at most five",
    ),
    "every class by its own quotient": (
        "clasmk/vertex",
        "def to_vertex(nu, n, d):\n    return np.argmin(n / d, axis=1)\n",
        "F was",
    ),
    "the largest energy": (
        "clasmk/vertex",
        "def to_vertex(nu, n, d):\n    return np.argmin(n, axis=1)\n",
        "F was",
    ),
    "the difficult classes are turned up": (
        "clasmk/copies",
        altered("clasmk/copies", ("np.argsort(n / d)", "np.argsort(-n / d)")),
        "the minimum is",
    ),
    "only the easiest class is turned up": (
        "clasmk/copies",
        altered("clasmk/copies", ("range(len(n) + 1)", "range(2)")),
        "the minimum is",
    ),
    "weights that do not sum to 1": (
        "clasmk/copies",
        altered("clasmk/copies", ("1 / m,", "1.0,")),
        "sum to 1",
    ),
    "one sign for all columns": (
        "clasmk/signs",
        altered("clasmk/signs", ("np.abs(np.diag(M)).sum()", "np.abs(np.trace(M))")),
        "of all signs",
    ),
    "the Frobenius norm": (
        "clasmk/signs",
        altered("clasmk/signs", ('np.linalg.norm(M, "nuc")', "np.linalg.norm(M)")),
        "of all bases",
    ),
    "one of the two cross products": (
        "clasmk/signs",
        altered("clasmk/signs", (" + np.outer(a[1], b[0])", "")),
        "of all signs",
    ),
    "the eigenvalues of a matrix that is not symmetric": (
        "clasmk/signs",
        altered("clasmk/signs", ('np.linalg.norm(M, "nuc")', "np.abs(np.linalg.eigvals(M)).sum()")),
        "of all bases",
    ),
    "the bias is forgotten": (
        "clasmk/folds",
        """
def left_out(inverse, y, fold):
    G = np.linalg.inv(np.linalg.inv(inverse)[1:, 1:])
    return y[fold] - np.linalg.solve(G[np.ix_(fold, fold)], (G @ y)[fold])
""",
        "from the machine",
    ),
    "the residual instead of the prediction": (
        "clasmk/folds",
        altered("clasmk/folds", ("return y[fold] - ", "return ")),
        "from the machine",
    ),
    "the own class among the others": (
        "clasmk/marginal",
        altered("clasmk/marginal", ("np.where(mine, -np.inf, xi).max", "xi.max")),
        "the signed kappa",
    ),
    "without one half": (
        "clasmk/marginal",
        altered("clasmk/marginal", ("ordered[:, -2]) / 2", "ordered[:, -2])")),
        r"by \(44\)",
    ),
    "the absolute value": (
        "clasmk/marginal",
        altered("clasmk/marginal", ("signed = (xi[mine]", "signed = np.abs(xi[mine]")),
        "the signed kappa",
    ),
    "the decision values are overwritten": (
        "clasmk/marginal",
        altered("clasmk/marginal", ("    mine = ", "    xi -= 1.0\n    mine = ")),
        "have been changed",
    ),
    "the smallest energy": (
        "clasmk/gap",
        altered("clasmk/gap", ("energies.max()", "energies.min()")),
        "there are weights with",
    ),
    "without one half of the energies": (
        "clasmk/gap",
        altered("clasmk/gap", ("energies.max() / 2", "energies.max()")),
        "one machine proves",
    ),
    "the average kernel's value for all weights": (
        "clasmk/gap",
        altered("clasmk/gap", ("weights @ energies / 2", "energies.min() / 2")),
        "your upper bound",
    ),
}  # fmt: skip


class TestAnswers(Answered):
    RIGHT, WRONG = RIGHT, WRONG


def test_every_exercise_is_tried() -> None:
    assert TestAnswers.tried() | experiments.TestAnswers.tried() == set(exercises("clasmk/"))
