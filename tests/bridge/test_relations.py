"""Relations hold, and would be seen to fail: each check is tried on a relation that is false."""

import inspect
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.kernel_ridge import KernelRidge

from marginbook.base.project import resource
from marginbook.bridge.claims import fisher, leave_one_out, machines, margins, ridges, subspaces
from marginbook.bridge.claims.problems import Pair, pairs
from marginbook.claims import Kind, Verdict, check, find
from marginbook.kernels import gram


@pytest.fixture
def pair() -> Pair:
    return next(p for p in pairs(5) if p.kernel != "linear" and p.sizes == (16, 10))


def test_the_room_has_claims_about_each_paper():
    ids = {claim.id for claim in find(["bridge"])}
    for word in ("drm-", "ldm-", "kfda-", "clask-", "svm", "leave-one-out"):
        assert any(word in id for id in ids), word


def test_the_chapter_says_that_all_relations_are_ours_and_hold():
    text = resource("book", "bridge.md").read_text("utf-8")
    assert "All relations here are ours, and all of them hold." in text
    relations = find(["bridge"])
    assert {claim.kind for claim in relations} == {Kind.OURS}
    assert {check(claim.id).verdict for claim in relations} == {Verdict.HOLDS}


def test_the_kernel_of_the_whitened_machine_is_that_of_explicit_features(pair):
    linear = Pair(
        pair.X, pair.y, pair.new, "linear", gram("linear", pair.X), gram("linear", pair.X, pair.new)
    )
    m, X, y = len(pair.y), pair.X, pair.y
    A = np.eye(X.shape[1]) + 8.0 / m * X.T @ (np.eye(m) - np.outer(y, y) / m) @ X
    G, Gx = margins.whitened(linear, 2.0)
    assert_allclose(G, X @ np.linalg.solve(A, X.T), atol=1e-10)
    assert_allclose(Gx, X @ np.linalg.solve(A, pair.new.T), atol=1e-10)


def test_elimination_is_what_solving_the_rest_gives(pair):
    n = len(pair.y)
    M, h = pair.K + np.eye(n), np.arange(n, dtype=float)
    for S in ([3], [0, 7], [1, 2, 3]):
        rest = np.setdiff1d(np.arange(n), S)
        wanted = M[np.ix_(S, rest)] @ np.linalg.solve(M[np.ix_(rest, rest)], h[rest])
        assert_allclose(leave_one_out.eliminated(M, h, [S])[0], wanted, atol=1e-10)


#: what to break in a module, by the check that must notice it
BROKEN = {
    ridges.check_kernel_ridge: (
        "KernelRidge",
        lambda alpha, kernel: KernelRidge(alpha=2 * alpha, kernel=kernel),
    ),
    ridges.check_errors: ("within_matrix", lambda K, sizes: 1.1 * ridges_within(K, sizes)),
    ridges.check_local_targets: ("system_matrix", lambda K, sizes, alpha, beta: K + beta * np.eye(len(K))),
    ridges.check_strong_ridge: ("dissimilarity", lambda *a: 1.2 * ridges_dissimilarity(*a)),
    fisher.check_ls_svm: ("KernelRidge", lambda alpha, kernel: KernelRidge(alpha=2 * alpha, kernel=kernel)),
    fisher.check_fisher_machine: (
        "KFDAClassifier",
        lambda reg, kernel: fisher_machine(reg=2 * reg, kernel=kernel),
    ),
    fisher.check_lasso: ("Lasso", lambda alpha, **more: RealLasso(alpha=1.01 * alpha, **more)),
    fisher.check_ridge: ("Ridge", lambda alpha, **more: RealRidge(alpha=1.01 * alpha, **more)),
    fisher.check_limit: (
        "shrinking_mm",
        lambda problem, q, rho, tol: real_descent(problem, q, rho * (1.1 if q < 2 else 1.0), tol=tol),
    ),
    margins.check_mean: ("trained", lambda pair, lambda1, lambda2, C: real_trained(pair, 1.0, lambda2, C)),
    machines.check_one_svm: ("matrix_machine", lambda pair, C, **more: real_machine(pair, 2 * C, **more)),
    machines.check_weighted: ("weights_for", lambda level, y: np.where(y > 0, level, 1 - level)),
    leave_one_out.check_leave_one_out: ("midpoint", lambda one, two: 0.0),
    margins.check_hingeless: (
        "KernelRidge",
        lambda alpha, kernel: KernelRidge(alpha=2 * alpha, kernel=kernel),
    ),
    margins.check_whitened: ("whitened", lambda pair, lambda1: (pair.K, pair.Kx)),
    machines.check_km_omd: ("matrix_machine", lambda pair, C, loss: real_machine(pair, C, "hinge")),
    machines.check_squared_hinge: ("matrix_machine", lambda pair, C, loss: real_machine(pair, 2 * C, loss)),
    machines.check_class_means: ("KMOMDClassifier", lambda C, kernel, tol: real_omd(100 * C, kernel, tol)),
    subspaces.check_subspaces: (
        "KernelRidge",
        lambda alpha, kernel: KernelRidge(alpha=2 * alpha, kernel=kernel),
    ),
}
ridges_within, ridges_dissimilarity = ridges.within_matrix, ridges.dissimilarity
RealLasso, RealRidge, real_descent = fisher.Lasso, fisher.Ridge, fisher.shrinking_mm
real_trained = margins.trained
fisher_machine, real_machine = fisher.KFDAClassifier, machines.matrix_machine


def real_omd(C, kernel, tol):
    from marginbook.ldm.peers.km_omd import KMOMDClassifier

    return KMOMDClassifier(C=C, kernel=kernel, tol=tol)


@pytest.mark.parametrize("check", BROKEN, ids=lambda check: check.__name__)
def test_a_relation_that_is_false_is_seen(check, monkeypatch):
    name, wrong = BROKEN[check]
    module = sys.modules[check.__module__]
    assert f"{name}(" in inspect.getsource(check) + inspect.getsource(module)
    monkeypatch.setattr(module, name, wrong)
    assert check().verdict != Verdict.HOLDS
