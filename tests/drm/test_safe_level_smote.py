"""Safe-Level-SMOTE against the printed algorithm as a loop."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.utils import check_random_state
from sklearn.utils.estimator_checks import check_get_params_invariance, check_parameters_default_constructible

from marginbook.drm.peers.safe_level_smote import SafeLevelSMOTE, nearest_others, new_examples, safe_levels


def printed_algorithm(X, y, label, k, wanted, seed):
    """One positive example, one feature at a time, with the five cases of the safe level ratio."""
    own = np.flatnonzero(y == label)

    def nearest(i, among):
        others = [j for j in among if j != i]
        return sorted(others, key=lambda j: np.linalg.norm(X[j] - X[i]))[:k]

    level = {i: sum(y[j] == label for j in nearest(i, range(len(y)))) for i in own}
    rng, made = check_random_state(seed), []
    while len(made) < wanted:
        order = rng.permutation(len(own))
        draws = rng.randint(k, size=len(own))
        uniform = rng.uniform(size=(len(own), X.shape[1]))
        for at, draw, u in zip(order, draws, uniform, strict=True):
            p = own[at]
            n = nearest(p, own)[draw]
            ratio = level[p] / level[n] if level[n] else np.inf
            if ratio == np.inf and level[p] == 0:
                continue
            new = np.empty(X.shape[1])
            for a in range(X.shape[1]):
                if ratio == np.inf:
                    gap = 0.0
                elif ratio == 1:
                    gap = u[a]
                elif ratio > 1:
                    gap = u[a] / ratio
                else:
                    gap = (1 - ratio) + u[a] * ratio
                new[a] = X[p, a] + gap * (X[n, a] - X[p, a])
            made.append(new)
    return np.array(made[:wanted])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [1, 3, 5])
def test_the_printed_algorithm(k, seed):
    """The same draws give the same examples; all five cases occur in these data."""
    X, y = make_classification(80, 4, weights=[0.8], class_sep=0.4, flip_y=0.1, random_state=seed)
    X_new, y_new = SafeLevelSMOTE(k_neighbors=k, random_state=seed).fit_resample(X, y)
    wanted = (y == 0).sum() - (y == 1).sum()
    assert len(X_new) == len(X) + wanted
    np.testing.assert_array_equal(X_new[: len(X)], X)
    assert (y_new[len(X) :] == 1).all()
    np.testing.assert_allclose(X_new[len(X) :], printed_algorithm(X, y, 1, k, wanted, seed), atol=1e-10)


@pytest.mark.parametrize(
    ("level_p", "level_n", "low", "high"),
    [(3, 0, 0, 0), (2, 2, 0, 1), (4, 1, 0, 0.25), (1, 4, 0.75, 1), (0, 2, 1, 1)],
)
def test_cases(level_p, level_n, low, high):
    """u runs over the whole interval of its case."""
    u = np.linspace(0, 1, 11)[:, None]
    levels = np.full(11, level_p), np.full(11, level_n)
    new = new_examples(np.zeros((11, 1)), np.ones((11, 1)), *levels, u)
    np.testing.assert_allclose(new, low + u * (high - low), atol=1e-15)


def test_noise_makes_nothing():
    p, n = np.zeros((2, 3)), np.ones((2, 3))
    made = new_examples(p, n, np.array([0, 1]), np.array([0, 0]), np.full((2, 3), 0.5))
    np.testing.assert_array_equal(made, np.zeros((1, 3)))


def test_no_safe_example_at_all():
    """Each example of the class sits among the others: the data come back as they are, with a warning."""
    grid = np.arange(60.0)[:, None]
    y = np.zeros(60, int)
    y[[5, 25, 45]] = 1
    with pytest.warns(UserWarning, match="none of the 3 examples has a neighbour of its own class"):
        X_new, y_new = SafeLevelSMOTE(k_neighbors=2).fit_resample(grid, y)
    np.testing.assert_array_equal(X_new, grid)
    np.testing.assert_array_equal(y_new, y)


def test_duplicates_do_not_count_themselves():
    """Six equal rows are each other's neighbours, and a row is never its own."""
    X = np.r_[np.zeros((6, 2)), np.random.default_rng(0).normal(5, 1, (20, 2))]
    y = np.r_[np.ones(6, int), np.zeros(20, int)]
    assert safe_levels(X, y, 1, 5).tolist() == [5] * 6
    assert safe_levels(X, np.r_[1, 1, 0, 0, 0, 0, np.zeros(20, int)], 1, 5).tolist() == [1, 1]
    X_new, _ = SafeLevelSMOTE(random_state=0).fit_resample(X, y)
    np.testing.assert_array_equal(X_new[26:], np.zeros((14, 2)))


def test_a_row_among_more_duplicates_than_neighbours():
    """The search may leave the row itself out: what is farthest gives way, and never the nearest."""
    X = np.r_[np.zeros((9, 2)), np.random.default_rng(0).normal(5, 1, (20, 2))]
    found = nearest_others(X, X[:9], np.arange(9), 5)
    assert found.shape == (9, 5)
    assert (found < 9).all()
    assert not (found == np.arange(9)[:, None]).any()
    near = nearest_others(np.array([[0.0], [1], [3], [7]]), np.array([[0.4]]), np.array([3]), 2)
    assert near.tolist() == [[0, 1]]


def test_three_classes_and_text_labels():
    X, y = make_classification(
        90, 5, n_informative=4, n_redundant=0, n_classes=3, weights=[0.6, 0.25], random_state=0
    )
    names = np.array(["a", "bb", "ccc"])[y]
    X_new, y_new = SafeLevelSMOTE(random_state=0).fit_resample(X, names)
    assert len(set(np.unique(y_new, return_counts=True)[1])) == 1
    assert np.isfinite(X_new).all()


def test_same_seed_same_examples():
    X, y = make_classification(60, 4, weights=[0.8], random_state=0)
    a, b, c = (SafeLevelSMOTE(random_state=seed).fit_resample(X, y)[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)


def test_too_few_examples():
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.r_[np.ones(4, int), np.zeros(26, int)]
    with pytest.raises(
        ValueError, match="class 1 has 4 examples, too few for k_neighbors=5: lower it below 4"
    ):
        SafeLevelSMOTE().fit_resample(X, y)
    with pytest.raises(ValueError, match="k_neighbors must be at least 1, got 0"):
        SafeLevelSMOTE(k_neighbors=0).fit_resample(X, y)


def test_parameters_as_scikit_learn_wants_them():
    check_get_params_invariance("SafeLevelSMOTE", SafeLevelSMOTE())
    check_parameters_default_constructible("SafeLevelSMOTE", SafeLevelSMOTE())
