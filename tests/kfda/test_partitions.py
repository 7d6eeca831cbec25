"""The partitions of the tables: sizes, the published ones first, the same on every call."""

from pathlib import Path

import numpy as np
import pytest

from marginbook.datasets import DatasetNotFetched, load
from marginbook.experiments import load_protocol
from marginbook.experiments.protocol import load_dataset
from marginbook.experiments.splits import split_rows
from marginbook.kfda.experiments import partitions
from marginbook.kfda.experiments.partitions import (
    DATASETS,
    DRAWN,
    PARTITIONS,
    SOURCES,
    TRAIN_SIZES,
    drawn,
    partitioned,
    pool,
    random_partition,
    realisation,
)

from ..sets import params


def fetched(name):
    try:
        return partitioned(name)
    except DatasetNotFetched:
        pytest.skip(f"{name} is not on this machine")


def test_protocols_name_sets_that_exist():
    for table in ("table-1", "table-2", "cuts", "curves"):
        assert set(load_protocol(f"kfda/{table}").datasets) <= set(DATASETS), table
    assert set(load_protocol("kfda/table-1").datasets) | set(load_protocol("kfda/table-2").datasets) == (
        set(DATASETS) - {"waveform-3-drawn"}
    )


def test_training_sizes_are_those_of_the_printed_tables():
    folder = Path(partitions.__file__).parent.parent / "paper"
    lines = (folder / "sets.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "dataset,printed_name,table,n_train,n_partitions"
    printed = {line.split(",")[0]: (int(line.split(",")[3]), int(line.split(",")[4])) for line in lines[1:]}
    assert printed == {name: (size, PARTITIONS.get(name, 100)) for name, size in TRAIN_SIZES.items()}


@pytest.mark.parametrize("name", params(["wdbc", *SOURCES, "splice"], SOURCES))
def test_every_set_of_the_registry(name):
    found = fetched(name)
    assert len(found.official_splits) == PARTITIONS.get(name, 100)
    for train, test in found.official_splits:
        assert len(train) == TRAIN_SIZES[name]
        assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(len(found.y)))
        assert len(np.unique(found.y[train])) == len(np.unique(found.y)) == 2
    official = load(SOURCES.get(name, name)).official_splits
    assert bool(official) == (name in SOURCES)
    for (train, test), (own_train, own_test) in zip(official, found.official_splits, strict=False):
        assert np.array_equal(train, own_train)
        assert np.array_equal(test, own_test)
    number = len(official) + 1
    expected = random_partition(name, number, len(found.y), TRAIN_SIZES[name])
    assert np.array_equal(found.official_splits[number - 1][0], expected[0])


def test_random_partitions_depend_on_name_and_number_only():
    train, test = random_partition("any", 3, 20, 8)
    assert train.tolist() == random_partition("any", 3, 20, 8)[0].tolist()
    assert train.tolist() != random_partition("any", 4, 20, 8)[0].tolist()
    assert train.tolist() != random_partition("other", 3, 20, 8)[0].tolist()
    assert sorted([*train, *test]) == list(range(20))
    # the numbers of committed results depend on this
    assert train.tolist() == [1, 2, 4, 5, 11, 15, 16, 19]


@pytest.mark.parametrize("name", DRAWN)
def test_drawn_sets_need_no_data_and_repeat(name):
    one, other = drawn(name), drawn(name)
    assert np.array_equal(one.X, other.X)
    assert np.array_equal(one.y, other.y)
    assert one.sha256 == other.sha256
    _, n_rows, n_train = DRAWN[name]
    assert one.X.shape[0] == n_rows
    assert [len(train) for train, _ in one.official_splits] == ([n_train] * 100 if n_train else [])


def test_the_room_comes_before_the_registry():
    assert len(load_dataset("marginbook.kfda", "twonorm-drawn").official_splits) == 100
    assert load_protocol("kfda/table-1").load("twonorm-drawn").name == "twonorm-drawn"


def test_realisation_is_found_by_its_rows():
    plan, found = load_protocol("kfda/table-1").splits, pool("twonorm-drawn")
    for number in (1, 4):
        train, _ = split_rows(plan, found, experiment="kfda/table-1", dataset="twonorm-drawn", split=number)
        assert realisation(found, found.X[train], found.y[train]) == number
    with pytest.raises(ValueError, match="no partition has these 400 training rows"):
        realisation(found, found.X[train] + 1e-9, found.y[train])
    with pytest.raises(ValueError, match="no partition has these 399"):
        realisation(found, found.X[train][1:], found.y[train][1:])


def test_unknown_set_is_named():
    with pytest.raises(ValueError, match=r"no set 'bananas'.*banana"):
        partitioned("bananas")


@pytest.mark.urls
def test_published_realisations_of_another_size_are_refused(monkeypatch):
    fetched("heart")
    monkeypatch.setitem(TRAIN_SIZES, "heart", 171)
    with pytest.raises(ValueError, match="heart: the published realisations train \\[170\\] rows"):
        partitioned("heart")
