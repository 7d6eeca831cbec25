r"""Sparse kernel Fisher discriminant kFDA_q (Harrison & Pasupa): few training rows suffice to predict.

The model in four lines: N rows, :math:`N_1` of the positive class, the kernel matrix K,

.. math::

   \hat y_i&=N/N_1\text{ or }-N/N_2,\qquad D=[\mathbf 1\ K],\qquad\omega=(b,\alpha),\\
   \omega^\star&\in\arg\min_\omega\tfrac12\lVert\hat y-D\omega\rVert^2+\rho N\lVert\omega\rVert_q^q,
      \qquad0<q\le1,\\
   \omega&\leftarrow\Psi(\Psi D^\top D\Psi+\rho NqI)^{-1}\Psi D^\top\hat y,\qquad
      \Psi=\operatorname{diag}|\omega_i|^{(2-q)/2},\\
   f(x)&=b+\sum_{\alpha_i\ne0}\alpha_ik(x_i,x)\ \text{ against }\ \tfrac N2(1/N_1-1/N_2).

Where things are. The model: ``objective`` with its majoriser, ``certificates`` of minima, ``oracle`` the
same by cvxpy. In ``solvers``: ``solvers/plain`` the paper's iteration and ``solvers/accelerated`` the same
faster; ``solvers/shrinking`` with exact zeros, on ``solvers/active`` coefficients of a
``solvers/compressed`` problem, finished by ``solvers/settling`` or, for q = 1, ``solvers/l1_support``;
``solvers/lasso`` exact for q = 1, with its ``solvers/lasso_working_set``, ``solvers/lasso_exchange`` and
``solvers/lasso_factor``; ``solvers/paths`` along rho or q; ``solvers/solution`` what all return. What users
call: ``estimators``, ``model_selection``, ``realisations`` and ``retained``; behind them ``settings``,
``kernel_machine`` and ``training``. The compared methods, ``peers``: ``peers/ridge`` with
``peers/ridge_path`` and ``peers/leave_one_out``, and ``peers/ols`` on ``peers/orthogonal`` with its
``peers/orthogonal_terms``.

How an entry is measured, ``measures``: ``measures/table`` (Tables 1, 2), ``measures/cuts``,
``measures/curves``, ``measures/multiclass``, on ``measures/partitions``, ``measures/grids`` and
``measures/machines``. The claims: ``theory`` with ``fisher``, ``majorising``, ``descending``,
``vanishing``, ``perturbed`` and ``limits``; ``figures``; ``rates`` with ``fixed_points``, ``acceleration``
and ``convergence``; ``beyond`` our own, with ``minima``, ``magnitudes``, ``biases`` and ``copies``;
``tables`` with ``agreement``, ``orders``, ``sparsity`` and ``protocols`` on the ``chosen`` columns, and of
the printed numbers alone ``printed_audit``, ``printed_retained``, ``printed_spread`` and
``printed_one_classifier`` on ``table_cells``. What these stand on: random ``problems`` and ``rational``
numbers. ``paper`` holds the printed numbers and the protocols.
"""

from .estimators import SparseKFDAClassifier
from .model_selection import MinimumError, MinimumRetained, choose_realisation
from .peers.ols import OLSKFDAClassifier
from .peers.ridge import KFDAClassifier
from .realisations import RealisationSearch
from .retained import Retained, neg_retained_fraction, retained_by, retained_fraction

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
