"""The classifier on top of a hierarchy's features: what it must have, and one that is not fitted yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import clone
from sklearn.utils import check_random_state

from .lssvm import LSSVMClassifier


def base_has(method: str) -> Callable[[Any], bool]:
    """Return the condition under which the classifier has a `method` of its base."""

    def condition(model: Any) -> bool:
        base = getattr(model, "base_", model.base)
        return hasattr(LSSVMClassifier if base is None else base, method)

    return condition


def validate_base(model: Any) -> None:
    """Raise an error unless the parameter `base` of `model` gives one decision value for each class."""
    if not base_has("decision_function")(model):
        raise TypeError(
            f"base {model.base!r} has no decision_function, which says what rows are marginal; take one "
            "that has, such as LSSVMClassifier or LogisticRegression"
        )
    if getattr(model.base, "decision_function_shape", "ovr") == "ovo":  # 3 pairs look like 3 classes
        raise ValueError(
            f"base {model.base!r} decides between pairs of classes, wanted one value for each class; take "
            "decision_function_shape='ovr'"
        )


def new_base(base: Any, random_state: Any) -> Any:
    """Return the classifier `base`, unfitted, with seeds where it wants some and has none."""
    base = LSSVMClassifier() if base is None else clone(base)
    wanting = sorted(
        name
        for name, value in base.get_params().items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    )
    if random_state is None or not wanting:
        return base
    generator = check_random_state(random_state)
    return base.set_params(**{name: int(generator.randint(2**31 - 1)) for name in wanting})
