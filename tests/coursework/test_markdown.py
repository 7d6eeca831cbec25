"""What only the book understands becomes words, or is refused."""

from __future__ import annotations

import pytest

from marginbook.coursework.exercises import ExerciseError
from marginbook.coursework.markdown import plain, references


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("{cite:t}`peng_discriminative` say", "Peng and Cheng (2021) say"),
        ("so {cite:p}`pelckmans_risk`.", "so (Pelckmans et al., 2008)."),
        ("a draft {cite:p}`smm_draft`", "a draft (Anonymous, n.d.)"),
        ("[first page](../../book/ldm.md): $m$", "first page (in the book): $m$"),
        ("a [strong penalty](#smm-exercise-threshold)", "a strong penalty"),
        ("[here](https://example.org/x)", "[here](https://example.org/x)"),
        ("$f(x)[i](j)$ stays", "$f(x)[i](j)$ stays"),
        ("$$\n\\frac{a}{b}\n$$", "$$\n\\frac{a}{b}\n$$"),
        ("```text\n{x}\n```", "```text\n{x}\n```"),
    ],
)
def test_translation(text: str, wanted: str) -> None:
    assert plain(text) == wanted


@pytest.mark.parametrize("text", ["see {numref}`a`", "```{note}\nx\n```", ":::{tip}\nx\n:::"])
def test_markup_that_jupyter_would_show_raw_is_refused(text: str) -> None:
    with pytest.raises(ExerciseError, match="is the book's alone; write"):
        plain(text)


def test_an_unknown_reference_is_named() -> None:
    with pytest.raises(ExerciseError, match="cites nobody_ever, which is not in"):
        plain("{cite:t}`nobody_ever`")


def test_the_list_of_references() -> None:
    cited = references(["{cite:p}`pelckmans_risk`", "{cite:t}`peng_discriminative` {cite:p}`pelckmans_risk`"])
    first, second = cited.splitlines()
    assert first.startswith("- Kristiaan Pelckmans, Johan Suykens, and Bart De Moor")
    assert "*IEEE Transactions on Neural Networks and Learning Systems*" in second
    assert references(["nothing"]) == ""
