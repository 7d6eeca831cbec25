r"""Large margin distribution machine (Zhang & Zhou): a support vector machine that looks at all margins.

The model in four lines: with labels :math:`y_i=\pm1`, no intercept, and the margins of all m examples,

.. math::

   \gamma_i&=y_iw^\top\phi(x_i),\qquad\bar\gamma=\tfrac1m\sum_i\gamma_i,\qquad
      \hat\gamma=\tfrac2m\sum_i(\gamma_i-\bar\gamma)^2,\\
   w^\star&=\arg\min_w\tfrac12\lVert w\rVert^2+\lambda_1\hat\gamma-\lambda_2\bar\gamma
      +C\sum_i(1-\gamma_i)_+=\sum_i\alpha_i\phi(x_i),\\
   \alpha_i&=y_i\bigl(\beta'_i-\tfrac{4\lambda_1}m(\gamma_i-\bar\gamma)\bigr),\qquad\gamma=H\beta',\\
   \beta'&=\arg\min_{\lambda_2/m\,\le\,\beta'_i\,\le\,C+\lambda_2/m}\tfrac12\beta'^\top H\beta'-e^\top\beta'.

Where to look: ``model`` the primal, the dual, the gap between them and the matrix H; ``solvers`` the dual on
a Gram matrix, the primal on features in memory or on disk, and leave-one-out; ``estimators`` what users call;
``peers`` the compared methods. ``paper`` holds the printed numbers and the protocols, ``experiments`` how one
entry of a table is measured, ``claims`` each statement with its check, by section of the paper; what begins
with ``beyond`` is ours alone, elsewhere the kind of a claim says whose it is.
"""

from .estimators.classifier import LDMClassifier
from .estimators.selection import LDMClassifierCV
from .peers.km_omd import KMOMDClassifier
from .peers.mamc import MAMCClassifier
from .peers.mdo import MDOClassifier

__all__ = ["KMOMDClassifier", "LDMClassifier", "LDMClassifierCV", "MAMCClassifier", "MDOClassifier"]
