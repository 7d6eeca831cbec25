"""The kernel weights: against grids, SLSQP and vertices, with bounds that hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginbook.clasmk.model.objective import diagonals, forms, kkt_residual, ratio
from marginbook.clasmk.solvers.dinkelbach import dinkelbach
from marginbook.clasmk.solvers.kernel_choice import choose_exact, choose_exhaustive
from marginbook.clasmk.solvers.slsqp import slsqp


def _matrices(
    seed: int, n_classes: int, n_kernels: int, kind: str = "plain"
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(2, n_classes, n_kernels, n_kernels + 3))
    if kind == "coherent":  # coordinates with a common mean, as the sign convention makes them
        A, B = A + 0.3, B + 0.6
    if kind == "singular":
        A, B = A[:, :, :2], B[:, :, :2]
    if kind == "identical":
        A[:, 1:], B[:, 1:] = A[:, :1], B[:, :1]
    if kind == "faint":  # kernels with next to no energy
        sizes = 10.0 ** -np.arange(n_kernels)[:, np.newaxis]
        A, B = A * sizes, B * sizes
    return A @ A.transpose(0, 2, 1), B @ B.transpose(0, 2, 1)


KINDS = ("plain", "coherent", "singular", "identical", "faint")


def _grid(n_kernels: int, steps: int) -> np.ndarray:
    """Nonnegative unit vectors, (G, K)."""
    if n_kernels == 2:
        angle = np.linspace(0, np.pi / 2, steps)
        return np.column_stack([np.cos(angle), np.sin(angle)])
    first, second = (a.ravel() for a in np.meshgrid(*[np.linspace(0, np.pi / 2, steps)] * 2))
    return np.column_stack([np.cos(first), np.sin(first) * np.cos(second), np.sin(first) * np.sin(second)])


def _least_on_grid(N: np.ndarray, D: np.ndarray, points: np.ndarray) -> float:
    """The smallest ratio of two classes over all pairs of grid points."""
    tops, bottoms = (np.einsum("gi,cij,gj->cg", points, stack, points) for stack in (N, D))
    total = bottoms[0][:, np.newaxis] + bottoms[1]
    return float(((tops[0][:, np.newaxis] + tops[1])[total > 0] / total[total > 0]).min())


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    n_kernels=st.sampled_from([2, 3]),
    kind=st.sampled_from(["plain", "coherent", "singular", "identical"]),
)
def test_grid(seed, n_kernels, kind):
    N, D = _matrices(seed, 2, n_kernels, kind)
    points = _grid(n_kernels, 1000 if n_kernels == 2 else 30)
    best = _least_on_grid(N, D, points)
    found = dinkelbach(N, D)
    assert found.objective <= best * (1 + 1e-9) + 1e-12
    assert found.lower_bound <= found.objective
    assert found.lower_bound <= best
    if n_kernels == 2 and kind in ("plain", "coherent"):  # fine enough to be near from above
        assert best == pytest.approx(found.objective, rel=1e-2, abs=1e-4)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    n_classes=st.integers(2, 4),
    n_kernels=st.integers(1, 6),
    kind=st.sampled_from(KINDS),
    variable=st.sampled_from(["weights", "roots"]),
)
def test_never_above_slsqp_and_the_bound_never_above_it(seed, n_classes, n_kernels, kind, variable):
    N, D = _matrices(seed, n_classes, n_kernels, kind)
    found = dinkelbach(N, D)
    start = np.random.default_rng(seed).dirichlet(np.ones(n_kernels), size=n_classes)
    for first in (None, start):
        peer = slsqp(N, D, start=first, variable=variable, gradient_by="analytic", max_iter=100)
        assert found.objective <= peer.objective + 1e-9
        assert found.lower_bound <= peer.objective * (1 + 1e-12)
    assert found.converged
    assert found.weights.sum(axis=1) == pytest.approx(1)
    assert (found.weights >= 0).all()
    assert found.objective == ratio(found.weights, N, D)


@pytest.mark.parametrize("kind", ["plain", "coherent", "identical"])
def test_the_gap_closes(kind):
    for seed in range(5):
        found = dinkelbach(*_matrices(seed, 4, 8, kind))
        assert found.gap <= 1e-8
        assert found.kkt_residual <= 1e-7


def test_ten_classes_seventeen_kernels():
    N, D = _matrices(0, 10, 17, "coherent")
    found = dinkelbach(N, D)
    assert found.gap <= 1e-8
    # finite differences, as the paper's program takes them by default
    peer = slsqp(N, D, variable="roots", max_iter=20)
    assert found.objective <= peer.objective
    assert peer.n_evaluations >= 20 * 170


@pytest.mark.parametrize("start", [None, "random"])
def test_values_fall_faster_and_faster(start):
    N, D = _matrices(3, 5, 8, "coherent")
    first = None if start is None else np.random.default_rng(0).dirichlet(np.ones(8), size=5)
    found = dinkelbach(N, D, start=first)
    path = found.objective_path
    assert (np.diff(path) <= 0).all()
    assert path[-1] == pytest.approx(found.objective, rel=1e-12)
    excess = (path - found.objective) / found.objective
    excess = excess[excess > 1e-13]
    assert len(excess) >= 2
    assert (excess[1:] <= 50 * excess[:-1] ** 1.5).all()
    if first is not None:
        assert path[0] == pytest.approx(ratio(first, N, D), rel=1e-12)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    n_classes=st.integers(2, 4),
    n_kernels=st.integers(1, 5),
    kind=st.sampled_from(["plain", "coherent", "singular", "identical"]),
)
def test_concatenated_weights_are_one_kernel_each(seed, n_classes, n_kernels, kind):
    N, D = _matrices(seed, n_classes, n_kernels, kind)
    found = dinkelbach(N, D, combine="concat")
    n, d = diagonals(N), diagonals(D)
    assert found.objective == choose_exact(n, d).objective
    assert found.objective == pytest.approx(choose_exhaustive(n, d).objective, rel=1e-12)
    assert np.isin(found.weights, (0, 1)).all()
    assert found.kkt_residual <= 1e-12
    # no weights between the vertices are better
    inside = np.random.default_rng(seed).dirichlet(np.ones(n_kernels), size=n_classes)
    assert ratio(inside, N, D, combine="concat") >= found.objective * (1 - 1e-12)
    peer = slsqp(N, D, combine="concat", gradient_by="analytic", max_iter=50)
    assert peer.objective >= found.objective * (1 - 1e-9)


@pytest.mark.parametrize(
    ("top", "bottom"), [(1e-12, 1.0), (1e12, 1.0), (1.0, 1e-12), (1e12, 1e12), (1e-12, 1e12)]
)
def test_scale(top, bottom):
    N, D = _matrices(4, 3, 6, "coherent")
    plain, scaled = dinkelbach(N, D), dinkelbach(top * N, bottom * D)
    assert scaled.objective == pytest.approx(plain.objective * top / bottom, rel=1e-9)
    assert scaled.gap <= 1e-8
    assert scaled.weights == pytest.approx(plain.weights, abs=1e-5)
    assert slsqp(
        top * N, bottom * D, variable="roots", gradient_by="analytic"
    ).objective >= scaled.objective * (1 - 1e-9)


def test_one_kernel():
    N, D = np.array([[[1.0]], [[3.0]]]), np.array([[[4.0]], [[6.0]]])
    found = dinkelbach(N, D)
    assert found.objective == pytest.approx(0.4)
    assert found.gap <= 1e-9
    assert np.array_equal(found.weights, [[1.0], [1.0]])


def test_identical_kernels_add_nothing():
    N, D = _matrices(5, 3, 4, "identical")
    single = N[:, 0, 0].sum() / D[:, 0, 0].sum()
    # a class may use one copy or, by adding them up, all four: each class counts once or four times
    choices = np.array(np.meshgrid(*[[1.0, 4.0]] * 3)).reshape(3, -1)
    best = ((N[:, 0, 0] @ choices) / (D[:, 0, 0] @ choices)).min()
    found = dinkelbach(N, D)
    assert found.objective == pytest.approx(best, rel=1e-9)
    assert found.objective < single
    assert dinkelbach(N, D, combine="concat").objective == pytest.approx(single, rel=1e-12)


def test_kernels_without_energy():
    N, D = _matrices(6, 3, 4, "coherent")
    # a kernel that sees nothing at all: never a reason to stop at 0 / 0
    N[:, 0], N[:, :, 0], D[:, 0], D[:, :, 0] = 0, 0, 0, 0
    found = dinkelbach(N, D)
    energy = forms(found.roots, D)
    assert energy.sum() > 0
    assert found.objective <= dinkelbach(N[:, 1:, 1:], D[:, 1:, 1:]).objective * (1 + 1e-9)
    assert found.lower_bound <= found.objective
    # no class but one has energy
    D[1:] = 0
    assert forms(dinkelbach(N, D).roots, D)[0] > 0


def test_a_numerator_of_zero():
    _, D = _matrices(7, 3, 4)
    found = dinkelbach(np.zeros_like(D), D)
    assert (found.objective, found.lower_bound, found.gap, found.converged) == (0, 0, 0, True)
    assert slsqp(np.zeros_like(D), D, variable="roots", gradient_by="analytic").objective == 0


def test_without_a_search_the_bound_still_holds():
    for seed in range(10):
        N, D = _matrices(seed, 3, 6)
        best, local = dinkelbach(N, D), dinkelbach(N, D, max_nodes=0)
        assert local.n_nodes == 0
        assert local.objective >= best.objective * (1 - 1e-9)
        assert local.lower_bound <= best.objective * (1 + 1e-12)
        assert local.lower_bound >= 0
        assert kkt_residual(local.weights, N, D) <= 1e-7


def test_weights_that_are_better_by_less_than_rounding_are_not_taken():
    N = D = np.tile(np.eye(4), (2, 1, 1))
    N = N.copy()
    N[0, 3, 3] -= 2.0**-53  # the last kernel alone: 2 - 2^-53 in all, which is 2 in double precision
    found = dinkelbach(N, D, start=np.full((2, 4), 0.25), max_nodes=0)
    assert found.objective_path.tolist() == [1.0, 1.0]
    np.testing.assert_array_equal(found.weights, 0.25)


def test_few_iterations():
    N, D = _matrices(8, 4, 6)
    found = dinkelbach(N, D, max_iter=1)
    assert not found.converged
    assert found.n_iter == 1
    assert found.lower_bound <= dinkelbach(N, D).objective


def test_start_is_refused_without_energy():
    N, D = _matrices(9, 2, 2)
    D[:, 0], D[:, :, 0] = 0, 0
    with pytest.raises(ValueError, match="the denominator is zero in these weights; start from others"):
        dinkelbach(N, D, start=[[1.0, 0.0], [1.0, 0.0]])


def test_what_slsqp_is_told():
    N, D = _matrices(10, 2, 3)
    by_hand = slsqp(N, D, variable="roots", gradient_by="analytic")
    numerical = slsqp(N, D, variable="roots")
    assert by_hand.objective == pytest.approx(numerical.objective, rel=1e-6)
    assert numerical.n_evaluations > 3 * by_hand.n_evaluations
    assert by_hand.lower_bound is None
    assert by_hand.gap is None
    assert by_hand.objective_path[0] == pytest.approx(ratio(np.full((2, 3), 1 / 3), N, D))
    with pytest.raises(ValueError, match="variable must be one of"):
        slsqp(N, D, variable="angles")
    with pytest.raises(ValueError, match="gradient_by must be one of"):
        slsqp(N, D, gradient_by="magic")
    with pytest.raises(ValueError, match="linear in the weights"):
        slsqp(N, D, combine="concat", variable="roots")


@pytest.mark.parametrize("solve", [dinkelbach, slsqp])
def test_what_is_refused(solve):
    N, D = _matrices(11, 3, 2)
    with pytest.raises(ValueError, match="1 class, wanted at least 2"):
        solve(N[:1], D[:1])
    with pytest.raises(ValueError, match="all denominators are zero"):
        solve(N, 0 * D)
    with pytest.raises(ValueError, match="unknown combine 'product'; choose from sum, concat"):
        solve(N, D, combine="product")
    with pytest.raises(ValueError, match="rows that sum to 1"):
        solve(N, D, start=np.ones((3, 2)))


def test_a_target_ends_the_iteration_as_soon_as_it_is_reached():
    N, D = _matrices(0, 3, 6)
    best = dinkelbach(N, D)
    early = dinkelbach(N, D, target=2 * best.objective)
    assert early.objective <= 2 * best.objective
    assert early.converged
    assert early.lower_bound == 0
    assert early.n_nodes <= best.n_nodes
    np.testing.assert_array_equal(dinkelbach(N, D, target=0.5 * best.objective).weights, best.weights)


def test_every_entry_of_the_forms_decides():
    """Without a look at all of the C K^2 entries no method can know the minimum: time K is too little."""
    C, K = 2, 4
    N = D = np.tile(np.eye(K), (C, 1, 1))
    assert dinkelbach(N, D).objective == pytest.approx(1.0)
    for c in range(C):
        for i in range(K):
            for j in range(i + 1):
                lowered = N.copy()
                lowered[c, i, j] = lowered[c, j, i] = N[c, i, j] - 0.1
                assert dinkelbach(lowered, D).objective < 0.99
