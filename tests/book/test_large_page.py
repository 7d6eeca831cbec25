"""The page on larger data and more machines says what was measured, and shows files that can be used."""

from __future__ import annotations

import ast
import importlib
import re
import runpy
import signal
from pathlib import Path

import pytest
import yaml

from marginbook.base.project import resource
from marginbook.book import large_page, reproducibility_pages

BOOK = Path(__file__).resolve().parents[2] / "book"
FIT = {
    "what": "DRM", "source": "Parquet", "rows": "10000000", "features": "50", "seconds": "91.2",
    "cpu_seconds": "8.5", "peak_mib": "612.4", "goal_mib": "2048", "passes": "1", "certificate": "2.6e-16",
    "difference": "1e-13", "python": "3.11", "numpy": "2.4", "machine": "x86_64",
}  # fmt: skip
RUN = {
    "experiment": "drm/table-8", "profile": "quick", "tasks": "24", "killed": "2", "runs": "1", "done": "24",
    "given_up": "0", "lost": "0", "twice": "0", "same_bytes": "yes",
    "python": "3.11", "numpy": "2.4", "machine": "x86_64",
}  # fmt: skip


def test_the_goal_is_compared_with_the_fits_from_files() -> None:
    memory = {**FIT, "source": "in memory", "peak_mib": "4321", "difference": ""}
    said = large_page.fits([memory, FIT])
    assert "up to 10,000,000 rows and 50 features took at most 612 MiB, within the 2,048 MiB" in said
    assert "* - DRM\n  - Parquet\n  - 10,000,000\n  - 91\n  - 8.5\n  - 612 MiB\n  - 1\n" in said
    assert "$2.6 \\times 10^{-16}$" in said
    assert "beyond the 2,048 MiB" in large_page.fits([{**FIT, "peak_mib": "2049"}])
    assert "`python benchmarks/large.py fits`" in large_page.fits([])


def test_runs_with_killed_workers_are_summed_up() -> None:
    said = large_page.cluster([RUN, {**RUN, "experiment": "drm/table-9", "lost": "1", "same_bytes": "no"}])
    assert "2 experiments, 48 tasks, 4 workers killed at a task: 1 results lost, 0 counted twice" in said
    assert "files of 1 of 2 have the bytes" in said
    assert large_page.cluster([RUN]).startswith("One run, 24 tasks")
    assert "files of all have the bytes" in large_page.cluster([RUN])
    assert "* - `drm/table-8`, quick\n  - 24\n  - 2\n  - 1\n  - 24\n  - 0\n  - 0\n  - yes\n" in said


def test_core_hours_come_from_the_stored_timings(tmp_path, monkeypatch) -> None:
    (tmp_path / "table-8.timing.csv").write_text(
        "dataset,split,method,seconds\na,1,m,3600\nb,1,m,1800\nc,1,m,1800\n"
    )
    monkeypatch.setattr(reproducibility_pages, "resource", lambda *parts: tmp_path / parts[-1])
    monkeypatch.setattr(large_page, "WORKERS", (2, 5))
    said = large_page.cost(["drm/table-8", "drm/table-9"])
    assert "are 2 core-hours" in said
    assert "1 hours on 2 and 1 hours on 5 workers" in said
    assert "[drm/table-8](#results-drm-table-8)\n  - 3 of 975\n  - 2\n  - 60.0\n  - 60.0\n  - 60.0\n" in said
    assert "table-9" not in said


def test_a_run_is_as_long_as_its_longest_task_and_no_shorter_than_its_share() -> None:
    seconds = [5.0, 4.0, 3.0, 3.0, 3.0]
    assert large_page.makespan(seconds, 1) == 18
    assert large_page.makespan(seconds, 2) == 10
    assert large_page.makespan(seconds, 100) == 5


def test_what_is_stored_reaches_the_goals() -> None:
    rows = large_page._rows("large.csv")
    files = [row for row in rows if "memory" not in row["source"]]
    assert max(int(row["rows"]) for row in files) == 10_000_000
    assert all(float(row["peak_mib"]) <= float(row["goal_mib"]) for row in files)
    assert all(float(row["certificate"]) <= 1e-6 for row in rows)
    assert all(
        float(row["difference"]) <= (1e-11 if row["what"] == "DRM" else 1e-2)
        for row in files
        if row["difference"]
    )
    for row in large_page._rows("large-cluster.csv"):
        assert (row["lost"], row["twice"], row["same_bytes"]) == ("0", "0", "yes"), row
    assert resource("benchmarks", "results", "large-cluster.csv").is_file()


def test_the_script_for_slurm_makes_jobs_with_a_worker_for_each_core() -> None:
    ours = signal.getsignal(signal.SIGINT)
    pytest.importorskip("dask_jobqueue")
    signal.signal(signal.SIGINT, ours)  # its import takes Ctrl-C away from the tests that follow
    with runpy.run_path(str(BOOK / "cluster" / "slurm.py"))["cluster"]() as cluster:
        script = cluster.job_script()
    for piece in ("--cpus-per-task=16", "-t 08:00:00", "--nworkers 16", "--nthreads 1", "MARGINBOOK_CACHE"):
        assert piece in script


def test_the_cluster_for_kubernetes_hangs_together() -> None:
    text = (BOOK / "cluster" / "kubernetes.yaml").read_text()
    found = yaml.safe_load(text)
    assert (found["apiVersion"], found["kind"]) == ("kubernetes.dask.org/v1", "DaskCluster")
    spec = found["spec"]
    (worker,), (scheduler,) = (spec[part]["spec"]["containers"] for part in ("worker", "scheduler"))
    assert worker["args"][:2] == ["dask", "worker"]
    assert (
        worker["args"][worker["args"].index("--nthreads") + 1] == worker["resources"]["limits"]["cpu"] == "1"
    )
    mounts = {mount["name"]: mount["mountPath"] for mount in worker["volumeMounts"]}
    assert mounts.keys() == {volume["name"] for volume in spec["worker"]["spec"]["volumes"]}
    assert {"name": "MARGINBOOK_CACHE", "value": mounts["cache"]} in worker["env"]
    ports = {port["name"]: port["containerPort"] for port in scheduler["ports"]}
    service = spec["scheduler"]["service"]
    assert {port["targetPort"]: port["port"] for port in service["ports"]} == ports == {"tcp-comm": 8786}
    assert service["selector"]["dask.org/cluster-name"] == found["metadata"]["name"]
    assert f"service/{found['metadata']['name']}-scheduler 8786" in (BOOK / "large.md").read_text()


def test_the_first_example_fits_into_79_columns_and_imports_what_it_uses() -> None:
    page = (BOOK / "large.md").read_text("utf-8")
    code = re.search(r"```python\n(.*?)```", page, re.DOTALL)[1]
    assert max(map(len, code.splitlines())) <= 79
    tree = ast.parse(code)
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    for node in imports:
        module = importlib.import_module(node.module)
        assert all(hasattr(module, alias.name) for alias in node.names)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert {alias.name for node in imports for alias in node.names} <= used
