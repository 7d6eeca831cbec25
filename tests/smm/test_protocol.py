"""The protocols: complete, consistent with the measures, and their quick profiles run."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from marginbook.datasets import load
from marginbook.experiments import load_protocol
from marginbook.experiments.one_task import data_hash, measure_task
from marginbook.experiments.protocol import Task, rooms
from marginbook.experiments.splits import split_rows
from marginbook.smm.experiments import DATASETS, EXPERIMENTS
from marginbook.smm.experiments.draws import NAMES
from marginbook.smm.experiments.methods import METHODS
from marginbook.smm.experiments.real_pairs import HIGH, PAIRS, PARITY
from marginbook.smm.experiments.simulation import with_levels

REAL = ("matrices", "contest", "classes")
SIMULATED = [name for name in EXPERIMENTS if name not in REAL]


def test_every_experiment_has_a_protocol_and_a_measure():
    assert "smm" in rooms()
    for name in EXPERIMENTS:
        protocol = load_protocol(f"smm/{name}")
        assert protocol.printed is None
        assert protocol.splits.n >= 20
        assert str(protocol.splits.n) in protocol.plus_minus
        assert not protocol.higher_is_better


@pytest.mark.parametrize("name", [*SIMULATED, "matrices"])
def test_methods_exist_and_have_points(name):
    protocol = load_protocol(f"smm/{name}")
    for profile in ("quick", "paper"):
        settings = protocol.settings_for(profile)
        for method in protocol.methods:
            base, stated = with_levels(method, settings)
            assert METHODS[base].points(stated, (6, 6))
            assert stated["n_levels"] % 2 == 0


def test_simulated_sets_are_the_rooms_own():
    used = {dataset for name in SIMULATED for dataset in load_protocol(f"smm/{name}").datasets}
    assert used == set(NAMES)
    assert set(DATASETS) == {*NAMES, *PAIRS, HIGH, PARITY}
    assert len({data_hash(DATASETS[name]()) for name in NAMES}) == len(NAMES)


def test_the_splits_of_a_simulated_set_are_its_draws():
    protocol = load_protocol("smm/sample-size")
    data = protocol.load(NAMES[0])
    for split in (1, 20):
        rows = split_rows(protocol.splits, data, experiment=protocol.id, dataset=NAMES[0], split=split)
        assert [data.X[part].tolist() for part in rows] == [[[split, 0]], [[split, 1]]]


@pytest.mark.parametrize("name", ["sample-size", "bumps"])
def test_quick_profiles_run(name):
    protocol = load_protocol(f"smm/{name}")
    tasks = protocol.tasks("quick")
    assert len(tasks) <= 10
    outcome = measure_task(protocol, tasks[-1])
    assert outcome.error is None, outcome.error
    assert 0 < outcome.values["mae"] < 0.5
    assert outcome.values["n_test"] == 500


def test_a_real_pair_that_is_bundled_runs():
    protocol = load_protocol("smm/matrices")
    task = Task(protocol.id, "digits-3-8", 1, "vector logistic", "quick")
    assert task in protocol.tasks("quick")
    outcome = measure_task(protocol, task)
    assert outcome.error is None, outcome.error
    assert outcome.values["error"] < 10
    assert outcome.values["n_train"] == 100
    data = protocol.load("digits-3-8")
    assert data.X.shape == (357, 8, 8)
    assert data.target_names == ("3", "8")
    assert data.y.sum() == 174


def test_products_of_digits_have_rank_one_and_a_target_of_rank_one():
    protocol = load_protocol("smm/matrices")
    data, single = protocol.load(PARITY), load("digits-8x8")
    assert data.X.shape == (898, 64, 64)
    assert 0.45 < data.y.mean() < 0.55
    sigma = np.linalg.svd(data.X[:50], compute_uv=False)
    assert (sigma[:, 1] < 1e-9 * sigma[:, 0]).all()
    images, odd = np.asarray(single.X).reshape(-1, 64), np.asarray(single.y) % 2
    machine = LogisticRegression(C=0.01, max_iter=1000).fit(images, odd)
    wrong = np.mean(machine.predict(images) != odd)
    values = np.einsum("a,nab,b->n", machine.coef_[0], data.X, machine.coef_[0])
    # the intercept of the mean image is left out of the product
    assert np.mean((values > 0) != data.y) == pytest.approx(2 * wrong * (1 - wrong), abs=0.03)


def test_no_two_products_share_a_digit():
    found = load_protocol("smm/matrices").load(PARITY)
    rows = np.linalg.svd(found.X[:200])[0][:, :, 0]
    alike = np.abs(rows @ rows.T) - np.eye(200)
    assert alike.max() < 1 - 1e-9


def test_sets_that_are_run_again_are_as_in_the_first_run():
    first, again = (load_protocol(f"smm/{name}") for name in ("matrices", "contest"))
    assert set(again.datasets) < set(first.datasets)
    assert set(again.methods) < set(first.methods)
    assert all(first.splits.train_size[name] == again.splits.train_size[name] for name in again.datasets)
    assert {**first.settings, **again.settings} == first.settings
    assert first.thresholds["margins"]["error"] == again.thresholds["margins"]["error"]
    assert again.splits.n > first.splits.n
