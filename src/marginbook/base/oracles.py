"""The general solver that oracles put problems to, which is not installed with the package."""

from __future__ import annotations

from types import ModuleType


def cvxpy() -> ModuleType:
    """Return the module cvxpy.

    Raises
    ------
    ModuleNotFoundError
        If it is not installed, with the command that installs it.
    """
    try:
        import cvxpy as module
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "the oracle needs cvxpy, which is not installed: pip install 'marginbook[oracle]'"
        ) from None
    found: ModuleType = module
    return found
