"""MyST to the Markdown that nbconvert knows: directives become quotes, links work, citations are text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from .citations import UnknownReference, cite
from .links import ANCHOR, Links

_DIRECTIVE = re.compile(r"^(?P<fence>`{3,}|:{3,})\{(?P<name>[\w:-]+)\}(?P<title>.*)$")
_FENCE = re.compile(r"^(`{3,}|~{3,})")
_OPTION = re.compile(r"^:([\w-]+):\s*(.*)$")
_INLINE = re.compile(
    r"\{(?P<role>[\w:-]+)\}`(?P<content>[^`]+)`"
    # to a page or an anchor of the book, and not f[i](x) in mathematics
    r"|\[(?P<text>[^\]]*)\]\((?P<target>#[\w.:-]+|[\w./-]+\.(?:md|ipynb)(?:#[\w.:-]+)?)\)"
    r"|(?P<ticks>`+).+?(?P=ticks)"
)
_TITLED = re.compile(r"^(.*?)\s*<([^<>]+)>$", re.DOTALL)
_CODE = {"func", "class", "meth", "mod", "attr", "data", "exc", "obj"}


def anchors(texts: Iterable[str]) -> set[str]:
    """Return the anchors that the texts of a notebook set, above sections and as labels of directives."""
    return {"".join(names) for text in texts for names in ANCHOR.findall(text)}


@dataclass
class Converter:
    """The conversion of one notebook's texts.

    Attributes
    ----------
    links : Links
    cited : list of str
        Keys of the bibliography, as they come up.
    """

    links: Links
    cited: list[str] = field(default_factory=list)

    def __call__(self, text: str) -> str:
        """Return one cell's MyST as Markdown."""
        out: list[str] = []
        opened: list[_Block] = []
        options = False  # the lines below a directive's first one
        for line in text.splitlines():
            directive, bare = _DIRECTIVE.match(line.strip()), line.strip()
            lead = "".join(block.lead for block in opened)
            if opened and bare == opened[-1].fence:
                out += [
                    ("".join(block.lead for block in opened[:-1]) + end).rstrip() for end in opened.pop().end
                ]
            elif opened and opened[-1].verbatim:
                out.append(lead + line)
            elif directive:
                opened.append(block := _block(directive, self.inline))
                out += [lead + start for start in block.start]
                options = True
                continue
            elif fence := _FENCE.match(bare):
                opened.append(_Block(fence[1], "", [], [fence[1]], verbatim=True))
                out.append(lead + line)
            elif options and (option := _OPTION.match(bare)):
                if option[1] in ("label", "name"):
                    out += [f'{lead}<div id="{option[2]}"></div>', lead.rstrip()]
                continue
            elif (anchor := ANCHOR.match(bare)) and anchor[1]:
                out += [f'{lead}<div id="{anchor[1]}"></div>', lead.rstrip()]
            else:
                out.append(lead + self.inline(line))
            options = False
        return "\n".join(out)

    def inline(self, text: str) -> str:
        """Return one line with its roles and links replaced; code stays."""
        return _INLINE.sub(self._replaced, text)

    def _replaced(self, found: re.Match[str]) -> str:
        if found["role"]:
            return self._role(found["role"], found["content"])
        return self.links(found["text"], found["target"]) if found["target"] else found[0]

    def _role(self, name: str, content: str) -> str:
        titled = _TITLED.match(content)
        text, target = (titled[1], titled[2]) if titled else ("", content)
        kind, _, how = name.partition(":")
        if kind == "cite":
            return self._citations(content.split(","), how or "p")
        if name == "doc":
            return self.links(text, target if target.endswith((".md", ".ipynb")) else f"{target}.md")
        if name in ("ref", "numref", "eq", "prf:ref"):
            return self.links(text, f"#{target}")
        if name in _CODE or name.removeprefix("py:") in _CODE:
            return f"`{text or (target[1:].rpartition('.')[2] if target.startswith('~') else target)}`"
        return text or target

    def _citations(self, keys: Iterable[str], how: str) -> str:
        found = []
        for key in map(str.strip, keys):
            try:
                text = cite(key, how)
            except UnknownReference:
                text = key  # the strict build of the book refuses it; a run has its outputs to show
            else:
                self.cited.append(key)
                text = f"[{text}](#ref-{key})"
            found.append(text)
        return ", ".join(found)


@dataclass(frozen=True)
class _Block:
    """An open fence: what each of its lines begins with, and what comes before and after them."""

    fence: str
    lead: str
    start: list[str]
    end: list[str]
    verbatim: bool = False


def _block(found: re.Match[str], inline: Callable[[str], str]) -> _Block:
    fence, name, title = found["fence"], found["name"], inline(found["title"].strip())
    if name == "math":
        return _Block(fence, "", ["$$"], ["$$"])
    if name == "dropdown":
        # empty lines: else the inside would not be read as Markdown
        return _Block(fence, "", ["", f"<details><summary>{title}</summary>", ""], ["", "</details>", ""])
    heading = title or name.partition(":")[2].capitalize()
    return _Block(fence, "> ", ["", *([f"> **{heading}**", ">"] if heading else [])], [""])
