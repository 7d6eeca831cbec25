"""nbval's kernels get the environment in which the stored outputs were made."""

import os

from marginbook.notebooks.executing import BOOK_ENV

os.environ.update(BOOK_ENV)
