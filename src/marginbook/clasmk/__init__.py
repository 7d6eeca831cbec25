r"""CLASK-ML and CLASMK-ML: subspaces of several kernels for each class, chosen or weighted (Yu & McKelvey).

The model in four lines: C classes, K normalised kernels :math:`k_i` with feature maps :math:`\varphi_i`, an
orthonormal basis :math:`U_{c,i}` of what the rows of class c span in the i-th feature space,

.. math::

   z_{c,i}(x)&=U_{c,i}^\top\varphi_i(x)=A_{c,i}^\top k_i(X_{B_{c,i}},x),\\
   z_c(x)&=\sum_{i=1}^K\sqrt{\nu_{c,i}}\,z_{c,i}(x),\qquad\nu_{c,i}\ge0,\quad\sum_i\nu_{c,i}=1,\\
   \nu&\in\arg\min\frac{\sum_c\frac1{C-1}\sum_{\tilde c\ne c}\mathbb E_{\tilde c}\lVert z_c(x)\rVert^2}
      {\sum_c\mathbb E_c\lVert z_c(x)\rVert^2},\\
   x&\mapsto\bigl(z_1(x),\dots,z_C(x)\bigr)\ \text{ to any linear classifier.}

Where things are. The model: ``normalised`` kernels and the paper's ``kernel_sets``; ``embedding`` the
subspace of one class, from a factor that grows in ``cholesky``; ``subspaces`` of all classes and kernels;
``statistics`` of them on held-out rows; ``objective`` the ratio to minimise. In ``solvers``:
``solvers/dinkelbach`` for the weights, on ``solvers/sphere`` with its ``solvers/sphere_steps``;
``solvers/slsqp`` the general program in its place; ``solvers/kernel_choice`` for one kernel a class;
``solvers/solution`` what they return; ``solvers/least_squares`` for the base classifier. What users call:
``transformers``, ``hierarchy`` and ``lssvm``; behind them ``settings``, ``splitting`` of the rows,
``learning``, ``truncation`` of kernels, ``features`` and ``margins``. The compared methods, ``peers``:
``peers/mkl`` on ``solvers/kernel_weights`` and ``peers/two_layer`` on ``solvers/layer_weights``, both on
``peers/several_kernels`` and ``solvers/kernel_machines``; ``peers/single`` one kernel for all classes.

How an entry is measured, ``measures``: ``measures/table`` (Tables 1, 2), ``measures/benchmark`` (Table 4),
``measures/layers`` (Figures 2 to 23) and ``measures/heat_maps`` (Figures 24 to 27), and with the weights of
other solvers ``measures/local`` (Table 1; ``solvers/interior_point`` for one) and ``measures/local_layers``
(Table 4), on ``measures/rows``, ``measures/chosen`` and ``measures/timed``. The claims: ``theory`` with
``lemma_one``, ``theorem_one`` and ``theorem_two``, in distributions of ``model`` and ``blocks`` that meet
the assumptions exactly, ``criteria``, ``bases`` and ``misprints``; ``beyond`` our own, with ``signs``,
``choosing``, ``vertices``, ``certified``, ``narrow``, ``separating``, ``thresholds`` and ``scaling``, on
``real_rows``; ``tables`` with ``agreement``, ``learned_weights``, ``figures``, and of the printed numbers
alone ``printed_audit`` and ``printed_time`` on ``table_cells``. ``paper`` holds the printed numbers and the
protocols.
"""

from .hierarchy import HierarchicalCLASMKClassifier
from .kernel_sets import paper_kernels
from .lssvm import LSSVMClassifier
from .peers.mkl import MKLClassifier
from .peers.single import SubspaceKernelTransformer
from .peers.two_layer import TwoLayerMKLClassifier
from .transformers import CLASKTransformer, CLASMKTransformer

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
