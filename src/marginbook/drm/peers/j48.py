r"""C4.5 (Quinlan, 1993) as Weka has it: its class J48, called in Java."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ...base.labels import encode_classes
from ...base.parameters import is_number, is_whole, validate_flags, validate_within
from ...base.threads import on_few_threads
from ...base.weka import java_class
from ...kernels.validation import validate_data
from .grids import leaf_size


@dataclass(eq=False, repr=False)
class J48Classifier(ClassifierMixin, BaseEstimator):
    r"""A decision tree by C4.5, release 8, grown and pruned by ``weka.classifiers.trees.J48``.

    A node that holds n rows of g classes, :math:`n_k` of class k, is split at the threshold of a feature with
    the largest gain ratio

    .. math:: \frac{H(n_1,\dots,n_g) - \log_2(t)/n - \tfrac{n'}nH(n'_1,\dots,n'_g)
              - \tfrac{n''}nH(n''_1,\dots,n''_g)}{H(n',n'')}, \qquad
              H(a_1,\dots,a_m) = -\sum_i\tfrac{a_i}{\sum_ja_j}\log_2\tfrac{a_i}{\sum_ja_j},

    where n', n'' count the rows on the two sides, and t thresholds had been possible. Of a feature it takes
    the threshold with the largest gain, the numerator; of the features only those whose gain is at least the
    average of all that gain anything. Values that differ by less than 1e-5 count as the same, so that
    the units of the features matter where they are large.

    Then subtrees that do not err less on the training rows than a leaf become one, and pruning goes up
    from the leaves: a subtree becomes a leaf, or its largest branch, where that is not expected to err more;
    a leaf with e errors among n rows is expected to err as often as the upper limit of the binomial
    distribution says, which e errors or fewer pass with probability `confidence`.

    Parameters
    ----------
    min_samples_leaf : int or float, default=2
        Rows that each side of a split must hold, or their share of the training rows, in (0, 1), rounded up;
        Weka's ``-M``. Where n / (10 g) is more, that, but not more than 25.
    confidence : float, default=0.25
        Of the pruning, in (0, 0.5]: less of it prunes more; Weka's ``-C``.
    pruned : bool, default=True
        Otherwise without the last step; Weka's ``-U``.

    Attributes
    ----------
    n_leaves_ : int
    text_ : str
        The tree as Weka prints it. ``x3`` is the column 3 of X, the labels are the places in `classes_`.
    classes_, n_features_in_

    Raises
    ------
    WekaMissing
        By `fit` and `predict`, where Java, Weka or JPype is not there.

    Notes
    -----
    Ctrl-C takes effect when the tree that is being grown is done.

    References
    ----------
    J. R. Quinlan: C4.5: Programs for machine learning (1993); Improved use of continuous attributes in C4.5,
    Journal of Artificial Intelligence Research 4 (1996). M. Hall et al.: The WEKA data mining software: an
    update, SIGKDD Explorations 11 (2009).
    """

    min_samples_leaf: float = 2
    confidence: float = 0.25
    pruned: bool = True

    @on_few_threads
    def fit(self, X: Any, y: Any) -> Self:
        """Grow the tree on rows `X`, (n, p), finite, with labels `y`, (n,)."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, codes = encode_classes(y, "J48Classifier")
        least = self._least(len(X))
        tree = java_class("weka.classifiers.trees.J48")()
        tree.setMinNumObj(least)
        tree.setUnpruned(not self.pruned)
        if self.pruned:
            tree.setConfidenceFactor(float(self.confidence))
        _call(tree.buildClassifier, _instances(X, codes, len(self.classes_)))
        self._tree = tree
        self.n_leaves_ = int(tree.measureNumLeaves())
        self.text_ = str(tree)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row of `X`, (m, p)."""
        check_is_fitted(self, "_tree")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        header, row_of = _header(X.shape[1], len(self.classes_)), _maker()
        codes = np.empty(len(X), dtype=np.intp)
        for i, row in enumerate(np.column_stack([X, np.full(len(X), np.nan)])):  # nan: not known, in Weka
            instance = row_of(row)
            instance.setDataset(header)
            codes[i] = int(self._tree.classifyInstance(instance))
        return self.classes_[codes]

    def _least(self, n: int) -> int:
        value = self.min_samples_leaf
        if not (is_whole(value) or (is_number(value) and 0 < value < 1)):
            raise ValueError(
                f"min_samples_leaf must be a whole number >= 1 or a share in (0, 1), got {value!r}"
            )
        validate_within("(0, 0.5]", confidence=self.confidence)
        validate_flags(pruned=self.pruned)
        return min(int(value), n + 1) if is_whole(value) else leaf_size(value, n)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: the tree as Java writes it."""
        state = {**super().__getstate__()}
        if "_tree" in state:
            stream = java_class("java.io.ByteArrayOutputStream")()
            java_class("weka.core.SerializationHelper").write(stream, state["_tree"])
            state["_tree"] = bytes(stream.toByteArray())
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what was pickled."""
        super().__setstate__(state)
        if "_tree" in state:
            stream = java_class("java.io.ByteArrayInputStream")(state["_tree"])
            self._tree = java_class("weka.core.SerializationHelper").read(stream)


def _call(method: Any, *arguments: Any) -> Any:
    """Call a method of Java, whose errors are no errors of the arguments."""
    error_of_java = java_class("java.lang.Throwable")
    try:
        return method(*arguments)
    except error_of_java as error:
        raise RuntimeError(f"Weka could not grow the tree: {error}") from None


def _instances(X: np.ndarray, codes: np.ndarray, n_classes: int) -> Any:
    """Return rows with their classes as Weka takes them."""
    found = java_class("weka.core.Instances")(_header(X.shape[1], n_classes), len(X))
    row_of = _maker()
    for row in np.column_stack([X, codes.astype(float)]):
        found.add(row_of(row))
    return found


def _maker() -> Any:
    """Return what makes a row of Weka from an array."""
    from jpype import JArray, JDouble

    try:  # a class of its own since Weka 3.7
        instance = java_class("weka.core.DenseInstance")
    except TypeError:
        instance = java_class("weka.core.Instance")
    array = JArray(JDouble)
    return lambda row: instance(1.0, array(row))


@lru_cache(maxsize=4)
def _header(n_features: int, n_classes: int) -> Any:
    """Return the names and types of the columns, without rows; nothing writes into it afterwards."""
    attribute, vector = java_class("weka.core.Attribute"), java_class("weka.core.FastVector")
    labels, columns = vector(), vector()
    for k in range(n_classes):
        labels.addElement(str(k))
    for j in range(n_features):
        columns.addElement(attribute(f"x{j}"))
    columns.addElement(attribute("class", labels))
    header = java_class("weka.core.Instances")("rows", columns, 0)
    header.setClassIndex(n_features)
    return header
