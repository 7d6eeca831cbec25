"""The claims of Sections 2 and 3 of the paper; each module below holds those of one topic.

fisher: least squares and Fisher's discriminant, equations (1) to (3). majorising: (4), the bound (6) and the
surrogate. descending: descent, (7) and (8). vanishing: zeros. perturbed: a remedy for them. limits: q = 1,
q > 1, and what ridge keeps.
"""

from __future__ import annotations

from . import descending as descending  # these enter their claims
from . import fisher as fisher
from . import limits as limits
from . import majorising as majorising
from . import perturbed as perturbed
from . import vanishing as vanishing
