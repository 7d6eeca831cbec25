"""Rivals: which end in a verdict, and what those of experiments change."""

import json
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

from marginbook import claims
from marginbook.claims import (
    Evidence,
    Kind,
    Rival,
    Verdict,
    catalogue,
    changed_results,
    check,
    decide,
    given,
    ledger,
    returns,
    sharpness,
    times,
)
from marginbook.claims.rivals import in_place
from marginbook.ldm.paper.printed import PAPER_TABLES

from ..settled import WITH_CHAPTER


def measure(value: float = 1.0) -> Evidence:
    return Evidence(
        verdict=decide(1 / value <= 2),
        measured="1",
        claimed="1",
        slack=0.5,
        why="because",
        sizes={"n": 3},
        seeds=(1,),
    )


@pytest.fixture
def met(monkeypatch, tmp_path):
    """What a check says to a rival that it refutes, to one that it does not, and to one that breaks it."""
    monkeypatch.setenv("MARGINBOOK_CACHE", str(tmp_path))
    rivals = (Rival("a third", {"value": 1 / 3}), Rival("3 for 1", {"value": 3}), Rival("zero", {"value": 0}))
    names = tuple(rival.what for rival in rivals)
    entry = claims.Claim("drm/toy", "Here", "$1=1$", "drm/none", measure, (), Kind.PROOF, names)
    monkeypatch.setitem(catalogue._CLAIMS, "drm/toy", entry)
    monkeypatch.setitem(catalogue._RIVALS, "drm/toy", rivals)
    return [sharpness.meet("drm/toy", number) for number in range(3)]


def test_a_rival_that_raises_is_not_refuted(met, monkeypatch):
    assert [(one.killed, one.erred, one.end) for one in met] == [
        (True, False, "killed"),
        (False, False, "survives"),
        (False, True, "no verdict"),
    ]
    entry = catalogue._CLAIMS["drm/toy"]
    monkeypatch.setattr(sharpness, "shipped", lambda: {"drm/toy": met})
    assert sharpness.rivals_killed(entry) == 1
    broken = [sharpness.Met("drm/toy", name, "holds", "error: ValueError") for name in entry.rivals]
    monkeypatch.setattr(sharpness, "shipped", lambda: {"drm/toy": broken})
    assert sharpness.rivals_killed(entry) == 0
    assert sharpness.blunt(entry)


def test_sharpness_of_a_claim(met, monkeypatch, cli):
    """The check agrees with any number below 2, so one rival survives; a raised error is noticed."""
    assert [(one.of_rival, one.killed) for one in met] == [
        ("fails", True),
        ("holds", False),
        ("error: ZeroDivisionError", False),
    ]
    entry = catalogue._CLAIMS["drm/toy"]
    assert [sharpness.meet("drm/toy", number) for number in range(3)] == met
    monkeypatch.setattr(sharpness, "shipped", lambda: {"drm/toy": met})
    assert sharpness.rivals_killed(entry) == 1
    assert not sharpness.blunt(entry)
    shown = cli("claims", "drm/toy", "--sharpness", "--n-jobs", "1")
    assert "survives" in shown.output
    assert "proof: 1 of 1 claims have a killed rival" in shown.output


def test_the_command_counts_errors_apart(met, cli):
    shown = cli("claims", "drm/toy", "--sharpness", "--n-jobs", "1")
    assert "1 killed, 1 survives, 1 no verdict" in shown.output
    found = json.loads(cli("claims", "drm/toy", "--sharpness", "--json", "--n-jobs", "1").output)
    assert [(one["killed"], one["erred"]) for one in found] == [(True, False), (False, False), (False, True)]


def test_a_claim_with_rivals_has_no_reason_to_be_blunt():
    enter = claims.claim(
        "drm/x", kind="proof", where="", statement="", notebook="", blunt="nothing to change"
    )
    assert callable(enter)
    with pytest.raises(ValueError, match="no reason for it to be blunt"):
        claims.claim(
            "drm/x", kind="proof", where="", statement="", notebook="", rivals=(Rival("x"),), blunt="none"
        )


def test_a_rival_is_killed_when_the_verdict_changes_with_it():
    """The sum of the scatters with one row left out is no longer the total scatter."""
    from marginbook.drm.claims import sections_3_4 as theory

    short = Rival("a row left out", swaps={
        "drm.model.objective.class_slices": lambda f: lambda sizes: [slice(0, sum(sizes) - 1)],
    })  # fmt: skip
    whole = theory.class_slices
    with in_place(short):
        assert theory.class_slices is not whole  # also where it was imported to
        assert theory.check_decomposition().verdict == Verdict.FAILS
    assert theory.class_slices is whole


def test_swaps_of_functions_constants_and_methods():
    from marginbook.drm.claims import section_6_convergence as convergence
    from marginbook.drm.model.operators import DenseSystem

    before = DenseSystem.bound
    rival = Rival(
        "all of it",
        swaps={
            "drm.claims.section_6_convergence.ITERATIONS": times(2),
            "drm.model.operators.DenseSystem.bound": returns(7.0),
        },
    )
    with in_place(rival):
        assert convergence.ITERATIONS == 200
        assert DenseSystem.bound(None) == 7.0
    assert convergence.ITERATIONS == 100
    assert DenseSystem.bound is before
    assert "bound" not in vars(DenseSystem)  # inherited before, inherited again


def test_an_argument_is_changed():
    assert given(1, 2.0)(lambda a, b, *, c: (a, b, c))(1.0, 3.0, c=5.0) == (1.0, 6.0, 5.0)
    assert times(2.0)(lambda a: a)(4.0) == 8.0


def results(swaps, table="table-2"):
    with in_place(Rival("x", swaps=swaps)):
        return PAPER_TABLES.results(table)


def test_stored_results_are_changed_for_who_reads_them():
    before = PAPER_TABLES.results("table-2")
    own = before["method"].str.startswith("LDM")
    lower = results(changed_results.moved("ldm", ["table-2"], "LDM", "accuracy", by=-0.01))
    np.testing.assert_allclose(lower["accuracy"], before["accuracy"] - 0.01 * own)
    swapped = results(changed_results.renamed("ldm", ["table-2"], {"LDM": "SVM", "SVM": "LDM"}))
    assert (swapped.loc[before["method"] == "SVM", "method"] == "LDM").all()
    assert set(results(changed_results.turned("ldm", "table-2"))["method"]) == set(before["method"])
    sets = list(dict.fromkeys(before["dataset"]))
    other = results(changed_results.other_sets("ldm", ["table-2"], {sets[0]: sets[1], sets[1]: sets[0]}))
    assert list(dict.fromkeys(other["dataset"])) == [sets[1], sets[0], *sets[2:]]
    both = results(changed_results.exchanged("ldm", ["table-2"], "accuracy", "majority"))
    assert (both["accuracy"] == before["majority"]).all()
    pd.testing.assert_frame_equal(
        results(changed_results.moved("ldm", ["table-3"], "", "accuracy", by=1)), before
    )
    pd.testing.assert_frame_equal(PAPER_TABLES.results("table-2"), before)


def test_numbers_in_lists_are_changed(monkeypatch):
    export = import_module("marginbook.experiments.export")
    frame = pd.DataFrame({"method": ["A", "B", "A"], "x": ["[1, 2]", "[3]", None], "y": [1, 2, 3]})
    monkeypatch.setattr(export, "read_results", lambda experiment: frame)
    with in_place(Rival("x", swaps=changed_results.moved("ldm", ["t"], "A", ("x", "y"), times=2.0, by=1.0))):
        found = export.read_results("ldm/t")
    assert found["x"].fillna("").to_list() == ["[3.0, 5.0]", "[3]", ""]
    assert found["y"].to_list() == [3.0, 2.0, 7.0]


def test_our_means_stand_as_the_print():
    with in_place(Rival("x", swaps=changed_results.our_means("ldm", "table-2", "accuracy"))):
        cells = PAPER_TABLES.cells("table-2")
    ran = cells[cells["ours_n"] > 0]
    ours = PAPER_TABLES.results("table-2").groupby(["dataset", "method"])["accuracy"].mean()
    for row in ran.head(20).itertuples():
        assert row.printed_mean == pytest.approx(ours[row.dataset, row.method], abs=1e-4)


def test_the_shipped_file_knows_every_rival():
    """What `make sharpness` wrote is about the rivals that are declared now, each of them once."""
    known = sharpness.shipped()
    assert {id: tuple(one.rival for one in met) for id, met in known.items()} == {
        id: claim.rivals
        for id, claim in ledger().items()
        if claim.rivals and (claim.paper in WITH_CHAPTER or id in known)
    }


def test_the_shipped_file_has_the_verdicts_of_today_and_every_claim_that_must_be_is_sharp():
    known = sharpness.shipped()
    assert {id: {one.verdict for one in met} for id, met in known.items()} == {
        id: {str(check(id).verdict)} for id in known
    }
    must = [claim for claim in ledger().values() if claim.kind not in (Kind.EXPERIMENT, Kind.OURS)]
    assert sum(not sharpness.blunt(claim) for claim in must) >= 0.9 * len(must)


def test_what_is_exchanged_by_a_killed_rival_never_does_better():
    """Names or columns exchanged are no better run: a verdict that rises with them sees nothing."""
    order = [Verdict.NOT_REPRODUCED, Verdict.UNDECIDED, Verdict.PARTLY, Verdict.REPRODUCED]
    order = [str(verdict) for verdict in order]
    met = [one for every in sharpness.shipped().values() for one in every]
    exchanges = [one for one in met if "exchanged" in one.rival and one.killed and one.verdict in order]
    assert len(exchanges) > 3
    assert not [one for one in exchanges if order.index(one.of_rival) > order.index(one.verdict)]


def test_a_warning_of_a_rival_is_not_shown(monkeypatch, tmp_path, recwarn):
    """What a rival breaks may warn; who runs the rivals need not read it."""

    def warns(value: float = 1.0) -> Evidence:
        np.mean([]) if value > 1 else None
        return measure(value)

    monkeypatch.setenv("MARGINBOOK_CACHE", str(tmp_path))
    entry = claims.Claim("drm/toy", "Here", "$1=1$", "drm/none", warns, (), Kind.PROOF, ("3 for 1",))
    monkeypatch.setitem(catalogue._CLAIMS, "drm/toy", entry)
    monkeypatch.setitem(catalogue._RIVALS, "drm/toy", (Rival("3 for 1", {"value": 3}),))
    assert sharpness.meet("drm/toy", 0).of_rival == "holds"
    assert not [warning for warning in recwarn if warning.category is RuntimeWarning]
