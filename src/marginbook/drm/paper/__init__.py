"""What the paper prints: its tables as CSV, and the protocols of its experiments."""
