"""Checks of the CLASMK exercises to do: right answers pass, wrong ones are told why not."""

from __future__ import annotations

from ..answered import Answered, altered

RIGHT = {
    # by least squares and by an eigendecomposition
    "clasmk/score": """
def energies(K_BB, K_Bx):
    sizes, vectors = np.linalg.eigh(K_BB)
    kept = sizes > 1e-9 * sizes[-1]
    return np.sum((vectors[:, kept].T @ K_Bx) ** 2 / sizes[kept, None], axis=0)

def score(K_BB, K_own, K_other):
    own, other = (np.mean(energies(K_BB, K)) for K in (K_own, K_other))
    return own, other / own
""",
    # another width, and the class with less energy decides
    "clasmk/poison": """
def extra_gamma():
    return 4

def keep(energy):
    return [min(column) > 0.4 for column in energy.T]
""",
    # the best of random signs
    "clasmk/flip": """
def forms(z, codes, signs):
    N, D = np.zeros((2, 2, 2)), np.zeros((2, 2, 2))
    for c in (0, 1):
        pair = z[c][0], z[c][1] * signs[c]
        for i in (0, 1):
            for j in (0, 1):
                value = (pair[i] * pair[j]).sum(axis=1)
                N[c, i, j], D[c, i, j] = value[codes == 1 - c].mean(), value[codes == c].mean()
    return N, D

def bad_signs(z, codes):
    trials = np.random.default_rng(8).choice([-1, 1], size=(200, 2, 6))
    return max(trials, key=lambda s: dinkelbach(*forms(z, codes, s)).objective)
""",
}
WRONG = {
    "no root, no square": (
        "clasmk/score",
        altered("clasmk/score", ("K_Bx, inverse, K_Bx", "K_Bx, np.eye(len(K_BB)), K_Bx")),
        "an energy is",
    ),
    "length instead of energy": (
        "clasmk/score",
        altered("clasmk/score", ("inverse, K_Bx)", "inverse, K_Bx) ** 0.5")),
        "an energy is",
    ),
    "upside down": (
        "clasmk/score",
        altered(
            "clasmk/score", ("energies(K_BB, K_other).mean() / own", "own / energies(K_BB, K_other).mean()")
        ),
        "the ratio is",
    ),
    "a kernel like the others": (
        "clasmk/poison",
        altered("clasmk/poison", ("return 2.0", "return 0.03")),
        "with learned weights",
    ),
    "all kernels are kept": (
        "clasmk/poison",
        altered("clasmk/poison", ("> 0.5", "> -1")),
        "with what you keep",
    ),
    "compared with the paper's eta": (
        "clasmk/poison",
        altered("clasmk/poison", ("energy.mean(axis=0) > 0.5", "energy.sum(axis=0) > 1e-9")),
        "with what you keep",
    ),
    "the signs are forgotten": (
        "clasmk/flip",
        altered("clasmk/flip", ("signs[c] * z[c][1]", "z[c][1]")),
        "of class|least ratio goes",
    ),
    "the classes change places": (
        "clasmk/flip",
        altered("clasmk/flip", ("return N, D\n", "return D, N\n")),
        "of class",
    ),
    "a single flip": (
        "clasmk/flip",
        altered("clasmk/flip", ("[*np.ndindex(2, 6)] * 3", "[(0, 3)]")),
        "the least ratio goes",
    ),
    "signs of every row": (
        "clasmk/flip",
        altered("clasmk/flip", ("return best\n", "return best[0]\n")),
        "signs",
    ),
}


class TestAnswers(Answered):
    RIGHT, WRONG = RIGHT, WRONG
