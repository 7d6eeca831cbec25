"""The parameters of a notebook as the fields of a form, and the texts of a form as checked values."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from .parameters import Parameter

#: bounds where the notebook declares none: they keep out what can only be meant to do harm
LARGEST, LONGEST, MOST = 1e9, 200, 100
SEEDS = 2**32 - 1
_WORDS = {
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "eight": 8,
    "ten": 10,
    "twenty": 20,
    "thirty": 30,
}
_NUMBER = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"
_RANGE = re.compile(rf"(?<![\w.-])({_NUMBER}) to ({_NUMBER})(?![\w.]*\w)")
_LEAST = re.compile(rf"\bat least ({_NUMBER})")
_MOST = re.compile(rf"\bat most ({_NUMBER})")
_WHICH = re.compile(r"\bwhich of the (\w+)")
_EITHER = re.compile(r"\b\w+(?:, \w+)* or \w+")
_QUOTED = re.compile(r'"([\w-]+)"')
_INT, _FLOAT = (
    re.compile(r"[+-]?\d{1,12}"),
    re.compile(r"[+-]?(\d{1,15}\.?\d{0,20}|\.\d{1,20})(e[+-]?\d{1,3})?"),
)


class BadValues(ValueError):
    """Values that the notebook does not take; `errors` has a sentence for each name."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__("; ".join(errors.values()))
        self.errors = dict(errors)


@dataclass(frozen=True)
class Field:
    """One parameter as a field.

    Attributes
    ----------
    parameter : Parameter
    kind : str
        ``"choice"`` of one, ``"several"`` of the choices, ``"number"`` or ``"text"``.
    choices : tuple of str
    least, most : float or None
        Bounds of the number, or of each number of a list, as far as the notebook's comment declares them.
    """

    parameter: Parameter
    kind: str
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None

    @property
    def name(self) -> str:
        return self.parameter.name

    def texts(self, value: Any) -> list[str]:
        """Return a value as a form holds it."""
        if self.kind == "several":
            return [str(each) for each in value]
        if value is None:
            return [""]
        if isinstance(value, list) and all(isinstance(each, int | float | str) for each in value):
            plain = [each if isinstance(each, str) else json.dumps(each) for each in value]
            if not any("," in each or each.strip() != each or not each for each in plain):
                return [", ".join(plain)]
        return [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)]

    def value(self, texts: Sequence[str]) -> Any:
        """Return the value of what was entered.

        Raises
        ------
        ValueError
            It is not of the type, out of bounds, or not among the choices; the message is for the reader.
        """
        if self.kind == "several":
            found: Any = list(texts)
            self._among(found)
        elif len(texts) != 1:
            raise ValueError(f"expected one value, got {len(texts)}")
        elif self.kind == "choice":
            found = texts[0]
            self._among([found])
            if self.parameter.type == "bool":
                found = found == "true"
            elif not self.parameter.accepts(found):
                found = json.loads(found)
        else:
            found = self._read(texts[0])
        if not self.parameter.accepts(found):
            raise ValueError(
                f"expected {self.parameter.type}, such as {self.texts(self.parameter.default)[0]}"
            )
        self._bounded(found)
        return found

    def _among(self, found: Iterable[str]) -> None:
        for each in found:
            if each not in self.choices:
                raise ValueError(f"{each[:40]!r} is not one of {', '.join(self.choices[:12])}")

    def _read(self, text: str) -> Any:
        # a list of many names is longer than any single value
        if len(text) > LONGEST * 10:
            raise ValueError(f"at most {LONGEST * 10} characters")
        stripped = text.strip()
        if not stripped and self.parameter.accepts(None):
            return None
        if (number := _number(stripped)) is not None and self.parameter.accepts(number):
            return number
        if self.parameter.accepts([]):
            return _listed(stripped, self.parameter)
        if self.parameter.type.startswith("dict"):
            return _json(stripped)
        return text if self.parameter.accepts(text) else stripped

    def _bounded(self, value: Any) -> None:
        if isinstance(value, list):
            if len(value) > MOST:
                raise ValueError(f"at most {MOST} entries")
            for each in value:
                self._bounded(each)
        elif isinstance(value, dict):
            self._bounded([*value, *value.values()])
        elif isinstance(value, str):
            if len(value) > LONGEST or not value.isprintable():
                raise ValueError(f"at most {LONGEST} characters, all of them printable")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            least = -LARGEST if self.least is None else self.least
            most = LARGEST if self.most is None else self.most
            if not math.isfinite(value) or not least <= value <= most:
                raise ValueError(f"expected a number from {least:.10g} to {most:.10g}")


def sets_here() -> tuple[list[str], frozenset[str]]:
    """Return the data sets that load on this machine by now, and the names of all."""
    from ..datasets.load import available
    from ..datasets.registry import registry

    return available(), frozenset(registry())


def fields(
    declared: Iterable[Parameter], sets: Collection[str] = (), known: Collection[str] = ()
) -> list[Field]:
    """Return the fields of a notebook.

    Parameters
    ----------
    declared : iterable of Parameter
    sets : collection of str
        Data sets that are at hand.
    known : collection of str
        All data sets; a parameter whose default is of these takes those at hand.
    """
    return [_field(each, list(sets), known) for each in declared]


def _field(parameter: Parameter, sets: list[str], known: Collection[str]) -> Field:
    default, doc = parameter.default, parameter.doc
    entries = default if isinstance(default, list) else [default]
    if parameter.type == "bool":
        return Field(parameter, "choice", ("true", "false"))
    if parameter.type.startswith("Literal["):
        import ast

        inner = ast.parse(parameter.type, mode="eval").body
        assert isinstance(inner, ast.Subscript)
        values = [ast.literal_eval(each) for each in getattr(inner.slice, "elts", [inner.slice])]
        return Field(parameter, "choice", tuple(v if isinstance(v, str) else json.dumps(v) for v in values))
    if entries and all(isinstance(each, str) and each in known for each in entries):
        choices = tuple(dict.fromkeys([*entries, *sets]))
        return Field(parameter, "several" if isinstance(default, list) else "choice", choices)
    if isinstance(default, str) and (choices := _named(doc, default)):
        return Field(parameter, "choice", choices)
    least, most = _bounds(parameter)
    simple = parameter.type in ("int", "float")
    return Field(parameter, "number" if simple else "text", (), least, most)


def _named(doc: str, default: str) -> tuple[str, ...]:
    """Return the choices that a comment names: ``linear, rbf or poly``, or words in quotes."""
    either = [re.split(", | or ", each) for each in _EITHER.findall(doc)]
    for words in (*either, _QUOTED.findall(doc)):
        if default in words and len(words) > 1:
            return tuple(words)
    return ()


def _bounds(parameter: Parameter) -> tuple[float | None, float | None]:
    doc, name = parameter.doc, parameter.name
    if name == "n_jobs":
        return 1, os.cpu_count() or 1
    if name == "seed" or name.endswith("_seed"):
        return 0, SEEDS
    if found := _RANGE.search(doc):
        return float(found[1]), float(found[2])
    if (found := _WHICH.search(doc)) and found[1] in _WORDS:
        return 1, _WORDS[found[1]]
    if doc.startswith("share of"):
        return 0, 1
    least, most = _LEAST.search(doc), _MOST.search(doc)
    return (float(least[1]) if least else None), (float(most[1]) if most else None)


def values(declared: Sequence[Field], given: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the value of every field; what is not given has its default.

    Raises
    ------
    BadValues
        With a sentence for each field that is wrong, and for each name that no field has.
    """
    found, errors = {}, {}
    names = {field.name for field in declared}
    for name in given:
        if name not in names:
            errors[name[:40]] = f"{name[:40]!r} is no parameter of this page"
    for field in declared:
        # of several choices none may be ticked: then the browser sends only the mark that the form was shown
        texts = [text for text in given.get(field.name, ()) if not (field.kind == "several" and not text)]
        if field.name not in given:
            found[field.name] = field.parameter.default
            continue
        try:
            found[field.name] = field.value(texts)
        except (ValueError, RecursionError) as error:
            errors[field.name] = f"{field.name}: {error}"
    if errors:
        raise BadValues(errors)
    return found


def query(declared: Iterable[Field], chosen: Mapping[str, Any]) -> str:
    """Return what is not the default as the query of an address."""
    pairs = []
    for field in declared:
        value = chosen.get(field.name, field.parameter.default)
        if value != field.parameter.default:
            pairs += [(field.name, text) for text in field.texts(value) or [""]]
    return urlencode(pairs)


def _number(text: str) -> int | float | None:
    if _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text.lower()) else None


def _listed(text: str, parameter: Parameter) -> list[Any]:
    if text.startswith("["):
        found = _json(text)
        return found if isinstance(found, list) else [found]
    parts = [part.strip() for part in text.split(",") if part.strip()]
    numbers = [_number(part) for part in parts]
    if parts and None not in numbers and parameter.accepts(numbers):
        return numbers
    return parts


def _json(text: str) -> Any:
    def refuse(name: str) -> Any:
        raise ValueError(f"{name} is not a number here")

    try:
        return json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError:
        raise ValueError("this is neither a list with commas nor JSON") from None
