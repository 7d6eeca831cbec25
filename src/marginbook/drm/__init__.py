r"""Discriminative ridge machine (Peng & Cheng): a classifier for high-dimensional or imbalanced data.

The model in four lines: each test point x is written as a weighted sum of the training points,

.. math::

   w^\star(x)&=\arg\min_w\tfrac12w^\top(K+\alpha(H-B)+\beta I)w-w^\top K_x\\
             &=(K+\alpha(H-B)+\beta I)^{-1}K_x,\\
   \delta_i(x)&=(w|_{C_i})^\top K(w|_{C_i})+(w|_{\bar C_i})^\top K(w|_{\bar C_i})-2(w|_{C_i})^\top K_x,\\
   \hat y(x)&=\arg\min_i\delta_i(x).

Where things are. The model: ``objective`` the matrices, the objective, the certificate and the decision;
``solvers`` the closed form and the path over beta; ``one_pass`` the exact linear form whose prediction does
not depend on n, ``dask_arrays`` the same block by block; ``leave_one_out`` all n left-out fits for the
price of a few solves. The paper's iterations: ``operators`` products with Q that count their
multiplications, ``iterates`` the loop, ``iterative`` the algorithms. The general penalty (8): ``penalties``
norms and proximal maps, ``proximal`` the fast solver, ``general`` all solvers with a duality gap. What
users call: ``estimators``, ``model_selection``, ``general_estimator``; behind them ``settings``,
``training_kernel``, ``machines``.

The compared methods: ``peers``, their grids in ``contests``, the search in ``racing``; ``slda`` and
``safe_level_smote`` are ours. How an entry is measured: ``measures`` (Tables III, VIII, IX),
``large_data``, ``large_selection``, ``large_scale`` (Table V, Figures 2, 3), ``ablation`` (Figure 5). The
claims: ``theory``, ``rates`` with ``momentum`` (Theorem VI.4), ``costs``, ``low_rank``; ``beyond`` our own;
``tables`` with ``accuracy_tables`` and ``large_table``; ``figures``. What these stand on: ``problems`` and
``trials`` random problems, ``counts`` numbers that count multiplications, ``table_cells`` printed beside
ours, ``printed_counts`` whether a printed number can be. ``paper/`` holds the printed numbers and the
protocols.
"""

from .estimators import DRMClassifier
from .general_estimator import DiscriminativeRidgeClassifier
from .model_selection import DRMClassifierCV

__all__ = ["DRMClassifier", "DRMClassifierCV", "DiscriminativeRidgeClassifier"]
