"""The protocol of an experiment as data: what runs on what, read from a room's ``paper/protocol.toml``."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from ..base.fingerprint import fingerprint
from ..base.rooms import RoomError, packages
from ..base.splits import Split
from . import splits as splitting
from .errors import ExperimentError, UnknownName, suggestion
from .fold import Measure
from .measured_by import measured_by
from .splits import SplitPlan, seed_of, split_rows
from .validation import checked_fields

PROFILES = ("quick", "paper")


@dataclass(frozen=True, order=True)
class Task:
    """One measurement: a method on one split of one data set."""

    experiment: str
    dataset: str
    split: int
    method: str
    profile: str

    @property
    def key(self) -> str:
        """The task's name, stable, and unique in the store."""
        return f"{self.experiment}|{self.dataset}|{self.split}|{self.method}|{self.profile}"

    @property
    def seed(self) -> int:
        """32-bit seed of the key without the profile, as ``quick`` gives the numbers that ``paper`` gives."""
        return seed_of(self.experiment, self.dataset, self.split, self.method)

    def __str__(self) -> str:
        return f"{self.experiment} {self.dataset} split {self.split} {self.method} ({self.profile})"


@dataclass(frozen=True)
class Protocol:
    """One experiment of a paper.

    Attributes
    ----------
    id : str
        Room and table, such as ``"drm/table-8"``.
    package : str
        The room's package; ``experiments.EXPERIMENTS`` in it holds the measure.
    title, metric, plus_minus : str
        For people; the column compared with the printed mean; what the printed ± is over.
    splits : SplitPlan
    datasets, methods : tuple of str
    settings : dict
        Handed to the measure.
    thresholds : dict
        Bounds of ours that a verdict uses and no measure sees; no result depends on them.
    quick : dict
        What ``--profile quick`` changes: `datasets`, `stand_ins`, `methods`, `splits_used`, `settings`.
    not_stated : dict
        What the paper leaves open, and what we assumed.
    printed : str or None
        File beside the protocol with the printed numbers.
    printed_splits : int
        Number of splits behind a printed number.
    higher_is_better : bool
    better_of : tuple of str
        Columns of which the paper reports, per data set and method, the one with the better mean: a choice
        that has seen the test rows. `metric` is then the honest variant, shown beside it.
    """

    id: str
    package: str
    title: str
    metric: str
    plus_minus: str
    splits: SplitPlan
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    settings: dict[str, Any] = field(default_factory=dict)
    thresholds: dict[str, Any] = field(default_factory=dict)
    quick: dict[str, Any] = field(default_factory=dict)
    not_stated: dict[str, str] = field(default_factory=dict)
    printed: str | None = None
    printed_splits: int = 1
    higher_is_better: bool = True
    better_of: tuple[str, ...] = ()

    @property
    def room(self) -> str:
        return self.id.partition("/")[0]

    @property
    def table(self) -> str:
        return self.id.partition("/")[2]

    @property
    def stand_ins(self) -> Mapping[str, str]:
        """Sets that are not the experiment's and that only ``quick`` runs on, each with the reason.

        They are there where no set of its own comes without a URL; no printed number is about them.
        """
        return dict(self.quick.get("stand_ins", {}))

    def known_datasets(self, profile: str) -> tuple[str, ...]:
        """Return all sets that a profile may run on, also those that it leaves out unless asked for."""
        return (*self.datasets, *(self.stand_ins if profile == "quick" else ()))

    @property
    def printed_path(self) -> Path | None:
        """The file of printed numbers, or None."""
        return None if self.printed is None else _folder(self.package) / "paper" / self.printed

    def tasks(
        self,
        profile: str = "paper",
        *,
        datasets: Iterable[str] | None = None,
        methods: Iterable[str] | None = None,
        splits: Iterable[int] | None = None,
    ) -> list[Task]:
        """Return the tasks of a profile, sorted; the filters keep a part of them.

        Raises
        ------
        UnknownName
            A filter names what the experiment does not have.
        """
        if profile not in PROFILES:
            raise UnknownName(f"no profile {profile!r}; there are {', '.join(PROFILES)}")
        chosen = self.quick if profile == "quick" else {}
        numbers = list(range(1, self.splits.n + 1))
        usual = [*chosen.get("datasets", ()), *chosen.get("stand_ins", ())]
        # a filter may reach beyond the quick slice: a set that is asked for by name is wanted
        return sorted(
            Task(self.id, dataset, split, method, profile)
            for dataset in self._pick("data set", datasets, usual, self.known_datasets(profile))
            for method in self._pick("method", methods, chosen.get("methods"), self.methods)
            for split in self._pick("split", splits, chosen.get("splits_used"), numbers)
        )

    def _pick(self, what: str, wanted: Iterable[Any] | None, usual: Any, known: Iterable[Any]) -> list[Any]:
        known = list(known)
        for name in wanted or ():
            if name not in known:
                raise UnknownName(f"{self.id} has no {what} {name!r}{suggestion(str(name), map(str, known))}")
        return list(dict.fromkeys(wanted if wanted is not None else usual or known))

    def settings_for(self, profile: str) -> dict[str, Any]:
        """Return the settings that the measure gets under `profile`."""
        return {**self.settings, **(self.quick.get("settings", {}) if profile == "quick" else {})}

    def settings_hash(self, profile: str, dataset: str) -> str:
        """Return a sha256 of all that the protocol contributes to a result on `dataset`."""
        return _sha256({"settings": self.settings_for(profile), "splits": self.splits.describe(dataset)})

    @property
    def hash(self) -> str:
        """sha256 of what results depend on, as their provenance states it."""
        return _sha256(
            {name: part for name, part in asdict(self).items() if name not in ("thresholds", "not_stated")}
        )

    def rows(self, data: Any, dataset: str, split: int) -> Split:
        """Return the (train, test) rows of one split; see `marginbook.experiments.splits.split_rows`."""
        return split_rows(self.splits, data, experiment=self.id, dataset=dataset, split=split)

    def measure(self) -> Measure:
        """Return the room's function that does one task."""
        table = _tables(self.package).EXPERIMENTS
        if self.table not in table:
            raise ExperimentError(
                f"{self.package}.experiments.EXPERIMENTS has no {self.table!r}; it has {sorted(table)}"
            )
        found: Measure = table[self.table]
        return found

    def code(self) -> str:
        """Return the fingerprint of the code behind a result: the measure, and how rows are split."""
        measure = measured_by(_folder(self.package), self.package, self.table) or self.measure()
        return fingerprint(measure, splitting, messages=False)

    def load(self, dataset: str) -> Any:
        """Return one of the experiment's data sets; see `load_dataset`."""
        return load_dataset(self.package, dataset)


def load_dataset(package: str, dataset: str) -> Any:
    """Return a data set: one that the room makes itself (``experiments.DATASETS``), else the registry's."""
    own = getattr(_tables(package), "DATASETS", {})
    if dataset in own:
        return own[dataset]()
    return importlib.import_module("marginbook.datasets").load(dataset)


def printed_columns(protocol: Protocol, results: Any) -> Any:
    """Return results in the columns of the printed table; see ``experiments.EXPANSIONS`` of the room.

    A room says there how one of its results becomes rows of the table, where a printed entry is chosen
    from several results, as it is of a table whose columns are rules of selection.
    """
    expand = getattr(_tables(protocol.package), "EXPANSIONS", {}).get(protocol.table)
    return results if expand is None else expand(results)


def rooms() -> dict[str, str]:
    """Return the rooms that have a protocol: short name -> package.

    They are the sub-packages of marginbook that hold ``paper/protocol.toml``, and the packages that the
    environment variable ``MARGINBOOK_ROOMS`` names (with commas), for rooms that live elsewhere.
    """
    try:
        found = packages()
    except RoomError as error:
        raise ExperimentError(str(error)) from None
    with_one = (name for name, folder in found.items() if (folder / "paper" / "protocol.toml").is_file())
    return {name.rpartition(".")[2]: name for name in with_one}


def experiments() -> list[str]:
    """Return the ids of all experiments, such as ``"drm/table-8"``, by room, as its file orders them."""
    return [f"{room}/{table}" for room, package in rooms().items() for table in _read(package)]


def load_protocol(experiment: str) -> Protocol:
    """Return the protocol with the id `experiment`.

    Raises
    ------
    UnknownName
        There is none of that id; the message lists the nearest.
    ExperimentError
        Its file has a field that is missing, unknown or of the wrong type.
    """
    room, _, table = experiment.partition("/")
    package = rooms().get(room)
    tables = _read(package) if package else {}
    if package is None or table not in tables:
        raise UnknownName(f"no experiment {experiment!r}{suggestion(experiment, experiments())}")
    fields = checked_fields(tables[table], f"{_file_name(package)}: [{table}]")
    return Protocol(id=experiment, package=package, **fields)


def _read(package: str) -> dict[str, dict[str, Any]]:
    path = _folder(package) / "paper" / "protocol.toml"
    try:
        tables = _parsed(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ExperimentError(f"{_file_name(package)} is not valid TOML: {error}") from None
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise ExperimentError(
                f"{_file_name(package)}: {name} stands outside of a table; experiments are [tables]"
            )
    return tables


@lru_cache(maxsize=32)
def _parsed(text: str) -> dict[str, Any]:
    return tomllib.loads(text)  # a protocol is read thousands of times, and changes only in tests


def _file_name(package: str) -> str:
    return f"{package.rpartition('.')[2]}/paper/protocol.toml"


@cache
def _folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    places = list(spec.submodule_search_locations or ()) if spec else []
    return Path(places[0]) if places else Path(os.devnull)


def _tables(package: str) -> Any:
    return importlib.import_module(f"{package}.experiments")


def _sha256(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
