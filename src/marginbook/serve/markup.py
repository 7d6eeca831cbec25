"""HTML of the server's own pages: frame, forms and tables. All text goes through `escape`."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import quote

from ..notebooks.fields import Field

ASSETS = "/-/static"
_PAGES = (("/", "The book"), ("/-/runs", "Runs"), ("/-/claims", "Claims"), ("/-/experiments", "Experiments"))


def page(title: str, body: str, *, refresh: bool = False, maths: bool = False) -> str:
    """Return a whole page.

    With `refresh` it loads itself again where there is no JavaScript; with `maths` it sets formulas, if there
    is a built book to take MathJax from.
    """
    setting = f'<script src="{ASSETS}/maths.js" defer></script>' if maths else ""
    again = '<noscript><meta http-equiv="refresh" content="3"></noscript>' if refresh else ""
    links = "".join(f'<li><a href="{path}">{name}</a></li>' for path, name in _PAGES)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{escape(title)}</title><link rel="stylesheet" href="{ASSETS}/serve.css">'
        f'<script src="{ASSETS}/serve.js" defer></script>{setting}{again}</head>'
        f'<body class="serve"><nav aria-label="Pages"><ul>{links}</ul></nav>'
        f"<main><h1>{escape(title)}</h1>{body}</main></body></html>"
    )


def bar(id: str) -> str:
    """Return the bar above a page of the book."""
    return (
        '<aside class="serve-bar" aria-label="Run this page again">'
        f'<a href="/-/run/{quote(id)}">Run this page again</a> with your own parameters'
        '<a class="serve-runs" href="/-/runs">earlier runs</a></aside>'
    )


def form(
    action: str, declared: Sequence[Field], shown: Mapping[str, Sequence[str]], errors: Mapping[str, str]
) -> str:
    """Return the form of a notebook.

    Parameters
    ----------
    action : str
    declared : sequence of Field
    shown : mapping
        What each field holds, as texts: defaults, or what was entered.
    errors : mapping
        What is wrong, by name.
    """
    strange = [text for name, text in errors.items() if name not in {field.name for field in declared}]
    head = "".join(f'<p class="error" role="alert">{escape(text)}</p>' for text in strange)
    rows = "".join(_row(field, list(shown[field.name]), errors.get(field.name)) for field in declared)
    none = "" if declared else "<p>This page takes no parameters.</p>"
    return (
        f'<form method="post" action="{escape(action)}" class="parameters" data-link>{head}{none}{rows}'
        '<p><button type="submit">Run this page again</button> <button type="reset">Reset</button></p>'
        "</form>"
    )


def _row(field: Field, texts: list[str], error: str | None) -> str:
    name, default = field.name, field.texts(field.parameter.default)
    described = f'id="{name}-doc"'
    told = [f"<p {described} class='doc'>{prose(field.parameter.doc)}"]
    told.append(f" <span class='type'>{escape(field.parameter.type)}{_range(field)}; ")
    told.append(f"default {escape(', '.join(default) or 'none')}</span></p>")
    if error:
        told.append(f'<p class="error" id="{name}-error" role="alert">{escape(error)}</p>')
    links = f'aria-describedby="{name}-doc{f" {name}-error" if error else ""}"'
    links += ' aria-invalid="true"' if error else ""
    links += f' data-default="{escape(chr(10).join(default))}"'
    if field.kind == "several":
        boxes = "".join(
            f'<label><input type="checkbox" name="{name}" value="{escape(each)}"'
            f"{' checked' if each in texts else ''}> {escape(each)}</label>"
            for each in field.choices
        )
        mark = f'<input type="hidden" name="{name}" value="">'
        return (
            f'<fieldset {links} class="field"><legend>{name}</legend>{mark}'
            f'<div class="boxes">{boxes}</div>{"".join(told)}</fieldset>'
        )
    value = texts[0] if texts else ""
    if field.kind == "choice":
        options = "".join(
            f'<option value="{escape(each)}"{" selected" if each == value else ""}>{escape(each)}</option>'
            for each in field.choices
        )
        box = f'<select id="f-{name}" name="{name}" {links}>{options}</select>'
    elif field.kind == "number":
        step = "1" if field.parameter.type == "int" else "any"
        limits = "".join(
            f' {which}="{bound:.10g}"'
            for which, bound in (("min", field.least), ("max", field.most))
            if bound is not None
        )
        box = (
            f'<input id="f-{name}" name="{name}" type="number" step="{step}"{limits} '
            f'value="{escape(value)}" required {links}>'
        )
    else:
        box = f'<input id="f-{name}" name="{name}" type="text" value="{escape(value)}" {links}>'
    return f'<div class="field"><label for="f-{name}">{name}</label>{box}{"".join(told)}</div>'


def _range(field: Field) -> str:
    if field.least is None and field.most is None:
        return ""
    if field.most is None:
        return f", at least {field.least:.10g}"
    return (
        f", {field.least:.10g} to {field.most:.10g}"
        if field.least is not None
        else f", at most {field.most:.10g}"
    )


def button(action: str, text: str, name: str = "", value: str = "") -> str:
    """Return a button that changes something."""
    hidden = f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">' if name else ""
    inside = f"{hidden}<button>{escape(text)}</button>"
    return f'<form method="post" action="{escape(action)}" class="one">{inside}</form>'


def table(head: Iterable[str], rows: Iterable[Iterable[str]], caption: str = "") -> str:
    """Return a table; the cells are HTML already."""
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    top = "".join(f'<th scope="col">{escape(each)}</th>' for each in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="wide"><table>{title}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def prose(text: str) -> str:
    """Return a comment; what it sets in backticks is code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))


def shown_values(values: Mapping[str, Any]) -> str:
    """Return parameters in a line."""
    text = ", ".join(f"{name} = {value}" for name, value in values.items())
    return escape(text if len(text) <= 160 else f"{text[:159]}…") or "defaults"


def when(moment: float | None) -> str:
    return "" if moment is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))


def took(began: float | None, ended: float | None) -> str:
    if began is None or ended is None or ended < began:  # the clock was put back meanwhile
        return ""
    return f"{ended - began:.0f} s"
