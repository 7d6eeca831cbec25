r"""One pass of dual coordinate descent for the linear LDM, over dense rows and over CSR rows.

The saddle form of (14), with :math:`\tilde x_i=y_ix_i`, :math:`a=2\lambda_1/m` and :math:`b=\lambda_2/m`, is

.. math:: \max_{0\le\beta\le C,\ e^\top\delta=0}\ e^\top\beta-\tfrac1{4a}\lVert\delta\rVert^2
          -\tfrac12\lVert w\rVert^2,\qquad w=\sum_i(\beta_i+b-\delta_i)\tilde x_i,

and t, the mean margin, is the multiplier of :math:`e^\top\delta=0`. A pass minimises over the pair
:math:`(\beta_i,\delta_i)` of one example after the other with the constraint replaced by the term
:math:`t_k\,e^\top\delta+(e^\top\delta)^2/2\epsilon` of the method of multipliers, so that
:math:`t=t_k+e^\top\delta/\epsilon` moves with every step, as w does. A step costs O(nnz(x_i)).

A constant feature is common to all rows: a step of one example alone would be held back by all the others,
as by the constraint :math:`y^\top\alpha=0` of a free intercept. Its weight v is therefore moved in the same
way, with the term :math:`-\frac12v^2-\frac\rho2(v-v_k)^2` for v in the saddle form: the share
:math:`1/(1+\rho)` of what a step would move it, and the rest after the pass.

An example whose :math:`\beta_i` stays at its bound and whose :math:`\delta_i` is as good as right takes no
part in the next 1, 3, 7, ... passes; LIBLINEAR's shrinking leaves it out until all others are done. The order
is random in blocks of neighbouring examples: rows in memory order are read several times faster than rows at
random.

The functions take arrays and scalars only; ``.py_func`` of each is the same code without compilation.
"""

from __future__ import annotations

import numpy as np

from ...base.compiled import njit


@njit()
def pair_step(
    margin: float,
    beta: float,
    delta: float,
    square: float,
    t: float,
    stiffness: float,
    twice_a: float,
    b: float,
    C: float,
) -> tuple[float, float, float]:
    r"""Return the optimal :math:`(\beta_i,\delta_i)` and margin of one example, all others held.

    With the contribution of the example taken out of its margin, :math:`\gamma_0`, and out of t, :math:`t_0`,
    the conditions are :math:`\gamma=\gamma_0+q(\beta+b-\delta)`, :math:`t=t_0+\delta/\epsilon`,
    :math:`\delta=2a(\gamma-t)`, and :math:`\beta=C`, in [0, C] or 0 as :math:`\gamma<1`, = 1 or > 1.

    Parameters
    ----------
    margin : float
        :math:`\gamma_i` before the step.
    beta, delta : float
    square : float
        :math:`q=\lVert x_i\rVert^2`; 0 is fine.
    t : float
        Mean margin as of now.
    stiffness : float
        :math:`1/\epsilon`.
    twice_a, b, C : float
    """
    alone = margin - square * (beta + b - delta)
    mean = t - stiffness * delta
    shrink = twice_a / (1.0 + twice_a * (square + stiffness))
    delta_upper = shrink * (alone + square * (C + b) - mean)
    margin_upper = alone + square * (C + b - delta_upper)
    if margin_upper <= 1.0:
        return C, delta_upper, margin_upper
    delta_lower = shrink * (alone + square * b - mean)
    margin_lower = alone + square * (b - delta_lower)
    if margin_lower >= 1.0:
        return 0.0, delta_lower, margin_lower
    delta_free = twice_a * (1.0 - mean) / (1.0 + twice_a * stiffness)
    return min(C, max(0.0, (1.0 - alone) / square - b + delta_free)), delta_free, 1.0


@njit()
def gap_share(margin: float, beta: float, delta: float, t: float, twice_a: float, C: float) -> float:
    r"""Return what one example adds to the duality gap.

    .. math:: C(1-\gamma)_+-\beta(1-\gamma)+a\bigl(\gamma-t-\delta/2a\bigr)^2

    The sum is the gap when w belongs to :math:`(\beta,\delta)`, t is the mean margin, and
    :math:`e^\top\delta=0`.
    """
    return hinge_share(margin, beta, C) + spread_share(margin, delta, t, twice_a)


@njit()
def hinge_share(margin: float, beta: float, C: float) -> float:
    """Return the part of :func:`gap_share` that the hinge is responsible for."""
    return (C - beta) * (1.0 - margin) if margin < 1.0 else beta * (margin - 1.0)


@njit()
def spread_share(margin: float, delta: float, t: float, twice_a: float) -> float:
    """Return the part of :func:`gap_share` that the variance is responsible for."""
    if twice_a == 0.0:
        return 0.0
    miss = margin - t - delta / twice_a
    return 0.5 * twice_a * miss * miss


@njit()
def csr_pass(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    y: np.ndarray,
    squares: np.ndarray,
    weights: np.ndarray,
    active: np.ndarray,
    blocks: np.ndarray,
    size: int,
    w: np.ndarray,
    beta: np.ndarray,
    delta: np.ndarray,
    shares: np.ndarray,
    rest: np.ndarray,
    negligible: float,
    longest: int,
    t: float,
    stiffness: float,
    twice_a: float,
    b: float,
    C: float,
    constant: float,
) -> float:
    """Visit the active rows of a CSR matrix; return t.

    Parameters
    ----------
    data, indices, indptr : arrays
        Of the matrix; `indices` unsigned, which spares the check for negative ones.
    y, squares : (m,) arrays
        Labels -1, +1, and squared norms of the rows.
    active : (k,) array of int
        Rows to visit, ascending; `blocks` is the order of its blocks of `size` rows.
    weights : (m,) array of positive numbers
    w : (d,), or (d + 1,) with a constant feature, beta, delta : (m,) arrays
        Updated in place.
    shares, rest : (m,) arrays
        Filled for the rows visited: the share of the gap before the step, and the passes to sit out.
    negligible : float
        An example may rest when its variance adds no more to the gap.
    longest : int
        Longest rest; 0 for none.
    t, stiffness, twice_a, b, C : float
        As in :func:`pair_step`, for a row of weight 1.
    constant : float
        How far the last entry of w moves with a step, as a share of what a feature that is 1 would give;
        0 without an intercept.
    """
    for block in blocks:
        for place in range(block * size, min((block + 1) * size, active.size)):
            i = active[place]
            label, weight = y[i], weights[i]
            start, end = indptr[i], indptr[i + 1]
            inner = w[-1] if constant > 0.0 else 0.0
            for k in range(start, end):
                inner += data[k] * w[indices[k]]
            old_beta, old_delta, margin = beta[i], delta[i], label * inner
            new_beta, new_delta, _ = pair_step(
                margin, old_beta, old_delta, squares[i] + constant, t, stiffness,
                twice_a * weight, b * weight, C * weight,
            )  # fmt: skip
            shares[i] = gap_share(margin, old_beta, old_delta, t, twice_a * weight, C * weight)
            if (
                new_beta == old_beta
                and (new_beta == 0.0 or new_beta == C * weight)
                and spread_share(margin, old_delta, t, twice_a * weight) <= negligible
            ):
                rest[i] = min(longest, 2 * rest[i] + 1)
            else:
                rest[i] = 0
                change = label * ((new_beta - old_beta) - (new_delta - old_delta))
                t += stiffness * (new_delta - old_delta)
                beta[i], delta[i] = new_beta, new_delta
                if constant > 0.0:
                    w[-1] += constant * change
                for k in range(start, end):
                    w[indices[k]] += change * data[k]
    return t


@njit()
def dense_pass(
    X: np.ndarray,
    y: np.ndarray,
    squares: np.ndarray,
    weights: np.ndarray,
    active: np.ndarray,
    blocks: np.ndarray,
    size: int,
    w: np.ndarray,
    beta: np.ndarray,
    delta: np.ndarray,
    shares: np.ndarray,
    rest: np.ndarray,
    negligible: float,
    longest: int,
    t: float,
    stiffness: float,
    twice_a: float,
    b: float,
    C: float,
    constant: float,
) -> float:
    """Visit the active rows of a C-ordered array, as :func:`csr_pass` does; return t."""
    # written out again: with the step of a row as a function for both, a pass takes about twice as long
    for block in blocks:
        for place in range(block * size, min((block + 1) * size, active.size)):
            i = active[place]
            label, weight = y[i], weights[i]
            inner = w[-1] if constant > 0.0 else 0.0
            for k in range(X.shape[1]):
                inner += X[i, k] * w[k]
            old_beta, old_delta, margin = beta[i], delta[i], label * inner
            new_beta, new_delta, _ = pair_step(
                margin, old_beta, old_delta, squares[i] + constant, t, stiffness,
                twice_a * weight, b * weight, C * weight,
            )  # fmt: skip
            shares[i] = gap_share(margin, old_beta, old_delta, t, twice_a * weight, C * weight)
            if (
                new_beta == old_beta
                and (new_beta == 0.0 or new_beta == C * weight)
                and spread_share(margin, old_delta, t, twice_a * weight) <= negligible
            ):
                rest[i] = min(longest, 2 * rest[i] + 1)
            else:
                rest[i] = 0
                change = label * ((new_beta - old_beta) - (new_delta - old_delta))
                t += stiffness * (new_delta - old_delta)
                beta[i], delta[i] = new_beta, new_delta
                if constant > 0.0:
                    w[-1] += constant * change
                for k in range(X.shape[1]):
                    w[k] += change * X[i, k]
    return t
