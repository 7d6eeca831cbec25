r"""Large margin distribution machine (Zhang & Zhou): a support vector machine that looks at all margins.

The model in four lines: with labels :math:`y_i=\pm1`, no intercept, and the margins of all m examples,

.. math::

   \gamma_i&=y_iw^\top\phi(x_i),\qquad\bar\gamma=\tfrac1m\sum_i\gamma_i,\qquad
      \hat\gamma=\tfrac2m\sum_i(\gamma_i-\bar\gamma)^2,\\
   w^\star&=\arg\min_w\tfrac12\lVert w\rVert^2+\lambda_1\hat\gamma-\lambda_2\bar\gamma
      +C\sum_i(1-\gamma_i)_+=\sum_i\alpha_i\phi(x_i),\\
   \alpha_i&=y_i\bigl(\beta'_i-\tfrac{4\lambda_1}m(\gamma_i-\bar\gamma)\bigr),\qquad\gamma=H\beta',\\
   \beta'&=\arg\min_{\lambda_2/m\,\le\,\beta'_i\,\le\,C+\lambda_2/m}\tfrac12\beta'^\top H\beta'-e^\top\beta'.

Where things are. The model: ``model/objective`` the primal, the dual and the gap between them;
``model/whitening`` the matrix H, without inverses. On a Gram matrix: ``solvers/dual``, the paper's coordinate
descent with its sweeps in ``solvers/box_qp`` and the exact method of ``solvers/active_sets`` on its
``solvers/basic_factor``; ``solvers/active_set_gram`` the same exchanges on the Gram matrix itself;
``solvers/grid`` all parameters at once; ``solvers/hard_margin``; ``solvers/oracle`` the same problems by
cvxpy. On features: ``solvers/linear_cd`` coordinate descent with its ``solvers/linear_cd_passes``,
``solvers/linear_interior_point`` for few features, ``model/linear`` what they share; ``solvers/asgd`` the
paper's stochastic gradients with their ``solvers/asgd_steps``; ``solvers/libsvm_files`` and
``solvers/linear_cd_disk`` for data larger than memory. Leave-one-out: ``solvers/loo_bound`` the bound,
``solvers/loo_kernels`` the kernels behind it, ``solvers/loo_exact`` the exact errors. What users call:
``estimators/classifier``, with ``estimators/chunks`` of rows, and ``estimators/selection``, with
``estimators/selection_linear`` and ``estimators/scores``; behind them ``estimators/parameters``,
``estimators/training`` and ``threads``.

The compared methods: ``peers/mdo`` with ``peers/mdo_descent``, ``peers/mamc``, ``peers/km_omd`` with
``peers/km_omd_solver``, on ``estimators/kernel_expansion``. How an entry is measured:
``experiments/selection`` of parameters and ``experiments/halves`` of a data set; ``experiments/tables_2_3``
(Tables 2, 3), ``experiments/table_4_figure_2`` and its ``experiments/standins`` (Table 4, Figure 2),
``experiments/figures_1_3`` (Figures 1, 3). The claims: ``claims/sections_2_3``, ``claims/section_3_dual``,
``claims/section_5_mamc``, ``claims/section_3_convergence``; ``claims/section_3_leave_one_out`` our own, with
``claims/loo_selection``, ``claims/printed_theorem_3`` and ``claims/exact_line``; ``claims/tables`` with
``claims/tables_wins``, ``claims/tables_ranks``, ``claims/tables_readings`` and ``claims/printed_audit`` on
``paper/printed``; ``claims/figures``. What these stand on: random ``claims/problems``. ``paper/`` holds the
printed numbers and the protocols.
"""

from .estimators.classifier import LDMClassifier
from .estimators.selection import LDMClassifierCV
from .peers.km_omd import KMOMDClassifier
from .peers.mamc import MAMCClassifier
from .peers.mdo import MDOClassifier

__all__ = ["KMOMDClassifier", "LDMClassifier", "LDMClassifierCV", "MAMCClassifier", "MDOClassifier"]
