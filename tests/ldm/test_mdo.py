"""MDO: the cost and its gradient, stationary ends, and starts that matter because the cost is not convex."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import minmax_scale, normalize
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
    parametrize_with_checks,
)

from marginbook.ldm.peers.mdo import MDOClassifier
from marginbook.ldm.peers.mdo_descent import learned_starts, mdo_cost, mdo_objective, solve_mdo


def two_clouds(m=60, p=4, shift=0.8, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(m) < 0.4, 1.0, -1.0)
    return normalize(rng.normal(size=(m, p)) + shift * y[:, None]), y


def slow_objective(w, X, y, a, b):
    total = 0.0
    for x, sign in zip(X, y, strict=True):
        score = float(w @ x) / np.linalg.norm(w)
        right = sign * score >= 0
        total += np.exp(-a * score**2) if right else np.exp(-b * sign * score)
    return total


# checks that pass few random rows end at few examples in kinks
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [MDOClassifier()],
    expected_failed_checks=lambda _: dict.fromkeys(
        (
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        ),
        "repeated rows have other random starts, and of ends in one minimum, which agree in 4 digits of a "
        "decision value, the lowest is taken",
    ),
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_without_random_starts_a_weight_counts_rows_to_all_digits():
    model = MDOClassifier(n_restarts=0)
    check_sample_weight_equivalence_on_dense_data("MDOClassifier", model)
    check_sample_weight_equivalence_on_sparse_data("MDOClassifier", model)


@pytest.mark.parametrize(("a", "b"), [(100.0, 10.0), (1.0, 1.0), (3.0, 0.0), (0.0, 2.0)])
def test_the_cost_is_that_of_the_definition(a, b):
    X, y = two_clouds()
    w = np.random.default_rng(1).normal(size=4)
    value, _ = mdo_objective(w, X, y, a, b)
    assert value == pytest.approx(slow_objective(w, X, y, a, b), rel=1e-12)
    assert mdo_objective(5 * w, X, y, a, b)[0] == pytest.approx(value)


def test_the_kink_at_margin_zero():
    at_zero, right, left = mdo_cost(np.array([0.0, 1e-9, -1e-9]), 100.0, 10.0)[0]
    assert at_zero == 1
    assert right == pytest.approx(1)
    assert left == pytest.approx(1)
    np.testing.assert_allclose(mdo_cost(np.array([0.0, 1e-9, -1e-9]), 100.0, 10.0)[1], [0, 0, -10], atol=1e-5)


@settings(max_examples=60)
@given(
    a=st.floats(0, 200),
    b=st.floats(0, 20),
    width=st.sampled_from([0.3, 1e-1, 1e-2]),
    seed=st.integers(0, 10**6),
)
def test_the_gradient_is_that_of_finite_differences(a, b, width, seed):
    rng = np.random.default_rng(seed)
    X, y = two_clouds(20, 3, seed=seed)
    w = rng.normal(size=3)
    value, gradient = mdo_objective(w, X, y, a, b, width)
    step = 1e-6
    for k, e in enumerate(np.eye(3)):
        up, down = (mdo_objective(w + s * step * e, X, y, a, b, width)[0] for s in (1, -1))
        assert gradient[k] == pytest.approx((up - down) / (2 * step), rel=1e-4, abs=1e-5 * (1 + value))
    assert abs(gradient @ w) < 1e-9 * (1 + value)


@given(t=st.floats(-1, 1), width=st.sampled_from([1e-1, 1e-3]), b=st.floats(0.1, 20))
def test_a_wide_kink_has_slopes_of_margins_nearby_and_costs_no_more(t, width, b):
    smooth, slope = mdo_cost(np.array([t]), 50.0, b, width)
    exact, _ = mdo_cost(np.array([t]), 50.0, b)
    nearest = np.clip(0.0, t - width, t + width)  # the slope jumps there
    around = mdo_cost(np.append(np.linspace(t - width, t + width, 201), nearest), 50.0, b)[1]
    rounding = 1e-9 * (1 + abs(slope[0]))
    assert around.min() - rounding <= slope[0] <= around.max() + rounding
    assert np.exp(-b * width / 2) * (1 - 1e-12) <= smooth[0] / exact[0] <= 1 + 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_in_the_plane_it_finds_the_best_of_all_directions(seed):
    rng = np.random.default_rng(seed)
    X, y = normalize(rng.normal(size=(40, 2))), np.where(rng.random(40) < 0.5, 1.0, -1.0)
    angles = np.linspace(0, 2 * np.pi, 20_001)
    costs = [mdo_objective(np.array([np.cos(t), np.sin(t)]), X, y, 20.0, 3.0)[0] for t in angles]
    starts = learned_starts(X, y, seed, 30)
    found = solve_mdo(X, y, 20.0, 3.0, starts)
    assert found.objective <= min(costs) * (1 + 1e-4)


@pytest.mark.parametrize(("a", "b"), [(100.0, 10.0), (10.0, 3.0)])
def test_no_small_step_from_the_end_lowers_the_cost(a, b):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = normalize(minmax_scale(X)), 2.0 * y - 1
    model = MDOClassifier(a=a, b=b).fit(X, y)
    assert model.gradient_norm_ < 1e-3
    assert model.objective_ == pytest.approx(slow_objective(model.coef_, X, y, a, b), rel=1e-10)
    rng = np.random.default_rng(0)
    for size in (1e-2, 1e-3):
        for _ in range(100):
            step = rng.normal(size=X.shape[1])
            w = model.coef_ + size * step / np.linalg.norm(step)
            assert mdo_objective(w, X, y, a, b)[0] > model.objective_ - 1e-3


def test_ends_lie_in_kinks():
    """The reason for the certificate: examples sit exactly on the plane, where no gradient exists."""
    X, y = two_clouds(40, 6, shift=0.4)
    found = solve_mdo(X, y, 100.0, 10.0, learned_starts(X, y, 0, 3))
    margins = y * (X @ found.coef)
    assert ((margins <= 1e-5) & (margins >= -1.1e-4)).sum() >= 3
    assert found.gradient_norm < 1e-4
    assert np.linalg.norm(mdo_objective(found.coef, X, y, 100.0, 10.0)[1]) / len(y) > 0.01


def test_starts_end_in_different_minima_and_the_table_tells():
    X, y = two_clouds(40, 8, shift=0.3)
    model = MDOClassifier(b=1.0, n_restarts=8).fit(X, y)
    ends = [restart.objective for restart in model.restarts_]
    assert [restart.start for restart in model.restarts_][:2] == ["mean", "svm"]
    assert len(ends) == 10
    assert max(ends) > min(ends) * 1.01
    assert model.objective_ == min(ends)
    assert all(restart.objective <= restart.first for restart in model.restarts_)
    again = MDOClassifier(b=1.0, n_restarts=8).fit(X, y)
    assert (again.coef_ == model.coef_).all()
    other = MDOClassifier(b=1.0, n_restarts=8, random_state=1).fit(X, y)
    assert [r.first for r in other.restarts_][2:] != [r.first for r in model.restarts_][2:]


def test_exchanged_classes_change_only_the_sign():
    X, y = two_clouds()
    f = MDOClassifier(n_restarts=0).fit(X, y).decision_function(X)
    np.testing.assert_allclose(MDOClassifier(n_restarts=0).fit(X, -y).decision_function(X), -f, atol=1e-4)


def test_units_of_rows_do_not_matter():
    X, y = two_clouds()
    scales = np.random.default_rng(0).uniform(0.1, 100, len(y))[:, None]
    f = MDOClassifier().fit(X, y).decision_function(X)
    np.testing.assert_allclose(MDOClassifier().fit(scales * X, y).decision_function(7 * X), f, atol=1e-4)


def test_rows_and_columns_of_zeros_duplicates_and_a_class_of_one():
    X, y = two_clouds()
    model = MDOClassifier().fit(X, y)
    padded = MDOClassifier().fit(np.vstack([X, np.zeros((2, 4))]), np.r_[y, 1, -1])
    assert padded.objective_ == pytest.approx(model.objective_ + 2, rel=1e-5)
    assert (padded.decision_function(np.zeros((1, 4))) == 0).all()
    wider = MDOClassifier().fit(np.c_[X, np.zeros(len(y))], y)
    assert wider.coef_[-1] == 0
    twice = MDOClassifier().fit(np.vstack([X, X]), np.r_[y, y])
    assert twice.objective_ == pytest.approx(2 * model.objective_, rel=1e-4)
    one = np.where(np.arange(len(y)) == 5, "rare", "usual")
    assert MDOClassifier().fit(X, one).coef_.shape == (4,)
    nothing = MDOClassifier().fit(np.zeros((4, 3)), [0, 0, 1, 1])
    assert nothing.objective_ == 4
    assert (nothing.predict(np.ones((2, 3))) == nothing.predict(np.ones((2, 3)))[0]).all()


def test_sparse_rows_give_what_dense_rows_give():
    X, y = two_clouds(80, 6)
    X[np.abs(X) < 0.3] = 0
    dense = MDOClassifier().fit(X, y)
    rows = MDOClassifier().fit(sparse.csr_matrix(X), y)
    assert rows.objective_ == pytest.approx(dense.objective_, rel=1e-5)
    np.testing.assert_allclose(
        rows.decision_function(sparse.csr_matrix(X)), dense.decision_function(X), atol=1e-2
    )


def test_separable_data_are_separated():
    X, y = two_clouds(50, 40, shift=2.0)
    model = MDOClassifier().fit(X, y)
    assert model.score(X, y) == 1


def test_too_few_steps_warn_with_the_certificate():
    X, y = two_clouds(60, 10, shift=0.2)
    with pytest.warns(
        ConvergenceWarning, match=r"gradient of .* per example, more than 0.001; raise max_iter, 1"
    ):
        model = MDOClassifier(max_iter=1, n_restarts=0).fit(X, y)
    assert model.gradient_norm_ > 1e-3


def test_errors_say_what_to_do():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(
        ValueError, match=r"wrap MDOClassifier in OneVsRestClassifier .* of sklearn\.multiclass"
    ):
        MDOClassifier().fit(X, y)
    with pytest.raises(ValueError, match=r"b must be a number from 0 to 300, got 1000\.0"):
        MDOClassifier(a=1.0, b=1000.0).fit(X[:100], y[:100])
    with pytest.raises(ValueError, match="a must be a number from 0 to"):
        MDOClassifier(a=-1.0).fit(X[:100], y[:100])
    for name, value in (
        ("a", "1"), ("b", None), ("kink_width", 0), ("tol", -1), ("max_iter", 0), ("n_restarts", 1.5)
    ):  # fmt: skip
        with pytest.raises(ValueError, match=f"^{name} must be .*, got {value!r}$"):
            MDOClassifier(**{name: value}).fit(X[:100], y[:100])
    assert OneVsRestClassifier(MDOClassifier()).fit(X, y).score(X, y) > 0.6
