r"""Low-rank large-margin classification, level sets and regression for matrix features (SMM, a draft).

The model in four lines: matrices :math:`X_i\in\mathbb R^{d_1\times d_2}`, labels :math:`y_i=\pm1`,

.. math::

   f(X)&=\langle B,X\rangle+b,\qquad B=UV^\top,\ \operatorname{rank}B\le r,\\
   (B,b)&\in\arg\min\tfrac1n\sum_i\omega_\pi(y_i)L(y_if(X_i))+\lambda\lVert B\rVert_F^2,\qquad
      \omega_\pi(1)=1-\pi,\ \omega_\pi(-1)=\pi,\\
   \hat S(\pi)&=\{X:\hat f_\pi(X)>0\}\ \text{ estimates }\ \{X:P(y=1\mid X)>\pi\},\\
   \hat p(X)&=\tfrac1H\bigl(\tfrac12+\#\{1\le h<H:X\in\hat S(h/H)\}\bigr).

Where things are. The model: ``objective`` with its losses and lower bounds, and ``oracle``, the same by
cvxpy. In ``solvers``: ``solvers/block_descent`` over ``solvers/starts``, each a ``solvers/descent`` of
Algorithm 1, sped up by ``solvers/joint_newton`` and ``solvers/smoothing`` and, for the hinge loss, finished
by ``solvers/programs`` on an ``solvers/active_set``; ``solvers/global_bound`` what no matrix of the rank can
beat; ``solvers/solution`` what they return. One block is a convex problem: ``solvers/inner`` chooses between
``solvers/augmented``, ``solvers/interior_point`` and ``solvers/newton``, which keep a
``solvers/certificate``. Kernels between rows: ``row_kernels`` and ``row_features`` of landmarks;
``solvers/kernel_descent`` of a ``solvers/kernel_problem`` by ``solvers/kernel_projection`` and
``solvers/kernel_blocks``, or through ``solvers/kernel_features``, with ``solvers/kernel_relaxation`` for
bounds, ``solvers/gram_machine`` for a block and ``solvers/kernel_solution`` in return. What users call:
``estimators``, ``level_sets``, ``regression`` with its ``aggregation`` of level sets, and
``model_selection``; behind them ``matrices`` the input, ``settings``, ``sample_copies`` and
``matrix_machine``. The compared methods, ``peers``: ``peers/vectors`` on vec(X) with the bounds of
``peers/vector_duals``, ``peers/logistic``, ``peers/calibrated`` and ``peers/nuclear``, all on
``peers/matrix_classifier``, the last with ``solvers/nuclear_norm`` by ``solvers/nuclear_admm`` or by
``solvers/nuclear_newton`` on ``solvers/hinge_qp``.

How an entry is measured, ``measures``: ``measures/simulation`` on ``measures/draws`` from known ``truths``,
``measures/matrices`` on the real ``measures/pairs``, ``measures/classes`` on all ten digits, of
``measures/methods`` with parameters by ``measures/choosing``, all by ``measures/scores``. The claims:
``theory`` with ``solution_form``, ``block_duals``, ``descending``, ``local_optima``, ``pointwise``,
``scheme``, ``psd_rows`` and ``row_choices``; ``beyond`` our own, with ``certificates``, ``envelopes``,
``levels``, ``linear_class``, ``permuted`` and ``scaling``, on random ``problems``; ``tables`` with
``figures``, ``comparisons`` and ``real_matrices``, by ``contests`` of results. ``paper`` holds the protocols.
"""

from .aggregation import Crossings, aggregate, crossings
from .estimators import LowRankSVMClassifier
from .level_sets import LevelSetClassifier
from .model_selection import LowRankSVMClassifierCV
from .peers.calibrated import CalibratedSVMClassifier
from .peers.logistic import LowRankLogisticClassifier
from .peers.nuclear import NuclearNormSVMClassifier
from .peers.vectors import VectorLogisticClassifier, VectorSVMClassifier
from .regression import RegressionFunctionEstimator

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
