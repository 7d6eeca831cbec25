"""Entries of the search: "Theorem VI.3" leads to its evidence, "leave-one-out" to notebooks that treat it."""

from __future__ import annotations

import re

from ..claims import Claim

_NAMED = re.compile(
    r"\b(Algorithm|Corollary|Definition|Equation|Example|Figure|Lemma|Proposition|Remark|Section|Table|Theorem)s?"
    r" (\(\w+\)|[\w.-]*\w)",
    re.IGNORECASE,
)


def numbered(where: str) -> list[str]:
    """Return the numbered things that a claim's place names.

    Examples
    --------
    >>> numbered("Theorem VI.3 and equation (19)")
    ['Theorem VI.3', 'Equation (19)']
    """
    return list(dict.fromkeys(f"{kind.capitalize()} {number}" for kind, number in _NAMED.findall(where)))


def evidence_anchor(claim: Claim) -> str:
    """Return the name of the place of a claim's evidence."""
    return f"evidence-{claim.slug}"


def search_entries(claim: Claim) -> str:
    """Return the index entries that stand above a claim's evidence, with the anchor of that place.

    The search of the book finds phrases in titles and in index entries, and single words in texts: there,
    "VI.3" is two words, and "3" is none.
    """
    # commas part entries, and the other marks mean something in an index; "!" is a main entry, which comes
    # before the pages that only hold the same words
    entries = numbered(claim.where) or [re.sub("[,;:!]", "", claim.where)]
    listed = ", ".join(f"!{entry}" for entry in entries)
    return f"```{{index}} {listed}\n:name: {evidence_anchor(claim)}\n```\n\n"


#: what a reader may look for, by the notebook that treats it
SUBJECTS = {
    "drm/01_the_model": ("leave-one-out", "one pass"),
    "drm/04_large_data": ("large data", "one pass"),
    "drm/05_imbalanced": ("imbalanced data", "G-mean"),
    "ldm/02_duals_and_solvers": ("coordinate descent", "duality gap"),
    "ldm/03_leave_one_out": ("leave-one-out",),
    "ldm/05_large_scale": ("large data", "sparse data"),
    "ldm/06_margin_distributions": ("margin distribution", "heavy tail"),
    "kfda/01_fisher_by_least_squares": ("Fisher discriminant",),
    "kfda/02_majorise_minimise": ("majorise-minimise", "lasso"),
    "kfda/05_error_and_sparsity": ("sparsity",),
    "clasmk/03_learning_weights": ("multiple kernel learning",),
    "smm/02_block_descent": ("low rank",),
    "smm/04_probabilities": ("class probability", "calibration"),
    "study/01_one_bench": ("comparison with SVM", "benchmark"),
}


def subject_entries(notebook: str) -> str:
    """Return the index entries of a notebook's subjects, as MyST; nothing where none is listed.

    The search takes "leave-one-out" for three words that most pages have, so a page that treats it says so.
    """
    listed = ", ".join(f"!{subject}" for subject in SUBJECTS.get(notebook, ()))
    return f"```{{index}} {listed}\n```\n\n" if listed else ""
