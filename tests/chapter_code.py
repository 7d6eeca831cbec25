"""The code that a chapter of the book shows."""

from __future__ import annotations

import re
from typing import Any

import pytest

from marginbook.base.project import resource, root


def run_chapter(room: str) -> dict[str, Any]:
    """Execute the blocks of Python of a room's chapter, one after the other; return the names they leave."""
    if root() is None:
        pytest.skip("a chapter that the wheel does not carry")
    text = resource("book", f"{room}.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.M | re.S)
    assert 0 < len(blocks) == text.count("```python")
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block, names)
    return names
