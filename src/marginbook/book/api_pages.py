"""Reference pages: what each public module exports, in the order of its ``__all__``."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

MODULES = (
    "drm", "drm.solvers", "drm.solvers.one_pass", "drm.solvers.leave_one_out", "drm.model.operators",
    "drm.solvers.first_order",
    "ldm", "ldm.model.objective", "ldm.solvers", "ldm.solvers.grid", "ldm.solvers.linear_cd",
    "ldm.solvers.asgd", "ldm.solvers.libsvm_files", "ldm.solvers.loo_bound",
    "kfda", "kfda.estimators.selection_rules", "kfda.model.objective", "kfda.model.certificates",
    "kfda.solvers.irls", "kfda.solvers.majorise_minimise", "kfda.solvers.irls_accelerated",
    "kfda.solvers.lasso", "kfda.solvers.paths",
    "clasmk", "clasmk.model.normalised_kernels", "clasmk.model.embedding", "clasmk.model.subspaces",
    "clasmk.model.statistics",
    "clasmk.model.objective", "clasmk.solvers.kernel_choice", "clasmk.solvers.dinkelbach",
    "clasmk.solvers.sphere",
    "clasmk.solvers.slsqp", "clasmk.solvers.solution", "clasmk.solvers.least_squares",
    "clasmk.solvers.mkl", "clasmk.solvers.mkl_two_layer",
    "smm", "smm.model.objective", "smm.model.aggregation", "smm.model.row_kernels", "smm.model.row_features",
    "smm.experiments.generators",
    "smm.solvers.block_descent", "smm.solvers.solution", "smm.solvers.block", "smm.solvers.global_bound",
    "smm.solvers.kernel_block_descent", "smm.solvers.kernel_solution", "smm.solvers.nuclear_norm",
    "smm.solvers.nuclear_newton", "smm.solvers.nuclear_admm",
    "large", "large.margins", "large.near",
    "claims", "claims.errata", "datasets", "datasets.generators", "coursework", "coursework.exercises",
    "experiments",
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
