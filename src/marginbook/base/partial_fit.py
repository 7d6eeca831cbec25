"""What an estimator that needs all rows at once says when it is given them in pieces."""

from __future__ import annotations

from typing import Any


class NoPartialFit:
    """Mixin of an estimator without ``partial_fit``: `hasattr` says no, and asking says what to take instead.

    An attribute that raises AttributeError is what scikit-learn does for methods that a setting rules out.
    """

    @property
    def partial_fit(self) -> Any:  # without a docstring: reference pages do not list it
        instead = (
            "for rows that come in pieces take DRMClassifier(kernel='linear'), exactly, LDMClassifier("
            "kernel='linear', solver='asgd'), or marginbook.large, which fits linear machines to files"
            if hasattr(self, "predict")
            else "fit it to a sample of the rows, and transform the others in pieces"
        )
        raise AttributeError(
            f"{type(self).__name__} is fitted to all rows at once and has no partial_fit: {instead}",
            name="partial_fit",
            obj=self,
        )
