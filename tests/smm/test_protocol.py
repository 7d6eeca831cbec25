"""The protocols: complete, consistent with the measures, and their quick profiles run."""

import pytest

from marginbook.experiments import load_protocol
from marginbook.experiments.protocol import Task, rooms
from marginbook.experiments.splits import split_rows
from marginbook.experiments.work import data_hash, measure_task
from marginbook.smm.experiments import DATASETS, EXPERIMENTS
from marginbook.smm.experiments.draws import NAMES
from marginbook.smm.experiments.methods import METHODS
from marginbook.smm.experiments.real_pairs import HIGH, PAIRS
from marginbook.smm.experiments.simulation import with_levels

REAL = ("matrices", "classes")
SIMULATED = [name for name in EXPERIMENTS if name not in REAL]


def test_every_experiment_has_a_protocol_and_a_measure():
    assert "smm" in rooms()
    for name in EXPERIMENTS:
        protocol = load_protocol(f"smm/{name}")
        assert protocol.measure() is EXPERIMENTS[name]
        assert protocol.printed is None
        assert protocol.splits.n == 20
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
    assert set(DATASETS) == {*NAMES, *PAIRS, HIGH}
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
