"""What the chapter tells first, bound to its claims."""

from __future__ import annotations

from ...claims.findings import Finding
from . import examples
from . import finding_pictures as pictures

PAGE = "bridge/01_one_notation"


def findings() -> list[Finding]:
    """Return the findings of the chapter, the most interesting first."""
    return [family(), hinge(), rule(), targets(), leave_one_out()]


def family() -> Finding:
    """Tell which methods are kernel ridge or an SVM in disguise."""
    return Finding(
        "Switch off what each paper adds, and kernel ridge or an SVM is left",
        "Set $\\alpha=0$, and the DRM's weights are those of kernel ridge; its rule is another. Take away "
        "the hinge, and the LDM is kernel ridge of the labels; take away its two new terms, and it is an "
        "SVM without intercept. kFDA with $q=2$ is ridge regression on the columns of the kernel matrix, "
        "with $q=1$ the lasso. CLASK features in a least-squares SVM are kernel ridge with a projected "
        "kernel. An SMM of full rank is an SVM, and KM-OMD, a method that the LDM's paper compares with, is "
        "an SVM with squared losses and another threshold.",
        {
            "bridge/drm-kernel-ridge": "holds",
            "bridge/ldm-kernel-ridge": "holds",
            "bridge/kfda-ridge": "holds",
            "bridge/kfda-lasso": "holds",
            "bridge/ls-svm-kernel-ridge": "holds",
            "bridge/clask-kernel-ridge": "holds",
            "bridge/one-svm": "holds",
            "bridge/km-omd": "holds",
        },
        PAGE,
        pictures.family,
        "A map with arrows. kFDA leads to the lasso (q = 1) and to kernel ridge (q = 2); the DRM (alpha = "
        "0), the LDM (no hinge), CLASK (projected) and the LS-SVM (centred) lead to kernel ridge; the LDM "
        "(lambda1 = lambda2 = 0), the SMM (full rank) and KM-OMD (squared hinge) lead to the SVM.",
        "Which method becomes which, and when. At the ends of the arrows: three well-known methods. Each "
        "arrow is proved in the notebook and checked by a program.",
        home="The five methods are one family: switch off what a paper adds, and kernel ridge regression or "
        "a support vector machine is left.",
    )


def hinge() -> Finding:
    """Tell where the LDM leaves kernel ridge."""
    found = pictures.known_angles()
    ridge, svm = found["kernel ridge"], found["SVM, whitened"]
    one = max(C for C, angle in zip(pictures.COSTS, ridge, strict=True) if angle <= 0.1)
    return Finding(
        "Until a margin reaches 1, the large margin distribution machine is ridge regression",
        "Raising the mean of the margins and lowering their variance is what least squares do: "
        "$\\sum_i(1-\\gamma_i)^2$ is $n$ times the squared distance of the mean from 1, plus $n$ times the "
        "variance. So the two terms that the LDM adds to the SVM make kernel ridge of the labels, exactly. "
        f"In the example both point in the same direction up to $C\\approx{one:.1g}$. Then the hinge "
        f"takes over: at $C={pictures.COSTS[-1]:g}$ the LDM is {ridge[-1]:.0f}° from kernel ridge, and "
        f"{svm[-1]:.0f}° from an SVM whose kernel is whitened by the variance term.",
        {"bridge/ldm-kernel-ridge": "holds", "bridge/ldm-whitened-svm": "holds", "bridge/ldm-mean": "holds"},
        f"{PAGE}#bridge-ldm-kernel-ridge",
        pictures.angles,
        "Three curves of the angle between the LDM and another machine over C, logarithmic. To kernel ridge: "
        "zero up to C = 0.1, then a rise beyond 60 degrees. To the SVM of the whitened kernel: zero up to "
        "there, then a few degrees. To MAMC: about 14 degrees, then a rise like the first.",
        "Angle between the LDM and three simpler machines, 36 points in the plane. For small $C$ it points "
        "where kernel ridge points (blue at zero); for large $C$ where a whitened SVM points (dashed near "
        "zero).",
        holds=max(ridge[0], svm[0]) < 0.1 and ridge[-1] > 45 and max(svm) < 10,
    )


def rule() -> Finding:
    """Tell what is new in the DRM."""
    share = pictures.disagreement()
    return Finding(
        "The discriminative ridge machine has the weights of kernel ridge, but not its rule",
        "With two classes the DRM decides by a kernel ridge prediction too, but its targets are labels "
        "multiplied by their similarity to the new point. Each weight is multiplied by the kernel once "
        "more, so distant training points count for less. In the example the two rules disagree on "
        f"{100 * share:.0f} % of the new points, with identical weights. Under a strong ridge the DRM "
        "compares sums of squared kernels.",
        {
            "bridge/drm-kernel-ridge": "holds",
            "bridge/drm-errors": "holds",
            "bridge/drm-local-targets": "holds",
            "bridge/drm-strong-ridge": "holds",
        },
        f"{PAGE}#bridge-drm-local-targets",
        pictures.three_formulas,
        "Two panels with the same two clouds of points. Left, three boundaries drawn on top of each other: "
        "kernel ridge, the LDM without hinge and the DRM's weights times the labels coincide. Right, the "
        "boundary of kernel ridge and that of the DRM's rule; the regions between them are grey.",
        "Left: three formulas give one boundary. Right: with the same weights the DRM's rule decides "
        "differently in the grey regions.",
        holds=share > 0.02,
    )


def targets() -> Finding:
    """Tell what the targets of kFDA change."""
    machine, fisher, threshold = examples.fisher_and_machine(examples.two_clouds(), 0.5)
    return Finding(
        "The special targets of the Fisher discriminant only change the scale",
        "The kernel Fisher discriminant fits $N/N_1$ and $-N/N_2$ where others fit $\\pm1$. With a ridge "
        "and a free intercept this maps every output by one and the same straight line, and the threshold "
        "with it. The classifier is the least-squares SVM on kernel columns. What remains of kFDA is its "
        "kernel, $\\sum_jk(x,x_j)k(x_j,z)$, and, for $q<2$, its penalty; as $q\\to2$ it passes continuously "
        "into ridge regression.",
        {"bridge/kfda-ls-svm": "holds", "bridge/kfda-to-ridge": "holds"},
        f"{PAGE}#bridge-kfda-ls-svm",
        pictures.targets,
        "Fifty points on a straight line: output of kFDA over output of the LS-SVM. Dashed lines mark both "
        "thresholds, and they cross on the line of points.",
        "Fifty new points. The outputs lie on a line, and the two thresholds (dashed) cross on it: both "
        "methods classify every point alike.",
        holds=bool(((machine > 0) == (fisher > threshold)).all()),
    )


def leave_one_out() -> Finding:
    """Tell that one formula serves three methods."""
    found = examples.left_out(examples.two_clouds(), pictures.BETA)
    worst = max(float(abs(refitted - formula).max()) for refitted, formula in found.values())
    return Finding(
        "One formula gives leave-one-out for kernel ridge, the LS-SVM and kFDA",
        "Three chapters derive three formulas for exact leave-one-out. They are one: eliminate the unknowns "
        "of the left-out sample from a symmetric system. It costs one inverse instead of $n$ fits, and "
        "covers kernel ridge, which has the DRM's weights at $\\alpha=0$, the LS-SVM and the kernel "
        "Fisher discriminant, where a sample takes two unknowns with it. With $\\alpha>0$ the DRM's "
        "class sizes change, too; its chapter has that formula. The LDM's hinge is no linear system; its "
        "chapter proves intervals.",
        {"bridge/leave-one-out": "holds"},
        f"{PAGE}#bridge-leave-one-out",
        pictures.left_out,
        "Points of three kinds on the diagonal: leave-one-out output by the formula over that of 36 separate "
        "fits, for kernel ridge, LS-SVM and kFDA.",
        "Every point is a training point that was left out. The formula, from one fit, agrees with 36 "
        "separate fits for all three methods.",
        holds=worst < 1e-7,
    )
