"""Parts of ``supply/mutants.py``: which mutants there are, which tests reach them, what these say."""
