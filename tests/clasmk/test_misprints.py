"""The claims on criteria, subspaces and misprints: what they come to, and what changes them."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from marginbook.claims import Verdict
from marginbook.clasmk.claims import (
    misprints,
    section_1_complexity,
    section_2_criteria,
    section_3_bases,
    section_4_layers,
)
from marginbook.clasmk.claims.distributions import problems
from marginbook.clasmk.estimators.lssvm import LSSVMClassifier
from marginbook.clasmk.estimators.uncertain_rows import confidence
from marginbook.clasmk.model.kernel_sets import poly, rbf
from marginbook.clasmk.model.normalised_kernels import normalised_gram
from marginbook.clasmk.model.subspaces import coordinates, fit_subspaces
from marginbook.kernels import gram

from ..verdicts import corrected, holds


@pytest.fixture(autouse=True)
def _fewer(monkeypatch):
    for module in (section_2_criteria, section_3_bases):
        monkeypatch.setattr(module, "problems", lambda seed, count: problems(seed, count // 6))


@pytest.mark.parametrize(
    "check",
    [
        section_3_bases.check_blocks,
        section_3_bases.check_scale,
        section_3_bases.check_centring,
        misprints.check_psd,
        section_1_complexity.check_complexity,
        section_4_layers.check_confidence,
    ],
)
def test_these_hold(check):
    holds(check)


@pytest.mark.parametrize(
    "check",
    [
        section_2_criteria.check_index,
        section_2_criteria.check_denominator,
        section_3_bases.check_set,
        misprints.check_sign,
        misprints.check_feature_index,
        section_4_layers.check_stopping,
    ],
)
def test_these_are_corrected(check):
    assert corrected(check).seeds


def test_energies_and_quotients_by_naive_loops():
    rng = np.random.default_rng(0)
    X, codes = section_2_criteria.blobs(rng, 3, 8)
    new, labels = section_2_criteria.blobs(rng, 3, 5)
    kernels = [*rbf((1.0,)), *poly((2,))]
    subspaces = fit_subspaces(X, codes, kernels)
    E = section_2_criteria.energies(new, labels, subspaces)
    for c in range(3):
        for d in range(3):
            for k, kernel in enumerate(kernels):
                s = subspaces[d][k]
                found = [
                    np.sum((s.A.T @ normalised_gram(kernel, s.rows, x[None])[:, 0]) ** 2)
                    for x in new[labels == c]
                ]
                assert E[c, d, k] == pytest.approx(np.mean(found))
    for k in range(2):
        above = sum(E[c, d, k] for c in range(3) for d in range(3) if c != d) / 2
        assert section_3_bases.quotients(E)[k] == pytest.approx(above / sum(E[c, c, k] for c in range(3)))


def test_clouds_are_as_far_apart_as_asked():
    X, codes = section_2_criteria.blobs(np.random.default_rng(1), 4, 4000, gap=3.0)
    centres = np.array([X[codes == c].mean(axis=0) for c in range(4)])
    np.testing.assert_allclose(np.linalg.norm(centres - np.roll(centres, 1, axis=0), axis=1), 3.0, atol=0.1)


def test_class_kernels_by_naive_loops_and_with_one_kernel():
    rng = np.random.default_rng(2)
    parts = [rng.normal(size=(4, 3)), rng.normal(size=(4, 1)), rng.normal(size=(4, 2))]
    nu = np.array([0.5, 0.3, 0.2])
    h = misprints.class_kernel(parts, nu)
    for a in range(4):
        for b in range(4):
            left, right = np.zeros(3), np.zeros(3)
            for z, w in zip(parts, nu, strict=True):
                left[: z.shape[1]] += np.sqrt(w) * z[a]
                right[: z.shape[1]] += np.sqrt(w) * z[b]
            assert h[a, b] == pytest.approx(left @ right)
    np.testing.assert_allclose(misprints.class_features(parts, nu) @ misprints.class_features(parts, nu).T, h)
    np.testing.assert_allclose(misprints.class_kernel(parts[:1], np.ones(1)), parts[0] @ parts[0].T)


def test_a_changed_kernel_fails(monkeypatch):
    right = misprints.class_kernel
    monkeypatch.setattr(misprints, "class_kernel", lambda parts, nu: right(parts, nu) - np.eye(len(parts[0])))
    assert misprints.check_psd().verdict == Verdict.FAILS
    monkeypatch.setattr(misprints, "class_kernel", lambda parts, nu: right(parts[:1], nu[:1]))
    assert misprints.check_psd().verdict == Verdict.FAILS  # no longer the features' inner product
    assert misprints.check_feature_index().verdict == Verdict.FAILS


def test_the_gaussian_kernel_that_is_meant_is_scikit_learns():
    X = np.random.default_rng(3).normal(size=(6, 2))
    np.testing.assert_allclose(gram(rbf((0.5,))[0], X), RBF(length_scale=0.5 / np.sqrt(2))(X))


def test_a_kernel_with_a_plus_sign_would_fail_the_correction(monkeypatch):
    right = misprints.gram
    monkeypatch.setattr(misprints, "gram", lambda kernel, X: 1 / right(kernel, X))
    assert misprints.check_sign().verdict == Verdict.FAILS


def test_one_kernel_only_makes_the_printed_index_right():
    """With K = C = 1 the c-th kernel is the k-th: the misprint has no effect."""
    rng = np.random.default_rng(4)
    X, _ = section_2_criteria.blobs(rng, 2, 10)
    kernels = rbf((1.0,))
    subspaces = fit_subspaces(X, np.zeros(len(X), dtype=int), kernels)
    s = subspaces[0][0]
    literal = normalised_gram(kernels[0], X, s.rows) @ s.A
    np.testing.assert_allclose(literal, coordinates(subspaces, X)[0][0], atol=1e-8)


def test_the_bases_contain_their_own_samples():
    X, codes = section_2_criteria.blobs(np.random.default_rng(5), 3, 30)
    found = section_2_criteria.energies(X, codes, fit_subspaces(X, codes, rbf((2.0, 0.5, 0.05))))
    np.testing.assert_allclose(np.einsum("cck->ck", found), 1, atol=2e-3)


def test_rating_on_the_bases_twice_fails_the_correction(monkeypatch):
    """The sets for the weights replaced by the bases' own: nothing corrects the optimism."""
    right, kept = section_3_bases.blobs, {}

    def same(rng, C, n):
        if n != 40:
            return right(rng, C, n)
        kept.setdefault(C, right(rng, C, n))
        return kept[C]

    monkeypatch.setattr(section_3_bases, "blobs", same)
    assert section_3_bases.check_set().verdict == Verdict.FAILS


def test_an_average_over_samples_of_another_class_fails_the_denominator(monkeypatch):
    right = section_2_criteria._estimates
    monkeypatch.setattr(
        section_2_criteria, "_estimates", lambda law, rng, n, *_: (right(law, rng, n)[0], 0.3)
    )
    assert section_2_criteria.check_denominator().verdict == Verdict.FAILS


def test_the_denominator_as_printed_estimates_the_energy(monkeypatch):
    """So it belongs to (24); an energy 2 % off would be noticed."""
    right = section_2_criteria.captured
    monkeypatch.setattr(section_2_criteria, "captured", lambda law, P: right(law, P) * Fraction(102, 100))
    assert section_2_criteria.check_denominator().verdict == Verdict.FAILS


def test_equal_energies_would_make_both_rules_the_same(monkeypatch):
    right = section_2_criteria.energies
    monkeypatch.setattr(section_2_criteria, "energies", lambda *data: np.ones_like(right(*data)))
    assert section_2_criteria.check_index().verdict == Verdict.HOLDS


def test_components_that_lose_the_mean_fail(monkeypatch):
    right = np.linalg.svd

    def centred(A, **options):
        return right(A - A.mean(axis=0), **options)

    monkeypatch.setattr(section_3_bases.np.linalg, "svd", centred)
    assert section_3_bases.check_centring().verdict == Verdict.FAILS


def test_a_sum_that_stays_and_a_mean_that_moves_both_fail(monkeypatch):
    right = section_3_bases.energies
    monkeypatch.setattr(section_3_bases, "energies", lambda X, codes, s: right(X, codes, s) * 5 / len(s))
    assert section_3_bases.check_scale().verdict == Verdict.FAILS
    monkeypatch.setattr(section_3_bases, "energies", lambda X, codes, s: right(X, codes, s) * len(s))
    assert section_3_bases.check_scale().verdict == Verdict.FAILS


def test_confidence_is_that_in_the_decision_and_the_other_reading_is_told():
    evidence = section_4_layers.check_confidence()
    assert evidence.verdict == Verdict.HOLDS
    assert "of 1215 as expected 0 are marginal" in evidence.measured
    assert "kappa is negative for 0, and -1 < kappa is without effect for 1200" in evidence.why
    assert "classified wrongly, and its sign agrees with the decision for 698" in evidence.reading
    assert "has the right sign for 1200, is -3 for that sample" in evidence.reading
    signed = section_4_layers.check_confidence(margin="signed")
    assert signed.verdict == Verdict.FAILS
    assert "kappa is negative for 502" in signed.why


@pytest.mark.parametrize("scale", [0.999, 1.001, -1.0])
def test_another_confidence_is_not_the_least_change(scale, monkeypatch):
    monkeypatch.setattr(section_4_layers, "confidence", lambda *given: scale * confidence(*given))
    evidence = section_4_layers.check_confidence()
    assert evidence.verdict == Verdict.FAILS
    assert evidence.slack < 0
    assert "to 1e-6 of it" not in evidence.measured


def test_the_least_change_by_hand():
    xi = np.array([[3.0, -3.0, 1.0], [0.0, 0.5, -9.0]])
    np.testing.assert_allclose(section_4_layers.least_change(xi), [1.0, 0.25], atol=1e-12)


def test_a_basis_of_all_data_that_is_smaller_fails(monkeypatch):
    right = section_3_bases.greedy_embedding
    monkeypatch.setattr(
        section_3_bases,
        "greedy_embedding",
        lambda kernel, X, tol: right(kernel, X[:3] if len(X) == 240 else X, tol=tol),
    )
    assert section_3_bases.check_blocks().verdict == Verdict.FAILS


@pytest.mark.parametrize("margin", ["printed", "signed"])
def test_confidences_by_loops(margin):
    rng = np.random.default_rng(6)
    xi, codes = rng.normal(size=(30, 4)), rng.integers(4, size=30)
    for row, c, kappa in zip(xi, codes, confidence(xi, codes, margin), strict=True):
        own = int(np.argmax(row)) if margin == "printed" else c
        assert kappa == pytest.approx((row[own] - max(v for j, v in enumerate(row) if j != own)) / 2)


def test_the_loop_by_hand():
    nus = [np.zeros((1, 2)), np.array([[1.0, 0.0]]), np.array([[1.0, 0.5]]), np.array([[1.0, 0.5]])]
    layers, found = section_4_layers.stopping(nus, 0.1, printed=False)
    assert (layers, found) == (3, [1.0, 0.5, 0.5])
    assert section_4_layers.stopping(nus, 0.6, printed=False) == (2, [1.0, 0.5])
    with pytest.raises(LookupError, match="layer 2 is needed and 1 is the last one learned"):
        section_4_layers.stopping(nus, 0.1, printed=True)


def test_the_normal_equations_give_the_machine_of_the_library():
    rng = np.random.default_rng(8)
    Z, y = rng.normal(size=(30, 4)), rng.choice((-1.0, 1.0), size=(30, 1))
    model = LSSVMClassifier(C=2.0).fit(Z, y.ravel())
    np.testing.assert_allclose(section_1_complexity.solved(Z, y, 2.0).ravel(), model.coef_.ravel(), rtol=1e-9)


def test_multiplications_by_loops():
    rows, rank = 7, 4
    products = sum(1 for i in range(rank) for _ in range(i + 1) for _ in range(rows)) + rows * rank
    # Cholesky: each entry of the lower triangle takes as many products as columns before it, and a division
    factor = sum(j + 1 for i in range(rank) for j in range(i + 1))
    assert section_1_complexity.multiplications(rows, rank) == products + factor + rank**2


def test_the_order_is_that_of_the_solution_and_the_whole_training_is_the_other_reading(monkeypatch):
    evidence = section_1_complexity.check_complexity()
    assert "N^0.00 with N alone and like m^3.00 with m alone" in evidence.measured
    assert "N^1.00 with N alone and like m^2.00 with m alone" in evidence.reading
    assert "440 of 440 labels change the solution" in evidence.reading
    right = section_1_complexity.solving
    monkeypatch.setitem(
        section_1_complexity.COUNTED, "the solution alone", lambda N, m: right(N, m) * max(m, 1) // 10
    )
    assert section_1_complexity.check_complexity().verdict == Verdict.FAILS


def test_exponents_of_the_multiplications():
    assert section_1_complexity.growth(10**12, 10, more_rows=100) == pytest.approx(1, abs=1e-6)
    assert section_1_complexity.growth(10**12, 10**5, more_rank=10) == pytest.approx(2, abs=1e-4)
