r"""The linear LDM on data larger than memory: blocks of rows that are cycled from disk.

The rows are dealt at random into binary blocks, once. :func:`solve_blocks` then takes a block at a time and
does several passes of dual coordinate descent in it before the next is read (Yu, Hsieh, Chang & Lin, 2010):
the objective is that of all the data, and w, t and the multipliers stay in memory.
:func:`averaged_sgd_blocks` is Algorithm 2 with both examples of a pair drawn from the block at hand.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import LinearOperator

from .asgd import AveragedSGD, SGDSolution, initial_step
from .files import read_libsvm, scan_libsvm
from .linear import visit
from .linear_problem import Certificate, LinearSolution, gap_scale, linear_objective, squared_norms
from .objective import check_parameters

_FORMATS: dict[str, np.dtype[Any]] = {
    "values": np.dtype("<f8"),
    "columns": np.dtype("<i4"),
    "lengths": np.dtype("<i4"),
    "labels": np.dtype("<f8"),
    "rows": np.dtype("<i8"),
}


class DiskRows(LinearOperator):
    """Rows of a sparse matrix in blocks on disk; ``X @ w`` and ``X.T @ v`` read all of them.

    Made by :meth:`from_libsvm`; used as a context, it removes its files at the end.

    Attributes
    ----------
    shape : (m, d)
    y : (m,) array of -1.0 and +1.0
        In the order of the blocks.
    rows : (m,) array of int
        Numbers of the rows in the file that the blocks were made from.
    bounds : (n_blocks + 1,) array of int
        First row of each block, and m.
    """

    def __init__(self, directory: Path, shape: tuple[int, int], n_blocks: int) -> None:
        super().__init__(np.dtype(np.float64), shape)
        self.directory, self.n_blocks = directory, n_blocks
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        sizes = [self._array(k, "rows").size for k in range(n_blocks)]
        self.bounds = np.concatenate([[0], np.cumsum(sizes)])
        self.y = np.concatenate([self._array(k, "labels") for k in range(n_blocks)])
        self.rows = np.concatenate([self._array(k, "rows") for k in range(n_blocks)])

    @classmethod
    def from_libsvm(
        cls,
        path: str | Path,
        *,
        block_rows: int = 50_000,
        n_features: int | None = None,
        zero_based: bool = False,
        directory: str | Path | None = None,
        random_state: int | np.random.Generator | None = 0,
    ) -> DiskRows:
        """Deal the rows of a file in LIBSVM's format into blocks.

        Parameters
        ----------
        path : path
            Plain, .gz or .bz2; read twice. Of its two labels the larger becomes +1.
        block_rows : int
            Rows of a block, about.
        n_features : int, optional
            Number of columns; the largest index of the file if not given.
        zero_based : bool
            Whether indices start from 0.
        directory : path, optional
            Where the blocks go, 12 bytes a non-zero; a temporary directory if not given.
        random_state : int, Generator or None
            Deals the rows.

        Raises
        ------
        ValueError
            If a line is malformed, or the file does not hold two labels.
        """
        if block_rows < 1:
            raise ValueError(f"block_rows must be at least 1, got {block_rows}")
        size = scan_libsvm(path, zero_based=zero_based)
        if len(size.labels) != 2:
            raise ValueError(f"{path} must hold two labels, got {list(size.labels[:5])}; select two classes")
        width = size.n_features if n_features is None else n_features
        temporary = tempfile.TemporaryDirectory() if directory is None else None
        target = Path(temporary.name if temporary else str(directory))
        target.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(random_state)
        n_blocks, done = -(-size.n_rows // block_rows), 0
        for k in range(n_blocks):
            for name in _FORMATS:
                (target / f"{k}.{name}").write_bytes(b"")
        for X, y in read_libsvm(path, n_features=width, zero_based=zero_based, chunk_rows=block_rows):
            block = rng.integers(0, n_blocks, len(y))
            for k in range(n_blocks):
                _append(target, k, X, np.where(y == size.labels[1], 1.0, -1.0), block == k, done)
            done += len(y)
        made = cls(target, (size.n_rows, width), n_blocks)
        made._temporary = temporary
        return made

    def __enter__(self) -> DiskRows:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for k in range(self.n_blocks):
            for name in _FORMATS:
                (self.directory / f"{k}.{name}").unlink(missing_ok=True)
        if self._temporary is not None:
            self._temporary.cleanup()

    def block(self, k: int) -> csr_matrix:
        """Return block k, a CSR matrix with d columns."""
        lengths = self._array(k, "lengths")
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        shape = (lengths.size, self.shape[1])
        return csr_matrix((self._array(k, "values"), self._array(k, "columns"), indptr), shape)

    def blocks(self, order: np.ndarray | range | None = None) -> Iterator[tuple[slice, csr_matrix]]:
        """Yield the rows and the matrix of each block."""
        for k in range(self.n_blocks) if order is None else order:
            if self.bounds[k + 1] > self.bounds[k]:
                yield slice(int(self.bounds[k]), int(self.bounds[k + 1])), self.block(int(k))

    def _array(self, k: int, name: str) -> np.ndarray:
        return np.fromfile(self.directory / f"{k}.{name}", dtype=_FORMATS[name])

    def _matvec(self, w: np.ndarray) -> np.ndarray:
        result = np.empty(self.shape[0])
        for part, X in self.blocks():
            result[part] = X @ np.ravel(w)
        return result

    def _rmatvec(self, v: np.ndarray) -> np.ndarray:
        result = np.zeros(self.shape[1])
        for part, X in self.blocks():
            result += X.T @ np.ravel(v)[part]
        return result


def _append(directory: Path, k: int, X: csr_matrix, y: np.ndarray, chosen: np.ndarray, first: int) -> None:
    part = X[chosen]
    arrays = {
        "values": part.data,
        "columns": part.indices,
        "lengths": np.diff(part.indptr),
        "labels": y[chosen],
        "rows": first + np.flatnonzero(chosen),
    }
    for name, array in arrays.items():
        with (directory / f"{k}.{name}").open("ab") as file:
            file.write(array.astype(_FORMATS[name]).tobytes())


def solve_blocks(
    X: DiskRows,
    lambda1: float,
    lambda2: float,
    C: float,
    *,
    tol: float = 1e-6,
    max_iter: int = 200,
    inner: int = 4,
    random_state: int | np.random.Generator | None = 0,
) -> LinearSolution:
    """Solve (14) exactly, one block in memory at a time.

    Parameters
    ----------
    X : DiskRows
    lambda1, lambda2 : float
        At least 0.
    C : float
        Positive.
    tol : float
        Stop when ``dual_gap <= tol * max(|objective|, min(1, m C))``.
    max_iter : int
        Most times that all blocks are read.
    inner : int
        Passes over a block before the next is read.
    random_state : int, Generator or None
        Orders blocks and rows.

    Returns
    -------
    LinearSolution
        Its multipliers in the order of the file.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """
    check_parameters(lambda1, lambda2, C)
    m = X.shape[0]
    rng = np.random.default_rng(random_state)
    certificate = Certificate(X, X.y, lambda1, lambda2, C)
    squares = np.empty(m)
    for part, rows in X.blocks():
        squares[part] = squared_norms(rows)
    beta, delta, shares, t = np.zeros(m), np.zeros(m), np.zeros(m), 0.0
    w, stiffness = certificate.b * certificate.p, certificate.stiffness()
    path: list[tuple[int, float, float, float]] = []
    sweeps, scale = 0, gap_scale(0.0, C, m)
    while sweeps < max_iter:
        for part, rows in X.blocks(rng.permutation(X.n_blocks)):
            first = np.empty(0)
            rest = np.zeros(rows.shape[0], dtype=np.int32)
            for turn in range(inner):
                active = np.flatnonzero(rest == 0).astype(np.int32)
                t = visit(
                    rows, X.y[part], squares[part], active, rng,
                    w, beta[part], delta[part], shares[part], rest, 0.1 * tol * scale / m,
                    t, stiffness, certificate.twice_a, certificate.b, C,
                )  # fmt: skip
                if turn == 0:
                    first = shares[part].copy()
            shares[part] = first  # later turns know this block better than the rest of the data
        sweeps += 1
        scale = gap_scale(certificate.bound(w, beta, delta), C, m)
        if shares.sum() <= tol * scale:
            objective, gap = certificate.gap(w, beta, delta)
            if gap <= tol * gap_scale(objective, C, m):
                break
        t += stiffness * float(delta.sum())
    found = certificate.solution(beta, delta, sweeps, tol, path)
    order = np.argsort(X.rows)
    return found.taken(order)


def averaged_sgd_blocks(
    X: DiskRows,
    lambda1: float,
    lambda2: float,
    C: float,
    *,
    n_passes: int = 5,
    gamma0: float | None = None,
    average_from: int | None = None,
    random_state: int | np.random.Generator | None = 0,
) -> SGDSolution:
    """Run Algorithm 2 block by block, as many steps in each as it has rows.

    Parameters
    ----------
    X : DiskRows
    lambda1, lambda2, C, n_passes, average_from, random_state
        As in :func:`marginbook.ldm.asgd.averaged_sgd`.
    gamma0 : float, optional
        First step size; chosen on the first block if not given.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """
    check_parameters(lambda1, lambda2, C)
    m, d = X.shape
    rng = np.random.default_rng(random_state)
    if gamma0 is None:
        part, rows = next(X.blocks())
        gamma0 = initial_step(rows, X.y[part], lambda1, lambda2, C, n_samples=m, random_state=rng)
    state = AveragedSGD(
        d, m, lambda1, lambda2, C, gamma0=gamma0, average_from=average_from, random_state=rng
    )  # fmt: skip
    for _ in range(n_passes):
        for part, rows in X.blocks(rng.permutation(X.n_blocks)):
            state.partial_fit(rows, X.y[part])
    objective = linear_objective(X, X.y, state.coef, lambda1, lambda2, C)
    return SGDSolution(state.coef, state.last, objective, gamma0, state.n_steps)
