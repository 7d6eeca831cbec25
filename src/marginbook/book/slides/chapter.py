"""What slides take from the text of a chapter: problem, idea, model, advice, questions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import ceil

from ...base.project import resource
from ...base.rooms import rooms
from ...notebooks.links import Links
from ...notebooks.markdown import Converter

_FENCE = re.compile(r"^(`{3,}|:{3,})(?:\{([\w-]+)\})?(.*)$")
_HEADING = re.compile(r"^#{2,3} +(.+?)\s*$")
_ANCHOR = re.compile(r"^\([\w.:-]+\)=$")
_REFERENCE = re.compile(r"\[([^\]]*)\]\(#ref-[^)]*\)")
_LINK = r"\[[^\]]*\]\((?:#|[\w./-]+\.(?:md|ipynb))[^)]*\)"
# a sentence that is nothing but links says nothing on a wall
_ONLY_LINKS = re.compile(
    rf"(\A|[.!?$]\s+)(?:See\s+the\s+)?{_LINK}(?:,\s+(?:and\s+the\s+)?{_LINK})*(?:\.(?=\s|\Z)|(?=\s*\Z))"
)
_FORMULA = re.compile(r"(\$\$?)(.+?)\1", re.DOTALL)
_QUESTION = re.compile(r"^(?:\*\*\d+\.\*\*|\d+\.)\s+(.*)$", re.DOTALL)
_TAKEN = re.compile(r"^\*\*(?:To take away|Take away|In three lines)\.?\*\*\s*", re.IGNORECASE)
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\d$`*])")
WIDE = 84  # characters of a line of a slide


@dataclass(frozen=True)
class Block:
    """A paragraph, a list, a formula or a fence of MyST; a fence has a name, and what stands behind it."""

    text: str
    name: str = ""
    title: str = ""

    @property
    def lines(self) -> float:
        """About how many lines of a slide it takes, the space below it included."""
        if self.text.startswith("|"):
            rows = [row.split(" | ") for row in self.text.splitlines()]
            heights = (max(ceil(len(visible(cell)) * len(row) / WIDE * 0.8) for cell in row) for row in rows)
            return 0.9 * sum(heights)  # a table has smaller letters
        shown = [ceil(len(visible(line)) / WIDE) for line in joined(_FORMULA.sub(_inline, self.text))]
        displays = [found[2] for found in _FORMULA.finditer(self.text) if found[1] == "$$"]
        return sum(shown) + sum(1.2 + 1.5 * (text.count("\\\\") + 1) for text in displays) + 0.5


def _inline(found: re.Match[str]) -> str:
    return "" if found[1] == "$$" else found[0]


def joined(text: str) -> list[str]:
    """Return lines as they are set: those of a paragraph as one, each item of a list as one."""
    return re.sub(r"\n(?!\s*(?:[-*]|\d+\.) )\s*", " ", text.strip()).splitlines()


def visible(text: str) -> str:
    """Return text about as long as what is set of it: a command of TeX is one letter, braces are none."""
    shorter = re.sub(
        r"\\(?:mathrm|mathbb|mathcal|operatorname|text|[tb]?frac|bigl|bigr|left|right)\b", "", text
    )
    return re.sub(r"[{}$_^*`\\]|:---?", "", re.sub(r"\\[A-Za-z]+ ?", "x", shorter))


@dataclass(frozen=True)
class Figure:
    """A picture of the chapter's introduction: the name of its file, alternative text, caption."""

    name: str
    alt: str
    caption: str


@dataclass(frozen=True)
class Chapter:
    """The text of a chapter, as MyST; every part of it that is missing is empty."""

    text: str

    def lead(self, word: str) -> str:
        """Return the paragraph of the introduction that begins with a word in bold, without that word."""
        start = f"**The {word}.**"
        found = (block.text for block in blocks(self.text) if block.text.startswith(start))
        return plain(next(found, "").removeprefix(start).strip())

    def idea(self) -> str:
        """Return the paragraph of the idea, and those between its figure and the first section."""
        above = blocks(self.text.partition("\n## ")[0])
        names = [block.name for block in above]
        below = above[names.index("figure") + 1 :] if "figure" in names else []
        more = [plain(one.text) for one in below if not (one.name or one.text.startswith("**"))]
        return " ".join(filter(None, [self.lead("idea"), *more]))

    def figure(self) -> Figure | None:
        """Return the figure before the first section."""
        for block in blocks(self.text.partition("\n## ")[0]):
            if block.name == "figure":
                alt = re.search(r"^:alt: *(.+)$", block.text, re.MULTILINE)
                caption = "\n".join(line for line in block.text.splitlines() if not line.startswith(":"))
                return Figure(
                    block.title.strip().rpartition("/")[2], alt[1] if alt else "", plain(caption.strip())
                )
        return None

    def section(self, heading: str) -> list[Block]:
        """Return what a section says by itself: no code, no folds, nothing below its subheadings."""
        lines, inside = [], False
        for line in _unfenced_headings(self.text):
            found = _HEADING.match(line.text) if line.free else None
            inside = found[1] == heading if found else inside
            if inside and not found:
                lines.append(line.text)
        kept = [block for block in blocks("\n".join(lines)) if block.name in ("", "list-table")]
        texts = (plain(grid(block.text) if block.name else block.text) for block in kept)
        return [Block(text) for text in texts if text]

    def questions(self) -> list[tuple[str, str]]:
        """Return the questions of the quiz with their answers, in either way of writing them."""
        found, asked = [], ""
        for block in blocks(self.text):
            bold = _QUESTION.match(block.text) if not block.name and block.text.startswith("**") else None
            folded = _QUESTION.match(block.title.strip()) if block.name == "dropdown" else None
            if bold:
                asked = bold[1]
                continue
            if folded or (asked and block.name == "dropdown"):
                found.append((plain(folded[1] if folded else asked), plain(block.text.strip())))
            asked = ""
        return found

    def taken_away(self) -> list[Block]:
        """Return the last words of a chapter, from a section or a paragraph of that name."""
        for heading in ("To take away", "Take away"):
            if found := self.section(heading):
                return found
        for block in blocks(self.text):
            if found_there := _TAKEN.match(block.text):
                return [Block(plain(block.text[found_there.end() :].strip()))]
        return []


def chapter(room: str) -> Chapter:
    """Return the chapter of a room; an empty one where nobody wrote it."""
    known = rooms()
    path = resource("book", f"{known[room].chapter if room in known else room}.md")
    return Chapter(path.read_text(encoding="utf-8") if path.is_file() else "")


def blocks(text: str) -> list[Block]:
    """Return the blocks of a text; what is inside of a fence is one block, without the fence."""
    found: list[Block] = []
    lines: list[str] = []
    fence, display = None, False

    def end() -> None:
        if any(line.strip() for line in lines):
            name, title = (fence[2] or "code", fence[3]) if fence else ("", "")
            found.append(Block("\n".join(lines).strip("\n"), name, title))
        lines.clear()

    for line in text.splitlines():
        opened = _FENCE.match(line)
        if fence:
            if opened and opened[1] == fence[1] and not opened[2] and not opened[3].strip():
                end()
                fence = None
            else:
                lines.append(line)
        elif opened:
            end()
            fence = opened
        elif not display and (not line.strip() or _ANCHOR.match(line) or line.startswith("#")):
            end()
        else:
            display ^= line.count("$$") % 2 == 1
            lines.append(line)
    fence = None
    end()
    return found


@dataclass(frozen=True)
class _Line:
    text: str
    free: bool


def _unfenced_headings(text: str) -> list[_Line]:
    """Return the lines, each with whether it is outside of all fences: a # in code is no heading."""
    found, fence = [], ""
    for line in text.splitlines():
        opened = _FENCE.match(line)
        found.append(_Line(line, not fence and not opened))
        if opened and not fence:
            fence = opened[1]
        elif opened and opened[1] == fence and not opened[2]:
            fence = ""
    return found


def grid(text: str) -> str:
    """Return the rows of a list-table as a table of plain Markdown."""
    rows = [
        [" ".join(cell.split()) for cell in re.split(r"^\s+- ", row, flags=re.MULTILINE)]
        for row in re.split(r"^\* - ", text, flags=re.MULTILINE)[1:]
    ]
    if not rows:
        return ""
    rows.insert(1, ["---"] * len(rows[0]))
    return "\n".join("| " + " | ".join(map(unbarred, row)) + " |" for row in rows)


def unbarred(text: str) -> str:
    """Return text for the cell of a table, which a bar would end; those of formulas have other names."""
    return text.replace("\\|", "\\Vert ").replace("|", "\\vert ")


class _Words(Links):
    """Links as their words: a slide on a wall is not clicked on."""

    def __call__(self, text: str, target: str) -> str:
        return text or target.removeprefix("#")


def plain(text: str) -> str:
    """Return MyST as the Markdown that nbconvert knows, without links."""
    convert = Converter(_Words("", resource("slides")))
    return _REFERENCE.sub(r"\1", convert(_ONLY_LINKS.sub(r"\1", text).strip()))


def sentences(text: str) -> list[str]:
    """Return the sentences of a paragraph; what a formula or a word in ticks holds does not end one.

    Examples
    --------
    >>> sentences("It is $a. B$ or `x. Y`. That holds. 5 do not.")
    ['It is $a. B$ or `x. Y`.', 'That holds.', '5 do not.']
    """
    kept: list[str] = []

    def hide(found: re.Match[str]) -> str:
        kept.append(found[0])
        return f"$\x00{len(kept) - 1}\x00"

    hidden = re.sub(r"\$[^$]+\$|`[^`]+`", hide, " ".join(text.split()))
    parts = _END.split(hidden)
    return [re.sub(r"\$\x00(\d+)\x00", lambda found: kept[int(found[1])], part) for part in parts if part]
