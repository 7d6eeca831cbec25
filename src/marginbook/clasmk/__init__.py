r"""CLASK-ML and CLASMK-ML: subspaces of several kernels for each class, chosen or weighted (Yu & McKelvey).

The model in four lines: C classes, K normalised kernels :math:`k_i` with feature maps :math:`\varphi_i`, an
orthonormal basis :math:`U_{c,i}` of what the rows of class c span in the i-th feature space,

.. math::

   z_{c,i}(x)&=U_{c,i}^\top\varphi_i(x)=A_{c,i}^\top k_i(X_{B_{c,i}},x),\\
   z_c(x)&=\sum_{i=1}^K\sqrt{\nu_{c,i}}\,z_{c,i}(x),\qquad\nu_{c,i}\ge0,\quad\sum_i\nu_{c,i}=1,\\
   \nu&\in\arg\min\frac{\sum_c\frac1{C-1}\sum_{\tilde c\ne c}\mathbb E_{\tilde c}\lVert z_c(x)\rVert^2}
      {\sum_c\mathbb E_c\lVert z_c(x)\rVert^2},\\
   x&\mapsto\bigl(z_1(x),\dots,z_C(x)\bigr)\ \text{ to any linear classifier.}

Where to look: ``model`` the normalised kernels, the subspaces, their statistics and the ratio to minimise;
``solvers`` the weights, one kernel for each class, and the base classifier; ``estimators`` what users call;
``peers`` the compared methods. ``paper`` holds the printed numbers and the protocols, ``experiments`` how one
entry of a table is measured, ``claims`` each statement with its check, by section of the paper; what begins
with ``beyond`` is ours alone, elsewhere the kind of a claim says whose it is.
"""

from .estimators.chosen_kernels import CLASKTransformer
from .estimators.hierarchy import HierarchicalCLASMKClassifier
from .estimators.lssvm import LSSVMClassifier
from .estimators.weighted_kernels import CLASMKTransformer
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
