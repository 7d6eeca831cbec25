"""The process of one run, ``python -m marginbook.serve.worker FOLDER``: it writes what came out into FOLDER.

It limits itself before it imports anything that computes, and ends when the server has ended.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .runs import write_json

Watch = Callable[[int, int], None]
#: of a file that a run writes
_LARGEST_FILE = 512 * 2**20


def main(folder: Path) -> None:
    """Do what ``run.json`` says."""
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    limit(json.loads((folder / "limits.json").read_text(encoding="utf-8")))
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()

    def watch(done: int, total: int) -> None:
        write_json(folder / "progress.json", {"done": done, "total": total})

    try:
        result = {"ok": True, **_KINDS[run["kind"]](run["subject"], run["changed"], folder, watch)}
    except MemoryError:
        result = {"ok": False, "message": "it needs more memory than a run may have"}
    except Exception as error:
        said = " ".join(str(error).split()).replace(str(folder), "…")
        result = {"ok": False, "message": f"{said[:500] or type(error).__name__}"}
    write_json(folder / "result.json", result)


def limit(limits: dict[str, Any]) -> None:
    """Limit this process, and with it each that it starts."""
    try:
        import resource
    except ImportError:  # Windows: the server still ends what takes too long
        return
    for what, most in (
        (resource.RLIMIT_CPU, int(limits["seconds"]) + 5),
        (resource.RLIMIT_AS, limits["megabytes"] * 2**20),
        (resource.RLIMIT_FSIZE, _LARGEST_FILE),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(what)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, most))


def _end_with(server: int) -> None:
    while os.getppid() == server:
        time.sleep(1)
    from .queue import MARK, marked

    for pid in marked(os.environ.get(MARK, "")):
        if pid != os.getpid():
            os.kill(pid, signal.SIGKILL)
    os._exit(1)


def _notebook(id: str, values: dict[str, Any], folder: Path, watch: Watch) -> dict[str, Any]:
    from nbclient.exceptions import CellTimeoutError, DeadKernelError

    from ..notebooks.executing import NotebookFailed
    from ..notebooks.running import run

    try:
        done = run(id, values, html=True, out=folder / "run.ipynb", watch=watch)
    except NotebookFailed as failed:
        # what it says of the cell; the place of the file means nothing on another machine
        return {"ok": False, "message": str(failed).partition("; kept in ")[0]}
    except DeadKernelError:
        return {"ok": False, "message": "its kernel was ended: from outside, or as memory ran out"}
    except CellTimeoutError as error:
        return {"ok": False, "message": f"a cell took too long: {str(error).splitlines()[0]}"}
    return {"message": done.remark or ""}


def _claim(id: str, values: dict[str, Any], folder: Path, watch: Watch) -> dict[str, Any]:
    from dataclasses import asdict

    from ..claims import check

    watch(0, 1)
    evidence = asdict(check(id, fresh=True))
    watch(1, 1)
    return {"evidence": json.loads(json.dumps(evidence, default=str))}


def _experiment(id: str, values: dict[str, Any], folder: Path, watch: Watch) -> dict[str, Any]:
    from ..experiments.compare import compare
    from ..experiments.errors import ExperimentError
    from ..experiments.export import export, read_results
    from ..experiments.protocol import load_protocol
    from ..experiments.runner import run

    protocol = load_protocol(id)
    # results that the reader has computed otherwise are neither used nor touched
    report = run(protocol, "quick", n_jobs=1, store=folder / "results.sqlite")
    if not report.done:
        raise ExperimentError(f"no task of {id} could be run here: {', '.join(report.missing.values())}")
    export(protocol, "quick", store=folder / "results.sqlite", out=folder / "results")
    results = read_results(id, "quick", folder / "results")
    found = {"columns": [str(name) for name in results.columns], "rows": results.astype(str).values.tolist()}
    try:
        compared = compare(protocol, results)
        found["compared"] = json.loads(compared.to_json(orient="records"))
    except ExperimentError as none:
        found["remark"] = str(none)
    told = f"{report.done} of {report.asked} tasks done, {len(report.failed)} failed"
    return {"table": found, "message": told}


_KINDS = {"notebook": _notebook, "claim": _claim, "experiment": _experiment}

if __name__ == "__main__":
    main(Path(sys.argv[1]))
