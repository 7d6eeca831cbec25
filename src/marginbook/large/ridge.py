"""The linear DRM from chunks: class moments of each chunk, summed, in one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from ..drm import DRMClassifier
from ..drm.estimators.parameters import takes_chunks, validate_settings
from ..drm.solvers.one_pass import ClassMoments
from .progress_bar import PassBar
from .sources import Source
from .sums import Sum

if TYPE_CHECKING:
    from rich.console import Console

#: labels of more values than this are taken for numbers that are no classes
MOST_CLASSES = 10_000


class _Moments:
    """The class moments of all chunks so far, whatever classes come."""

    def __init__(self, alpha: float, beta: float, constant: bool) -> None:
        self.alpha, self.beta, self.constant = alpha, beta, constant
        self.G: dict[Any, Sum] = {}
        self.deficit: dict[Any, Sum] = {}
        self.sizes: dict[Any, int] = {}

    def add(self, X: Any, y: np.ndarray) -> None:
        classes, codes = np.unique(y, return_inverse=True)
        # a few of each label instead of all rows: it is their type that is checked
        check_classification_targets(np.repeat(classes, 3))
        p = X.shape[1] + int(self.constant)
        part = ClassMoments.empty(len(classes), p, self.alpha, self.beta).add(X, codes, self.constant)
        for k, label in enumerate(classes.tolist()):
            self.G.setdefault(label, Sum()).add(part.G[k])
            self.deficit.setdefault(label, Sum()).add(float(part.deficit[k]))
            self.sizes[label] = self.sizes.get(label, 0) + int(part.sizes[k])
        if len(self.sizes) > MOST_CLASSES:
            raise ValueError(
                f"the labels have more than {MOST_CLASSES} values; is it the column of the classes?"
            )

    def total(self) -> tuple[np.ndarray, ClassMoments]:
        """Return the labels, ascending, and their moments."""
        labels = np.array(sorted(self.sizes))
        G = np.stack([self.G[label].value for label in labels.tolist()])
        deficit = np.array([float(self.deficit[label].value) for label in labels.tolist()])
        sizes = np.array([self.sizes[label] for label in labels.tolist()], dtype=np.int64)
        return labels, ClassMoments(G, sizes, deficit, self.alpha, self.beta)


def fit_drm(model: DRMClassifier, source: Source, *, console: Console | None = None) -> DRMClassifier:
    r"""Fit a linear DRM to rows that need not fit into memory: one pass, O(g p\ :sup:`2`) memory.

    The maps of the model are those of ``model.fit`` on all rows up to rounding: chunks are summed with what
    each addition rounds away, so neither their number nor their order shows beyond the last digits. `predict`
    and `partial_fit` go on from here.

    Parameters
    ----------
    model : DRMClassifier
        With ``kernel="linear"``, solver "auto" or "one-pass", and neither `n_components` nor `class_weight`.
    source : Source
        :class:`~marginbook.large.ParquetFiles`, :class:`~marginbook.large.LibsvmFiles` or
        :class:`~marginbook.large.Pairs`; for Dask arrays there is ``model.fit``.
    console : rich.console.Console, default=None
        Where a bar is shown if it is a terminal; default: standard error.

    Returns
    -------
    DRMClassifier
        `model`, fitted.

    Raises
    ------
    ValueError
        For another kernel or solver, `n_components`, `class_weight`, parameters out of range, no rows, one
        class, labels that are continuous or of more than 10,000 values, and rows that the source refuses.

    Warns
    -----
    ConvergenceWarning
        If rounding leaves a certificate above the `tol` of `model`.
    """
    name, _ = validate_settings(model, None)
    if model.class_weight is not None:
        raise ValueError("fit_drm takes no class_weight; partial_fit does, and sample_weight")
    if not takes_chunks(model):
        raise ValueError(
            "fit_drm needs kernel='linear' and solver='auto' or 'one-pass', got "
            f"kernel={name!r} and solver={model.solver!r}"
        )
    moments, width = _Moments(float(model.alpha), float(model.beta), bool(model.fit_intercept)), 0
    with PassBar(source, console) as bar:
        for chunk in bar.chunks("moments"):
            moments.add(chunk.X, chunk.y)
            width = chunk.X.shape[1]
    if not moments.sizes:
        raise ValueError("the source holds no rows; expected at least one of each of two classes")
    labels, total = moments.total()
    for state in (
        "moments_",
        "maps_",
        "gamma_",
        "_trained",
        "_landmarks",
        "feature_names_in_",
    ):  # of an earlier fit
        model.__dict__.pop(state, None)
    model._set_classes(labels)
    model.n_features_in_, model.solver_ = width, "one-pass"
    model._solve_maps(total)
    return model
