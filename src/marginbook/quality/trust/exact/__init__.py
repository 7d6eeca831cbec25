"""The models of the papers once more, from their definitions, in numbers of 100 digits.

``numbers`` and ``programs`` are the tools; ``reference`` what a second opinion says; ``drm``, ``ldm``,
``kfda``, ``clasmk`` and ``smm`` give it, each for the estimators of its room. Only for small problems: a fit
of ten rows takes about a second.
"""
