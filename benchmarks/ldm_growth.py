"""The estimators of the LDM's room whose growth with the rows is timed; imported only, by growth.py.

Each is fitted on 20 features with an rbf kernel, at 2,000 to 50,000 rows. The LDM has the C of the SVC beside
it, and its own tolerance of the gap.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from marginbook.ldm import KMOMDClassifier, LDMClassifier, MAMCClassifier

CASES: dict[str, Callable[[], Any]] = {
    "LDM": lambda: LDMClassifier(C=1.0),
    "LDM, C=10": lambda: LDMClassifier(C=10.0),
    "KM-OMD": KMOMDClassifier,
    "KM-OMD, 500 landmarks": lambda: KMOMDClassifier(n_components=500),
    "MAMC": MAMCClassifier,
}
