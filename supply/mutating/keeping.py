"""What is kept while mutants are tried: whole lines, each at once, so that a run that was stopped goes on."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, astuple, fields
from pathlib import Path

from marginbook.book.mutants_stored import Key, Needed, Row, against, sha

from .drawn import Mutant
from .needed import Asked


class Keeper:
    """Appends rows to a file, whole ones, each at once."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, row: Row | Needed) -> None:
        """Write a row; the first one after the names of the columns."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = not self.path.is_file()
        with self.path.open("a", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if new:
                writer.writerow([each.name for each in fields(row)])
            writer.writerow(astuple(row))

    def replace(self, rows: Iterable[Row | Needed]) -> None:
        """Write a file anew, whole or not at all."""
        scratch = self.path.with_suffix(".tmp")
        scratch.unlink(missing_ok=True)
        for row in rows:
            Keeper(scratch).append(row)
        if scratch.is_file():
            scratch.replace(self.path)
        else:
            self.path.unlink(missing_ok=True)


class KeptAnswers:
    """What all tests said of each mutant, until all have been asked; a line of JSON each.

    Parameters
    ----------
    home, path : Path
        The checkout, and the file. A mutant is asked again if its file has changed since, or a test.
    """

    def __init__(self, home: Path, path: Path) -> None:
        self.path = path
        tests = against(home, "")
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        self.answers: dict[Key, Asked] = {}
        for line in lines:
            with suppress(json.JSONDecodeError):  # the end of one that was cut off
                one = json.loads(line)
                found = Asked(**one | {"key": tuple(one["key"])})
                source = home / found.key[0]
                if source.is_file() and (sha(source.read_bytes()), tests) == (found.source, found.tests):
                    self.answers[found.key] = found

    def append(self, one: Asked) -> None:
        """Keep an answer."""
        self.answers[one.key] = one
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write("\n" + json.dumps(asdict(one)) + "\n")

    def of(self, mutants: Iterable[Mutant]) -> list[Asked]:
        """Return the answers about some mutants, as far as they are known."""
        return [self.answers[each.key] for each in mutants if each.key in self.answers]
