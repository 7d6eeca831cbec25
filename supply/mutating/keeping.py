"""What is kept while mutants are tried: whole lines, each at once, so that a run that was stopped goes on."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from dataclasses import asdict, astuple, fields
from pathlib import Path

from marginbook.book.mutants_stored import Needed, Row, sha

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


class KeptAnswers:
    """What all tests said of each mutant, until all have been asked; a line of JSON each.

    Parameters
    ----------
    home, path : Path
        The checkout, and the file. A mutant of which the file has changed since is asked again.
    """

    def __init__(self, home: Path, path: Path) -> None:
        self.path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        found = [json.loads(line) for line in lines]
        asked = [Asked(**one | {"key": tuple(one["key"])}) for one in found]
        self.answers = {
            one.key: one
            for one in asked
            if (home / one.key[0]).is_file() and sha((home / one.key[0]).read_bytes()) == one.source
        }

    def append(self, one: Asked) -> None:
        """Keep an answer."""
        self.answers[one.key] = one
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(one)) + "\n")

    def of(self, mutants: Iterable[Mutant]) -> list[Asked]:
        """Return the answers about some mutants, as far as they are known."""
        return [self.answers[each.key] for each in mutants if each.key in self.answers]
