"""``marginbook warmup`` finds every public estimator, and what one refuses does not stop it."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from marginbook.base.public import public_estimators
from marginbook.cli import warming


class Toy(BaseEstimator):
    """Refuses sparse rows, and solvers but one."""

    fits: list = []  # noqa: RUF012

    def __init__(self, kernel="rbf", solver="auto"):
        self.kernel, self.solver = kernel, solver

    def fit(self, X, y):
        self.fits.append((self.kernel, self.solver, type(X).__name__))
        if not isinstance(X, np.ndarray):
            raise ImportError("sparse rows need another package")
        return self


class Needs(BaseEstimator):
    """Is given an estimator."""

    def __init__(self, estimator):
        self.estimator = estimator


@pytest.fixture
def said(monkeypatch):
    Toy.fits.clear()
    monkeypatch.setattr(warming, "public_estimators", lambda: {"Toy": Toy, "Needs": Needs})
    monkeypatch.setattr(warming, "_solvers", lambda estimator: ("auto", "slow"))
    lines = []
    return SimpleNamespace(lines=lines, say=lines.append)


def test_each_kernel_and_solver_meets_dense_and_sparse_rows(said):
    warming.warm_up(said.say)
    assert {fit[:2] for fit in Toy.fits} >= {(k, s) for k in ("linear", "rbf") for s in ("auto", "slow")}
    assert {fit[2] for fit in Toy.fits} == {"ndarray", "csr_matrix"}
    assert said.lines[0] == "1/2 Toy: nothing to compile"
    assert said.lines[1] == "2/2 Needs: fits what another estimator compiles"
    assert "functions compiled, " in said.lines[2]


def test_it_says_where_the_code_is_kept(said, monkeypatch):
    stats = SimpleNamespace(cache_misses={"a": 2}, cache_hits={"b": 1}, cache_path=None)
    compiled = [SimpleNamespace(stats=stats, signatures=["a"])]
    monkeypatch.setattr(warming, "_compiled", lambda: compiled)
    assert warming.warm_up(said.say) == (2, 1)
    assert said.lines[-1].endswith(warming.UNKEPT)
    stats.cache_path = "/opt/compiled"
    warming.warm_up(said.say)
    assert said.lines[-1].endswith("kept in /opt/compiled")


def test_solvers_are_those_of_the_room_without_packages_of_extras():
    solvers = warming._solvers(public_estimators()["LDMClassifier"])
    assert "dcd" in solvers
    assert "cvxpy" not in solvers
    assert warming._solvers(Toy) == ()
