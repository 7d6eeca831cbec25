"""The exact models meet the paper's assumptions, and fractions agree with enumeration and with draws."""

from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginbook.clasmk.claims.block_distributions import INSIDE, WIDTH, block_models, constant_blocks
from marginbook.clasmk.claims.distributions import (
    Law,
    between,
    captured,
    draw_law,
    exceeding,
    expected,
    fractions,
    met,
    problems,
    projector,
)


def law_of(mean, own, noise, independent=True):
    return Law(
        fractions(mean), np.array([fractions(own)]), np.array([fractions(noise)]), fractions([1]), independent
    )


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_atoms_meet_the_assumptions(seed):
    rng = np.random.default_rng(seed)
    noise = Fraction(int(rng.integers(1, 20)), 40)
    law = draw_law(rng, noise)
    assert met([law], noise)
    signal, error, p = law.atoms()
    phi = signal + error
    np.testing.assert_allclose(np.sum(phi**2, axis=1), 1)
    np.testing.assert_allclose(p @ error, 0, atol=1e-12)
    np.testing.assert_allclose(p @ np.sum(error**2, axis=1), float(noise))
    np.testing.assert_allclose(np.einsum("ij,ij->i", signal, error), 0, atol=1e-12)
    centred = phi - p @ phi
    covariance = (centred * p[:, None]).T @ centred
    np.testing.assert_allclose(covariance, np.diag(np.diagonal(covariance)), atol=1e-12)
    P = projector(law).astype(float)
    np.testing.assert_allclose(P @ P, P, atol=1e-12)
    np.testing.assert_allclose(signal @ P, signal, atol=1e-12)
    np.testing.assert_allclose(error @ P, 0, atol=1e-12)
    assert np.linalg.matrix_rank(P) == np.linalg.matrix_rank(signal)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_expectations_and_probabilities_by_loops_over_atoms(seed):
    rng = np.random.default_rng(seed)
    noise = Fraction(1, 8)
    one, other = draw_law(rng, noise), draw_law(rng, noise)
    (a, e, p), (b, f, q) = one.atoms(), other.atoms()
    phi, psi = a + e, b + f
    apart = np.sum((phi[:, None] - psi[None]) ** 2, axis=2)
    near = partial(np.testing.assert_allclose, rtol=1e-7, atol=1e-12)  # expectations of numbers near one
    near(p @ apart @ q, float(between(one, other)))
    P = projector(other).astype(float)
    near(p @ np.einsum("ni,ij,nj->n", phi, P, phi), float(captured(one, projector(other))))
    near(p @ np.einsum("ni,ij,nj->n", a, P, a), float(captured(one, projector(other), signal=True)))
    inside = np.sum((phi[:, None] - phi[None]) ** 2, axis=2)
    values = one.within()
    assert sum(chance for _, chance in values) == 1
    near(p @ inside @ p, float(expected(values)))
    for bound in (0.1, float(between(one, other)), 1.5):
        level = Fraction(bound).limit_denominator(10**6) + Fraction(1, 10**7)
        chance = np.sum(np.outer(p, p)[inside > float(level)])
        near(chance, float(exceeding(values, level)), atol=1e-9)


@pytest.mark.parametrize("independent", [True, False])
def test_draws_have_the_frequencies_of_the_law(independent):
    law = law_of(
        [Fraction(1, 2), 0, 0, 0],
        [0, Fraction(1, 2), 0, 0],
        [0, 0, Fraction(1, 8), Fraction(1, 8)],
        independent,
    )
    assert met([law], Fraction(1, 4))
    rng = np.random.default_rng(0)
    drawn = np.sum((law.sample(rng, 20000) - law.sample(rng, 20000)) ** 2, axis=1)
    for value, chance in law.within():
        assert abs(np.mean(np.isclose(drawn, float(value))) - float(chance)) < 0.02


def test_signs_are_uncorrelated_and_closed_under_products():
    for k in range(1, 7):
        for independent in (True, False):
            variances = [0] + [Fraction(1, k)] * k
            signs = law_of([0] * (k + 1), variances, [0] * (k + 1), independent).signs
            np.testing.assert_array_equal(signs.T @ signs, len(signs) * np.eye(k))
            np.testing.assert_array_equal(signs.sum(axis=0), 0)
            rows = sorted(map(tuple, signs))
            for row in signs:
                assert sorted(map(tuple, signs * row)) == rows


def test_what_breaks_an_assumption_is_noticed():
    good = law_of([Fraction(3, 5), 0, 0], [0, Fraction(7, 25), 0], [0, 0, Fraction(9, 25)])
    assert met([good], Fraction(9, 25))
    assert not met([good], Fraction(1, 10))  # another noise
    assert not met(
        [law_of([1, 0, 0], [0, Fraction(7, 25), 0], [0, 0, Fraction(9, 25)])], Fraction(9, 25)
    )  # norm
    leaning = law_of([Fraction(3, 5), 0, 0], [0, Fraction(7, 25), 0], [0, Fraction(9, 25), 0])
    assert not met([leaning], Fraction(9, 25))  # the noise is inside the subspace
    moved = law_of([Fraction(3, 5), 0, 0], [Fraction(7, 25), 0, 0], [0, 0, Fraction(9, 25)])
    assert not met([moved], Fraction(9, 25))  # the norm depends on the sign
    half = Law(good.mean, good.own, good.noise, fractions([Fraction(1, 2)]))
    assert not met([half], Fraction(9, 50))


def test_modes_whose_roots_are_not_rational_are_refused():
    own = np.array([fractions([0, 1]), fractions([0, 2])])
    law = Law(fractions([1, 0]), own, own * 0, fractions([Fraction(1, 2)] * 2))
    with pytest.raises(ValueError, match="give equal ones, or one 0"):
        law.within()


def test_problems_share_their_noise_and_have_modes_and_both_kinds_of_signs():
    found = list(problems(0, 40, (2, 3)))
    assert [len(laws) for laws, _ in found[:4]] == [2, 3, 2, 3]
    assert all(met(laws, noise) for laws, noise in found)
    laws = [law for group, _ in found for law in group]
    assert {len(law.chances) for law in laws} == {1, 2}
    assert {law.independent for law in laws} == {True, False}


@pytest.mark.parametrize("same_noise", [True, False])
def test_blocks_by_loops_over_atoms(same_noise):
    for model in block_models(3, 6, same_noise=same_noise, classes=(2, 3)):
        assert model.met(same_noise=same_noise)
        C = len(model.laws)
        atoms = [law.atoms() for law in model.laws]
        phi = [a + e for a, e, _ in atoms]
        inside = [np.sum((x[:, None] - x[None]) ** 2, axis=2) for x in phi]
        np.testing.assert_allclose(
            np.mean([p @ d @ p for d, (_, _, p) in zip(inside, atoms, strict=True)]), float(model.within())
        )
        apart = [
            p @ np.sum((phi[c][:, None] - phi[d][None]) ** 2, axis=2) @ atoms[d][2]
            for c, (_, _, p) in enumerate(atoms)
            for d in range(C)
            if c != d
        ]
        np.testing.assert_allclose(np.mean(apart), float(model.between()))
        for c, i in product(range(C), repeat=2):
            signal, error, p = (
                part[..., i * WIDTH : (i + 1) * WIDTH] if part.ndim == 2 else part for part in atoms[c]
            )
            block = signal + error
            np.testing.assert_allclose(np.sum(block**2, axis=1), 1)
            np.testing.assert_allclose(
                p @ np.sum(block[:, :INSIDE] ** 2, axis=1), float(model.energies[c, i])
            )
            np.testing.assert_allclose(np.sum((p @ signal) ** 2), float(model.means[c, i]), atol=1e-12)
        level = model.between() + Fraction(1, 10**9)
        chance = np.mean(
            [np.sum(np.outer(p, p)[d > float(level)]) for d, (_, _, p) in zip(inside, atoms, strict=True)]
        )
        np.testing.assert_allclose(chance, float(model.chance()), atol=1e-9)


def test_blocks_notice_another_noise():
    model = constant_blocks(3, Fraction(9, 10), Fraction(1, 2), Fraction(1, 2))
    assert model.met(same_noise=False)
    assert not model.met(same_noise=True)
    assert model.lam == Fraction(5, 9)
    assert model.pair_lam(0, 1) == Fraction(5, 9)


def test_aligned_means_that_carry_all_energy():
    third = Fraction(1, 3)
    near, far = (
        constant_blocks(4, Fraction(1), third**2, third, own_root=Fraction(1), aligned=aligned)
        for aligned in (True, False)
    )
    assert near.met(same_noise=False)
    assert near.lam == far.lam == third**2
    assert near.between() == 2 * (4 - 2 * third - 2 * third**2)
    assert far.between() == 2 * (4 + 2 * third - 2 * third**2)
