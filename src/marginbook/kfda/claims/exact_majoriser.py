r"""The bound (6) of one coefficient as a polynomial with fractions for coefficients: proved, not sampled."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise


def bound_polynomial(q: Fraction, constant: Fraction = Fraction(1)) -> dict[int, Fraction]:
    r"""Return (6) for one coefficient, right side less left side over :math:`\rho N|\omega(n)|^q`.

    With :math:`q=a/b` and :math:`|\omega/\omega(n)|=y^b` it is
    :math:`\frac q2y^{2b}-y^a+1-\frac q2`, the last part times `constant`, which is 1.

    Returns
    -------
    dict
        From power of y to coefficient; equal powers are added up.
    """
    terms: dict[int, Fraction] = {}
    for power, coefficient in (
        (2 * q.denominator, q / 2),
        (q.numerator, Fraction(-1)),
        (0, constant * (1 - q / 2)),
    ):
        terms[power] = terms.get(power, Fraction(0)) + coefficient
    return {power: value for power, value in terms.items() if value != 0}


def touches_only_at_one(terms: dict[int, Fraction]) -> bool:
    """Prove that a polynomial is 0 at y = 1, and positive at all other y >= 0 unless it is 0 everywhere.

    A double root at 1 and two changes of sign: by Descartes' rule there is no other positive root.
    """
    if not terms:
        return True
    ordered = [terms[power] for power in sorted(terms)]
    changes = sum(a * b < 0 for a, b in pairwise(ordered))
    root = sum(terms.values()) == 0
    double = sum(power * value for power, value in terms.items()) == 0
    return root and double and changes == 2 and ordered[0] > 0 and ordered[-1] > 0


def magnitudes() -> list[Fraction]:
    """Return values of y from 1e-120 to 1e120, dense around 1."""
    wide = [Fraction(10) ** k for k in (-120, -30, -7, -2, 2, 7, 30, 120)]
    near = [1 + sign * Fraction(1, 10**k) for k in (1, 3, 9, 20) for sign in (-1, 1)]
    return [*wide, *near, *(Fraction(k, 16) for k in range(1, 49))]
