r"""CLASK features in a least-squares machine are kernel ridge in a subspace.

The features of a class are coordinates :math:`z(x)=A^\top k(X_B,x)` with :math:`A^\top K_{BB}A=I`, so their
inner product is the kernel of the projections on the span of the rows :math:`X_B` that were chosen,
:math:`k(x,X_B)K_{BB}^{+}k(X_B,z)`: Nyström's.
"""

from __future__ import annotations

import numpy as np
from sklearn.kernel_ridge import KernelRidge

from ...claims import Evidence, Rival, at_most, claim, decide, times
from ...clasmk.estimators.chosen_kernels import CLASKTransformer
from ...clasmk.estimators.lssvm import LSSVMClassifier
from ...clasmk.model.normalised_kernels import normalised_gram
from ...kernels import Kernel
from .problems import apart

CHAPTER = "bridge/01_one_notation"
SHARES = (0.01, 1.0, 10.0)


@claim(
    "bridge/clask-kernel-ridge",
    kind="ours",
    where="CLASK features, LS-SVM, kernel ridge and Nyström",
    statement="CLASK features in the LS-SVM give kernel ridge with the sum over classes of projected "
    r"kernels, $\sum_ck_c(x,X_{B_c})K_{B_cB_c}^{-1}k_c(X_{B_c},z)$, centred; if the chosen rows span all "
    "training rows of each class and all classes share one kernel, it is kernel ridge with the full kernel "
    "times the number of classes",
    notebook=f"{CHAPTER}#bridge-clask-kernel-ridge",
    rivals=(
        Rival(
            "decisions of the LS-SVM 2 % larger",
            swaps={"clasmk.estimators.lssvm.LSSVMClassifier.decision_function": times(1.02)},
        ),
    ),
)
def check_subspaces() -> Evidence:
    """Compare LS-SVM on CLASK features with kernel ridge, on the projected kernel and on the full one."""
    rng = np.random.default_rng(835)
    worst = full = 0.0
    count = whole = 0
    kernels: list[Kernel] = [("rbf", {"gamma": 0.2}), ("poly", {"degree": 2}), "linear"]
    for p in (2, 4):
        for sizes in ((12, 9), (20, 6, 7), (3, 15)):
            for twice in (False, True):
                codes = np.repeat(np.arange(len(sizes)), sizes)
                X, new = rng.normal(size=(len(codes), p)), rng.normal(size=(8, p))
                X[:, 0] += codes
                if twice:
                    X[1] = X[0]
                for chosen in (kernels, kernels[2:]):
                    model = CLASKTransformer(chosen, tol=1e-3, random_state=0).fit(X, codes)
                    Z, Znew = model.transform(X), model.transform(new)
                    G, Gx = _projected(model, X, X), _projected(model, X, new)
                    G = (G + G.T) / 2
                    spans = len(chosen) == 1 and all(
                        part[0][2].n_components == p for part in model.map_.parts
                    )
                    for ridge in SHARES:
                        f = (
                            LSSVMClassifier(C=1 / ridge, kernel="linear")
                            .fit(Z, codes)
                            .decision_function(Znew)
                        )
                        g = _ridge(G, Gx, codes, ridge)
                        size = max(1.0, float(np.abs(g).max()))
                        worst = max(worst, apart(f, g, size))
                        if spans:
                            k, kx = normalised_gram("linear", X), normalised_gram("linear", X, new)
                            g = _ridge(len(sizes) * k, len(sizes) * kx, codes, ridge)
                            full, whole = max(full, apart(f, g, size)), whole + 1
                    count += 1
    tolerance = 1e-7
    return Evidence(
        verdict=decide(max(worst, full) <= tolerance and whole > 0),
        measured=f"decisions differ by at most {at_most(worst, tolerance)}; where the training rows are "
        f"spanned ({whole} fits), they differ from those with the full kernel by {at_most(full, tolerance)}",
        claimed="no difference",
        slack=tolerance - max(worst, full),
        why="A change of basis within the span preserves inner products, so only the chosen rows and the "
        "kernel of each class matter. What CLASK adds to kernel ridge is the choice of a kernel and of rows "
        "for each class.",
        sizes={"problems": count, "n": [18, 21, 33], "classes": [2, 3], "ridge": list(SHARES)},
        seeds=(835,),
    )


def _projected(model: CLASKTransformer, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Return the sum over classes of the projected kernels between rows `X` and `Z`, without features."""
    total = np.zeros((len(X), len(Z)))
    for part in model.map_.parts:
        for _, weight, subspace in part:
            rows, kernel = subspace.rows, subspace.kernel
            middle = np.linalg.pinv(normalised_gram(kernel, rows), rcond=1e-12, hermitian=True)
            total += weight * normalised_gram(kernel, X, rows) @ middle @ normalised_gram(kernel, rows, Z)
    return total


def _ridge(G: np.ndarray, Gx: np.ndarray, codes: np.ndarray, ridge: float) -> np.ndarray:
    """Return the outputs of scikit-learn's kernel ridge, centred by hand, for the targets of the LS-SVM."""
    T = np.where(codes[:, None] == np.arange(codes.max() + 1), 1.0, -1.0)
    T = T[:, 1:] if T.shape[1] == 2 else T
    column = G.mean(axis=0)
    centred = G - column - column[:, None] + column.mean()
    around = Gx.T - Gx.mean(axis=0)[:, None] - column + column.mean()
    model = KernelRidge(alpha=ridge, kernel="precomputed").fit(centred, T - T.mean(axis=0))
    out = np.asarray(model.predict(around)) + T.mean(axis=0)
    return out.ravel() if T.shape[1] == 1 else out
