r"""The discriminative ridge machine beside kernel ridge regression.

The DRM solves :math:`w(x)=(K+\alpha(H-B)+\beta I)^{-1}K_x` for each new point x. Read the other way round,
:math:`x\mapsto t^\top w(x)` is a regression on targets t: one set of weights serves all targets.
"""

from __future__ import annotations

import numpy as np
from sklearn.kernel_ridge import KernelRidge

from ...claims import Evidence, Rival, at_most, claim, decide, given, times
from ...drm.model.objective import class_products, dissimilarity, system_matrix, within_matrix
from ...drm.solvers.direct import closed_form
from .problems import apart, described, pairs

CHAPTER = "bridge/01_one_notation"
ALPHAS = (0.0, 0.1, 3.0)
SHARES = (1e-3, 0.1, 10.0)


@claim(
    "bridge/drm-kernel-ridge",
    kind="ours",
    where="DRM (13) and kernel ridge",
    statement=r"with $\alpha=0$ the DRM's weights are those of kernel ridge without intercept: $t^\top "
    r"w(x)$ is its prediction for any targets $t$, with the ridge $\beta$",
    notebook=f"{CHAPTER}#bridge-drm-kernel-ridge",
    rivals=(
        Rival("weights of the DRM 2 % larger", swaps={"drm.solvers.direct.ClosedForm.weights": times(1.02)}),
    ),
)
def check_kernel_ridge() -> Evidence:
    """Compare t'w(x) with scikit-learn's KernelRidge for labels, kFDA's targets and random ones."""
    rng = np.random.default_rng(801)
    worst, count = 0.0, 0
    for pair in pairs(800):
        T = np.column_stack(
            [pair.y, pair.y * len(pair.y) / np.repeat(pair.sizes, pair.sizes), rng.normal(size=len(pair.y))]
        )
        for share in SHARES:
            beta = share * pair.scale
            ours = T.T @ closed_form(pair.K, pair.sizes, 0.0, beta).weights(pair.Kx)
            theirs = KernelRidge(alpha=beta, kernel="precomputed").fit(pair.K, T).predict(pair.Kx.T).T
            worst = max(worst, apart(ours, theirs, max(1.0, np.abs(theirs).max())))
        count += 1
    tolerance = 1e-9
    return Evidence(
        verdict=decide(worst <= tolerance),
        measured=f"predictions differ by at most {at_most(worst, tolerance)}",
        claimed="no difference",
        slack=tolerance - worst,
        why="The system is symmetric, so t'(M^-1 K_x) = (M^-1 t)'K_x: solved for the point or for the "
        "targets, it is one linear system. The DRM's rule, which compares distances, is another matter.",
        sizes={**described(count), "targets": 3, "beta / mean k(x,x)": list(SHARES)},
        seeds=(800, 801),
    )


@claim(
    "bridge/drm-errors",
    kind="ours",
    where="DRM (13) and least squares with correlated errors",
    statement=r"for every $\alpha\ge0$ the DRM's weights are those of kernel ridge whose errors have the "
    r"covariance $\Sigma=\alpha(H-B)+\beta I$: $t^\top w(x)=v^\top\phi(x)$, where $v$ minimises $\lVert "
    r"v\rVert^2+(t-\Phi v)^\top\Sigma^{-1}(t-\Phi v)$, and $\Phi$ has the rows $\phi(x_i)^\top$",
    notebook=f"{CHAPTER}#bridge-drm-errors",
    rivals=(
        Rival("weights of the DRM 2 % larger", swaps={"drm.solvers.direct.ClosedForm.weights": times(1.02)}),
    ),
)
def check_errors() -> Evidence:
    """Solve the generalised least squares in the space of features, and compare predictions."""
    rng = np.random.default_rng(803)
    worst, smallest, count = 0.0, np.inf, 0
    for pair in pairs(802, kernels=("linear",)):
        t = rng.normal(size=len(pair.y))
        for alpha in ALPHAS:
            for share in SHARES:
                beta = share * pair.scale
                errors = alpha * within_matrix(pair.K, pair.sizes) + beta * np.eye(len(t))
                smallest = min(smallest, float(np.linalg.eigvalsh(errors)[0]) / beta)
                root = np.linalg.cholesky(errors)
                rows, right = np.linalg.solve(root, pair.X), np.linalg.solve(root, t)
                v = np.linalg.lstsq(
                    np.vstack([rows, np.eye(pair.X.shape[1])]),
                    np.r_[right, np.zeros(pair.X.shape[1])],
                    rcond=None,
                )[0]
                ours = t @ closed_form(pair.K, pair.sizes, alpha, beta).weights(pair.Kx)
                worst = max(worst, apart(ours, pair.new @ v, max(1.0, np.abs(pair.new @ v).max())))
        count += 1
    tolerance = 1e-8
    return Evidence(
        verdict=decide(worst <= tolerance and smallest >= 1 - 1e-6),
        measured=f"predictions differ by at most {at_most(worst, tolerance)}; the least eigenvalue of the "
        f"covariance is {smallest:.6f} beta",
        claimed="no difference; at least beta",
        slack=min(tolerance - worst, smallest - 1 + 1e-6),
        why="H - B is positive semidefinite (Proposition IV.1), so Sigma is a covariance. The DRM trusts a "
        "point less the larger its norm. Where kernel values are positive, it correlates the errors of one "
        "class negatively; a class of one point has the variance beta alone.",
        sizes={**described(count), "kernels": 1, "alpha": list(ALPHAS), "beta / mean k(x,x)": list(SHARES)},
        seeds=(802, 803),
    )


@claim(
    "bridge/drm-local-targets",
    kind="ours",
    where="DRM (10) with two classes, and kernel ridge",
    statement=r"with two classes $\delta_-(x)-\delta_+(x)=2\sum_jy_jk(x_j,x)w_j(x)$: the DRM decides by the "
    "kernel ridge prediction at $x$ from the targets $y_jk(x_j,x)$, which are labels weighted by similarity "
    "to $x$",
    notebook=f"{CHAPTER}#bridge-drm-local-targets",
    rivals=(
        Rival("weights of the DRM 2 % larger", swaps={"drm.solvers.direct.ClosedForm.weights": times(1.02)}),
    ),
)
def check_local_targets() -> Evidence:
    """Compare differences of (10) with generalised kernel ridge on targets made for each new point."""
    worst, other, count = 0.0, 0, 0
    signs = 0
    for pair in pairs(804):
        for alpha in ALPHAS:
            for share in SHARES:
                beta = share * pair.scale
                W = closed_form(pair.K, pair.sizes, alpha, beta).weights(pair.Kx)
                KW, own = class_products(pair.K, pair.sizes, W)
                delta = dissimilarity(pair.sizes, pair.Kx, W, KW, own)
                local = pair.y[:, None] * pair.Kx
                coefficients = np.linalg.solve(system_matrix(pair.K, pair.sizes, alpha, beta), local)
                ridge = 2 * np.sum(coefficients * pair.Kx, axis=0)
                worst = max(
                    worst, apart(delta[:, 0] - delta[:, 1], ridge, max(float(np.abs(delta).max()), 1e-300))
                )
                if alpha == 0:
                    other += int(np.sum(np.sign(ridge) != np.sign(pair.y @ W)))
                    signs += len(ridge)
        count += 1
    tolerance = 1e-8
    return Evidence(
        verdict=decide(worst <= tolerance),
        measured=f"both sides differ by at most {at_most(worst, tolerance)}, relative to the dissimilarities",
        claimed="no difference",
        slack=tolerance - worst,
        why="In (10) both quadratic terms are the same for two classes, so only the linear ones remain. With "
        f"alpha = 0, kernel ridge on the plain labels decides differently on {other} of {signs} new points. "
        "The rule, not the weights, distinguishes the DRM.",
        sizes={**described(count), "alpha": list(ALPHAS), "beta / mean k(x,x)": list(SHARES)},
        seeds=(804,),
    )


@claim(
    "bridge/drm-strong-ridge",
    kind="ours",
    where="DRM (10), large ridge, and the average margin",
    statement=r"as $\beta\to\infty$ the DRM decides by sums of squared kernel values: "
    r"$\bigl\lvert\beta\delta_i(x)+2\sum_{j\in C_i}k(x_j,x)^2\bigr\rvert$ is at most $(\lVert "
    r"K\rVert+2\lVert Q\rVert)\lVert K_x\rVert^2/\beta$; MAMC with the kernel $k^2$ has the same sums",
    notebook=f"{CHAPTER}#bridge-drm-strong-ridge",
    rivals=(Rival("a ridge 2 % smaller", swaps={"drm.solvers.direct.closed_form": given(3, 0.98)}),),
)
def check_strong_ridge() -> Evidence:
    """Compare the distance from the limit with its bound, and the limit with MAMC's decision on k^2."""
    from ...ldm.peers.mamc import MAMCClassifier

    used, close, count = 0.0, 0.0, 0
    for pair in pairs(805):
        ends = np.cumsum(pair.sizes)
        sums = np.stack(
            [(pair.Kx[end - size : end] ** 2).sum(axis=0) for end, size in zip(ends, pair.sizes, strict=True)]
        )
        model = MAMCClassifier(kernel="precomputed").fit(pair.K**2, pair.y)
        length = np.sqrt(pair.y @ pair.K**2 @ pair.y)
        close = max(
            close, apart(model.decision_function(pair.Kx.T**2) * length, sums[1] - sums[0], sums.max())
        )
        for alpha in ALPHAS:
            norm = np.linalg.norm(pair.K, 2) + 2 * np.linalg.norm(system_matrix(pair.K, pair.sizes, alpha), 2)
            for share in (10.0, 1e3, 1e5):
                beta = share * pair.scale
                W = closed_form(pair.K, pair.sizes, alpha, beta).weights(pair.Kx)
                KW, own = class_products(pair.K, pair.sizes, W)
                left = np.abs(beta * dissimilarity(pair.sizes, pair.Kx, W, KW, own).T + 2 * sums).max(axis=0)
                allowed = norm * (pair.Kx**2).sum(axis=0) / beta
                used = max(used, float(np.max(left / np.maximum(allowed + 1e-12 * sums.max(), 1e-300))))
        count += 1
    tolerance = 1e-9
    return Evidence(
        verdict=decide(used <= 1 and close <= tolerance),
        measured=f"at most {used:.0%} of the bound is used; MAMC on squared kernels differs from the limit "
        f"by at most {at_most(close, tolerance)}",
        claimed="at most 100 %; no difference",
        slack=min(1 - used, tolerance - close),
        reach=used,
        why="For a large ridge w(x) is close to K_x / beta. (10) multiplies this by K_x once more, which "
        "gives a sum of squares. With an RBF kernel the limit is a Parzen window of twice the gamma, "
        "weighted by the class sizes.",
        sizes={**described(count), "alpha": list(ALPHAS), "beta / mean k(x,x)": [10.0, 1e3, 1e5]},
        seeds=(805,),
    )
