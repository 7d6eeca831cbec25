"""The claims of Sections 2 to 4 of the draft; each module below holds those of one topic.

pointwise: what weighted losses target, and which losses do. scheme: from level sets to the regression function.
solution_form: the form of the solution, its dual, full rank. local_optima: where the block descent ends. psd_rows:
kernels between rows. The section named Theory is empty; what it would need is in pointwise and in beyond.
"""

from __future__ import annotations

from . import local_optima as local_optima  # these enter their claims
from . import pointwise as pointwise
from . import psd_rows as psd_rows
from . import scheme as scheme
from . import solution_form as solution_form
