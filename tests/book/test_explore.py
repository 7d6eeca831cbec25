"""Explorables in Chromium: points that move, controls, what stays where scripts or colours are missing."""

from __future__ import annotations

import re
from pathlib import Path

import axe_playwright_python
import numpy as np
import pytest
from numpy.testing import assert_allclose

from marginbook.base.project import resource
from marginbook.bridge.claims import finding_pictures as bridge_pictures
from marginbook.clasmk.claims import idea_picture
from marginbook.drm import DRMClassifier
from marginbook.drm.claims import finding_pictures as drm_pictures
from marginbook.kernels import gram
from marginbook.kfda import SparseKFDAClassifier
from marginbook.kfda.claims import finding_pictures as kfda_pictures
from marginbook.kfda.claims.local_minima import local_minima
from marginbook.kfda.model.objective import Problem, targets
from marginbook.kfda.solvers.irls import majorize_minimize
from marginbook.ldm import LDMClassifier
from marginbook.ldm.claims import finding_pictures as ldm_pictures

from .explore_page import SCRIPTS, script_of

ROOMS = ("ldm", "drm", "kfda", "clasmk", "smm", "bridge")
DRAGGED = tuple(room for room in ROOMS if room != "smm")  # those with points that move
LIMIT = 150_000  # bytes of all scripts and styles of the explorables
AT = re.compile(r" at (.*), (.*)$")

browser = pytest.mark.browser


def opened(chromium, address: str, **options):
    """Return a page whose explorable has drawn itself."""
    page = chromium.new_context(viewport={"width": 1280, "height": 900}, **options).new_page()
    page.goto(address)
    page.wait_for_selector(".explore")
    return page


def place(point) -> np.ndarray:
    """Return the coordinates that a point tells."""
    found = AT.search(point.get_attribute("aria-label"))
    assert found
    return np.array([float(value.replace("−", "-")) for value in found.groups()])


def settled(page) -> str:
    """Return what is said once nothing moves any more."""
    page.wait_for_timeout(300)
    return page.locator(".explore .says").inner_text()


def centre(point) -> tuple[float, float]:
    box = point.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.parametrize("room", ROOMS)
def test_a_chapter_has_its_still_and_its_script(room: str) -> None:
    text = resource("book", f"{room}.md").read_text(encoding="utf-8")
    still, script = text.index(f":class: finding explore-{room}"), text.index(script_of(room))
    assert still < script < text.index("## What we found")
    assert f'"../_static/explore/{room}.js"' in script_of(room)


def test_scripts_are_small_and_loaded_only_where_they_are_used() -> None:
    files = [path for path in SCRIPTS.iterdir() if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= LIMIT
    assert "explore" not in (SCRIPTS.parents[2] / "_config.yml").read_text(encoding="utf-8")
    for path in files:
        assert not re.search(r"https?://(?!www\.w3\.org/)", path.read_text(encoding="utf-8")), path


@browser
def test_the_first_points_are_those_of_the_stills(explore: str, chromium) -> None:
    page = chromium.new_page()
    page.goto(explore + "book/numbers.html")
    points = {
        room: page.evaluate(f"import('/_static/explore/{room}.js').then(({{ POINTS }}) => POINTS)")
        for room in ROOMS
    }
    assert_allclose(points["ldm"], ldm_pictures.idea_points()[0], atol=5.1e-4)
    assert_allclose(points["drm"], drm_pictures.idea_points()[0], atol=5.1e-4)
    assert_allclose(points["kfda"], kfda_pictures.idea_points()[0])
    assert_allclose(points["clasmk"], idea_picture.idea_points()[0])
    assert_allclose(points["bridge"], bridge_pictures.idea_points()[0], atol=5.1e-4)


@browser
@pytest.mark.parametrize("room", DRAGGED)
def test_a_mouse_drags_a_point(explore: str, chromium, room: str) -> None:
    page = opened(chromium, f"{explore}book/{room}.html")
    before, point = settled(page), page.locator(".explore .point").last  # no other lies above it
    start = place(point)
    x, y = centre(point)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 50, y + 60, steps=5)
    page.mouse.up()
    moved = place(point) - start
    assert moved[0] < -0.2
    assert moved[1] < -0.2
    assert settled(page) != before
    page.mouse.move(x + 80, y, steps=3)  # the button is up: it stays
    assert_allclose(place(point) - start, moved)
    page.get_by_role("button", name="Reset").click()
    assert_allclose(place(point), start)


@browser
@pytest.mark.parametrize("room", DRAGGED)
def test_a_finger_drags_a_point_and_nothing_is_wider_than_a_phone(explore: str, chromium, room: str) -> None:
    context = chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(f"{explore}book/{room}.html")
    page.wait_for_selector(".explore")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    # the plane clips what lies beyond its edges
    wide = """e => [...e.querySelectorAll('*')]
      .filter(c => !c.closest('.explore-plane') && c.scrollWidth > e.clientWidth + 1).length"""
    assert page.locator(".explore").evaluate(wide) == 0
    for plane in page.locator(".explore-plane").all():
        assert plane.bounding_box()["width"] <= 390
    point = page.locator(".explore .point").nth(0)
    point.scroll_into_view_if_needed()
    start, (x, y), said = place(point), centre(point), settled(page)
    fingers = context.new_cdp_session(page)
    touches = [("touchStart", x, y)] + [("touchMove", x - 8 * k, y + 9 * k) for k in range(1, 8)]
    for kind, a, b in touches:
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": a, "y": b}]})
    fingers.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    moved = place(point) - start
    assert moved[0] < -0.2
    assert moved[1] < -0.2
    assert centre(point)[1] - y > 40, "the browser took the finger away to scroll the page"
    assert settled(page) != said


@browser
@pytest.mark.parametrize("room", DRAGGED)
def test_keys_reach_and_move_every_point(explore: str, chromium, room: str) -> None:
    page = opened(chromium, f"{explore}book/{room}.html")
    points = page.locator(".explore .point")
    page.keyboard.press("Tab")
    assert points.nth(0).evaluate("e => e === document.activeElement")
    start = place(points.nth(0))
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    page.keyboard.press("Shift+ArrowDown")
    moved = place(points.nth(0)) - start
    assert moved[0] < 0
    assert moved[1] < moved[0]
    page.keyboard.press("n")
    page.keyboard.press("PageDown")
    assert points.nth(2).evaluate("e => e === document.activeElement")
    page.keyboard.press("p")
    assert points.nth(1).evaluate("e => e === document.activeElement")
    for _ in page.locator(".explore-plane").all():
        page.keyboard.press("Tab")  # all points of a plane are one stop
    assert page.evaluate("document.activeElement.closest('.explore-control') !== null")


@browser
def test_sliders_answer_keys_and_say_their_values(explore: str, chromium) -> None:
    page = opened(chromium, f"{explore}book/ldm.html")
    first = page.get_by_label("λ₁")
    first.focus()
    page.keyboard.press("Home")
    assert first.get_attribute("aria-valuetext") == "0"
    settled(page)
    lines = [page.locator(f".explore-plane path.{name}").get_attribute("d") for name in ("ours", "theirs")]
    assert lines[0] == lines[1], "with lambda1 = lambda2 = 0 LDM is the SVM"
    page.keyboard.press("End")
    assert first.get_attribute("aria-valuetext") == "10000"
    assert page.get_by_label("γ").is_hidden()
    page.get_by_label("Kernel").select_option("rbf")
    settled(page)
    assert page.get_by_label("γ").is_visible()
    assert len(page.locator(".explore-plane path.ours").get_attribute("d")) > 100
    page.get_by_role("button", name="Reset").click()
    assert first.get_attribute("aria-valuetext") == "1000"


@browser
def test_ldm_says_what_the_estimator_says(explore: str, chromium) -> None:
    page = opened(chromium, f"{explore}book/ldm.html")
    X, y = ldm_pictures.idea_points()
    told = {}
    for name, lambda1 in (("SVM", 0.0), ("LDM", 1000.0)):
        model = LDMClassifier(lambda1, 0.0, 100.0, "linear", fit_intercept=True).fit(np.round(X, 3), y)
        distances = y * model.decision_function(np.round(X, 3)) / np.linalg.norm(model.coef_)
        told[name] = (distances.min(), distances.std())
    said = settled(page)
    for number, what in enumerate(("Smallest distance", "Standard deviation")):
        found = re.search(rf"{what}: SVM ([\d.]+), LDM ([\d.]*\d)", said)
        assert found, said
        assert_allclose(
            [float(one) for one in found.groups()], [told["SVM"][number], told["LDM"][number]], atol=6e-4
        )


@browser
def test_drm_tells_x_from_its_opposite_only_with_a_constant_feature(explore: str, chromium) -> None:
    page = opened(chromium, f"{explore}book/drm.html")
    X, y, x = drm_pictures.idea_points()
    names = np.array(["circle", "square", "triangle"])
    for constant in (False, True):
        page.get_by_label("Constant feature").set_checked(constant)
        model = DRMClassifier(1.0, 10.0, "linear", fit_intercept=constant).fit(X, y)
        for point in (x, -x):
            plane = page.locator(".explore-plane svg").bounding_box()
            across, up = (point[0] + 3.4) / 6.8, (3.2 - point[1]) / 5.6
            page.mouse.move(plane["x"] + across * plane["width"], plane["y"] + up * plane["height"])
            assert_allclose(place(page.locator(".explore .point").first), point, atol=0.02)
            assert f"The label of x is {names[model.predict([point])[0]]}." in settled(page)
    assert model.predict([x])[0] != model.predict([-x])[0]
    assert page.locator(".explore .weight").count() == 42
    assert page.locator(".explore .arrow").count() == 3
    page.get_by_label("Kernel").select_option("rbf")
    settled(page)
    assert page.locator(".explore .arrow").count() == 0


def numbers(said: str, pattern: str) -> list[float]:
    """Return the numbers that a sentence tells; # in the pattern stands for one."""
    found = re.search(pattern.replace("#", r"(\d+(?:\.\d+)?)"), said)
    assert found, said
    return [float(one) for one in found.groups()]


@browser
def test_kfda_says_what_the_still_and_the_library_say(explore: str, chromium) -> None:
    said = settled(opened(chromium, f"{explore}book/kfda.html"))
    X, positive = kfda_pictures.idea_points()
    q, rho, gamma = kfda_pictures.IDEA.values()
    model = SparseKFDAClassifier(q, rho, gamma=gamma).fit(X, positive)
    wrong = np.sum(model.predict(X) != positive)
    assert numbers(said, "# of 40 points are kept .rings., and # ") == [len(model.retained_), wrong]
    K = gram(("rbf", {"gamma": gamma}), X)
    first, second = kfda_pictures.PAIR
    two = Problem(K[:, [second]], targets(positive), K[:, first])
    run = majorize_minimize(two, q, rho, start=kfda_pictures.BEGIN)
    minima = local_minima(two, q, rho)
    told = numbers(said, "there are # local minima. # steps .* keeps both: J = #; the lowest, #, keeps A")
    assert told[:2] == [len(minima), run.n_iter]
    assert_allclose(told[2:], [run.objective, minima[0].objective], atol=0.06)


@browser
def test_kfda_has_one_end_for_q_1_and_drops_what_starts_at_zero(explore: str, chromium) -> None:
    page = opened(chromium, f"{explore}book/kfda.html")
    start = page.locator(".explore .point").last
    start.focus()
    for _ in range(9):
        page.keyboard.press("Shift+ArrowLeft")  # beyond the axis: only the size of a coefficient counts
    assert "keeps B alone" in settled(page)
    assert (
        page.locator(".explore-plane")
        .last.locator("text", has_text=re.compile("^(A|B|A and B|neither)$"))
        .count()
        == 4
    )
    page.get_by_label("q (power)").focus()
    page.keyboard.press("End")
    assert "there is one minimum" in settled(page)


@browser
def test_clasmk_says_what_the_still_says(explore: str, chromium) -> None:
    page = opened(chromium, f"{explore}book/clasmk.html")
    said, found = settled(page), idea_picture.weighing()
    assert_allclose(
        numbers(said, "Ratio: # with equal weights, # at the starts, and after . steps # with"),
        [found.ratio(found.equal), found.ratio(found.equal), found.ratio(found.learned)],
        atol=6e-4,
    )
    assert_allclose(
        numbers(said, "nearer by # with equal weights, by #"),
        [found.leads(found.equal).mean(), found.leads(found.learned).mean()],
        atol=6e-4,
    )
    narrow = page.get_by_label("narrow kernel")
    narrow.focus()
    page.keyboard.press("Home")
    captured = numbers(settled(page), "Equal weights capture # % of a new point, learned ones # %")
    assert captured[1] < 15 < captured[0]


@browser
def test_clasmk_keeps_a_start_in_its_triangle_and_ends_at_the_star_from_everywhere(
    explore: str, chromium
) -> None:
    page = opened(chromium, f"{explore}book/clasmk.html")
    ends = "and after # steps # with the learned ones"
    before = numbers(settled(page), ends)[1]
    start = page.locator(".explore-plane").last.locator(".point").first
    start.focus()
    for _ in range(12):
        page.keyboard.press("Shift+ArrowDown")
    assert_allclose(place(start)[1], 0, atol=0.01)
    said = settled(page)
    assert numbers(said, ends)[1] == before
    page.get_by_label("Coordinates").select_option("concat")
    assert settled(page) != said


@browser
@pytest.mark.parametrize("room", ["ldm", "clasmk"])
@pytest.mark.parametrize("width", [1280, 390])
def test_no_word_of_a_histogram_is_cut(explore: str, chromium, room: str, width: int) -> None:
    page = opened(chromium, f"{explore}book/{room}.html")
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_timeout(300)
    cut = page.evaluate("""() => [...document.querySelectorAll('.explore .bars text')].filter(e => {
      const [word, whole] = [e, e.ownerSVGElement].map(each => each.getBoundingClientRect());
      return word.left < whole.left || word.right > whole.right || word.bottom > whole.bottom;
    }).map(e => e.textContent)""")
    assert cut == []


@browser
@pytest.mark.parametrize("room", ROOMS)
def test_without_scripts_the_still_is_there(explore: str, chromium, room: str) -> None:
    page = chromium.new_context(java_script_enabled=False).new_page()
    page.goto(f"{explore}book/{room}.html")
    assert page.get_by_alt_text("A still.").is_visible()
    broken = chromium.new_page()
    broken.route("**/explore.css", lambda route: route.abort())
    broken.goto(f"{explore}book/{room}.html")
    broken.wait_for_timeout(300)
    assert broken.get_by_alt_text("A still.").is_visible()
    assert broken.locator(".explore").count() == 0


@browser
@pytest.mark.parametrize("room", ROOMS)
def test_paper_gets_the_still(explore: str, chromium, room: str) -> None:
    page = opened(chromium, f"{explore}book/{room}.html")
    still = page.get_by_alt_text("A still.")
    assert still.is_hidden()
    page.emulate_media(media="print")
    assert still.is_visible()
    assert page.locator(".explore").is_hidden()


@browser
@pytest.mark.parametrize("room", ROOMS)
def test_nothing_comes_from_elsewhere_and_nothing_moves_by_itself(explore: str, chromium, room: str) -> None:
    page = chromium.new_context(reduced_motion="reduce").new_page()
    asked, errors = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{explore}book/{room}.html")
    page.wait_for_selector(".explore")
    for choices in page.locator(".explore select").all():
        choices.select_option(index=1)
    page.get_by_role("button", name="Reset").click()
    assert page.evaluate("document.getAnimations().length") == 0
    assert all(url.startswith((explore, "data:")) for url in asked), asked
    assert not errors


@browser
@pytest.mark.parametrize("theme", ["", "?dark"])
@pytest.mark.parametrize("room", ROOMS)
def test_rules_of_accessibility(explore: str, chromium, room: str, theme: str) -> None:
    page = opened(chromium, f"{explore}book/{room}.html{theme}")
    page.evaluate(Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8"))
    tags = "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']"
    # points may lie on each other: where they lie is what is shown
    found = page.evaluate(
        f"""() => axe.run('.explore', {{ runOnly: {tags}, rules: {{ 'target-size': {{ enabled: false }} }} }})
        .then(({{ violations }}) => violations.map(one => one.id + ': ' + one.nodes[0].html))"""
    )
    assert not found


@browser
def test_colours_follow_the_theme(explore: str, chromium) -> None:
    page = opened(chromium, f"{explore}book/ldm.html")
    pixel = """() => {
      const canvas = document.querySelector('.explore canvas');
      return [...canvas.getContext('2d').getImageData(3, 3, 1, 1).data];
    }"""
    light = page.evaluate(pixel)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.wait_for_timeout(100)
    dark = page.evaluate(pixel)
    assert light[:3] == [0, 0x72, 0xB2]
    assert dark[:3] == [0x56, 0xB4, 0xE9]
