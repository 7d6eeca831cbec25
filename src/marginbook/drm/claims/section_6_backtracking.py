"""The claim of Section VI-E about backtracking, equation (25)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from ...claims import Evidence, Rival, claim, decide
from ..model.objective import system_matrix
from ..model.operators import DenseSystem, System
from ..solvers.first_order import enlarged
from .problems import Problem, problems

Backtracking: TypeAlias = Callable[..., np.ndarray]


def _early(search: Backtracking) -> Backtracking:
    """Return a swap of the search: it is content with one power less."""
    return lambda system, G, b, eta: np.maximum(search(system, G, b, eta) / eta, b)


def _same(system: System, G: np.ndarray, b: np.ndarray, eta: float) -> np.ndarray:
    return b


def _grown(b: float, eta: float) -> Iterator[float]:
    """Yield b, b eta, b eta^2, ... as floating numbers give them."""
    while True:
        yield b
        b *= eta


@claim(
    "drm/eq-25",
    kind="proof",
    where="Equation (25)",
    statement=r"$f(\hat w_b(v))\le G(\hat w_b(v)|v,b)$ if and only if, with $g=\nabla f(v)$, "
    r"$g^\top Qg\le(b-\beta)\|g\|^2$",
    notebook="drm/02_algorithms#drm-eq-25",
    rivals=(
        Rival("b for b - beta", {"ridge": 0}),
        Rival("b + beta for b - beta", {"ridge": -1}),
        Rival("the right-hand side 2 % larger", {"factor": 1.02}),
        Rival("an inequality the other way", {"factor": -1.0}),
        Rival("backtracking that stops one power early", swaps={"drm.solvers.first_order.enlarged": _early}),
        Rival("backtracking that does nothing", swaps={"drm.solvers.first_order.enlarged": lambda f: _same}),
    ),
)
def check_backtracking(ridge: int = 1, factor: float = 1.0) -> Evidence:
    """Evaluate both sides in exact rationals, at the boundary and next to it; and the library's search."""
    rng = np.random.default_rng(25)
    chosen = tries = 0
    agree = cases = true = boundary = elsewhere = 0
    for problem in problems(seed=25, repeats=2):
        if len(problem.K) > 9:  # the digits of exact rationals grow with n
            continue
        for alpha, beta in ((0.0, 0.1), (1.0, 1.0), (100.0, 0.01)):
            exact = _Rational(problem, alpha, beta)
            v = exact.vector(rng.normal(size=len(problem.K)))
            edge = exact.beta + exact.rayleigh_quotient(v)
            close = Fraction(1, 10**12)
            factors = [Fraction(1), 1 - close, 1 + close, *map(Fraction, 10.0 ** rng.uniform(-2, 2, size=4))]
            for scale in factors:
                majorised, test = exact.sides(v, scale * edge, ridge, Fraction(factor))
                agree += majorised == test
                true += test
                cases += 1
            boundary += all(exact.sides(v, edge, ridge, Fraction(factor)))
            # the library takes the smallest power of eta with which f <= G, here at least the third
            system = DenseSystem(problem.K, problem.sizes, alpha, beta)
            first = float(edge) / 3.0
            b = enlarged(system, exact.gradient(v).astype(float)[:, None], np.array([first]), 1.2)[0]
            chosen += bool(b == next(c for c in _grown(first, 1.2) if exact.sides(v, Fraction(c))[0]))
            tries += 1
            # b between the two: the test passes at v, and G is not above f everywhere
            elsewhere += float(edge) < exact.largest + beta
    problems_tried = cases // 7
    return Evidence(
        verdict=decide(
            agree == cases and boundary == problems_tried and 0 < true < cases and chosen == tries
        ),
        measured=f"the two inequalities are both true or both false in {agree} of {cases} cases, and (25) "
        f"holds in {true}; backtracking stops where f <= G in {chosen} of {tries} runs",
        claimed="in all",
        slack=min(agree - cases, boundary - problems_tried, chosen - tries) + 0.5,
        why="Both sides are computed in rational arithmetic, which separates the boundary b = beta + "
        "g'Qg/g'g from neighbours at a relative distance of 1e-12. The test is about one point only: in "
        f"{elsewhere} of {problems_tried} problems it holds with a b below the Lipschitz constant, where G "
        "is not above f everywhere. Slack is 0.5 minus the number of disagreements.",
        sizes={"cases": cases, "problems": problems_tried, "parameters": 3},
        seeds=(25,),
    )


class _Rational:
    """f, G and (25) of one problem without rounding."""

    def __init__(self, problem: Problem, alpha: float, beta: float) -> None:
        Q = system_matrix(problem.K, problem.sizes, alpha)
        self.Q, self.Kx, self.beta = self.vector(Q), self.vector(problem.Kx), Fraction(beta)
        self.largest = float(np.linalg.eigvalsh(Q)[-1])

    @staticmethod
    def vector(values: np.ndarray) -> np.ndarray:
        return np.vectorize(Fraction, otypes=[object])(values)

    def gradient(self, v: np.ndarray) -> np.ndarray:
        return np.asarray(self.Q @ v + self.beta * v - self.Kx)

    def f(self, w: np.ndarray) -> Fraction:
        return Fraction(w @ (self.Q @ w) / 2 - w @ self.Kx + self.beta * (w @ w) / 2)

    def rayleigh_quotient(self, v: np.ndarray) -> Fraction:
        g = self.gradient(v)
        return Fraction(g @ (self.Q @ g) / (g @ g))

    def sides(
        self, v: np.ndarray, b: Fraction, ridge: int = 1, factor: Fraction = Fraction(1)
    ) -> tuple[bool, bool]:
        """Return whether f <= G at the new point, as (24) defines G, and whether (25) or a rival holds."""
        g = self.gradient(v)
        w = v - g / b
        G = self.f(v) + (w - v) @ g + b * ((w - v) @ (w - v)) / 2
        return bool(self.f(w) <= G), bool(g @ (self.Q @ g) <= factor * (b - ridge * self.beta) * (g @ g))
