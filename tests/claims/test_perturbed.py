"""A measured value is perturbed: verdict, text and slack of the evidence change together.

For claims that rest on stored results, the scores of one method are moved far away. For all claims, what the
rivals change is in the shipped file of `make sharpness`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pandas as pd
import pytest

from marginbook.claims import ROOMS, Evidence, Verdict, check, find, ledger, sharpness, times
from marginbook.claims.changed_results import in_results, renamed
from marginbook.claims.rivals import Rival, in_place
from marginbook.claims.sharpness import CHANGED, Met
from marginbook.experiments import read_results

#: by claim, the tables of its room whose stored results it reads
STORED = {
    claim.id: [
        path.split("/")[2].removesuffix(".csv")
        for path in claim.depends
        if path.startswith(f"results/{claim.paper}/") and path.endswith(".csv")
    ]
    for claim in ledger().values()
}
#: not scores
KEPT = {"split", "test_rows", "n_train", "n_test"}
#: lists of numbers, in JSON, that claims measure
LISTS = {"features"}
FOR, AGAINST = {Verdict.HOLDS, Verdict.REPRODUCED}, {Verdict.FAILS, Verdict.NOT_REPRODUCED}


def far(method: str, sign: int) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Return a change of results: the scores of a method, or of all, are moved by three times their range.

    Shares stay between 0 and 1. A list is turned round, or its numbers grow with their places.
    """

    def change(frame: pd.DataFrame) -> pd.DataFrame:
        rows = (frame["method"] == method) | (method == "all")
        for name in frame.columns:
            if name in KEPT:
                continue
            if frame[name].dtype.kind == "f":
                span = float(frame[name].max() - frame[name].min()) or 1.0
                ends = (0.0, 1.0) if frame[name].dropna().between(0, 1).all() else (None, None)
                frame.loc[rows, name] = (frame.loc[rows, name] + sign * 3 * span).clip(*ends)
            elif name in LISTS:
                frame.loc[rows, name] = frame.loc[rows, name].map(lambda text: other_list(text, sign))
        return frame

    return change


def other_list(text: str, sign: int) -> str:
    numbers = json.loads(text)
    return json.dumps(numbers[::-1] if sign < 0 else [(1 + i) * x for i, x in enumerate(numbers)])


def perturbed(id: str) -> Iterator[tuple[str, Evidence]]:
    """Yield the evidence of a claim with one method of one table moved, or all of them, or all exchanged."""
    (claim,) = find([id])
    for table in STORED[id]:
        methods = list(read_results(f"{claim.paper}/{table}")["method"].unique())
        turned = dict(zip(methods, [*methods[1:], methods[0]], strict=True))
        swaps = {f"{table}, turned": renamed(claim.paper, [table], turned)}
        swaps |= {
            f"{table}, {method}, {sign:+d}": in_results(claim.paper, [table], far(method, sign))
            for method in ["all", *methods]
            for sign in (1, -1)
        }
        for what, swap in swaps.items():
            with in_place(Rival(what, swaps=swap)):
                yield what, claim.check()


def consistent(own: Evidence, found: Evidence) -> str:
    """Say what did not change with the verdict, or what of the slack contradicts it; "" for nothing."""
    if found.slack is not None and (
        (found.verdict in FOR and found.slack < 0) or (found.verdict in AGAINST and found.slack > 0)
    ):
        return f"{found.verdict} with the slack {found.slack:g}"
    if found.verdict == own.verdict:
        return ""
    if (own.measured, own.claimed) == (found.measured, found.claimed):
        return f"{own.verdict} became {found.verdict}, the text did not change"
    if own.slack is not None and own.slack == found.slack:
        return f"{own.verdict} became {found.verdict}, the slack did not change"
    return ""


def look(id: str, enough: int, most: int) -> None:
    """Assert that perturbations are consistent, and that one of them, or a rival, changes the verdict.

    These are the first `enough`, and as many more, up to `most`, as it takes to change the verdict; more than
    that only until a text changes.
    """
    own, wrong, turned, text = check(id), {}, False, False
    for number, (what, found) in enumerate(perturbed(id), start=1):
        if fault := consistent(own, found):
            wrong[what] = fault
        turned = turned or found.verdict != own.verdict
        text = text or found.measured != own.measured
        if text and number >= (enough if turned else most):
            break
    assert wrong == {}
    assert text
    # what came out against a claim seldom turns by chance: its rivals have other results, made for it
    assert turned or any(one.killed for one in sharpness.shipped()[id])


@pytest.mark.parametrize("id", [id for id, tables in STORED.items() if tables and find([id])[0].rivals])
def test_text_slack_and_verdict_follow_the_stored_results(id: str) -> None:
    look(id, enough=3, most=5)


@pytest.mark.parametrize("id", ["drm/table-5", "drm/fig-5", "smm/levels", "smm/model-free"])
def test_text_slack_and_verdict_follow_some_stored_results(id: str) -> None:
    look(id, enough=2, most=4)


def test_a_part_that_is_counted_takes_the_slack_along() -> None:
    """Of the laws of kfda/scale all hold without the threshold, and the decisions are not the same."""
    (claim,) = find(["kfda/scale"])
    with in_place(Rival("a threshold 5 % off", swaps={"kfda.model.objective.midpoint": times(1.05)})):
        found = claim.check()
    assert found.verdict == Verdict.FAILS
    assert found.slack is not None
    assert found.slack < 0


def test_a_verdict_that_changes_alone_is_noticed() -> None:
    assert Met("a", "b", "holds", "fails", "same", CHANGED).alone
    assert Met("a", "b", "holds", "fails", CHANGED, "same").alone
    assert not Met("a", "b", "holds", "fails", CHANGED, CHANGED).alone
    assert not Met("a", "b", "holds", "holds", "same", "same").alone
    # the slack of a corrected statement is that of the printed one, which a rival of the correction may leave
    assert not Met("a", "b", "corrected", "fails", CHANGED, "same").alone
    assert Met("a", "b", "corrected", "holds", CHANGED, "same").alone
    # not told: a file of an older run
    assert not Met("a", "b", "holds", "fails").alone


@pytest.mark.parametrize("room", ROOMS)
def test_with_a_killed_rival_text_and_slack_change(room: str) -> None:
    met = [one for id, every in sharpness.shipped().items() if id.startswith(f"{room}/") for one in every]
    assert [(one.id, one.rival) for one in met if one.alone] == []
