"""What a fit does first: it drops what an earlier one left."""

from __future__ import annotations

from typing import Any


def forget(model: Any, *private: str) -> None:
    """Drop attributes that end with an underscore, and `private` ones: a fit that fails leaves nothing."""
    for state in [name for name in vars(model) if name.endswith("_") or name in private]:
        delattr(model, state)
