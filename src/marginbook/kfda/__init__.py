r"""Sparse kernel Fisher discriminant kFDA_q (Harrison & Pasupa): few training rows suffice to predict.

The model in four lines: N rows, :math:`N_1` of the positive class, the kernel matrix K,

.. math::

   \hat y_i&=N/N_1\text{ or }-N/N_2,\qquad D=[\mathbf 1\ K],\qquad\omega=(b,\alpha),\\
   \omega^\star&\in\arg\min_\omega\tfrac12\lVert\hat y-D\omega\rVert^2+\rho N\lVert\omega\rVert_q^q,
      \qquad0<q\le1,\\
   \omega&\leftarrow\Psi(\Psi D^\top D\Psi+\rho NqI)^{-1}\Psi D^\top\hat y,\qquad
      \Psi=\operatorname{diag}|\omega_i|^{(2-q)/2},\\
   f(x)&=b+\sum_{\alpha_i\ne0}\alpha_ik(x_i,x)\ \text{ against }\ \tfrac N2(1/N_1-1/N_2).

Where things are. The model: ``model/objective`` with its majoriser, ``model/certificates`` of minima,
``solvers/oracle`` the same by cvxpy. In ``solvers``: ``solvers/irls`` the paper's iteration and
``solvers/irls_accelerated`` the same faster; ``solvers/majorise_minimise`` with exact zeros, on
``solvers/active_coefficients`` coefficients of a ``solvers/compressed`` problem, finished by
``solvers/newton_on_support`` or, for q = 1, ``solvers/l1_on_support``; ``solvers/lasso`` exact for q = 1,
with its ``solvers/lasso_working_set``, ``solvers/lasso_active_set`` and ``solvers/lasso_factor``;
``solvers/paths`` along rho or q; ``solvers/solution`` what all return. What users call:
``estimators/classifier``, ``estimators/selection_rules``, ``estimators/realisations`` and
``estimators/retained``; behind them ``estimators/parameters``, ``estimators/kernel_expansion`` and
``estimators/training``. The compared methods, ``peers``: ``peers/ridge`` with ``peers/ridge_path`` and
``peers/ridge_leave_one_out``, and ``peers/ols`` on ``peers/ols_forward_selection`` with its
``peers/ols_terms``.

How an entry is measured, ``experiments``: ``experiments/tables_1_2`` (Tables 1, 2), ``experiments/cuts``,
``experiments/curves``, ``experiments/multiclass``, on ``experiments/partitions``, ``experiments/grids`` and
``experiments/methods``. The claims: ``claims`` with ``claims/section_2_fisher``,
``claims/section_3_majorisers``, ``claims/section_3_descent``, ``claims/section_3_zeros``,
``claims/section_3_perturbed`` and ``claims/section_2_limits``; ``claims/figures``; ``claims/section_3_rates``
with ``claims/fixed_points``, ``claims/section_3_acceleration`` and ``claims/section_3_stopping``;
``claims/beyond_minima`` our own, with ``claims/local_minima``, ``claims/beyond_magnitudes``,
``claims/beyond_bias`` and ``claims/beyond_equal_samples``; ``experiments`` with ``claims/tables``,
``claims/tables_ranks``, ``claims/tables_sparsity`` and ``claims/tables_protocols`` on the
``experiments/columns`` columns, and of the printed numbers alone ``claims/printed_audit``,
``claims/printed_retained``, ``claims/printed_deviations`` and ``claims/printed_one_classifier`` on
``paper/printed``. What these stand on: random ``claims/problems`` and ``claims/rational`` numbers. ``paper``
holds the printed numbers and the protocols.
"""

from .estimators.classifier import SparseKFDAClassifier
from .estimators.realisations import RealisationSearch
from .estimators.retained import Retained, neg_retained_fraction, retained_by, retained_fraction
from .estimators.selection_rules import MinimumError, MinimumRetained, choose_realisation
from .peers.ols import OLSKFDAClassifier
from .peers.ridge import KFDAClassifier

__all__ = [
    "KFDAClassifier",
    "MinimumError",
    "MinimumRetained",
    "OLSKFDAClassifier",
    "RealisationSearch",
    "Retained",
    "SparseKFDAClassifier",
    "choose_realisation",
    "neg_retained_fraction",
    "retained_by",
    "retained_fraction",
]
