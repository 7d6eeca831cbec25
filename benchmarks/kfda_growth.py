"""What `growth.py` fits of kFDA on 20 features with an rbf kernel, at 2,000 to 50,000 rows; imported only.

Without landmarks they hold the kernel matrix once, 8 N^2 bytes; where that does not fit they say so at once.
With landmarks KFDA is that of an approximated kernel, and the sparse ones choose among so many candidates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from marginbook.kfda import KFDAClassifier, OLSKFDAClassifier, SparseKFDAClassifier

#: samples that forward selection takes, and landmarks
TERMS, LANDMARKS = 100, 500

CASES: dict[str, Callable[[], Any]] = {
    "KFDA": lambda: KFDAClassifier(),
    "KFDA, landmarks": lambda: KFDAClassifier(n_components=LANDMARKS, random_state=0),
    "SparseKFDA q=1": lambda: SparseKFDAClassifier(rho=1e-3),
    "SparseKFDA q=1, landmarks": lambda: SparseKFDAClassifier(
        rho=1e-3, n_components=LANDMARKS, random_state=0
    ),
    "SparseKFDA q=0.5": lambda: SparseKFDAClassifier(q=0.5, rho=1e-3),
    "SparseKFDA q=0.5, landmarks": lambda: SparseKFDAClassifier(
        q=0.5, rho=1e-3, n_components=LANDMARKS, random_state=0
    ),
    "OLSKFDA": lambda: OLSKFDAClassifier(n_terms=TERMS),
    "OLSKFDA, landmarks": lambda: OLSKFDAClassifier(n_terms=TERMS, n_components=LANDMARKS, random_state=0),
}
