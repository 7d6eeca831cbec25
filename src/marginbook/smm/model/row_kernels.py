r"""Kernels between matrices that compare rows: :math:`K(X,X')=h(X)h(X')^\top\in\mathbb R^{d_1\times d_1}`.

Section 4 replaces every row of X by its image in a feature space, so that entry (a, b) of :math:`K(X,X')`
is a scalar kernel between row a of X and row b of X'. The kernels are named as in
:mod:`marginbook.kernels`, with one difference in ``"poly"``:

* ``("linear", {})``: :math:`K(X,X')=XX'^\top`
* ``("poly", {"degree": m, "gamma": g, "coef0": c})``: :math:`K(X,X')=(g\,XX'^\top+cI)^{\circ m}`, powers of
  the entries. The constant is added on the diagonal only, as the draft prints it: a kernel on pairs of a
  row and its number, :math:`k((x,a),(z,b))=(g\,x^\top z+c\,1\{a=b\})^m`. It is positive semidefinite for
  integers m >= 1 and g, c >= 0: an entrywise power of a sum of two Gram matrices.
* ``("rbf", {"gamma": g})``: :math:`K(X,X')_{ab}=\exp(-g\lVert x_a-x'_b\rVert^2)`, and :math:`g=1/(2\sigma^2)`
* a callable of two rows, which must be positive semidefinite itself

For the rows of n matrices all these values make one matrix, :math:`\mathcal K\in\mathbb R^{nd_1\times nd_1}`,
with the block :math:`K(X_i,X_j)` in place (i, j). A function K into the :math:`d_1\times d_1` matrices has a
feature map h if and only if :math:`\mathcal K` is symmetric and positive semidefinite for all matrices.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...base.interruptible import interruptible
from ...kernels import Kernel, KernelOverflow, gram, parse_kernel

#: numbers that one piece of a product with a Gram matrix may take
PIECE = 4_000_000
#: rows up to which their Gram matrix is made at once
WHOLE = 1000
#: eigenvalue, relative to the largest, below which a matrix counts as indefinite
INDEFINITE = 1e-8


def as_rows(X: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return all rows of the matrices, matrix by matrix, and the number that each row has in its matrix.

    Parameters
    ----------
    X : (n, d1, d2) array

    Returns
    -------
    rows : (n * d1, d2) array
    places : (n * d1,) array of int
        0, ..., d1 - 1, again and again.

    Raises
    ------
    ValueError
        If X is not three-dimensional, or has no entries, or an entry is not finite.
    """
    matrices = np.asarray(X, dtype=float)
    if matrices.ndim != 3 or matrices.size == 0:
        raise ValueError(
            f"matrices must come as an (n, d1, d2) array that is not empty, got shape {matrices.shape}; "
            "reshape the data"
        )
    if not np.isfinite(matrices).all():
        raise ValueError("matrices must have finite entries, got NaN or infinity; impute or drop them")
    n, d1, d2 = matrices.shape
    return matrices.reshape(n * d1, d2), np.tile(np.arange(d1), n)


def validate_row_kernel(kernel: Kernel) -> None:
    r"""Raise an error unless `kernel` is positive semidefinite on rows by its parameters.

    Raises
    ------
    ValueError
        For an unknown name or parameter; for ``"precomputed"``, which knows no rows; and for ``"poly"``
        unless the degree is an integer >= 1 and ``coef0`` >= 0.

    Examples
    --------
    >>> validate_row_kernel(("poly", {"degree": 2, "coef0": -1.0}))
    Traceback (most recent call last):
        ...
    ValueError: coef0 of a polynomial kernel on rows must be >= 0, got -1.0; else it is not semidefinite
    """
    name, parameters = parse_kernel(kernel)
    if name == "precomputed":
        raise ValueError("a kernel on rows cannot be 'precomputed'; give a name or a callable of two rows")
    if name != "poly":
        return
    degree, coef0 = parameters["degree"], parameters["coef0"]
    if degree != int(degree) or degree < 1:
        raise ValueError(
            f"degree of a polynomial kernel on rows must be an integer >= 1, got {degree!r}; "
            "else it is not semidefinite"
        )
    if coef0 < 0:
        raise ValueError(
            f"coef0 of a polynomial kernel on rows must be >= 0, got {coef0!r}; else it is not semidefinite"
        )


def row_values(
    kernel: Kernel,
    rows: np.ndarray,
    places: np.ndarray,
    other_rows: np.ndarray | None = None,
    other_places: np.ndarray | None = None,
) -> np.ndarray:
    r"""Return the kernel's values between rows: :math:`[k((x_a,p_a),(z_b,q_b))]`.

    Parameters
    ----------
    kernel : str, (str, dict) or callable
    rows : (N, d2) array
    places : (N,) array of int
        The number of each row in its matrix; only ``"poly"`` looks at it.
    other_rows, other_places : (M, d2) array, (M,) array of int, optional
        By default the same rows, and the result is exactly symmetric.

    Returns
    -------
    (N, M) array

    Raises
    ------
    KernelOverflow
        If a value is infinite or undefined.
    """
    name, parameters = parse_kernel(kernel)
    if other_rows is None and len(rows) > WHOLE:
        return _in_stripes(kernel, rows, places)
    if name != "poly":
        return gram(kernel, rows, other_rows)
    if other_rows is None or other_places is None:
        other_rows, other_places = rows, places
    gamma = 1.0 / rows.shape[1] if parameters["gamma"] is None else parameters["gamma"]
    values = gram("linear", rows, None if other_rows is rows else other_rows)
    values *= gamma
    if parameters["coef0"] != 0:
        for place in np.unique(places):
            here = np.ix_(np.flatnonzero(places == place), np.flatnonzero(other_places == place))
            values[here] += parameters["coef0"]
    with np.errstate(over="ignore", invalid="ignore"):
        np.power(values, int(parameters["degree"]), out=values)
    if not np.isfinite(values).all():
        raise KernelOverflow(
            f"kernel 'poly' with {parameters} is infinite or undefined on these rows; scale the features"
        )
    return values


def _in_stripes(kernel: Kernel, rows: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the symmetric matrix of values, made in stripes: no second array of its size is needed."""
    n = len(rows)
    values = np.empty((n, n))
    for first in range(0, n, WHOLE):
        last = min(n, first + WHOLE)
        piece = row_values(kernel, rows[first:last], places[first:last], rows[first:], places[first:])
        values[first:last, first:] = piece
        values[first:, first:last] = piece.T
        values[first:last, first:last] = row_values(kernel, rows[first:last], places[first:last])
    return values


def row_diagonal(kernel: Kernel, rows: np.ndarray) -> np.ndarray:
    """Return the kernel's values between each row and itself, (N,) array."""
    name, parameters = parse_kernel(kernel)
    if name == "rbf":
        return np.ones(len(rows))
    if callable(name):
        return np.array([float(name(row, row)) for row in rows])
    squares = np.einsum("ij,ij->i", rows, rows)
    if name == "linear":
        return squares
    gamma = 1.0 / rows.shape[1] if parameters["gamma"] is None else parameters["gamma"]
    return np.asarray((gamma * squares + parameters["coef0"]) ** int(parameters["degree"]))


def row_gram(kernel: Kernel, X: ArrayLike, Z: ArrayLike | None = None) -> np.ndarray:
    r"""Return :math:`\mathcal K`: the kernel between all rows of the matrices X and all rows of Z.

    Parameters
    ----------
    kernel : str, (str, dict) or callable
        See the module's docstring.
    X : (n, d1, d2) array
    Z : (m, d1, d2) array, optional
        `X` by default, and the result is then exactly symmetric, and positive semidefinite up to rounding.

    Returns
    -------
    (n * d1, m * d1) array
        Rows ``i * d1`` to ``(i + 1) * d1`` and columns ``j * d1`` to ``(j + 1) * d1`` hold
        :math:`K(X_i,Z_j)`.

    Raises
    ------
    ValueError
        If the kernel is not semidefinite by its parameters, or the matrices of X and Z differ in shape.
    KernelOverflow
        If a value is infinite or undefined.

    Examples
    --------
    >>> X = np.array([[[1.0, 2.0], [3.0, 4.0]]])
    >>> row_gram(("poly", {"degree": 2, "gamma": 1.0, "coef0": 1.0}), X).tolist()
    [[36.0, 121.0], [121.0, 676.0]]
    """
    validate_row_kernel(kernel)
    rows, places = as_rows(X)
    if Z is None:
        return row_values(kernel, rows, places)
    others, other_places = as_rows(Z)
    validate_same_shape(np.shape(X)[1:], np.shape(Z)[1:])
    return row_values(kernel, rows, places, others, other_places)


def row_gram_times(
    kernel: Kernel,
    rows: np.ndarray,
    places: np.ndarray,
    other_rows: np.ndarray,
    other_places: np.ndarray,
    coefficients: np.ndarray,
) -> np.ndarray:
    """Return the (N, M) Gram matrix between rows times an (M, r) array, piece by piece, never whole.

    Others whose coefficients are all zero are left out.
    """
    used = np.flatnonzero(np.any(coefficients != 0, axis=1))
    product = np.zeros((len(rows), coefficients.shape[1]))
    if len(used) == 0:
        return product
    others, their_places, factors = other_rows[used], other_places[used], coefficients[used]
    step = max(1, PIECE // len(used))
    for first in range(0, len(rows), step):
        piece = slice(first, first + step)
        values = row_values(kernel, rows[piece], places[piece], others, their_places)
        product[piece] = values @ factors
    return product


def validate_same_shape(wanted: tuple[int, ...], got: tuple[int, ...]) -> None:
    """Raise an error unless both kinds of matrices have the same shape."""
    if tuple(wanted) != tuple(got):
        raise ValueError(
            f"matrices of {got[0]} x {got[1]} cannot be compared with matrices of {wanted[0]} x {wanted[1]}; "
            "bring them to one shape"
        )


def least_relative_eigenvalue(values: np.ndarray) -> float:
    r"""Return the smallest eigenvalue of a symmetric matrix, relative to its largest absolute one.

    Raises
    ------
    ValueError
        If the matrix is not square and symmetric up to rounding.
    """
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise ValueError(f"a Gram matrix must be square, got shape {values.shape}; compare X with itself")
    largest = float(np.abs(values).max(initial=0.0))
    gap = float(np.abs(values - values.T).max(initial=0.0))
    if gap > INDEFINITE * largest:
        raise ValueError(
            f"a Gram matrix must be symmetric, got entries that differ by {gap:.1e}; check the kernel"
        )
    if largest == 0:
        return 0.0
    spectrum = interruptible(np.linalg.eigvalsh, values)
    return float(spectrum[0] / np.abs(spectrum).max())


def validate_semidefinite(values: np.ndarray, kernel: Any = "callable") -> None:
    """Raise an error if a Gram matrix has a negative eigenvalue that rounding does not explain."""
    smallest = least_relative_eigenvalue(values)
    if smallest < -INDEFINITE:
        raise ValueError(
            f"kernel {kernel!r} has an eigenvalue of {smallest:.1e} times its largest on these rows; "
            "a kernel with features has none below 0: choose another"
        )
