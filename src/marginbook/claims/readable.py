"""Formulas of evidence as a page shows them; a check writes them in plain letters, for a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator

#: open and close what stands above and below the line, until the page's own marks replace them
RAISED, LOWERED, END = "\ue000", "\ue001", "\ue002"
_MARKED = re.compile(f"([{RAISED}{LOWERED}])([^{RAISED}{LOWERED}{END}]*){END}")
_LETTERS = (
    *("α alpha", "β beta", "γ gamma", "δ delta", "ε epsilon", "η eta", "θ theta", "κ kappa", "λ lambda"),
    *("μ mu", "ν nu", "ξ xi", "π pi", "ρ rho", "σ sigma", "τ tau", "φ phi", "ψ psi", "ω omega"),
    *("Γ Gamma", "Δ Delta", "Σ Sigma", "Ψ Psi"),
)
_GREEK = {name: letter for letter, name in map(str.split, _LETTERS)}
_NAME = re.compile(rf"(?<![\w.`-])({'|'.join(_GREEK)})(\d?)(?=_|\b)(?![\w.]*`)(?!=['\"])(?!-)")
_SIGNS = (("<=", "≤"), (">=", "≥"), ("yhat", "ŷ"), ("sqrt(", "√("), ("+-", "±"))
_INNER = rf"(?:[^(){{}}`{RAISED}{LOWERED}{END}]|\([^(){{}}`{RAISED}{LOWERED}{END}]*\))*"  # marks do not nest
_POWER = re.compile(  # p^(X), an estimate of p at X, has no power
    rf"(?<=[\w)\]}}|'{END}])\^(?!\(-?X\))"
    rf"(?:\{{({_INNER})\}}|\(({_INNER})\)|([-−]?\d+(?:\.\d+)?|[A-Za-zα-ω](?![A-Za-z_])))"
)
_INDEX = re.compile(
    r"(?:(?<=(?<![\w.`])[A-Za-zα-ωŷ])|(?<=(?<![\w.`])\d[A-Za-zα-ω])|(?<=(?<!\w)sum)"
    r"|(?<=(?<!\w)max)|(?<=(?<!\w)min)|(?<=[)|]))"
    r"_(?:\{([^{}()`]{1,9})\}|\(([^{}()`]{1,9})\)|((?:max|min|nu|[A-Za-z0-9]{1,2})(?!\w)|\+|-(?!\w)))"
)
_KEPT = re.compile(r"(\$[^$]+\$|`[^`]+`)")
TIMES_TEN = re.compile(r"(?<![\w.$-])(-?)(\d+(?:\.\d+)?)e([+-]?)0*(\d+)\b")


def symbols(text: str) -> str:
    """Return text with Greek letters, signs, and marks around powers and indices; formulas in dollars stay.

    >>> symbols("lambda1 <= 1 and sqrt(rho)")
    'λ\\ue0011\\ue002 ≤ 1 and √(ρ)'
    """
    return "".join(part if kept else _symbols(part) for part, kept in parts(text))


def parts(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the pieces of a text, and whether each is a formula in dollars or code, which stays as it is."""
    for place, part in enumerate(_KEPT.split(text)):
        yield part, place % 2 == 1


def _symbols(text: str) -> str:
    for plain, sign in _SIGNS:
        text = text.replace(plain, sign)
    text = _NAME.sub(_letter, text)
    text = _INDEX.sub(_index, text)
    return _POWER.sub(lambda found: RAISED + next(filter(None, found.groups())).replace("-", "−") + END, text)


def _index(found: re.Match[str]) -> str:
    index = next(filter(None, found.groups()))
    return LOWERED + _GREEK.get(index, index) + END


def _letter(found: re.Match[str]) -> str:
    name, digit = found.groups()
    return _GREEK[name] + (f"{LOWERED}{digit}{END}" if digit else "")


def as_html(text: str) -> str:
    """Return escaped text with its formulas readable: those in dollars stay, all else gets letters and signs.

    >>> as_html("J(n) - S(n) &lt;= 1e-9 |x_i|^2, lambda1 = $\\\\lambda_1$")
    'J(n) - S(n) ≤ 10<sup>−9</sup> |x<sub>i</sub>|<sup>2</sup>, λ<sub>1</sub> = $\\\\lambda_1$'
    """
    text = text.replace("&lt;=", "<=").replace("&gt;=", ">=")
    readable = "".join(part if kept else TIMES_TEN.sub(_ten, _symbols(part)) for part, kept in parts(text))
    return marked(readable, "<sup>{}</sup>", "<sub>{}</sub>")


def marked(text: str, raised: str, lowered: str) -> str:
    """Replace the marks around powers and indices by those of a page, {} standing for what is inside.

    >>> marked(symbols("x_i^2"), "^({})", "_({})")
    'x_(i)^(2)'
    """
    forms = {RAISED: raised, LOWERED: lowered}
    return _MARKED.sub(lambda found: forms[found[1]].format(found[2]), text)


def _ten(found: re.Match[str]) -> str:
    sign, digits, minus, power = found.groups()
    factor = "" if float(digits) == 1 else f"{digits} × "
    return f"{sign}{factor}10{RAISED}{'−' if minus == '-' else ''}{power}{END}"
