"""The explorables of SMM and bridge in Chromium say what the library says."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

from marginbook.bridge.claims import examples
from marginbook.bridge.claims import finding_pictures as bridge_pictures
from marginbook.smm.claims import finding_pictures as smm_pictures
from marginbook.smm.claims.idea_problem import LEVEL, LEVELS, idea_problem
from marginbook.smm.model.aggregation import count_rule

from .test_explore import opened, settled

pytestmark = pytest.mark.browser


def complete(page) -> str:
    """Return what is said once all level sets are fitted."""
    page.wait_for_timeout(300)
    page.wait_for_function("!document.querySelector('.explore .faint')")
    return page.locator(".explore .says").inner_text()


def test_smm_fits_a_phone(explore: str, chromium) -> None:
    context = chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(f"{explore}book/smm.html")
    page.wait_for_selector(".explore")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for panel in page.locator(".explore svg").all():
        box = panel.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390


def test_smm_says_what_the_level_sets_of_the_library_say(explore: str, chromium) -> None:
    page = opened(chromium, f"{explore}book/smm.html")
    said, problem, sets = complete(page), idea_problem(), smm_pictures.idea_sets()
    decisions = np.column_stack(
        [np.einsum("nij,ij->n", problem.new, one.coef) + one.intercept for one in sets]
    )
    inside, B = decisions[:, round(LEVEL * LEVELS) - 1] > 0, sets[round(LEVEL * LEVELS) - 1].coef
    told = (
        100 * np.mean(inside != (problem.probability > LEVEL)),
        np.abs(count_rule(decisions) - problem.probability).mean(),
        np.sum(B * problem.truth) / np.linalg.norm(B),
    )
    found = re.search(r"wrong about (\d+).%.* by ([\d.]+) on average.*\(cosine\): ([\d.]*\d)", said)
    assert found, said
    for number, wanted, width in zip(found.groups(), told, (0.51, 0.0051, 0.00051), strict=True):
        assert abs(float(number) - wanted) <= width, said
    for mark, wanted in enumerate((inside.sum(), (~inside).sum())):
        drawn = page.locator(f".explore .estimate.mark-{mark}").get_attribute("d")
        assert drawn.count("M") == wanted


def test_smm_fits_every_rank_and_level_from_the_keyboard(explore: str, chromium) -> None:
    page = opened(chromium, f"{explore}book/smm.html")
    first = complete(page)
    page.get_by_role("slider", name="Rank").press("End")
    full = complete(page)
    error, worse = (float(re.search(r"by ([\d.]+) on", said)[1]) for said in (first, full))  # type: ignore[index]
    assert worse > error + 0.05, "a rank of 1 is the truth"
    riser = page.locator(".explore .riser").get_attribute("d")
    page.get_by_role("slider", name="Level").press("Home")
    assert "level 0.1" in complete(page)
    assert page.locator(".explore .riser").get_attribute("d") != riser
    page.get_by_role("slider", name="Sample").press("ArrowRight")
    assert complete(page) != full
    page.get_by_role("button", name="Reset").click()
    assert complete(page) == first


def test_the_bridge_ends_where_theory_says(explore: str, chromium) -> None:
    page = opened(chromium, f"{explore}book/bridge.html")
    (low, high), (bottom, top) = bridge_pictures.IDEA_WINDOW
    X, y = bridge_pictures.idea_points()
    grid = np.array([(a, b) for b in np.linspace(bottom, top, 80) for a in np.linspace(low, high, 100)])
    pair = examples.at(np.round(X, 3), y, grid, bridge_pictures.IDEA["gamma"])
    five = examples.five(pair, bridge_pictures.IDEA["beta"], bridge_pictures.IDEA["C"])
    found = re.search(r"kernel ridge on ([\d.]+).% of the plane, from the SVM on ([\d.]+).%", settled(page))
    assert found
    for told, name in zip(found.groups(), ("kernel ridge", "SVM"), strict=True):
        share = 100 * np.mean((five[name] > 0) != (five["LDM"] > 0))
        assert abs(float(told) - share) < 1, name
    way = page.get_by_role("slider", name="LDM: ridge")

    def line(name: str) -> np.ndarray:
        drawn = page.locator(f".explore-plane path.{name}").get_attribute("d")
        return np.array(re.findall(r"-?[\d.]+", drawn), dtype=float)

    for key, end, other in (("Home", "ridge", "svm"), ("End", "svm", "ridge")):
        way.press(key)
        assert "differently on 0\u00a0% of the plane" in settled(page)
        assert_allclose(line("ours"), line(end), atol=0.11)  # a digit of a pixel, rounded
        assert line("ours").shape != line(other).shape or np.abs(line("ours") - line(other)).max() > 5
