"""Made-up results of Tables 1 and 2, laid out as the measures store them."""

import json
from functools import cache

import numpy as np
import pandas as pd
import pytest

from marginbook.kfda.paper.printed import OWN, RIVAL, printed, sizes

from ..made_files import writer


@cache
def lines():
    """Return the sizes of every set, read once."""
    return sizes().to_dict("index")


def wave(mean, deviation, times):
    """Return `times` numbers with exactly this mean and sample deviation."""
    signs = np.where(np.arange(times) % 2, 1.0, -1.0)
    return mean + signs * deviation / signs.std(ddof=1)


def row(dataset, method, split, *, refit, fixed, kept, cv_error, deviations=(0.5, 0.5), train_error=0.0):
    """Return one stored row: mean error of the refitted and of the fixed machines, and NRS, in percent."""
    line = lines()[dataset]
    times, n_test, n_train = int(line["n_partitions"]), int(line["n_test"]), int(line["n_train"])
    counts = [
        (n_test / 100 * wave(mean, std, times)).tolist()
        for mean, std in zip((refit, fixed), deviations, strict=True)
    ]
    return {
        "dataset": dataset, "method": method, "split": split, "mcr": refit, "nrs": kept, "cv_error": cv_error,
        "parameters": "{}", "errors_refit": json.dumps(counts[0]), "errors_fixed": json.dumps(counts[1]),
        "retained_refit": json.dumps([n_train * kept / 100] * times), "retained_fixed": n_train * kept / 100,
        "train_error_fixed": train_error, "n_train": n_train, "n_test": n_test, "n_pool": n_train + n_test,
        "n_partitions": times, "realisation": split,
    }  # fmt: skip


def as_printed(table=None, *, reading="refit", off=3.0, spread=3.0, names=None):
    """Return results that are the printed cells under one reading, higher by `off` points under the other.

    Realisation 1 is what min MCR finds, 2 what min NRS finds, the others are worse in both.

    Parameters
    ----------
    table : str, optional
    reading : {"refit", "fixed"}
    off, spread : float
        The other reading's errors are higher by `off`, its deviation by a factor of `spread`.
    names : list of str, optional
    """
    tables = [table] if table else []
    page, rows = printed(*tables), []
    for name in names or page.errors.index:
        for method, (full, sparse) in {"kFDA-1": OWN[:2], "kFDA-0.5": OWN[2:], RIVAL: (RIVAL, RIVAL)}.items():
            for split in range(1, 6):
                column = sparse if split == 2 else full
                error, std = page.errors.loc[name, column], page.deviations.loc[name, column]
                kept = page.retained.loc[name, column]
                worse = 0.0 if split <= 2 else 1.0
                both = (error + worse, error + worse + off)
                stds = (std, spread * std + 0.2)
                ours = dict(zip(("refit", "fixed"), both if reading == "refit" else both[::-1], strict=True))
                rows.append(
                    row(
                        name,
                        method,
                        split,
                        **ours,
                        kept=kept + worse,
                        cv_error=error + split,
                        deviations=stds if reading == "refit" else stds[::-1],
                    )
                )
    return rows


def constant(errors, kept=None, *, names=None, deviation=0.5):
    """Return results with one mean error (and NRS) for each method, the same on every set and realisation.

    Errors of all methods go up and down together, so that a difference is significant however small.
    """
    found = []
    for name in names or printed().errors.index:
        for method, error in errors.items():
            share = (kept or {}).get(method, 10.0)
            for split in range(1, 6):
                found.append(
                    row(
                        name,
                        method,
                        split,
                        refit=error,
                        fixed=error,
                        kept=share,
                        cv_error=error,
                        deviations=(deviation, deviation),
                    )
                )
    return found


def results_by_set():
    """Return a fixture: what it gives stores rows as results of the tables that their data sets are in."""

    @pytest.fixture
    def put(monkeypatch, tmp_path):
        with writer("kfda", monkeypatch, tmp_path) as store:

            def write(rows):
                frame = pd.DataFrame(rows)
                for table, part in frame.groupby(frame["dataset"].map(sizes()["table"]).fillna("table-1")):
                    store(table, part)

            yield write

    return put
