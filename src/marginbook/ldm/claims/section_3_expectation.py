"""Section 3.3, the expectation of the leave-one-out error over samples: summed exactly."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product

from ...claims import Evidence, Rival, claim, decide
from . import exact_line
from .exact_line import Parameters, expectation, expected_error

#: two atoms v = yx
ATOMS = (Fraction(1), Fraction(-1, 2))


def _training_error(v: tuple[Fraction, ...], parameters: Parameters) -> Fraction:
    machine = exact_line.train(v, parameters)
    return Fraction(sum(machine.is_wrong(a) for a in v), len(v))


@claim(
    "ldm/loo-expectation",
    kind="proof",
    where="Equation (21), the proof of Theorem 3",
    statement=r"$E[R(\alpha)]$ is $\frac1m$ times the expected number of leave-one-out errors $\mathcal "
    r"L((x_1,y_1),\ldots,(x_m,y_m))$, for the classifier trained on $m$ examples",
    notebook="ldm/03_leave_one_out#ldm-loo-expectation",
    rivals=(
        Rival("corrected to machines of m - 2 examples", {"fewer": 2, "sizes": (3, 4)}),
        Rival("corrected to m - 1 in the place of 1/m", {"divisor": -1}),
        Rival("leave-one-out errors of which the left-out example is trained on", swaps={
            "ldm.claims.exact_line.left_out_error": lambda _: _training_error,
        }),
    ),
)  # fmt: skip
def check_expectation(fewer: int = 1, divisor: int = 0, sizes: tuple[int, ...] = (2, 3, 4)) -> Evidence:
    """Enumerate all samples of small finite distributions in rational arithmetic.

    Parameters
    ----------
    fewer : int
        By how many examples the machine of the corrected statement has been trained with less.
    divisor : int
        What the number of errors is divided by, less m.
    sizes : tuple of int
        m.
    """
    distributions: tuple[tuple[tuple[Fraction, ...], tuple[Fraction, ...]], ...] = (
        (ATOMS, (Fraction(1, 3), Fraction(2, 3))),
        ((Fraction(2), Fraction(1), Fraction(-1)), (Fraction(1, 6), Fraction(1, 2), Fraction(1, 3))),
        ((Fraction(3), Fraction(1, 2), Fraction(-2)), (Fraction(1, 5), Fraction(3, 5), Fraction(1, 5))),
    )
    weights_of_terms = product((Fraction(0), Fraction(1)), (Fraction(0), Fraction(1, 4), Fraction(8)))
    machines = tuple(Parameters(lambda1, lambda2, Fraction(1)) for lambda1, lambda2 in weights_of_terms)
    same = one_less = count = 0
    apart = Fraction(0)
    for (atoms, weights), parameters, m in product(distributions, machines, sizes):
        statistic = partial(exact_line.left_out_error, parameters=parameters)
        left_out = expectation(atoms, weights, m, statistic) * Fraction(m, m + divisor)
        on_all = expected_error(atoms, weights, m, parameters)
        same += left_out == on_all
        one_less += left_out == expected_error(atoms, weights, m - fewer, parameters)
        apart = max(apart, abs(left_out - on_all))
        count += 1
    return Evidence(
        verdict=decide(same == count, one_less == count),
        measured=f"E[L]/m is the expected error of classifiers trained on m examples in {same} of {count} "
        f"cases, on m - {fewer} in {one_less}; it differs from the former by up to {float(apart):.3f}",
        claimed="equal for m",
        slack=-float(apart),
        why="Leave-one-out trains on m - 1 examples, so it is unbiased for the error of classifiers trained "
        "on m - 1. The expectations run over all samples from distributions on two and three points of a "
        "line, in exact rational arithmetic.",
        sizes={"cases": count, "m": list(sizes), "machines": len(machines)},
        seeds=(),
    )
