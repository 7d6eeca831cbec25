"""The claims of the paper about the model, each as a measurement.

Those about the dual are in :mod:`marginbook.ldm.claims.section_3_dual`, those about the average margin
machine in :mod:`marginbook.ldm.claims.section_5_mamc`.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import numpy as np

from ...claims import Evidence, Rival, at_most, claim, decide, short, times
from ..model.objective import margin_variance
from ..model.whitening import WhitenedGram
from ..solvers.dual import active_set
from ..solvers.hard_margin import InfeasibleError, solve_hard_margin
from .problems import ACCURATE, Problem, described, problems

ROUND_OFF = 1e-12


@claim(
    "ldm/eq-4",
    kind="proof",
    where="Equation (4)",
    statement=r"the margin variance, $\sum_{ij}(\gamma_i-\gamma_j)^2$, is $\frac2{m^2}$ times the difference "
    r"of $m\,w^\top XX^\top w$ and $w^\top Xyy^\top X^\top w$",
    notebook="ldm/01_margins_and_model#ldm-eq-4",
    rivals=(
        Rival("the double sum with 1/m^2 in front", {"printed": 2}),
        Rival("corrected by 1/m", {"power": 1}),
        Rival("corrected by 1/m^3", {"power": 3}),
        Rival("the right side is the variance, once", {"multiple": Fraction(1)}),
        Rival("the right side is 2.04 times the variance", {"multiple": Fraction(51, 25)}),
        Rival(
            "a library's variance that is 2 % larger",
            swaps={"ldm.model.objective.margin_variance": times(1.02)},
        ),
    ),
)
def check_variance(printed: int = 0, power: int = 2, multiple: Fraction = Fraction(2)) -> Evidence:
    """Compare both sides with each other and with the variance, in exact rationals.

    Parameters
    ----------
    printed, power : int
        The double sum is divided by m to this, as printed and as corrected.
    multiple : Fraction
        Of the variance, what the right side is.
    """
    rng = np.random.default_rng(40)
    equal = by_square = twice = tested = 0
    off = Fraction(0)
    sizes = (2, 3, 5, 8, 13)
    for m in sizes:
        for d in (1, 2, 4, 9):
            X = rng.integers(-9, 10, size=(d, m)).astype(object)
            w, y = rng.integers(-5, 6, size=d).astype(object), rng.choice([-1, 1], size=m).astype(object)
            margins = [Fraction(int(v)) for v in y * (w @ X)]
            if len(set(margins)) == 1:
                continue
            left = sum((a - b) ** 2 for a in margins for b in margins)
            right = Fraction(2, m * m) * int(m * (w @ X @ X.T @ w) - (w @ X @ y) * (y @ X.T @ w))
            mean = sum(margins) / m
            variance = sum((g - mean) ** 2 for g in margins) / m
            tested += 1
            equal += left == m**printed * right
            by_square += left == m**power * right
            own = float(margin_variance(np.array([float(g) for g in margins])))
            twice += right == multiple * variance and abs(own - float(right)) <= ROUND_OFF * abs(own)
            off = max(off, abs(left / (m**printed * right) - 1))
    return Evidence(
        verdict=decide(equal == tested, by_square == twice == tested),
        measured=f"the left side is m^{power} times the right side in {by_square} of {tested} problems, and "
        f"{f'm^{printed} times' if printed else 'equal to'} it in {equal}; the right side is "
        f"{'twice' if multiple == 2 else f'{float(multiple):g} times'} the variance in {twice}",
        claimed="both sides equal to the variance",
        slack=float(-off),
        why="The double sum needs the factor 1/m^2. Equation (6) and all that follows use the right side, so "
        "the paper's model has lambda1 times twice the variance. The check uses exact rational arithmetic "
        "on margins that are not all equal.",
        sizes={"problems": tested, "m": list(sizes)},
        seeds=(40,),
    )


@claim(
    "ldm/relaxed-margin",
    kind="statement",
    where="Section 2, the sentences after (2)",
    statement=r"for some $\bar C$, (2) is equivalent to $\max_w\gamma_0-\bar C\sum\xi_i$ subject to "
    r"$\gamma_i\ge\gamma_0-\xi_i$; $\gamma_0$ is the $p$-th smallest margin",
    notebook="ldm/01_margins_and_model#ldm-relaxed-margin",
    rivals=(
        Rival("a C-bar that is 2 % larger", {"factor": 1.02}),
        Rival("a C-bar that is 2 % smaller", {"factor": 0.98}),
        Rival("one margin further up", {"place": 1}),
        Rival("one margin further down", {"place": -1}),
    ),
)
def check_relaxed_margin(factor: float = 1.0, place: int = 0) -> Evidence:
    """Look for a C-bar without a bound on w; then bound |w| by 1 and take C-bar = C / sum(beta).

    Parameters
    ----------
    factor : float
        Of C-bar.
    place : int
        What is added to the number p of the margin.
    """
    printed, worse, off, count = 0, 0.0, 0.0, 0
    for problem in islice(problems(seed=41, repeats=2), 0, None, 2):
        for C in (0.1, 10.0):
            H = WhitenedGram(problem.G, problem.y).hessian(0.0)
            svm = active_set(H, problem.y, 0.0, 0.0, C, tol=1e-11)
            w = problem.F @ svm.alpha
            matched = factor * C / svm.beta.sum()
            # where w itself is worth nothing more than 0: the only other C-bar at which w could be optimal
            balanced = _balance(svm.margins)
            printed += any(
                c is not None and _relaxed(problem, c)[1] <= 1e-7 * np.sqrt(problem.G.trace())
                for c in (matched, balanced)
            )
            best = _relaxed(problem, matched)[1]
            own = _relaxed_value(svm.margins, matched) / float(np.linalg.norm(w))
            worse = max(worse, abs(best - own) / own)
            off = max(off, _order_statistic(svm.margins, matched, place))
            count += 1
    tolerance = 1e-6
    return Evidence(
        verdict=decide(printed == count, worse <= tolerance and off <= 1e-9),
        measured=f"without a bound on w, {count - printed} of {count} problems are unbounded at every "
        r"$\bar C$ at which the solution of (2) could solve them; with |w| <= 1 and $\bar C=C/\sum\beta_i$ "
        f"the solution of (2), scaled to length 1, solves the problem to {at_most(worse, tolerance)}; no "
        r"other gamma_0 is better than the $p$-th smallest margin, $p=\lceil1/\bar C\rceil$, by more than "
        f"{at_most(off, 1e-9)}",
        claimed="equivalent",
        slack=tolerance - worse if printed == count else float(printed - count),
        why="A bound on |w| is missing. Without it, doubling w doubles the objective, so its supremum is "
        "infinite, or it is 0 and attained at w = 0. With it, the duals of the two problems have the same "
        r"minimisers, up to the scale $\sum\beta_i$.",
        sizes=described(count) | {"parameters": 2},
        seeds=(41,),
    )


def _relaxed(problem: Problem, penalty: float) -> tuple[np.ndarray, float]:
    """Maximise the relaxed minimum margin over |w| <= 1 by cvxpy; return w and the value."""
    import cvxpy as cp

    w, top, slack = cp.Variable(len(problem.F)), cp.Variable(), cp.Variable(len(problem.y), nonneg=True)
    margins = cp.multiply(problem.y, problem.F.T @ w)
    task = cp.Problem(cp.Maximize(top - penalty * cp.sum(slack)), [margins >= top - slack, cp.norm(w) <= 1])
    task.solve(solver=cp.CLARABEL, **ACCURATE)
    return np.asarray(w.value), float(task.value)


def _relaxed_value(margins: np.ndarray, penalty: float) -> float:
    """Return the largest gamma_0 - penalty sum (gamma_0 - gamma_i)_+ of given margins: at one of them."""
    short = np.maximum(margins[:, None] - margins, 0.0).sum(axis=1)
    return float(np.max(margins - penalty * short))


def _balance(margins: np.ndarray) -> float | None:
    """Return the penalty at which given margins are worth 0, or None where they are worth more at any."""
    if margins.min() > 0:
        return None
    low, high = 1 / len(margins), 1.0
    while _relaxed_value(margins, high) > 0 and high < 1e9:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _relaxed_value(margins, middle) > 0 else (low, middle)
    return high


def _order_statistic(margins: np.ndarray, penalty: float, place: int = 0) -> float:
    """Return by how much another gamma_0 than margin number ceil(1 / penalty) is better."""
    ordered = np.sort(margins)
    p = min(max(int(np.ceil(1 / penalty - 1e-9)) + place, 1), len(margins))
    top = ordered[p - 1]
    own = top - penalty * np.maximum(top - margins, 0.0).sum()
    return float((_relaxed_value(margins, penalty) - own) / np.abs(margins).max())


@claim(
    "ldm/subsumes-svm",
    kind="statement",
    where="Section 3.1, after the hard-margin LDM and after (5)",
    statement=r"with $\lambda_1=\lambda_2=0$, LDM is the SVM, with soft and with hard margin",
    notebook="ldm/01_margins_and_model#ldm-subsumes-svm",
    rivals=(
        Rival("lambda1 = 2^-8, the least of the printed grid", {"lambda1": 2**-8}),
        Rival("lambda2 = 2^-2, the largest of the printed grid", {"lambda2": 2**-2}),
        Rival("an SVM with a C that is 2 % larger", {"loss": 1.02}),
        Rival("an H that is 2 % larger", swaps={"ldm.model.whitening.WhitenedGram.hessian": times(1.02)}),
    ),
)
def check_subsumes_svm(lambda1: float = 0.0, lambda2: float = 0.0, loss: float = 1.0) -> Evidence:
    """Compare w with scikit-learn's SVC, its intercept taken away, and with the problems as written.

    Parameters
    ----------
    lambda1, lambda2 : float
        Of the LDM.
    loss : float
        Factor of the SVM's C.
    """
    soft = hard = biased = 0.0
    count, separable, refused, agree = 0, 0, 0, True
    for problem in problems(seed=42, repeats=2):
        whitened = WhitenedGram(problem.G, problem.y)
        H = whitened.hessian(lambda1)
        for C in (0.01, 1.0, 100.0):
            w = problem.F @ active_set(H, problem.y, lambda1, lambda2, C, tol=1e-12).alpha
            for other in (_mirrored_svc(problem, loss * C), _svm(problem, loss * C)):
                soft = max(soft, _apart(other, w))
            biased = max(biased, _apart(_svc(problem, C), w))
            count += 1
        wanted = _hard_svm(problem)
        try:
            w = problem.F @ solve_hard_margin(whitened, lambda1, lambda2).alpha
        except InfeasibleError:
            refused += 1
            agree = agree and wanted is None
        else:
            agree = agree and wanted is not None
            separable += 1
            hard = max(hard, np.inf if wanted is None else _apart(wanted, w))
    tolerance = 1e-4
    return Evidence(
        verdict=decide(max(soft, hard) <= tolerance and agree and separable > 0),
        measured=f"w differs by at most {at_most(soft, tolerance)} (soft margin) and "
        f"{at_most(hard, tolerance)} (hard margin) of its length; with the hard margin {separable} problems "
        f"have a solution and {refused} have none, {'the same ones' if agree else 'but not the same ones'} "
        "for both methods",
        claimed="the same w",
        slack=min(tolerance - max(soft, hard), short(agree, 1), short(separable, 1)),
        why="The SVM of the paper has no intercept. SVC always has one, and its w differs by up to "
        f"{biased:.1f} times the length of w here. If the mirror images (-x, -y) of all examples are added, "
        "its intercept is 0 by symmetry; that SVC is compared here.",
        sizes=described(count) | {"parameters": 3, "hard margin": separable},
        seeds=(42,),
    )


def _apart(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.linalg.norm(one - other) / np.linalg.norm(other))


def _svc(problem: Problem, C: float) -> np.ndarray:
    from sklearn.svm import SVC

    model = SVC(C=C, kernel="precomputed").fit(problem.G, problem.y)
    return np.asarray(problem.F[:, model.support_] @ model.dual_coef_[0])


def _mirrored_svc(problem: Problem, C: float) -> np.ndarray:
    """Return w of SVC on the examples and their mirror images, each pair sharing C."""
    from sklearn.svm import SVC

    G, F, y = problem.G, problem.F, problem.y
    mirrored = np.block([[G, -G], [-G, G]])
    model = SVC(C=C / 2, kernel="precomputed", tol=1e-7, max_iter=10**6).fit(mirrored, np.r_[y, -y])
    return np.asarray(np.hstack([F, -F])[:, model.support_] @ model.dual_coef_[0])


def _svm(problem: Problem, C: float) -> np.ndarray:
    """Solve (2) with its slack variables; return w."""
    import cvxpy as cp

    F, y = problem.F, problem.y
    w, slack = cp.Variable(len(F)), cp.Variable(len(y), nonneg=True)
    rules = [cp.multiply(y, F.T @ w) >= 1 - slack]
    task = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * cp.sum(slack)), rules)
    task.solve(solver=cp.CLARABEL, **ACCURATE)
    return np.asarray(w.value)


def _hard_svm(problem: Problem) -> np.ndarray | None:
    """Solve the hard-margin SVM; None where no w has all margins at least 1."""
    import cvxpy as cp

    w = cp.Variable(len(problem.F))
    rules = [cp.multiply(problem.y, problem.F.T @ w) >= 1]
    task = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w)), rules)
    task.solve(solver=cp.CLARABEL)
    return np.asarray(w.value) if task.status == cp.OPTIMAL else None
