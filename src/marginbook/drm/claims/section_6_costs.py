r"""The claims of Section VI about costs: multiplications per iteration, low-rank kernels, the closed form.

What the algorithms multiply as they are printed is counted by the numbers of
:mod:`marginbook.drm.claims.counted_arithmetic`; what the library's organisation of them multiplies, by the
counter of its operators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from ...claims import Evidence, Rival, claim, decide, times
from ..model.operators import DenseSystem, LinearSystem, System
from ..solvers.direct import closed_form
from ..solvers.first_order import accelerated, enlarged, gradient_descent, proximal_point
from ..solvers.iteration import Iterates
from .counted_arithmetic import Printed, degree, plain_array
from .results import read_sizes

Solver: TypeAlias = Callable[..., Iterates]

SHAPES = ((12, 1, 1), (12, 3, 2), (30, 5, 3), (48, 2, 4), (24, 30, 6))  # n, p, g
#: many features, so that 2 % of the count is more than what "about" allows
WIDE = ((12, 200, 2), (10, 150, 1))
#: iterations a test point in Figure 1, and passes that LIBLINEAR does at most
ITERATIONS, PASSES = 50, 1000


@dataclass(frozen=True)
class Count:
    """Multiplications in one iteration of one algorithm at one size.

    Attributes
    ----------
    algorithm : str
        "GD", "PPA" or "APG".
    kernel : str
        "linear" for the products (21) to (23), "general" for those with Q.
    n, p, g : int
    printed : int
        What the paper says.
    described : int
        What its text does, counted number by number.
    library : int
        What the library does, counted by its operators.
    setup : int
        For the general kernel, what forming Q took once, with a linear kernel; else 0.
    """

    algorithm: str
    kernel: str
    n: int
    p: int
    g: int
    printed: int
    described: int
    library: int
    setup: int


def per_iteration(n: int, p: int, g: int, seed: int = 0) -> list[Count]:
    """Count one iteration of each algorithm on random data with `g` classes of about n/g examples."""
    rng = np.random.default_rng(seed)
    X, x = rng.normal(size=(n, p)), rng.normal(size=p)
    sizes = [len(part) for part in np.array_split(np.arange(n), g)]
    alpha, beta, start = 0.7, 0.4, rng.normal(size=(n, 1))
    linear, dense = LinearSystem(X, sizes, alpha, beta), DenseSystem(X @ X.T, sizes, alpha, beta)
    c, Kx = linear.safe_eigenvalue(), linear.kernel_vectors(x[None])
    paper = Printed(X, sizes, Kx[:, 0], alpha, beta, c)
    Q, setup = paper.count(paper.matrix)
    w = paper.tally.numbers(start[:, 0])
    solvers: dict[str, Solver] = {
        "GD": partial(gradient_descent, carry=True),
        "PPA": partial(proximal_point, c=c),
        "APG": partial(accelerated, b=c + beta),
    }
    general, rows = (p + 2) * n**2, []
    for kernel, system, product, printed, once in (
        ("linear", linear, paper.linear_product, ((8 * p + 7) * n, (4 * p + 4) * n, (4 * p + 5) * n), 0),
        ("general", dense, Q.__matmul__, (general, general, n**2), setup),
    ):
        steps = (paper.gradient_descent, paper.proximal_point, paper.accelerated)
        for (name, solver), step, claimed in zip(solvers.items(), steps, printed, strict=True):
            new, described = paper.count(partial(step, product, w))
            # counts of something else than the algorithm would be of no use
            theirs = solver(system, Kx, max_iter=1, tol=0.0, start=start).weights[:, 0]
            np.testing.assert_allclose(plain_array(new), theirs, rtol=1e-9, atol=1e-9)
            library = _later_iteration(solver, system, Kx)
            rows.append(Count(name, kernel, n, p, g, claimed, described, library, once))
    return rows


def _later_iteration(solver: Solver, system: System, Kx: np.ndarray) -> int:
    """Return the multiplications of the third iteration; the first may prepare something."""
    two, three = (solver(system, Kx, max_iter=t, tol=0.0).multiplications for t in (2, 3))
    return three - two


def _all_counts() -> Iterator[tuple[Count, float]]:
    """Yield the counts at all shapes, and the smallest term that the paper states: n, or n^2 with Q."""
    for n, p, g in SHAPES:
        for row in per_iteration(n, p, g):
            yield row, n if row.kernel == "linear" else n**2


def _worst(
    algorithm: str,
    kernel: str,
    printed: Callable[[Count], float],
    correct: Callable[[Count], int],
    library: Callable[[Count], int],
) -> tuple[float, float, Count]:
    """Return the largest deviation of the printed and of the corrected counts, in smallest terms; and a row.

    The paper gives its counts in whole multiples of the smallest term: nearer than half of it is agreement.
    """
    off = corrected = 0.0
    shown = None
    for row, term in _all_counts():
        if (row.algorithm, row.kernel) == (algorithm, kernel):
            off = max(off, abs(row.described - printed(row)) / term)
            both = abs(row.described - correct(row)) + abs(row.library - library(row))
            corrected = max(corrected, both / term)
            shown = row
    assert shown is not None
    return off, corrected, shown


def _uncounted(scale: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """Return a swap of the operators' multiplication by a number: it counts nothing."""
    return lambda system, V, factor: V * factor


NOT_COUNTED = Rival("a library that does not count its scaling", swaps={"drm.model.operators.System.scale": _uncounted})


@claim(
    "drm/thm-VI.1-flops",
    kind="proof",
    where="Theorem VI.1, last sentence",
    statement=r"an iteration of Algorithm 3 costs $(p+2)n^2$ flops with a general kernel, in particular $(8p+7)n$ "
    "with the linear one",
    notebook="drm/02_algorithms#drm-thm-vi-1-flops",
    rivals=(
        Rival("(8p+11)n and 2n^2 printed", {"linear": 11, "with_p": 0}),
        Rival("corrected, (8p+10)n + 1", {"counted": 10}),
        Rival("corrected, 3n^2 + 5n + 1", {"products": 3}),
        NOT_COUNTED,
        Rival(
            "a step 2 % longer",
            swaps={"drm.claims.counted_arithmetic.Printed.gradient_descent": times(1.02)},
        ),
    ),
)
def check_gradient_cost(linear: int = 7, with_p: int = 1, counted: int = 11, products: int = 2) -> Evidence:
    """Count Algorithm 3 as printed, with both kernels, beside the organisation of the library."""
    off, exact, _ = _worst(
        "GD",
        "linear",
        lambda r: (8 * r.p + linear) * r.n,
        lambda r: (8 * r.p + counted) * r.n + 1,
        lambda r: (2 * r.p + 6) * r.n + r.p * r.g,
    )
    off_general, exact_general, dense = _worst(
        "GD",
        "general",
        lambda r: (with_p * r.p + 2) * r.n**2,
        lambda r: products * r.n**2 + 5 * r.n + 1,
        lambda r: r.n**2 + 5 * r.n,
    )
    printed = max(off, off_general)
    corrected = max(exact, exact_general)
    return Evidence(
        decide(printed < 0.5, corrected == 0.0),
        f"linear: (8p+11)n+1, and (2p+6)n+pg in the library's order; any kernel: 2n^2+5n+1 after "
        f"{dense.setup} once (p={dense.p}, n={dense.n})",
        "(8p+7)n; (p+2)n^2",
        0.5 - printed,
        "Section VI-B leaves out the division by n_i in Bv (Section VI-D counts it) and the product with "
        "alpha: 2n for each of two products. With any kernel p n^2 is the cost of K, once and not in "
        "every iteration. One product suffices if ||x||^2 is kept, x_i v_i shared and the gradient "
        "updated. Slack in units of n and n^2: 0.5 minus the largest difference.",
        {"shapes (n, p, g)": [list(shape) for shape in SHAPES]},
        (0,),
    )


@claim(
    "drm/prop-VI.1",
    kind="proof",
    where="Proposition VI.1 and its proof",
    statement=r"with a general kernel the updating rule (17), with $K$ and $Q$ computed for it, costs about $(p+2)n^2$ "
    "flops",
    notebook="drm/02_algorithms#drm-prop-vi-1",
    rivals=(
        Rival("2 % more", {"factor": 1.02}),
        Rival("(p+4)n^2", {"constant": 4}),
        Rival("(2p+2)n^2", {"per_feature": 2}),
        Rival("every later update as well", {"first": False}),
        NOT_COUNTED,
    ),
)
def check_general_cost(
    constant: int = 2, per_feature: int = 1, factor: float = 1.0, first: bool = True
) -> Evidence:
    """Count one update of Algorithm 4 as printed, and what comes once before it."""
    worst, later, count = 0.0, 0.0, 0
    for n, p, g in (*SHAPES, *WIDE):
        row = next(r for r in per_iteration(n, p, g) if (r.algorithm, r.kernel) == ("PPA", "general"))
        about = factor * (per_feature * p + constant) * n**2
        whole = row.described + (row.setup if first else 0)
        # "about n^2" stands for alpha (H - B), which takes twice the sum of the n_i^2: up to 2 n^2
        worst = max(worst, abs(whole - about) / (2 * n**2))
        later = max(later, float(abs(row.described - n**2 - 2 * n) + abs(row.library - n**2 - 2 * n)))
        count += 1
    return Evidence(
        decide(worst <= 1.0 and later == 0.0),
        f"within {2 * worst:.2f} n^2 of it, once; every later update n^2+2n",
        "about (p+2)n^2",
        1.0 - worst,
        "The proof adds up p n^2 for K, about n^2 for alpha (H - B), and n^2 for the product with Q. All three are "
        "counted; alpha (H - B) takes twice the sum of the n_i^2, between 2n^2/g and 2n^2, so that a difference of 2n^2 "
        "is allowed for 'about'.",
        {"shapes (n, p, g)": [list(shape) for shape in (*SHAPES, *WIDE)]},
        (0,),
        reading="The rule with its set-up, as in the proof. As the cost of every update it would be "
        "p+2 times too high: (p+1)n^2 of it come once, and m updates cost about (p+1+m)n^2.",
    )


@claim(
    "drm/prop-VI.2",
    kind="proof",
    where="Proposition VI.2",
    statement=r"Algorithm 5 costs $(4p+4)mn$ flops, $(4p+4)n$ in each of $m$ iterations",
    notebook="drm/02_algorithms#drm-prop-vi-2",
    rivals=(
        Rival("(4p+5)n printed", {"printed": 5}),
        Rival("corrected, (4p+6)n", {"counted": 6}),
        Rival("corrected, (3p+5)n", {"products": 3}),
        NOT_COUNTED,
        Rival("an update 2 % longer", swaps={"drm.claims.counted_arithmetic.Printed.proximal_point": times(1.02)}),
    ),
)
def check_linear_cost(printed: int = 4, counted: int = 5, products: int = 4) -> Evidence:
    """Count one iteration of Algorithm 5 as printed, beside the organisation of the library."""
    off, exact, _ = _worst(
        "PPA",
        "linear",
        lambda r: (4 * r.p + printed) * r.n,
        lambda r: (products * r.p + counted) * r.n,
        lambda r: (2 * r.p + 3) * r.n + r.p * r.g,
    )
    return Evidence(
        decide(off < 0.5, exact == 0.0),
        "(4p+5)n as described; (2p+3)n+pg in the library's order",
        "(4p+4)n",
        0.5 - off,
        "(21) to (23) cost the (4p+2)n that the paper counts, without counting A v twice; step 6 also "
        "multiplies by alpha, another n. But p n of them compute the same norms again in every iteration, "
        "and (21) and (22) can share the product with A': 2pn is enough. Slack in units of n: 0.5 minus "
        "the largest difference.",
        {"shapes (n, p, g)": [list(shape) for shape in SHAPES]},
        (0,),
    )


def _blind(search: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """Return a swap of the search for b: it returns what it was given."""
    return lambda system, G, b, eta: b


def _free_inner(inner: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """Return a swap of the operators' inner product: it counts nothing."""
    return lambda system, U, V: np.einsum("nm,nm->m", U, V)


@claim(
    "drm/apg-flops",
    kind="statement",
    where="Section VI-E, paragraph before Theorem VI.4, and item 2 of the remarks after it",
    statement=r"step 4 of Algorithm 6 costs $i_t(n+1)^2$ flops with a general kernel and $i_t(2(p+1)n+p(g+1))$ with the "
    r"linear one, steps 5 and 6 $n^2$ and $(4p+5)n$",
    notebook="drm/02_algorithms#drm-apg-flops",
    rivals=(
        Rival("corrected, (4p+7)n + 1 for steps 5 and 6", {"steps": 7}),
        Rival("corrected, (2p+2)n in step 4", {"search": 2}),
        Rival("corrected, the product again for every b", {"shared": False}),
        Rival("(4p+6)n printed, and step 4 left out", {"printed": 6, "with_search": False}),
        Rival("backtracking of the library that looks at nothing", swaps={"drm.solvers.first_order.enlarged": _blind}),
        Rival("a library that does not count inner products", swaps={"drm.model.operators.System.inner": _free_inner}),
    ),
)
def check_accelerated_cost(
    printed: int = 5, steps: int = 6, search: int = 3, shared: bool = True, with_search: bool = True
) -> Evidence:
    """Count steps 5 and 6 of Algorithm 6, and step 4 for several i_t, beside the library's search."""
    off, exact, _ = _worst(
        "APG",
        "linear",
        lambda r: (4 * r.p + printed) * r.n,
        lambda r: (4 * r.p + steps) * r.n + 1,
        lambda r: (2 * r.p + 4) * r.n + r.p * r.g,
    )
    off_general, exact_general, _ = _worst(
        "APG", "general", lambda r: r.n**2, lambda r: r.n**2 + 3 * r.n + 1, lambda r: r.n**2 + 3 * r.n
    )
    off, exact, seen = max(off, off_general), max(exact, exact_general), set()
    for n, p, g in SHAPES:
        for row in _searches(n, p, g):
            linear, i_t = row.kernel == "linear", row.tries
            once = (2 * p + search) * n + p * (g + 1) + g + 1 if linear else n**2 + 2 * n
            claimed = i_t * (2 * (p + 1) * n + p * (g + 1) if linear else (n + 1) ** 2)
            true = once * (1 if shared else i_t + 1) + 1 + 2 * i_t
            library = (2 * p + 3) * n + p * g if linear else n**2 + 2 * n
            exact = max(exact, float(abs(row.described - true) + abs(row.library - library)))
            if with_search:
                off = max(off, abs(row.described - claimed) / (n if linear else n**2))
            seen.add(i_t)
    return Evidence(
        decide(off < 0.5, exact == 0.0),
        "steps 5 and 6: n^2+3n+1 and (4p+6)n+1; step 4: n^2+2n+1+2i_t and (2p+3)n+p(g+1)+g+2+2i_t",
        "n^2 and (4p+5)n; i_t(n+1)^2 and i_t(2(p+1)n+p(g+1))",
        0.5 - off,
        "The linear kernel's count leaves out the product with alpha, as the other algorithms' do. In step 4 neither "
        "g'Qg nor g'g changes with b: they are needed once, also for i_t = 0, where the printed cost is 0, and a further "
        "power of eta costs two products of numbers. With the linear kernel g'g, n, is left out. Slack in units of n and "
        "n^2: 0.5 minus the largest difference.",
        {"shapes (n, p, g)": [list(shape) for shape in SHAPES], "i_t": sorted(seen)},
        (0,),
    )


@dataclass(frozen=True)
class Search:
    """Multiplications of one search for b by (25): `described` number by number, and those of the library."""

    kernel: str
    tries: int
    described: int
    library: int


def _searches(n: int, p: int, g: int) -> Iterator[Search]:
    """Count the search of step 4 that ends at once, and one that multiplies b three times or so."""
    rng = np.random.default_rng(1)
    X, G = rng.normal(size=(n, p)), rng.normal(size=(n, 1))
    sizes = [len(part) for part in np.array_split(np.arange(n), g)]
    alpha, beta, eta = 0.7, 0.4, 1.5
    systems = {"linear": LinearSystem(X, sizes, alpha, beta), "general": DenseSystem(X @ X.T, sizes, alpha, beta)}
    paper = Printed(X, sizes, np.zeros(n), alpha, beta, 1.0)
    Q, gradient = paper.matrix(), paper.tally.numbers(G[:, 0])
    curvature = float(np.sum(G * systems["general"].apply(G)) / np.sum(G**2)) + beta
    for kernel, system in systems.items():
        for b in (1.01 * curvature, 0.99 * curvature / eta**2):
            before = system.multiplications
            found = enlarged(system, G, np.array([b]), eta)[0]
            library = system.multiplications - before
            before = paper.tally.count
            theirs, tries = paper.backtracking(gradient, b, eta, Q.__matmul__ if kernel == "general" else None)
            described = paper.tally.count - before
            np.testing.assert_allclose(found, theirs, rtol=1e-9)
            yield Search(kernel, tries, described, library)


@claim(
    "drm/linear-efficiency",
    kind="statement",
    where="Section I, paragraph before the contributions",
    statement="the efficiency of the linear DRM's algorithms is linear in data size, on a par with that of the linear SVM",
    notebook="drm/02_algorithms#drm-linear-efficiency",
    rivals=(
        Rival("n^1.02 for n", {"in_n": 1.02}),
        Rival("n^2 for n", {"in_n": 2.0}),
        Rival("free of the number of features", {"in_p": 0.0}),
        Rival("the same with any kernel", {"kernel": "general"}),
    ),
)
def check_linear_efficiency(in_n: float = 1.0, in_p: float = 1.0, kernel: str = "linear") -> Evidence:
    """Find the exact degrees of an iteration's count in n and p, for the algorithms and a pass of an SVM's."""

    def cost(algorithm: str, n: int, p: int) -> int:
        if algorithm == "SVM":
            X = np.random.default_rng(2).normal(size=(n, p))
            svm = Printed(X, [n], np.zeros(n), 0.0, 1.0, 1.0)
            return svm.count(lambda: svm.coordinate_pass(np.resize([1.0, -1.0], n), 1.0))[1]
        row = next(r for r in per_iteration(n, p, 2) if (r.algorithm, r.kernel) == (algorithm, kernel))
        return row.described

    names = ("GD", "PPA", "APG", "SVM")
    in_size = {name: degree([cost(name, n, 3) for n in (4, 8, 12, 16)]) for name in names}
    in_width = {name: degree([cost(name, 8, p) for p in (1, 2, 3, 4)]) for name in names}
    frame = read_sizes("table-4")
    drm = [ITERATIONS * (4 * row.p + 5) * row.train * row.test for row in frame.itertuples()]
    svm = [PASSES * (2 * row.p + 3) * row.train for row in frame.itertuples()]
    ratios = sorted(ours / theirs for ours, theirs in zip(drm, svm, strict=True))
    good = all(in_size[name] == in_n and in_width[name] == in_p for name in names)
    return Evidence(
        decide(good),
        "degrees in n and p: " + ", ".join(f"{name} {in_size[name]} and {in_width[name]}" for name in names),
        "linear, as the linear SVM",
        0.5 if good else -0.5,
        "What one iteration multiplies for one test point, and one pass of dual coordinate descent, counted number by "
        "number; the degrees are exact, from differences of the counts.",
        {"n": [4, 16], "p": [1, 4]},
        (0, 2),
        reading="On a par in the order of growth, an iteration and one test point beside a pass. For a whole test set the "
        f"DRM multiplies more: PPA with {ITERATIONS} iterations a test point on the sizes of Table IV, {ratios[0]:.0f} to "
        f"{ratios[-1]:.0f} times {PASSES} passes, the limit of LIBLINEAR; every test point has a problem of its own.",
    )


@claim(
    "drm/remark-2",
    kind="proof",
    where="Remark 2",
    statement=r"the closed form (13) costs $O(n^2p+n^3)$, $n^2p$ for $K$ and $B$ and $n^3$ for the inversion; with $p\gg n$ it "
    r"is $O(n^2p)$, with $n\gg p$ it is $O(n^3)$",
    notebook="drm/02_algorithms#drm-remark-2",
    rivals=(
        Rival("n^2.94 for n^3", {"inversion": 2.94}),
        Rival("n^2.1 for n^3", {"inversion": 2.1}),
        Rival("n^2.04 p for n^2 p", {"matrix": (2.04, 1)}),
        Rival("n^2 p^2 for n^2 p", {"matrix": (2, 2)}),
        Rival("n^2 alone for K and B", {"matrix": (2, 0)}),
        Rival("closed form of the library 2 % off", swaps={"drm.solvers.direct.ClosedForm.weights": times(1.02)}),
    ),
)
def check_closed_form_cost(inversion: float = 3.0, matrix: tuple[float, float] = (2, 1)) -> Evidence:
    """Count K, B and Gaussian elimination number by number, and take the degrees from differences."""
    sizes, widths = (3, 6, 9, 12, 15, 18), (1, 2, 3, 4)
    rng = np.random.default_rng(30)
    counts = {}
    for n, p in (*((n, 3) for n in sizes), *((6, p) for p in widths)):
        X, Kx = rng.normal(size=(n, p)), rng.normal(size=n)
        classes = (n // 3, n - n // 3)
        paper = Printed(X, classes, Kx, 0.7, 0.4, 1.0)
        formed = paper.count(lambda paper=paper: paper.system)[1]
        w, solved = paper.count(paper.closed_form)
        theirs = closed_form(X @ X.T, classes, 0.7, 0.4).weights(Kx[:, None])[:, 0]
        np.testing.assert_allclose(plain_array(w), theirs, rtol=1e-9, atol=1e-12)
        counts[n, p] = formed, solved
    found = [
        (degree([counts[n, 3][part] for n in sizes]), degree([counts[6, p][part] for p in widths])) for part in (0, 1)
    ]
    good = found == [matrix, (inversion, 0)]
    largest = sizes[-1]
    share = counts[largest, 3][1] / (largest**3 / 3)
    return Evidence(
        decide(good),
        f"degrees in n and p: {found[0]} of K and Q, {found[1]} of the elimination, which takes {share:.2f} n^3/3 "
        f"at n = {largest}",
        "(2, 1); (3, 0)",
        0.5 if good else -0.5,
        "Gaussian elimination with one right-hand side on numbers that count, to the weights of the library's closed form; "
        "the degrees are exact, from differences of the counts. What is impractical for large n is Algorithm 2: for the "
        "linear kernel drm/one-pass gives the same solution.",
        {"n": list(sizes), "p": list(widths)},
        (30,),
    )
