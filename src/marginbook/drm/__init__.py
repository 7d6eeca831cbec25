r"""Discriminative ridge machine (Peng & Cheng): a classifier for high-dimensional or imbalanced data.

The model in four lines: each test point x is written as a weighted sum of the training points,

.. math::

   w^\star(x)&=\arg\min_w\tfrac12w^\top(K+\alpha(H-B)+\beta I)w-w^\top K_x\\
             &=(K+\alpha(H-B)+\beta I)^{-1}K_x,\\
   \delta_i(x)&=(w|_{C_i})^\top K(w|_{C_i})+(w|_{\bar C_i})^\top K(w|_{\bar C_i})-2(w|_{C_i})^\top K_x,\\
   \hat y(x)&=\arg\min_i\delta_i(x).

Where to look: ``model`` the objective, its matrices and the decision; ``solvers`` the closed form, the
one-pass form whose prediction does not depend on n, the paper's iterations, the general penalty (8), and all
n left-out fits for the price of a few solves; ``estimators`` what users call; ``peers`` the compared methods.
``paper`` holds the printed numbers and the protocols, ``experiments`` how one entry of a table is measured,
``claims`` each statement with its check, by section of the paper; what begins with ``beyond`` is ours
alone, elsewhere the kind of a claim says whose it is.
"""

from typing import Any

from .estimators.classifier import DRMClassifier
from .estimators.general import MixedNormDRMClassifier
from .estimators.selection import DRMClassifierCV

__all__ = ["DRMClassifier", "DRMClassifierCV", "MixedNormDRMClassifier"]


def __getattr__(name: str) -> Any:
    if name == "DiscriminativeRidgeClassifier":
        from .estimators.general import DiscriminativeRidgeClassifier

        return DiscriminativeRidgeClassifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
