"""The claims on Lemma 1 and Theorem 1: what they come to, and what fails them."""

from fractions import Fraction

import numpy as np
import pytest

from marginbook.claims import Verdict
from marginbook.clasmk.claims import section_2_lemma_1
from marginbook.clasmk.claims import section_2_theorem_1 as theorem_one
from marginbook.clasmk.claims.distributions import Law, between, captured, exceeding, met, problems, projector


def few(seed, count, classes=(2,)):
    return problems(seed, count // 8, classes)


@pytest.fixture(autouse=True)
def _fewer(monkeypatch):
    for module in (section_2_lemma_1, theorem_one):
        monkeypatch.setattr(module, "problems", few)


def scaled(law: Law, factor: int, own: int) -> Law:
    """A law whose kernel is not normalised."""
    return Law(law.mean * factor, law.own * own, law.noise * own, law.chances, law.independent)


@pytest.mark.parametrize(
    "check",
    [
        section_2_lemma_1.check_lemma,
        section_2_lemma_1.check_remark,
        section_2_lemma_1.check_mean_ratio,
        theorem_one.check_theorem,
    ],
)
def test_these_hold(check):
    evidence = check()
    assert evidence.verdict == Verdict.HOLDS
    assert evidence.slack > 0


@pytest.mark.parametrize("check", [section_2_lemma_1.check_dropped_noise, theorem_one.check_lowest_bound])
def test_these_are_corrected(check):
    evidence = check()
    assert evidence.verdict == Verdict.CORRECTED
    assert evidence.slack < 0


def test_the_bound_is_compared_without_rounding():
    # 1/2 <= (1/4) / (1 - sqrt(1/4)): equality
    assert section_2_lemma_1.below(Fraction(1, 2), Fraction(1, 4), Fraction(1, 4), Fraction(1))
    assert not section_2_lemma_1.below(
        Fraction(1, 2) + Fraction(1, 10**30), Fraction(1, 4), Fraction(1, 4), Fraction(1)
    )
    rng = np.random.default_rng(0)
    for _ in range(200):
        a, b, lam, q = (Fraction(int(v), 20) for v in rng.integers(0, 20, size=4))
        right = float(b) / (1 - float(lam) ** 0.5 * float(q))
        if abs(float(a) - right) > 1e-9:
            assert section_2_lemma_1.below(a, b, lam, q) == (float(a) <= right)


def test_kernels_that_are_not_normalised_break_the_lemma_and_the_theorem(monkeypatch):
    broken = 0
    for (one, other), noise in problems(1, 200):
        long, short = (
            scaled(one, 3, 9),
            Law(other.mean / 10, other.own / 100, other.noise / 100, other.chances),
        )
        lam = captured(long, projector(short)) / captured(long, projector(long))
        if lam < 1:
            chance = exceeding(long.within(), between(long, short))
            broken += not section_2_lemma_1.below(chance, 1 - one.mean_energy, lam, 1 - noise)
    assert broken > 0

    def scaled_problems(seed, count, classes=(2,)):
        for laws, noise in few(seed, count, classes):
            yield [scaled(laws[0], 3, 9), *laws[1:]], noise

    for module, check in (
        (section_2_lemma_1, section_2_lemma_1.check_lemma),
        (theorem_one, theorem_one.check_theorem),
    ):
        monkeypatch.setattr(module, "problems", scaled_problems)
        assert check().verdict == Verdict.FAILS


def test_a_lambda_that_is_too_small_fails(monkeypatch):
    """Without the factor in the denominator the bound is 1 - |m|^2, which is not always one."""
    held = []
    for (one, other), noise in problems(2, 400):
        chance = exceeding(one.within(), between(one, other))
        held.append(section_2_lemma_1.below(chance, (1 - one.mean_energy) / 2, Fraction(0), 1 - noise))
    assert not all(held)
    right = section_2_lemma_1.below
    monkeypatch.setattr(section_2_lemma_1, "below", lambda p, a, lam, q: right(p, a / 2, Fraction(0), q))
    assert section_2_lemma_1.check_lemma().verdict == Verdict.FAILS


def test_more_mean_than_the_noise_leaves_fails_the_remark(monkeypatch):
    def louder(seed, count, classes=(2,)):
        for laws, noise in few(seed, count, classes):
            yield laws, noise + Fraction(1, 2)

    monkeypatch.setattr(section_2_lemma_1, "problems", louder)
    assert section_2_lemma_1.check_remark().verdict == Verdict.FAILS


def test_noise_outside_the_other_subspace_would_satisfy_equation_14(monkeypatch):
    def silent(seed, count, classes=(2,)):
        for laws, noise in few(seed, count, classes):
            yield [Law(x.mean, x.own, x.noise * 0, x.chances, x.independent) for x in laws], noise

    monkeypatch.setattr(section_2_lemma_1, "problems", silent)
    assert section_2_lemma_1.check_dropped_noise().verdict == Verdict.HOLDS


def test_the_two_kernels_meet_the_assumptions_and_are_ordered_as_said():
    chosen, missed = theorem_one.two_kernels()
    for pair in (chosen, missed):
        assert met(pair, Fraction(1, 10))
    quotient = [captured(one, projector(other)) / one.mean_energy for one, other in (chosen, missed)]
    assert quotient == [Fraction(49, 625), Fraction(25, 169)]
    assert exceeding(chosen[0].within(), between(*chosen)) == Fraction(1, 2)
    assert exceeding(missed[0].within(), between(*missed)) == 0


def test_equal_priors_make_both_ways_to_draw_pairs_the_same():
    for laws, noise in problems(5, 12, (2, 3, 4)):
        C = len(laws)
        p = np.array([Fraction(1, C)] * C, dtype=object)
        off = 1 - np.eye(C, dtype=int)
        successive, both = off * Fraction(1, C * (C - 1)), off * Fraction(1, C**2)
        assert theorem_one._mixture(laws, noise, p, successive) == theorem_one._mixture(
            laws, noise, p * p / (p @ p), both / both.sum()
        )


def test_the_sharp_law_comes_as_near_as_one_likes():
    ratios = [section_2_lemma_1.sharp_model(Fraction(1, 10**k)) for k in (1, 3, 6)]
    np.testing.assert_allclose(ratios, [1.1, 1.001, 1.000001])
