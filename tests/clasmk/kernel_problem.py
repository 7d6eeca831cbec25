"""A small problem of several kernels, for the tests of their machines."""

import numpy as np
from sklearn.svm import SVC

from marginbook.clasmk.model.normalised_kernels import normalised_gram

KERNELS = [("rbf", {"gamma": 2.0}), ("rbf", {"gamma": 0.1}), ("poly", {"degree": 2}), "linear"]


def to_the_tolerance(estimator):
    """Weights are repeated rows, but libsvm answers the same problem in other rows up to `tol`."""
    return {"check_sample_weight_equivalence_on_dense_data": "equal up to tol, see the law in test_mkl.py"}


def problem(n=20, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % classes
    X = rng.standard_normal((n, 3)) + 0.7 * np.eye(3)[codes % 3]
    signs = np.where(codes[:, None] == np.arange(classes), 1.0, -1.0)
    grams = [normalised_gram(kernel, X) for kernel in KERNELS]
    return grams, signs[:, 1:] if classes == 2 else signs, X, codes


def layer_objective(grams, weights, signs, C, reg):
    """Return F of two layers by the naive route: a machine for each output on the exponential."""
    K = np.exp(sum(w * G for w, G in zip(weights, grams, strict=True)))
    total = reg * np.sum(weights)
    for y in signs.T:
        machine = SVC(kernel="precomputed", C=C, tol=1e-7).fit(K, y)
        beta = np.zeros(len(y))
        beta[machine.support_] = machine.dual_coef_[0]
        total += np.abs(beta).sum() - beta @ K @ beta / 2
    return total
