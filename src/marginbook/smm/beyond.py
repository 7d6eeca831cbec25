"""The claims beyond the draft, which leaves its theory empty; each module below holds those of one topic.

levels: errors of probabilities from level sets, crossings, and what the rules do about them. certificates: a
lower bound over all matrices of the rank, and when it proves a limit global. envelopes: when that bound is
exact. permuted: what the arrangement of the entries is worth, and kernels between rows in the linear case.
scaling: the cost in the number of samples.
"""

from __future__ import annotations

from . import certificates as certificates  # these enter their claims
from . import envelopes as envelopes
from . import levels as levels
from . import permuted as permuted
from . import scaling as scaling
