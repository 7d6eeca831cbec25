"""The claims on Lemma 1 and Theorem 1: what they come to, and what fails them."""

import re
from fractions import Fraction

import numpy as np
import pytest

from marginbook.claims import Verdict
from marginbook.clasmk.claims import section_2_lemma_1
from marginbook.clasmk.claims import section_2_remark_1 as remark_one
from marginbook.clasmk.claims import section_2_theorem_1 as theorem_one
from marginbook.clasmk.claims.distributions import Law, between, captured, exceeding, met, problems, projector
from marginbook.clasmk.claims.tight_laws import MARGIN, noise_inside, root_below, tight_classes, tight_pairs

from ..verdicts import corrected, holds


def few(seed, count, classes=(2,)):
    return problems(seed, count // 8, classes)


@pytest.fixture(autouse=True)
def _fewer(monkeypatch):
    for module in (section_2_lemma_1, remark_one, theorem_one):
        monkeypatch.setattr(module, "problems", few)


def scaled(law: Law, factor: int, own: int) -> Law:
    """A law whose kernel is not normalised."""
    return Law(law.mean * factor, law.own * own, law.noise * own, law.chances, law.independent)


@pytest.mark.parametrize(
    "check",
    [
        section_2_lemma_1.check_lemma,
        remark_one.check_remark,
        remark_one.check_neglected,
        remark_one.check_mean_ratio,
        theorem_one.check_theorem,
    ],
)
def test_these_hold(check):
    holds(check)


def test_noise_that_is_outside_its_own_subspace_only_is_the_other_reading_of_14():
    evidence = section_2_lemma_1.check_dropped_noise()
    assert evidence.verdict == Verdict.HOLDS
    own = section_2_lemma_1.check_dropped_noise(outside="own")
    assert own.verdict == Verdict.FAILS
    assert own.slack < 0
    assert evidence.reading == own.reading
    found = re.search(r"the two sides are equal in (\d+) of (\d+) models", evidence.reading)
    assert [int(n) for n in found.groups()] == [evidence.sizes["models"], own.sizes["models"]]


def test_a_captured_energy_that_is_off_fails_14(monkeypatch):
    right = section_2_lemma_1.captured
    monkeypatch.setattr(
        section_2_lemma_1,
        "captured",
        lambda law, P, signal=False: right(law, P, signal=signal) * (1 + Fraction(signal, 1000)),
    )
    evidence = section_2_lemma_1.check_dropped_noise()
    assert evidence.verdict == Verdict.FAILS
    assert evidence.measured.startswith("equal in 0 of")


def test_the_lowest_bound_is_that_of_the_bound_itself_as_the_criterion():
    corrected(theorem_one.check_lowest_bound)
    for right in ({"by": "bound"}, {"dominated": True}):
        assert theorem_one.check_lowest_bound(**right).verdict == Verdict.HOLDS
    for wrong in ({"mended": "quotient"}, {"ahead": ("overlap",)}, {"ahead": ("overlap", "mean")}):
        assert theorem_one.check_lowest_bound(**wrong).verdict == Verdict.FAILS


def test_the_quotient_as_lambda_is_a_reading_of_the_bound_too(monkeypatch):
    pattern = r"in (\d+) of the (\d+) pairs in which it is below 1"
    off, pairs = map(int, re.search(pattern, theorem_one.check_lowest_bound().reading).groups())
    assert 0 < off <= pairs
    right = theorem_one._criterion

    def in_order(one, other, noise):
        return right(one, other, noise) | {"at (15)": float(right(one, other, noise)["quotient"])}

    monkeypatch.setattr(theorem_one, "_criterion", in_order)
    evidence = theorem_one.check_lowest_bound()
    assert evidence.verdict == Verdict.HOLDS
    assert f"in 0 of the {pairs} pairs" in evidence.reading


def test_with_less_noise_a_smaller_overlap_and_a_longer_mean_do_not_give_a_lower_bound():
    """The noise lowers the bound: at the tight lambda it is (1 - |m|^2) / (1 - sqrt(overlap (1 - noise)))."""

    def kernel(overlap, mean, noise):
        bound = section_2_lemma_1.lemma_bound(mean, overlap / (1 - noise), noise)
        return {"overlap": overlap, "mean": mean, "noise": noise, "bound": bound}

    loud = kernel(Fraction(11, 100), Fraction(49, 100), Fraction(1, 2))
    for noise, ahead in ((Fraction(0), False), (Fraction(1, 2), True), (Fraction(49, 100), False)):
        other = kernel(Fraction(10, 100), Fraction(50, 100), noise)
        assert theorem_one._ahead(other, loud)
        assert theorem_one._ahead(other, loud, ("overlap", "mean", "noise")) == ahead
        if ahead:
            assert other["bound"] < loud["bound"] < 1
    assert kernel(Fraction(10, 100), Fraction(50, 100), Fraction(0))["bound"] > loud["bound"]


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

    monkeypatch.setattr(remark_one, "problems", louder)
    assert remark_one.check_remark().verdict == Verdict.FAILS


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


@pytest.mark.parametrize("number", range(len(tight_pairs())))
def test_built_pairs_meet_the_assumptions_and_nearly_reach_the_bound(number):
    (one, other), noise = tight_pairs()[number]
    assert met([one, other], noise)
    lam = section_2_lemma_1.overlap(one, other)
    assert lam < 1
    chance = exceeding(one.within(), between(one, other))
    bound = section_2_lemma_1.lemma_bound(one.mean_energy, lam, noise)
    assert 1 - 1.1 * float(MARGIN) < float(chance) / bound <= 1


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_built_classes_nearly_reach_the_theorem_whatever_their_probabilities(classes):
    laws, noise = tight_classes(classes, Fraction(5, 13), Fraction(12, 13), 3)
    assert met(laws, noise)
    p = np.array([Fraction(k + 1) for k in range(classes)])
    p = p / p.sum()
    pairs = np.outer(p / (1 - p), p) * (1 - np.eye(classes, dtype=int))
    held, bound, chance = theorem_one._mixture(laws, noise, p, pairs)
    assert held
    assert chance > 0.998 * bound


def test_without_orthogonal_noise_the_lemma_is_false_by_simulation():
    (one, other), noise = noise_inside()
    assert not met([one, other], noise)
    assert one.noise_energy == other.noise_energy == noise
    rng = np.random.default_rng(9)
    a, b, c = one.sample(rng, 40000), one.sample(rng, 40000), other.sample(rng, 40000)
    np.testing.assert_allclose((a**2).sum(axis=1), 1)
    apart = np.mean(np.sum((a - c) ** 2, axis=1))
    assert apart == pytest.approx(float(between(one, other)), rel=0.01)
    lam = captured(one, projector(other)) / captured(one, projector(one))
    bound = section_2_lemma_1.lemma_bound(one.mean_energy, lam, noise)
    assert np.mean(np.sum((a - b) ** 2, axis=1) > float(between(one, other))) == pytest.approx(0.94, abs=0.01)
    assert bound == pytest.approx(0.748, abs=0.001)


def test_roots_are_rational_and_just_below():
    for square in (Fraction(0), Fraction(1, 3), Fraction(1), Fraction(7, 2)):
        root = root_below(square)
        assert 0 <= square - root**2 < Fraction(1, 10**5)
