r"""Low-rank large-margin classification, level sets and regression for matrix features (SMM, a draft).

The model in four lines: matrices :math:`X_i\in\mathbb R^{d_1\times d_2}`, labels :math:`y_i=\pm1`,

.. math::

   f(X)&=\langle B,X\rangle+b,\qquad B=UV^\top,\ \operatorname{rank}B\le r,\\
   (B,b)&\in\arg\min\tfrac1n\sum_i\omega_\pi(y_i)L(y_if(X_i))+\lambda\lVert B\rVert_F^2,\qquad
      \omega_\pi(1)=1-\pi,\ \omega_\pi(-1)=\pi,\\
   \hat S(\pi)&=\{X:\hat f_\pi(X)>0\}\ \text{ estimates }\ \{X:P(y=1\mid X)>\pi\},\\
   \hat p(X)&=\tfrac1H\bigl(\tfrac12+\#\{1\le h<H:X\in\hat S(h/H)\}\bigr).

Where things are. The model: ``model/objective`` with its losses and lower bounds, and ``solvers/oracle``, the
same by cvxpy. In ``solvers``: ``solvers/block_descent`` over ``solvers/starts``, each a
``solvers/block_descent_one_start`` of Algorithm 1, sped up by ``solvers/newton_joint`` and
``solvers/starts_smoothed`` and, for the hinge loss, finished by ``solvers/sequential_qp`` on an
``solvers/hinge_active_set``; ``solvers/global_bound`` what no matrix of the rank can beat;
``solvers/solution`` what they return. One block is a convex problem: ``solvers/block`` chooses between
``solvers/hinge_augmented_lagrangian``, ``solvers/hinge_interior_point`` and ``solvers/newton``, which keep a
``solvers/certificate``. Kernels between rows: ``model/row_kernels`` and ``model/row_features`` of landmarks;
``solvers/kernel_block_descent`` of a ``solvers/kernel_problem`` by ``solvers/kernel_projection`` and
``solvers/kernel_blocks``, or through ``solvers/kernel_landmarks``, with ``solvers/kernel_relaxation`` for
bounds, ``solvers/block_gram`` for a block and ``solvers/kernel_solution`` in return. What users call:
``estimators/low_rank``, ``estimators/level_sets``, ``estimators/regression`` with its ``model/aggregation``
of level sets, and ``estimators/selection``; behind them ``estimators/matrix_input`` the input,
``estimators/parameters``, ``estimators/equal_samples`` and ``estimators/base``. The compared methods,
``peers``: ``peers/vector`` on vec(X) with the bounds of ``peers/vector_duals``, ``peers/logistic``,
``peers/calibrated`` and ``peers/nuclear_norm``, all on ``peers/base``, the last with ``solvers/nuclear_norm``
by ``solvers/nuclear_admm`` or by ``solvers/nuclear_newton`` on ``solvers/box_qp``.

How an entry is measured, ``experiments``: ``experiments/simulation`` on ``experiments/draws`` from known
``experiments/generators``, ``experiments/real_matrices`` on the real ``experiments/real_pairs``,
``experiments/ten_digits`` on all ten digits, of ``experiments/methods`` with parameters by
``experiments/selection``, all by ``experiments/scores``. The claims: ``claims`` with
``claims/section_2_solution_form``, ``claims/section_3_block_dual``, ``claims/section_3_descent``,
``claims/section_3_local_optima``, ``claims/section_2_weighted_losses``, ``claims/section_2_scheme``,
``claims/section_4_row_kernels`` and ``claims/section_4_kernel_choices``; ``claims`` our own, with
``claims/beyond_bound``, ``claims/beyond_bound_tight``, ``claims/beyond_levels``,
``claims/section_2_linear_class``, ``claims/beyond_permuted`` and ``claims/beyond_scaling``, on random
``claims/problems``; ``experiments`` with ``claims/figures``, ``claims/tables_rules`` and
``claims/tables_real_matrices``, by ``claims/results`` of results. ``paper`` holds the protocols.
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
