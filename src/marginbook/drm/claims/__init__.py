"""The claims about the paper, and the checks that decide them; ``beyond`` is ours."""

# isort: off
from . import (  # noqa: F401  they enter their claims, in the order of the ledger
    sections_3_4,
    section_6_costs,
    section_6_low_rank,
    section_6_acceleration,
    section_6_convergence,
    beyond,
    table_3,
    table_5,
    tables_8_9,
    figures,
)
