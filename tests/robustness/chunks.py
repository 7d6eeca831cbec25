"""Bad chunks of rows, and bad files, for the machines on data larger than memory."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from marginbook.drm import DRMClassifier
from marginbook.large import LibsvmFiles, Pairs, ParquetFiles, fit_drm, fit_ldm, write_parquet
from marginbook.ldm import LDMClassifier

from .calls import Call, calls
from .candidates import WILD
from .judging import check_fitted
from .recipes import Labels, labels, rows

#: files of text: right, empty, damaged, and none
_TEXTS = (
    b"1 1:0.5 3:1\n-1 2:2\n1 1:1\n", b"", b"\n", b"1 1:nan\n", b"1 1:1e999\n", b"1 0:1\n", b"1 3:1 2:1\n",
    b"a b c\n", b"1 1:1 1:1\n", b"\xff\xfe", b"1 99999999999999999999:1\n", b"1 -1:2\n", b"PAR1PAR1", b"1",
)  # fmt: skip


def _fit_drm(X: Any, y: Labels, parts: Any, alpha: Any) -> Any:
    model = fit_drm(DRMClassifier(alpha, kernel="linear"), _pairs(X, y, parts))
    check_fitted(model)
    return model.maps_


def _fit_ldm(X: Any, y: Labels, parts: Any, C: Any) -> Any:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fit_ldm(LDMClassifier(C=C, kernel="linear", max_iter=30), _pairs(X, y, parts))
    if not any(issubclass(each.category, ConvergenceWarning) for each in caught):
        check_fitted(model)
    return model.coef_


def _pairs(X: Any, y: Labels, parts: Any) -> Pairs:
    n = X.shape[0] if getattr(X, "shape", ()) else 12
    labels = y.make(n)
    if not isinstance(parts, int):
        return Pairs(parts)
    if not (isinstance(X, np.ndarray) or getattr(X, "format", "") == "csr") or labels is None:
        return Pairs(lambda: [(X, labels)])
    return Pairs(lambda: ((X[k::parts], np.asarray(labels)[k::parts]) for k in range(parts)))


def _read(kind: Any, content: Any, options: dict[str, Any]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows"
        if content is not None:
            path.write_bytes(content)
        return [(chunk.X.sum(), chunk.y) for chunk in kind(path, **options)]


def _write(X: Any, y: Labels, named: dict[str, Any]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = write_parquet(_pairs(X, y, 2), Path(folder) / "rows.parquet", **named)
        found = [(chunk.X, chunk.y) for chunk in ParquetFiles(path, label=named.get("label", "label"))]
        return [rows for rows, _ in found]


def _paired(X: Any, y: Labels, parts: Any) -> Any:
    return [chunk.X.sum() for chunk in _pairs(X, y, parts)]


def _options(**named: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional={key: st.sampled_from(value) for key, value in named.items()})


def _files(kind: Any, **named: Any) -> st.SearchStrategy[Call]:
    return calls(_read, st.just(kind), (*_TEXTS, None), _options(**named))


_PARTS = (2, 1, 3, 50, None, "pairs", lambda: None, lambda: [1], lambda: [(1, 2)], list)
CHUNKED: dict[str, st.SearchStrategy[Any]] = {
    "fit_drm": calls(_fit_drm, rows(), labels(), (2, 1, 3, 50), (1.0, 0.0, 1e-12, 1e12, *WILD)),
    "fit_ldm": calls(_fit_ldm, rows(), labels(), (2, 1, 3), (1.0, 1e-6, 1e6, *WILD)),
    "Pairs": calls(_paired, rows(), labels(), _PARTS),
    "LibsvmFiles": _files(
        LibsvmFiles, n_features=(None, 3, 1, *WILD), zero_based=(True, False), chunk_rows=(1, 2, *WILD)
    ),
    "ParquetFiles": _files(ParquetFiles, label=("label", "none"), chunk_rows=(1, *WILD)),
    "write_parquet": calls(
        _write, rows(), labels(), _options(dtype=("float32", "float64", "int8", None), group_rows=(5, *WILD))
    ),
}
