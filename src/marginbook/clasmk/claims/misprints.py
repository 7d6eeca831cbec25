r"""The claims on formulas whose letter cannot be meant, and on the kernel (30) itself.

Each evaluates the formula as printed and as it must have been meant.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from ...claims import Evidence, at_most, claim, decide
from ...kernels import gram
from ..estimators.uncertain_rows import confidence
from ..model.kernel_sets import poly, rbf
from ..model.normalised_kernels import normalised_gram
from ..model.subspaces import coordinates, fit_subspaces
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


@claim(
    "clasmk/psd",
    kind="statement",
    where="Definition 1, (29)-(30)",
    statement=r"$h=\sum_ch_c$ is positive semidefinite for all weights $\nu_{c,i}\ge0$ with sum 1",
    notebook=f"{NOTEBOOK}#clasmk-psd",
)
def check_psd() -> Evidence:
    """Build h by the double sum for random weights; look at its eigenvalues and at the feature map."""
    rng = np.random.default_rng(630)
    kernels = [*rbf((2.0, 0.5)), *poly((1, 4)), ("linear", {})]
    least, apart, flipped, count = np.inf, 0.0, 0.0, 0
    for C in (2, 3, 5):
        X, codes = blobs(rng, C, 15)
        parts = coordinates(fit_subspaces(X, codes, kernels), np.vstack([X[::3], blobs(rng, C, 8)[0]]))
        other = [[z * rng.choice((-1, 1), size=z.shape[1]) for z in of_class] for of_class in parts]
        for alpha in (0.1, 1.0, 10.0):
            nu = rng.dirichlet(np.full(len(kernels), alpha), size=C)
            h = sum(class_kernel(p, w) for p, w in zip(parts, nu, strict=True))
            features = np.hstack([class_features(p, w) for p, w in zip(parts, nu, strict=True)])
            signs = sum(class_kernel(p, w) for p, w in zip(other, nu, strict=True))
            scale = np.abs(h).max()
            least = min(least, np.linalg.eigvalsh(h)[0] / scale, np.linalg.eigvalsh(signs)[0] / scale)
            apart = max(apart, float(np.abs(h - features @ features.T).max() / scale))
            flipped = max(flipped, float(np.abs(h - signs).max() / scale))
            count += 1
    return Evidence(
        decide(least >= -ROUNDING and apart <= ROUNDING),
        f"smallest eigenvalue -{at_most(-least, ROUNDING)} or more, and h differs from the Gram matrix of "
        f"the stacked features by at most {at_most(apart, ROUNDING)}, relative",
        "0 or more; 0",
        ROUNDING + least,
        "h is the inner product of an explicit feature map. But the map adds coordinate vectors of "
        "different lengths "
        "whose signs and order are free: after filling up with zeros, other signs of the same bases change "
        "h by up "
        f"to {flipped:.0%} of its largest value. It is positive semidefinite for every choice, and defined "
        "only by one.",
        {"problems": count, "kernels": len(kernels)},
        (630,),
    )


@claim(
    "clasmk/rbf-sign",
    kind="statement",
    where="Section 5.1",
    statement=r"$k_{RBF}(x,\tilde x)=\exp(\|x-\tilde x\|^2/\sigma^2)$ is a kernel",
    notebook=f"{NOTEBOOK}#clasmk-misprints",
)
def check_sign() -> Evidence:
    """Take the Gram matrix of the points 0 and 1, and those of random points for all printed widths."""
    rng = np.random.default_rng(631)
    widths = (10.0, 1.0, 0.5, 0.1, 0.05, 0.01)
    pair = np.exp(np.array([[0.0, 1.0], [1.0, 0.0]]))
    least = np.linalg.eigvalsh(pair)[0]
    meant = np.inf
    for sigma in widths:
        for p in (1, 5, 30):
            K = gram(("rbf", {"gamma": sigma**-2}), rng.normal(size=(40, p)) * sigma)
            meant = min(meant, float(np.linalg.eigvalsh(K)[0]))
    return Evidence(
        decide(least >= 0, meant >= -ROUNDING),
        f"for the points 0 and 1 and sigma = 1 the Gram matrix has the eigenvalue {least:.2f}",
        "0 or more",
        float(least),
        "k(x, x) = 1 and k(x, z) > 1 break the inequality of Cauchy and Schwarz. With the minus sign the "
        f"smallest eigenvalue is -{at_most(-meant, ROUNDING)} or more, at the widths of the paper; there is "
        "no factor 2: gamma is 1/sigma^2.",
        {"widths": list(widths), "points": 40},
        (631,),
    )


@claim(
    "clasmk/eq-3-max",
    kind="statement",
    where="Section 1, after (3)",
    statement=r"the label is estimated by $\hat y=\max_{c\in\{1\cdots C\}}\xi(c)$",
    notebook=f"{NOTEBOOK}#clasmk-misprints",
)
def check_label() -> Evidence:
    """Compare the largest decision value, and its place, with the labels; for two classes with (2)."""
    rng = np.random.default_rng(635)
    labels = places = tested = signs = pairs = 0
    for C in (2, 3, 10):
        codes = rng.integers(C, size=300)
        xi = 0.1 * rng.normal(size=(300, C)) + 2.0 * np.eye(C)[codes] - 1.0
        value, place = xi.max(axis=1), 1 + xi.argmax(axis=1)
        labels += int(np.isin(value, np.arange(1, C + 1)).sum())
        places += int((place == codes + 1).sum())
        tested += len(codes)
        if C == 2:
            # (2) with f = xi(1) - xi(2): +1 for the first class
            signs += int(np.array_equal(np.where(xi[:, 0] - xi[:, 1] >= 0, 1, 2), place))
            pairs += 1
    return Evidence(
        decide(labels == tested, places == tested and signs == pairs),
        f"the largest value is one of 1, ..., C for {labels} of {tested} samples whose values are near 1 for "
        "their class and -1 for the others",
        f"{tested}",
        float(labels - tested),
        "The maximum is a value, not a class. arg max is meant, as Remark 2 has it: it is the label of "
        f"{places} of {tested}, and for two classes the rule (2).",
        {"samples": tested, "classes": [2, 3, 10]},
        (635,),
    )


@claim(
    "clasmk/eq-40-index",
    kind="statement",
    where="(40) beside the map after (30)",
    statement=r"block $c$ of the features is $\sum_k\sqrt{\nu_{c,k}}\,U_{c,k}^\top\varphi_c(x)$",
    notebook=f"{NOTEBOOK}#clasmk-misprints",
)
def check_feature_index() -> Evidence:
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
        meant = np.hstack([class_features(p, w) for p, w in zip(parts, nu, strict=True)])
        apart = max(apart, float(np.abs(meant @ meant.T - h).max() / np.abs(h).max()))
        count += 1
        if len(kernels) < C:
            undefined += 1
            continue
        literal = []
        for c, of_class in enumerate(subspaces):
            K = [normalised_gram(kernels[c], new, s.rows) for s in of_class]
            literal.append(class_features([k @ s.A for k, s in zip(K, of_class, strict=True)], nu[c]))
            for k, s in enumerate(of_class):
                if k != c:
                    inner = s.A.T @ normalised_gram(kernels[c], s.rows) @ s.A
                    skewed = max(skewed, float(np.abs(inner - np.eye(len(inner))).max()))
        L = np.hstack(literal)
        nearest = min(nearest, float(np.abs(L @ L.T - h).max() / np.abs(h).max()))
    return Evidence(
        decide(nearest <= ROUNDING and undefined == 0, apart <= ROUNDING),
        f"the Gram matrix differs from h of (30) by {nearest:.1f} times the largest entry of h or more; "
        "with more classes "
        f"than kernels ({undefined} of {count} problems) there is no c-th kernel",
        "0",
        -nearest,
        "U_{c,k} lives in the feature space of the k-th kernel, so the map is phi_k, as in the display "
        f"after (30), with which the Gram matrix is h to {at_most(apart, ROUNDING)}. The columns of "
        "U_{c,k} are not even orthonormal for another kernel: inner products are off by up to "
        f"{skewed:.0e}. The first block of (40) sums over i what depends on k.",
        {"problems": count, "kernels": len(kernels)},
        (632,),
    )


@claim(
    "clasmk/eq-44",
    kind="proof",
    where="(44)-(45) beside Remark 2",
    statement=r"$\kappa$ says how surely a sample is on the right side; marginal: $-1<\kappa<1$",
    notebook=f"{NOTEBOOK}#clasmk-misprints",
)
def check_confidence() -> Evidence:
    """Compare the signs of both confidences with the decision, for random decision values."""
    rng = np.random.default_rng(633)
    printed = signed = below_zero = tested = same = correct = 0
    for C in (2, 3, 10):
        codes = rng.integers(C, size=400)
        xi = rng.normal(size=(400, C)) + 1.0 * np.eye(C)[codes]
        right = np.argmax(xi, axis=1) == codes
        plain, own = confidence(xi, codes, "printed"), confidence(xi, codes, "signed")
        tested += len(codes)
        below_zero += int((plain < 0).sum())
        printed += int(((plain > 0) == right).sum())
        signed += int(((own > 0) == right).sum())
        same += int(np.isclose(plain[right], own[right]).sum())
        correct += int(right.sum())
    worst = np.array([[3.0, -3.0]])
    values = [float(confidence(worst, np.array([1]), margin)[0]) for margin in ("printed", "signed")]
    return Evidence(
        decide(printed == tested, signed == tested and same == correct and values[1] < 0),
        f"(44) is negative for {below_zero} of {tested} samples; its sign agrees with the decision for "
        f"{printed}. A sample of the "
        f"second class with the decision values 3 and -3 has kappa = {values[0]:g}",
        "negative where the decision is wrong",
        float(printed / tested - 1),
        "The best value less the second best is never negative, so the most certain errors count as "
        "confident, and (45) with "
        "T = 1 leaves them out of the next layer. With the value of the sample's own class less the best of "
        "the others "
        f"the sign is right for {signed}, and kappa is {values[1]:g} for that sample; for correct samples "
        "the two are the "
        "same. T is to be in (0, 1) in Section 4 and is 1 in the experiments; Remark 2's open interval (-1, "
        "1) would "
        "leave out errors with kappa <= -1, which (45) takes in.",
        {"samples": tested, "classes": [2, 3, 10]},
        (633,),
    )


def stopping(nus: list[np.ndarray], eps: float, *, printed: bool) -> tuple[int, list[float]]:
    r"""Run the loop of Section 4 on given weights of the layers, and return the layers learned and all d.

    Parameters
    ----------
    nus : list of (C, K) arrays
        The initial weights, then what Algorithm 1 would return for layer 1, 2, ...; as many as it may learn.
    eps : float
    printed : bool
        Take :math:`\nu^{(L)}-\nu^{(L-1)}` after L was raised, which needs a layer that is not there yet.

    Raises
    ------
    LookupError
        The difference needs weights that no layer has learned.
    """
    learned = {0: nus[0]}
    L, d, before, found = 1, 1.0, 0.0, []
    while len(nus) > L and d > eps:
        learned[L] = nus[L]
        L += 1
        last = L if printed else L - 1
        if last not in learned:
            raise LookupError(f"layer {last} is needed and {L - 1} is the last one learned")
        now = float(np.linalg.norm(learned[last] - learned[last - 1]))
        d, before = abs(now - before), now
        found.append(d)
    return L - 1, found


@claim(
    "clasmk/delta-index",
    kind="statement",
    where="Section 4, the loop",
    statement=r"after $L\leftarrow L+1$, $\delta_+=\|\nu^{(L)}-\nu^{(L-1)}\|_F$ compares the last two layers",
    notebook=f"{NOTEBOOK}#clasmk-misprints",
)
def check_stopping() -> Evidence:
    """Run the loop on weights that converge, with the printed index and the one before; then on a cycle."""
    rng = np.random.default_rng(634)
    defined = stopped = count = 0
    for C, K in product((2, 5), (2, 8)):
        limit = rng.dirichlet(np.ones(K), size=C)
        start = np.full((C, K), 1 / K)
        nus = [start] + [limit + 0.3**k * (rng.dirichlet(np.ones(K), size=C) - limit) for k in range(1, 20)]
        count += 1
        try:
            stopping(nus, 1e-3, printed=True)
            defined += 1
        except LookupError:
            pass
        layers, found = stopping(nus, 1e-3, printed=False)
        stopped += found[-1] <= 1e-3 and layers < 19
    ends = [np.eye(2)[[0, 1]], np.eye(2)[[1, 0]]]
    cycle = [np.full((2, 2), 0.5), *(ends[k % 2] for k in range(18))]
    layers, _ = stopping(cycle, 1e-3, printed=False)
    step = float(np.linalg.norm(cycle[layers] - cycle[layers - 1]))
    return Evidence(
        decide(defined == count, stopped == count),
        f"the loop asks for a layer that is not learned yet in {count - defined} of {count} runs",
        "0",
        float(defined - count),
        "L was raised one line earlier, so the last two layers are L - 1 and L - 2; with these the loop "
        "ends before its "
        f"limit in {stopped} runs whose weights converge. Small d = |delta+ - delta-| does not mean that "
        "weights settle: if "
        f"they jump between two corners for ever, all steps have the length {step:.0f} and the loop ends "
        f"after {layers} "
        "layers. delta+ itself would say it.",
        {"runs": count + 1},
        (634,),
    )
