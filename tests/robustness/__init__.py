"""Bad input on purpose: what comes back is a certificate, a warning or a clear error, and nothing else."""
