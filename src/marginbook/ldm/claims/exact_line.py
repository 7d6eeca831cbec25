r"""The LDM on a line, solved in rationals, and its expected errors by enumeration of all samples.

With one feature, :math:`v_i=y_ix_i` and :math:`q=1+4\lambda_1\mathrm{Var}(v)`, the machine is one number w:
the zero of :math:`qw-\lambda_2\bar v-C\sum_{v_iw<1}v_i`, which rises with w, or its jump through zero.
Nothing is rounded, so that equations between expectations can be checked as such.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import prod


@dataclass(frozen=True)
class Parameters:
    """lambda1, lambda2 and C as rationals."""

    lambda1: Fraction
    lambda2: Fraction
    C: Fraction


@dataclass(frozen=True)
class LineMachine:
    """The solution on a line.

    Attributes
    ----------
    w : Fraction
    beta : tuple of Fraction
        Dual variables; equal examples share equally.
    q : Fraction
        h_ii = v_i^2 / q.
    """

    w: Fraction
    beta: tuple[Fraction, ...]
    q: Fraction

    def is_wrong(self, v: Fraction) -> bool:
        """Say whether an example is misclassified; a margin of zero counts."""
        return v * self.w <= 0


def train(v: Sequence[Fraction], parameters: Parameters) -> LineMachine:
    """Solve the soft-margin LDM for examples with the signed feature `v`.

    >>> train([Fraction(1), Fraction(-1, 10)], Parameters(Fraction(0), Fraction(10), Fraction(1))).w
    Fraction(22, 5)
    """
    m, C = len(v), parameters.C
    mean = sum(v, Fraction(0)) / m
    q = 1 + 4 * parameters.lambda1 * (sum((a * a for a in v), Fraction(0)) / m - mean * mean)
    pull = parameters.lambda2 * mean

    def needed(w: Fraction) -> Fraction:
        """What the examples at the kink must add for w to be the solution."""
        return q * w - pull - C * sum((a for a in v if a * w < 1), Fraction(0))

    # between the kinks the zero of needed is at once a solution if it lies there
    kinks = sorted({1 / a for a in v if a})
    for k in kinks:
        at_kink = [i for i, a in enumerate(v) if a * k == 1]
        share = needed(k) / (len(at_kink) * v[at_kink[0]])
        if 0 <= share <= C:
            return LineMachine(k, tuple(_dual(v, k, share, C)), q)
    edges = [None, *kinks, None]
    for low, high in pairwise(edges):
        inside = _between(low, high)
        w = (pull + C * sum((a for a in v if a * inside < 1), Fraction(0))) / q
        if (low is None or w > low) and (high is None or w < high):
            return LineMachine(w, tuple(_dual(v, w, Fraction(0), C)), q)
    raise AssertionError("a strictly convex function has a minimum")


def _between(low: Fraction | None, high: Fraction | None) -> Fraction:
    if low is None:
        return Fraction(0) if high is None else high - 1
    return low + 1 if high is None else (low + high) / 2


def _dual(v: Sequence[Fraction], w: Fraction, share: Fraction, C: Fraction) -> list[Fraction]:
    return [C if a * w < 1 else share if a * w == 1 else Fraction(0) for a in v]


def printed_bound(v: Sequence[Fraction], parameters: Parameters) -> Fraction:
    r"""Return :math:`(h\sum_{I_1}\beta_i+|I_2|)/m` of Theorem 3."""
    machine = train(v, parameters)
    h = max(a * a for a in v) / machine.q
    full = sum(b == parameters.C for b in machine.beta)
    part = sum((b for b in machine.beta if b < parameters.C), Fraction(0))
    return (h * part + full) / len(v)


def left_out_error(v: Sequence[Fraction], parameters: Parameters) -> Fraction:
    """Return the leave-one-out error, the share of wrong ones among machines that are each trained anew."""
    wrong = sum(train([*v[:i], *v[i + 1 :]], parameters).is_wrong(v[i]) for i in range(len(v)))
    return Fraction(wrong, len(v))


def expectation(
    atoms: Sequence[Fraction],
    weights: Sequence[Fraction],
    m: int,
    statistic: Callable[[tuple[Fraction, ...]], Fraction],
) -> Fraction:
    """Return the exact mean of a statistic over all samples of m draws from a finite distribution.

    Parameters
    ----------
    atoms : sequence of Fraction
        The values v = y x.
    weights : sequence of Fraction
        Their probabilities.
    m : int
        Examples in a sample.
    statistic : callable
        Of a sample.
    """
    total = Fraction(0)
    for drawn in product(range(len(atoms)), repeat=m):
        total += prod(weights[k] for k in drawn) * statistic(tuple(atoms[k] for k in drawn))
    return total


def expected_error(
    atoms: Sequence[Fraction], weights: Sequence[Fraction], m: int, parameters: Parameters
) -> Fraction:
    """Return the mean probability of error of machines that are trained on m examples."""

    def error(sample: tuple[Fraction, ...]) -> Fraction:
        machine = train(sample, parameters)
        wrong = (p for a, p in zip(atoms, weights, strict=True) if machine.is_wrong(a))
        return sum(wrong, Fraction(0))

    return expectation(atoms, weights, m, error)
