"""Sparse kernel Fisher discriminant (Harrison & Pasupa)."""
