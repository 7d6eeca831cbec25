"""The claims that tie the rooms together, one topic to a module, in the order of the chapter."""

# isort: off
from . import (  # noqa: F401  they enter their claims, in the order of the ledger
    ridges,
    fisher,
    margins,
    machines,
    subspaces,
    leave_one_out,
)
