"""The protocol of the study."""
