"""Checks of the kFDA exercises to do: right answers pass, wrong ones are told why not."""

from __future__ import annotations

from ..answered import Answered, altered

RIGHT = {
    # (7) with an inverse, in a loop that looks back
    "kfda/cut": """
def iterate(problem, omega, q, rho, tol=1e-5, max_iter=10_000):
    old = None
    for _ in range(max_iter):
        J = objective(problem, omega, q, rho)
        if old is not None and abs(old - J) / old < tol:
            return omega
        old, size = J, np.abs(omega) ** (2 - q)
        omega = size * np.linalg.solve(
            problem.gram * size + rho * q * problem.n * np.eye(len(size)), problem.correlations
        )
    return omega

def kept(omega, cut):
    shares = np.abs(omega) / max(abs(entry) for entry in omega)
    return sum(share > cut for share in shares[1:])
""",
    # starts at the minima of smaller patterns, one coefficient more
    "kfda/collect": """
from itertools import combinations
def collection():
    rng, ends = np.random.default_rng(3), []
    for size in range(7):
        for places in combinations(range(6), size):
            for trial in range(6):
                start = np.zeros(6)
                start[list(places)] = rng.uniform(0.5, 6, size) * rng.choice([-1, 1], size)
                ends.append(descend(start))
    return np.array(ends)
""",
    # random starts until one is bad
    "kfda/ridge": """
def start():
    rng = np.random.default_rng(5)
    while True:
        one = rng.choice([-1, 1], 6) * rng.uniform(0.02, 3, 6)
        if excess(run(one)[1]) > 0.012:
            return one
""",
    # a start by search is not exact: the same equation, solved for the other scale
    "kfda/unlucky": """
def step(A, c, omega, lam):
    n = len(c)
    M = A * np.array([abs(o) for o in omega], dtype=object)
    M = np.array([[M[i, j] + lam * (i == j) for j in range(n)] for i in range(n)], dtype=object)
    return np.array([abs(o) * x for o, x in zip(omega, solve_exactly(M, c))], dtype=object)

def unlucky(A, c, lam):
    return rationals([-lam * c[1] / (A[0, 1] * c[0] - A[0, 0] * c[1]), Fraction(-7, 3)])
""",
}
WRONG = {
    "the penalty without q": ("kfda/cut", altered("kfda/cut", ("rho * N * q", "rho * N")), "no iterate"),
    "the penalty without N": ("kfda/cut", altered("kfda/cut", ("rho * N * q", "rho * q")), "no iterate"),
    "the square of psi": ("kfda/cut", altered("kfda/cut", ("(1 - q / 2)", "(2 - q)")), "no iterate"),
    "it never stops": (
        "kfda/cut",
        altered("kfda/cut", ("< tol * before", "< 0 * before")),
        "it stops after|no iterate",
    ),
    "a cut that is not relative": (
        "kfda/cut",
        altered("kfda/cut", (" * np.abs(omega).max()", "")),
        "the cut",
    ),
    "the bias counts": ("kfda/cut", altered("kfda/cut", ("omega[1:]", "omega")), "the cut"),
    "random starts only": (
        "kfda/collect",
        altered("kfda/collect", ("* pattern)", "* 1.0)")),
        "are in your collection",
    ),
    "no descent": (
        "kfda/collect",
        altered(
            "kfda/collect", ("descend(3 * rng.normal(size=6) * pattern)", "rng.normal(size=6) * pattern")
        ),
        "away from every local",
    ),
    "a random start": (
        "kfda/ridge",
        altered("kfda/ridge", ("return middle", "return candidates[0]"), ("> 0.015", "> -1")),
        "wanted 1 %",
    ),
    "tiny coefficients": (
        "kfda/ridge",
        altered("kfda/ridge", ("return middle", "return 1e-3 * middle")),
        "the sizes are from",
    ),
    "nearly unlucky": (
        "kfda/unlucky",
        altered("kfda/unlucky", ("Fraction(1)]", "Fraction(1)]) * rationals([Fraction(1001, 1000), 1]")),
        "wanted a zero",
    ),
}


class TestAnswers(Answered):
    RIGHT, WRONG = RIGHT, WRONG
