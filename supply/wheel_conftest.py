"""The conftest.py above the copy of the tests that `wheel_alone.py` makes.

What a file of tests itself imports of an extra is a name with nothing behind it, and the tests that use it
are skipped; what the library lacks fails, as for its users.
"""

from __future__ import annotations

import builtins

import pytest

from marginbook.base.extras import EXTRA_OF

#: what of the library is all extra, by name
EXTRA = tuple(
    f"marginbook.{each}"
    for each in (
        "cli",
        "book",
        "serve",
        "notebooks",
        "quality.trust",
        "base.plotting",
        "drm.peers.safe_level_smote",
    )
)
usual = builtins.__import__


class Missing(ModuleNotFoundError):
    pass


class Nothing:
    def __init__(self, name):
        self.named = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing(self.named)

    def __call__(self, *given, **named):
        raise Missing(self.named)


def found(name, globals=None, locals=None, fromlist=(), level=0):
    try:
        return usual(name, globals, locals, fromlist, level)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        extra = name.startswith((*EXTRA_OF, *EXTRA)) and level == 0
        if extra and package in EXTRA_OF and (globals or {}).get("__name__", "").startswith("tests"):
            return Nothing(package)
        raise


builtins.__import__ = found


def lacking(error):
    while error is not None:  # pytest.warns hides it behind a failure of its own
        if isinstance(error, Missing):
            return f"the test needs {error}, of the extra {EXTRA_OF[str(error)]}"
        if isinstance(error, ImportError) and (
            "pip install 'marginbook[oracle]'" in str(error) or error.name == "cvxpy"
        ):
            return "the test asks the library for the oracle"
        error = error.__cause__ or error.__context__


def skipping(item):
    try:
        return (yield)
    except BaseException as error:
        if reason := lacking(error):
            pytest.skip(reason)
        raise


pytest_runtest_setup = pytest.hookimpl(wrapper=True)(skipping)
pytest_runtest_call = pytest.hookimpl(wrapper=True)(lambda item: (yield from skipping(item)))
