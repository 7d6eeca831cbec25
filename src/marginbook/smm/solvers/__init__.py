"""SMM: solvers."""
