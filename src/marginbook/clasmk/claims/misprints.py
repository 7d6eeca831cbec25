r"""The claims on formulas whose letter cannot be meant, and on the kernel (30) itself.

Each evaluates the formula as printed and as it must have been meant.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from ...claims import Evidence, Rival, at_most, claim, decide, short, times
from ...kernels import gram
from ..model.features import FeatureMap
from ..model.kernel_sets import poly, rbf
from ..model.normalised_kernels import normalised_gram
from ..model.subspaces import coordinates, fit_subspaces
from .failing import failing
from .section_2_criteria import blobs
from .section_2_lemma_1 import NOTEBOOK

#: rounding of a Gram matrix with entries of the size of 1
ROUNDING = 1e-9


def class_features(parts: list[np.ndarray], weights: np.ndarray) -> np.ndarray:
    r"""Return :math:`\sum_i\sqrt{\nu_i}z_i` of one class, (n, longest), filled up with zeros."""
    out = np.zeros((len(parts[0]), max(z.shape[1] for z in parts)))
    for z, weight in zip(parts, weights, strict=True):
        out[:, : z.shape[1]] += np.sqrt(weight) * z
    return out


def class_kernel(parts: list[np.ndarray], weights: np.ndarray) -> np.ndarray:
    r"""Return :math:`[h_c(x_a,x_b)]` by the double sum of (29), (n, n), filled up with zeros."""
    out = np.zeros((len(parts[0]),) * 2)
    for (z, a), (w, b) in product(zip(parts, weights, strict=True), repeat=2):
        shared = min(z.shape[1], w.shape[1])
        out += np.sqrt(a * b) * z[:, :shared] @ w[:, :shared].T
    return out


def _longer(original: Callable[..., list[list[np.ndarray]]]) -> Callable[..., list[list[np.ndarray]]]:
    """Return the function of coordinates with coordinates 2 % longer."""
    return lambda *given: [[1.02 * z for z in of_class] for of_class in original(*given)]


@claim(
    "clasmk/psd",
    kind="proof",
    where="Definition 1, (29)-(30), and the map after it",
    statement=r"$h=\sum_ch_c$ is positive semidefinite for all weights $\nu_{c,i}\ge0$ with sum 1, and is "
    "the inner product of the stacked features",
    notebook=f"{NOTEBOOK}#clasmk-psd",
    rivals=(
        Rival("features 1 % longer", swaps={"clasmk.model.features.FeatureMap.__call__": times(1.01)}),
        Rival("features side by side", {"combine": "concat"}),
        Rival("the first class taken off", {"first": -1.0}),
        Rival("coordinates 2 % longer", swaps={"clasmk.model.subspaces.coordinates": _longer}),
    ),
)
def check_psd(*, combine: str = "sum", first: float = 1.0) -> Evidence:
    """Build h by the double sum for random weights; look at its eigenvalues and at the library's map."""
    rng = np.random.default_rng(630)
    kernels = [*rbf((2.0, 0.5)), *poly((1, 4)), ("linear", {})]
    least, apart, flipped, count = np.inf, 0.0, 0.0, 0
    for C in (2, 3, 5):
        X, codes = blobs(rng, C, 15)
        subspaces, new = fit_subspaces(X, codes, kernels), np.vstack([X[::3], blobs(rng, C, 8)[0]])
        parts = coordinates(subspaces, new)
        other = [[z * rng.choice((-1, 1), size=z.shape[1]) for z in of_class] for of_class in parts]
        for alpha in (0.1, 1.0, 10.0):
            nu = rng.dirichlet(np.full(len(kernels), alpha), size=C)
            h = sum(class_kernel(p, w) for p, w in zip(parts, nu, strict=True))
            h = h + (first - 1) * class_kernel(parts[0], nu[0])
            features = FeatureMap.of(subspaces, np.arange(len(kernels)), nu, combine)(new)
            signs = sum(class_kernel(p, w) for p, w in zip(other, nu, strict=True))
            scale = np.abs(h).max()
            least = min(least, np.linalg.eigvalsh(h)[0] / scale, np.linalg.eigvalsh(signs)[0] / scale)
            apart = max(apart, float(np.abs(h - features @ features.T).max() / scale))
            flipped = max(flipped, float(np.abs(h - signs).max() / scale))
            count += 1
    return Evidence(
        verdict=decide(least >= -ROUNDING and apart <= ROUNDING),
        measured=f"the smallest eigenvalue is -{at_most(-least, ROUNDING)} or more, and h differs from the "
        f"Gram matrix of the stacked features by at most {at_most(apart, ROUNDING)}, relative",
        claimed="no negative eigenvalue; no difference",
        slack=min(ROUNDING + least, short(ROUNDING, apart)),
        why="h is the inner product of an explicit feature map, so it is positive semidefinite for every "
        "choice of bases. But the map adds coordinate vectors of different lengths, whose signs and order "
        f"are free. After padding with zeros, other signs of the same bases change h by up to {flipped:.0%} "
        "of its largest value, so the subspaces alone do not define it.",
        sizes={"problems": count, "kernels": len(kernels)},
        seeds=(630,),
    )


@claim(
    "clasmk/rbf-sign",
    kind="statement",
    where="Section 5.1, item 1, the RBF kernel",
    statement=r"$k_{RBF}(x,\tilde x)=\exp(\|x-\tilde x\|^2/\sigma^2)$ is a kernel",
    notebook=f"{NOTEBOOK}#clasmk-misprints",
    rivals=(
        Rival("the minus sign as printed, with which it is", {"sign": -1}),
        Rival("a library with the plus sign", swaps={"kernels.gram": lambda gram: lambda *a: 1 / gram(*a)}),
        Rival("a factor 2 in the correction", {"factor": 2.0}),
    ),
)
def check_sign(*, sign: int = 1, factor: float = 1.0) -> Evidence:
    """Take the Gram matrix of the points 0 and 1, and those of random points for all printed widths."""
    rng = np.random.default_rng(631)
    widths = (10.0, 1.0, 0.5, 0.1, 0.05, 0.01)
    pair = np.exp(sign * np.array([[0.0, 1.0], [1.0, 0.0]]))
    least = np.linalg.eigvalsh(pair)[0]
    meant, off = np.inf, 0.0
    for sigma in widths:
        for p in (1, 5, 30):
            X = rng.normal(size=(40, p)) * sigma
            K = gram(rbf([sigma])[0], X)
            meant = min(meant, float(np.linalg.eigvalsh(K)[0]))
            squares = np.sum((X[:, None] - X) ** 2, axis=2)
            off = max(off, float(np.abs(K - np.exp(-squares / (factor * sigma**2))).max()))
    return Evidence(
        verdict=decide(least >= 0, meant >= -ROUNDING and off <= ROUNDING),
        measured=f"for the points 0 and 1 and sigma = 1 the Gram matrix has the eigenvalue {least:.2f}"
        + failing(
            (meant >= -ROUNDING, f"corrected, an eigenvalue of -{at_most(-meant, ROUNDING)}"),
            (off <= ROUNDING, f"the library's kernel is off by up to {at_most(off, ROUNDING)}"),
        ),
        claimed="no negative eigenvalue",
        slack=float(least),
        why="k(x, x) = 1 and k(x, z) > 1 violate the Cauchy-Schwarz inequality. With the minus sign the "
        f"smallest eigenvalue is -{at_most(-meant, ROUNDING)} or more, at the widths of the paper. There is "
        "no factor 2: gamma is 1/sigma^2.",
        sizes={"widths": list(widths), "points": 40},
        seeds=(631,),
    )


@claim(
    "clasmk/eq-3-max",
    kind="statement",
    where="Section 1, after (3)",
    statement=r"the label is estimated by $\hat y=\max_{c\in\{1\cdots C\}}\xi(c)$",
    notebook=f"{NOTEBOOK}#clasmk-misprints",
    rivals=(
        Rival("arg max as printed, which is the label", {"printed": "arg max"}),
        Rival("the correction with classes from 0", {"first": 0}),
        Rival("the correction by arg min", {"sign": -1}),
    ),
)
def check_label(*, printed: str = "max", first: int = 1, sign: int = 1) -> Evidence:
    """Compare the largest decision value, and its place, with the labels; for two classes with (2)."""
    rng = np.random.default_rng(635)
    labels = places = tested = signs = pairs = 0
    for C in (2, 3, 10):
        codes = rng.integers(C, size=300)
        xi = 0.1 * rng.normal(size=(300, C)) + 2.0 * np.eye(C)[codes] - 1.0
        place = first + (sign * xi).argmax(axis=1)
        value = place if printed == "arg max" else xi.max(axis=1)
        labels += int(np.isin(value, np.arange(1, C + 1)).sum())
        places += int((place == codes + 1).sum())
        tested += len(codes)
        if C == 2:
            # (2) with f = xi(1) - xi(2): +1 for the first class
            signs += int(np.array_equal(np.where(xi[:, 0] - xi[:, 1] >= 0, 1, 2), place))
            pairs += 1
    return Evidence(
        verdict=decide(labels == tested, places == tested and signs == pairs),
        measured=f"the largest value is one of 1, ..., C for {labels} of {tested} samples, whose values are "
        "near 1 for their class and near -1 for the others"
        + failing(
            (places == tested, f"corrected, arg max is the label of {places}"),
            (signs == pairs, f"it is the rule (2) in {signs} of {pairs} problems with two classes"),
        ),
        claimed=f"all {tested} samples",
        slack=float(labels - tested),
        why="The maximum is a value, not a class. The formula means arg max, as Remark 2 writes it: this "
        f"gives the label of {places} of {tested} samples, and for two classes it is the rule (2).",
        sizes={"samples": tested, "classes": [2, 3, 10]},
        seeds=(635,),
    )


@claim(
    "clasmk/eq-40-index",
    kind="proof",
    where="(40) beside the map after (30)",
    statement=r"block $c$ of the features is $\sum_k\sqrt{\nu_{c,k}}\,U_{c,k}^\top\varphi_c(x)$",
    notebook=f"{NOTEBOOK}#clasmk-misprints",
    rivals=(
        Rival(r"$\varphi_k$ as printed, which gives (30)", {"printed": "k"}),
        Rival("the correction 1 % longer", swaps={"clasmk.model.features.FeatureMap.__call__": times(1.01)}),
        Rival("the correction side by side", {"combine": "concat"}),
    ),
)
def check_feature_index(*, printed: str = "c", combine: str = "sum") -> Evidence:
    """Evaluate (40) with the c-th kernel's values on the k-th kernel's basis, and with its own."""
    rng = np.random.default_rng(632)
    kernels = [*rbf((2.0, 0.7)), *poly((2,))]
    nearest, apart, skewed, undefined, count = np.inf, 0.0, 0.0, 0, 0
    for C in (2, 3, 5):
        X, codes = blobs(rng, C, 20)
        new = blobs(rng, C, 10)[0]
        subspaces = fit_subspaces(X, codes, kernels)
        parts = coordinates(subspaces, new)
        nu = rng.dirichlet(np.ones(len(kernels)), size=C)
        h = sum(class_kernel(p, w) for p, w in zip(parts, nu, strict=True))
        meant = FeatureMap.of(subspaces, np.arange(len(kernels)), nu, combine)(new)
        apart = max(apart, float(np.abs(meant @ meant.T - h).max() / np.abs(h).max()))
        count += 1
        if len(kernels) < C and printed == "c":
            undefined += 1
            continue
        literal = []
        for c, of_class in enumerate(subspaces):
            at = [k if printed == "k" else c for k in range(len(kernels))]
            K = [normalised_gram(kernels[k], new, s.rows) for k, s in zip(at, of_class, strict=True)]
            literal.append(class_features([k @ s.A for k, s in zip(K, of_class, strict=True)], nu[c]))
            for k, s in enumerate(of_class):
                if k != at[k]:
                    inner = s.A.T @ normalised_gram(kernels[at[k]], s.rows) @ s.A
                    skewed = max(skewed, float(np.abs(inner - np.eye(len(inner))).max()))
        L = np.hstack(literal)
        nearest = min(nearest, float(np.abs(L @ L.T - h).max() / np.abs(h).max()))
    return Evidence(
        verdict=decide(nearest <= ROUNDING and undefined == 0, apart <= ROUNDING),
        measured=f"the Gram matrix differs from h of (30) by at least {nearest:.1f} times the largest entry "
        f"of h; with more classes than kernels ({undefined} of {count} problems) there is no c-th kernel"
        + failing((apart <= ROUNDING, f"corrected, it differs by up to {at_most(apart, ROUNDING)} times")),
        claimed="no difference",
        slack=ROUNDING - nearest,
        why="U_{c,k} lives in the feature space of the k-th kernel, so the map must be phi_k, as in the "
        f"display after (30); with it the Gram matrix equals h to {at_most(apart, ROUNDING)}. For another "
        f"kernel the columns of U_{{c,k}} are not even orthonormal: inner products are off by up to "
        f"{skewed:.0e}. The first block of (40) sums over i, but its terms depend on k.",
        sizes={"problems": count, "kernels": len(kernels)},
        seeds=(632,),
    )
