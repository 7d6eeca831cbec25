"""Checks of the LDM exercises to do: right answers pass, wrong ones are told why not."""

from __future__ import annotations

from ..answered import Answered, altered

RIGHT = {
    # from the dual variables, whitened
    "ldm/turn": """
from sklearn.svm import SVC
def labels(X, y, Z, lambda1, C):
    V = y[:, None] * X
    Q = np.eye(X.shape[1]) + 4 * lambda1 * np.cov(V.T, bias=True)
    H = WhitenedGram(X @ X.T, y).hessian(lambda1)
    beta = active_set(H, y, lambda1, 0.0, C, tol=1e-12).beta
    return Z @ np.linalg.solve(Q, V.T @ beta) > 0

def changed(X, y, Z, exponent, C):
    return np.count_nonzero(labels(X, y, Z, 0.0, C) ^ labels(X, y, Z, 2.0**exponent, C))

def first_exponent(X, y, Z, C, count):
    return next(k for k in range(-8, 60) if changed(X, y, Z, k, C) >= count)
""",
    # with the iterates kept, and signed examples
    "ldm/passes": """
def averaged_descent(X, y, pairs, lengths, lambda1, lambda2, C):
    V, path = y[:, None] * X, [np.zeros(X.shape[1])]
    for t in range(len(pairs)):
        v, u = V[pairs[t]]
        w = path[-1]
        g = 4 * lambda1 * v * (v @ w - u @ w) + w - lambda2 * v
        if v @ w < 1:
            g -= len(V) * C * v
        path.append(w - lengths[t] * g)
    return np.mean(path[1:], axis=0)
""",
    # by counts, by kernels, and standardised
    "ldm/cell": """
def without_features(y, n_test):
    values, counts = np.unique(y, return_counts=True)
    return np.repeat(values[counts.argmax()], n_test)

def mean_margin(X, y, Z):
    f = (Z @ X.T) @ y
    return np.where(f > 0, 1, -1)

def other_features(X, Z):
    from sklearn.preprocessing import StandardScaler
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), scaler.transform(Z)
""",
}
WRONG = {
    "labels of the training rows": (
        "ldm/turn",
        altered("ldm/turn", ("        Z @ (X.T", "        X @ (X.T")),
        "labels differ, you say",
    ),
    "one power too far": (
        "ldm/turn",
        altered("ldm/turn", ("return exponent", "return exponent + 6")),
        "already",
    ),
    "the variance of the paper's double sum": (
        "ldm/turn",
        altered("ldm/turn", ("2.0**exponent", "len(y) ** 2 * 2.0**exponent")),
        "you say",
    ),
    "the last iterate": (
        "ldm/passes",
        altered("ldm/passes", ("return total / len(pairs)", "return w")),
        "misses a step",
    ),
    "the start counts": (
        "ldm/passes",
        altered("ldm/passes", ("/ len(pairs)", "/ (len(pairs) + 1)")),
        "misses a step|first step",
    ),
    "the hinge loss without m": (
        "ldm/passes",
        altered("ldm/passes", ("len(y) * C", "C")),
        "misses a step",
    ),
    "the indices change places": (
        "ldm/passes",
        altered("ldm/passes", ("(i, j), eta", "(j, i), eta")),
        "first step|moves along",
    ),
    "shrunk after the move": (
        "ldm/passes",
        altered("ldm/passes", ("w - eta * (w + pull * X[i])", "(1 - eta) * (w - eta * pull * X[i])")),
        "misses a step|first step",
    ),
    "the smaller class": (
        "ldm/cell",
        altered("ldm/cell", ("1.0 if np.sum(y) > 0", "1.0 if np.sum(y) < 0")),
        "without features",
    ),
    "the margin of the negative": (
        "ldm/cell",
        altered("ldm/cell", ("np.sign(Z", "-np.sign(Z")),
        "wrong sign",
    ),
    "scaled once more": (
        "ldm/cell",
        altered("ldm/cell", ("centre = X.mean(axis=0)", "centre = 0 * X.mean(axis=0)")),
        "with your features",
    ),
}


class TestAnswers(Answered):
    RIGHT, WRONG = RIGHT, WRONG
