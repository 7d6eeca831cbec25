"""``check_estimator`` of scikit-learn on every public estimator: ``python -m tests.robustness.checks``."""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from marginbook.cli.stopping import keeping, one_sentence

with one_sentence():  # these imports take seconds
    import sklearn
    from sklearn.utils.estimator_checks import check_estimator

    from marginbook.base.checkout import commit

    from .campaign import FOLDER
    from .candidates import USUAL, public_estimators

#: check_estimator's words, and the columns
COLUMNS = {"passed": "passed", "skipped": "skipped", "xfail": "expected", "failed": "failed"}
#: `cv` is about the rows of a realisation; tests/test_conventions.py has these checks with one of all rows
FOLDS_OF_ALL_ROWS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "folds of all rows" for kind in ("dense", "sparse")
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all checks; return 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(public_estimators()))
    parser.add_argument("--folder", type=Path, default=FOLDER)
    given = parser.parse_args(arguments)
    rows = [counted(name) for name in given.names]
    given.folder.mkdir(parents=True, exist_ok=True)
    with (given.folder / "checks.csv").open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    return int(any(row["failed"] for row in rows))


def counted(name: str) -> dict[str, Any]:
    """Return how many checks the estimator `name` passes, with parameters that make a fit short."""
    usual = dict(USUAL.get(name, {}))
    if name == "RealisationSearch":  # some checks have 10 rows: parts of 5 may lack a class in two folds
        usual |= {"train_size": 0.8}
    model = public_estimators()[name](**usual)
    expected = FOLDS_OF_ALL_ROWS if name == "RealisationSearch" else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(model, on_skip=None, on_fail=None, expected_failed_checks=expected)
    row: dict[str, Any] = {"name": name}
    row |= {column: sum(one["status"] == word for one in found) for word, column in COLUMNS.items()}
    for one in found:
        if one["status"] == "failed":
            print(f"FAULT {name} {one['check_name']}: {one['exception']}", flush=True)
    reasons = {f"{one['check_name']}: {one['exception']}" for one in found if one["status"] == "skipped"}
    row["skips"] = "; ".join(sorted(reasons))
    row |= {"sklearn": sklearn.__version__, "commit": commit("results") or ""}
    print(row, flush=True)
    return row


if __name__ == "__main__":
    with one_sentence(), keeping("nothing was written"):
        sys.exit(main())
