"""What a reader takes for one word stays on one line."""

from __future__ import annotations

import pytest
from docutils import nodes

from marginbook.book.line_breaks import hold_together


def math() -> nodes.math:
    return nodes.math("", "x")


def code(text: str = "fit") -> nodes.literal:
    return nodes.literal("", text)


def link(inside: nodes.Node) -> nodes.reference:
    return nodes.reference("", "", inside, refuri="#")


@pytest.mark.parametrize(
    ("parts", "held"),
    [
        (["so ", math(), ". Both"], ["x."]),
        (["by kFDA", math(), ", and (", math(), ")"], ["kFDAx,", "(x)"]),
        (["a ", link(math()), "-test. So"], ["x-test."]),
        (["at ", math(), " %: a"], ["x\u00a0%:"]),
        (["the t-test and the G-mean, at 1e-6"], ["t-test", "G-mean,", "1e-6"]),
        (["between ", math(), " and ", math()], []),
        (["(", code(), "), ", link(code()), ", well-known"], []),  # their style does not let a line break
        ([nodes.strong("", "a long text"), math()], []),
    ],
)
def test_punctuation_stays_beside_its_formula_and_short_words_whole(parts, held):
    page = nodes.document(None, None)
    page += nodes.paragraph("", "", *(nodes.Text(part) if isinstance(part, str) else part for part in parts))
    before = page.astext()
    hold_together(page)
    assert [one.astext() for one in page.findall(nodes.inline) if one["classes"] == ["nowrap"]] == held
    assert page.astext().replace("\u00a0", " ") == before


def test_a_sign_stays_beside_its_number():
    page = nodes.document(None, None)
    page += nodes.paragraph("", "at 99 % with alpha = 0 and a\n=\n−1, as x = y; 50\n%")
    page += nodes.literal_block("", "99 % x = 0")
    hold_together(page)
    assert (
        page[0].astext() == "at 99\u00a0% with alpha\u00a0=\u00a00 and a\u00a0=\u00a0−1, as x = y; 50\u00a0%"
    )
    assert page[1].astext() == "99 % x = 0"


def test_only_code_that_can_be_wider_than_a_phone_may_break():
    page = nodes.document(None, None)
    page += nodes.paragraph("", "", code("fit(X, y, sample_weight=w)"), code("marginbook.experiments.stats"))
    hold_together(page)
    assert [one["classes"] for one in page.findall(nodes.literal)] == [[], ["long"]]


def test_short_words_of_tables_that_a_cell_printed_stay_whole():
    page = nodes.document(None, None)
    cells = "<td>-1e-06</td><td>leave-one-out of 99 %</td>"
    table = f'<table class="dataframe"><th style="a-b">β = 1e-04</th>{cells}</table>'
    page += nodes.raw("", table, format="html")
    page += nodes.raw("", "<pre>1e-04</pre>", format="html")
    hold_together(page)
    whole = '<span class="nowrap">{}</span>'.format
    told = cells.replace("-1e-06", whole("-1e-06")).replace("99 %", "99\u00a0%")
    assert page[0].astext() == table.replace(cells, told).replace("= 1e-04", f"= {whole('1e-04')}")
    assert page[1].astext() == "<pre>1e-04</pre>"
