"""The claims of Sections 3.1, 3.2 and 3.4: the classes' subspaces, and the samples that rate kernels."""

from __future__ import annotations

from itertools import product

import numpy as np
from sklearn.decomposition import KernelPCA

from ...claims import Evidence, claim, decide
from ...kernels import Kernel
from ..model.embedding import greedy_embedding
from ..model.kernel_sets import poly, rbf
from ..model.subspaces import fit_subspaces
from .distributions import problems
from .section_2_criteria import blobs, energies
from .section_2_lemma_1 import NOTEBOOK

#: from kernels that see one point at a time to kernels that see hardly any difference
WIDTHS = (4.0, 2.0, 1.0, 0.5, 0.2, 0.1, 0.05)


def quotients(energy: np.ndarray) -> np.ndarray:
    """Return (34) for each kernel, (K,): energy in the other classes' subspaces over that in the own ones."""
    own = np.einsum("cck->k", energy)
    return (energy.sum(axis=(0, 1)) - own) / (len(energy) - 1) / own


@claim(
    "clasmk/eq-33-set",
    kind="proof",
    where="(33) beside Algorithm 1",
    statement=r"(33), summed over $\mathcal M_B$, rates kernels as new samples would",
    notebook=f"{NOTEBOOK}#clasmk-sets",
)
def check_set() -> Evidence:
    """Rate kernels by (34) on the samples of the bases, on those left for the weights, and on new ones."""
    rng = np.random.default_rng(623)
    kernels = rbf(WIDTHS)
    gaps: dict[str, list[float]] = {"bases": [], "weights": []}
    regret = []
    for C in (2, 3, 5):
        for _ in range(4):
            X, codes = blobs(rng, C, 40)
            sets = {"bases": (X, codes), "weights": blobs(rng, C, 40), "new": blobs(rng, C, 300)}
            subspaces = fit_subspaces(X, codes, kernels)
            E = {name: energies(*data, subspaces) for name, data in sets.items()}
            own = {name: np.einsum("cck->k", e) / C for name, e in E.items()}
            for name in gaps:
                gaps[name].append(float(np.abs(own[name] - own["new"]).max()))
            rated = np.argmin(quotients(E["bases"]))
            regret.append(float(own["new"].max() - own["new"][rated]))
    far, near = max(gaps["bases"]), max(gaps["weights"])
    return Evidence(
        decide(far <= 0.15, near <= 0.15),
        f"the energy of a class in its own subspace differs from that of new samples by up to {far:.2f}",
        "at most 0.15",
        0.15 - far,
        "The bases contain their own samples, so on M_B the energy is 1 for every kernel, and "
        "the narrowest kernel, whose other energies are 0, has the lowest quotient: it catches "
        f"{np.mean(regret):.2f} less of the energy of new samples than the widest one. On M_nu, which the "
        "text, Algorithm 1, (34) and (35) name, the energies differ from those of new samples by at most "
        f"{near:.2f}, and (35) sees which kernels are too narrow.",
        {"problems": 12, "classes": [2, 3, 5], "kernels": len(kernels)},
        (623,),
    )


@claim(
    "clasmk/eq-35-scale",
    kind="statement",
    where="(35)",
    statement=r"a kernel does not represent the data where the class means of "
    r"$\|A_{c,i}^\top k_i(X_{B_{c,i}},x)\|^2$, summed over $c$, are at most $\eta\in(0,1]$",
    notebook=f"{NOTEBOOK}#clasmk-sets",
)
def check_scale() -> Evidence:
    """Rate kernels on clouds of one kind, in numbers from 2 to 20, with the sum of (35) and with the mean."""
    rng = np.random.default_rng(624)
    kernels, eta = rbf(WIDTHS), 0.1
    totals, shares = [], []
    for C in (2, 5, 10, 20):
        X, codes = blobs(rng, C, 60, gap=12.0)
        own = np.einsum("cck->k", energies(*blobs(rng, C, 60, gap=12.0), fit_subspaces(X, codes, kernels)))
        totals.append(own)
        shares.append(own / C)
    kept = [(t > eta).sum() for t in totals], [(s > eta).sum() for s in shares]
    worst = min(float(s[t > 1].min()) for t, s in zip(totals, shares, strict=True) if (t > 1).any())
    moved = float(np.ptp(np.array(shares), axis=0).max())
    return Evidence(
        decide(len(set(kept[0])) == 1, len(set(kept[1])) == 1 and moved < 0.1),
        f"with 2, 5, 10 and 20 clouds of one kind and eta = 0.1, {', '.join(map(str, kept[0]))} of "
        f"{len(kernels)} kernels are kept",
        "as many",
        worst - 1,
        "The sum goes up to C, so that eta means less the more classes there are: even eta = 1 keeps a "
        "kernel that "
        f"catches {worst:.0%} of the samples' energy. The mean over classes is compared with (0, 1] as it "
        "should be: "
        f"{', '.join(map(str, kept[1]))} kernels, and a kernel's mean moves by at most {moved:.2f}.",
        {"classes": [2, 5, 10, 20], "kernels": len(kernels)},
        (624,),
    )


@claim(
    "clasmk/kpca-centred",
    kind="statement",
    where="Section 3.1",
    statement="kernel PCA of a class, as in the reference given, estimates the basis of model (9)",
    notebook=f"{NOTEBOOK}#clasmk-sets",
)
def check_centring() -> Evidence:
    """Draw classes from laws and find as many components as U has, with and without taking off the mean."""
    rng = np.random.default_rng(626)
    caught: dict[str, list[float]] = {"centred": [], "plain": []}
    means: dict[str, list[float]] = {"centred": [], "plain": []}
    for laws, noise in problems(625, 200):
        for law in laws:
            spread = np.concatenate([law.chances @ law.own, [law.mean_energy]])
            if min(v for v in spread if v) <= 3 * max(law.chances @ law.noise):
                continue  # the noise must not be mistaken for the subspace
            drawn, rank = law.sample(rng, 400), int(np.sum(np.any(law.own != 0, axis=0))) + 1
            centred = KernelPCA(n_components=rank, kernel="linear").fit(drawn)
            U = {
                "centred": np.linalg.qr((drawn - drawn.mean(axis=0)).T @ centred.eigenvectors_)[0],
                "plain": np.linalg.svd(drawn, full_matrices=False)[2][:rank].T,
            }
            for name, basis in U.items():
                energy = np.mean(np.sum((drawn @ basis) ** 2, axis=1))
                caught[name].append(float(energy) / float(1 - noise))
                means[name].append(
                    float(np.sum((drawn.mean(axis=0) @ basis) ** 2) / np.sum(drawn.mean(axis=0) ** 2))
                )
    least = {name: min(values) for name, values in caught.items()}
    return Evidence(
        decide(least["centred"] >= 0.95, least["plain"] >= 0.95),
        f"the components of centred data catch {least['centred']:.0%} to {max(caught['centred']):.0%} of 1 "
        "- sigma^2, and "
        f"{np.median(means['centred']):.0%} of |m|^2 in the median",
        "all, up to sampling",
        least["centred"] - 0.95,
        "Kernel PCA takes the mean off first, and in (9) the mean lies in the subspace: it is what the "
        "criteria put "
        "below the line. Components of data that are not centred catch at least "
        f"{least['plain']:.0%} of the energy and {min(means['plain']):.0%} of |m|^2.",
        {"laws": len(caught["plain"]), "samples": 400},
        (625, 626),
    )


@claim(
    "clasmk/block-structure",
    kind="statement",
    where="Section 3.1",
    statement="bases of classes one by one cost less than one basis for all data at once",
    notebook=f"{NOTEBOOK}#clasmk-sets",
)
def check_blocks() -> Evidence:
    """Count the multiplications of the greedy embedding, N r^2, for all data and class by class."""
    rng = np.random.default_rng(627)
    sizes = []
    kernels: list[Kernel] = rbf((2.0, 1.0, 0.5, 0.2)) + poly((2, 4, 8))
    for C, gap in product((2, 4, 8), (0.0, 1.0, 4.0)):
        X, codes = blobs(rng, C, 240 // C, gap)
        for kernel in kernels:
            whole = len(greedy_embedding(kernel, X, tol=1e-2).indices)
            ranks = [len(greedy_embedding(kernel, X[codes == c], tol=1e-2).indices) for c in range(C)]
            cost = len(X) * whole**2 / sum(240 // C * r**2 for r in ranks)
            sizes.append((sum(ranks) / whole, cost))
    longer, cheaper = np.array(sizes).T
    return Evidence(
        decide(bool(cheaper.min() >= 1 and np.median(cheaper) > 1)),
        f"all at once takes {cheaper.min():.2f} to {cheaper.max():.1f} times as many multiplications, for "
        "the same tolerance",
        "1 or more, and above 1 in most",
        float(np.median(cheaper) - 1),
        f"N r^2 against the sum of N_c r_c^2, {np.median(cheaper):.1f} times in the median: as much where "
        "all classes "
        "fill the same subspace, and C^2 times as much where they share none. The price comes later: the "
        "features of the classes have, "
        "together, "
        f"{longer.min():.1f} to {longer.max():.1f} times the dimension.",
        {"problems": len(sizes), "N": 240, "classes": [2, 4, 8]},
        (627,),
    )
