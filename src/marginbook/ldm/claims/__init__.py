"""The claims about the paper, and the checks that decide them, by section, table and figure."""

# isort: off
from . import (  # noqa: F401  they enter their claims, in the order of the ledger
    section_5_mamc,
    section_3_dual,
    sections_2_3,
    section_3_convergence,
    section_3_leave_one_out,
    tables_wins,
    tables_ranks,
    printed_audit,
    tables_readings,
    tables,
    figures,
)
