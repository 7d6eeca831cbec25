"""The claims of Sections 2 to 4 of the draft; each module below holds those of one topic.

pointwise: what weighted losses target, and which losses do. scheme: from level sets to the regression
function. linear_class: what linear f can and cannot estimate of it. solution_form and block_duals: the form
of the solution, full rank, the dual. descending and local_optima: the block descent and its limits. psd_rows
and row_choices: kernels between rows. The section named Theory is empty; what it would need is in pointwise
and in beyond.
"""

from __future__ import annotations

from . import block_duals as block_duals  # these enter their claims
from . import descending as descending
from . import linear_class as linear_class
from . import local_optima as local_optima
from . import pointwise as pointwise
from . import psd_rows as psd_rows
from . import row_choices as row_choices
from . import scheme as scheme
from . import solution_form as solution_form
