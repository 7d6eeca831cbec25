"""CLASMK: solvers."""
