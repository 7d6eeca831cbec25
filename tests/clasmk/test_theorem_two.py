"""The claims on Theorem 2 and Lemmas 2 and 3: what they come to, and what fails them."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginbook.claims import Verdict
from marginbook.clasmk.claims import section_2_theorem_2 as theorem_two
from marginbook.clasmk.claims import section_2_theorem_2_lemmas as lemmas
from marginbook.clasmk.claims import section_2_theorem_2_use as use
from marginbook.clasmk.claims.block_distributions import (
    Blocks,
    block_models,
    constant_blocks,
    nearly_tight,
)
from marginbook.clasmk.claims.distributions import Law

from ..verdicts import corrected, holds


def few(seed, count, **options):
    return block_models(seed, 30, **options)


@pytest.fixture(autouse=True)
def _fewer(monkeypatch):
    for module in (theorem_two, lemmas, use):
        monkeypatch.setattr(module, "block_models", few)


@pytest.mark.parametrize("check", [lemmas.check_pairs, lemmas.check_average, use.check_sharper])
def test_the_lemmas_hold(check):
    holds(check)


@pytest.mark.parametrize(
    "check",
    [
        theorem_two.check_hypotheses,
        theorem_two.check_bound,
        lemmas.check_intermediate,
    ],
)
def test_these_are_corrected(check):
    corrected(check, exactly=True)


def test_the_repaired_bound_shows_nothing_and_one_with_geometric_means_too_little():
    evidence = use.check_trivial()
    assert evidence.verdict == Verdict.FAILS
    assert evidence.slack == pytest.approx(-0.5)
    other = use.check_trivial(bound=use.sharper)
    assert other.verdict == Verdict.FAILS
    assert -0.1 < other.slack < 0
    assert use.check_trivial(bound=use.one_kernel).verdict == Verdict.HOLDS


def test_the_bound_of_one_kernel_is_that_of_theorem_1():
    model = theorem_two.four_classes()
    lam, q = float(model.lam), float(1 - model.noise)
    assert use.one_kernel(model) == pytest.approx((1 - 0.49) / (1 - lam**0.5 * q))


@pytest.mark.parametrize("C", [2, 3, 7])
def test_models_that_nearly_reach_the_lemmas(C):
    model = nearly_tight(C)
    assert model.met(same_noise=False)
    assert model.lam < 1
    bound = 2 * C * theorem_two.apart_bound(C, model.lam, model.noise)
    assert 0.999 * model.between() < bound <= model.between()
    loud = nearly_tight(C, inside=True)
    assert not loud.met(same_noise=False)
    assert loud.between() < 2 * C * theorem_two.apart_bound(C, loud.lam, loud.noise)


def test_the_printed_bound_is_negative_for_four_classes():
    model = theorem_two.four_classes()
    assert model.met(same_noise=False)
    assert model.lam == Fraction(2, 3)
    assert theorem_two.numerator(model, printed=True) == 1 - Fraction(16 * 49, 400)
    assert theorem_two.numerator(model) == 1 - Fraction(49, 100)
    assert theorem_two.apart_bound(4, model.lam, model.noise) > 0


@settings(max_examples=40)
@given(
    st.integers(2, 12),
    st.fractions(0, 1, max_denominator=20),
    st.fractions(0, 1, max_denominator=20),
    st.fractions(0, 1, max_denominator=20),
)
def test_the_repaired_bound_is_never_below_1(C, noise, lam, share):
    """|m|^2 = share * energy in each block."""
    energy = C * (1 - noise) * (1 + (C - 1) * lam)
    assert 1 - share * energy / C**2 >= theorem_two.apart_bound(C, lam, noise)


@settings(max_examples=60)
@given(st.integers(2, 12), st.floats(0, 0.99), st.floats(0, 0.99))
def test_the_sharper_bound_is_no_larger_and_no_less_than_its_floor(C, lam, noise):
    q = 1 - noise
    plain, sharp = 1 + (C - 1) * lam, 2 * lam**0.5 + (C - 2) * lam
    assert sharp <= plain + 1e-12
    assert (1 - q * plain / C) / (1 - q * sharp / C) >= 1 - 1 / C - 1e-12


def test_the_sharper_bound_by_its_steps():
    """Cauchy-Schwarz for each pair and block, then concavity: both below what the bound says."""
    for model in block_models(5, 20, same_noise=False):
        E, C, q = model.energies.astype(float), len(model.laws), float(1 - model.noise)
        pairs = [(c, d) for c in range(C) for d in range(C) if c != d]
        product = np.mean([np.sqrt(E[c] * E[d]).sum() for c, d in pairs])
        assert float(model.between()) >= 2 * (C - product) - 1e-12
        lam = float(model.lam)
        assert product <= q * (2 * lam**0.5 + (C - 2) * lam) + 1e-12


def leaning(seed, count, **options):
    """Only means are left of the samples: their norms are not 1."""
    for model in few(seed, count, **options):
        laws = tuple(Law(law.mean, law.own * 0, law.noise * 0, law.chances, False) for law in model.laws)
        yield Blocks(laws, model.noise)


def test_without_unit_norms_the_lemmas_fail(monkeypatch):
    monkeypatch.setattr(lemmas, "block_models", leaning)
    assert lemmas.check_pairs().verdict == Verdict.FAILS
    assert lemmas.check_average().verdict == Verdict.FAILS


def test_models_with_a_lambda_of_one_are_none_that_the_theorem_is_about():
    evidence = theorem_two.check_bound()
    drawn = [m for seed, same in ((612, True), (613, False)) for m in few(seed, 60, same_noise=same)]
    below = sum(m.lam < 1 for m in drawn) + 1 + len(theorem_two.TIGHT_CLASSES)
    assert any(m.lam == 1 for m in drawn)
    assert evidence.sizes["with lambda < 1"] == below < evidence.sizes["models"]
    assert f"of {below} models with lambda < 1" in evidence.measured
    assert ", 0 of" in evidence.reading


def test_another_constant_fails_the_corrected_bound(monkeypatch):
    right = theorem_two.numerator
    monkeypatch.setattr(theorem_two, "numerator", lambda model, **options: right(model, printed=True))
    assert theorem_two.check_bound().verdict == Verdict.FAILS


def test_a_denominator_that_is_too_large_fails_the_lemmas(monkeypatch):
    for module in (theorem_two, lemmas):
        monkeypatch.setattr(module, "apart_bound", lambda C, lam, noise, *_: 1 - lam * (1 - noise) / (2 * C))
    assert lemmas.check_pairs().verdict == Verdict.FAILS
    assert lemmas.check_average().verdict == Verdict.FAILS


def test_with_the_printed_noise_free_elsewhere_hypotheses_would_hold(monkeypatch):
    def free(seed, count, same_noise):
        return block_models(seed, count, same_noise=False)

    monkeypatch.setattr(theorem_two, "block_models", free)
    assert theorem_two.check_hypotheses().verdict == Verdict.HOLDS


def test_a_trivial_class_count_of_two():
    model = constant_blocks(2, Fraction(1), Fraction(0), Fraction(0))
    assert model.lam == 0
    assert model.between() == 4
    assert use.sharper(model) == pytest.approx(1.0)


@pytest.mark.parametrize("C", [2, 3, 5])
def test_the_sharper_bound_is_the_quotient_of_mean_distances_for_aligned_means(C):
    root = Fraction(1, 4)
    model = constant_blocks(C, Fraction(1), root**2, root, own_root=Fraction(1), aligned=True)
    assert use.sharper(model) == pytest.approx(float(model.within() / model.between()))
    assert use.sharper(model) == pytest.approx(use.best_sharper(C, root**2)[1])
