"""CLASKTransformer: for each class the subspace in one kernel, chosen by a ratio of energies."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from ...base.parameters import validate_choice
from ...base.threads import on_few_threads
from ..model.features import FeatureMap
from ..model.objective import diagonals
from ..solvers.kernel_choice import RULES, choose_kernels
from .fitting import ClassSubspaces


@dataclass(eq=False, repr=False)
class CLASKTransformer(ClassSubspaces):
    r"""Coordinates of the rows in the subspace of each class, in the kernel that suits the class.

    With the coordinates :math:`z_{c,k}(x)=U_{c,k}^\top\varphi_k(x)` in the subspace of class c in the feature
    space of the normalised kernel k, one kernel is chosen for each of the C classes:

    .. math::
       \min_{k_1,\dots,k_C}\ \frac{\sum_cn_{c,k_c}}{\sum_cd_{c,k_c}},\qquad
       n_{c,k}=\tfrac1{C-1}\sum_{\tilde c\ne c}\mathbb E_{\tilde c}\lVert z_{c,k}(x)\rVert^2,\qquad
       d_{c,k}=\lVert\mathbb E_cz_{c,k}(x)\rVert^2,

    and the features of x are :math:`z_{1,k_1}(x),\dots,z_{C,k_C}(x)` side by side. Half of the rows give the
    subspaces, the others the expectations; rows have no weights, as in
    :class:`~marginbook.clasmk.CLASMKTransformer`. Source: Yu & McKelvey, Criterion 2, (26) and (27).

    Read more in the :ref:`user guide <guide-clasktransformer>` (``marginbook guide``).

    Parameters
    ----------
    kernels : list of kernels, default=None
        As in :mod:`marginbook.kernels`; each is normalised. None is the paper's 13 for Table 4: rbf,
        :math:`\exp(-\lVert x-z\rVert^2/\sigma^2)` with :math:`\sigma=2^{-3},\dots,2^6`, so that gamma is
        :math:`1/\sigma^2`, and polynomials :math:`(1+x^\top z)^d` of degree d = 1, 2, 3. They suit
        standardised features.
    rule : {"exact", "exhaustive", "greedy"}, default="exact"
        "exact" finds the minimum in a few passes over C K numbers. "exhaustive" tries all :math:`K^C`
        choices, for small cases. "greedy" takes the least ratio of each class alone, (27), which need not be
        the minimum of (26).
    tol, max_rank, n_components, order, basis_fraction
        Of the subspaces, and the share of the rows that gives them: see
        :class:`~marginbook.clasmk.CLASMKTransformer`.
    weights_on : {"nu", "basis"}, default="nu"
        "nu" measures on the rows that the subspaces have not seen, "basis" on those they were fitted to.
    denominator : {"mean", "energy"}, default="mean"
        :math:`d_{c,k}`: as above, or :math:`\mathbb E_c\lVert z_{c,k}(x)\rVert^2`, which is what (34) has.
    eta : float, default=0.1
        A kernel with no more energy of the held-out rows than this, summed over the classes, does not take
        part, (35). Printed for CLASMK only; but a kernel so narrow that its subspaces hold nothing can have
        the least ratio.
    truncation, random_state, verbose
        As in :class:`~marginbook.clasmk.CLASMKTransformer`.

    Attributes
    ----------
    kernels_ : (C,) array of int
        The kernel of each class, an index into ``kernel_set_``.
    objective_ : float
        The ratio (26) of this choice.
    n_iter_ : int
        Passes of "exact", choices tried by "exhaustive", 1 for "greedy".
    kernel_set_ : list of K kernels
    kept_kernels_ : (m,) array of int
        Those that were not dropped by `eta`.
    energy_ : (C, K) array
        Energy of the held-out rows of each class in its subspaces, in [0, 1].
    separation_ : Separation
        The statistics of the kernels kept.
    weights_ : (C, K) array
        1 for the kernel of the class, else 0.
    map_ : FeatureMap
        The subspaces.
    basis_rows_, held_out_rows_ : arrays of int
    classes_ : (C,) array
    n_features_in_ : int

    Examples
    --------
    >>> from marginbook.clasmk import CLASKTransformer
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_wine(return_X_y=True)
    >>> kernels = [("rbf", {"gamma": 0.02}), ("poly", {"degree": 2}), "linear"]
    >>> model = CLASKTransformer(kernels, random_state=0).fit(scale(X), y)
    >>> model.kernels_, round(model.objective_, 3), model.transform(scale(X)).shape
    (array([1, 0, 1]), 0.939, (178, 90))
    """

    rule: str = "exact"
    _: KW_ONLY
    denominator: str = "mean"

    @on_few_threads
    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows `X`, (n, p), and labels `y`, (n,).

        Raises
        ------
        ValueError
            For one class only, parameters out of range, all kernels truncated, a kernel that is zero on a
            row, or more choices than "exhaustive" tries.
        """
        validate_choice("rule", self.rule, RULES)
        learned = self._learn(X, y, "concat")
        top, bottom = learned.separation.numerator, learned.separation.denominator
        found = choose_kernels(diagonals(top), diagonals(bottom), rule=self.rule)
        self.kernels_ = learned.kept[found.kernels]
        self.objective_, self.n_iter_ = found.objective, found.n_iter
        self.weights_ = np.eye(len(self.kernel_set_))[self.kernels_]
        self.map_ = FeatureMap.of(learned.subspaces, learned.kept, self.weights_, "concat")
        self._say(f"kernels {self.kernels_.tolist()}, objective {self.objective_:.4g}")
        return self
