r"""Which polynomials have no root that radicals give: Galois groups by factors modulo primes.

A factor pattern of a polynomial modulo a prime that does not divide its discriminant is the cycle type of an
element of its Galois group (Dedekind). Of degree n, a cycle of length n makes the group transitive; one of
length n - 1 makes it doubly transitive, hence primitive; a primitive group with a cycle of prime length
:math:`\ell\le n-3` contains the alternating group (Jordan), which is not solvable for :math:`n\ge5`.
"""

from __future__ import annotations

from collections.abc import Sequence

#: primes whose factor patterns are looked at
PRIMES = tuple(p for p in range(5, 2000) if all(p % d for d in range(2, int(p**0.5) + 1)))


def times(one: Sequence[int], other: Sequence[int]) -> list[int]:
    """Return the product of two polynomials, coefficients in ascending order."""
    product = [0] * (len(one) + len(other) - 1)
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            product[i + j] += a * b
    return product


def plus(one: Sequence[int], other: Sequence[int]) -> list[int]:
    """Return the sum of two polynomials."""
    size = max(len(one), len(other))
    return [(one[i] if i < len(one) else 0) + (other[i] if i < len(other) else 0) for i in range(size)]


def _reduced(f: Sequence[int], p: int) -> list[int]:
    found = [a % p for a in f]
    while found and found[-1] == 0:
        found.pop()
    return found


def _divided(f: Sequence[int], g: Sequence[int], p: int) -> tuple[list[int], list[int]]:
    """Return quotient and remainder modulo p."""
    rest, inverse = _reduced(f, p), pow(g[-1], -1, p)
    quotient = [0] * max(1, len(rest) - len(g) + 1)
    while len(rest) >= len(g):
        shift, factor = len(rest) - len(g), rest[-1] * inverse % p
        quotient[shift] = factor
        for i, b in enumerate(g):
            rest[shift + i] = (rest[shift + i] - factor * b) % p
        rest = _reduced(rest, p)
    return _reduced(quotient, p), rest


def _common(f: list[int], g: list[int], p: int) -> list[int]:
    while g:
        f, g = g, _divided(f, g, p)[1]
    return f


def pattern(f: Sequence[int], p: int) -> list[int] | None:
    """Return the degrees of the factors of f modulo p; None if its degree falls or a factor is double."""
    left = _reduced(f, p)
    slope = _reduced([i * a for i, a in enumerate(f)][1:], p)
    if len(left) < len(f) or len(_common(left, slope, p)) > 1:
        return None
    degrees: list[int] = []
    power, d = [0, 1], 0
    while len(left) > 1:
        d += 1
        base, result = _divided(power, left, p)[1], [1]
        for bit in bin(p)[2:]:
            result = _divided(times(result, result), left, p)[1]
            if bit == "1":
                result = _divided(times(result, base), left, p)[1]
        power = result
        factor = _common(left, _reduced(plus(power, [0, -1]), p), p)
        degrees += [d] * ((len(factor) - 1) // d)
        if len(factor) > 1:
            left = _divided(left, factor, p)[0]
    return degrees


def no_radicals(f: Sequence[int]) -> bool:
    """Return whether patterns modulo `PRIMES` show that no root of f can be written in radicals.

    Examples
    --------
    >>> no_radicals([-1, -1, 0, 0, 0, 1]), no_radicals([-2, 0, 0, 0, 0, 1])  # x^5 - x - 1, x^5 - 2
    (True, False)
    """
    n = len(f) - 1
    if n < 5:
        return False
    whole = nearly = short = False
    for p in PRIMES:
        found = pattern(f, p)
        if not found:
            continue
        whole |= max(found) == n
        nearly |= sorted(found) == [1, n - 1]
        # a power of the element is a single cycle of length l if l divides one of the degrees only
        short |= any(
            found.count(prime) == 1 and sum(d % prime == 0 for d in found) == 1
            for prime in (2, 3, 5, 7)
            if prime <= n - 3
        )
        if whole and nearly and short:
            return True
    return False
