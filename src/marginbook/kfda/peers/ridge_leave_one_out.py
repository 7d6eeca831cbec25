r"""Leave-one-out decisions of the ridge discriminant, in closed form.

To leave sample i out takes its row and its column out of :math:`[1\ K]`. With :math:`G` the inverse of the
matrix of the normal equations, :math:`d` the row and e the unit vector of :math:`\alpha_i`, put

.. math:: q=1-d^\top Gd,\qquad g=e^\top Gd,\qquad p=e^\top Ge,\qquad s=(\hat y_i-f_i)/q .

Sherman and Morrison take the row out, a multiplier for :math:`\alpha_i=0` the column:

.. math:: f_i^{(-i)}=\hat y_i-s-\frac{g\,(\alpha_i-gs)}{pq+g^2} .

Without sample i the targets are others, but an affine map takes them to these, and the discriminant with
them, because the bias goes free: decisions in units of half the distance of the targets stay as they are.
Without the last term the column of sample i stays in, as where a regression leaves a row out.
"""

from __future__ import annotations

import numpy as np

from ...base.parameters import validate_choice
from ..estimators.parameters import THRESHOLDS
from .ridge_path import KernelSpectrum
from .ridge_solution import validate_ridge


def leave_one_out(spectrum: KernelSpectrum, mu: float, threshold: str = "midpoint") -> np.ndarray:
    """Return what the discriminant without sample i decides on it, for each i, in O(N^2).

    Parameters
    ----------
    spectrum : KernelSpectrum
        Of the N samples, without weights.
    mu : float
        The ridge, above 0.
    threshold : {"midpoint", "means"}
        As in `KFDAClassifier`, found again without sample i.

    Returns
    -------
    (N,) array
        Decision values in the units of ``KFDAClassifier.decision_function``: positive for the positive class.
        nan for a sample that is alone in its class: without it there are no two classes.

    Raises
    ------
    ValueError
        Unless `mu` > 0, and for an unknown threshold.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.0, 1, 2, 5, 6, 7])
    >>> spectrum = KernelSpectrum.of(np.exp(-np.abs(x[:, None] - x)), np.repeat([2.0, -2], 3))
    >>> leave_one_out(spectrum, 0.5).round(2).tolist()
    [0.22, 0.48, 0.19, -0.19, -0.48, -0.22]
    """
    validate_ridge(mu, above=True)
    validate_choice("threshold", threshold, THRESHOLDS)
    found, y = spectrum.solve(mu), spectrum.yhat
    n, values, vectors, ones = len(y), spectrum.values, spectrum.vectors, spectrum.ones
    inverse = 1 / (values**2 + mu)
    sums = vectors**2 @ np.column_stack([mu * inverse, values * inverse, inverse])
    u, kappa = (vectors @ np.column_stack([mu * inverse * ones, values * inverse * ones])).T
    # of features, what a row has outside of the vectors is where K is 0
    outside = (
        np.maximum(1 - np.einsum("ij,ij->i", vectors, vectors), 0.0) if spectrum.right is not None else 0.0
    )
    sums += np.multiply.outer(outside * np.ones(n), [1.0, 0.0, 1.0 / mu])
    total = float(mu * inverse @ ones**2)
    q = sums[:, 0] - u**2 / total
    g = sums[:, 1] - u * kappa / total
    p = sums[:, 2] + kappa**2 / total
    s = (y - found.fitted) / q
    without_row = found.coef - g * s
    left = y - s - g * without_row / (p * q + g**2)

    upper, lower = y.max(), y.min()
    middle, half = (upper + lower) / 2, (upper - lower) / 2
    if threshold == "means":
        # y'f over the others is that of the solution without i; with the sum of f it gives the class means
        both = float(y @ found.fitted) - found.fitted * s
        both -= (q * found.coef + found.fitted * g) * without_row / (p * q + g**2)
        mean = -y / (n - 1)
        cross = both - y * left - (n - 1) * mean**2
        square = float(y @ y) - y**2 - (n - 1) * mean**2
        with np.errstate(divide="ignore", invalid="ignore"):
            middle = mean + cross / square * (middle - mean)
    decisions = (left - middle) / half
    for members in (y > 0, y < 0):
        if members.sum() == 1:
            decisions[members] = np.nan
    return np.asarray(decisions)
