"""The rivals of this room's claims: those that are quick to meet are refuted here, all by ``--sharpness``."""

from fractions import Fraction

import pytest

from marginbook.claims import Kind, Verdict, find
from marginbook.claims.catalogue import rivals_of
from marginbook.claims.rivals import in_place
from marginbook.clasmk.claims import (
    section_2_lemma_1,
    section_2_remark_1,
    section_2_theorem_1,
)
from marginbook.clasmk.claims import section_2_theorem_2_lemmas as lemmas
from marginbook.clasmk.claims.block_distributions import block_models
from marginbook.clasmk.claims.changed_cells import cell, second
from marginbook.clasmk.claims.distributions import problems
from marginbook.clasmk.paper import printed

CLAIMS = {claim.id: claim for claim in find(["clasmk"])}
#: claims that are checked in milliseconds
QUICK = [
    id
    for id, claim in CLAIMS.items()
    if claim.module.rpartition(".")[2]
    in (
        "printed_audit",
        "printed_sets",
        "printed_table_1",
        "printed_time",
        "misprints",
        "section_4_layers",
        "figures",
        "tables",
        "tables_table_2",
        "section_1_complexity",
    )
    and claim.rivals
]
LESS = Fraction(98, 100)
OF_BOUNDS = [{"power": 2}, {"scale": LESS}, {"noises": 2}, {"orthogonal": False}]
OF_LEMMAS = [{"scale": 1 / LESS}, {"share": LESS}, {"plus": 0}, {"inside": True}]


@pytest.fixture
def few(monkeypatch):
    """Few drawn models: those that are built are what a rival fails in."""
    for module in (section_2_lemma_1, section_2_remark_1, section_2_theorem_1):
        monkeypatch.setattr(module, "problems", lambda seed, n, classes=(2,): problems(seed, 12, classes))
    monkeypatch.setattr(
        lemmas,
        "block_models",
        lambda seed, n, **options: block_models(seed, 6, **options),
    )


def test_each_claim_that_must_has_two_rivals_or_more():
    must = {id: claim for id, claim in CLAIMS.items() if claim.kind not in (Kind.EXPERIMENT, Kind.OURS)}
    assert not [id for id, claim in must.items() if len(claim.rivals) < 2]


@pytest.mark.parametrize("id", QUICK)
def test_quick_rivals_turn_verdict_text_and_slack(id):
    claim = CLAIMS[id]
    own = claim.check()
    for rival in rivals_of(id):
        with in_place(rival):
            found = claim.check(**rival.arguments)
        assert found.verdict != own.verdict, rival.what
        assert (found.measured, found.claimed) != (own.measured, own.claimed), rival.what
        # the slack of a corrected statement is that of the printed one, which need not change
        if {found.verdict, own.verdict} != {Verdict.CORRECTED, Verdict.FAILS} and own.slack is not None:
            assert found.slack != own.slack, rival.what
            assert found.verdict != Verdict.FAILS or found.slack <= 0, rival.what
            assert found.verdict != Verdict.HOLDS or found.slack >= 0, rival.what
    assert claim.check() == own


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("changed", OF_BOUNDS)
@pytest.mark.parametrize("check", [section_2_lemma_1.check_lemma, section_2_theorem_1.check_theorem])
def test_a_wrong_bound_fails_in_the_models_that_are_built(check, changed):
    evidence = check()
    assert evidence.verdict == Verdict.HOLDS
    assert 0.998 < evidence.reach <= 1
    assert check(**changed).verdict == Verdict.FAILS


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("changed", OF_LEMMAS)
@pytest.mark.parametrize("check", [lemmas.check_pairs, lemmas.check_average])
def test_a_wrong_distance_fails_in_the_models_that_are_built(check, changed):
    evidence = check()
    assert evidence.verdict == Verdict.HOLDS
    assert 0.999 < evidence.reach <= 1
    assert check(**changed).verdict == Verdict.FAILS


def test_a_change_in_the_noise_is_small_only_for_a_small_lambda():
    assert section_2_remark_1.check_neglected().reading
    assert section_2_remark_1.check_neglected(roots=(0.9, 0.99)).verdict == Verdict.FAILS


def test_one_cell_is_changed_and_the_others_are_not():
    (swap,) = cell("table-1", "banana", "CLASK-ML", 1.25).values()
    changed, page = swap(printed.printed)("table-1"), printed.printed("table-1")
    assert changed.loc["banana", "CLASK-ML"] == 1.25
    assert (changed != page).to_numpy().sum() == 1
    assert swap(printed.printed)("table-1", "std").equals(printed.printed("table-1", "std"))
    (swap,) = second("phoneme", "CLASMK-ML", 1.25, "basis_seconds").values()
    assert (swap(printed.seconds)()["basis_seconds"] == 1.25).sum() == 1
    assert not (printed.seconds()["basis_seconds"] == 1.25).any()
