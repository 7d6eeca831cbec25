"""The claims that tie the rooms together; each module below holds those of one topic.

ridges: the DRM beside kernel ridge. fisher: the kernel Fisher discriminant beside LS-SVM, lasso and ridge.
margins: the LDM beside SVM, average margin and kernel ridge. machines: support vector machines of three
rooms. subspaces: CLASK features in a least-squares machine. left_out: leave-one-out in three rooms.
"""

from __future__ import annotations

from . import fisher as fisher  # these enter their claims
from . import left_out as left_out
from . import machines as machines
from . import margins as margins
from . import ridges as ridges
from . import subspaces as subspaces
