"""Reference pages: what each public module exports, in the order of its ``__all__``."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

MODULES = (
    "drm", "drm.solvers", "drm.one_pass", "drm.leave_one_out", "drm.operators", "drm.iterative",
    "ldm", "ldm.objective", "ldm.solvers", "ldm.grid", "ldm.linear", "ldm.asgd", "ldm.files", "ldm.loo",
    "kfda", "kfda.model_selection", "kfda.objective", "kfda.certificates",
    "kfda.solvers.plain", "kfda.solvers.shrinking", "kfda.solvers.accelerated",
    "kfda.solvers.lasso", "kfda.solvers.paths",
    "clasmk", "clasmk.normalised", "clasmk.embedding", "clasmk.subspaces", "clasmk.statistics",
    "clasmk.objective", "clasmk.solvers.kernel_choice", "clasmk.solvers.dinkelbach", "clasmk.solvers.sphere",
    "clasmk.solvers.slsqp", "clasmk.solvers.solution", "clasmk.solvers.least_squares",
    "clasmk.solvers.kernel_weights", "clasmk.solvers.layer_weights",
    "smm", "smm.objective", "smm.aggregation", "smm.row_kernels", "smm.row_features", "smm.truths",
    "smm.solvers.block_descent", "smm.solvers.solution", "smm.solvers.inner", "smm.solvers.global_bound",
    "smm.solvers.kernel_descent", "smm.solvers.kernel_solution", "smm.solvers.nuclear_norm",
    "smm.solvers.nuclear_newton", "smm.solvers.nuclear_admm",
    "large", "large.margins", "large.near",
    "claims", "errata", "datasets", "datasets.generators", "exercises", "coursework", "experiments",
    "experiments.stats", "kernels", "notebooks", "plotting",
)  # fmt: skip


def write(folder: Path) -> None:
    """Write ``api-<module>.md`` for each module that is there."""
    for module in MODULES:
        try:
            text = reference(f"marginbook.{module}")
        except ModuleNotFoundError:
            text = "This module is not part of this version.\n"
        folder.joinpath(f"api-{module}.md").write_text(text, encoding="utf-8")


def reference(module: str) -> str:
    """Return directives that document the public names of a module."""
    found = importlib.import_module(module)
    lines = ["```{eval-rst}", f".. py:module:: {module}", "", f".. currentmodule:: {module}", ""]
    for name in public_names(found):
        lines += [*_directive(name, getattr(found, name)), ""]
    return "\n".join([*lines, "```", ""])


def public_names(module: object) -> list[str]:
    """``__all__``, else what the module itself defines without an underscore."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return list(listed)
    own = [
        (inspect.getsourcelines(value)[1], name)
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == getattr(module, "__name__", None)
    ]
    return [name for _, name in sorted(own)]


def _directive(name: str, value: object) -> list[str]:
    if inspect.isclass(value):
        if issubclass(value, BaseException):
            return [f".. autoexception:: {name}"]
        requests = ", ".join(m for m in dir(value) if m.startswith("set_") and m.endswith("_request"))
        # scikit-learn writes these methods, with references into its own pages
        return [
            f".. autoclass:: {name}",
            "   :members:",
            *([f"   :exclude-members: {requests}"] if requests else []),
        ]
    if callable(value):
        # click wraps its commands in objects that have no signature
        return [f".. autofunction:: {name}"] if inspect.isfunction(value) else []
    return [f".. autodata:: {name}"]
