"""The claims about the draft, and the checks that decide them; what begins with ``beyond`` is ours."""

# isort: off
from . import (  # noqa: F401  they enter their claims, in the order of the ledger
    section_2_solution_form,
    section_3_block_dual,
    section_3_descent,
    section_2_linear_class,
    section_3_local_optima,
    section_2_weighted_losses,
    section_4_row_kernels,
    section_4_kernel_choices,
    section_2_scheme,
    beyond_bound,
    beyond_bound_tight,
    beyond_levels,
    beyond_permuted,
    beyond_scaling,
    tables_rules,
    tables_real_matrices,
    figures,
)
