"""A sample of mutants that a seed decides.

The number that decides whether a place is drawn is a hash of the seed and of the line's text: an edit
elsewhere in a file does not draw other mutants.
"""

from __future__ import annotations

import ast
import hashlib
import heapq
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Any

from .places import Place, operators, places

#: kinds of which a sample takes at least so many from each file
SPECIAL, FEW = ("certificates", "verdict rules"), 3
#: a smaller sample is the first part of one of this size: it has the same mixture
WHOLE = 2000
#: a check of a claim is a test itself: its places count less, or they would be half of a sample
WEIGHTS = {"claims": 0.25}


@dataclass(frozen=True)
class Mutant:
    """One change of one file.

    `index` is Cosmic Ray's number of the mutant among those of its operator in the file; `occurrence` is the
    number among those on lines with the same text, which edits elsewhere do not change.
    """

    file: str
    kind: str
    line: int
    operator: str
    index: int
    occurrence: int
    before: str
    after: str
    text: str  # of the whole file

    @property
    def room(self) -> str:
        return PurePosixPath(self.file).parts[2]

    @property
    def key(self) -> tuple[str, str, str, int]:
        return self.file, self.before, self.operator, self.occurrence


def sample(
    home: Path,
    found: dict[str, list[Place]],
    number: int,
    seed: int,
    wanted: Callable[[str, str], bool] = lambda file, kind: True,
    most: int | None = None,
) -> list[Mutant]:
    """Return mutants of as many places, each file and kind with its share, in the order of their lot.

    The first of them are a sample, too: one that was interrupted says something about all files.

    Parameters
    ----------
    home : Path
    found : dict
        File -> its places.
    number, seed : int
    wanted : callable
        Whether those of a file and a kind are asked for; the others are drawn, and left out.
    most : int, optional
        How many that are asked for are returned, the first ones.
    """
    strata: dict[tuple[str, str], list[Place]] = defaultdict(list)
    for each in (place for some in found.values() for place in some):
        strata[each.file, each.kind].append(each)

    def of(stratum: tuple[str, str], quota: int) -> Iterator[tuple[float, Mutant | None]]:
        text = (home / stratum[0]).read_text(encoding="utf-8")
        lines = text.splitlines()
        lots = sorted((_lot(seed, place, lines), place) for place in strata[stratum])
        if not wanted(*stratum):
            made: Iterator[tuple[str, Mutant | None]] = ((lot, None) for lot, _ in lots)
        else:
            made = ((lot, mutant) for lot, place in lots if (mutant := _of_place(place, text, lot)))
        # a stratum of which more is drawn has smaller numbers: each first part has the mixture of the whole
        apart = len(lots) / max(quota, 1) / 16**64
        return ((apart * int(lot, 16), mutant) for lot, mutant in islice(made, quota))

    quotas = shares({key: len(some) for key, some in strata.items()}, max(number, WHOLE))
    drawn = heapq.merge(*(of(*each) for each in quotas.items()), key=itemgetter(0))
    asked_for = (mutant for _, mutant in islice(drawn, number) if mutant is not None)
    return list(islice(asked_for, most))


def shares(sizes: dict[tuple[str, str], int], number: int) -> dict[tuple[str, str], int]:
    """Divide a number of mutants in proportion to weighted sizes, at least `FEW` to special kinds.

    Parameters
    ----------
    sizes : dict
        File and kind -> how many places there are.
    number : int
    """
    few = min(FEW, number // (2 * max(1, sum(kind in SPECIAL for _, kind in sizes))))
    least = {key: min(few, size) if key[1] in SPECIAL else 0 for key, size in sizes.items()}
    weights = {key: size * WEIGHTS.get(key[1], 1.0) for key, size in sizes.items()}
    share = max(0, number - sum(least.values())) / max(1.0, sum(weights.values()))
    exact = {key: share * weight for key, weight in weights.items()}
    given = {key: min(sizes[key], least[key] + int(exact[key])) for key in sizes}
    for key in sorted(sizes, key=lambda key: (int(exact[key]) - exact[key], key)):
        given[key] += sum(given.values()) < number and given[key] < sizes[key]
    return given


def matching(home: Path, file: str, line: str, operator: str, occurrence: int) -> Mutant | None:
    """Return the mutant with this key; None if the file has no such line, or it cannot be changed so."""
    text = (home / file).read_text(encoding="utf-8")
    lines = text.splitlines()
    for place in places(home, [file])[file]:
        if lines[place.line - 1].strip() == line:
            for name, index, number in place.operators:
                if (name, number) == (operator, occurrence):
                    return _made(place, text, name, index, number)
    return None


def _lot(seed: int, place: Place, lines: list[str]) -> str:
    name, _, occurrence = place.operators[0]
    told = f"{seed}\n{place.file}\n{lines[place.line - 1].strip()}\n{name}\n{occurrence}"
    return hashlib.sha256(told.encode()).hexdigest()


def _of_place(place: Place, text: str, lot: str) -> Mutant | None:
    """Return one mutant of a place; None if Python refuses them all, as `+` before keyword-only arguments."""
    turn = int(lot[-8:], 16) % len(place.operators)
    made = (_made(place, text, *each) for each in (*place.operators[turn:], *place.operators[:turn]))
    return next(filter(None, made), None)


def _made(place: Place, text: str, operator: str, index: int, occurrence: int) -> Mutant | None:
    try:
        changed = _mutated(text, operator, index)
        with warnings.catch_warnings(action="ignore"):  # `is` with a number
            compile(changed, place.file, "exec", dont_inherit=True)  # a `break` outside of a loop parses
            if ast.dump(ast.parse(changed)) == ast.dump(ast.parse(text)):
                return None
    except (SyntaxError, AttributeError):  # Cosmic Ray has no way with `except module.Error`
        return None
    before = text.splitlines()[place.line - 1].strip()
    after = _difference(text.splitlines(), changed.splitlines())
    return Mutant(place.file, place.kind, place.line, operator, index, occurrence, before, after, changed)


def _mutated(text: str, operator: str, index: int) -> str:
    """Return a file's text with one mutation; `cosmic_ray.mutating` does it too, but needs more packages."""
    from cosmic_ray.ast import Visitor, get_ast

    class Once(Visitor):  # type: ignore[misc]
        seen = 0

        def visit(self, node: Any) -> Any:
            for number, _ in enumerate(operators()[operator].mutation_positions(node)):
                self.seen += 1
                if self.seen == index + 1:
                    return operators()[operator].mutate(node, number)
            return node

    return str(Once().walk(get_ast(text)).get_code())


def _difference(old: list[str], new: list[str]) -> str:
    """Return the lines that are new, in one; nothing where a line was only taken away."""
    pairs: Iterator[tuple[str, str]] = zip(old, new, strict=False)
    start = next((k for k, (a, b) in enumerate(pairs) if a != b), min(len(old), len(new)))
    backwards = zip(old[start:][::-1], new[start:][::-1], strict=False)
    end = next((k for k, (a, b) in enumerate(backwards) if a != b), min(len(old), len(new)) - start)
    return " ".join(line.strip() for line in new[start : len(new) - end])
