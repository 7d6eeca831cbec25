"""Protocols: found, read, checked; tasks with stable keys and seeds."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from marginbook.experiments.errors import ExperimentError, UnknownName
from marginbook.experiments.protocol import Task, experiments, load_protocol, rooms

GOOD = """
[t]
title = "T"
metric = "m"
plus_minus = "splits"
splits = {kind = "random", n = 2, train_size = 5}
datasets = ["a", "b"]
methods = ["x"]
"""


@pytest.fixture
def protocol_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Write the protocol of a throw-away room."""
    name = f"room_{hashlib.sha256(str(tmp_path).encode()).hexdigest()[:8]}"
    folder = tmp_path / name / "paper"
    folder.mkdir(parents=True)
    (tmp_path / name / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("MARGINBOOK_ROOMS", name)

    def write(text: str) -> str:
        (folder / "protocol.toml").write_text(text)
        return name

    return write


def test_rooms_outside_of_the_package_are_found_beside_those_inside():
    assert rooms()["toyroom"] == "toyroom"
    assert rooms()["drm"] == "marginbook.drm"
    assert {"toyroom/folds", "toyroom/random", "drm/table-8"} <= set(experiments())


def test_a_room_that_cannot_be_imported_is_named(monkeypatch):
    monkeypatch.setenv("MARGINBOOK_ROOMS", "no_such_room")
    with pytest.raises(ExperimentError, match="MARGINBOOK_ROOMS names 'no_such_room'"):
        experiments()


def test_a_test_part_is_one_split_and_folds_are_five(protocol_file):
    for kind, n in (("original-test", 1), ("original-folds", 5)):
        name = protocol_file(GOOD.replace('"random", n = 2, train_size = 5', f'"{kind}"'))
        protocol = load_protocol(f"{name}/t")
        assert protocol.splits.n == protocol.printed_splits == n


def test_every_field_is_read():
    protocol = load_protocol("toyroom/folds")
    assert (protocol.room, protocol.table) == ("toyroom", "folds")
    assert protocol.splits.kind == "original-folds"
    assert protocol.splits.n == protocol.printed_splits == 5
    assert protocol.settings == {"neighbours": 3, "trees": 5}
    assert protocol.printed_path.name == "folds.csv"
    assert load_protocol("toyroom/random").not_stated == {"share of training rows": "one half"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('title = "T"', ""), r"protocol.toml: \[t\]: the key 'title' is missing"),
        (
            ('metric = "m"', 'metrik = "m"\nmetric = "m"'),
            r"\[t\]: unknown key 'metrik'; did you mean metric\?",
        ),
        (('["a", "b"]', '["a", "a"]'), "datasets = .* must be a list of different names"),
        (('["x"]', "[]"), "methods = .* must be a list of different names"),
        (('["x"]', '"x"'), "methods = 'x', but it must be a list"),
        (('"random"', '"randomly"'), "splits kind = 'randomly', but it must be one of original-folds"),
        (("n = 2, ", ""), "splits: n, the number of splits, is missing"),
        (("n = 2", "n = 0"), "splits n = 0, but it must be a whole number of at least 1"),
        (("n = 2", "n = true"), "splits n = True"),
        ((", train_size = 5", ""), "need either train_size or train_fraction"),
        (("train_size = 5", "train_fraction = 1.5"), "train_fraction = 1.5, but it must be a fraction"),
        (
            ("train_size = 5", "train_size = {a = 5}"),
            r"must name the same data sets as `datasets`, differs in \['b'\]",
        ),
        (('"random", n = 2', '"original-test"'), "train_size belongs to random splits, not to original-test"),
        (("train_size = 5", "train_size = 5, seed = 1"), "splits: unknown key 'seed'"),
        (("[t]", "stray = 1\n[t]"), "stray stands outside of a table"),
        (("[t]", "[t"), "not valid TOML"),
    ],
)
def test_a_wrong_field_is_named_with_its_file(protocol_file, change, message):
    assert change[0] in GOOD
    name = protocol_file(GOOD.replace(*change))
    with pytest.raises(ExperimentError, match=message) as caught:
        load_protocol(f"{name}/t")
    assert f"{name}/paper/protocol.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("quick", "message"),
    [
        ('datasets = ["c"]', "quick.datasets has 'c'"),
        ("splits_used = [3]", "quick.splits_used has 3"),
        ("splits = [1]", "quick: unknown key 'splits'; did you mean splits_used"),
        ('stand_ins = ["c"]', "stand_ins = .* must be a table of data sets, each with the reason"),
        ('stand_ins = { c = " " }', "stand_ins = .* must be a table of data sets, each with the reason"),
        ('stand_ins = { a = "why" }', "quick.stand_ins has 'a', which is one of its own data sets"),
    ],
)
def test_the_quick_slice_is_checked(protocol_file, quick, message):
    name = protocol_file(f"{GOOD}[t.quick]\n{quick}\n")
    with pytest.raises(ExperimentError, match=message):
        load_protocol(f"{name}/t")


def test_a_stand_in_needs_a_size_where_sizes_are_given_per_data_set(protocol_file):
    text = GOOD.replace("train_size = 5", "train_size = {a = 5, b = 7}")
    name = protocol_file(f'{text}[t.quick]\nstand_ins = {{ c = "why" }}\n')
    with pytest.raises(ExperimentError, match=r"quick.stand_ins has 'c', for which splits states no size"):
        load_protocol(f"{name}/t")


def test_stand_ins_are_of_the_quick_profile_only(protocol_file):
    def sets(quick: str, profile: str = "quick", **chosen) -> set[str]:
        protocol = load_protocol(f"{protocol_file(f'{GOOD}[t.quick]{chr(10)}{quick}{chr(10)}')}/t")
        return {task.dataset for task in protocol.tasks(profile, **chosen)}

    stand_ins = 'stand_ins = { c = "as b is far away" }'
    assert sets("") == {"a", "b"}
    assert sets(stand_ins) == {"c"}
    assert sets(f'{stand_ins}\ndatasets = ["a"]') == {"a", "c"}
    assert sets(stand_ins, datasets=["b", "c"]) == {"b", "c"}
    assert sets(stand_ins, "paper") == {"a", "b"}
    with pytest.raises(UnknownName, match="has no data set 'c'"):
        sets(stand_ins, "paper", datasets=["c"])


def test_sizes_may_be_given_per_data_set(protocol_file):
    name = protocol_file(GOOD.replace("train_size = 5", "train_size = {a = 5, b = 7}"))
    assert load_protocol(f"{name}/t").splits.describe("b")["train_size"] == 7


def test_an_unknown_id_lists_the_near_ones():
    with pytest.raises(UnknownName, match=r"no experiment 'toyroom/fold'; did you mean toyroom/folds"):
        load_protocol("toyroom/fold")
    with pytest.raises(UnknownName, match="no experiment 'elsewhere/table-1'"):
        load_protocol("elsewhere/table-1")


def test_tasks_are_the_product_of_the_axes_sorted():
    protocol = load_protocol("toyroom/folds")
    tasks = protocol.tasks("paper")
    assert len(tasks) == len(set(tasks)) == 2 * 3 * 5
    assert tasks == sorted(tasks)
    quick = protocol.tasks("quick")
    assert {(t.dataset, t.method, t.split) for t in quick} == {
        ("blobs", m, s) for m in ("nearest", "forest") for s in (1, 2)
    }


def test_filters_reach_beyond_the_quick_slice_and_reject_unknown_names():
    protocol = load_protocol("toyroom/folds")
    chosen = protocol.tasks("quick", datasets=["wine"], methods=["centroid"], splits=[4])
    assert chosen == [Task("toyroom/folds", "wine", 4, "centroid", "quick")]
    with pytest.raises(UnknownName, match="no data set 'wines'; did you mean wine"):
        protocol.tasks("quick", datasets=["wines"])
    with pytest.raises(UnknownName, match="no split 6"):
        protocol.tasks("quick", splits=[6])


def test_key_and_seed_are_what_they_were():
    """A changed derivation would silently make every stored result irreproducible."""
    task = Task("drm/table-8", "glass2", 1, "DRM(R)", "paper")
    assert task.key == "drm/table-8|glass2|1|DRM(R)|paper"
    digest = hashlib.sha256(b"drm/table-8|glass2|1|DRM(R)").hexdigest()
    assert task.seed == int(digest[:8], 16)


def test_the_seed_ignores_the_profile_and_nothing_else():
    parts = {"experiment": "r/t", "dataset": "a", "split": 1, "method": "x", "profile": "paper"}
    seed = Task(**parts).seed
    assert Task(**{**parts, "profile": "quick"}).seed == seed
    for change in ({"experiment": "r/u"}, {"dataset": "b"}, {"split": 2}, {"method": "y"}):
        assert Task(**{**parts, **change}).seed != seed


def test_settings_hash_follows_what_decides_a_result():
    from dataclasses import replace

    protocol = load_protocol("toyroom/random")
    here = protocol.settings_hash("paper", "blobs")
    assert protocol.settings_hash("quick", "blobs") == here
    assert replace(protocol, settings={"neighbours": 2}).settings_hash("paper", "blobs") != here
    assert (
        replace(protocol, splits=replace(protocol.splits, stratify=False)).settings_hash("paper", "blobs")
        != here
    )
    more = replace(protocol, splits=replace(protocol.splits, n=9), title="Other")
    assert more.settings_hash("paper", "blobs") == here
