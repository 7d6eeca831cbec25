# ruff: noqa: F403
# For type checkers and editors, which do not follow __getattr__; tests/base/test_public.py compares both.
from .clasmk import *
from .drm import *
from .kfda import *
from .ldm import *
from .smm import *

__version__: str
