"""KFDAClassifier: the kernel Fisher discriminant with a ridge, which retains every sample."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ...base.parameters import is_number, validate_choice
from ...base.user_line import user_level
from ...base.weights import ClassWeight
from ...kernels import Kernel, kernel_name, warn_of_scale
from ...kernels.landmarks import Landmarks
from ..estimators.kernel_machine import KernelMachine
from ..estimators.rows import Rows
from ..estimators.training_gram import refuse_indefinite, training_design
from ..model.objective import targets
from ..solvers.ridge_iterative import ridge_by_iteration
from .ridge_leave_one_out import leave_one_out
from .ridge_limits import EIGEN, FALLBACK, FITTED, GAP, RESIDUAL
from .ridge_path import KernelSpectrum, fisher_discriminant
from .ridge_several import fit_classes
from .ridge_solution import RidgeDiscriminant, checked, discriminant

ROUTES = ("auto", "least-squares", "fisher", "cg")


@dataclass(eq=False, repr=False)
class KFDAClassifier(KernelMachine):
    r"""Kernel Fisher discriminant with a ridge on the coefficients (Mika et al. 2003).

    .. math::
       \max_\alpha\frac{\alpha^\top(M_1-M_2)(M_1-M_2)^\top\alpha}{\alpha^\top(N_w+\mu I)\alpha},
       \qquad f(x)=b+\sum_i\alpha_ik(x_i,x),

    with the means :math:`M_j` of the kernel columns of either class and their scatter :math:`N_w` within the
    classes. The quotient leaves length and bias open; those of the penalised least squares with the same
    direction,

    .. math:: \min_{b,\alpha}\tfrac12\lVert\hat y-b1-K\alpha\rVert^2+\tfrac\mu2\lVert\alpha\rVert^2,
       \qquad\hat y_i=N/N_1\text{ or }-N/N_2,

    are taken. All samples are retained, except those whose coefficient happens to be 0. With weights
    :math:`w_i` of the samples it is

    .. math:: \min_{b,\alpha}\tfrac12\sum_iw_i\Bigl(\hat y_i-b-\sum_jk_{ij}\alpha_j\Bigr)^2
       +\tfrac\mu2\sum_i\frac{\alpha_i^2}{w_i}

    with sums of weights for N, :math:`N_1` and :math:`N_2`: what :math:`w_i` copies of a sample would give,
    which share its coefficient. Weights of classes are factors of :math:`w_i`, but not of these sums.

    Of more than two classes, each has the discriminant against the rest, in units of half the distance of its
    targets, and the largest wins. All share what takes :math:`O(N^3)`: a class costs :math:`O(N^2)` more.

    Read more in the :ref:`user guide <guide-kfdaclassifier>` (``marginbook guide``).

    Parameters
    ----------
    reg : float, default=1.0
        :math:`\mu\ge0`. It is on the scale of the squared eigenvalues of K: what is small for 100 samples is
        smaller still for 1000. 0, only with ``route="least-squares"``, is the shortest :math:`\alpha` that
        fits best.
    kernel : {"linear", "poly", "rbf", "precomputed"}, (name, parameters) or callable, default="rbf"
        Parameters given as a pair win over `gamma`, `degree`, `coef0`. A precomputed matrix is symmetric and
        positive semidefinite. A callable gets two rows, each a vector, and returns a number (that of SVC gets
        two matrices).
    gamma : float, "scale", "auto" or None, default="scale"
        Of "rbf" and "poly"; "scale" is 1 / (n_features times the variance of all entries of X, where
        `sample_weight` counts), "auto" is 1 / n_features, None is 1 / n_features for "rbf" and 1 for "poly".
    degree : float, default=3
    coef0 : float, default=1.0
    route : {"auto", "least-squares", "fisher", "cg"}, default="auto"
        The same discriminant by one eigendecomposition of K, by the Cholesky factor of :math:`N_w+\mu I`, or
        by conjugate gradients. "fisher" is faster than "least-squares" for one `reg` and fails for a very
        small one. Both take :math:`O(N^3)`; "cg" takes :math:`O(N^2)` for each of some tens of iterations,
        more of them the smaller `reg` is. "auto" is "least-squares" up to 2,000 samples and where reg = 0,
        else "cg", and up to 4,000 samples "least-squares" after all where "cg" does not converge. Of several
        classes "fisher" factors the scatter of all samples, which leads to the same directions, in
        :math:`\tfrac43N^3` operations, where "least-squares" takes some 10 times as many; "auto" begins with
        it up to 2,000 samples. A linear kernel of fewer features than samples is solved by the singular
        values of the features, except by "fisher", and landmarks always.
    threshold : {"midpoint", "means"}, default="midpoint"
        What f is compared with: the midpoint of the two targets, as Harrison & Pasupa have it, or the
        midpoint of the means of f in either class, as in Fisher's discriminant. They are the same where the
        fit is perfect, and for classes of equal size without `class_weight`.
    n_components : int, default=None
        None is the exact kernel, which takes N x N numbers. A number m is an approximation by m samples drawn
        as landmarks (:class:`marginbook.kernels.landmarks.Landmarks`), in O(N m) memory: the discriminant of
        the kernel that their features have, for which ``residual_`` holds. Only landmarks have coefficients.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, times those of the samples. N/N1 and N/N2 weigh the classes equally already.
    random_state : int, RandomState or None, default=None
        Draws the landmarks.

    Attributes
    ----------
    classes_ : (K,) array
        Of two, the second is the positive one.
    class_count_ : (K,) array
        Samples of each class, or the sums of their weights.
    dual_coef_ : (N,) array, (N, K) for K > 2 classes
        :math:`\alpha`.
    coef_ : (1, d) array, (K, d) for K > 2 classes
        Only of a linear kernel: the weights of the features in the decision function.
    intercept_ : float, or (K,) array
        b.
    threshold_ : float, or (K,) array
    retained_ : (r,) array of int
        Samples with a coefficient.
    retained_fraction_ : float
    loo_decision_ : (N,) or (N, K) array, of "least-squares" with reg > 0, without weights or landmarks
        What the discriminant of the other samples, with the same `reg`, decides on each training sample; nan
        for one that is alone in its class.
    residual_ : float
        Of the linear equations, relative to their right-hand side, the worst of the classes; above 1e-4
        there is a ConvergenceWarning.
    gap_ : float
        Of "cg": how far the objective, of any class, is above its minimum at most, by the residual and
        :math:`\mu`; above 1e-8 of it there is a ConvergenceWarning.
    n_iter_ : int
        Of "cg".
    gamma_ : float
        Of "rbf" and "poly", as used.
    n_features_in_ : int

    See Also
    --------
    marginbook.kfda.peers.ridge_path.ridge_path : many ridges for the price of one.

    Examples
    --------
    >>> from marginbook.kfda import KFDAClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = KFDAClassifier(reg=0.1).fit(scale(X), y)
    >>> round(model.score(scale(X), y), 3), model.retained_fraction_, model.residual_ < 1e-10
    (0.989, 1.0, True)
    >>> int(((model.loo_decision_ > 0) != y).sum())  # errors on samples left out one by one
    13
    """

    _several: ClassVar[bool] = True
    reg: float = 1.0
    kernel: Kernel = "rbf"
    gamma: float | str | None = "scale"
    degree: float = 3
    coef0: float = 1.0
    route: str = "auto"
    threshold: str = "midpoint"
    n_components: int | None = None
    class_weight: ClassWeight = None
    random_state: Any = None

    def _validate_parameters(self) -> None:
        validate_choice("route", self.route, ROUTES)
        if not (is_number(self.reg) and self.reg >= 0):
            raise ValueError(f"reg must be a finite number >= 0, got {self.reg!r}")
        if self.route in ("fisher", "cg") and self.reg == 0:
            raise ValueError(
                f"route={self.route!r} needs reg > 0, got 0: the within-class scatter is singular; take "
                "route='least-squares'"
            )

    def _fit(self, rows: Rows) -> Self:
        if rows.codes is not None:
            return fit_classes(self, rows, rows.codes)
        root, yhat = rows.root, targets(rows.positive, rows.weights)
        if root is not None:
            yhat = root * yhat
        n, p = rows.X.shape
        direction = columns = None
        if self.n_components is not None:
            drawn = check_random_state(self.random_state)
            landmarks = Landmarks.fit(self._kernel, rows.X, self.n_components, drawn)
            found, weights = self._of_features(landmarks.transform(rows.X), yhat, root)
            coef, columns = landmarks.to_features @ weights, landmarks.places
        elif kernel_name(self._kernel) == "linear" and p < n and self.route != "fisher":
            X = rows.X.toarray() if sparse.issparse(rows.X) else rows.X
            found, direction = self._of_features(X, yhat, root)
            coef = found.coef if root is None else root * found.coef
        else:
            found = self._of_kernel(rows, yhat, root)
            coef = found.coef if root is None else root * found.coef
        bias, fitted = found.bias, found.fitted if root is None else found.fitted / root
        if self.class_weight is not None:
            # solved for targets that sum to 0 with the weights of the classes: an affine map leads to the
            # others
            wanted, given = targets(rows.positive, rows.own), targets(rows.positive, rows.weights)
            unit = np.ptp(wanted) / np.ptp(given)
            shift = wanted.min() - unit * given.min()
            coef, bias, fitted = unit * coef, unit * bias + shift, unit * fitted + shift
            direction = None if direction is None else unit * direction
        return self._keep(rows, coef, bias, fitted, columns, direction)

    def _of_features(
        self, F: np.ndarray, yhat: np.ndarray, root: np.ndarray | None
    ) -> tuple[RidgeDiscriminant, np.ndarray]:
        """Return the discriminant of the kernel ``F @ F.T`` of features, (N, r), and their weights."""
        if root is not None:
            F = F * root[:, np.newaxis]
        spectrum = KernelSpectrum.of_features(F, yhat, root)
        found = spectrum.solve(self.reg)
        weights = spectrum.feature_weights(self.reg, found.bias)
        column = 1.0 if root is None else root
        found = replace(found, fitted=found.bias * column + F @ weights)  # without cancellation
        if self.reg > 0 and root is None and self.n_components is None:
            self.loo_decision_ = leave_one_out(spectrum, self.reg, self.threshold)
        self._judge(found.residual)
        self.residual_ = found.residual
        return found, weights

    def _of_kernel(self, rows: Rows, yhat: np.ndarray, root: np.ndarray | None) -> RidgeDiscriminant:
        """Return the discriminant from the kernel matrix; of rows with weights, times their roots."""
        n = len(rows.positive)
        K = self._kernel_matrix(
            rows, n if self.route == "cg" or (self.route == "auto" and self.reg > 0) else 3 * n
        )
        if self.route == "fisher":
            found = fisher_discriminant(K, yhat, self.reg, root)
        elif self.route == "cg" or (self.route == "auto" and n > EIGEN and self.reg > 0):
            K, yhat = checked(K, yhat, root, symmetric=True)
            ended = ridge_by_iteration(K, yhat, self.reg, ones=root)
            value = float(ended.values[-1])
            if not ended.gap <= GAP * value and self.route == "auto" and n <= FALLBACK:
                found = self._of_spectrum(K, yhat, root)
            else:
                found = discriminant(K, yhat, ended.coef, ended.bias, self.reg, root)
                self.gap_, self.n_iter_ = ended.gap, max(1, ended.n_iter)
                if not ended.gap <= GAP * value:
                    self._warn_of_gap(ended.n_iter, ended.gap / value)
        else:
            found = self._of_spectrum(K, yhat, root)
        self._judge(found.residual)
        self.residual_ = found.residual
        return found

    def _of_spectrum(self, K: np.ndarray, yhat: np.ndarray, root: np.ndarray | None) -> RidgeDiscriminant:
        """Return the discriminant by the eigendecomposition of the kernel matrix `K`, (N, N)."""
        spectrum = KernelSpectrum.of(K, yhat, root)
        found = spectrum.solve(self.reg)
        if self.reg > 0 and root is None:
            self.loo_decision_ = leave_one_out(spectrum, self.reg, self.threshold)
        self._judge(spectrum.rounding(found), FITTED)
        return found

    def _kernel_matrix(self, rows: Rows, columns: int) -> np.ndarray:
        """Return the kernel matrix, times the roots of weights, where `columns` of n numbers have room."""
        self._reserve(len(rows.positive), columns)
        K = training_design(self._kernel, rows.X)[:, 1:]
        if kernel_name(self._kernel) == "precomputed":
            refuse_indefinite(rows.X, type(self).__name__)
        warn_of_scale(self._kernel, K)
        if (root := rows.root) is not None:
            K *= root[:, np.newaxis]
            K *= root
        return K

    def _warn_of_gap(self, n_iter: int, share: float) -> None:
        """Warn where conjugate gradients ended before their goal."""
        warnings.warn(
            f"after {n_iter} iteration{'' if n_iter == 1 else 's'} the objective is up to {share:.1e} of "
            f"itself above its minimum, wanted at most {GAP:.0e}; raise reg={self.reg!r}, or take "
            "route='least-squares'",
            ConvergenceWarning,
            stacklevel=user_level(),
        )

    def _judge(
        self, value: float, what: str = "rounding leaves the equations a relative residual of"
    ) -> None:
        """Warn where a number that should be rounding is more."""
        if not value <= RESIDUAL:
            warnings.warn(
                f"{what} {value:.1e}, wanted at most {RESIDUAL:.0e}; raise reg={self.reg!r}, or scale "
                f"the features",
                ConvergenceWarning,
                stacklevel=user_level(),
            )
