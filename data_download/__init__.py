"""The registry of data sets, and the command that fetches them: ``python -m data_download``."""
