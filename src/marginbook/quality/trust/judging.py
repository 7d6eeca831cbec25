"""One fit and its verdict: is the certificate honest, and how many digits were reached?"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .exact.numbers import digits
from .exact.programs import NotSolved
from .exact.reference import Reference
from .subjects import Subject

#: share of the size of its terms by which rounding may make a certificate too small: some hundred roundings
ROUNDING = 1e-13
#: digits of double precision
FULL = 17.0


@dataclass(frozen=True)
class Judged:
    """What came out of one fit.

    Attributes
    ----------
    reported, true, slack : float
        The certificate, what it promises to bound, and what rounding may hide.
    honest : {"yes", "no", "-"}
        Whether ``reported + slack >= true``; "-" where there is no certificate.
    objective_digits, optimum_digits, decision_digits : float
        Digits to which the reported objective is that of the returned solution, to which the returned
        solution reaches the optimum, and to which the decision values are those of the optimum; nan if there
        is none.
    announced : float
        Digits that the certificate announces: of the objective for a gap, else of the equations; nan without.
    warned : str
        The kind of warning or error, "" for none.
    """

    reported: float
    true: float
    slack: float
    honest: str
    objective_digits: float
    optimum_digits: float
    decision_digits: float
    announced: float
    warned: str


def judge(subject: Subject, X: np.ndarray, y: np.ndarray, T: np.ndarray, **changed: Any) -> Judged:
    """Fit the subject's estimator to `X` and `y`, ask it about `T`, and judge both with many digits.

    Parameters
    ----------
    subject : Subject
    X, y, T : arrays
        Samples, labels and samples to decide on; Gram matrices for a precomputed kernel.
    **changed
        Parameters in place of the subject's.
    """
    nothing = float("nan")
    model = subject.build(**changed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(X, y)
            found = _decisions(model, T)
        except (ValueError, ArithmeticError) as error:
            return nothing_known(f"{type(error).__name__}: {error}")
    warned = sorted(
        {each.category.__name__ for each in caught if issubclass(each.category, ConvergenceWarning)}
    )
    try:
        said = subject.judge(model, X, y, T)
    except NotSolved as error:
        return nothing_known(f"no reference: {error}")
    slack = float(ROUNDING * said.size)
    honest = "-"
    if subject.certificate != "none":
        honest = "yes" if said.reported + slack >= said.error else "no"
    right = nothing if said.decisions is None or found is None else digits(found, said.decisions)
    return Judged(
        said.reported,
        float(max(said.error, mpmath.mpf(0))),
        slack,
        honest,
        nothing if said.reported_value is None else digits(said.reported_value, said.value),
        nothing if said.optimum is None else digits_below(said.value, said.optimum),
        right,
        _announced(subject, said),
        " ".join(warned),
    )


def nothing_known(why: str) -> Judged:
    """Return what is left where there is no fit, or nothing to compare it with."""
    nan = float("nan")
    return Judged(nan, nan, nan, "-", nan, nan, nan, nan, why)


def _announced(subject: Subject, said: Reference) -> float:
    if not said.reported >= 0:
        return float("nan")
    whole = 1.0
    if "gap" in subject.certificate and not said.relative and said.value:
        whole = abs(float(said.value))
    return FULL if said.reported == 0 else -float(np.log10(said.reported / whole))


def digits_below(value: Any, optimum: Any) -> float:
    """Return to how many digits `value` reaches `optimum`, at most 17."""
    return digits(np.array([value], dtype=object), np.array([optimum], dtype=object))


def _decisions(model: Any, T: np.ndarray) -> np.ndarray | None:
    if hasattr(model, "level_decisions"):
        return np.asarray(model.level_decisions(T))
    return np.asarray(model.decision_function(T)) if hasattr(model, "decision_function") else None
