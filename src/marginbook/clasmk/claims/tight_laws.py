r"""Laws that come as near to the bounds (11) and (17) as one likes, and one that breaks a condition of them.

Markov's inequality is tight for a distance that is 0 or just above the mean distance between classes. With k
coordinates of energy v each, whose signs are rows of a Hadamard matrix, two draws of a class differ by
:math:`2(k+1)v` with the probability k/(k+1), and else by 0. Cauchy and Schwarz is tight where the other
class's mean spans its subspace and all but the noise of both. All entries are fractions.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np

from .distributions import Law, fractions, zeros

#: how far, relative, the mean distance between classes stays below the distance that is 0 or this
MARGIN = Fraction(1, 1000)
#: roots are rational to so many parts
PARTS = 10**6


def root_below(square: Fraction) -> Fraction:
    """Return a fraction that is at most the root of `square`, and nearly that."""
    return Fraction(isqrt(int(square * PARTS**2)), PARTS)


def tight_pair(length: Fraction, varying: int, loud: int) -> tuple[list[Law], Fraction]:
    r"""Return laws of two classes, the first of which nearly reaches (11), and the energy of the noise.

    Parameters
    ----------
    length : Fraction
        Of the mean of the first class; :math:`1-\lVert m\rVert^2` is spread over the varying coordinates.
    varying : int
        1, 3 or 7.
    loud : int
        How many of these coordinates are noise; the others belong to :math:`U\beta`.
    """
    v = (1 - length**2) / varying
    noise, size = loud * v, 4 + varying
    # the other class: a mean, what the root left over, and the noise
    long = root_below(1 - noise)
    cosine = (1 - (1 - MARGIN) * (varying + 1) * v) / (long * length)
    half = root_below((1 - cosine) / (1 + cosine))  # tangent of half of the angle, so that both are rational
    mean, own, noisy = zeros(size), zeros(size), zeros(size)
    mean[:2] = length * (1 - half**2) / (1 + half**2), length * 2 * half / (1 + half**2)
    own[2 : 2 + varying - loud] = v
    noisy[2 + varying - loud : 2 + varying] = v
    one = Law(mean, own[None], noisy[None], fractions([1]), independent=False)
    mean, own, noisy = zeros(size), zeros(size), zeros(size)
    mean[0], own[-2], noisy[-1] = long, 1 - noise - long**2, noise
    return [one, Law(mean, own[None], noisy[None], fractions([1]))], noise


def tight_classes(
    classes: int, along: Fraction, across: Fraction, varying: int, rest: Fraction = Fraction(0)
) -> tuple[list[Law], Fraction]:
    r"""Return laws of equal shape that nearly reach (17) whatever the classes' probabilities, and the noise.

    Parameters
    ----------
    classes : int
    along, across : Fraction
        With the sum of squares 1: parts of each mean in a common direction and in one of its own.
    varying : int
        1, 3 or 7, all of them noise.
    rest : Fraction
        Energy of :math:`U\beta` beside its mean; 0 for the tight ones.
    """
    times = Fraction(varying + 1, varying) * (1 - MARGIN)
    length = root_below((times - 1) / (times - along**2))
    noise, size = 1 - length**2 - rest, 1 + (varying + 2) * classes
    laws = []
    for c in range(classes):
        mean, own, noisy = zeros(size), zeros(size), zeros(size)
        mean[0], mean[1 + c] = length * along, length * across
        own[1 + classes + c] = rest
        noisy[1 + 2 * classes + c * varying :][:varying] = noise / varying
        laws.append(Law(mean, own[None], noisy[None], fractions([1]), independent=False))
    return laws, noise


def tight_pairs() -> list[tuple[list[Law], Fraction]]:
    """Return pairs of laws from no noise to only noise, with small overlaps and large ones."""
    shapes = [
        (Fraction(4, 5), 1, 0), (Fraction(4, 5), 1, 1), (Fraction(19, 20), 1, 0), (Fraction(19, 20), 1, 1),
        (Fraction(7, 10), 3, 0), (Fraction(9, 10), 3, 1), (Fraction(9, 10), 3, 2), (Fraction(19, 20), 7, 3),
    ]  # fmt: skip
    return [tight_pair(*shape) for shape in shapes]


def noise_inside() -> tuple[list[Law], Fraction]:
    r"""Return laws of two classes of which the first has its noise in the span of :math:`U_c`.

    In nine draws of ten what varies is e, in the tenth :math:`U\beta`, in the same 15 coordinates: all is as
    assumed after (9), and e is not orthogonal to :math:`U_c`.
    """
    mean, spread, none = zeros(18), zeros(18), zeros(18)
    mean[0] = Fraction(9, 10)
    spread[1:16] = (1 - mean[0] ** 2) / 15
    often = Fraction(9, 10)
    modes = np.array([spread, none]), np.array([none, spread])
    one = Law(mean, *modes, fractions([1 - often, often]), independent=False)
    noise = one.noise_energy
    mean, own, noisy = zeros(18), zeros(18), zeros(18)
    mean[0] = Fraction(91, 100)
    own[16], noisy[17] = 1 - noise - mean[0] ** 2, noise
    return [one, Law(mean, own[None], noisy[None], fractions([1]))], noise
