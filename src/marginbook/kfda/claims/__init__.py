"""The claims about the paper, and the checks that decide them; what begins with ``beyond`` is ours."""

# isort: off
from . import (  # noqa: F401  they enter their claims, in the order of the ledger
    section_3_descent,
    section_2_fisher,
    section_2_limits,
    section_3_majorisers,
    section_3_perturbed,
    section_3_zeros,
    section_3_stopping,
    section_3_acceleration,
    section_3_rates,
    beyond_bias,
    beyond_equal_samples,
    beyond_magnitudes,
    beyond_minima,
    tables,
    printed_retained,
    tables_ranks,
    printed_audit,
    printed_one_classifier,
    tables_protocols,
    tables_sparsity,
    figures,
)
