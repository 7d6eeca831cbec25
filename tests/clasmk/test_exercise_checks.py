"""Checks of this room's exercises accept right answers of other kinds and refuse typical wrong ones."""

from __future__ import annotations

import pytest

from marginbook.coursework.exercises import problem_sets

from . import test_exercise_experiments as experiments

EXERCISES = {exercise.id: exercise for exercise in problem_sets()["clasmk/08_exercises"]}


def answer(id: str, *changes: tuple[str, str]) -> str:
    """Return the solution with parts replaced, each of which it has once."""
    text = EXERCISES[id].solution
    for old, new in changes:
        assert text.count(old) == 1, f"{old!r} is {text.count(old)} times in the solution of {id}"
        text = text.replace(old, new)
    return text


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
        answer(
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
        answer("clasmk/degree", ("return ((1.0 + X @ Z.T)", "return (np.abs(1.0 + X @ Z.T)")),
        "clasmk/degree",
        "a value is -",
    ),
    "a factor 2 in the width": (
        answer("clasmk/degree", ("(2 * (1 + radius**2))", "(1 + radius**2)")),
        "clasmk/degree",
        "gamma is",
    ),
    "the length of the rows is forgotten": (
        answer("clasmk/degree", ("(2 * (1 + radius**2))", "2")),
        "clasmk/degree",
        "gamma is",
    ),
    "the nearest sample comes next": (
        answer("clasmk/embedding", ("int(np.argmax(residual))", "int(np.flatnonzero(residual > tol)[0])")),
        "clasmk/embedding",
        "another one",
    ),
    "distances instead of squared distances": (
        answer("clasmk/embedding", ("residual.max() > tol", "residual.max() > tol**2")),
        "clasmk/embedding",
        "and is chosen",
    ),
    "all columns are looked at": (
        answer("clasmk/embedding", ("np.empty((n, 0))", "np.stack([column(i) for i in range(n)])[:, :0]")),
        "clasmk/embedding",
        "looked at",
    ),
    "the direction has not length 1": (
        answer("clasmk/embedding", (" / np.sqrt(residual[j])", "")),
        "clasmk/embedding",
        "another one",
    ),
    "noise of the paper in all blocks": (
        answer("clasmk/negative", ("np.where(np.eye(C, dtype=bool), 1.0, lam)", "np.ones((C, C))")),
        "clasmk/negative",
        r"quotient \(24\)",
    ),
    "one sign for all blocks": (
        answer("clasmk/negative", ("signs[:, None, :] *", "signs[:, :1, None] *")),
        "clasmk/negative",
        "covariance",
    ),
    "noise with a mean": (
        answer("clasmk/negative", ("signs[:, None, :] *", "np.abs(signs[:, None, :]) *")),
        "clasmk/negative",
        "the noise has a mean",
    ),
    "the condition without C - 1": (
        answer("clasmk/negative", ("(1 + (C - 1) * lam)", "(1 + lam)")),
        "clasmk/negative",
        "possible is",
    ),
    "a single pass": (
        answer("clasmk/choice", ("        best = candidate", "        return candidate")),
        "clasmk/choice",
        "of all choices",
    ),
    "one kernel for all": (
        "def choose(n, d):\n    with np.errstate(all='ignore'):\n"
        "        return np.full(len(n), np.nanargmin(n.sum(axis=0) / d.sum(axis=0)))\n",
        "clasmk/choice",
        "of all choices",
    ),
    "one pass from the sum over all kernels": (
        "def choose(n, d):\n    return np.argmin(n - d * n.sum() / d.sum(), axis=1)\n",
        "clasmk/choice",
        "of all choices",
    ),
    "the second kernel is as large as the others": (
        answer("clasmk/mediants", ("d[low, 1] = 1.0", "d[low, 1] = d[low, 0]")),
        "clasmk/mediants",
        r"\(27\) loses",
    ),
    "the second kernel is the better one": (
        answer("clasmk/mediants", ("*= 1 + 1e-6", "*= 1 - 1e-6")),
        "clasmk/mediants",
        "best quotients",
    ),
    "out of range": (
        answer("clasmk/mediants", ("d[low, 1] = 1.0", "d[low, 1] = 2.0")),
        "clasmk/mediants",
        r"wanted in \(0, 1\]",
    ),
    "widths that represent all classes": (
        "def gammas():\n    return [0.001, 0.01, 0.1]\n",
        "clasmk/overlap",
        "times",
    ),
    "too many widths": (
        "def gammas():\n    return np.geomspace(1e-3, 100, 12)\n",
        "clasmk/overlap",
        "at most five",
    ),
    "every class by its own quotient": (
        "def to_vertex(nu, n, d):\n    return np.argmin(n / d, axis=1)\n",
        "clasmk/vertex",
        "F was",
    ),
    "the largest energy": (
        "def to_vertex(nu, n, d):\n    return np.argmin(n, axis=1)\n",
        "clasmk/vertex",
        "F was",
    ),
    "the difficult classes are turned up": (
        answer("clasmk/copies", ("np.argsort(n / d)", "np.argsort(-n / d)")),
        "clasmk/copies",
        "the minimum is",
    ),
    "only the easiest class is turned up": (
        answer("clasmk/copies", ("range(len(n) + 1)", "range(2)")),
        "clasmk/copies",
        "the minimum is",
    ),
    "weights that do not sum to 1": (
        answer("clasmk/copies", ("1 / m,", "1.0,")),
        "clasmk/copies",
        "sum to 1",
    ),
    "one sign for all columns": (
        answer("clasmk/signs", ("np.abs(np.diag(M)).sum()", "np.abs(np.trace(M))")),
        "clasmk/signs",
        "of all signs",
    ),
    "the Frobenius norm": (
        answer("clasmk/signs", ('np.linalg.norm(M, "nuc")', "np.linalg.norm(M)")),
        "clasmk/signs",
        "of all bases",
    ),
    "one of the two cross products": (
        answer("clasmk/signs", (" + np.outer(a[1], b[0])", "")),
        "clasmk/signs",
        "of all signs",
    ),
    "the eigenvalues of a matrix that is not symmetric": (
        answer("clasmk/signs", ('np.linalg.norm(M, "nuc")', "np.abs(np.linalg.eigvals(M)).sum()")),
        "clasmk/signs",
        "of all bases",
    ),
    "the bias is forgotten": (
        """
def left_out(inverse, y, fold):
    G = np.linalg.inv(np.linalg.inv(inverse)[1:, 1:])
    return y[fold] - np.linalg.solve(G[np.ix_(fold, fold)], (G @ y)[fold])
""",
        "clasmk/folds",
        "from the machine",
    ),
    "the residual instead of the prediction": (
        answer("clasmk/folds", ("return y[fold] - ", "return ")),
        "clasmk/folds",
        "from the machine",
    ),
    "the own class among the others": (
        answer("clasmk/marginal", ("np.where(mine, -np.inf, xi).max", "xi.max")),
        "clasmk/marginal",
        "the signed kappa",
    ),
    "without one half": (
        answer("clasmk/marginal", ("ordered[:, -2]) / 2", "ordered[:, -2])")),
        "clasmk/marginal",
        r"by \(44\)",
    ),
    "the absolute value": (
        answer("clasmk/marginal", ("signed = (xi[mine]", "signed = np.abs(xi[mine]")),
        "clasmk/marginal",
        "the signed kappa",
    ),
    "the decision values are overwritten": (
        answer("clasmk/marginal", ("    mine = ", "    xi -= 1.0\n    mine = ")),
        "clasmk/marginal",
        "have been changed",
    ),
    "the smallest energy": (
        answer("clasmk/gap", ("energies.max()", "energies.min()")),
        "clasmk/gap",
        "there are weights with",
    ),
    "without one half of the energies": (
        answer("clasmk/gap", ("energies.max() / 2", "energies.max()")),
        "clasmk/gap",
        "one machine proves",
    ),
    "the average kernel's value for all weights": (
        answer("clasmk/gap", ("weights @ energies / 2", "energies.min() / 2")),
        "clasmk/gap",
        "your upper bound",
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
