"""CLASMK: peers."""
