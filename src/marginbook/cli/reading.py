"""The user guide as text: the same page that the book has, without what only a book can show."""

from __future__ import annotations

import re

from ..base.naming import suggestion
from ..base.project import resource

GUIDE = ("book", "guide.md")


def guide() -> str:
    """Return the user guide, as it is shipped with the package, in Markdown.

    What the book fills in when it is built, its pictures, is left out.
    """
    text = resource(*GUIDE).read_text(encoding="utf-8")
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.S)
    text = re.sub(r"^```\{include\}.*?^```\n", "", text, flags=re.S | re.M)
    text = re.sub(r"^\([\w-]+\)=\n", "", text, flags=re.M)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def section(name: str) -> str:
    """Return what the guide says of one estimator.

    Raises
    ------
    KeyError
        The guide has no section of that name; the message names near ones.
    """
    parts = re.split(r"^(#{1,4} )", guide(), flags=re.M)
    both = zip(parts[1::2], parts[2::2], strict=True)
    found = {each.partition("\n")[0]: mark + each for mark, each in both}
    if name not in found:
        hint = suggestion(name, found, "`marginbook guide` has all")
        raise KeyError(f"the guide has no section {name!r}{hint}")
    return found[name].strip() + "\n"
