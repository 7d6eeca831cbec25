"""Support vector machines of three papers, least squares without margins above 1, small values of C."""

from __future__ import annotations

import numpy as np
from sklearn.svm import SVC

from ...claims import Evidence, Rival, at_most, claim, decide, short, times
from ...clasmk.estimators.lssvm import LSSVMClassifier
from ...ldm.estimators.classifier import LDMClassifier
from ...ldm.peers.km_omd import KMOMDClassifier
from ...smm.estimators.low_rank import LowRankSVMClassifier
from ...smm.model.objective import weights_for
from .problems import Pair, apart, described, pairs

CHAPTER = "bridge/01_one_notation"
COSTS = (0.1, 3.0)


def matrix_machine(pair: Pair, C: float, loss: str = "hinge", **more: object) -> LowRankSVMClassifier:
    """Return the SMM of the rows as 1 x p matrices with the row kernel of `pair`, fitted; C as in SVC.

    `lam` is 1 / (2 n C), so that its objective is half the squared length plus C times the losses, over n C.
    """
    settings = {
        "rank": 1,
        "lam": 1 / (2 * len(pair.y) * C),
        "loss": loss,
        "kernel": pair.kernel,
        "tol": 1e-12,
        **more,
    }
    return LowRankSVMClassifier(**settings).fit(pair.X[:, None, :], pair.y)  # type: ignore[arg-type]


@claim(
    "bridge/one-svm",
    kind="ours",
    where="LDM and SMM without intercept",
    statement=r"LDM with $\lambda_1=\lambda_2=0$ and SMM of $1\times p$ matrices with a kernel on rows are "
    r"one SVM, with $\lambda=\frac1{2nC}$; for the linear kernel so is SMM of full rank on $p\times1$ "
    "matrices",
    notebook=f"{CHAPTER}#bridge-one-svm",
    rivals=(
        Rival(
            "decisions of the LDM 2 % larger",
            swaps={"ldm.estimators.classifier.LDMClassifier.decision_function": times(1.02)},
        ),
    ),
)
def check_one_svm() -> Evidence:
    """Compare decisions on new points."""
    worst, count = 0.0, 0
    for pair in pairs(830):
        for cost in COSTS:
            C = cost / pair.scale
            ldm = LDMClassifier(C=C, lambda1=0.0, lambda2=0.0, kernel=pair.kernel, tol=1e-12).fit(
                pair.X, pair.y
            )
            f = ldm.decision_function(pair.new)
            size = max(1.0, float(np.abs(f).max()))
            smm = matrix_machine(pair, C, fit_intercept=False)
            worst = max(worst, apart(smm.decision_function(pair.new[:, None, :]), f, size))
            if pair.kernel == "linear":
                full = LowRankSVMClassifier(
                    rank=None, lam=1 / (2 * len(pair.y) * C), fit_intercept=False, tol=1e-12
                )
                full.fit(pair.X[:, :, None], pair.y)
                worst = max(worst, apart(full.decision_function(pair.new[:, :, None]), f, size))
        count += 1
    tolerance = 1e-5
    return Evidence(
        verdict=decide(worst <= tolerance),
        measured=f"decisions differ by at most {at_most(worst, tolerance)}",
        claimed="no difference",
        slack=tolerance - worst,
        why="A matrix of one row has rank 1, so the constraint on the rank is void, and the kernel between "
        "rows is the kernel itself.",
        sizes={**described(count), "C mean k(x,x)": list(COSTS)},
        seeds=(830,),
    )


@claim(
    "bridge/weighted-svm",
    kind="ours",
    where="SMM (3) with a level and SVC with class weights",
    statement=r"at full rank and level $\pi$ the SMM is the SVM with $C=\frac1{2n\lambda}$ and the class "
    r"weights $1-\pi$ and $\pi$; the weighted margins of (3) are the usual asymmetric costs",
    notebook=f"{CHAPTER}#bridge-weighted-svm",
    rivals=(Rival("weights 2 % larger", swaps={"smm.model.objective.weights_for": times(1.02)}),),
)
def check_weighted() -> Evidence:
    """Compare differences of decisions with those of LIBSVM, and weighted objectives."""
    worst = above = 0.0
    count = 0
    for pair in pairs(831, repeats=2):
        for level in (0.1, 0.5, 0.8):
            for cost in COSTS:
                C = cost / pair.scale
                weights = weights_for(level, pair.y)
                smm = LowRankSVMClassifier(
                    rank=1,
                    lam=1 / (2 * len(pair.y) * C),
                    kernel=pair.kernel,
                    class_weight={-1.0: level, 1.0: 1 - level},
                    tol=1e-12,
                )
                smm.fit(pair.X[:, None, :], pair.y)
                svc = SVC(C=C, kernel="precomputed", tol=1e-10, class_weight={-1.0: level, 1.0: 1 - level})
                svc.fit(pair.K, pair.y)
                f, g = smm.decision_function(pair.new[:, None, :]), svc.decision_function(pair.Kx.T)
                # where no multiplier is inside the box the intercept is not unique
                worst = max(worst, apart(f - f.mean(), g - g.mean(), max(1.0, np.abs(g).max())))
                dual = np.zeros(len(pair.y))
                dual[svc.support_] = svc.dual_coef_[0]
                losses = weights @ np.maximum(0, 1 - pair.y * svc.decision_function(pair.K))
                value = (dual @ pair.K @ dual / 2 + C * losses) / (len(pair.y) * C)
                above = max(above, abs(smm.objective_ - value) / value)
        count += 1
    tolerance = 1e-4
    return Evidence(
        verdict=decide(worst <= tolerance and above <= 1e-6),
        measured=f"decisions minus their mean differ by at most {at_most(worst, tolerance)}, objectives by "
        f"{at_most(above, 1e-6)}",
        claimed="no difference",
        slack=min(tolerance - worst, 1e-6 - above),
        why="The weight of a loss is a factor of its C, so a level of 1/2 halves C. LIBSVM's tolerance "
        "limits the comparison.",
        sizes={**described(count), "levels": [0.1, 0.5, 0.8], "C mean k(x,x)": list(COSTS)},
        seeds=(831,),
    )


@claim(
    "bridge/km-omd",
    kind="ours",
    where="KM-OMD and the SMM with the squared hinge loss",
    statement=r"KM-OMD is the SVM with squared hinge losses $\frac C2\sum_i\xi_i^2$ and an intercept: "
    r"$w_{\mathrm{SVM}}=\frac2F\,w_{\mathrm{OMD}}$ where $F$ is KM-OMD's minimum; only the thresholds "
    r"differ, by $\frac1{2C}\bigl(\lVert g_-\rVert^2-\lVert g_+\rVert^2\bigr)$ on KM-OMD's scale, with its "
    "weights $g$",
    notebook=f"{CHAPTER}#bridge-km-omd",
    rivals=(
        Rival(
            "decisions of KM-OMD 2 % larger",
            swaps={"ldm.peers.km_omd.KMOMDClassifier.decision_function": times(1.02)},
        ),
    ),
)
def check_km_omd() -> Evidence:
    """Compare directions and thresholds with those of the matrix room's machine of one-row matrices."""
    worst, apart_by, count = 0.0, 0.0, 0
    for pair in pairs(832):
        for cost in COSTS:
            C = cost / pair.scale
            omd = KMOMDClassifier(C=C, kernel=pair.kernel, tol=1e-12).fit(pair.X, pair.y)
            svm = matrix_machine(pair, C / 2, "squared_hinge")
            factor = 2 / omd.objective_
            gamma = np.abs(omd.dual_coef_)
            shift = (gamma[pair.y < 0] @ gamma[pair.y < 0] - gamma[pair.y > 0] @ gamma[pair.y > 0]) / (2 * C)
            g = svm.decision_function(pair.new[:, None, :])
            f = factor * (omd.decision_function(pair.new) + shift)
            worst = max(worst, apart(f, g, max(1.0, float(np.abs(g).max()))))
            apart_by = max(apart_by, abs(factor * shift))
        count += 1
    tolerance = 1e-5
    return Evidence(
        verdict=decide(worst <= tolerance),
        measured=f"decisions differ by at most {at_most(worst, tolerance)} after the threshold is moved, by "
        f"up to {apart_by:.2f}",
        claimed="no difference",
        slack=tolerance - worst,
        why="The dual of the squared hinge is a quadratic with the matrix G + I/C. Among multipliers of one "
        "direction the best length is 2/F, so both methods minimise the same quotient. The thresholds agree "
        "where the weights of the two classes have the same length.",
        sizes={**described(count), "C mean k(x,x)": list(COSTS)},
        seeds=(832,),
    )


@claim(
    "bridge/squared-hinge",
    kind="ours",
    where="LS-SVM and the SMM with the squared hinge loss",
    statement=r"if no multiplier of the LS-SVM has the wrong sign, $y_ia_i\ge0$ for all $i$, that is no "
    "margin above 1, then it is the SVM with the squared hinge loss and has KM-OMD's direction; otherwise "
    "it differs from that SVM",
    notebook=f"{CHAPTER}#bridge-squared-hinge",
    rivals=(
        Rival(
            "decisions of the LS-SVM 2 % larger",
            swaps={"clasmk.estimators.lssvm.LSSVMClassifier.decision_function": times(1.02)},
        ),
    ),
)
def check_squared_hinge() -> Evidence:
    """Compare both machines where the condition is met, and see that they differ elsewhere."""
    worst, smallest = 0.0, np.inf
    met = unmet = count = 0
    for pair in pairs(833):
        for cost in (0.01, 0.3, 10.0):
            C = cost / pair.scale
            least = LSSVMClassifier(C=C, kernel="precomputed").fit(pair.K, pair.y)
            f = least.decision_function(pair.Kx.T)
            g = matrix_machine(pair, C / 2, "squared_hinge").decision_function(pair.new[:, None, :])
            difference = apart(f, g, max(1.0, float(np.abs(g).max())))
            wrong = (
                float(np.max(-pair.y * least.dual_coef_[0])) / C
            )  # by how much the largest margin exceeds 1
            if wrong <= 0:
                worst, met = max(worst, difference), met + 1
            elif wrong > 1e-3:
                smallest, unmet = min(smallest, difference), unmet + 1
        count += 1
    tolerance = 1e-6
    return Evidence(
        verdict=decide(worst <= tolerance and smallest > 0 and met > 0 and unmet > 0),
        measured=f"they differ by at most {at_most(worst, tolerance)} where the condition is met ({met} "
        f"fits), and by at least {smallest:.0e} where it is not ({unmet})",
        claimed="no difference; above 0",
        slack=min(tolerance - worst, smallest, short(met and unmet, 1)),
        why="Below 1 the losses (1 - z)^2 and (1 - z)_+^2 have the same value and slope, and both problems "
        "are convex. A residual of the LS-SVM is a_i / C.",
        sizes={**described(count), "C mean k(x,x)": [0.01, 0.3, 10.0]},
        seeds=(833,),
    )


@claim(
    "bridge/class-means",
    kind="ours",
    where="LS-SVM and KM-OMD as C goes to 0",
    statement=r"as $C\to0$ the LS-SVM and KM-OMD both tend to the difference of the class means, the kernel "
    r"Parzen classifier: $\lVert\frac aC-(y-\bar y)\rVert\le C\lVert K\rVert\lVert y-\bar y\rVert$ and "
    r"$\lVert g-u\rVert\le C\lVert YKYu\rVert$, where $g$ are KM-OMD's weights and $u_i$ is one over the "
    "size of the class",
    notebook=f"{CHAPTER}#bridge-class-means",
    rivals=(Rival("bounds 2 % smaller", {"bound": 0.98}),),
)
def check_class_means(bound: float = 1.0) -> Evidence:
    """Compare the multipliers' distance from their limits with the bounds, or with a part of them."""
    used, count = 0.0, 0
    for pair in pairs(834):
        y, K = pair.y, pair.K
        u = 1 / np.repeat(pair.sizes, pair.sizes).astype(float)
        centred = y - y.mean()
        for cost in (1e-3, 0.1, 1.0):
            C = cost / pair.scale
            a = LSSVMClassifier(C=C, kernel="precomputed").fit(K, y).dual_coef_[0]
            left, right = np.linalg.norm(a / C - centred), C * np.linalg.norm(K, 2) * np.linalg.norm(centred)
            used = max(used, float(left / right))
            gamma = y * KMOMDClassifier(C=C, kernel="precomputed", tol=1e-12).fit(K, y).dual_coef_
            left, right = np.linalg.norm(gamma - u), C * np.linalg.norm(y * (K @ (y * u)))
            used = max(used, float(left / (right + 1e-12)))
        count += 1
    return Evidence(
        verdict=decide(used <= bound),
        measured=f"at most {used:.1%} of the bounds is used",
        claimed=f"at most {100 * bound:g} %",
        slack=bound - used,
        reach=used,
        why="y minus its mean is 2 N1 N2 / N times y_i u_i, so both limits have the same direction. MAMC's "
        "is the difference of the class sums instead, which is the same only for classes of equal size.",
        sizes={**described(count), "C mean k(x,x)": [1e-3, 0.1, 1.0]},
        seeds=(834,),
    )
