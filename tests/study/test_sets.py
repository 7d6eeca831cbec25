"""The sets of the bench: two classes, splits of their own that all methods share, no data twice."""

import re
from itertools import combinations

import numpy as np
import pytest

from marginbook.base.project import resource
from marginbook.datasets.dataset import DatasetNotFetched
from marginbook.datasets.registry import registry
from marginbook.experiments import load_protocol
from marginbook.study.experiments.sets import SOURCES, SPLITS, TEST, TRAIN, shared, sizes, stratified_split

from ..sets import params

#: small ones, and one that is larger than what trains and tests
LOOKED_AT = ("heart", "thyroid", "breast-cancer", "vote", "sonar", "wdbc")


def loaded(name):
    try:
        return shared(name)
    except DatasetNotFetched as missing:
        pytest.skip(str(missing))


def test_the_protocol_has_these_sets_and_papers():
    protocol = load_protocol("study/accuracy")
    assert set(protocol.datasets) == set(SOURCES)
    assert len(SOURCES) >= 30
    assert sum(len(papers) > 1 for _, papers in SOURCES.values()) >= 15
    assert {paper for _, papers in SOURCES.values() for paper in papers} == {"drm", "ldm", "kfda", "clasmk"}


def test_pages_say_how_many_sets_and_methods_there_are():
    """In words, which no build fills in: another set or method has to change these pages."""
    protocol = load_protocol("study/accuracy")
    assert (len(protocol.datasets), len(protocol.methods)) == (30, 11)
    said = {
        page: re.findall(
            r"(\w+) (?:(?:small|data) )?sets|(\w+) methods", resource("book", f"{page}.md").read_text("utf-8")
        )
        for page in ("bridge", "drm", "guide", "ldm", "tour", "which")
    }
    assert [page for page, found in said.items() if ("thirty", "") not in found and page != "which"] == []
    assert [page for page in ("tour", "which") if ("", "eleven") not in said[page]] == []


@pytest.mark.parametrize("name", params(LOOKED_AT))
def test_splits_are_stratified_disjoint_and_of_the_stated_sizes(name):
    data = loaded(name)
    assert len(data.official_splits) == SPLITS
    assert len(np.unique(data.y)) == 2
    share = np.mean(data.y == data.y[0])
    for train, test in data.official_splits:
        assert (len(train), len(test)) == sizes(len(data.y))
        assert not np.intersect1d(train, test).size
        assert abs(np.mean(data.y[train] == data.y[0]) - share) < 1 / len(train) + 1e-9
    assert len({train.tobytes() for train, _ in data.official_splits}) == SPLITS


def test_a_split_depends_on_name_and_number_only():
    y = np.repeat([0, 1], [60, 40])
    one, again = stratified_split(y, "a", 1), stratified_split(y.copy(), "a", 1)
    assert all(map(np.array_equal, one, again))
    assert not np.array_equal(one[0], stratified_split(y, "a", 2)[0])
    assert not np.array_equal(one[0], stratified_split(y, "b", 1)[0])
    assert sizes(100_000) == (TRAIN, TEST)


@pytest.mark.urls
def test_every_task_of_a_split_has_the_same_rows():
    protocol = load_protocol("study/accuracy")
    data = loaded("heart")
    for train, test in (protocol.rows(data, "heart", 3), data.official_splits[2]):
        assert np.array_equal(train, data.official_splits[2][0])
        assert np.array_equal(test, data.official_splits[2][1])


@pytest.mark.urls  # but those at hand are looked at anyway
def test_no_two_names_are_the_same_data():
    known = {}
    sizes_of = {name: registry()[source].n for name, (source, _) in SOURCES.items()}
    for name, size in sizes_of.items():
        if list(sizes_of.values()).count(size) == 1:
            continue  # of its own size
        try:
            known[name] = shared(name)
        except DatasetNotFetched:
            continue
    if len(known) < 2:
        pytest.skip("data sets are not fetched")
    looks = {name: appearance(data.X, data.y) for name, data in known.items()}
    assert not [pair for pair in combinations(looks, 2) if alike(*(looks[name] for name in pair))]


def test_the_same_data_in_another_order_and_scale_are_recognised():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 4)) ** 3, rng.integers(0, 2, 50)
    order = rng.permutation(50)
    same = appearance(7 * X[order][:, ::-1] - 3, 1 - y[order])
    assert alike(appearance(X, y), same)
    assert not alike(appearance(X, y), appearance(X**2, y))


def appearance(X, y):
    """Return sizes, and moments of the standardised features, which do not depend on order and scale."""
    spread = X.std(axis=0)
    Z = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)
    classes = np.sort(np.unique(y, return_counts=True)[1])
    return len(y), classes, np.sort(np.abs((Z**3).mean(axis=0))), np.sort((Z**4).mean(axis=0))


def alike(one, other):
    return (
        one[0] == other[0]
        and np.array_equal(one[1], other[1])
        and len(one[2]) == len(other[2])
        and np.allclose(one[2], other[2], atol=1e-6)
        and np.allclose(one[3], other[3], rtol=1e-6)
    )
