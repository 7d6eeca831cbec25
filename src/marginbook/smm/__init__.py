r"""Low-rank large-margin classification, level sets and regression for matrix features (SMM, a draft).

The model in four lines: matrices :math:`X_i\in\mathbb R^{d_1\times d_2}`, labels :math:`y_i=\pm1`,

.. math::

   f(X)&=\langle B,X\rangle+b,\qquad B=UV^\top,\ \operatorname{rank}B\le r,\\
   (B,b)&\in\arg\min\tfrac1n\sum_i\omega_\pi(y_i)L(y_if(X_i))+\lambda\lVert B\rVert_F^2,\qquad
      \omega_\pi(1)=1-\pi,\ \omega_\pi(-1)=\pi,\\
   \hat S(\pi)&=\{X:\hat f_\pi(X)>0\}\ \text{ estimates }\ \{X:P(y=1\mid X)>\pi\},\\
   \hat p(X)&=\tfrac1H\bigl(\tfrac12+\#\{1\le h<H:X\in\hat S(h/H)\}\bigr).

Where to look: ``model`` the losses, the objective, kernels between rows and the rules that join level sets;
``solvers`` block descent (Algorithm 1), the convex problem of one block, what no matrix of the rank can beat,
and the same with kernels; ``estimators`` what users call; ``peers`` the compared methods. ``paper`` holds the
protocols, ``experiments`` how one entry is measured, ``claims`` each statement with its check, by section of
the draft; what begins with ``beyond`` is ours alone, elsewhere the kind of a claim says whose it is.
"""

from .estimators.level_sets import LevelSetClassifier
from .estimators.low_rank import LowRankSVMClassifier
from .estimators.regression import RegressionFunctionEstimator
from .estimators.selection import LowRankSVMClassifierCV
from .model.aggregation import Crossings, aggregate, crossings
from .peers.calibrated import CalibratedSVMClassifier
from .peers.logistic import LowRankLogisticClassifier
from .peers.nuclear_norm import NuclearNormSVMClassifier
from .peers.vector import VectorLogisticClassifier, VectorSVMClassifier

__all__ = [
    "CalibratedSVMClassifier",
    "Crossings",
    "LevelSetClassifier",
    "LowRankLogisticClassifier",
    "LowRankSVMClassifier",
    "LowRankSVMClassifierCV",
    "NuclearNormSVMClassifier",
    "RegressionFunctionEstimator",
    "VectorLogisticClassifier",
    "VectorSVMClassifier",
    "aggregate",
    "crossings",
]
