r"""Sparse kernel Fisher discriminant kFDA_q (Harrison & Pasupa): few training rows suffice to predict.

The model in four lines: N rows, :math:`N_1` of the positive class, the kernel matrix K,

.. math::

   \hat y_i&=N/N_1\text{ or }-N/N_2,\qquad D=[\mathbf 1\ K],\qquad\omega=(b,\alpha),\\
   \omega^\star&\in\arg\min_\omega\tfrac12\lVert\hat y-D\omega\rVert^2+\rho N\lVert\omega\rVert_q^q,
      \qquad0<q\le1,\\
   \omega&\leftarrow\Psi(\Psi D^\top D\Psi+\rho NqI)^{-1}\Psi D^\top\hat y,\qquad
      \Psi=\operatorname{diag}|\omega_i|^{(2-q)/2},\\
   f(x)&=b+\sum_{\alpha_i\ne0}\alpha_ik(x_i,x)\ \text{ against }\ \tfrac N2(1/N_1-1/N_2).

Where to look: ``model`` the objective, its majoriser and certificates of minima; ``solvers`` the paper's
iteration, the same faster, one with exact zeros, the exact solution for q = 1, and paths along rho;
``estimators`` what users call; ``peers`` the compared methods, of which the discriminant with a ridge can be
fitted on landmarks. ``paper`` holds the printed numbers and the protocols, ``experiments`` how one entry of a
table is measured, ``claims`` each statement with its check, by section of the paper; what begins with
``beyond`` is ours alone, elsewhere the kind of a claim says whose it is.
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
