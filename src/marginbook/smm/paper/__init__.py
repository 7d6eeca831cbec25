"""The protocols of the draft's experiments; it prints no tables."""
