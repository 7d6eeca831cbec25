r"""Forward selection among many columns: the same choices, tried on a few columns and verified on all.

A term costs the product :math:`D^\top q` with all columns, :math:`2NM` operations. One after the other these
products wait for memory. Here a run of terms is chosen among the columns with the largest ratios, of which
alone the ratios are brought up to date; then one product :math:`D^\top[q_1,\dots,q_s]`, several times as fast
as s of them, gives the ratios of all columns at every step of the run. The run is kept up to the first step
at which another column was better, so the choices are those of the plain search. How long the next run is
goes by how long the last one held; where runs do not hold, terms are chosen one by one.

Of the columns only norms and products are kept, no orthogonal parts: beside D there is no matrix of its size.
"""

from __future__ import annotations

import numpy as np

from .ols_terms import OrthogonalTerms, Stop, Terms

EPS = float(np.finfo(float).eps)
#: columns for each among which a run is chosen, and its greatest length
SHARE, LONGEST = 8, 64
#: columns among which a run is chosen at least
LEAST = 256
#: length of the first run, of which so many must hold to be worth its product, and else terms one by one
SHORTEST, HELD, ALONE = 8, 4, 16
#: share of a squared norm up to which one orthogonalisation by known products is enough
ONCE = 0.05
#: columns that are multiplied one by one
FEW = 3
#: columns of which orthogonal parts are formed at a time
BLOCK = 512


class LargeSearch(Terms):
    """The state of a forward selection, exact between runs.

    Parameters
    ----------
    K : (N, M) array
        Kernel columns, contiguous.
    yhat : (N,) array
    ones : (N,) array
        The column of the intercept.
    dependence, tie, refresh : float
        As in :mod:`marginbook.kfda.peers.ols_forward_selection`.
    """

    def __init__(
        self,
        K: np.ndarray,
        yhat: np.ndarray,
        ones: np.ndarray,
        dependence: float,
        tie: float,
        refresh: float,
    ) -> None:
        self.K, self.yhat, self.ones, self.left = K, yhat, ones, yhat.copy()
        self.tie, self.refresh = tie, refresh
        self.energy = float(yhat @ yhat)
        self.norms = np.append(ones @ ones, np.einsum("ij,ij->j", K, K))  # squared, of the orthogonal parts
        self.formed = self.norms.copy()  # squared, when last computed from the parts themselves
        self.squares = self.norms.copy()
        self.least = dependence * self.norms
        self.inner = self.products(yhat)
        self.open = self.norms > 0
        self.order: list[int] = []
        self.projections: list[float] = []
        self.basis = np.empty((len(yhat), 64), order="F")
        self.factors = np.empty((64, K.shape[1] + 1))  # Q'D
        self.batch, self.alone = SHORTEST, ALONE

    def products(self, V: np.ndarray) -> np.ndarray:
        """Return ``D.T @ V``, the intercept's first."""
        if V.ndim > 1 and V.shape[1] < FEW:  # a product with few columns is slower than one by one
            return np.column_stack([self.products(v) for v in V.T])
        return np.concatenate([(self.ones @ V)[np.newaxis], (V.T @ self.K).T])

    def columns(self, places: np.ndarray) -> np.ndarray:
        """Return the columns `places` of D, (N, len)."""
        found = np.empty((len(self.yhat), len(places)), order="F")
        for to, place in enumerate(places):
            found[:, to] = self.ones if place == 0 else self.K[:, place - 1]
        return found

    def run(self, limit: int, goal: float, first: bool) -> Stop:
        """Choose until `limit` kernel columns, or until less than `goal` is unexplained; say what ended it.

        Parameters
        ----------
        limit : int
        goal : float
        first : bool
            Whether the intercept is taken before all else.
        """
        if first:
            self._try_run(np.array([0]), 0, 1, -1.0)
        while True:
            if self.unexplained() < goal:
                return "tolerance"
            room = limit - sum(column > 0 for column in self.order)
            if room <= 0:
                return "max_terms"
            self._settle_norms()
            places = np.flatnonzero(self.open)
            if not len(places):
                return "exhausted"
            ratios = self.inner[places] ** 2 / (self.norms[places] * self.energy)
            largest = float(ratios.max())
            if largest <= len(self.left) * EPS**2:
                return "exhausted"
            start = int(places[np.argmax(ratios >= (1 - self.tie) * largest)])
            if self.alone > 0:
                self.alone -= 1
                self._try_run(np.array([start]), start, 1, goal)
                continue
            most = max(LEAST, len(self.norms) // SHARE)
            if len(places) > most:
                places = places[np.argpartition(-ratios, most)[:most]]
            before = len(self.order)
            self._try_run(np.union1d(places, [start]), start, min(self.batch, room), goal)
            held = len(self.order) - before
            if held < HELD:
                self.batch, self.alone = SHORTEST, ALONE
            else:
                self.batch = min(2 * self.batch, LONGEST) if held >= self.batch else max(SHORTEST, held)

    def unexplained(self) -> float:
        """Return the share of the targets' energy that is left."""
        return float(self.left @ self.left) / self.energy

    def _settle_norms(self) -> None:
        """Form the parts of columns whose norms have lost two digits, and close those that are dependent."""
        stale = np.flatnonzero(self.open & (self.norms < self.refresh * self.formed))
        t = len(self.order)
        for start in range(0, len(stale), BLOCK):
            some = stale[start : start + BLOCK]
            parts = self.columns(some) - self.basis[:, :t] @ self.factors[:t, some]
            self.norms[some] = self.formed[some] = np.einsum("ij,ij->j", parts, parts)
            self.inner[some] = parts.T @ self.left
        self.open &= self.norms > self.least

    def _try_run(self, pool: np.ndarray, start: int, length: int, goal: float) -> None:
        """Choose up to `length` columns of `pool`, first `start`, and keep those that were right."""
        t = len(self.order)
        self._make_room(t + length)
        D = self.columns(pool)
        norms, inner, still_open = self.norms[pool], self.inner[pool], self.open[pool]
        formed, left = self.formed[pool], self.left
        local = np.empty((length, len(pool)))
        chosen: list[int] = []
        own: list[np.ndarray] = []
        projections: list[float] = []
        place = int(np.searchsorted(pool, start))
        while len(chosen) < length:
            k = len(chosen)
            if k:
                stale = still_open & (norms < self.refresh**2 * formed)
                if stale.any() or not still_open.any() or float(left @ left) / self.energy < goal:
                    break
                ratios = np.where(still_open, inner**2 / (np.maximum(norms, 1e-300) * self.energy), -1.0)
                if ratios.max() <= len(left) * EPS**2:
                    break
                place = int(np.argmax(ratios >= (1 - self.tie) * ratios.max()))
            column = int(pool[place])
            factors = np.append(self.factors[:t, column], local[:k, place])
            part = D[:, place] - self.basis[:, : t + k] @ factors
            norm = float(np.linalg.norm(part))
            if norm**2 < ONCE * self.squares[column]:
                again = self.basis[:, : t + k].T @ part
                part -= self.basis[:, : t + k] @ again
                factors += again
                norm = float(np.linalg.norm(part))
            if norm**2 <= self.least[column]:
                if k == 0:
                    self.open[column], self.norms[column] = False, 0.0
                break
            direction = part / norm
            projections.append(float(direction @ left))
            left = left - projections[-1] * direction
            self.basis[:, t + k] = direction
            local[k] = D.T @ direction
            norms = np.maximum(norms - local[k] ** 2, 0.0)
            inner = inner - projections[-1] * local[k]
            still_open[place] = False
            chosen.append(column)
            own.append(np.append(factors, norm))
        if chosen:
            self._keep_right(chosen, own, projections, left)

    def _keep_right(
        self, chosen: list[int], own: list[np.ndarray], projections: list[float], left: np.ndarray
    ) -> None:
        """Take the chosen columns up to the first that was not the best of all."""
        t, s = len(self.order), len(chosen)
        # now and then the products with the residual are formed anew, as differences they lose digits
        anew = s > 1 or t % SHORTEST == 0
        V = np.column_stack([self.basis[:, t : t + s], left]) if anew else self.basis[:, t : t + s]
        products = self.products(V)
        added = np.ascontiguousarray(products[:, :s].T)
        held = s
        for k in range(s):
            if k:
                stale = self.open & (self.norms < self.refresh**2 * self.formed)
                ratios = np.where(self.open, self.inner**2 / np.maximum(self.norms, 1e-300), -1.0)
                best = int(np.argmax(ratios >= (1 - self.tie) * ratios.max()))
                if stale.any() or best != chosen[k]:
                    held = k
                    break
            self.norms = np.maximum(self.norms - added[k] ** 2, 0.0)
            self.inner = self.inner - projections[k] * added[k]
            self.open[chosen[k]] = False
        self.factors[t : t + held] = added[:held]
        for k in range(held):
            self.factors[: t + k + 1, chosen[k]] = own[k]
            self.left = self.left - projections[k] * self.basis[:, t + k]
        if held == s and anew:
            self.inner = products[:, s].copy()
        self.order += chosen[:held]
        self.projections += projections[:held]

    def _make_room(self, terms: int) -> None:
        """Let basis and products hold `terms`."""
        while terms > self.basis.shape[1]:
            self.basis = np.asfortranarray(np.concatenate([self.basis, np.empty_like(self.basis)], axis=1))
            self.factors = np.concatenate([self.factors, np.empty_like(self.factors)])

    def result(self, stopped: Stop) -> OrthogonalTerms:
        """Return the terms with the certificate of their solution."""
        self._settle_norms()
        return self._ended(self.columns(np.array(self.order, dtype=int)), self.K.shape[1] + 1, stopped)
