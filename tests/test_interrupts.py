"""Ctrl-C is heard wherever one call of a compiled library may take minutes."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from marginbook import (
    DRMClassifier,
    LDMClassifier,
    LSSVMClassifier,
    MDOClassifier,
    MixedNormDRMClassifier,
    MKLClassifier,
    VectorLogisticClassifier,
    VectorSVMClassifier,
)
from marginbook.base.interruptible import interruptible
from marginbook.kernels import decomposition
from marginbook.ldm.model import whitening
from marginbook.quality.benchmarking.environment import ONE_THREAD


@pytest.fixture
def heard(monkeypatch):
    """Count every matrix as large, and collect the names of what is called beside the main thread."""
    calls = []

    def recorded(function, *arguments):
        # a ufunc of older versions of NumPy has one name only
        calls.append(getattr(function, "__qualname__", function.__name__))
        return interruptible(function, *arguments)

    for name, module in list(sys.modules.items()):
        if name.startswith("marginbook.") and vars(module).get("interruptible") is interruptible:
            monkeypatch.setattr(module, "interruptible", recorded)
            if hasattr(module, "LARGE"):
                monkeypatch.setattr(module, "LARGE", 3)
    monkeypatch.setattr(whitening, "LARGE", 3)
    return calls


def rows(m=40, p=6):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, p))
    return X, np.where(X[:, 0] + 0.2 * rng.normal(size=m) > 0, 1, -1)


@pytest.mark.parametrize(
    ("model", "wanted"),
    [
        (VectorSVMClassifier(), "BaseLibSVM.fit"),
        (VectorSVMClassifier(fit_intercept=False), "LinearSVC.fit"),
        (VectorLogisticClassifier(), "qr"),
        (LDMClassifier(C=np.inf, gamma=2.0), "eigh"),
        (LDMClassifier(C=1.0, gamma=1.0, solver="dcd"), "cholesky"),
        (LSSVMClassifier(kernel="rbf", n_components=20), "eigh"),
        (LSSVMClassifier(kernel="rbf", C=[0.1, 1.0]), "eigh"),
        (DRMClassifier(kernel="rbf", n_components=20), "eigh"),
        (DRMClassifier(kernel="linear"), "eigh"),
        (MixedNormDRMClassifier(), "cholesky"),
        (MKLClassifier(kernels=[("rbf", {"gamma": 0.1}), ("rbf", {"gamma": 1.0})]), "BaseLibSVM.fit"),
        (MDOClassifier(), "LinearSVC.fit"),
    ],
)
def test_long_calls_are_left_to_another_thread(heard, model, wanted):
    X, y = rows(6, 10) if wanted == "qr" else rows()
    model.fit(X, y)
    assert wanted in heard


def test_the_leave_one_out_bound_is_too(heard):
    model = LDMClassifier(C=1.0, gamma=1.0).fit(*rows())
    heard.clear()
    model.loo_bound()
    assert {"eigh", "matmul"} <= set(heard)


@pytest.mark.parametrize(("p", "beside"), [(6, False), (7, True)])
def test_a_factor_is_left_to_it_from_twice_as_many_rows_on(heard, p, beside):
    LSSVMClassifier().fit(*rows(p=p))
    assert ("cholesky" in heard) == beside


@pytest.mark.parametrize("n", [1, 63, 64, 65, 150])
def test_an_inverse_in_blocks(n):
    A = np.random.default_rng(n).normal(size=(n, n))
    A = A @ A.T / n + np.eye(n)
    factor, inverse = decomposition.cholesky_inverse(A.copy())
    np.testing.assert_allclose(np.tril(factor) @ np.tril(factor).T, A, atol=1e-12)
    np.testing.assert_allclose(np.tril(inverse), np.tril(np.linalg.inv(A)), atol=1e-11)


def test_what_small_and_large_matrices_get_is_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(300, 300))
    A = A @ A.T + np.eye(300)
    B = rng.normal(size=(300, 290))

    def found():
        values, vectors = decomposition.eigh(A)
        L = decomposition.cholesky(A.copy())
        yield from ((vectors * values) @ vectors.T, values, L, decomposition.forward(L, B))
        yield from (decomposition.product(A, B), np.array(decomposition.smallest_eigenvalue(A)))
        yield decomposition.svd(B)[1]

    small = list(found())
    monkeypatch.setattr(decomposition, "LARGE", 3)
    for one, other in zip(small, found(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)
    with pytest.raises(np.linalg.LinAlgError):
        decomposition.cholesky(-A)


def test_what_numpy_shall_ignore_it_ignores_there_too():
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        interruptible(np.divide, 1.0, 0.0)


CASES = {
    "libsvm": "VectorSVMClassifier(lam=1e-7).fit(X, y)",
    "liblinear": "VectorSVMClassifier(lam=1e-7, fit_intercept=False, tol=1e-9).fit(X, y)",
    "landmarks": "LSSVMClassifier(kernel='rbf', n_components=4000).fit(X, y)",
    "hard margin": "LDMClassifier(C=np.inf, gamma=2.0).fit(X[:4000], y[:4000])",
    "H": "LDMClassifier(C=1.0, gamma=1.0, solver='dcd').fit(X[:6000], y[:6000])",
    "leave-one-out": "LDMClassifier(C=1.0, gamma=1.0).fit(X[:4000], y[:4000]).loo_bound()",
    "DRM's landmarks": "DRMClassifier(kernel='rbf', n_components=4000).fit(X, y)",
    "kFDA's eigenvectors": "KFDAClassifier(kernel='rbf', route='least-squares').fit(X[:6000], y[:6000])",
    "kFDA's iterations": "KFDAClassifier(kernel='rbf', reg=1e-3).fit(X[:6000], y[:6000])",
    "KM-OMD": "KMOMDClassifier(kernel='rbf', C=1e8, gamma=0.05).fit(X[:10_000], y[:10_000])",
    "nuclear norm": "NuclearNormSVMClassifier(shape=(5, 4)).fit(X[:10_000], y[:10_000])",
}
#: CPU seconds from the signal to the answer, and wall seconds where those of another process are not known
LIMIT, LIMIT_OF_WALL = 2.0, 4.0


def used(pid: int) -> float | None:
    """Return the CPU seconds of another process so far, where the system tells."""
    try:
        # after the name, which may hold spaces: utime and stime are fields 14 and 15
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("name", CASES)
def test_an_interrupt_ends_it(name):
    program = f"""
import signal, time, warnings
import numpy as np
from marginbook import DRMClassifier, KFDAClassifier, KMOMDClassifier, LDMClassifier, LSSVMClassifier
from marginbook import NuclearNormSVMClassifier, VectorSVMClassifier
signal.signal(signal.SIGINT, signal.default_int_handler)
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.normal(size=(20_000, 20))
y = np.where(np.sin(X[:, 0] + X[:, 1]) + rng.normal(size=20_000) > 0, 1, -1)
print("ready", flush=True)
try:
    {CASES[name]}
    print("done", flush=True)
except KeyboardInterrupt:
    print("heard", time.process_time(), flush=True)
"""
    command, environment = [sys.executable, "-c", program], os.environ | ONE_THREAD
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(3.0)
        before, began = used(process.pid), time.monotonic()
        process.send_signal(2)
        answer, took = process.stdout.readline().split(), time.monotonic() - began
        process.kill()
    assert answer[0] == "heard"
    # on a busy machine the wall says how long the process waited for its turn
    assert took < LIMIT_OF_WALL if before is None else float(answer[1]) - before < LIMIT
