"""What the paper prints: its tables as CSV, what reads them, and the protocols of its experiments."""
