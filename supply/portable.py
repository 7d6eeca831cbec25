"""The unit tests and the notebooks as other processors compute them, on this one.

OpenBLAS, NumPy and Numba choose their code by the processor, and round differently with each. Variables
make them choose as on an older one: ``python supply/portable.py`` runs all tests in a random order and
compares the stored outputs of all notebooks, for every kind of processor that this one can stand in for, with
one and two threads of BLAS and an empty cache of claims. What came out is in ``results/portable``, and why a
kind was left out; the book shows both. Stopped, it goes on where it was: what was done with the same code is
not done again. With ``--quick`` it runs the unit tests of `make test`, those without the long ones.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from marginbook.cli.stopping import keeping, one_sentence

with one_sentence():  # these imports take seconds
    from compared import NBVAL
    from unit_tests import counts

    from marginbook.base.checkout import commit
    from marginbook.book.portable_table import ALL, LEFT_OUT, THREADS, WITHOUT_LONG

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results" / "portable"
#: what a result depends on; those that this script writes are left out
INPUTS = (
    "src",
    "tests",
    "notebooks",
    "book",
    "data_download",
    "results",
    "pyproject.toml",
    "requirements.lock",
)
#: kind of processor -> its name in LLVM, what that compiler and NumPy leave out for it
CORES = {
    "SkylakeX": ("skylake-avx512", (), ()),
    "Haswell": ("haswell", ("avx512f",), ("AVX512", "X86_V4")),
    "Zen": ("znver1", ("avx512f",), ("AVX512", "X86_V4")),
    "Nehalem": ("nehalem", ("avx", "avx2", "fma", "avx512f"), ("AVX", "F16C", "FMA", "X86_V3", "X86_V4")),
}
#: asked in a process of its own: a kernel that the processor lacks ends it
PROBE = """
import json, numpy, scipy.linalg, threadpoolctl
scipy.linalg.lu_factor(numpy.eye(300) + numpy.ones((300, 300)) @ numpy.ones((300, 300)))
libraries = [each for each in threadpoolctl.threadpool_info() if each["internal_api"] == "openblas"]
simd = numpy.show_config("dicts")["SIMD Extensions"]
print(json.dumps({"kernels": [each["architecture"] for each in libraries],
                  "versions": sorted({each["version"] for each in libraries}),
                  "simd": simd.get("found", [])}))
"""
#: which unit tests -> their markers
MARKERS = {ALL: "not browser", WITHOUT_LONG: "not browser and not urls and not long"}
UNIT = ("--doctest-modules", "--hypothesis-profile=same", "src", "tests")


def main() -> int:
    """Run what is not stored yet; the exit code is 1 if anything failed, now or in what is stored."""
    options = _options()
    which = WITHOUT_LONG if options.quick else ALL
    subprocess.run(
        [sys.executable, "-m", "marginbook", "data", "fetch", "--registries-only"], cwd=ROOT, check=True
    )
    failed = 0
    for core in options.cores:
        why = refusal(core, probe(core))
        keep(core, why)
        if why:
            print(f"{core}: left out, {why}", flush=True)
            continue
        for threads in options.threads:
            for part in options.parts:
                failed += outcome(core, threads, part, options.workers, which)["failed"]
    return int(failed > 0)


def environment(core: str, threads: int = 1, simd: list[str] | None = None) -> dict[str, str]:
    """Return the variables by which OpenBLAS, NumPy and Numba take this processor for a `core`.

    `simd` are the extensions that NumPy found, of which it is told what to leave.
    """
    llvm, absent, left_out = CORES[core]
    number = str(threads)
    names = {"OPENBLAS_CORETYPE": core, "OPENBLAS_NUM_THREADS": number, "OMP_NUM_THREADS": number}
    if absent:
        names |= {"NUMBA_CPU_NAME": llvm, "NUMBA_CPU_FEATURES": ",".join(f"-{name}" for name in absent)}
    unwanted = [name for name in simd or [] if name.startswith(left_out)] if left_out else []
    return names | ({"NPY_DISABLE_CPU_FEATURES": " ".join(unwanted)} if unwanted else {})


def probe(core: str) -> dict[str, Any] | None:
    """Return the kernels that OpenBLAS loads when told to take `core`; None where they do not run."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE], env=os.environ | environment(core), capture_output=True, text=True
    )
    return json.loads(done.stdout) if done.returncode == 0 else None


def refusal(core: str, found: dict[str, Any] | None) -> str:
    """Return why this machine cannot stand in for a `core`; empty if it can."""
    if found is None:
        return "this processor cannot run its kernels"
    if not found["kernels"]:
        return "NumPy and SciPy do not use OpenBLAS here"
    others = sorted({name for name in found["kernels"] if name.lower() != core.lower()})
    return f"OpenBLAS takes {', '.join(others)} instead" if others else ""


def keep(core: str, why: str) -> None:
    """Store why a `core` is left out; an empty reason takes back what is stored."""
    file = RESULTS / LEFT_OUT
    _write(file, {name: said for name, said in (_read(file) | {core: why}).items() if said})


def outcome(core: str, threads: int, part: str, workers: int, which: str = ALL) -> dict[str, Any]:
    """Return what came out of `part`, ``unit`` or ``notebooks``, from the store or by running it.

    `which` unit tests are asked for; a stored run of all stands for that without the long ones.
    """
    file = RESULTS / f"{core.lower()}-{threads}.json"
    stored = _read(file)
    before = code()
    known = stored.get(part, {})
    if known.get("code") == before and (part != "unit" or known.get("which", ALL) in (ALL, which)):
        print(f"{core}, {threads} threads, {part}: stored already", flush=True)
        return dict(stored[part])
    print(f"{core}, {threads} threads, {part}: running", flush=True)
    found = {"code": before, "commit": commit("results/portable")}
    found |= {"which": which} if part == "unit" else {}
    found |= _run(core, threads, part, workers, which)
    if code() != before:
        raise SystemExit("files changed during the run, and nothing was stored; call it again")
    _write(file, stored | {"core": core, "threads": threads, part: found})
    print(
        f"{core}, {threads} threads, {part}: {found['passed']} passed, {found['failed']} failed", flush=True
    )
    return found


def code(home: Path = ROOT) -> str:
    """Return a hash of all files that decide what comes out, and of the versions that compute."""
    digest = hashlib.sha256()
    for name in ("numpy", "scipy", "scikit-learn", "numba"):
        digest.update(f"{name}=={importlib.metadata.version(name)}\n".encode())
    for name in INPUTS:
        top = home / name
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            inside = path.relative_to(home)
            written = inside.parts[:2] == ("results", "portable") or "__pycache__" in inside.parts
            if path.is_file() and not written and not any(part.startswith(".") for part in inside.parts):
                digest.update(
                    f"{inside.as_posix()}\n{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode()
                )
    return digest.hexdigest()[:16]


def _read(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def _write(file: Path, content: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    scratch = file.with_suffix(".tmp")
    scratch.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    scratch.replace(file)


def _run(core: str, threads: int, part: str, workers: int, which: str) -> dict[str, Any]:
    about = probe(core) or {}
    folder = ROOT / "_build" / "portable" / f"{core.lower()}-{threads}-{part}"
    shutil.rmtree(folder, ignore_errors=True)
    cache = folder / "cache"  # what was fetched stays, what was computed does not
    cache.mkdir(parents=True)
    (cache / "data").symlink_to(_cache() / "data", target_is_directory=True)
    report = folder / "report.xml"
    own = environment(core, threads, about.get("simd")) | {"MARGINBOOK_CACHE": str(cache)}
    tests = ["-m", MARKERS[which], *UNIT, *_order(core, threads)] if part == "unit" else [*NBVAL, "notebooks"]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"-n{workers}", *tests]
    begin = time.monotonic()
    done = subprocess.run([*command, f"--junitxml={report}"], cwd=ROOT, env=os.environ | own)
    seconds = round(time.monotonic() - begin)
    if done.returncode not in (0, 1):  # all passed, or some failed
        raise SystemExit(
            f"pytest ended with {done.returncode}, and nothing was stored; call it again to go on"
        )
    return {"openblas": about["versions"], "numpy left out": own.get("NPY_DISABLE_CPU_FEATURES", "")} | {
        "seed": _seed(core, threads) if part == "unit" and _order(core, threads) else None,
        "seconds": seconds,
        **counts(report),
    }


def _order(core: str, threads: int) -> list[str]:
    """Return the options for a random order of the tests, its own for each run; none without the plugin."""
    known = importlib.util.find_spec("pytest_randomly") is not None
    return [f"--randomly-seed={_seed(core, threads)}"] if known else []


def _seed(core: str, threads: int) -> int:
    return 1 + len(THREADS) * list(CORES).index(core) + THREADS.index(threads)


def _cache() -> Path:
    from marginbook.base.project import cache_dir

    return cache_dir().resolve()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cores", nargs="+", choices=CORES, default=list(CORES), help="default: all")
    parser.add_argument("--threads", nargs="+", type=int, choices=THREADS, default=list(THREADS))
    parser.add_argument("--parts", nargs="+", choices=("unit", "notebooks"), default=["unit", "notebooks"])
    parser.add_argument(
        "--quick", action="store_true", help="unit tests as `make test` has them, without the long ones"
    )
    parser.add_argument("--workers", type=int, default=2, help="processes of pytest (default: %(default)s)")
    return parser.parse_args()


if __name__ == "__main__":
    with one_sentence(), keeping("call it again to go on"):
        sys.exit(main())
