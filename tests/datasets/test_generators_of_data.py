"""The generators against theory: moments, Bayes error, probabilities, seeds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from marginbook.datasets import make_banana, make_low_rank, make_ringnorm, make_twonorm, make_waveform
from marginbook.datasets.generators import waveform_bases

N = 20_000


def test_twonorm_moments_and_bayes_error():
    X, y = make_twonorm(N, random_state=0)
    a = 2 / np.sqrt(20)
    for label in (-1, 1):
        rows = X[y == label]
        np.testing.assert_allclose(rows.mean(axis=0), label * a, atol=5 / np.sqrt(len(rows)))
        np.testing.assert_allclose(np.cov(rows.T), np.eye(20), atol=6 / np.sqrt(len(rows)))
    error = np.mean(np.sign(X.sum(axis=1)) != y)
    bayes = norm.cdf(-2)
    assert abs(error - bayes) < 4 * np.sqrt(bayes * (1 - bayes) / N)


def test_twonorm_is_as_hard_in_every_dimension():
    X, y = make_twonorm(N, n_features=3, random_state=1)
    assert abs(np.mean(np.sign(X.sum(axis=1)) != y) - norm.cdf(-2)) < 0.005


def test_ringnorm_moments():
    X, y = make_ringnorm(N, random_state=0)
    wide, narrow = X[y == 1], X[y == -1]
    np.testing.assert_allclose(wide.mean(axis=0), 0, atol=10 / np.sqrt(len(wide)))
    np.testing.assert_allclose(narrow.mean(axis=0), 2 / np.sqrt(20), atol=5 / np.sqrt(len(narrow)))
    np.testing.assert_allclose(wide.var(axis=0), 4, atol=24 / np.sqrt(len(wide)))
    np.testing.assert_allclose(narrow.var(axis=0), 1, atol=6 / np.sqrt(len(narrow)))


def test_waveform_bases_are_the_three_triangles():
    bases = waveform_bases()
    assert bases.argmax(axis=1).tolist() == [10, 14, 6]
    np.testing.assert_array_equal(bases.max(axis=1), 6)
    np.testing.assert_array_equal(bases.sum(axis=1), 36)


def test_waveform_moments():
    X, y = make_waveform(N, n_classes=3, random_state=0)
    bases = waveform_bases()
    for label, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
        rows = X[y == label]
        mean = (bases[a] + bases[b]) / 2
        covariance = np.eye(21) + np.outer(bases[a] - bases[b], bases[a] - bases[b]) / 12
        np.testing.assert_allclose(rows.mean(axis=0), mean, atol=10 / np.sqrt(len(rows)))
        np.testing.assert_allclose(np.cov(rows.T), covariance, atol=25 / np.sqrt(len(rows)))
    _, two = make_waveform(N, random_state=0)
    np.testing.assert_array_equal(two == 1, y == 1)
    assert abs(np.mean(two == 1) - 1 / 3) < 0.015


def test_banana_means():
    X, y = make_banana(N, random_state=0)
    theta = np.linspace(0.125, 1.375, 10_001) * np.pi
    arc = 5 * np.column_stack([np.sin(theta), np.cos(theta)]).mean(axis=0)
    np.testing.assert_allclose(X[y == 1].mean(axis=0), arc, atol=0.2)
    np.testing.assert_allclose(X[y == -1].mean(axis=0), -arc - 3.75, atol=0.2)
    X, y = make_banana(500, noise=0.0, random_state=1)
    np.testing.assert_allclose(np.linalg.norm(X[y == 1], axis=1), 5)
    np.testing.assert_allclose(np.linalg.norm(X[y == -1] + 3.75, axis=1), 5)


@pytest.mark.parametrize("link", ["logistic", "probit"])
def test_low_rank_probabilities_are_the_frequencies(link):
    sample = make_low_rank(N, shape=(5, 4), rank=2, scale=1.5, link=link, random_state=0)
    assert np.linalg.matrix_rank(sample.coef) == 2
    np.testing.assert_allclose(np.linalg.norm(sample.coef), 1)
    score = (sample.X * sample.coef).sum(axis=(1, 2))
    np.testing.assert_allclose([score.mean(), score.var()], [0, 1], atol=0.05)
    truth = norm.cdf(1.5 * score) if link == "probit" else 1 / (1 + np.exp(-1.5 * score))
    np.testing.assert_allclose(sample.probability, truth, rtol=1e-10)
    for low in np.arange(0, 1, 0.2):
        bin_ = (sample.probability >= low) & (sample.probability < low + 0.2)
        frequency = np.mean(sample.y[bin_] == 1)
        assert abs(frequency - sample.probability[bin_].mean()) < 4 * 0.5 / np.sqrt(bin_.sum())


def test_low_rank_step_has_no_noise():
    sample = make_low_rank(500, link="step", random_state=0)
    score = (sample.X * sample.coef).sum(axis=(1, 2))
    np.testing.assert_array_equal(sample.y, np.where(score > 0, 1, -1))


@pytest.mark.parametrize("make", [make_twonorm, make_ringnorm, make_waveform, make_banana, make_low_rank])
def test_a_seed_fixes_the_data(make):
    first, again, other = make(30, random_state=3), make(30, random_state=3), make(30, random_state=4)
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert (first[0] != other[0]).any()
    rng = np.random.default_rng(3)
    np.testing.assert_array_equal(make(30, random_state=rng)[0], first[0])
    assert (make(30, random_state=rng)[0] != first[0]).any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_twonorm(0), "n_samples must be a whole number >= 1, got 0"),
        (lambda: make_waveform(5, n_classes=4), "n_classes must be 2 or 3, got 4"),
        (lambda: make_banana(5, radius=0), "radius must be > 0 and noise >= 0, got radius=0 and noise=1.0"),
        (lambda: make_low_rank(5, (3, 4), rank=4), r"rank must be at most 3 for shape \(3, 4\), got 4"),
        (lambda: make_low_rank(5, link="tanh"), "link must be one of logistic, probit, step, got 'tanh'"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
