"""The claims beyond the paper: what its criteria leave open, where their minima are, and how they are found.

signs: bases, of which (29) needs one in particular. choosing: Criterion 2, exactly and as printed. vertices:
when one kernel a class is the minimum of (33), too. certified: the global minimum of (33), proved. narrow:
kernels that see one point at a time. separating: ratio and error. thresholds: the two printed pairs of eta
and t. scaling: the cost in the number of samples. Their data: real_rows.
"""

from __future__ import annotations

from . import certified as certified
from . import choosing as choosing
from . import narrow as narrow
from . import scaling as scaling
from . import separating as separating
from . import signs as signs
from . import thresholds as thresholds
from . import vertices as vertices
