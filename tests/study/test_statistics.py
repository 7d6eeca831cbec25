"""The comparisons against closed forms, a naive loop, and examples with a known answer."""

import json

import numpy as np
import pandas as pd
import pytest

from marginbook.study.claims.posteriors import (
    ROPES,
    Posterior,
    against,
    better_matrix,
    pairwise,
    posterior,
    sensitivity,
)
from marginbook.study.claims.rankings import by_set, edges, not_told_apart, ranks, summary, verdict
from marginbook.study.experiments.candidates import points
from marginbook.study.experiments.methods import METHODS


@pytest.fixture
def table():
    """Three methods of one accuracy, one far behind, one far ahead; 12 sets."""
    rng = np.random.default_rng(0)
    base = rng.uniform(70, 90, 12)
    near = {name: base + rng.normal(0, 0.05, 12) for name in ("a", "b", "c")}
    return pd.DataFrame({**near, "low": base - 8, "high": base + 8}, index=[f"set {i}" for i in range(12)])


def test_one_difference_beyond_twice_the_rope_in_closed_form():
    # theta+ = 1 - w0^2 with w0 ~ Beta(1/2, 1): better if w0 < 1/sqrt(2), whose probability is 2^(-1/4)
    found = posterior([5.0], [0.0], 1.0, draws=40_000)
    assert found.better == pytest.approx(2**-0.25, abs=0.01)
    assert found.worse == 0


def test_one_difference_between_the_rope_and_its_double_in_closed_form():
    # theta+ = w1^2: better if w0 < 1 - 1/sqrt(2)
    found = posterior([1.5], [0.0], 1.0, draws=40_000)
    assert found.better == pytest.approx((1 - 2**-0.5) ** 0.5, abs=0.01)


def test_a_naive_loop_gives_the_same_probabilities():
    rng = np.random.default_rng(3)
    z, rope = rng.normal(0.8, 1.5, 7), 0.6
    values = np.concatenate([[0.0], z])
    wins = np.zeros(3)
    for weights in rng.dirichlet([0.5] + [1] * 7, size=3000):
        theta = np.zeros(3)
        for i, one in enumerate(values):
            for j, other in enumerate(values):
                where = 0 if one + other < -2 * rope else 2 if one + other > 2 * rope else 1
                theta[where] += weights[i] * weights[j]
        wins[np.argmax(theta)] += 1
    np.testing.assert_allclose(posterior(z, np.zeros(7), rope, draws=20_000), wins / 3000, atol=0.035)


def test_limits():
    scores = np.linspace(60, 90, 30)
    assert posterior(scores, scores) == (0, 1, 0)
    assert posterior(scores, scores - 20).decision == "better"
    assert posterior(scores, scores + 20).decision == "worse"
    assert posterior(scores, scores + 0.4, rope=0.5).decision == "same"
    # half of the sets far above, half far below: undecided, whatever the rope
    mixed = scores + np.where(np.arange(30) % 2, 6, -6)
    assert {posterior(mixed, scores, rope).decision for rope in ROPES} == {"open"}


def test_exchanging_the_methods_exchanges_worse_and_better():
    rng = np.random.default_rng(1)
    a, b = rng.normal(80, 3, 20), rng.normal(80.7, 3, 20)
    one, other = posterior(a, b, draws=20_000), posterior(b, a, draws=20_000)
    assert one.worse == pytest.approx(other.better, abs=0.02)
    assert one.same == pytest.approx(other.same, abs=0.02)
    assert sum(one) == pytest.approx(1)


def test_the_same_numbers_on_every_call():
    a, b = np.arange(10.0), np.arange(10.0)[::-1]
    assert posterior(a, b) == posterior(a, b)


@pytest.mark.parametrize(
    ("a", "b", "rope", "message"),
    [
        ([1.0, 2.0], [1.0], 1.0, "shapes"),
        ([1.0, np.nan], [1.0, 2.0], 1.0, "NaN"),
        ([1.0, 2.0], [1.0, 2.0], 0.0, "rope = 0.0, expected a positive number"),
    ],
)
def test_bad_input_is_named(a, b, rope, message):
    with pytest.raises(ValueError, match=message):
        posterior(a, b, rope)


def test_decisions_need_95_per_cent():
    assert Posterior(0.95, 0.05, 0).decision == "worse"
    assert Posterior(0.949, 0.051, 0).decision == "open"


def test_against_and_pairwise_agree_and_a_wider_rope_makes_more_the_same(table):
    versus, pairs = against(table, "a", draws=500), pairwise(table, draws=500)
    assert list(versus.index) == ["b", "c", "low", "high"]
    assert len(pairs) == 10
    assert versus.loc["high", "better"] == pytest.approx(pairs.loc[("a", "high"), "worse"], abs=0.05)
    assert dict(versus["decision"]) == {"b": "same", "c": "same", "low": "worse", "high": "better"}
    found = sensitivity(table, "a", (1.0, 10.0), draws=500)
    assert list(found[10.0]) == ["same"] * 4
    assert list(found[1.0]) == list(versus["decision"])


def test_the_heat_map_reads_from_row_to_column(table):
    matrix = better_matrix(pairwise(table, draws=500), ["high", "a", "b", "c", "low"])
    assert np.isnan(np.diag(matrix)).all()
    assert (matrix[0, 1:] > 0.95).all()
    assert (matrix[-1, :-1] < 0.05).all()


def test_ranks_and_their_test_know_who_is_ahead(table):
    order = ranks(table)
    assert order.index[0] == "high"
    assert order.index[-1] == "low"
    assert order["high"] == 1.0
    assert order["low"] == 5.0
    told = verdict(table)
    assert told["p"] < 1e-6
    assert told["p_F"] < told["p"]
    # k = 5, n = 12: q = 2.728, Demsar's Table 5(a)
    assert told["difference"] == pytest.approx(2.728 * np.sqrt(5 * 6 / (6 * 12)), abs=2e-3)
    assert "low" not in not_told_apart(table, "high")
    assert not_told_apart(table, "high")[0] == "high"


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    found = []
    for name, sets, gain in (("SVM", 3, 2.0), ("LDA", 3, 0.0), ("DRM", 2, 5.0)):
        for number in range(sets):
            for split in (1, 2):
                accuracy = 80 + gain + rng.uniform()
                found.append(
                    {
                        "dataset": f"s{number}", "split": split, "method": name, "accuracy": accuracy,
                        "g_mean": accuracy - 1, "needed": None if name == "LDA" else 40.0 + number,
                        "tune_seconds": 1.0 + split, "fit_seconds": 0.1, "predict_seconds": 0.02,
                        "n_test": 100, "n_fits": 49, "missed_fits": 49 if name == "DRM" else 0,
                    }
                )  # fmt: skip
    return pd.DataFrame(found)


def test_tables_hold_means_over_splits_of_the_sets_that_all_have(rows):
    table = by_set(rows)
    assert list(table.index) == ["s0", "s1"]
    assert list(table.columns) == ["DRM", "SVM", "LDA"]  # as the methods are listed
    one = rows[(rows["dataset"] == "s1") & (rows["method"] == "SVM")]
    assert table.loc["s1", "SVM"] == pytest.approx(one["accuracy"].mean())


def test_the_summary_is_sorted_by_rank_and_knows_what_is_missing(rows):
    told = summary(rows)
    assert list(told.index) == ["DRM", "SVM", "LDA"]
    assert list(told["rank"]) == [1, 2, 3]
    assert np.isnan(told.loc["LDA", "needed"])
    assert told.loc["SVM", "needed"] == 40.5
    assert told.loc["SVM", "predict"] == pytest.approx(0.2)
    assert told.loc["SVM", "tune"] == 2.5
    assert list(told["missed"]) == [100, 0, 0]


def test_edges_counts_the_outermost_values():
    values = sorted(point["lam"] for point in points(METHODS["SMM"].ranges))
    chosen = [values[0], values[1], values[2], values[-1]]
    rows = pd.DataFrame(
        {"method": "SMM", "parameters": [json.dumps({"lam": float(f"{one:.6g}")}) for one in chosen]}
    )
    told = edges(rows).loc["SMM: lam"]
    assert list(told) == [50, 25]
