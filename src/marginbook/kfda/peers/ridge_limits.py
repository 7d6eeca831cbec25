"""Up to where KFDAClassifier takes which route, and beyond what it warns."""

#: samples up to which an eigendecomposition is the default: it takes two seconds
EIGEN = 2000
#: samples up to which "auto" takes it after conjugate gradients that did not converge
FALLBACK = 4000
#: relative residual of the equations above which a warning says so
RESIDUAL = 1e-4
#: what is a share of the targets, in a warning
FITTED = "the kernel matrix lets rounding fit a share of the targets of"
#: share of the objective by which it may be above its minimum, of "cg", without a warning
GAP = 1e-8
#: the same share up to which "auto" takes the factor of several classes
CLEAN = 1e-16
