"""The claims about cuts, curves over q and several classes: verdicts follow the results."""

import json

import pytest

from marginbook.claims import Verdict
from marginbook.kfda.claims import tables_multiclass, tables_sparsity

from ..made_files import results_of

CUTS = [1e-1, 1e-3, 1e-6, 1e-9]
RUNS = {
    "cuts": tables_sparsity.check_cuts,
    "curves": tables_sparsity.check_curves,
    "multiclass": tables_multiclass.check_multiclass,
}


put = results_of("kfda")


@pytest.mark.usefixtures("put")
@pytest.mark.parametrize("table", RUNS)
def test_without_results_nothing_is_testable(table):
    evidence = RUNS[table]()
    assert evidence.verdict == Verdict.NOT_TESTABLE
    assert f"marginbook experiment run kfda/{table} --profile paper" in evidence.why


def cut_rows(stopped, exact=10.0, names=("heart", "sonar")):
    """Return results of the cuts: the shares `stopped` by cut, the same for two rho."""
    return [
        {
            "dataset": name, "method": method, "split": 1, "n_train": 100, "cuts": json.dumps(CUTS),
            "rho": "[0.1, 0.01]", "nrs_stopped": json.dumps([stopped] * 2),
            "nrs_long": json.dumps([stopped] * 2),
            "nrs_exact": json.dumps([exact] * 2), "excess_stopped": "[1e-4, 2e-4]",
        }
        for name in names
        for method in ("kFDA-1", "kFDA-0.5")
    ]  # fmt: skip


def test_one_sample_more_is_the_same_and_two_are_not(put):
    put("cuts", cut_rows([5.0, 10.0, 11.0, 30.0]))
    evidence = tables_sparsity.check_cuts()
    assert evidence.verdict == Verdict.FAILS  # alike for both exponents
    assert evidence.sizes == {"sets": 2, "cells": 8}
    assert "nearest to these is the cut 1e-03, 0.0 points off" in evidence.why
    two, one = cut_rows([5.0, 10.0, 12.0, 30.0]), cut_rows([5.0, 10.0, 11.0, 30.0])
    put("cuts", [r for r in two if r["method"] == "kFDA-1"] + [r for r in one if r["method"] != "kFDA-1"])
    evidence = tables_sparsity.check_cuts()
    assert evidence.verdict == Verdict.HOLDS
    assert "for q = 1 0 % of 4 cases, for q = 0.5 100 %" in evidence.measured
    put("cuts", two)
    assert tables_sparsity.check_cuts().verdict == Verdict.FAILS
    put("cuts", cut_rows([5.0, 10.0, 12.0, 30.0], names=["twonorm-drawn"]))
    assert tables_sparsity.check_cuts().verdict == Verdict.NOT_TESTABLE


def curve_rows(shares, errors, name="heart"):
    """Return results of the curves: for each q its shares and errors along two rho, on two partitions."""
    rows = []
    for q, share in shares.items():
        for split, shift in ((1, -1.0), (2, 1.0)):
            row = {"dataset": name, "method": q, "split": split, "rho": "[0.1, 0.01]"}
            sides = {"mcr": errors[q], "nrs": share}
            row |= {side: json.dumps([value + shift for value in values]) for side, values in sides.items()}
            if q != "q=1":
                row |= {f"{side}_warm": row[side] for side in sides}
            rows.append(row)
    return rows


def on_five_sets(shares, errors):
    """Return the same curves on as many sets as it takes to tell them from exchanged ones."""
    sets = ("heart", "sonar", "german", "diabetes", "breast-cancer")
    return [row for name in sets for row in curve_rows(shares, errors, name)]


def test_the_fewest_samples_near_the_least_error_of_the_lasso(put):
    shares = {"q=0.25": [1.0, 4.0], "q=0.5": [2.0, 8.0], "q=0.75": [3.0, 9.0], "q=1": [5.0, 20.0]}
    errors = {"q=0.25": [40.0, 11.0], "q=0.5": [40.0, 12.5], "q=0.75": [10.0, 9.0], "q=1": [30.0, 10.5]}
    put("curves", curve_rows(shares, errors))
    found = tables_sparsity.needed(tables_sparsity.curve()).loc["heart"]
    # q = 0.5 is nowhere within a point of 10.5
    assert found.fillna(-1).to_dict() == {"q=0.25": 4.0, "q=0.5": -1, "q=0.75": 3.0, "q=1": 20.0}
    evidence = tables_sparsity.check_curves()
    assert evidence.verdict == Verdict.UNDECIDED  # one set has no interval
    assert "changes the mean number of samples at 0 of 6 points" in evidence.why
    errors["q=0.5"] = errors["q=0.25"]
    put("curves", on_five_sets(shares, errors))
    evidence = tables_sparsity.check_curves()
    assert evidence.verdict == Verdict.REPRODUCED
    assert evidence.measured.endswith("6 shown, 0 open, 0 refuted")
    # the same shares along rho for all: q = 0.75 is near with the sparser of two, the others are not sparser
    dense = dict.fromkeys(shares, shares["q=1"])
    put("curves", on_five_sets(dense, errors))
    evidence = tables_sparsity.check_curves()
    assert evidence.verdict == Verdict.PARTLY
    assert evidence.measured.endswith("4 shown, 0 open, 2 refuted")
    # no q < 1 comes near
    far = {q: [value + 5 * (q != "q=1") for value in values] for q, values in errors.items()}
    put("curves", on_five_sets(shares, far))
    evidence = tables_sparsity.check_curves()
    assert evidence.verdict == Verdict.NOT_REPRODUCED
    assert "out of reach on 5" in evidence.why


def test_a_curve_of_one_set_may_be_of_a_drawn_one(put):
    shares = {"q=1": [5.0, 20.0]}
    put("curves", curve_rows(shares, {"q=1": [3.0, 2.0]}, "twonorm-drawn"))
    assert tables_sparsity.curve() is None
    lines = tables_sparsity.curve("twonorm-drawn")
    assert lines["rho"].tolist() == [0.1, 0.01]
    assert lines["nrs"].tolist() == [5.0, 20.0]


def scheme_rows(union, coefficients, machines=3):
    return [
        {
            "dataset": "iris", "method": method, "split": split, "mcr": 4.0, "kernels_per_row": union,
            "n_coefficients": coefficients, "n_machines": machines, "n_train": 75, "n_classes": 3,
        }
        for method in ("kFDA-1 one-vs-rest", "kFDA-0.5 one-vs-one", "SVM one-vs-one")
        for split in (1, 2)
    ]  # fmt: skip


def test_machines_that_share_their_samples_are_parsimonious(put):
    put("multiclass", scheme_rows(union=30, coefficients=30))
    evidence = tables_multiclass.check_multiclass()
    assert evidence.verdict == Verdict.HOLDS  # no sample in common: three times one machine
    assert evidence.sizes == {"sets": 1, "cases": 2}
    assert "SVM one-vs-one: error 4.0 %, 40 % of the training rows together, 3.0 times" in evidence.why
    put("multiclass", scheme_rows(union=10, coefficients=30))
    assert tables_multiclass.check_multiclass().verdict == Verdict.FAILS
