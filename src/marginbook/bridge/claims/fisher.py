r"""The kernel Fisher discriminant beside LS-SVM, the lasso, ridge regression and the DRM.

kFDA fits :math:`\hat y\approx b+K\alpha` and penalises the coefficients :math:`\alpha`, not the length of
w: its features are the kernel columns :math:`\kappa(x)=(k(x_1,x),\dots,k(x_n,x))`, with the kernel
:math:`\kappa(x)^\top\kappa(z)`.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, Ridge
from sklearn.preprocessing import KernelCenterer

from ...claims import Evidence, Rival, at_most, claim, decide, given, short, times
from ...clasmk.estimators.lssvm import LSSVMClassifier
from ...drm.solvers.direct import closed_form
from ...drm.solvers.general import GeneralProblem
from ...drm.solvers.general import solve as solve_general
from ...kfda.model.objective import Problem, objective, targets
from ...kfda.peers.ridge import KFDAClassifier
from ...kfda.solvers.lasso import lasso
from ...kfda.solvers.majorise_minimise import shrinking_mm
from .problems import apart, described, pairs

CHAPTER = "bridge/01_one_notation"
SHARES = (1e-3, 0.1, 10.0)


@claim(
    "bridge/ls-svm-kernel-ridge",
    kind="ours",
    where="LS-SVM and kernel ridge",
    statement="the least-squares SVM is kernel ridge with the ridge $1/C$ on centred kernel and targets; "
    "the free intercept does the centring",
    notebook=f"{CHAPTER}#bridge-ls-svm-kernel-ridge",
    rivals=(
        Rival(
            "decisions of the LS-SVM 2 % larger",
            swaps={"clasmk.estimators.lssvm.LSSVMClassifier.decision_function": times(1.02)},
        ),
    ),
)
def check_ls_svm() -> Evidence:
    """Compare this library's LS-SVM with scikit-learn's KernelCenterer and KernelRidge."""
    worst, count = 0.0, 0
    for pair in pairs(810):
        for share in SHARES:
            ridge = share * pair.scale
            ours = LSSVMClassifier(C=1 / ridge, kernel="precomputed").fit(pair.K, pair.y)
            centre = KernelCenterer().fit(pair.K)
            mean = pair.y.mean()
            model = KernelRidge(alpha=ridge, kernel="precomputed").fit(
                centre.transform(pair.K), pair.y - mean
            )
            theirs = mean + model.predict(centre.transform(pair.Kx.T))
            worst = max(
                worst, apart(ours.decision_function(pair.Kx.T), theirs, max(1.0, np.abs(theirs).max()))
            )
        count += 1
    tolerance = 1e-9
    return Evidence(
        verdict=decide(worst <= tolerance),
        measured=f"decisions differ by at most {at_most(worst, tolerance)}",
        claimed="no difference",
        slack=tolerance - worst,
        why="The best intercept is the mean of t - w'phi, which centres both; the problem that remains has "
        "no intercept.",
        sizes={**described(count), "1 / (C mean k(x,x))": list(SHARES)},
        seeds=(810,),
    )


@claim(
    "bridge/kfda-ls-svm",
    kind="ours",
    where="kernel Fisher discriminant with a ridge and LS-SVM",
    statement=r"the kernel Fisher discriminant with the ridge $\mu$ is the LS-SVM with $C=1/\mu$ on kernel "
    r"columns; the targets $N/N_1$, $-N/N_2$ instead of $\pm1$ change its output from $f$ to $sf+m$, "
    r"$s=\frac{N^2}{2N_1N_2}$, $m=\frac N2\bigl(\frac1{N_1}-\frac1{N_2}\bigr)$, and the threshold in the "
    "same way",
    notebook=f"{CHAPTER}#bridge-kfda-ls-svm",
    rivals=(
        Rival(
            "decisions of the LS-SVM 2 % larger",
            swaps={"clasmk.estimators.lssvm.LSSVMClassifier.decision_function": times(1.02)},
        ),
        Rival(
            "decisions of the kernel Fisher discriminant 2 % larger",
            swaps={"kfda.peers.ridge.KFDAClassifier.decision_function": times(1.02)},
        ),
    ),
)
def check_fisher_machine() -> Evidence:
    """Compare decisions, coefficients and intercepts of the two estimators, fitted on one problem."""
    worst = raw = 0.0
    count = 0
    for pair in pairs(811):
        n, (negative, positive) = len(pair.y), pair.sizes
        s, m = n * n / (2 * negative * positive), n / 2 * (1 / positive - 1 / negative)
        for share in SHARES:
            mu = (share * pair.scale) ** 2
            fisher = KFDAClassifier(reg=mu, kernel="precomputed").fit(pair.K, pair.y)
            machine = LSSVMClassifier(C=1 / mu, kernel="linear").fit(pair.K, pair.y)
            f = machine.decision_function(pair.Kx.T)
            size = max(1.0, float(np.abs(f).max()))
            worst = max(worst, apart(fisher.decision_function(pair.Kx.T), f, size))
            values = pair.Kx.T @ fisher.dual_coef_ + fisher.intercept_
            raw = max(raw, apart(values, s * f + m, s * size))
        count += 1
    tolerance = 1e-7
    worst = max(worst, raw)
    return Evidence(
        verdict=decide(worst <= tolerance),
        measured=f"decisions and outputs differ by at most {at_most(worst, tolerance)}",
        claimed="no difference",
        slack=tolerance - worst,
        why="Both are least squares with a free intercept and a penalty on the coefficients of kernel "
        "columns. An affine map of the targets maps the fit in the same way. So the kernel Fisher "
        "discriminant is an LS-SVM with the kernel sum_j k(x,x_j)k(x_j,z).",
        sizes={**described(count), "sqrt(mu) / mean k(x,x)": list(SHARES)},
        seeds=(811,),
    )


@claim(
    "bridge/kfda-lasso",
    kind="ours",
    where="kFDA with q = 1, the lasso and DRM (8)",
    statement=r"kFDA$_1$ is the lasso on kernel columns, scikit-learn's with $\alpha=\rho$; as printed, "
    r"with the bias penalised, it is also DRM (8) with $q=r=1$, $\alpha=0$, $\beta=\rho N$ for the Gram "
    r"matrix $D^\top D$, $D=[1\ K]$, and $D^\top\hat y$ in place of $K_x$",
    notebook=f"{CHAPTER}#bridge-kfda-lasso",
    rivals=(Rival("rho 2 % larger", swaps={"kfda.solvers.lasso.lasso": given(1, 1.02)}),),
)
def check_lasso() -> Evidence:
    """Compare objectives of three solvers, and fitted values, which are unique."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    above = fit = gap = 0.0
    count = 0
    for pair in pairs(812, repeats=2):
        problem = Problem(pair.K / pair.scale, targets(pair.y > 0))
        n = problem.n
        for rho in (0.03, 0.3):
            for free in (False, True):
                ours = lasso(problem, rho, tol=1e-12, penalize_bias=not free)
                columns = problem.K if free else problem.design
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)  # the objectives tell
                    model = Lasso(alpha=rho, fit_intercept=free, tol=1e-12, max_iter=200_000).fit(
                        columns, problem.yhat
                    )
                omega = np.r_[model.intercept_, model.coef_] if free else model.coef_
                value = objective(problem, omega, 1.0, rho, penalize_bias=not free)
                above = max(above, abs(ours.objective / value - 1))
                fit = max(
                    fit,
                    apart(problem.design @ ours.omega, problem.design @ omega, np.abs(problem.yhat).max()),
                )
                if free:
                    continue
                general = GeneralProblem(
                    problem.gram, [n + 1], alpha=0.0, beta=rho * n, q=1, r=1, rho="identity"
                )
                found = solve_general(general, problem.correlations[:, None], tol=1e-10, max_iter=100_000)
                value = float(found.certificate.objective[0]) + problem.energy / 2
                above = max(above, abs(value / ours.objective - 1))
                gap = max(gap, float(found.certificate.gap[0]) / ours.objective)
        count += 1
    tolerance = 1e-9
    return Evidence(
        verdict=decide(above <= tolerance and fit <= 1e-6),
        measured=f"minima differ by at most {at_most(above, tolerance)}, fitted values by "
        f"{at_most(fit, 1e-6)}; the DRM's own gap is at most {at_most(gap, tolerance)}",
        claimed="no difference",
        slack=min(tolerance - above, 1e-6 - fit),
        why="J / N is scikit-learn's objective, and J minus half the energy of the targets is (8): a sparse "
        "kFDA is a DRM of the vector of targets among the kernel columns. If columns are equal, only the "
        "fit is unique, so coefficients are not compared.",
        sizes={**described(count), "rho": [0.03, 0.3], "bias": ["penalised", "free"]},
        seeds=(812,),
    )


@claim(
    "bridge/kfda-ridge",
    kind="ours",
    where="kFDA with q = 2, ridge regression and DRM (13)",
    statement=r"kFDA$_2$ is ridge regression on kernel columns with the ridge $2\rho N$: kernel ridge with "
    r"the kernel $1+\sum_jk(x,x_j)k(x_j,z)$, which predicts $\hat y^\top w(x)$ with the DRM's weights for "
    r"this kernel, $\alpha=0$ and $\beta=2\rho N$",
    notebook=f"{CHAPTER}#bridge-kfda-ridge",
    rivals=(
        Rival("rho 2 % larger", swaps={"kfda.solvers.majorise_minimise.shrinking_mm": given(2, 1.02)}),
        Rival("weights of the DRM 2 % larger", swaps={"drm.solvers.direct.ClosedForm.weights": times(1.02)}),
    ),
)
def check_ridge() -> Evidence:
    """Compare our minimiser, scikit-learn's Ridge and the DRM's weights for the kernel of columns."""
    worst, count = 0.0, 0
    for pair in pairs(813):
        K, Kx = pair.K / pair.scale, pair.Kx / pair.scale
        problem = Problem(K, targets(pair.y > 0))
        n = problem.n
        for rho in (1e-3, 0.1, 10.0):
            ours = shrinking_mm(problem, 2.0, rho, tol=1e-12).omega
            fitted = ours[0] + Kx.T @ ours[1:]
            ridge = Ridge(alpha=2 * rho * n, fit_intercept=False, solver="cholesky").fit(
                problem.design, problem.yhat
            )
            theirs = ridge.predict(np.column_stack([np.ones(Kx.shape[1]), Kx.T]))
            W = closed_form(1 + K @ K, [n], 0.0, 2 * rho * n).weights(1 + K @ Kx)
            size = max(1.0, float(np.abs(theirs).max()))
            worst = max(worst, apart(fitted, theirs, size), apart(problem.yhat @ W, theirs, size))
        count += 1
    tolerance = 1e-8
    return Evidence(
        verdict=decide(worst <= tolerance),
        measured=f"predictions differ by at most {at_most(worst, tolerance)}",
        claimed="no difference",
        slack=tolerance - worst,
        why="With q = 2 the penalty rho N |omega|^2 is half of 2 rho N |omega|^2. The 1 in the kernel is the "
        "bias, which is penalised as printed. With a free bias it disappears and the targets are centred, "
        "as in the LS-SVM.",
        sizes={**described(count), "rho": [1e-3, 0.1, 10.0]},
        seeds=(813,),
    )


@claim(
    "bridge/kfda-to-ridge",
    kind="ours",
    where="kFDA as q goes to 2",
    statement=r"as $q\to2$ the minimiser of kFDA$_q$, $1\le q<2$, tends to that of ridge regression: "
    r"$\lVert\omega_q-\omega_2\rVert^2\le\sum_i\bigl(h(\omega_{q,i})-h(\omega_{2,i})\bigr)$ with "
    r"$h(x)=x^2-\lvert x\rvert^q$, which is $O(2-q)$",
    notebook=f"{CHAPTER}#bridge-kfda-to-ridge",
    rivals=(Rival("a bound 2 % smaller", {"bound": 0.98}),),
)
def check_limit(bound: float = 1.0) -> Evidence:
    """Compare distances of minimisers with the bound, or a part of it, for q closer and closer to 2.

    One point, whose kernel value is 0 and whose target is a large rho, is built to be tight: with q = 1 the
    bias is 0, with q = 2 it is near 1/2, and the errors hardly count.
    """
    used, count = 0.0, 0
    lone, strong = Problem(np.zeros((1, 1)), np.array([1e4])), 1e4
    none, half = (float(shrinking_mm(lone, q, strong, tol=1e-13).omega[0]) for q in (1.0, 2.0))
    built = (none - half) ** 2 / ((none**2 - abs(none)) - (half**2 - abs(half)))
    powers = (1.5, 1.9, 1.99, 1.999)
    largest = dict.fromkeys(powers, 0.0)
    for pair in pairs(814, repeats=2):
        problem = Problem(pair.K / pair.scale, targets(pair.y > 0))
        for rho in (1e-3, 0.1):
            ridge = shrinking_mm(problem, 2.0, rho, tol=1e-13).omega
            for q in powers:
                omega = shrinking_mm(problem, q, rho, tol=1e-13).omega
                square = float(np.sum((omega - ridge) ** 2))
                parts = (omega**2 - np.abs(omega) ** q) - (ridge**2 - np.abs(ridge) ** q)
                rounding = 1e-10 * float(ridge @ ridge)  # of minimisers that are certified to a gap
                used = max(used, square / (float(parts.sum()) + rounding))
                largest[q] = max(largest[q], np.sqrt(square / float(ridge @ ridge)))
        count += 1
    falling = all(largest[a] > largest[b] for a, b in pairwise(powers))
    listed = ", ".join(f"{largest[q]:.0e}" for q in powers)
    reach = max(used, built)
    return Evidence(
        verdict=decide(reach <= bound and falling),
        measured=f"at most {used:.0%} of the bound is used on random problems, {built:.2%} on one that is "
        f"built; relative distances are up to {listed} for q = 1.5, 1.9, 1.99, 1.999",
        claimed=f"at most {100 * bound:g} %, falling to 0",
        slack=min(bound - reach, short(falling, 1)),
        reach=reach,
        why="The ridge objective J_2 exceeds its minimum by at least rho N times the squared distance from "
        "its minimiser. J_q, which the other fit minimises, differs from J_2 by rho N times the sum of h. So "
        "varying q gives a path from the lasso to kernel ridge.",
        sizes={**described(count), "q": list(powers), "rho": [1e-3, 0.1]},
        seeds=(814,),
    )
