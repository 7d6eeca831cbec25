"""The claims of Sections 2 to 4 of the paper and of its appendices; each module below holds one topic.

lemma_one: Lemma 1, Remark 1. theorem_one: Theorem 1, its criterion. theorem_two: Theorem 2, Lemmas 2 and 3.
criteria: what the criteria estimate. bases: subspaces, and the samples that rate them. misprints: the kernel
(30), and formulas whose letter cannot be meant. Bounds are checked in models that meet the paper's
assumptions exactly (model, blocks).
"""

from __future__ import annotations

from . import bases as bases  # these enter their claims
from . import criteria as criteria
from . import lemma_one as lemma_one
from . import misprints as misprints
from . import theorem_one as theorem_one
from . import theorem_two as theorem_two
