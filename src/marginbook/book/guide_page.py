"""What the user guide shows of results: a gallery of the same two moons, and how long first fits take."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from .. import clasmk, drm, kfda, ldm
from ..kernels import Kernel
from ..quality.benchmarking.tables import stored
from .waiting_tables import first_fit_sentence

WIDTH = ("rbf", {"gamma": 1.0})
MIXTURE: list[Kernel] = [*(("rbf", {"gamma": gamma}) for gamma in (0.1, 1.0, 10.0)), ("poly", {"degree": 2})]
ROWS, NEW, STEPS = 120, 2000, 90


def machines() -> dict[str, Any]:
    """Return what is drawn: by title, an estimator for standardised rows."""
    return {
        "SVC, to compare": SVC(gamma=1.0, C=1.0),
        "LDMClassifier": ldm.LDMClassifier(C=1.0, kernel=WIDTH, fit_intercept=True),
        "DRMClassifier": drm.DRMClassifier(alpha=0.1, beta=0.1, kernel=WIDTH),
        "LSSVMClassifier": clasmk.LSSVMClassifier(C=10.0, kernel=WIDTH),
        "KFDAClassifier": kfda.KFDAClassifier(reg=1.0, kernel=WIDTH),
        "SparseKFDAClassifier, q = 1": kfda.SparseKFDAClassifier(q=1.0, rho=0.02, kernel=WIDTH),
        "KMOMDClassifier": ldm.KMOMDClassifier(C=10.0, kernel=WIDTH),
        "MKLClassifier, 4 kernels": clasmk.MKLClassifier(MIXTURE, C=1.0),
        "MAMCClassifier": ldm.MAMCClassifier(kernel=WIDTH),
    }


def write(folder: Path) -> None:
    """Write ``guide-gallery.md`` with its picture, and ``guide-first-fit.md``, into a folder."""
    told = first_fit_sentence(stored("first_fits"))
    folder.joinpath("guide-first-fit.md").write_text(told, encoding="utf-8")
    X, y = make_moons(ROWS, noise=0.25, random_state=0)
    test = make_moons(NEW, noise=0.25, random_state=1)
    fitted = {}
    for title, machine in machines().items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a solver that stops at its limit: a picture shows no digit
            fitted[title] = make_pipeline(StandardScaler(), clone(machine)).fit(X, y)
    scores = {title: float(model.score(*test)) for title, model in fitted.items()}
    _draw(folder / "guide-gallery.png", fitted, scores, X, y)
    folder.joinpath("guide-gallery.md").write_text(text(scores), encoding="utf-8")


def text(scores: Mapping[str, float]) -> str:
    """Return the fragment: the picture, and a sentence of what it shows."""
    ours = {title: score for title, score in scores.items() if not title.startswith("SVC")}
    told = ", ".join(f"{title} {score:.1%}" for title, score in scores.items()).replace("%", " %")
    low, high = (f"{100 * end(ours.values()):.0f}" for end in (min, max))
    return (
        "## A gallery\n\n"
        f"The same {ROWS} rows of two moons, standardised, and a Gaussian kernel of the same width.\n"
        "The line is where the decision changes. Circles are the rows that a prediction needs; without "
        f"circles it needs all. The number is the accuracy on {NEW:,} new rows.\n\n"
        "```{image} /book/_generated/guide-gallery.png\n"
        f":alt: {len(scores)} panels with the same two half moons of points, and the decision boundary of "
        f"an estimator in each. Right on {NEW:,} new points: {told}.\n"
        "```\n\n"
        f"Ours get {low} to {high} % of the new rows right: the shapes differ more than the answers.\n"
    )


def _draw(path: Path, fitted: Mapping[str, Any], scores: Mapping[str, float], X: Any, y: Any) -> None:
    import matplotlib.pyplot as plt  # only where a book is built

    from ..base.plotting import COLOURS, use_style

    use_style()
    low, high = X.min(axis=0) - 0.4, X.max(axis=0) + 0.4
    across, up = np.meshgrid(*(np.linspace(a, b, STEPS) for a, b in zip(low, high, strict=True)))
    points = np.column_stack([across.ravel(), up.ravel()])
    figure, axes = plt.subplots(3, 3, figsize=(6.4, 7), sharex=True, sharey=True)
    for ax, (title, model) in zip(axes.ravel(), fitted.items(), strict=True):
        values = (model.predict(points) == 1).astype(float).reshape(across.shape)
        if hasattr(model, "decision_function"):
            values = model.decision_function(points).reshape(across.shape)
            levels = [0.0]
        else:
            levels = [0.5]
        ax.contour(across, up, values, levels=levels, colors="black", linewidths=1.5)
        for label, (colour, marker) in enumerate(((COLOURS["blue"], "o"), (COLOURS["vermilion"], "^"))):
            ax.scatter(*X[y == label].T, s=7, c=colour, marker=marker, linewidths=0)
        needed = _needed(model[-1])
        if needed is not None and len(needed) < len(X):
            ax.scatter(*X[needed].T, s=32, facecolors="none", edgecolors="black", linewidths=0.7)
        name, _, detail = title.partition(", ")
        share = f"{100 * scores[title]:.0f} %"
        ax.set_title(f"{name}\n{detail}: {share}" if detail else f"{name}\n{share}")
        ax.set_xticks([])
        ax.set_yticks([])
    figure.savefig(path)
    plt.close(figure)


def _needed(model: Any) -> Any:
    """Return the training rows that a prediction compares with, where the model says so."""
    for name in ("retained_", "support_"):
        if hasattr(model, name):
            return np.asarray(getattr(model, name))
    return None
