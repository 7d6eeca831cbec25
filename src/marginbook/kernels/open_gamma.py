"""Whether a kernel leaves its gamma to an estimator or a search."""

from __future__ import annotations

from . import Kernel, parse_kernel


def leaves_gamma_open(kernel: Kernel) -> bool:
    """Return whether `kernel` has a gamma and does not say which.

    >>> leaves_gamma_open("rbf"), leaves_gamma_open(("poly", {"degree": 2})), leaves_gamma_open("linear")
    (True, True, False)
    """
    _, parameters = parse_kernel(kernel)  # first of all, as it says what is no kernel
    own = {} if isinstance(kernel, str) or callable(kernel) else kernel[1]
    return "gamma" in parameters and "gamma" not in own
