"""CLASKTransformer and CLASMKTransformer: one kernel a class, or weights of several."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...base.parameters import validate_choice
from ...kernels import Kernel
from ..model.features import FeatureMap
from ..model.objective import diagonals, ratio
from ..model.truncation import largest_weights, thresholded
from ..solvers.dinkelbach import dinkelbach
from ..solvers.kernel_choice import choose_kernels
from ..solvers.slsqp import slsqp
from ..solvers.solution import Weights
from .fitting import ClassSubspaces
from .parameters import RULES, validate_weights

_SOLVERS: dict[str, Callable[..., Weights]] = {"dinkelbach": dinkelbach, "slsqp": slsqp}


class CLASKTransformer(ClassSubspaces):
    r"""Coordinates of the rows in the subspace of each class, in the kernel that suits the class.

    With the coordinates :math:`z_{c,k}(x)=U_{c,k}^\top\varphi_k(x)` in the subspace of class c in the feature
    space of the normalised kernel k, one kernel is chosen for each of the C classes:

    .. math::
       \min_{k_1,\dots,k_C}\ \frac{\sum_cn_{c,k_c}}{\sum_cd_{c,k_c}},\qquad
       n_{c,k}=\tfrac1{C-1}\sum_{\tilde c\ne c}\mathbb E_{\tilde c}\lVert z_{c,k}(x)\rVert^2,\qquad
       d_{c,k}=\lVert\mathbb E_cz_{c,k}(x)\rVert^2,

    and the features of x are :math:`z_{1,k_1}(x),\dots,z_{C,k_C}(x)` side by side. Half of the rows give the
    subspaces, the others the expectations. Source: Yu & McKelvey, Criterion 2, (26) and (27).

    Parameters
    ----------
    kernels : list of kernels, default=None
        As in :mod:`marginbook.kernels`; each is normalised. None is the paper's 13 for Table 4, rbf of widths
        :math:`2^{-3},\dots,2^6` and polynomials of degree 1 to 3, which suit standardised features.
    rule : {"exact", "exhaustive", "greedy"}, default="exact"
        "exact" finds the minimum in a few passes over C K numbers. "exhaustive" tries all :math:`K^C`
        choices, for small cases. "greedy" takes the least ratio of each class alone, (27), which need not be
        the minimum of (26).
    tol : float, default=1e-3
        A row joins the basis of its class when its squared distance to the span so far is above this; the
        squared length of every row is 1.
    max_rank : int, default=None
        Rows that a basis may have.
    n_components : int or float, default=None
        Directions that a subspace keeps, most energy first; a float in (0, 1] is a share of the energy.
    order : {"pivoted", "sequential"}, default="pivoted"
        Rows are tried the farthest one first, or as they come.
    basis_fraction : float, default=0.5
        Share of each class that gives the subspaces. A class of one row gives it to both parts.
    weights_on : {"nu", "basis"}, default="nu"
        "nu" measures on the rows that the subspaces have not seen, "basis" on those they were fitted to.
    denominator : {"mean", "energy"}, default="mean"
        :math:`d_{c,k}`: as above, or :math:`\mathbb E_c\lVert z_{c,k}(x)\rVert^2`, which is what (34) has.
    eta : float, default=0.1
        A kernel with no more energy of the held-out rows than this, summed over the classes, does not take
        part, (35). Printed for CLASMK only; but a kernel so narrow that its subspaces hold nothing can have
        the least ratio.
    truncation : {"sum", "mean"}, default="sum"
        What `eta` is compared with: the energy summed over the classes, as printed, which goes up to C, or
        its mean, up to 1.
    random_state : int, RandomState or None, default=None
        Of the split.
    verbose : int, default=0
        Whether to print what is being done.

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
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_wine(return_X_y=True)
    >>> kernels = [("rbf", {"gamma": 0.02}), ("poly", {"degree": 2}), "linear"]
    >>> model = CLASKTransformer(kernels, random_state=0).fit(scale(X), y)
    >>> model.kernels_, round(model.objective_, 3), model.transform(scale(X)).shape
    (array([1, 0, 1]), 0.939, (178, 90))
    """

    def __init__(
        self,
        kernels: Sequence[Kernel] | None = None,
        rule: str = "exact",
        tol: float = 1e-3,
        max_rank: int | None = None,
        n_components: int | float | None = None,
        order: str = "pivoted",
        basis_fraction: float = 0.5,
        weights_on: str = "nu",
        denominator: str = "mean",
        eta: float = 0.1,
        truncation: str = "sum",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.rule = rule
        self.tol = tol
        self.max_rank = max_rank
        self.n_components = n_components
        self.order = order
        self.basis_fraction = basis_fraction
        self.weights_on = weights_on
        self.denominator = denominator
        self.eta = eta
        self.truncation = truncation
        self.random_state = random_state
        self.verbose = verbose

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
        self.separation_ = learned.separation
        top, bottom = learned.separation.numerator, learned.separation.denominator
        found = choose_kernels(diagonals(top), diagonals(bottom), rule=self.rule)
        self.kernels_ = learned.kept[found.kernels]
        self.objective_, self.n_iter_ = found.objective, found.n_iter
        self.weights_ = np.eye(len(self.kernel_set_))[self.kernels_]
        self.map_ = FeatureMap.of(learned.subspaces, learned.kept, self.weights_, "concat")
        self._say(f"kernels {self.kernels_.tolist()}, objective {self.objective_:.4g}")
        return self


class CLASMKTransformer(ClassSubspaces):
    r"""Coordinates of the rows in the subspaces of each class in several kernels, weighted.

    With the coordinates :math:`z_{c,i}(x)=U_{c,i}^\top\varphi_i(x)` in the subspace of class c in the feature
    space of the normalised kernel i, the features of x are, class by class,
    :math:`z_c(x)=\sum_{i=1}^K\sqrt{\nu_{c,i}}\,z_{c,i}(x)`, with

    .. math::
       \min_{\nu}\ \frac{\sum_c\frac1{C-1}\sum_{\tilde c\ne c}\mathbb E_{\tilde c}\lVert z_c(x)\rVert^2}
       {\sum_c\mathbb E_c\lVert z_c(x)\rVert^2},\qquad\nu_{c,i}\ge0,\quad\sum_i\nu_{c,i}=1.

    Half of the rows give the subspaces, the others the expectations. Source: Yu & McKelvey, Definition 1,
    Criterion 3, (32)-(38), Algorithm 1.

    Parameters
    ----------
    kernels : list of kernels, default=None
        As in :mod:`marginbook.kernels`; each is normalised. None is the paper's 13 for Table 4, rbf of widths
        :math:`2^{-3},\dots,2^6` and polynomials of degree 1 to 3, which suit standardised features.
    combine : {"sum", "concat"}, default="sum"
        "sum" is printed: it adds coordinates of different kernels, whose order and sign are conventions;
        here most energy first, the mean over the class not negative, the shorter filled with zeros. "concat"
        puts the :math:`\sqrt{\nu_{c,i}}z_{c,i}` side by side, which depends on no convention; then some
        minimum has one kernel a class.
    denominator : {"energy", "mean"}, default="energy"
        As above, (32)-(34), or :math:`\sum_c\lVert\mathbb E_cz_c(x)\rVert^2` as in Criterion 3.
    eta : float, default=0.1
        A kernel with no more energy of the held-out rows than this is dropped, (35). A small `eta` lets
        kernels through that are so narrow that they tell nothing of new rows: with standardised features,
        half of what it is compared with is a better choice than 0.1.
    truncation : {"sum", "mean"}, default="sum"
        What `eta` is compared with: the energy summed over the classes, as printed, which goes up to C, or
        its mean, up to 1.
    threshold : float, default=0.1
        Weights below this share of the largest of the class become zero, (37). With 1 each class has one
        kernel, that of (39).
    solver : {"dinkelbach", "slsqp"}, default="dinkelbach"
        "slsqp" with finite differences stands for the general-purpose program that the paper used.
    max_iter : int, default=1000
        Iterations of the solver.
    tol : float, default=1e-3
        A row joins the basis of its class when its squared distance to the span so far is above this; the
        squared length of every row is 1.
    max_rank : int, default=None
        Rows that a basis may have.
    n_components : int or float, default=None
        Directions that a subspace keeps, most energy first; a float in (0, 1] is a share of the energy.
    order : {"pivoted", "sequential"}, default="pivoted"
        Rows are tried the farthest one first, or as they come.
    basis_fraction : float, default=0.5
        Share of each class that gives the subspaces. A class of one row gives it to both parts.
    weights_on : {"nu", "basis"}, default="nu"
        "nu" weights by the rows that the subspaces have not seen, as the text has it; "basis" by those they
        were fitted to, as (33) is printed.
    random_state : int, RandomState or None, default=None
        Of the split.
    verbose : int, default=0
        Whether to print what is being done.

    Attributes
    ----------
    weights_ : (C, K) array
        :math:`\nu`, after the `threshold`; zero for kernels dropped by `eta`.
    objective_ : float
        The ratio of ``weights_``.
    solution_ : Weights
        What the solver found for the kernels kept, before the `threshold`, with its ratio and bound.
    kkt_residual_ : float
        How far ``solution_`` is from stationary, relative.
    n_iter_ : int
    best_kernels_ : (C,) array of int
        The kernel of the largest weight, (39).
    kernel_set_ : list of K kernels
    kept_kernels_ : (m,) array of int
        Those that were not dropped by `eta`.
    energy_ : (C, K) array
        Energy of the held-out rows of each class in its subspaces, in [0, 1].
    separation_ : Separation
        The statistics of the kernels kept.
    map_ : FeatureMap
        The subspaces of the kernels with a weight.
    basis_rows_, held_out_rows_ : arrays of int
    classes_ : (C,) array
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_wine(return_X_y=True)
    >>> kernels = [("rbf", {"gamma": 0.02}), ("poly", {"degree": 2}), "linear"]
    >>> model = CLASMKTransformer(kernels, random_state=0).fit(scale(X), y)
    >>> model.weights_.round(2)
    array([[0.12, 0.65, 0.22],
           [0.  , 1.  , 0.  ],
           [0.18, 0.66, 0.17]])
    >>> round(model.objective_, 3), model.transform(scale(X)).shape
    (0.281, (178, 90))
    """

    def __init__(
        self,
        kernels: Sequence[Kernel] | None = None,
        combine: str = "sum",
        denominator: str = "energy",
        eta: float = 0.1,
        truncation: str = "sum",
        threshold: float = 0.1,
        solver: str = "dinkelbach",
        max_iter: int = 1000,
        tol: float = 1e-3,
        max_rank: int | None = None,
        n_components: int | float | None = None,
        order: str = "pivoted",
        basis_fraction: float = 0.5,
        weights_on: str = "nu",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.combine = combine
        self.denominator = denominator
        self.eta = eta
        self.truncation = truncation
        self.threshold = threshold
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.max_rank = max_rank
        self.n_components = n_components
        self.order = order
        self.basis_fraction = basis_fraction
        self.weights_on = weights_on
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows `X`, (n, p), and labels `y`, (n,).

        Warns
        -----
        ConvergenceWarning
            If the solver stopped at `max_iter`.

        Raises
        ------
        ValueError
            For one class only, parameters out of range, all kernels truncated, or a kernel that is zero on a
            row.
        """
        validate_weights(self)
        learned = self._learn(X, y, self.combine)
        self.separation_ = learned.separation
        top, bottom = learned.separation.numerator, learned.separation.denominator
        found = _SOLVERS[self.solver](top, bottom, combine=self.combine, max_iter=self.max_iter)
        self.solution_, self.kkt_residual_, self.n_iter_ = found, found.kkt_residual, max(1, found.n_iter)
        if not found.converged:
            stopped = found.n_iter >= self.max_iter
            warnings.warn(
                f"{self.solver} ended after {found.n_iter} iterations without convergence, at objective "
                f"{found.objective:.6g} with KKT residual {found.kkt_residual:.1e}; "
                + (f"raise max_iter={self.max_iter}" if stopped else "take solver='dinkelbach'"),
                ConvergenceWarning,
                stacklevel=2,
            )
        kept_weights = thresholded(found.weights, self.threshold)
        self.objective_ = ratio(kept_weights, top, bottom, combine=self.combine)
        self.weights_ = self._spread(kept_weights, learned.kept)
        self.best_kernels_ = largest_weights(self.weights_)
        self.map_ = FeatureMap.of(learned.subspaces, learned.kept, self.weights_, self.combine)
        self._say(f"objective {self.objective_:.4g} in {self._n_features_out} features")
        return self
