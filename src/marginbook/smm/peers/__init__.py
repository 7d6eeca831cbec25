"""SMM: peers."""
