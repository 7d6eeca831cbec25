"""Section 3, Theorem 1: the solution is a combination of the training examples."""

from __future__ import annotations

import numpy as np

from ...claims import Evidence, Rival, at_most, claim, decide, times
from ..model.whitening import WhitenedGram
from ..solvers.dual import active_set
from .problems import PARAMETERS, by_cvxpy, described, problems, soft_value


@claim(
    "ldm/thm-1",
    kind="proof",
    where="Theorem 1",
    statement=r"the optimal $w$ of (6) is a linear combination of the training points, $w^\star=X\alpha$",
    notebook="ldm/01_margins_and_model#ldm-thm-1",
    rivals=(
        Rival("a combination of all points but one", {"points": -1}),
        Rival("a combination of the first half of the points", {"half": True}),
        Rival("a part outside costs its squared length", {"price_of": 1.0}),
        Rival("a part outside costs 2 % more", {"price_of": 0.51}),
        Rival(
            "a machine whose H is 2 % larger", swaps={"ldm.model.whitening.WhitenedGram.hessian": times(1.02)}
        ),
    ),
)
def check_representer(points: int = 0, half: bool = False, price_of: float = 0.5) -> Evidence:
    """Solve (6) over all of feature space, where the points do not span it, and measure what sticks out.

    Parameters
    ----------
    points : int
        What is added to the number of points that span.
    half : bool
        Take half of them.
    price_of : float
        Times the squared length of a part outside, what it costs.
    """
    from sklearn.preprocessing import PolynomialFeatures

    outside, beyond, price = 0.0, 0.0, 0.0
    count = 0
    rng = np.random.default_rng(43)
    for problem in problems(seed=43, repeats=4, kernels=("linear",)):
        for rows in (problem.X, PolynomialFeatures(2).fit_transform(problem.X[:, :6])):
            F = np.vstack([rows.T, np.zeros((1, len(rows)))])  # one more axis, on which no point lies
            spanning = F[:, : len(rows) // 2 if half else len(rows) + points]
            inside = spanning @ np.linalg.pinv(spanning, rcond=1e-10)
            G = F.T @ F
            whitened = WhitenedGram(G, problem.y)
            for lambda1, lambda2, C in (*PARAMETERS, (1e4, 0.0, 1e-3), (0.0, 1e3, 1e3)):
                w, value = by_cvxpy(F, problem.y, lambda1, lambda2, C)
                outside = max(outside, float(np.linalg.norm(w - inside @ w) / np.linalg.norm(w)))
                H = whitened.hessian(lambda1)
                found = active_set(H, problem.y, lambda1, lambda2, C, tol=1e-11)
                best = F @ found.alpha
                own = soft_value(F, problem.y, best, lambda1, lambda2, C)
                beyond = max(beyond, float(own - value) / max(1.0, abs(value)))
                v = rng.normal(size=len(F))
                v -= F @ np.linalg.lstsq(F, v, rcond=1e-10)[0]
                with_v = soft_value(F, problem.y, best + v, lambda1, lambda2, C)
                excess = float(with_v - own - price_of * v @ v)
                price = max(price, abs(excess) / max(1.0, abs(own)))
                count += 1
    tolerance = 1e-5
    return Evidence(
        verdict=decide(outside <= tolerance and beyond <= 1e-7 and price <= 1e-9),
        measured=f"at most {at_most(outside, tolerance)} of the length of w lies outside the span; no w in "
        f"the whole space is better than the best combination by more than {at_most(beyond, 1e-7)}; a "
        f"component v outside the span costs |v|^2/{1 / price_of:.3g} to {at_most(price, 1e-9)}",
        claimed="0",
        slack=min(tolerance - outside, 1e-7 - beyond, 1e-9 - price),
        why="The problems have up to 41 features and 2 to 26 examples, and always one direction orthogonal "
        "to all points. The optimum over the whole space comes from an interior-point solver that does not "
        "use alpha. The paper's proof is right.",
        sizes=described(count) | {"kernels": 2, "parameters": len(PARAMETERS) + 2},
        seeds=(43,),
    )
