"""Checks of the DRM exercises to do: right answers pass, wrong ones are told why not."""

from __future__ import annotations

from ..answered import Answered, altered

RIGHT = {
    # rows in another order; copies taken away instead of weighed
    "drm/copies": """
def copied(X, y, k):
    return np.vstack([X, *[X[y == 1]] * (k - 1)]), np.r_[y, np.ones((k - 1) * np.sum(y == 1), dtype=int)]

def copies_needed(X, y, Z, share, limit=200):
    k, got = 0, 0.0
    while got < share and k < limit:
        k += 1
        model = DRMClassifier(1.0, 0.1, "linear", fit_intercept=True).fit(*copied(X, y, k))
        got = np.mean(model.predict(Z))
    return k

def fair(X, y):
    X, first = np.unique(X, axis=0, return_index=True)
    return DRMClassifier(1.0, 0.1, "linear", fit_intercept=True).fit(X, y[first])
""",
    # one feature instead of two, and a gap between two classes
    "drm/pays": """
def pays(rng):
    y = np.repeat([0, 1], [180, 9])
    x = np.concatenate([rng.uniform(-3, 3, size=(180, 2)), rng.uniform(-0.6, 0.6, size=(9, 2))])
    return x, y

def worthless(rng):
    y = np.repeat([0, 1], [90, 18])
    return np.c_[rng.uniform(size=108) + 5 * y, rng.uniform(size=108)], y
""",
    # bisection over beta, where the best weight jumps
    "drm/jump": """
def gap(rho):
    w = np.linspace(0, 1, 4001)
    best = lambda t: w[np.argmin(0.5 * (1 - w) ** 2 + np.exp(t) * rho(w))]
    longest = 0.0, 0.0
    def search(low, high, depth):
        nonlocal longest
        a, b = best(high), best(low)
        if b - a <= longest[1] - longest[0] or depth == 0:
            if depth == 0 and b - a > longest[1] - longest[0]:
                longest = a, b
            return
        middle = (low + high) / 2
        search(low, middle, depth - 1)
        search(middle, high, depth - 1)
    search(-12.0, 12.0, 14)
    return longest if longest[1] - longest[0] > 0.01 else (0.0, 0.0)
""",
    "drm/rays": """
def unlearnable(n, rng):
    angle = rng.uniform(0.2, 1.2, size=n)
    one = rng.uniform(1, 5, size=(n, 1)) * np.c_[np.cos(angle), np.sin(angle)]
    return np.concatenate([one, -one]), np.r_[np.zeros(n, dtype=int), np.ones(n, dtype=int)]
""",
}
SETTINGS = '1.0, 0.1, "linear", fit_intercept=True, class_weight="balanced"'
WRONG = {
    "one copy too many": (
        "drm/copies",
        altered("drm/copies", ("return k\n", "return k + 9\n")),
        "copies are enough",
    ),
    "one class for all": (
        "drm/copies",
        altered("drm/copies", (SETTINGS, '1.0, 0.1, "linear", fit_intercept=True')),
        "labels of your fair machine change",
    ),
    "all rows are copied": (
        "drm/copies",
        altered("drm/copies", ("np.where(y == 1, k, 1)", "k")),
        "three copies of 20",
    ),
    "classes far apart": (
        "drm/pays",
        altered("drm/pays", ("+ 0.5 * y[:, None]", "+ 9 * y[:, None]")),
        "pays: a G-mean",
    ),
    "classes of equal size": (
        "drm/pays",
        altered("drm/pays", ("[100, 10]", "[55, 55]")),
        "wanted five to one",
    ),
    "the same rows in each draw": (
        "drm/pays",
        altered("drm/pays", ("spread * rng.normal", "spread * np.random.default_rng(0).normal")),
        "two draws are equal",
    ),
    "every gap begins at zero": (
        "drm/jump",
        altered("drm/jump", ("return reached[longest],", "return 0.0,")),
        "1 - exp",
    ),
    "too few values of beta": ("drm/jump", altered("drm/jump", ("5000", "20")), "you say"),
    "overlapping classes": (
        "drm/rays",
        altered("drm/rays", ("0.4 * rng", "4 * rng")),
        "no line separates",
    ),
    "classes on one side": (
        "drm/rays",
        altered("drm/rays", ("[cloud, -cloud]", "[cloud, 5 * cloud + [0, 20]]")),
        "some linear machine",
    ),
}


class TestAnswers(Answered):
    RIGHT, WRONG = RIGHT, WRONG
