r"""Large margin distribution machine (Zhang & Zhou): a support vector machine that looks at all margins.

The model in four lines: with labels :math:`y_i=\pm1`, no intercept, and the margins of all m examples,

.. math::

   \gamma_i&=y_iw^\top\phi(x_i),\qquad\bar\gamma=\tfrac1m\sum_i\gamma_i,\qquad
      \hat\gamma=\tfrac2m\sum_i(\gamma_i-\bar\gamma)^2,\\
   w^\star&=\arg\min_w\tfrac12\lVert w\rVert^2+\lambda_1\hat\gamma-\lambda_2\bar\gamma
      +C\sum_i(1-\gamma_i)_+=\sum_i\alpha_i\phi(x_i),\\
   \alpha_i&=y_i\bigl(\beta'_i-\tfrac{4\lambda_1}m(\gamma_i-\bar\gamma)\bigr),\qquad\gamma=H\beta',\\
   \beta'&=\arg\min_{\lambda_2/m\,\le\,\beta'_i\,\le\,C+\lambda_2/m}\tfrac12\beta'^\top H\beta'-e^\top\beta'.

Where things are. The model: ``objective`` the primal, the dual and the gap between them; ``whitening`` the
matrix H, without inverses. On a Gram matrix: ``solvers``, the paper's coordinate descent with its sweeps in
``box_qp`` and the exact method of ``active_sets`` on its ``growing_factor``; ``without_hessian`` the same
exchanges on the Gram matrix itself; ``grid`` all parameters at once; ``hard_margin``; ``oracle`` the same
problems by cvxpy. On features: ``linear`` coordinate descent with its ``linear_passes``, ``interior_point``
for few features, ``linear_problem`` what they share; ``asgd`` the paper's stochastic gradients with their
``asgd_steps``; ``files`` and ``out_of_core`` for data larger than memory. Leave-one-out: ``loo`` the bound,
``left_out`` the kernels behind it, ``retraining`` the exact errors. What users call: ``estimators``, with
``chunks`` of rows, and ``model_selection``, with ``linear_grid`` and ``scores``; behind them ``settings``,
``training`` and ``threads``.

The compared methods: ``mdo`` with ``mdo_descent``, ``mamc``, ``km_omd`` with ``km_omd_weights``, on
``peer_machine``. How an entry is measured: ``selection`` of parameters and ``halves`` of a data set;
``measures`` (Tables 2, 3), ``large`` and its ``standins`` (Table 4, Figure 2), ``margin_curves`` (Figures 1,
3). The claims: ``theory``, ``duals``, ``averages``, ``rates``; ``beyond`` our own, with ``choosing``,
``printed_bounds`` and ``line_machine``; ``tables`` with ``contests``, ``orders``, ``readings`` and
``printed_audit`` on ``table_cells``; ``figures``. What these stand on: random ``problems``. ``paper/`` holds
the printed numbers and the protocols.
"""

from .estimators import LDMClassifier
from .km_omd import KMOMDClassifier
from .mamc import MAMCClassifier
from .mdo import MDOClassifier
from .model_selection import LDMClassifierCV

__all__ = ["KMOMDClassifier", "LDMClassifier", "LDMClassifierCV", "MAMCClassifier", "MDOClassifier"]
