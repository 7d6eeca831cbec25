"""HTML of an output with nothing left that acts: tables, lists, emphasis; no script, style, link or event."""

from __future__ import annotations

from html import escape
from html.parser import HTMLParser

_TABLES = "table caption thead tbody tfoot tr th td p div span ul ol li dl dt dd blockquote br hr"
_WORDS = "b i em strong code pre kbd sub sup h1 h2 h3 h4 h5 h6 small mark"
_KEPT = frozenset(f"{_TABLES} {_WORDS}".split())
_EMPTY = frozenset({"br", "hr"})
#: with all that is inside
_ACTING = "script style template iframe object svg math noscript head title textarea select xmp plaintext"
_DROPPED = frozenset(f"{_ACTING} noembed noframes".split())
_NUMBERS = frozenset({"colspan", "rowspan"})


def sanitised(html: str) -> str:
    """Return the harmless part of some HTML; every tag that is opened is closed again.

    >>> sanitised('<p onclick="x()">a<script>b</script> &lt; <b>c</p>')
    '<p>a &lt; <b>c</b></p>'
    """
    parser = _Parser()
    parser.feed(html)
    parser.close()
    return parser.text()


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._parts: list[str] = []
        self._open: list[str] = []
        self._inside: list[str] = []  # of what is dropped

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _DROPPED:
            self._inside.append(tag)
        if self._inside or tag not in _KEPT:
            return
        kept = "".join(
            f' {name}="{value}"' for name, value in attrs if name in _NUMBERS and value and value.isdecimal()
        )
        self._parts.append(f"<{tag}{kept}>")
        if tag not in _EMPTY:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._inside:
            if tag in self._inside:
                while self._inside.pop() != tag:
                    pass
            return
        if tag in self._open:
            while (last := self._open.pop()) != tag:
                self._parts.append(f"</{last}>")
            self._parts.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self._parts.append(escape(data))

    def text(self) -> str:
        return "".join([*self._parts, *(f"</{tag}>" for tag in reversed(self._open))])
