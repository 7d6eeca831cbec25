"""The claims about the paper, and the checks that decide them; what begins with ``beyond`` is ours."""

# isort: off
from . import (  # noqa: F401  they enter their claims, in the order of the ledger
    section_2_lemma_1,
    section_2_criteria,
    section_3_bases,
    misprints,
    section_2_theorem_1,
    section_2_theorem_2,
    beyond_criterion_2,
    beyond_signs,
    beyond_vertices,
    beyond_dinkelbach,
    beyond_narrow_kernels,
    beyond_scaling,
    beyond_ratio_error,
    beyond_thresholds,
    tables,
    tables_equal_weights,
    printed_audit,
    printed_time,
    figures,
)
