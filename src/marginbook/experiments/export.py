"""From the store to ``results/<room>/<table>.csv``: sorted, the same bytes each time, with provenance."""

from __future__ import annotations

import csv
import io
import json
import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.progress import clock
from ..base.project import resource, root
from .errors import ExperimentError
from .protocol import PROFILES, Protocol, Task, load_protocol
from .runner import Inputs, inspect_inputs
from .shipped import shipped
from .store import CLOCK, Outcome, Store, Value, current

if TYPE_CHECKING:
    import pandas as pd

KEY_COLUMNS = ("dataset", "split", "method")


class ResultsKept(ExperimentError):
    """The file on disk holds results that the store lacks, so it was not replaced."""


def export(
    experiment: str | Protocol,
    profile: str = "paper",
    *,
    store: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    replace: bool = False,
) -> list[Path]:
    """Write the current results of an experiment as CSV, with timings and provenance beside it.

    Parameters
    ----------
    experiment : str or Protocol
    profile : {"quick", "paper"}, default="paper"
        `run` has "quick" by default.
    store : path, optional
    out : path, optional
        Folder that gets ``<room>/<table>.csv``. Default: ``results`` of the checkout for ``paper``,
        ``_build/results`` for ``quick``.
    replace : bool, default=False
        Write even if results that the present file holds would be lost, or cannot be read.

    Returns
    -------
    list of Path
        The results, the timings, the provenance.

    Raises
    ------
    ResultsKept
        The present file has results that the store lacks, or is damaged.
    ExperimentError
        Nothing to export, an unknown experiment or profile, a store that cannot be read, or a folder that
        cannot be written.
    """
    protocol = load_protocol(experiment) if isinstance(experiment, str) else experiment
    # a filtered run may have gone beyond the quick slice: all that is current counts
    tasks = _all_tasks(protocol, profile)
    with Store(store) as results:
        results.verify()
        stored = {outcome.task.dataset for outcome in results.outcomes(protocol.id, profile)}
        inputs = inspect_inputs(protocol, profile, sorted(stored & set(protocol.known_datasets(profile))))
        outcomes = current(results, protocol, tasks, inputs.signatures)
    if not outcomes:
        raise ExperimentError(_nothing(protocol, profile, results.path))
    target = results_path(protocol.id, profile, out)
    kept = set() if replace else _keys_of(target)
    lost = kept & {_csv_key(task) for task in tasks} - {_csv_key(o.task) for o in outcomes}
    if lost:
        raise ResultsKept(
            f"{_shown(target)} was left as it is: it holds {len(lost)} results that the store lacks (such as "
            f"{', '.join(min(lost))}); run the rest, or give --replace, or another folder with --out DIR"
        )
    files = {
        target: _table(protocol, outcomes),
        target.with_suffix(".timing.csv"): _csv(
            [
                (*KEY_COLUMNS, "seconds", CLOCK),
                *((*_csv_key(o.task), f"{o.seconds:.4f}", o.environment.get(CLOCK, "")) for o in outcomes),
            ]
        ),
        target.with_suffix(".provenance.json"): _json(provenance(protocol, profile, outcomes, inputs)),
    }
    write_atomically(files)
    return list(files)


def results_path(
    experiment: str, profile: str = "paper", folder: str | os.PathLike[str] | None = None
) -> Path:
    """Return where the CSV of an experiment is written."""
    if folder is None:
        folder = (root() or Path.cwd()).joinpath(
            *(["results"] if profile == "paper" else ["_build", "results"])
        )
    return Path(folder) / f"{experiment}.csv"


def read_results(
    experiment: str, profile: str = "paper", folder: str | os.PathLike[str] | None = None
) -> pd.DataFrame:
    """Return exported results: one row per task, columns `dataset`, `split`, `method` and what was measured.

    Parameters
    ----------
    experiment : str
        Such as ``"drm/table-8"``.
    profile : {"quick", "paper"}, default="paper"
        ``paper`` reads the results that are shipped. `run` has "quick" by default.
    folder : path, optional
        The `out` of `export`.

    Raises
    ------
    ExperimentError
        For an unknown experiment, one without such results, and a file that is damaged.
    """
    import pandas as pd

    load_protocol(experiment)
    shipped = folder is None and profile == "paper"
    path = resource("results", f"{experiment}.csv") if shipped else results_path(experiment, profile, folder)
    if not path.is_file():
        raise ExperimentError(
            f"no {profile} results of {experiment} at {_shown(path)}; run: "
            f"marginbook experiment run {experiment} --profile {profile}"
        )
    text = {"dataset": str, "method": str}
    try:
        found = pd.read_csv(path, dtype=text, keep_default_na=False, na_values=["", "nan"])
        if missing := [name for name in KEY_COLUMNS if name not in found.columns]:
            raise ValueError(f"it has no column {missing[0]}")
    except (OSError, ValueError) as error:  # pandas' own errors are ValueErrors
        raise ExperimentError(
            f"{_shown(path)} is damaged ({' '.join(str(error).split())}); move it away and run: "
            f"marginbook experiment export {experiment} --profile {profile}"
        ) from None
    return found


def provenance(protocol: Protocol, profile: str, outcomes: list[Outcome], inputs: Inputs) -> dict[str, Any]:
    """Return what produced `outcomes`; nothing in it depends on when, or in which folder, they were made."""
    # which clock stands beside the seconds: it depends on how many tasks a process did at once
    places = [{name: of for name, of in o.environment.items() if name != CLOCK} for o in outcomes]
    environments = {json.dumps(place, sort_keys=True) for place in places}
    profile_tasks = protocol.tasks(profile)
    return {
        "experiment": protocol.id,
        "title": protocol.title,
        "profile": profile,
        "metric": protocol.metric,
        "plus_minus": protocol.plus_minus,
        "tasks": {"exported": len(outcomes), "in the profile": len(profile_tasks)},
        "without data": sorted({t.dataset for t in profile_tasks} - {o.task.dataset for o in outcomes}),
        "protocol": protocol.hash,
        "code": outcomes[0].signature.code,
        "settings": protocol.settings_for(profile),
        "data": {
            o.task.dataset: {"sha256": o.source, "arrays": o.signature.data, "rows": o.n_rows}
            for o in outcomes
        },
        **({"stand-ins": dict(protocol.stand_ins)} if profile == "quick" and protocol.stand_ins else {}),
        "environments": [json.loads(text) for text in sorted(environments)],
    }


def write_atomically(files: Mapping[Path, str]) -> None:
    """Write whole files or none: all to neighbours first, then renamed one right after the other."""
    neighbours = {path: path.with_name(f".{path.name}.{os.getpid()}.tmp") for path in files}
    try:
        try:
            for path, text in files.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                _sweep(path)
                with neighbours[path].open("w", encoding="utf-8", newline="\n") as file:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())  # a name must not outlive a power cut that its bytes do not
            for path, neighbour in neighbours.items():
                neighbour.replace(path)
        finally:
            for neighbour in neighbours.values():
                with suppress(OSError):  # the first error is the one to tell
                    neighbour.unlink(missing_ok=True)
    except OSError as error:
        raise ExperimentError(
            f"cannot write {path}: {error.strerror}; results stay in the store: free space there, or give "
            "--out DIR"
        ) from None


def _nothing(protocol: Protocol, profile: str, store: Path) -> str:
    """Say that the store has nothing, and where results are all the same."""
    command = f"marginbook experiment run {protocol.id} --profile {profile}"
    here = shipped(protocol)
    if profile != "paper" or not here.seconds:
        return f"{protocol.id} has no {profile} results to export; run: {command}"
    return (
        f"the store {_shown(store)} has no {profile} results of {protocol.id} to export; "
        f"{len(here.seconds)} are shipped, in {_shown(here.path)}, and are there to be read as they are; "
        f"to compute them again ({clock(sum(here.seconds.values()))} of CPU): {command}"
    )


def _sweep(path: Path) -> None:
    """Remove what a killed export left; a file of the last hour may still be in the making."""
    for left in path.parent.glob(f".{path.name}.*.tmp"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > 3600:
                left.unlink()


def _all_tasks(protocol: Protocol, profile: str) -> list[Task]:
    datasets, splits = protocol.known_datasets(profile), range(1, protocol.splits.n + 1)
    return protocol.tasks(profile, datasets=datasets, methods=protocol.methods, splits=splits)


def _table(protocol: Protocol, outcomes: list[Outcome]) -> str:
    names = sorted({name for outcome in outcomes for name in outcome.values} - {protocol.metric})
    columns = [protocol.metric, *names]
    rows = ((*_csv_key(o.task), *(_number(o.values.get(name)) for name in columns)) for o in outcomes)
    return _csv([(*KEY_COLUMNS, *columns), *rows])


def _number(value: Value) -> str:
    # 12 digits: what the last bits of a sum may differ in is not a result
    return "" if value is None else f"{value:.12g}" if isinstance(value, float) else str(value)


def _csv_key(task: Task) -> tuple[str, str, str]:
    return task.dataset, str(task.split), task.method


def _csv(rows: Iterable[tuple[str, ...]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _keys_of(path: Path) -> set[tuple[str, str, str]]:
    if not path.is_file() or path.stat().st_size == 0:
        return set()
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file, strict=True)
            if missing := [name for name in KEY_COLUMNS if name not in (rows.fieldnames or ())]:
                raise KeyError(missing[0])
            return {(row["dataset"], row["split"], row["method"]) for row in rows}
    except (OSError, UnicodeDecodeError, csv.Error, KeyError) as error:
        told = f"no column {error}" if isinstance(error, KeyError) else str(error)
        raise ResultsKept(
            f"{_shown(path)} was left as it is: it is damaged ({told}); move it away, or give --replace"
        ) from None


def _shown(path: Path) -> str:
    checkout = root()
    return str(path.relative_to(checkout)) if checkout and path.is_relative_to(checkout) else str(path)


__all__ = [
    "PROFILES",
    "ResultsKept",
    "export",
    "provenance",
    "read_results",
    "results_path",
    "write_atomically",
]
