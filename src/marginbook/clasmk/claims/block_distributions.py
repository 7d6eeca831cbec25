r"""Models of the class-specific feature map of Section 2.2: C kernels, one block of the feature vector for
each.

In block i a sample of class c is :math:`\varphi_{(c,i)}=U_i\beta_{(c,i)}+e_{(c,i)}`, with the subspace of the
i-th kernel. Here :math:`U_i` spans the first coordinates of block i, the noise has the others, and all blocks
of a class are one `model.Law` of norm :math:`\sqrt C`: coordinates of different blocks are uncorrelated, not
independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .distributions import NOISES, Law, between, exceeding, fractions, zeros

#: coordinates of a block, and how many of them :math:`U_i` spans
WIDTH, INSIDE = 5, 3


@dataclass(frozen=True)
class Blocks:
    """The laws of C classes in C blocks; `noise` is the energy of the noise of a class in its own block."""

    laws: tuple[Law, ...]
    noise: Fraction

    @property
    def energies(self) -> np.ndarray:
        r""":math:`E\lVert U_i^\top\varphi_{(c,i)}\rVert^2`, (C, C)."""
        return np.array(
            [self._inside(law.mean**2 + law.own[0] + law.noise[0]) for law in self.laws], dtype=object
        )

    @property
    def means(self) -> np.ndarray:
        r""":math:`\lVert m_{(c,i)}\rVert^2`, (C, C)."""
        return np.array([self._inside(law.mean**2) for law in self.laws], dtype=object)

    @property
    def lam(self) -> Fraction:
        r"""The smallest :math:`\lambda` of (24) and (48)."""
        C, own = len(self.laws), np.trace(self.energies)
        return Fraction((self.energies.sum() - own) / (C - 1) / own)

    def pair_lam(self, c: int, d: int) -> Fraction:
        r"""Return the smallest :math:`\lambda` of (46) for classes c and d."""
        E, C = self.energies, len(self.laws)
        own = E[c, c] + E[d, d]
        return Fraction((E[c].sum() + E[d].sum() - own) / (C - 1) / own)

    def within(self) -> Fraction:
        r"""Return :math:`E(D_w)` for equally likely classes, from the distribution of the distance."""
        found = [sum((v * p for v, p in law.within()), Fraction(0)) for law in self.laws]
        return sum(found, Fraction(0)) / len(found)

    def between(self) -> Fraction:
        r"""Return :math:`E(D_b)` for equally likely classes, by (19)."""
        C = len(self.laws)
        apart = [between(a, b) for i, a in enumerate(self.laws) for j, b in enumerate(self.laws) if i != j]
        return sum(apart, Fraction(0)) / (C * (C - 1))

    def chance(self) -> Fraction:
        """Return the probability of a distance within a class above the mean distance between classes."""
        apart = self.between()
        return sum((exceeding(law.within(), apart) for law in self.laws), Fraction(0)) / len(self.laws)

    def met(self, *, same_noise: bool) -> bool:
        r"""Return whether all blocks have the norm 1 and the noise the energy that is assumed.

        That is `noise` in the own block of each class, and, with `same_noise`, in all blocks, as printed.
        """
        for c, law in enumerate(self.laws):
            norms = [sum(b) for b in (law.mean**2 + law.own[0] + law.noise[0]).reshape(-1, WIDTH)]
            loud = [sum(b) for b in law.noise[0].reshape(-1, WIDTH)]
            kept = [block[INSIDE:] for block in (law.mean**2 + law.own[0]).reshape(-1, WIDTH)]
            mixed = [block[:INSIDE] for block in law.noise[0].reshape(-1, WIDTH)]
            wanted = loud if same_noise else [loud[c]]
            apart = not any(any(b) for b in (*kept, *mixed)) and not any(
                law.mean * (law.own[0] + law.noise[0])
            )
            if not (apart and all(n == 1 for n in norms) and all(e == self.noise for e in wanted)):
                return False
        return True

    @staticmethod
    def _inside(squares: np.ndarray) -> list[Fraction]:
        return [sum(block[:INSIDE], Fraction(0)) for block in squares.reshape(-1, WIDTH)]


def make_blocks(rng: np.random.Generator, energies: Sequence[Sequence[Fraction]]) -> Blocks:
    r"""Draw a model with given energies of :math:`\beta_{(c,i)}`, (C, C); the diagonal is constant.

    In each block the first coordinate has a mean of a random share of the energy, the next two the rest of
    it, and the last two the noise.
    """
    laws = []
    for row in energies:
        mean: list[int | Fraction] = []
        own: list[int | Fraction] = []
        noise: list[int | Fraction] = []
        for energy in row:
            share = Fraction(int(rng.integers(0, 21)), 20) if rng.integers(3) else Fraction(1)
            root = Fraction(int(1000 * (float(share * energy)) ** 0.5), 1000) * int(rng.choice((-1, 1)))
            split = Fraction(int(rng.integers(0, 5)), 4)
            rest = energy - root**2
            mean += [root, 0, 0, 0, 0]
            own += [0, rest * split, rest * (1 - split), 0, 0]
            noise += [0, 0, 0, (1 - energy) * split, (1 - energy) * (1 - split)]
        laws.append(Law(fractions(mean), fractions(own)[None], fractions(noise)[None], fractions([1]), False))
    return Blocks(tuple(laws), 1 - Fraction(energies[0][0]))


def block_models(
    seed: int, count: int, *, same_noise: bool, classes: Sequence[int] = (2, 3, 4)
) -> Iterator[Blocks]:
    """Draw models: with the noise of one energy in all blocks, as printed, or free elsewhere."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        C, own = classes[k % len(classes)], 1 - NOISES[int(rng.integers(len(NOISES)))]
        energies = [[own] * C for _ in range(C)]
        if not same_noise:
            high = int(rng.integers(1, 25))
            for c in range(C):
                for i in range(C):
                    if c != i:
                        energies[c][i] = min(Fraction(int(rng.integers(0, high)), 20), Fraction(1))
        yield make_blocks(rng, energies)


def constant_blocks(
    C: int,
    own: Fraction,
    other: Fraction,
    root: Fraction,
    *,
    own_root: Fraction | None = None,
    aligned: bool = False,
    inside: bool = False,
) -> Blocks:
    """Return the model whose own blocks have one energy and the others another.

    Parameters
    ----------
    C : int
    own, other : Fraction
        Energies inside the subspace, in the own block of a class and in the others.
    root, own_root : Fraction
        Lengths of the means in the other blocks and in the own one; the same by default.
    aligned : bool
        Whether all means of a block have the same direction; else that of its own class is opposite to the
        others.
    inside : bool
        Whether the noise of a class in its own block is in the span of :math:`U_c`, against what is assumed.
    """
    laws = []
    for c in range(C):
        mean, own_part, noise = zeros(C * WIDTH), zeros(C * WIDTH), zeros(C * WIDTH)
        for i in range(C):
            energy = own if c == i else other
            length = own_root if c == i and own_root is not None else root
            mean[i * WIDTH] = length if c == i or aligned else -length
            own_part[i * WIDTH + 1] = energy - length**2
            noise[i * WIDTH + (2 if inside and c == i else 3)] = 1 - energy
        laws.append(Law(mean, own_part[None], noise[None], fractions([1]), False))
    return Blocks(tuple(laws), 1 - own)


def nearly_tight(C: int, *, inside: bool = False) -> Blocks:
    r"""Return a model of C classes with :math:`\lambda<1` that nearly reaches the bounds of Lemmas 2 and 3.

    All means of a block have one direction and carry all energy, which is 0.81 in a class's own block and
    0.7744 in the others: Cauchy and Schwarz is tight, and two means of these differ by 0.0004.
    """
    own, other = Fraction(9, 10), Fraction(88, 100)
    return constant_blocks(C, own**2, other**2, other, own_root=own, aligned=True, inside=inside)
