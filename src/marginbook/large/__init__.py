r"""Linear machines on data larger than memory: files read in chunks, one chunk in memory at a time.

The linear DRM needs one pass, the linear LDM on few features about a dozen; both end with the certificate of
the fit in memory. Memory grows with the square of the number of features and not with the number of rows.

>>> import numpy as np
>>> from marginbook.drm import DRMClassifier
>>> from marginbook.large import Pairs, fit_drm
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(900, 3)) + np.repeat(np.eye(3), 300, axis=0)
>>> y = np.repeat(["a", "b", "c"], 300)
>>> parts = Pairs(lambda: ((X[k::9], y[k::9]) for k in range(9)))  # or ParquetFiles, LibsvmFiles
>>> model = fit_drm(DRMClassifier(kernel="linear", fit_intercept=True), parts)
>>> model.classes_.tolist(), int(model.moments_.sizes.sum()), model.kkt_residual_ < 1e-12
(['a', 'b', 'c'], 900, True)
"""

from .newton import fit_ldm
from .parquet import ParquetFiles, write_parquet
from .ridge import fit_drm
from .sources import Chunk, LibsvmFiles, Pairs, Source

__all__ = ["Chunk", "LibsvmFiles", "Pairs", "ParquetFiles", "Source", "fit_drm", "fit_ldm", "write_parquet"]
