"""The ledger: every claim can be checked, verdicts are computed, the cache notices changes."""

import inspect
import json
import re
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest

from marginbook import claims
from marginbook.base.rooms import papers
from marginbook.claims import (
    Evidence,
    Kind,
    Verdict,
    catalogue,
    check,
    check_all,
    checking,
    decide,
    find,
    ledger,
    scoreboard,
    share,
)
from marginbook.notebooks import catalogue as notebooks


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("MARGINBOOK_CACHE", str(tmp_path))


@pytest.fixture
def toy(monkeypatch):
    """A claim of the drm room that counts how often it is computed."""
    calls = []

    def measure() -> Evidence:
        calls.append(1)
        return Evidence(
            verdict=decide(len(calls) > 0),
            measured="1",
            claimed="1",
            slack=0.5,
            why="because",
            sizes={"n": np.int64(3)},
            seeds=(1, 2),
        )

    monkeypatch.setitem(
        catalogue._CLAIMS,
        "drm/toy",
        claims.Claim("drm/toy", "Here", "$1=1$", "drm/none", measure, ("README.md",)),
    )
    return calls


def test_ids_are_unique_slugs_and_every_claim_points_to_a_notebook_section():
    entries = ledger()
    assert len({claim.slug for claim in entries.values()}) == len(entries)
    texts = {id: notebook.text.read_text() for id, notebook in notebooks.available().items()}
    for claim in entries.values():
        assert re.fullmatch(r"[a-z0-9]+/[A-Za-z0-9.-]+", claim.id)
        notebook, _, anchor = claim.notebook.partition("#")
        assert notebook in texts, f"{claim.id} names the notebook {notebook}"
        assert f"({anchor})=" in texts[notebook], f"{claim.id}: no anchor {anchor} in {notebook}"


def test_no_verdict_is_typed_in():
    """The modules that enter claims do not even know the verdicts: functions that decide give them."""
    for module in {sys.modules[claim.check.__module__] for claim in ledger().values()}:
        source = inspect.getsource(module)
        assert "Verdict" not in source, module.__name__
        assert not re.search(r"Evidence\(\s*f?[\"']", source), module.__name__


@pytest.mark.parametrize("room", papers())
def test_a_file_with_claims_says_what_they_are_about(room):
    """As the docstring of the room's `claims` has it; what begins with ``beyond`` is ours alone."""
    about = ("section", "table", "figure", "abstract", "printed", "misprints", "beyond")
    own = [claim for id, claim in ledger().items() if id.startswith(f"{room}/")]
    assert own
    for claim in own:
        name = claim.module.rpartition(".")[2]
        assert name.startswith(about), f"{claim.id} is in {name}.py, which is named like a helper"
        assert not name.startswith("beyond") or claim.kind == Kind.OURS, f"{claim.id} is not ours"


def test_decisions():
    assert decide(True) == Verdict.HOLDS
    assert decide(False, True) == Verdict.CORRECTED
    assert decide(False, False) == decide(False) == Verdict.FAILS
    assert [share(k, n) for k, n in ((0, 0), (4, 4), (3, 4), (2, 4))] == [
        Verdict.NOT_TESTABLE,
        Verdict.REPRODUCED,
        Verdict.PARTLY,
        Verdict.NOT_REPRODUCED,
    ]


def test_a_false_theorem_would_fail(monkeypatch):
    """The check of Proposition III.1 measures: with one sum wrong its verdict is `fails`."""
    from marginbook.drm.claims import sections_3_4 as theory

    monkeypatch.setattr(theory, "class_slices", lambda sizes: [slice(0, sum(sizes) - 1)])
    assert theory.check_decomposition().verdict == Verdict.FAILS


@pytest.mark.parametrize("broken", [("weights",), ("weights", "solve")])
def test_a_broken_leave_one_out_would_fail(monkeypatch, broken):
    """Neither refinement nor fits one by one may repair the formula that is checked."""
    from marginbook.drm.claims import beyond
    from marginbook.drm.solvers.downdate import Downdate

    for name in broken:
        zeros = lambda self, *_: np.zeros_like(self.rows)  # noqa: E731
        monkeypatch.setattr(Downdate, name, zeros)
    assert beyond.check_leave_one_out().verdict == Verdict.FAILS


def test_a_wrong_system_matrix_would_fail(monkeypatch):
    """The oracle of (13) does not share the matrix with the solver: without B the verdict is `fails`."""
    from marginbook.drm.claims import sections_3_4 as theory
    from marginbook.drm.model import objective
    from marginbook.drm.solvers import direct

    def without_b(K, sizes, alpha, beta=0.0):
        return K + np.diag(alpha * np.diagonal(K) + beta)

    for module in (objective, direct):
        monkeypatch.setattr(module, "system_matrix", without_b)
    assert theory.check_closed_form().verdict == Verdict.FAILS


def test_fresh_evidence_is_as_silent_as_that_of_the_cache(toy, monkeypatch, recwarn):
    def loud():
        warnings.warn("tried on purpose", UserWarning, stacklevel=1)
        return toy_evidence()

    toy_evidence = catalogue._CLAIMS["drm/toy"].check
    monkeypatch.setitem(catalogue._CLAIMS, "drm/toy", replace(catalogue._CLAIMS["drm/toy"], check=loud))
    check("drm/toy", fresh=True)
    assert len(toy) == 1
    assert not recwarn.list


def test_the_cache_answers_until_something_changes(toy, monkeypatch, tmp_path):
    first = check("drm/toy")
    assert check("drm/toy") == first
    assert len(toy) == 1
    assert check("drm/toy", fresh=True) == first
    assert len(toy) == 2
    monkeypatch.setattr(checking, "fingerprint", lambda *_: "other code")
    check("drm/toy")
    assert len(toy) == 3
    other = tmp_path / "README.md"
    other.write_text("other bytes")
    monkeypatch.setattr(checking, "resource", lambda *parts: tmp_path.joinpath(*parts))
    check("drm/toy")
    assert len(toy) == 4
    # what the paper prints, and the bounds in its protocols
    monkeypatch.setattr(checking, "_printed", lambda room: b"another threshold")
    check("drm/toy")
    assert len(toy) == 5


def test_a_cache_that_cannot_be_written_costs_no_evidence(toy, monkeypatch, tmp_path):
    (tmp_path / "no folder").write_text("")
    monkeypatch.setenv("MARGINBOOK_CACHE", str(tmp_path / "no folder"))
    assert check("drm/toy") == check("drm/toy")
    assert len(toy) == 2


def test_what_a_paper_prints_and_the_bounds_of_its_protocols_are_part_of_the_key():
    assert b"[fig-3.thresholds]" in checking._printed("drm")
    assert b"table-3.csv" in checking._printed("drm")
    assert checking._printed("drm") != checking._printed("smm")


def test_evidence_survives_the_cache_as_plain_data(toy):
    stored = check("drm/toy"), check("drm/toy")
    assert stored[0] == stored[1]
    assert stored[1].sizes == {"n": 3}
    assert stored[1].seeds == (1, 2)
    assert isinstance(stored[1].verdict, Verdict)


def test_rooms_and_single_claims_can_be_asked_for():
    assert {claim.paper for claim in find(["drm"])} == {"drm"}
    assert [claim.id for claim in find(["drm/eq-13"])] == ["drm/eq-13"]
    with pytest.raises(KeyError, match=r"no claim 'drm/eq-31'; did you mean drm/eq-13"):
        find(["drm/eq-31"])


def test_an_id_outside_the_rooms_or_entered_twice_is_refused():
    with pytest.raises(ValueError, match="must start with one of drm"):
        claims.claim("xyz/one", kind="proof", where="", statement="", notebook="")
    with pytest.raises(ValueError, match="entered twice"):
        claims.claim("drm/eq-13", kind="proof", where="", statement="", notebook="")(test_decisions)


def test_all_in_parallel_counts_to_the_scoreboard():
    seen = []
    evidence = check_all(
        ["drm/prop-III.1", "drm/prop-IV.1"], n_jobs=2, progress=lambda id, _: seen.append(id)
    )
    assert list(evidence) == ["drm/prop-III.1", "drm/prop-IV.1"]
    assert sorted(seen) == sorted(evidence)
    board = scoreboard({"drm/prop-III.1": Kind.PROOF, "drm/prop-IV.1": Kind.OURS}, evidence)
    assert board["drm"][False][Verdict.HOLDS] == board["drm"][True][Verdict.HOLDS] == 1


def test_the_command_prints_a_table_and_json(cli):
    shown = cli("claims", "drm/prop-III.1")
    assert "drm/prop-III.1" in shown.output
    assert "holds" in shown.output
    (record,) = json.loads(cli("claims", "drm/prop-III.1", "--json").output)
    assert {
        "id",
        "kind",
        "rivals_killed",
        "blunt",
        "where",
        "statement",
        "verdict",
        "measured",
        "claimed",
        "slack",
        "seeds",
        "sizes",
    } <= set(record)
    assert json.loads(cli("claims", "drm/prop-III.1", "--json", "--verdict", "fails").output) == []
    shown = cli("claims", "drm/prop-III.1", "--verdict", "fails")
    assert (shown.exit_code, shown.output) == (0, "no claim is of this kind and has this verdict\n")


def test_csv_is_a_form_of_what_the_rivals_come_to(cli):
    shown = cli("claims", "drm/prop-III.1", "--csv")
    assert shown.exit_code == 2
    assert "give both" in shown.output


def test_a_check_that_raises_is_named(toy, monkeypatch, cli):
    def broken() -> Evidence:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setitem(catalogue._CLAIMS, "drm/toy", claims.Claim("drm/toy", "", "", "", broken))
    shown = cli("claims", "drm/toy", "--n-jobs", "1")
    assert shown.exit_code == 1
    assert "the check of drm/toy did not finish: ZeroDivisionError: division by zero" in shown.output


def test_a_scoreboard_of_a_part_is_refused(cli, tmp_path):
    page = tmp_path / "README.md"
    page.write_text("kept")
    for part in (["drm"], ["--kind", "proof"], ["--verdict", "fails"]):
        shown = cli("claims", *part, "--scoreboard", str(page))
        assert shown.exit_code == 2
        assert "leave out IDs, --kind and --verdict" in shown.output
    assert page.read_text() == "kept"


def test_the_command_names_near_ids(cli):
    wrong = cli("claims", "drm/prop-III.2")
    assert wrong.exit_code == 2
    assert "did you mean drm/prop-III.1" in wrong.output


def test_what_no_paper_says_is_ours():
    with pytest.raises(ValueError, match="is of no paper: its kind is ours"):
        claims.claim("bridge/one", kind="proof", where="", statement="", notebook="")
    entries = ledger().values()
    assert {claim.kind for claim in entries} == set(Kind)
    assert all(claim.kind == Kind.OURS for claim in entries if claim.paper in ("bridge", "study"))
    assert not any("beyond" in claim.where for claim in entries)
