r"""Finite distributions that meet the paper's assumptions exactly: expectations are sums of fractions.

A mapped sample of one class is :math:`\varphi=\mu+s\circ\sqrt v`: a mean, and signs s times amplitudes. A law
has one or more *modes*, each with variances v of its own for :math:`U\beta` and for e; the mode and the signs
are drawn. Coordinates on which the mean is not 0 do not vary, so :math:`\lVert\varphi\rVert` is the same for
every draw. The signs are rows of a set that is closed under products and has orthogonal columns with the sum
0: all coordinates are then uncorrelated and e has the mean 0, as assumptions 2 and 3 after (9) ask. Only
squares of amplitudes enter below: rational means and variances make every probability and expectation
rational.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from scipy.linalg import hadamard

#: values of the noise's energy from which the models are drawn
NOISES = tuple(Fraction(k, 40) for k in (1, 2, 4, 8, 16, 24))


@dataclass(frozen=True)
class Law:
    r"""The distribution of :math:`\varphi=U\beta+e` in one class.

    Parameters
    ----------
    mean : (D,) array of Fractions
        The mean of :math:`U\beta`, and so of :math:`\varphi`.
    own, noise : (M, D) arrays of Fractions
        Variances of :math:`U\beta` and of e by mode and coordinate. Their supports are disjoint from each
        other and from that of the mean; two modes have the same variance of a coordinate or one of them has
        0.
    chances : (M,) array of Fractions
        Probabilities of the modes.
    independent : bool
        Whether the signs are independent, :math:`2^k` of them for k varying coordinates, or only
        uncorrelated.
    """

    mean: np.ndarray
    own: np.ndarray
    noise: np.ndarray
    chances: np.ndarray
    independent: bool = True

    @property
    def varying(self) -> np.ndarray:
        """The coordinates that vary in some mode, (k,)."""
        return np.flatnonzero([any(column) for column in (self.own + self.noise).T.tolist()])

    @property
    def signs(self) -> np.ndarray:
        """The rows of signs, all equally likely, (n, k)."""
        k = len(self.varying)
        if self.independent:
            return np.array(list(product((1, -1), repeat=k)), dtype=int).reshape(2**k, k)
        order = 1 << k.bit_length()  # more rows than k: the column of ones is left out
        return np.asarray(hadamard(order)[:, 1 : k + 1], dtype=int)

    @property
    def mean_energy(self) -> Fraction:
        r""":math:`\lVert m\rVert^2`."""
        return Fraction(self.mean @ self.mean)

    @property
    def noise_energy(self) -> Fraction:
        r""":math:`E\lVert e\rVert^2`."""
        return Fraction(self.chances @ self.noise.sum(axis=1))

    def within(self) -> list[tuple[Fraction, Fraction]]:
        r"""Return values and probabilities of :math:`\lVert\varphi-\nu\rVert^2` for two independent draws.

        The products of the signs of two draws are again equally likely rows of signs.
        """
        variances, signs = (self.own + self.noise)[:, self.varying], self.signs
        found: dict[Fraction, Fraction] = {}
        for a, b in product(range(len(variances)), repeat=2):
            both = np.array([_root(v, w) for v, w in zip(variances[a], variances[b], strict=True)])
            total, chance = (variances[a] + variances[b]).sum(), self.chances[a] * self.chances[b]
            for row in signs:
                value = Fraction(total - 2 * (both @ row if len(both) else 0))
                found[value] = found.get(value, Fraction(0)) + chance / len(signs)
        return sorted(found.items())

    def sample(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Return n independent draws as rows, (n, D) floats."""
        mode = rng.choice(len(self.chances), size=n, p=self.chances.astype(float))
        amplitudes = np.sqrt((self.own + self.noise).astype(float))[mode]
        signs = np.zeros(amplitudes.shape)
        signs[:, self.varying] = self.signs[rng.integers(len(self.signs), size=n)]
        return np.asarray(self.mean.astype(float) + signs * amplitudes)

    def atoms(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        r"""Return all values of :math:`U\beta` and e as rows, (n, D) floats, and probabilities, (n,)."""
        signs = np.zeros((len(self.signs), len(self.mean)))
        signs[:, self.varying] = self.signs
        parts = [
            (self.mean.astype(float) + signs * np.sqrt(v.astype(float)), signs * np.sqrt(w.astype(float)))
            for v, w in zip(self.own, self.noise, strict=True)
        ]
        weights = np.repeat(self.chances.astype(float), len(signs)) / len(signs)
        return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts]), weights


def _root(v: Fraction, w: Fraction) -> Fraction:
    """Return the square root of v w for v = w or v w = 0."""
    if v != w and v * w != 0:
        raise ValueError(f"two modes have variances {v} and {w} of a coordinate; give equal ones, or one 0")
    return v if v == w else Fraction(0)


def projector(law: Law) -> np.ndarray:
    r"""Return :math:`UU^\top`, (D, D) Fractions, for the span of the mean and what varies in it."""
    inside = np.array([Fraction(any(c)) for c in law.own.T.tolist()])
    return np.asarray(np.diag(inside) + np.outer(law.mean, law.mean) / law.mean_energy)


def captured(law: Law, P: np.ndarray, *, signal: bool = False) -> Fraction:
    r"""Return :math:`E\varphi^\top P\varphi` for a projector P; with `signal` that of :math:`U\beta` only."""
    variances = law.chances @ (law.own if signal else law.own + law.noise)
    return Fraction(law.mean @ P @ law.mean + variances @ np.diagonal(P))


def between(one: Law, other: Law) -> Fraction:
    r"""Return :math:`E(D)` for draws of two laws: both energies less twice the product of the means."""
    energies = [law.mean_energy + law.chances @ (law.own + law.noise).sum(axis=1) for law in (one, other)]
    return Fraction(sum(energies) - 2 * (one.mean @ other.mean))


def expected(values: Sequence[tuple[Fraction, Fraction]]) -> Fraction:
    """Return the expectation of what :meth:`Law.within` returns."""
    return sum((v * p for v, p in values), Fraction(0))


def exceeding(values: Sequence[tuple[Fraction, Fraction]], bound: Fraction) -> Fraction:
    """Return the probability of a value above `bound`."""
    return sum((p for v, p in values if v > bound), Fraction(0))


def met(laws: Sequence[Law], noise: Fraction) -> bool:
    r"""Return whether all laws meet assumptions 1 to 3 after (9) and :math:`U\perp e`, without rounding.

    Every draw has the norm 1, :math:`E\lVert e\rVert^2` is `noise`, the signs have the mean 0 and are
    uncorrelated, and no coordinate carries both the subspace and the noise.
    """
    for law in laws:
        signs = law.signs
        inside = [bool(m) or any(v) for m, v in zip(law.mean, law.own.T.tolist(), strict=True)]
        apart = not any(x and any(w) for x, w in zip(inside, law.noise.T.tolist(), strict=True))
        fixed = not any(m and any(v) for m, v in zip(law.mean, law.own.T.tolist(), strict=True))
        unit = all(law.mean_energy + sum(v) + sum(w) == 1 for v, w in zip(law.own, law.noise, strict=True))
        plain = not signs.sum(axis=0).any() and np.array_equal(
            signs.T @ signs, len(signs) * np.eye(signs.shape[1])
        )
        if not (apart and fixed and unit and plain and law.noise_energy == noise and law.chances.sum() == 1):
            return False
    return True


def draw_law(rng: np.random.Generator, noise: Fraction, dimensions: int = 7) -> Law:
    r"""Draw a law with the given noise energy in `dimensions` coordinates.

    One to three coordinates carry the mean, one or two the rest of :math:`U\beta`, one or two e. Sometimes
    the energy of e varies: it is all of what is left of the norm, in a mode that is seldom drawn, and 0 in
    the other.
    """
    order = rng.permutation(dimensions)
    a = int(rng.integers(1, 4))
    b, c = a + int(rng.integers(1, 3)), a + 3
    c = max(b + 1, min(c, dimensions))
    mean = zeros(dimensions)
    share = Fraction(int(rng.integers(1, 20)), 20)  # of the energy of U beta
    direction = [int(v) for v in rng.integers(1, 6, size=a)]
    for i, v in zip(order[:a], direction, strict=True):
        mean[i] = Fraction(int(rng.choice((1, 1, 1, -1))) * v)
    scale = Fraction(int(1000 * (float(share * (1 - noise)) / float(mean @ mean)) ** 0.5), 1000)
    mean *= scale  # rational, and no longer than the share asks
    left = 1 - noise - Fraction(mean @ mean)
    own, loud = zeros(dimensions), zeros(dimensions)
    own[order[a:b]], loud[order[b:c]] = _split(rng, b - a), _split(rng, c - b)
    independent = bool(rng.integers(2))
    if rng.integers(3):
        return Law(mean, own[None] * left, loud[None] * noise, fractions([1]), independent)
    rest, none = 1 - Fraction(mean @ mean), zeros(dimensions)
    seldom = noise / rest
    return Law(
        mean, np.array([own * rest, none]), np.array([none, loud * rest]),
        fractions([1 - seldom, seldom]), independent,
    )  # fmt: skip


def _split(rng: np.random.Generator, parts: int) -> np.ndarray:
    """Return `parts` positive fractions with the sum 1."""
    weights = [int(v) for v in rng.integers(1, 6, size=parts)]
    return fractions([Fraction(w, sum(weights)) for w in weights])


def zeros(n: int) -> np.ndarray:
    """Return n zeros as Fractions."""
    return fractions([0] * n)


def fractions(values: Sequence[int | Fraction]) -> np.ndarray:
    """Return an array of Fractions, of dtype object."""
    return np.array([Fraction(v) for v in values] + [None], dtype=object)[:-1]


def problems(seed: int, count: int, classes: Sequence[int] = (2,)) -> Iterator[tuple[list[Law], Fraction]]:
    """Draw models: the laws of all classes, with one noise energy, which is returned with them."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        noise = NOISES[int(rng.integers(len(NOISES)))]
        yield [draw_law(rng, noise) for _ in range(classes[k % len(classes)])], noise
