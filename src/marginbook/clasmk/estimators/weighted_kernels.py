"""CLASMKTransformer: for each class the subspaces in several kernels, weighted by a ratio of energies."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from sklearn.exceptions import ConvergenceWarning

from ...base.threads import on_few_threads
from ...base.user_line import user_level
from ..model.features import FeatureMap
from ..model.objective import ratio
from ..model.truncation import largest_weights, thresholded
from ..solvers.dinkelbach import dinkelbach
from ..solvers.slsqp import slsqp
from ..solvers.solution import Weights
from .fitting import ClassSubspaces
from .parameters import validate_weight_learning
from .shared_parameters import WeightParameters

_SOLVERS: dict[str, Callable[..., Weights]] = {"dinkelbach": dinkelbach, "slsqp": slsqp}


@dataclass(eq=False, repr=False)
class CLASMKTransformer(WeightParameters, ClassSubspaces):
    r"""Coordinates of the rows in the subspaces of each class in several kernels, weighted.

    With the coordinates :math:`z_{c,i}(x)=U_{c,i}^\top\varphi_i(x)` in the subspace of class c in the feature
    space of the normalised kernel i, the features of x are, class by class,
    :math:`z_c(x)=\sum_{i=1}^K\sqrt{\nu_{c,i}}\,z_{c,i}(x)`, with

    .. math::
       \min_{\nu}\ \frac{\sum_c\frac1{C-1}\sum_{\tilde c\ne c}\mathbb E_{\tilde c}\lVert z_c(x)\rVert^2}
       {\sum_c\mathbb E_c\lVert z_c(x)\rVert^2},\qquad\nu_{c,i}\ge0,\quad\sum_i\nu_{c,i}=1.

    Half of the rows give the subspaces, the others the expectations. Rows have no weights: of k copies of a
    row some may be in either half, which a row of weight k cannot. Source: Yu & McKelvey, Definition 1,
    Criterion 3, (32)-(38), Algorithm 1.

    Read more in the :ref:`user guide <guide-clasmktransformer>` (``marginbook guide``).

    Parameters
    ----------
    kernels : list of kernels, default=None
        As in :mod:`marginbook.kernels`; each is normalised. None is the paper's 13 for Table 4: rbf,
        :math:`\exp(-\lVert x-z\rVert^2/\sigma^2)` with :math:`\sigma=2^{-3},\dots,2^6`, so that gamma is
        :math:`1/\sigma^2`, and polynomials :math:`(1+x^\top z)^d` of degree d = 1, 2, 3. They suit
        standardised features.
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
    >>> from marginbook.clasmk import CLASMKTransformer
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

    combine: str = "sum"  # may be given by its place, as `rule` in CLASKTransformer

    @on_few_threads
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
        validate_weight_learning(self)
        learned = self._learn(X, y, self.combine)
        top, bottom = learned.separation.numerator, learned.separation.denominator
        found = _SOLVERS[self.solver](top, bottom, combine=self.combine, max_iter=self.max_iter)
        self.solution_, self.kkt_residual_, self.n_iter_ = found, found.kkt_residual, max(1, found.n_iter)
        if not found.converged:
            stopped = found.n_iter >= self.max_iter
            warnings.warn(
                f"{self.solver} ended after {found.n_iter} iteration{'' if found.n_iter == 1 else 's'} "
                f"without convergence, at objective {found.objective:.6g} with KKT residual "
                f"{found.kkt_residual:.1e}; "
                + (f"raise max_iter={self.max_iter}" if stopped else "take solver='dinkelbach'"),
                ConvergenceWarning,
                stacklevel=user_level(),
            )
        kept_weights = thresholded(found.weights, self.threshold)
        self.objective_ = ratio(kept_weights, top, bottom, combine=self.combine)
        self.weights_ = self._spread(kept_weights, learned.kept)
        self.best_kernels_ = largest_weights(self.weights_)
        self.map_ = FeatureMap.of(learned.subspaces, learned.kept, self.weights_, self.combine)
        self._say(f"objective {self.objective_:.4g} in {self._n_features_out} features")
        return self
