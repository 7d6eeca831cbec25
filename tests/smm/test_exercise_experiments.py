"""Checks of the SMM exercises to do: right answers pass, wrong ones are told why not."""

from __future__ import annotations

from ..answered import Answered, altered

RIGHT = {
    # the other factor first, scikit-learn's machine, and a start by hand
    "smm/turns": """
def take_turns(v):
    for _ in range(5):
        P = v / np.sqrt(v @ v)
        U = vector_machine(np.array([X @ P for X in three]), ones, ones, strength).weights
        Q = U / np.sqrt(U @ U)
        v = vector_machine(np.array([X.T @ Q for X in three]), ones, ones, strength).weights
    return Q[:, None] * v

def bad_start():
    return np.array([-0.83, 0.55])
""",
    # sets instead of a sum, and another step
    "smm/one-fit": """
def levels(x, y, H=20):
    found = 0.5 / H * np.ones(201)
    for pi in np.arange(1, H) / H:
        w = (1 - pi) * (y == 1) + pi * (y == -1)
        fit = vector_machine(x.reshape(-1, 1), y, w, 1e-4, True)
        found[places * fit.weights[0] + fit.intercept > 0] += 1 / H
    return found

def truth(x):
    return np.where(x < 0, 0.4, 0.0)
""",
    "smm/question": """
def chosen():
    return (1, 2, 3, 8, 9)

def no_gain(a, b):
    return a % 2 == 0
""",
}
WRONG = {
    "the penalty of both lengths": (
        "smm/turns",
        altered("smm/turns", ("v = v / np.linalg.norm(v)\n", "v = 3 * v\n")),
        "the first step goes|and another",
    ),
    "one block only": (
        "smm/turns",
        altered("smm/turns", ("vector_machine(turned, ones, ones, strength).weights", "v")),
        "and another|the first step goes",
    ),
    "a start that ends well": (
        "smm/turns",
        altered("smm/turns", ("return max(", "return min(")),
        "above the minimum",
    ),
    "no weights": (
        "smm/one-fit",
        altered("smm/one-fit", ("1 - h / H, h / H", "1.0, 1.0")),
        "from the count",
    ),
    "without the half": (
        "smm/one-fit",
        altered("smm/one-fit", ("(inside + 0.5)", "(inside - 0.5)")),
        "from the count",
    ),
    "the other class": (
        "smm/one-fit",
        altered("smm/one-fit", ("places + fit.intercept > 0", "places + fit.intercept < 0")),
        "from the count",
    ),
    "a straight line": (
        "smm/one-fit",
        altered("smm/one-fit", ("np.where(x > 0, 0.45, 0.0)", "0.5 + 0.4 * x")),
        "nineteen machines are",
    ),
    "nothing to learn": (
        "smm/one-fit",
        altered("smm/one-fit", ("np.where(x > 0, 0.45, 0.0)", "0.3 + 0 * x")),
        "a range of 0.2",
    ),
    "the question of the chapter": (
        "smm/question",
        "def chosen():\n    return [1, 3, 5, 7, 9]\n\ndef no_gain(a, b):\n    return a > b\n",
        "even and odd",
    ),
    "digits that no line separates": (
        "smm/question",
        "def chosen():\n    return [0, 1, 2, 3, 4, 5]\n\ndef no_gain(a, b):\n    return a > b\n",
        "wanted 6 fewer",
    ),
    "a question of the same kind": (
        "smm/question",
        altered(
            "smm/question", ("return a > b", "return np.isin(a, (0, 4, 5, 6)) == np.isin(b, (0, 4, 5, 6))")
        ),
        "that is a gain",
    ),
    "always yes": (
        "smm/question",
        altered("smm/question", ("return a > b", "return a >= 0")),
        "the answer yes",
    ),
}


class TestAnswers(Answered):
    RIGHT, WRONG = RIGHT, WRONG
