"""Margins & Discriminants: an executable companion to five machine-learning papers.

Each paper is a room with the same floor plan, such as ``marginbook.drm``; `marginbook.base.rooms` finds them.
What the rooms offer can also be imported from here, ``from marginbook import LDMClassifier``, and a room is
imported only then. ``marginbook.claims`` holds what the papers say and what came out when it was checked;
``marginbook guide`` prints which estimator serves when.
"""

from importlib import import_module as _import_module

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    from .base.naming import suggestion
    from .base.public import public_names

    known = {} if name.startswith("_") else public_names()
    if name not in known:
        advice = suggestion(name, known, "dir(marginbook) has the names") if known else ""
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{advice}")
    return getattr(_import_module(known[name]), name)


def __dir__() -> list[str]:
    from .base.public import public_names

    return sorted({*globals(), *public_names()})
