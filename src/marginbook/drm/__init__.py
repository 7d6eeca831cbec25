r"""Discriminative ridge machine (Peng & Cheng): a classifier for high-dimensional or imbalanced data.

The model in four lines: each test point x is written as a weighted sum of the training points,

.. math::

   w^\star(x)&=\arg\min_w\tfrac12w^\top(K+\alpha(H-B)+\beta I)w-w^\top K_x\\
             &=(K+\alpha(H-B)+\beta I)^{-1}K_x,\\
   \delta_i(x)&=(w|_{C_i})^\top K(w|_{C_i})+(w|_{\bar C_i})^\top K(w|_{\bar C_i})-2(w|_{C_i})^\top K_x,\\
   \hat y(x)&=\arg\min_i\delta_i(x).

Where things are: ``objective`` the matrices, the objective, the certificate and the decision; ``solvers`` the
closed form and the path over beta; ``operators`` products with Q that count their multiplications,
``iterative`` the paper's iterations on them and ``iterates`` the loop they share; ``one_pass`` the exact
linear form whose prediction does not depend on n, ``dask_arrays`` the same block by block; ``leave_one_out``
all n left-out fits for the price of one; ``estimators`` and ``model_selection`` what users call, ``settings``
their parameters and ``machines`` what their fits leave behind; ``peers`` the compared methods; ``measures``
how one entry of a table is measured; ``theory`` the claims about theorems, ``beyond`` our own, ``tables``
those about tables and figures; ``problems`` what they are measured on; ``paper/`` the printed numbers and the
protocols.
"""

from .estimators import DRMClassifier
from .general_estimator import DiscriminativeRidgeClassifier
from .model_selection import DRMClassifierCV

__all__ = ["DRMClassifier", "DRMClassifierCV", "DiscriminativeRidgeClassifier"]
