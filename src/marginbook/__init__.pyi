# ruff: noqa: F403
# For type checkers and editors, which do not follow __getattr__; tests/test_public.py compares the rooms.
from .clasmk import *
from .drm import *
from .kfda import *
from .ldm import *
from .smm import *

__version__: str
