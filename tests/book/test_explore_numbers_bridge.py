"""What the browser computes for the bridge's explorable is what the library computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from marginbook.bridge.claims import examples
from marginbook.bridge.claims.problems import Pair
from marginbook.kernels import gram

from .test_explore_numbers import CLOSE, GRID, STATES, drawn, in_browser

pytestmark = pytest.mark.browser


BRIDGE = """async states => {
  const { apart, fitBridge } = await import("/_static/explore/bridge_model.js");
  return states.map(({ X, y, settings, grid }) => {
    const found = fitBridge(X, y, settings).grid(grid, grid);
    const shares = Object.keys(found).map((name) => apart({ xs: grid, ys: grid }, found.ldm, found[name]));
    const values = Object.fromEntries(Object.entries(found).map(([name, one]) => [name, [...one]]));
    return { shares, values };
  });
}"""


def test_the_five_classifiers_of_the_bridge_are_those_of_the_library(explore: str, chromium) -> None:
    """Also at both ends of the way, where the LDM is kernel ridge, up to a factor, or the SVM."""
    points = np.array([(a, b) for b in GRID for a in GRID])
    states, wanted = [], []
    for number in range(STATES):
        rng, X, labels = drawn(number, 2)
        order = np.argsort(labels, kind="stable")  # the library wants the negative class first
        X, y = X[order], 2.0 * labels[order] - 1
        name, gamma = ("linear", "rbf")[number % 2], float(10 ** rng.uniform(-2, 1))
        beta, C = float(10 ** rng.uniform(-2, 2)), float(10 ** rng.uniform(-1, 3))
        place = (0.0, 1.0, 0.5, *rng.uniform(size=2))[number % 5]
        kernel: Any = (name, {"gamma": gamma} if name == "rbf" else {})
        pair = Pair(X, y, points, kernel, gram(kernel, X), gram(kernel, X, points))
        five = examples.five(pair, beta, C)
        first = place <= 0.5
        part = 2 * place if first else 2 * place - 1
        share = 1.0 if first else 0.0 if part == 1 else 1e-4**part
        cost = C if not first else 1e-3 * (C / 1e-3) ** part
        if place > 0:
            five["LDM"] = examples.ldm(pair, share * len(y) / (4 * beta), share, cost)
        else:
            five["LDM"] = examples.ldm_without_hinge(pair, beta)
        wanted.append((five, place, kernel))
        settings = {"place": place, "beta": beta, "C": C, "kernel": name, "gamma": gamma}
        states.append({"X": X.tolist(), "y": y.tolist(), "settings": settings, "grid": GRID.tolist()})
    page = chromium.new_page()
    page.goto(explore + "book/numbers.html")
    names = {"ridge": "kernel ridge", "svm": "SVM", "kfda": "kFDA", "drm": "DRM", "ldm": "LDM"}
    for (five, place, kernel), found in zip(wanted, in_browser(page, BRIDGE, states), strict=True):
        for short, name in names.items():
            scale = max(1.0, float(np.abs(five[name]).max()))
            values = np.array(found["values"][short])
            assert_allclose(values, five[name], atol=CLOSE * scale, err_msg=f"{name}, {kernel}, {place}")
        end = {0.0: "ridge", 1.0: "svm"}.get(place)
        if end:
            assert found["shares"][list(found["values"]).index(end)] == 0
