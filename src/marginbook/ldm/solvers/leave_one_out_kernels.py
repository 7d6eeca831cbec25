r"""The kernels of the m machines without one example, from one matrix.

With :math:`c'=4\lambda_1/(m-1)` the machine trained without example i minimises

.. math:: F_{-i}(w)=\tfrac12w^\top Q_{-i}w-\lambda_2z_{-i}^\top w+C\sum_{j\ne i}(1-\gamma_j)_+,\qquad
   Q_{-i}=I+c'X\bigl(I-e_ie_i^\top-\tfrac1{m-1}y_{-i}y_{-i}^\top\bigr)X^\top,

where :math:`z_{-i}=Xy_{-i}/(m-1)` and :math:`y_{-i}` are the labels with entry i set to zero. The whitened
kernel :math:`W_i=X^\top Q_{-i}^{-1}X` differs from one matrix, :math:`M'=G(I+c'G)^{-1}`, by rank two.
"""

from __future__ import annotations

import numpy as np

from ...kernels.decomposition import eigh, product

Eigen = tuple[np.ndarray, np.ndarray]


class LeftOutKernels:
    r"""The matrices :math:`W_i=X^\top Q_{-i}^{-1}X` for all i, from an eigendecomposition of G.

    With :math:`U_i=[e_i,\,y_{-i}/\sqrt{m-1}]`, whose columns are orthonormal, and :math:`N=(I+c'G)^{-1}`:

    .. math:: W_i=M'+c'M'U_i(U_i^\top NU_i)^{-1}U_i^\top M' .

    Parameters
    ----------
    gram : (m, m) array
    y : (m,) array of -1 and +1
    lambda1 : float
    eigen : tuple of arrays, optional
        Eigenvalues and eigenvectors of `gram`, where they are at hand.

    Attributes
    ----------
    c : float
        :math:`c'`.
    whitened : (m, m) array
        :math:`M'`.

    Raises
    ------
    ValueError
        With fewer than two examples.
    """

    def __init__(self, gram: np.ndarray, y: np.ndarray, lambda1: float, eigen: Eigen | None = None) -> None:
        m = len(y)
        if m < 2:
            raise ValueError(f"leave-one-out needs at least 2 examples, got {m}; add examples")
        values, vectors = eigh(gram) if eigen is None else eigen
        values = np.maximum(values, 0.0)
        self.y, self.c = np.asarray(y, dtype=float), 4.0 * lambda1 / (m - 1)
        half = vectors * np.sqrt(values / (1.0 + self.c * values))
        self.whitened = product(half, half.T)
        self.diagonal, self.along_y = np.diagonal(self.whitened), self.whitened @ self.y
        # U'NU for every i. As I - c'U'M'U it would cancel where lambda1 is large
        damped = 1.0 / (1.0 + self.c * values)
        n_ee, n_ey = (vectors**2) @ damped, vectors @ (damped * (vectors.T @ self.y))
        n11 = n_ee
        n12 = (n_ey - self.y * n_ee) / np.sqrt(m - 1)
        n22 = (self.y @ n_ey - 2 * self.y * n_ey + n_ee) / (m - 1)
        # positive; if lambda1 is so large that rounding leaves nothing of it, no bound may be finite
        determinant = n11 * n22 - n12**2
        determinant[determinant <= 0] = np.nan
        self._inverse = np.array([[n22, -n12], [-n12, n11]]) / determinant

    def correction(self, along_e: np.ndarray, along_y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        r"""Return :math:`t_i=c'U_i(U_i^\top NU_i)^{-1}U_i^\top M'q_i`, with which :math:`W_iq_i=M'(q_i+t_i)`.

        Parameters
        ----------
        along_e, along_y : (m,) arrays
            :math:`e_i^\top M'q_i` and :math:`y_{-i}^\top M'q_i` for every i.

        Returns
        -------
        on_e, on_y : (m,) arrays
            The weights of :math:`e_i` and :math:`y_{-i}`.
        """
        root = np.sqrt(len(self.y) - 1)
        on_e = self._inverse[0, 0] * along_e + self._inverse[0, 1] * along_y / root
        on_y = self._inverse[1, 0] * along_e + self._inverse[1, 1] * along_y / root
        return self.c * on_e, self.c * on_y / root

    def matrix(self, i: int) -> np.ndarray:
        """Return W_i, of shape (m, m); row and column i belong to the example that was left out."""
        y_left = self.y.copy()
        y_left[i] = 0.0
        U = np.column_stack([self.diagonal * 0, y_left / np.sqrt(len(y_left) - 1)])
        U[i, 0] = 1.0
        MU = self.whitened @ U
        update: np.ndarray = self.whitened + self.c * MU @ self._inverse[:, :, i] @ MU.T
        return update
