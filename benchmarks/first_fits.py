"""Time the first fit of every public estimator with an empty cache of compiled code.

Run: python benchmarks/first_fits.py [--quick]
Writes benchmarks/results/first_fits.csv, in CPU seconds. Each estimator with its defaults is fitted to 200
rows of 20 features: in a fresh process whose cache of compiled code is empty, once more in the same process,
and in another fresh process, which finds the compiled code. Imports are apart. More rows, another kernel or
another solver may compile more; `marginbook warmup` compiles for all of them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from marginbook.base.public import public_estimators
from marginbook.quality.benchmarking import Record, main
from marginbook.quality.benchmarking.environment import ONE_THREAD

#: what an estimator is given that has no default for it
GIVEN = {
    "RealisationSearch": "estimator=marginbook.SparseKFDAClassifier(), param_grid={'rho': [0.1, 0.01]}",
}
CHILD = """
import json, time, warnings
import numpy as np
import marginbook
warnings.simplefilter("ignore")
model = marginbook.{name}({given})
rng = np.random.default_rng(0)
y = np.arange(200) % 2
X = rng.normal(size=(200, 20)) + 0.5 * y[:, None]
imported = time.process_time()
model.fit(X, y)
first = time.process_time()
model.fit(X, y)
took = dict(zip(("import_s", "fit_s", "again_s"), np.diff([0.0, imported, first, time.process_time()])))
print(json.dumps({{name: float(seconds) for name, seconds in took.items()}}))
"""


def seconds(name: str, cache: str) -> dict[str, float]:
    """Return CPU seconds of import, first and second fit in a fresh process with this cache."""
    process = subprocess.run(
        [sys.executable, "-c", CHILD.format(name=name, given=GIVEN.get(name, ""))],
        env=os.environ | ONE_THREAD | {"NUMBA_CACHE_DIR": cache},
        capture_output=True,
        text=True,
    )
    if process.returncode:
        raise RuntimeError(f"{name}: {process.stderr.strip()[-300:]}")
    return dict(json.loads(process.stdout))


def measure(quick: bool) -> Iterator[Record]:
    """Yield a row for each estimator; a look takes the first two."""
    for name in list(public_estimators())[: 2 if quick else None]:
        with tempfile.TemporaryDirectory() as cache:
            empty, filled = seconds(name, cache), seconds(name, cache)
        took = empty | {"cached_s": filled["fit_s"]}
        yield Record("first_fits", {"estimator": name, **{key: f"{each:.3g}" for key, each in took.items()}})


if __name__ == "__main__":
    main(measure)
