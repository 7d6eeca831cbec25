"""The certificates of the DRM against their definitions, at points that are no solutions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from marginbook.drm.estimators.prediction import warn_of_certificate
from marginbook.drm.model.objective import kkt_residual, system_matrix
from marginbook.drm.solvers.factored import FactoredSystem
from marginbook.drm.solvers.general import GeneralProblem
from marginbook.drm.solvers.leave_one_out import _direct_residual, _Fits

SIZES = (3, 1, 2)
RHO = {"identity": None, "square": 1.0, "half-square": 0.5}


def matrix(seed: int = 0) -> np.ndarray:
    X = np.random.default_rng(seed).normal(size=(6, 6))
    return X @ X.T + 0.1 * np.eye(6)


def norm(w: np.ndarray, q: float, r: float) -> float:
    parts = np.split(w, np.cumsum(SIZES)[:-1])
    return float(np.linalg.norm([np.linalg.norm(part, q) for part in parts], r))


@pytest.mark.parametrize("rho", list(RHO))
@pytest.mark.parametrize(
    ("pair", "dual_pair"),
    [((2, 2), (2, 2)), ((2, 1), (2, np.inf)), ((1, 1), (np.inf, np.inf)), ((1, 2), (np.inf, 2))],
)
def test_gap_and_residual_are_their_definitions(
    rho: str, pair: tuple[float, float], dual_pair: tuple[float, float]
) -> None:
    r"""The dual value at z is -z'Qz / 2 less the conjugate of the penalty at K_x - Q z."""
    rng = np.random.default_rng(1)
    K, Kx = matrix(), rng.normal(size=(6, 12))
    W = rng.normal(size=(6, 12)) * np.geomspace(1e-3, 1, 12)
    W[:, 0] = 0.0
    beta = 0.8
    problem = GeneralProblem(K, SIZES, 0.3, beta, *pair, rho)
    Q = system_matrix(K, SIZES, 0.3)
    for at in (W, np.linalg.solve(Q, Kx) + 0.1 * W):
        found = problem.certificate(at, Kx)
        for j in range(12):
            w, b = at[:, j], Kx[:, j]
            u, size = b - Q @ w, norm(at[:, j], *pair)
            c = RHO[rho]
            if c is None:
                value, slope, z = beta * size, beta, w
                if norm(u, *dual_pair) > beta:  # towards the point where the penalty counts for nothing
                    s = beta / norm(u, *dual_pair)
                    z = s * w + (1 - s) * np.linalg.solve(Q, b)
                conjugate = 0.0
            else:
                value, slope, z = c * beta * size**2, 2 * c * beta * size, w
                conjugate = norm(u, *dual_pair) ** 2 / (4 * c * beta)
            primal = 0.5 * w @ Q @ w - b @ w + value
            dual = -0.5 * z @ Q @ z - conjugate
            assert found.objective[j] == pytest.approx(primal, rel=1e-9, abs=1e-12)
            assert found.gap[j] == pytest.approx(primal - dual, rel=1e-7, abs=1e-12)
            scale = max(abs(b @ w) / 2, -dual)
            assert found.relative_gap[j] == pytest.approx((primal - dual) / scale, rel=1e-7, abs=1e-12)
            violated = norm(u, *dual_pair) - slope
            if size:
                violated = max(violated, float(abs(slope - u @ w / size)))
            expected = max(violated, 0.0) / norm(b, *dual_pair)
            assert found.kkt_residual[j] == pytest.approx(expected, rel=1e-7, abs=1e-12)
    again = problem.certificate(at, Kx, Q @ at)
    np.testing.assert_allclose(again.gap, found.gap)


def test_the_gap_of_nothing_is_zero_and_weights_beside_it_are_measured_as_they_are() -> None:
    """For K_x = 0 the optimum is 0: there is no scale but the dual value, and none for the residual."""
    problem = GeneralProblem(np.eye(6), SIZES, 0.0, 0.5, 2, 2, "half-square")
    found = problem.certificate(np.column_stack([np.zeros(6), np.eye(6)[0]]), np.zeros((6, 2)))
    assert found.relative_gap[0] == found.kkt_residual[0] == 0.0
    # w = e_1: P = 1/2 + 1/4, D = -1/2 - 1/2 N(w)^2 / 0.5 = -3/2; |slope N + w'w| = 3/2
    assert found.gap[1] == 2.25
    assert found.relative_gap[1] == 1.5
    assert found.kkt_residual[1] == 1.5
    # where Q sees nothing of w, all is the penalty, 1/4, and the dual value is 0
    blind = GeneralProblem(np.diag([1.0, 1, 1, 1, 1, 0]), SIZES, 0.0, 0.5, 2, 2, "half-square")
    found = blind.certificate(np.eye(6)[:, 5:], np.zeros((6, 1)))
    assert found.objective[0] == found.gap[0] == found.relative_gap[0] == 0.25


def left_out(K: np.ndarray, alpha: float, beta: float, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows that stay without example k, and the system of what stays."""
    sizes = [3, 1, 2]
    sizes[[0, 0, 0, 1, 2, 2][k]] -= 1
    keep = np.delete(np.arange(6), k)
    return keep, system_matrix(K[np.ix_(keep, keep)], [size for size in sizes if size], alpha, beta)


@pytest.mark.parametrize("fits", [range(6), [1], [0, 3, 5]])
def test_gaps_without_an_example_are_those_of_the_smaller_system(fits: range | list[int]) -> None:
    K, W = matrix(2), np.random.default_rng(3).normal(size=(6, 6))
    K[:, 2] = K[2] = 0.0
    K[2, 2] = 4.0  # what is left out of the fit without it, so that its kernel vector is zero
    at = np.array(fits)
    np.fill_diagonal(W, 0.0)
    made = _Fits(K, SIZES, 0.7, 0.2)
    gap = made.gap(W[at], made.class_products(W[at]), at)
    residual = made.residual(gap, at)
    for row, k in enumerate(fits):
        keep, M = left_out(K, 0.7, 0.2, k)
        np.testing.assert_allclose(gap[row, keep], M @ W[k, keep] - K[keep, k], atol=1e-12)
        assert gap[row, k] == 0.0
        largest = np.abs(K[keep, k]).max()
        expected = np.abs(M @ W[k, keep] - K[keep, k]).max() / (largest if largest else 1.0)
        assert residual[row] == pytest.approx(expected, rel=1e-12)
        signs = made.residual(np.array([[-3.0, 0, 1, 0, 0, 0]]), at[row : row + 1])
        assert signs[0] == pytest.approx(3.0 / (largest if largest else 1.0))


def test_an_indefinite_system_leaves_all_of_the_gradient() -> None:
    assert _direct_residual(-np.eye(3), (2, 1), 0, 0.5, 0.1) == np.inf
    assert _direct_residual(np.eye(3), (2, 1), 0, 0.5, 0.1) < 1e-12


def test_the_share_of_the_gradient_that_is_left() -> None:
    """Of the column that does worst, and as it is where there is no kernel vector."""
    M, W = np.diag([2.0, 4.0]), np.array([[1.0, 1.0, 0.5], [0.0, 0.25, 0.5]])
    assert kkt_residual(M, W, np.array([[1.0, 2.0, 0.0], [-4.0, 1.0, 0.0]])) == 2.0
    assert kkt_residual(M, W[:, :2], np.array([[1.0, 2.0], [-4.0, 1.0]])) == 1.0
    assert kkt_residual(M, W[:, :1], np.array([[1.9], [0.0]])) == pytest.approx(0.1 / 1.9)
    assert kkt_residual(M, np.zeros((2, 0)), np.zeros((2, 0))) == 0.0


def test_the_factored_system_is_measured_by_the_same_share(monkeypatch: pytest.MonkeyPatch) -> None:
    K, Kx = matrix(4), np.random.default_rng(5).normal(size=(6, 3))
    Kx[:, 0] *= 0.1  # no value of which is 1 or more
    Kx[:, 1] = 0.0
    system = FactoredSystem(K.copy(), SIZES, 0.3, 0.2)
    M = system_matrix(K, SIZES, 0.3, 0.2)
    for factor in (1.0, 1e-3):
        W = factor * np.random.default_rng(6).normal(size=(6, 3))
        monkeypatch.setattr(system, "weights", lambda Kx, W=W: W[:, : Kx.shape[1]])
        assert system.certificate(Kx) == pytest.approx(kkt_residual(M, W, Kx), rel=1e-9)
        assert system.certificate(Kx[:, :1]) == pytest.approx(kkt_residual(M, W[:, :1], Kx[:, :1]), rel=1e-9)
    assert system.certificate(np.zeros((6, 0))) == 0.0


def test_a_certificate_that_is_no_number_is_told_and_one_at_the_tolerance_is_not() -> None:
    with pytest.warns(ConvergenceWarning, match="nan misses"):
        warn_of_certificate(float("nan"), 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_certificate(0.5, 0.5)
