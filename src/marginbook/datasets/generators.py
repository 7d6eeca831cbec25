r"""Data with a known distribution: Breiman's three problems, bananas, and low-rank matrices.

Every generator takes ``n_samples`` and ``random_state`` and draws the rows independently. Labels have equal
probability, as in the benchmark sets, except for the two classes of `make_waveform`, of which 1 has a third
of the rows; `make_low_rank` draws each label with a probability that depends on its matrix.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr

#: beyond this no array has room, and no square is finite
LARGEST = 2**62
Seed = int | np.random.Generator | None
Sample = tuple[NDArray[np.float64], NDArray[np.int64]]


def _positive(**sizes: int) -> None:
    for name, size in sizes.items():
        whole = isinstance(size, Integral) and not isinstance(size, bool | np.bool_)
        if not (whole and 1 <= size <= LARGEST):
            raise ValueError(f"{name} must be a whole number >= 1, got {size!r}")


def _finite(**values: float) -> None:
    for name, value in values.items():
        if not (isinstance(value, Real) and abs(value) <= LARGEST):
            raise ValueError(f"{name} must be a number of at most {LARGEST:.1e}, got {value!r}")


def _generator(random_state: Seed) -> np.random.Generator:
    """Return the generator that `random_state` is or seeds."""
    try:
        return np.random.default_rng(random_state)
    except (ValueError, TypeError):
        raise ValueError(
            f"random_state must be None, a whole number >= 0 or a Generator, got {random_state!r}"
        ) from None


def make_twonorm(n_samples: int = 400, n_features: int = 20, random_state: Seed = None) -> Sample:
    r"""Draw two unit Gaussians with means :math:`\pm(a, \dots, a)`.

    .. math:: x \mid y \sim N(y\,a\,\mathbf{1}, I_p), \qquad a = 2 / \sqrt{p}

    The best classifier is the sign of :math:`\sum_j x_j`; its error is :math:`\Phi(-2) = 2.28\,\%`
    in every dimension p.

    Parameters
    ----------
    n_samples : int, default=400
    n_features : int, default=20
        p.
    random_state : int, Generator or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        -1 or 1.

    Raises
    ------
    ValueError
        For parameters out of range.

    References
    ----------
    Breiman (1996), Bias, variance, and arcing classifiers, report 460, University of California.

    Examples
    --------
    >>> from marginbook.datasets import make_twonorm
    >>> X, y = make_twonorm(5, random_state=0)
    >>> X.shape, y.tolist()
    ((5, 20), [1, 1, 1, -1, -1])
    """
    _positive(n_samples=n_samples, n_features=n_features)
    rng = _generator(random_state)
    y = 2 * rng.integers(0, 2, n_samples) - 1
    return rng.standard_normal((n_samples, n_features)) + 2 / np.sqrt(n_features) * y[:, None], y


def make_ringnorm(n_samples: int = 400, n_features: int = 20, random_state: Seed = None) -> Sample:
    r"""Draw a wide Gaussian around a narrow one.

    .. math:: x \mid y = 1 \sim N(0, 4 I_p), \qquad x \mid y = -1 \sim N(a\,\mathbf{1}, I_p),
              \qquad a = 2 / \sqrt{p}

    The benchmark file has this a (measured on it: 0.456 for p = 20, against 0.447); some texts print
    :math:`1 / \sqrt{p}`.

    Parameters
    ----------
    n_samples : int, default=400
    n_features : int, default=20
        p.
    random_state : int, Generator or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        -1 or 1.

    Raises
    ------
    ValueError
        For parameters out of range.

    References
    ----------
    Breiman (1996), Bias, variance, and arcing classifiers, report 460, University of California.
    """
    _positive(n_samples=n_samples, n_features=n_features)
    rng = _generator(random_state)
    y = 2 * rng.integers(0, 2, n_samples) - 1
    noise = rng.standard_normal((n_samples, n_features))
    return np.where(y[:, None] == 1, 2 * noise, noise + 2 / np.sqrt(n_features)), y


def waveform_bases() -> NDArray[np.float64]:
    r"""Return the three triangular waves :math:`h_1, h_2, h_3` as rows of a (3, 21) array.

    .. math:: h_1(i) = \max(6 - |i - 11|, 0), \quad h_2(i) = h_1(i - 4), \quad h_3(i) = h_1(i + 4),
              \quad i = 1, \dots, 21
    """
    i = np.arange(1, 22)
    return np.array([np.maximum(6.0 - np.abs(i - peak), 0) for peak in (11, 15, 7)])


def make_waveform(n_samples: int = 400, n_classes: int = 2, random_state: Seed = None) -> Sample:
    r"""Draw random mixtures of two of three waves, with unit noise.

    .. math:: x = u\,h_a + (1 - u)\,h_b + \varepsilon, \qquad u \sim U[0, 1], \quad
              \varepsilon \sim N(0, I_{21})

    with (a, b) = (1, 2), (1, 3), (2, 3) for classes 0, 1, 2.

    Parameters
    ----------
    n_samples : int, default=400
    n_classes : {2, 3}, default=2
        With 2, class 1 against the others as 1 against -1, one to two, the proportion of the IDA version.
    random_state : int, Generator or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 21)
    y : ndarray of shape (n_samples,)
        -1 or 1; with 3 classes 0, 1 or 2.

    Raises
    ------
    ValueError
        For parameters out of range.

    References
    ----------
    Breiman, Friedman, Olshen, Stone (1984), Classification and regression trees, section 2.6.2.
    """
    _positive(n_samples=n_samples)
    if not (isinstance(n_classes, Integral) and n_classes in (2, 3)):
        raise ValueError(f"n_classes must be 2 or 3, got {n_classes!r}")
    rng = _generator(random_state)
    y = rng.integers(0, 3, n_samples)
    u = rng.random((n_samples, 1))
    bases = waveform_bases()
    first, second = bases[[0, 0, 1]], bases[[1, 2, 2]]
    X = u * first[y] + (1 - u) * second[y] + rng.standard_normal((n_samples, 21))
    return X, (y if n_classes == 3 else np.where(y == 1, 1, -1))


def make_banana(
    n_samples: int = 400, radius: float = 5.0, noise: float = 1.0, random_state: Seed = None
) -> Sample:
    r"""Draw two interlocking arcs in the plane with Gaussian noise.

    .. math:: x = r(\sin\theta, \cos\theta) + \sigma\varepsilon \;(y = 1), \qquad
              x = r(\sin\theta - \tfrac34, \cos\theta - \tfrac34) + \sigma\varepsilon \;(y = -1)

    with :math:`\theta` uniform on :math:`[\tfrac18\pi, \tfrac{11}8\pi]` and
    :math:`[-\tfrac78\pi, \tfrac38\pi]`. It looks like the banana set of the IDA benchmark, whose
    distribution was never published; do not expect equal error rates.

    Parameters
    ----------
    n_samples : int, default=400
    radius : float, default=5.0
        r, above 0.
    noise : float, default=1.0
        :math:`\sigma`, at least 0.
    random_state : int, Generator or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)
        -1 or 1.

    Raises
    ------
    ValueError
        For parameters out of range.
    """
    _positive(n_samples=n_samples)
    _finite(radius=radius, noise=noise)
    if radius <= 0 or noise < 0:
        raise ValueError(f"radius must be > 0 and noise >= 0, got radius={radius} and noise={noise}")
    rng = _generator(random_state)
    y = 2 * rng.integers(0, 2, n_samples) - 1
    theta = np.pi * np.where(y == 1, 0.125, -0.875) + 1.25 * np.pi * rng.random(n_samples)
    arc = radius * np.column_stack([np.sin(theta), np.cos(theta)])
    arc[y == -1] -= 0.75 * radius
    return arc + noise * rng.standard_normal((n_samples, 2)), y


class LowRankSample(NamedTuple):
    """What `make_low_rank` returns: ``X, y, probability, coef``."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    probability: NDArray[np.float64]
    coef: NDArray[np.float64]


def make_low_rank(
    n_samples: int = 200,
    shape: tuple[int, int] = (8, 8),
    rank: int = 2,
    scale: float = 2.0,
    link: str = "logistic",
    random_state: Seed = None,
) -> LowRankSample:
    r"""Draw Gaussian matrices whose class probability depends on a low-rank direction.

    .. math:: X_i \in R^{d_1 \times d_2} \text{ with entries } N(0, 1), \qquad
              P(y_i = 1 \mid X_i) = g(s\,\langle B, X_i \rangle), \qquad
              \operatorname{rank} B = r, \; \lVert B \rVert_F = 1

    so that :math:`\langle B, X_i \rangle \sim N(0, 1)`.

    Parameters
    ----------
    n_samples : int, default=200
    shape : (int, int), default=(8, 8)
        d1 and d2.
    rank : int, default=2
        r, at most min(d1, d2).
    scale : float, default=2.0
        s: 0 is a coin, large is separable.
    link : {"logistic", "probit", "step"}, default="logistic"
        g: :math:`1/(1+e^{-z})`, :math:`\Phi(z)`, or 1 for z > 0 and else 0.
    random_state : int, Generator or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, d1, d2)
    y : ndarray of shape (n_samples,)
        -1 or 1.
    probability : ndarray of shape (n_samples,)
        P(y = 1 | X), the truth that an estimator of probabilities is to find.
    coef : ndarray of shape (d1, d2)
        B.

    Raises
    ------
    ValueError
        For parameters out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from marginbook.datasets import make_low_rank
    >>> sample = make_low_rank(50, shape=(6, 4), rank=1, random_state=0)
    >>> sample.X.shape, int(np.linalg.matrix_rank(sample.coef))
    ((50, 6, 4), 1)
    """
    if not (isinstance(shape, tuple | list) and len(shape) == 2):
        raise ValueError(f"shape must be two whole numbers >= 1, got {shape!r}")
    _finite(scale=scale)
    _positive(n_samples=n_samples, d1=shape[0], d2=shape[1], rank=rank)
    if rank > min(shape):
        raise ValueError(f"rank must be at most {min(shape)} for shape {tuple(shape)}, got {rank}")
    links = {"logistic": expit, "probit": ndtr, "step": lambda z: (z > 0).astype(np.float64)}
    if not (isinstance(link, str) and link in links):
        raise ValueError(f"link must be one of {', '.join(links)}, got {link!r}")
    rng = _generator(random_state)
    coef = rng.standard_normal((shape[0], rank)) @ rng.standard_normal((rank, shape[1]))
    coef /= np.linalg.norm(coef)
    X = rng.standard_normal((n_samples, *shape))
    probability = links[link](scale * np.einsum("ij,nij->n", coef, X))
    y = np.where(rng.random(n_samples) < probability, 1, -1)
    return LowRankSample(X, y, probability, coef)
