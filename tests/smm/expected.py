"""What scikit-learn's checks cannot find in estimators of this room."""


def without_intercept(estimator):
    """Name the check that no classifier without an intercept can pass: it weighs one class by 1e-4."""
    reason = "the sign of a linear function without an intercept cannot favour a class everywhere"
    return {"check_class_weight_classifiers": reason} if not estimator.fit_intercept else {}
