r"""Discriminative ridge machine (Peng & Cheng): a classifier for high-dimensional or imbalanced data.

The model in four lines: each test point x is written as a weighted sum of the training points,

.. math::

   w^\star(x)&=\arg\min_w\tfrac12w^\top(K+\alpha(H-B)+\beta I)w-w^\top K_x\\
             &=(K+\alpha(H-B)+\beta I)^{-1}K_x,\\
   \delta_i(x)&=(w|_{C_i})^\top K(w|_{C_i})+(w|_{\bar C_i})^\top K(w|_{\bar C_i})-2(w|_{C_i})^\top K_x,\\
   \hat y(x)&=\arg\min_i\delta_i(x).

Where things are. The model: ``model/objective`` the matrices, the objective, the certificate and the
decision; ``solvers/direct`` the closed form and the path over beta; ``solvers/one_pass`` the exact linear
form whose prediction does not depend on n, ``solvers/one_pass_dask`` the same block by block;
``solvers/leave_one_out`` all n left-out fits for the price of a few solves. The paper's iterations:
``model/operators`` products with Q that count their multiplications, ``solvers/iteration`` the loop,
``solvers/first_order`` the algorithms. The general penalty (8): ``model/penalties`` norms and proximal maps,
``solvers/proximal_newton`` the fast solver, ``solvers/general`` all solvers with a duality gap. What users
call: ``estimators/classifier``, ``estimators/selection``, ``estimators/general``; behind them
``estimators/parameters``, ``estimators/training_kernel``, ``estimators/prediction``.

The compared methods: ``peers/selection``, their grids in ``peers/grids``, the search in ``peers/racing``;
``peers/slda`` and ``peers/safe_level_smote`` are ours. How an entry is measured: ``experiments/tables_3_8_9``
(Tables III, VIII, IX), ``experiments/poker_stand_in``, ``experiments/table_5_grid``, ``experiments/table_5``
(Table V, Figures 2, 3), ``experiments/figure_5`` (Figure 5). The claims: ``claims/sections_3_4``,
``claims/section_6_convergence`` with ``claims/section_6_acceleration`` (Theorem VI.4),
``claims/section_6_costs``, ``claims/section_6_low_rank``; ``claims/beyond`` our own; ``claims/tables_8_9``
with ``claims/table_3`` and ``claims/table_5``; ``claims/figures``. What these stand on: ``claims/problems``
and ``claims/convergence_problems`` random problems, ``claims/counted_arithmetic`` numbers that count
multiplications, ``claims/results`` printed beside ours, ``claims/printed_accuracies`` whether a printed
number can be. ``paper/`` holds the printed numbers and the protocols.
"""

from .estimators.classifier import DRMClassifier
from .estimators.general import DiscriminativeRidgeClassifier
from .estimators.selection import DRMClassifierCV

__all__ = ["DRMClassifier", "DRMClassifierCV", "DiscriminativeRidgeClassifier"]
