"""What LDMClassifier asks of rows and of a Gram matrix before it solves anything."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError
from scipy.sparse.linalg import ArpackError, eigsh

from ...base.memory import require_memory
from ...kernels import Kernel, KernelOverflow, gram, parse_kernel
from ...kernels.decomposition import cholesky, smallest_eigenvalue
from ...kernels.validation import validate_square, validate_symmetric

#: most negative eigenvalue that passes for rounding, as a share of the trace
NEGATIVE = 1e-7
#: rows up to which a Cholesky factor, at the price of m/3 products, looks for a negative eigenvalue
FEW = 2000
#: matrices of the size of the Gram matrix that a solver that factorises it holds at once
MATRICES = 3
#: what LDMClassifier has for more rows
INSTEAD = "use solver='auto' with a kernel given by its name and a finite C, or kernel='linear'"


def finite_rows(X: Any, constant: bool) -> Any:
    """Return rows `X`, (m, d), for the linear kernel, with a last feature that is 1 everywhere if `constant`.

    Raises
    ------
    KernelOverflow
        See :func:`validate_size`.
    """
    validate_size(X)
    if not constant:
        return X
    ones = np.ones((X.shape[0], 1))
    return sparse.csr_matrix(sparse.hstack([X, ones])) if sparse.issparse(X) else np.hstack([X, ones])


def validate_size(X: Any) -> None:
    """Raise KernelOverflow if squared margins, fourth powers of the features, would be infinite."""
    largest = float(np.abs(X.data if sparse.issparse(X) else X).max(initial=0.0))
    m, p = X.shape
    limit = (np.finfo(float).max / (m * p)) ** 0.25 / m
    if largest > limit:
        raise KernelOverflow(
            f"features of up to {largest:.1e}, above {limit:.1e} for {m} row{'' if m == 1 else 's'}, give "
            "squared margins beyond double precision; scale the features"
        )


def training_gram(kernel: Kernel, X: Any, fit_intercept: bool) -> np.ndarray:
    """Return the (m, m) Gram matrix of rows `X`, plus 1 with an intercept, checked as a kernel must be.

    Parameters
    ----------
    kernel : Kernel
    X : (m, d) array or CSR matrix; for "precomputed" the (m, m) matrix itself
    fit_intercept : bool

    Raises
    ------
    ValueError
        If it is not square, not symmetric, or has an eigenvalue below zero, the last two beyond rounding.
    MemoryError
        For more rows than the machine has memory for.
    """
    name, _ = parse_kernel(kernel)
    validate_memory(X.shape[0])
    G = gram(kernel, X)
    if name == "precomputed":
        validate_square(G)
        validate_symmetric(G)
        G = (G + G.T) / 2
    if not always_positive(kernel):
        validate_positive(G)
    return G + 1.0 if fit_intercept else G


def refuse_negative(G: np.ndarray) -> None:
    """As :func:`validate_positive`, from products alone for more than 2000 rows.

    A Lanczos iteration that does not converge within 100 of them proves nothing, and passes.
    """
    if len(G) <= FEW:
        validate_positive(G)
        return
    start = np.random.default_rng(0).standard_normal(len(G))
    try:
        (least,) = eigsh(G, 1, which="SA", tol=1e-2, v0=start, maxiter=8, return_eigenvectors=False)
    except ArpackError:
        return
    if least < -NEGATIVE * float(np.trace(np.abs(G))):
        raise ValueError(_negative(float(least)))


def validate_positive(G: np.ndarray) -> None:
    """Raise ValueError if the symmetric matrix `G`, (m, m), has an eigenvalue below zero, beyond rounding."""
    allowed = NEGATIVE * float(np.trace(np.abs(G)))
    shifted = G.copy()
    shifted[np.diag_indices_from(shifted)] += allowed or np.finfo(float).tiny
    try:  # ten times cheaper than the eigenvalues
        cholesky(shifted)
    except LinAlgError:
        smallest = smallest_eigenvalue(G)
        if smallest < -allowed:
            raise ValueError(_negative(smallest)) from None


def _negative(smallest: float) -> str:
    return (
        f"the kernel is not positive semidefinite: its Gram matrix has the eigenvalue {smallest:.3g}, so the "
        "problem is not convex; choose another kernel, or set negative eigenvalues to zero"
    )


def always_positive(kernel: Kernel) -> bool:
    """Return whether every Gram matrix of `kernel` is positive semidefinite, whatever the rows are."""
    name, parameters = parse_kernel(kernel)
    return name in ("linear", "rbf") or (
        name == "poly" and parameters["coef0"] >= 0 and float(parameters["degree"]).is_integer()
    )


def validate_memory(m: int, instead: str = INSTEAD) -> None:
    """Raise MemoryError where the matrices of a solver that factorises one of `m` rows do not fit."""
    require_memory(f"matrices between {m} rows need", MATRICES * float(m) * m, instead)
