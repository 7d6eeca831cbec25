"""How often a rule that judges our results may be wrong, about cells of tables and about figures."""

from __future__ import annotations

#: of faithful re-runs, the share that may fail; of runs in which names mean nothing, the share that may pass
MISSED = 0.05
