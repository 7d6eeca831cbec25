"""The claims about the paper, and the checks that decide them.

A file with claims is named after what they are about: a section, a table or figure, the abstract,
``printed`` numbers or ``misprints``. What begins with ``beyond`` is ours alone; elsewhere the kind of a claim
says whose it is. Files without such a name are helpers of the checks.
"""
