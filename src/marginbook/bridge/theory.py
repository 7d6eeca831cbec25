"""The claims that tie the rooms together; each module below holds those of one topic.

ridges: the DRM beside kernel ridge. fisher: the kernel Fisher discriminant beside LS-SVM, lasso and ridge.
margins: the LDM beside SVM, average margin and kernel ridge. machines: support vector machines of three
rooms. subspaces: CLASK features in a least-squares machine. left_out: leave-one-out in three rooms.
"""

from __future__ import annotations

# isort: off
# in the order of the chapter, in which the ledger lists them; these enter their claims
from . import ridges as ridges
from . import fisher as fisher
from . import margins as margins
from . import machines as machines
from . import subspaces as subspaces
from . import left_out as left_out
