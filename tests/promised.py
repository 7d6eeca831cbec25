"""What is public, line by line: ``python -m tests.promised`` writes ``tests/promised.txt``.

A line is a name of the reference with its parameters and defaults, a method, an attribute, a command with one
of its options, an environment variable, or an extra. The file is the promise, and the code has to keep it:
what is in the file and no longer in the code stays as ``gone after 1.0.0: name``, with the last version that
had it, and `test_promised` asks whether it was allowed to go. Before 1.0.0 nothing is promised, and a line
just goes. It may also be deleted by hand where no release had the name: each release leaves a copy,
``tests/promised-1.0.0.txt``, which tells.
"""

from __future__ import annotations

import ast
import enum
import importlib
import inspect
import re
import tomllib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from marginbook.cli.stopping import keeping, one_sentence

with one_sentence():  # these imports take seconds
    import click

    from marginbook import __version__
    from marginbook.base.partial_fit import NoPartialFit
    from marginbook.base.project import PACKAGE, resource
    from marginbook.base.public import public_names
    from marginbook.base.rooms import rooms
    from marginbook.book import api_pages
    from marginbook.claims import ROOMS

FILE = Path(__file__).with_suffix(".txt")
COMMAND = "python -m tests.promised"
GONE = re.compile(r"^gone after (\d+)\.(\d+)\.(\d+): (.+)$")
#: how lines begin of what is set or installed, and cannot warn
OUTSIDE = ("environment ", "extra ")
#: extras for who works on the project, and the variable by which `serve` finds what it has started
_OURS = {"bench", "mutants", "release", "test"}
_INTERNAL = {"MARGINBOOK_RUN"}
_HEAD = f"# What is public: `{COMMAND}` writes this list, and book/api/index.md says what it promises.\n"


def surface() -> list[str]:
    """Return a line for each public thing of the code, sorted."""
    packages = {key: room.package for key, room in rooms().items()}
    found: set[str] = set()
    for listed in api_pages.modules(resource("book", "api")):
        if listed in public_names():
            owner = importlib.import_module(public_names()[listed])
            found.update(_lines(f"{PACKAGE.name}.{listed}", getattr(owner, listed)))
            continue
        module = importlib.import_module(packages.get(listed, f"{PACKAGE.name}.{listed}"))
        for name in api_pages.public_names(module):
            found.update(_lines(f"{module.__name__}.{name}", getattr(module, name)))
    from marginbook.cli import main

    found.update(_commands(PACKAGE.name, main, click.Context(main)))
    found.update(_outside())
    return sorted(found)


def _outside() -> Iterator[str]:
    """Yield the environment variables that the code names, and the extras of pyproject.toml."""
    for path in PACKAGE.rglob("*.py"):
        for name in re.findall(r"""["'](MARGINBOOK_[A-Z_]+)["']""", path.read_text(encoding="utf-8")):
            if name not in _INTERNAL:
                yield f"environment {name}"
    settings = tomllib.loads(resource("pyproject.toml").read_text(encoding="utf-8"))
    yield from (f"extra {name}" for name in {*settings["project"]["optional-dependencies"]} - _OURS)


def _lines(name: str, value: Any) -> Iterator[str]:
    if inspect.isclass(value):
        yield from _of_class(name, value)
    elif inspect.isfunction(inspect.unwrap(value) if callable(value) else value):
        yield name + _signature(value)
    else:
        yield name


def _of_class(name: str, value: type) -> Iterator[str]:
    """Yield a class with its parameters, and what it and its bases of ours add to scikit-learn's."""
    plain = issubclass(value, BaseException | enum.Enum) or inspect.isabstract(value)
    plain = plain or getattr(value, "_is_protocol", False)  # of typing: nobody makes one
    yield name if plain else name + _signature(value)
    for each in value.__mro__:
        if each.__module__.split(".")[0] == PACKAGE.name and each is not NoPartialFit:  # which only refuses
            yield from (f"{name}.{member}" for member in [*_members(each), *_attributes(each)])


def _members(ours: type) -> Iterator[str]:
    """Yield the methods and properties of a class, and the members of an enumeration."""
    for name, held in vars(ours).items():
        if name.startswith("_") or re.fullmatch("set_.*_request", name):
            continue
        # behind classmethod and staticmethod, and behind scikit-learn's available_if
        function = getattr(held, "__func__", None) or getattr(held, "fn", held)
        if inspect.isfunction(function):
            yield name + _signature(function, skip=not isinstance(held, staticmethod))
        elif isinstance(held, property | cached_property) or (
            issubclass(ours, enum.Enum) and name in ours.__members__
        ):
            yield name


def _attributes(ours: type) -> Iterator[str]:
    """Yield the attributes of fitted estimators that a docstring lists."""
    section = re.search(r"^Attributes\n-+\n(.*?)(?=^\w+\n-|\Z)", inspect.getdoc(ours) or "", re.M | re.S)
    for names in re.findall(r"^(\w+_(?:, \w+_)*) :", section[1] if section else "", re.M):
        yield from names.split(", ")


def _signature(function: Any, skip: bool = False) -> str:
    """Return the parameters without types; defaults that are no literals become ``...``."""
    if not callable(function):
        return ""
    signature = inspect.signature(function)
    given = list(signature.parameters.values())[int(skip) :]
    given = [each.replace(annotation=inspect.Parameter.empty, default=_Shown(each.default)) for each in given]
    return str(inspect.Signature(given))


class _Shown:
    """A default as it is printed."""

    def __new__(cls, value: Any) -> Any:
        return value if value is inspect.Parameter.empty else super().__new__(cls)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        try:
            ast.literal_eval(repr(self.value))
        except (ValueError, SyntaxError):
            return "..."
        return "..." if self.value == tuple(ROOMS) else repr(self.value)  # a sixth paper changes no promise


def _commands(name: str, command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield ``$ name``, and one line for each of its options and arguments, and so on below it."""
    yield f"$ {name}"
    for each in command.params:
        # an argument is given by its place: how the help writes it may change
        name_of = str(each.name).rstrip("_").upper()
        shown = [name_of] if isinstance(each, click.Argument) else each.opts
        yield from (f"$ {name} {word}" for word in shown)
    if isinstance(command, click.Group):
        for key in command.list_commands(context):
            if (below := command.get_command(context, key)) is not None:
                yield from _commands(f"{name} {key}", below, context)


def broken(before: list[str], now: list[str]) -> list[str]:
    """Return what callers of the lines `before` would miss in `now`: a name, or ``name(parameter)``."""
    new, found = dict(map(_split, now)), []
    for name, parameters in map(_split, before):
        if name not in new or bool(parameters) != bool(new[name]):
            found.append(name)
        elif parameters != new[name]:
            found += [f"{name}({each})" for each in _changed(_parsed(parameters), _parsed(new[name]))]
    return found


def _split(line: str) -> tuple[str, str]:
    name, bracket, rest = line.partition("(")
    return name, bracket + rest


def _parsed(parameters: str) -> list[inspect.Parameter]:
    """Return the parameters that a line shows; a default is its text."""
    (function,) = ast.parse(f"def f{parameters or '()'}: ...").body
    assert isinstance(function, ast.FunctionDef)
    given, kinds = function.args, inspect.Parameter
    places = [*given.posonlyargs, *given.args]
    defaults = [*[None] * (len(places) - len(given.defaults)), *given.defaults]
    rows: list[tuple[ast.arg | None, Any, ast.expr | None]] = [
        (each, kinds.POSITIONAL_ONLY if each in given.posonlyargs else kinds.POSITIONAL_OR_KEYWORD, default)
        for each, default in zip(places, defaults, strict=True)
    ]
    rows.append((given.vararg, kinds.VAR_POSITIONAL, None))
    rows += [
        (each, kinds.KEYWORD_ONLY, value)
        for each, value in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    rows.append((given.kwarg, kinds.VAR_KEYWORD, None))
    return [
        kinds(each.arg, kind, default=kinds.empty if value is None else ast.unparse(value))
        for each, kind, value in rows
        if each is not None
    ]


def _changed(before: list[inspect.Parameter], now: list[inspect.Parameter]) -> list[str]:
    """Return the parameters that old calls would miss or find changed, and new ones that they do not give."""
    kinds, empty = inspect.Parameter, inspect.Parameter.empty
    old, new = {each.name for each in before}, {each.name: each for each in now}
    found = []
    for place, each in enumerate(before):
        here = new.get(each.name)
        if here is None or (each.default is not empty and here.default != each.default):
            found.append(each.name)
        elif each.kind <= kinds.POSITIONAL_OR_KEYWORD and (now[place] is not here or here.kind > each.kind):
            found.append(each.name)  # no longer given by position, or at another
        elif here.kind is kinds.POSITIONAL_ONLY and each.kind is not kinds.POSITIONAL_ONLY:
            found.append(each.name)  # no longer given by name
    several = (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)
    asked = [each for each in now if each.default is empty and each.kind not in several]
    return found + [each.name for each in asked if each.name not in old]


def in_two_steps(name: str) -> bool:
    """Return whether a name warns before it goes: a command, or what ``marginbook`` or its packages export.

    >>> names = "LDMClassifier.fit(X)", "datasets.load", "ldm.solvers.load"
    >>> [in_two_steps(f"marginbook.{name}") for name in names]
    [True, True, False]
    """
    parts = name.partition("(")[0].split(".")[1:]
    above = next((place for place, part in enumerate(parts) if part[0].isupper()), len(parts) - 1)
    return name.startswith("$") or above <= 1


def stored() -> tuple[list[str], list[str]]:
    """Return the lines of the file: what is promised, and what is gone."""
    return read(FILE)


def read(file: Path) -> tuple[list[str], list[str]]:
    """Return what a list or a copy of it promises, and what is gone."""
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line[:1] not in ("", "#")]
    return [line for line in lines if not GONE.match(line)], [line for line in lines if GONE.match(line)]


def copy_of(version: str) -> Path:
    """Return where a release keeps what it promised."""
    return FILE.with_name(f"{FILE.stem}-{version}.txt")


def copies() -> list[Path]:
    """Return the lists of the releases, the oldest first."""
    return sorted(FILE.parent.glob(copy_of("*").name), key=_version)


def _version(file: Path) -> tuple[int, ...]:
    return tuple(map(int, file.stem.rpartition("-")[2].split(".")))


def unkept(file: Path, now: list[str], gone: list[str]) -> list[str]:
    """Return what a release promised that is neither in `now` nor gone after it or a later release."""
    found = [GONE.findall(line)[0] for line in gone]
    allowed = {name for *version, name in found if tuple(map(int, version)) >= _version(file)}
    return [name for name in broken(read(file)[0], now) if name not in allowed]


def main() -> None:
    """Write the list; what the code no longer has is kept as gone."""
    now = surface()
    before, gone = stored() if FILE.is_file() else ([], [])
    if int(__version__.split(".")[0]) >= 1:
        new = [f"gone after {__version__}: {each}" for each in broken(before, now)]
        gone += [line for line in new if line not in gone]
    FILE.write_text(_HEAD + "".join(f"{line}\n" for line in [*now, *gone]), encoding="utf-8")


if __name__ == "__main__":
    with one_sentence(), keeping("nothing was written"):
        main()
