"""CLASMK: measures."""
