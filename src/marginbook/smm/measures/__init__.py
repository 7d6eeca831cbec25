"""SMM: measures."""
