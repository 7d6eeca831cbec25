"""nbval's kernels get the environment in which the stored outputs were made."""

import os

from marginbook.notebooks.executing import KERNEL_ENV

os.environ.update(KERNEL_ENV)
