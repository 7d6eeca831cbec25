"""What may come back from a call with bad input, and what may not."""

from __future__ import annotations

import linecache
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import marginbook
from marginbook.datasets import DatasetError
from marginbook.kernels import validation

#: what a call may end in; all but "fault" are right
KINDS = ("certified", "warned", "answered", "input", "parameter", "problem", "fault")
#: attributes that say how far a fit is from the optimum
CERTIFICATES = ("dual_gap_", "kkt_residual_", "stationarity_", "residual_")
#: attributes that may be infinite, or undefined, and say so in their documentation
MAY_BE_INFINITE = frozenset({"curvature_", "lower_bound_", "global_gap_", "loo_decision_"})
_OWN = Path(marginbook.__file__).parent
_SKLEARN = Path(sklearn.__file__).parent
_VALIDATION = Path(validation.__file__)  # scikit-learn's refusals, shortened


@dataclass(frozen=True)
class Outcome:
    """One of ``KINDS``, and in words what came back."""

    kind: str
    what: str = ""


class Fault(Exception):
    """What came back is neither right nor a clear error."""


def outcome(call: Callable[[], bool]) -> Outcome:
    """Return what `call` ended in; it returns whether a certificate was there and small.

    A clear error is a ValueError or TypeError whose message somebody wrote: raised by a ``raise`` of this
    package, in one line, or by scikit-learn's validation.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            certified = call()
        except Fault as fault:
            return _unless_warned(str(fault), caught)
        except (ValueError, TypeError, DatasetError, FileNotFoundError) as error:
            return _judged(error)
        except Exception as error:
            return Outcome("fault", f"{type(error).__name__}: {error} {_place(error)}")
    if any(issubclass(each.category, ConvergenceWarning) for each in caught):
        return Outcome("warned", _first(caught))
    return Outcome("certified" if certified else "answered")


def check_fitted(model: Any) -> bool:
    """Return whether `model` has a certificate; raise Fault for one that is no number or large.

    Raises
    ------
    Fault
        Also for any fitted number that is not finite.
    """
    for name, value in vars(model).items():
        if not name.endswith("_") or name.startswith("_") or name in MAY_BE_INFINITE | {*CERTIFICATES}:
            continue
        numbers = np.asarray(value.data if sparse.issparse(value) else value) if _numeric(value) else None
        if numbers is not None and numbers.dtype.kind in "fc" and not np.isfinite(numbers).all():
            raise Fault(f"{name} is not finite")
    found = [name for name in CERTIFICATES if _numeric(getattr(model, name, None))]
    if type(model).__name__ == "KMOMDClassifier":  # its gap is compared with the size of the kernel
        return np.isfinite(model.dual_gap_)
    if hasattr(model, "max_rank"):  # its residual_ is what the span misses, as asked for
        found = [name for name in found if name != "residual_"]
    # for q >= 1 what passes is the gap, as documented; coefficients of 1e-22 have a slope of their own
    by_gap = float(getattr(model, "q", 0)) >= 1 and "dual_gap_" in found
    # the paper's own iterations stop by the change of J, as documented, and a cut comes after any solver:
    # theirs is not a small certificate but a right one, which `recomputed` sees to
    if getattr(model, "cut", 0) or getattr(model, "solver_", "") in ("plain", "squarem"):
        return False
    tol = getattr(model, "tol", None)
    allowed = max(1e-4, np.sqrt(tol) if isinstance(tol, float | int) and tol >= 0 else 0.0)
    for name in found:
        value = float(np.max(getattr(model, name)))
        scale = max(1.0, np.abs(getattr(model, "objective_", 1.0)).max()) if name == "dual_gap_" else 1.0
        if np.isnan(value):
            raise Fault(f"{name} is not finite")
        if not value <= allowed * scale and not (by_gap and name == "stationarity_"):
            raise Fault(
                f"uncertified: {name} is {value:.3g} beside a scale of {scale:.3g}, without a warning"
            )
    return bool(found)


def check_answers(model: Any, X: Any, n: int, huge: bool = False) -> None:
    """Raise Fault unless all that `model` says of the n rows of `X` is in range.

    Parameters
    ----------
    huge : bool
        Whether the rows are beyond those of the fit by so much that a decision value may be infinite.
    """
    for method in ("decision_function", "predict_proba", "transform", "predict"):
        if not hasattr(model, method):
            continue
        answer = np.asarray(getattr(model, method)(X))
        if len(answer) != n:
            raise Fault(f"{method} gave {len(answer)} answers for {n} rows")
        if answer.dtype.kind == "f" and (np.isnan(answer).any() or not (huge or np.isfinite(answer).all())):
            raise Fault(f"{method} is not finite")
        if method == "predict" and not np.isin(answer, model.classes_).all():
            raise Fault("predict gave a label that is no class")
        if method == "predict_proba" and not (
            answer.min() >= 0 and np.allclose(answer.sum(axis=1), 1.0, atol=1e-6)
        ):
            raise Fault("predict_proba is no distribution")


def _unless_warned(what: str, caught: list[warnings.WarningMessage]) -> Outcome:
    """A missed certificate that a warning tells of is right; an answer that is no number never is."""
    told = any(issubclass(each.category, ConvergenceWarning) for each in caught)
    return (
        Outcome("warned", _first(caught))
        if told and what.startswith("uncertified")
        else Outcome("fault", what)
    )


def _judged(error: Exception) -> Outcome:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith(".py")]
    last = frames[-1]
    line = linecache.getline(last.filename, last.lineno or 0).strip()
    message = str(error).strip()
    path = Path(last.filename)
    if path.is_relative_to(_SKLEARN) or "scikit" in message:
        clear = bool(message)
    else:
        clear = path.is_relative_to(_OWN) and line.startswith(("raise", "fail(")) and "\n" not in message
    if not clear or len(message) < 12:
        return Outcome("fault", f"unclear {type(error).__name__}: {message[:200]} {_place(error)}")
    if path.is_relative_to(_SKLEARN) or path == _VALIDATION:
        return Outcome("input", message.splitlines()[0])
    parameter = "must be" in message or message.startswith("unknown") or "kernel" in message.split("is ")[0]
    return Outcome("parameter" if parameter else "problem", message)


def _place(error: Exception) -> str:
    own = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).is_relative_to(_OWN)]
    return f"({Path(own[-1].filename).relative_to(_OWN)}:{own[-1].lineno})" if own else ""


def _first(caught: list[warnings.WarningMessage]) -> str:
    return next(str(each.message) for each in caught if issubclass(each.category, ConvergenceWarning))


def _numeric(value: Any) -> bool:
    return isinstance(value, float | int | np.number | np.ndarray) or sparse.issparse(value)
