r"""CLASK-ML and CLASMK-ML: subspaces of several kernels for each class, chosen or weighted (Yu & McKelvey).

The model in four lines: C classes, K normalised kernels :math:`k_i` with feature maps :math:`\varphi_i`, an
orthonormal basis :math:`U_{c,i}` of what the rows of class c span in the i-th feature space,

.. math::

   z_{c,i}(x)&=U_{c,i}^\top\varphi_i(x)=A_{c,i}^\top k_i(X_{B_{c,i}},x),\\
   z_c(x)&=\sum_{i=1}^K\sqrt{\nu_{c,i}}\,z_{c,i}(x),\qquad\nu_{c,i}\ge0,\quad\sum_i\nu_{c,i}=1,\\
   \nu&\in\arg\min\frac{\sum_c\frac1{C-1}\sum_{\tilde c\ne c}\mathbb E_{\tilde c}\lVert z_c(x)\rVert^2}
      {\sum_c\mathbb E_c\lVert z_c(x)\rVert^2},\\
   x&\mapsto\bigl(z_1(x),\dots,z_C(x)\bigr)\ \text{ to any linear classifier.}

Where things are. The model: ``model/normalised_kernels`` kernels and the paper's ``model/kernel_sets``;
``model/embedding`` the subspace of one class, from a factor that grows in ``model/incomplete_cholesky``;
``model/subspaces`` of all classes and kernels; ``model/statistics`` of them on held-out rows;
``model/objective`` the ratio to minimise. In ``solvers``: ``solvers/dinkelbach`` for the weights, on
``solvers/sphere`` with its ``solvers/sphere_steps``; ``solvers/slsqp`` the general program in its place;
``solvers/kernel_choice`` for one kernel a class; ``solvers/solution`` what they return;
``solvers/least_squares`` for the base classifier. What users call: ``estimators/transformers``,
``estimators/hierarchy`` and ``estimators/lssvm``; behind them ``estimators/parameters``,
``estimators/splitting`` of the rows, ``estimators/fitting``, ``model/truncation`` of kernels,
``model/features`` and ``estimators/uncertain_rows``. The compared methods, ``peers``: ``peers/mkl`` on
``solvers/mkl`` and ``peers/two_layer`` on ``solvers/mkl_two_layer``, both on ``peers/several_kernels`` and
``solvers/svm_outputs``; ``peers/single_kernel`` one kernel for all classes.

How an entry is measured, ``experiments``: ``experiments/tables_1_2`` (Tables 1, 2), ``experiments/table_4``
(Table 4), ``experiments/figures_2_23`` (Figures 2 to 23) and ``experiments/figures_24_27`` (Figures 24 to
27), and with the weights of other solvers ``experiments/table_1_solvers`` (Table 1; ``solvers/trust_constr``
for one) and ``experiments/table_4_solvers`` (Table 4), on ``experiments/data``, ``experiments/lssvm_chosen``
and ``experiments/timed``. The claims: ``claims`` with ``claims/section_2_lemma_1``,
``claims/section_2_theorem_1`` and ``claims/section_2_theorem_2``, in distributions of
``claims/distributions`` and ``claims/block_distributions`` that meet the assumptions exactly,
``claims/section_2_criteria``, ``claims/section_3_bases`` and ``claims/misprints``; ``claims`` our own, with
``claims/beyond_signs``, ``claims/beyond_criterion_2``, ``claims/beyond_vertices``,
``claims/beyond_dinkelbach``, ``claims/beyond_narrow_kernels``, ``claims/beyond_ratio_error``,
``claims/beyond_thresholds`` and ``claims/beyond_scaling``, on ``claims/real_rows``; ``experiments`` with
``claims/tables``, ``claims/tables_equal_weights``, ``claims/figures``, and of the printed numbers alone
``claims/printed_audit`` and ``claims/printed_time`` on ``paper/printed``. ``paper`` holds the printed numbers
and the protocols.
"""

from .estimators.hierarchy import HierarchicalCLASMKClassifier
from .estimators.lssvm import LSSVMClassifier
from .estimators.transformers import CLASKTransformer, CLASMKTransformer
from .model.kernel_sets import paper_kernels
from .peers.mkl import MKLClassifier
from .peers.single_kernel import SubspaceKernelTransformer
from .peers.two_layer import TwoLayerMKLClassifier

__all__ = [
    "CLASKTransformer",
    "CLASMKTransformer",
    "HierarchicalCLASMKClassifier",
    "LSSVMClassifier",
    "MKLClassifier",
    "SubspaceKernelTransformer",
    "TwoLayerMKLClassifier",
    "paper_kernels",
]
