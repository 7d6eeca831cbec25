"""Every field of a protocol is checked when it is read: a misspelt key must not silently mean a default."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..base.parameters import is_whole
from .errors import ExperimentError, suggestion
from .splits import KINDS, SplitPlan

Check = tuple[str, Callable[[Any], bool]]


def _is_share(value: Any) -> bool:
    return isinstance(value, float) and 0 < value < 1


def _names(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(name, str) and name for name in value)
        and len(set(value)) == len(value)
    )


def _one_or_per_dataset(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: all(map(check, value.values())) if isinstance(value, dict) else check(value)


TEXT: Check = ("a text", lambda value: isinstance(value, str) and bool(value.strip()))
TABLE: Check = ("a table", lambda value: isinstance(value, dict))
NAMES: Check = ("a list of different names", _names)
COUNT: Check = ("a whole number of at least 1", is_whole)
FLAG: Check = ("true or false", lambda value: isinstance(value, bool))
NOTES: Check = (
    "a table of texts",
    lambda v: isinstance(v, dict) and all(isinstance(t, str) for t in v.values()),
)
REASONS: Check = (
    "a table of data sets, each with the reason as a text",
    lambda v: isinstance(v, dict) and bool(v) and all(isinstance(t, str) and t.strip() for t in v.values()),
)
NUMBERS: Check = (
    "a list of numbers from 1",
    lambda v: isinstance(v, list) and bool(v) and all(map(is_whole, v)),
)
KIND: Check = (f"one of {', '.join(KINDS)}", lambda value: value in KINDS)
SIZE: Check = ("a number of rows, or a table of them per data set", _one_or_per_dataset(is_whole))
SHARE: Check = ("a fraction between 0 and 1, or a table of them per data set", _one_or_per_dataset(_is_share))

FIELDS = {
    "title": TEXT,
    "metric": TEXT,
    "plus_minus": TEXT,
    "splits": TABLE,
    "datasets": NAMES,
    "methods": NAMES,
    "settings": TABLE,
    "thresholds": TABLE,
    "quick": TABLE,
    "not_stated": NOTES,
    "printed": TEXT,
    "printed_splits": COUNT,
    "higher_is_better": FLAG,
    "better_of": NAMES,
}
REQUIRED = ("title", "metric", "plus_minus", "splits", "datasets", "methods")
QUICK_FIELDS = {
    "datasets": NAMES,
    "stand_ins": REASONS,
    "methods": NAMES,
    "splits_used": NUMBERS,
    "settings": TABLE,
}
SPLIT_FIELDS = {"kind": KIND, "n": COUNT, "train_size": SIZE, "train_fraction": SHARE, "stratify": FLAG}
# KEEL distributes its sets in five folds; a plan may say otherwise
USUAL_N = {"original-folds": 5, "original-test": 1}


def checked_fields(table: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the fields of a `Protocol` that one table of a ``protocol.toml`` states.

    Parameters
    ----------
    table : mapping
        As read from TOML.
    where : str
        File and table, for the error messages.

    Raises
    ------
    ExperimentError
        Names the place, what was got and what was wanted.
    """
    _check(table, FIELDS, where, REQUIRED)
    _check(table["splits"], SPLIT_FIELDS, f"{where} splits", ("kind",))
    quick = table.get("quick", {})
    _check(quick, QUICK_FIELDS, f"{where} quick", ())
    plan = _plan(table["splits"], f"{where} splits", table["datasets"])
    known = {"datasets": table["datasets"], "methods": table["methods"], "splits_used": range(1, plan.n + 1)}
    for key, names in known.items():
        for name in quick.get(key, ()):
            if name not in names:
                raise ExperimentError(
                    f"{where} quick.{key} has {name!r}{suggestion(str(name), map(str, names))}"
                )
    _validate_stand_ins(quick.get("stand_ins", {}), table, where)
    fields = {
        **table,
        "splits": plan,
        "datasets": tuple(table["datasets"]),
        "methods": tuple(table["methods"]),
    }
    fields["better_of"] = tuple(table.get("better_of", ()))
    fields.setdefault("printed_splits", plan.n)
    return fields


def _validate_stand_ins(names: Mapping[str, str], table: Mapping[str, Any], where: str) -> None:
    for name in names:
        if name in table["datasets"]:
            raise ExperimentError(f"{where} quick.stand_ins has {name!r}, which is one of its own data sets")
        if isinstance(table["splits"].get("train_size", table["splits"].get("train_fraction")), dict):
            raise ExperimentError(f"{where} quick.stand_ins has {name!r}, for which splits states no size")


def _plan(table: Mapping[str, Any], where: str, datasets: list[str]) -> SplitPlan:
    kind = table["kind"]
    sizes = [key for key in ("train_size", "train_fraction") if key in table]
    if kind == "random" and len(sizes) != 1:
        raise ExperimentError(f"{where}: random splits need either train_size or train_fraction, got {sizes}")
    extra = [key for key in (*sizes, "stratify") if key in table]
    if kind != "random" and extra:
        raise ExperimentError(f"{where}: {extra[0]} belongs to random splits, not to {kind}")
    if kind not in USUAL_N and "n" not in table:
        raise ExperimentError(f"{where}: n, the number of splits, is missing")
    for key in sizes:
        if isinstance(table[key], dict) and set(table[key]) != set(datasets):
            off = sorted(set(table[key]) ^ set(datasets))
            raise ExperimentError(
                f"{where}.{key}: must name the same data sets as `datasets`, differs in {off}"
            )
    return SplitPlan(**{"n": USUAL_N.get(kind, 1), **table})


def _check(
    table: Mapping[str, Any], fields: Mapping[str, Check], where: str, required: tuple[str, ...]
) -> None:
    for key in required:
        if key not in table:
            raise ExperimentError(f"{where}: the key {key!r} is missing")
    for key, value in table.items():
        if key not in fields:
            raise ExperimentError(f"{where}: unknown key {key!r}{suggestion(key, fields)}")
        wanted, good = fields[key]
        if not good(value):
            raise ExperimentError(f"{where} {key} = {value!r}, but it must be {wanted}")
