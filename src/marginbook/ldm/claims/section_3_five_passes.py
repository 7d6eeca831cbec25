"""Section 3.2.2: how good five passes of Algorithm 2 are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...claims import Evidence, Rival, claim, decide
from ..solvers.asgd import averaged_sgd
from ..solvers.linear_cd import solve_linear
from .section_3_stochastic import binary_sets, two_halves


def _exactly(original: Any) -> Any:
    """Return the exact solution in the place of averaged gradients."""
    return lambda X, y, lambda1, lambda2, C, **_: solve_linear(X, y, lambda1, lambda2, C, tol=1e-6)


@claim(
    "ldm/five-passes",
    kind="ours",
    where="Algorithm 2 and Section 4.1, where T = 5",
    statement="after the five passes of Algorithm 2 the objective (14) is more than 1 % above its minimum "
    "in nine of ten cases, and the test accuracy differs from that of the minimum by more than a "
    "point in both directions",
    notebook="ldm/02_duals_and_solvers#ldm-asgd",
    rivals=(
        Rival(
            "the minimum in the place of the five passes", swaps={"ldm.solvers.asgd.averaged_sgd": _exactly}
        ),
        Rival("more than 60 % above it", {"above": 0.6}),
        Rival("more than ten points on either side", {"points": 10.0}),
    ),
)
def check_five_passes(above: float = 0.01, points: float = 1.0) -> Evidence:
    """Compare the objective with the exact optimum, and the accuracy on the other half of the data.

    Parameters
    ----------
    above : float
        Share of the minimum by which the objective is above it.
    points : float
        Of accuracy, to either side.
    """
    gaps, changes, sizes = [], [], {}
    for name, X, y in binary_sets():
        train, test = two_halves(y)
        sizes[name] = len(train)
        for C in (10.0, 50.0, 100.0):
            for lambda1, lambda2 in ((2.0**-8, 2.0**-8), (2.0**-2, 2.0**-2)):
                exact = solve_linear(X[train], y[train], lambda1, lambda2, C, tol=1e-8)
                five = averaged_sgd(X[train], y[train], lambda1, lambda2, C, n_passes=5, random_state=0)
                gaps.append(five.objective / (exact.objective - exact.dual_gap) - 1)
                right = [np.mean(np.sign(X[test] @ w) == y[test]) for w in (exact.coef, five.coef)]
                changes.append(100 * (right[1] - right[0]))
    beyond = float(np.mean(np.array(gaps) > above))
    room = min(beyond - 0.9, max(changes) - points, -min(changes) - points)
    return Evidence(
        verdict=decide(room >= 0),
        measured=f"objective above the minimum by {100 * min(gaps):.1f} % to {100 * max(gaps):.0f} %, median "
        f"{100 * np.median(gaps):.0f} %; more than {100 * above:g} % in {100 * beyond:.0f} % of the cases; "
        f"accuracy on the other half changes by {min(changes):+.1f} to {max(changes):+.1f} points, "
        f"{np.mean(changes):+.1f} on average",
        claimed=f"more than {100 * above:g} % in 90 % of the cases; more than {points:g} "
        f"point{'' if points == 1 else 's'} in both directions",
        slack=float(room),
        why="The paper sets T = 5 and does not mention the minimum. A step sees the hinge loss of one "
        "example, weighted by mC, and the average over the steps has to take out this noise. Compared with "
        f"the minimum, accuracy is lost in {sum(each < 0 for each in changes)} cases and gained in "
        f"{sum(each > 0 for each in changes)} of {len(changes)}.",
        sizes={"m": sizes, "C": [10, 50, 100], "lambda1, lambda2": ["2^-8", "2^-2"]},
        seeds=(0, 62),
    )
