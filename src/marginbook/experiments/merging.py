"""Results that were computed elsewhere, into this machine's store."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .errors import ExperimentError
from .protocol import PROFILES, experiments, load_protocol
from .runner import inspect_inputs
from .store import Store, current, default_path


@dataclass(frozen=True)
class Merged:
    """What came of the finished results that another store has of an experiment."""

    experiment: str
    profile: str
    taken: int
    known: int  # this store had a current result of the task, which stays
    other: int  # made with other code, data or settings, or the data are not here to tell
    missing: tuple[str, ...]  # data sets without which nothing can be told


def merge(source: Path, store: Path | None = None) -> list[Merged]:
    """Take over what the store at `source` has finished with the code, data and settings of this machine.

    Parameters
    ----------
    source : Path
        A store as `marginbook.experiments.store.default_path` names it; nothing of it is changed.
    store : Path, optional
        Default: `marginbook.experiments.store.default_path`.

    Returns
    -------
    list of Merged
        One for each experiment and profile that the source has finished results of.

    Raises
    ------
    ExperimentError
        There is no file at `source`, it is the store itself, or one of the two cannot be used.
    """
    target = store or default_path()
    if not source.is_file():
        raise ExperimentError(f"there is no store {source}; `marginbook experiment run` makes one")
    if target.exists() and source.samefile(target):
        raise ExperimentError(f"{source} is the store that would take the results; name another")
    found = []
    with Store(source) as theirs, Store(target) as ours:
        theirs.verify()
        for experiment, profile in [(name, profile) for name in experiments() for profile in PROFILES]:
            done = [each for each in theirs.outcomes(experiment, profile) if each.error is None]
            if not done:
                continue
            protocol = load_protocol(experiment)
            inputs = inspect_inputs(protocol, profile, sorted({each.task.dataset for each in done}))
            usable = current(theirs, protocol, [each.task for each in done], inputs.signatures)
            taken = sum(ours.record(each) for each in usable)
            left = len(usable) - taken, len(done) - len(usable)
            found.append(Merged(experiment, profile, taken, *left, tuple(sorted(inputs.missing))))
    return found
