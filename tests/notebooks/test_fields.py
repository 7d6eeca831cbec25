"""The bounds of the fields that a form makes of a notebook's parameters."""

from __future__ import annotations

from marginbook.notebooks.catalogue import available
from marginbook.notebooks.fields import fields
from marginbook.notebooks.parameters import parse
from marginbook.serve.subjects import Subjects


def test_every_number_that_a_page_takes_has_bounds_around_its_default():
    for id, notebook in available().items():
        for field in Subjects().fields(notebook):
            if field.kind == "number":
                assert field.least is not None, (id, field.name)
                assert field.most is not None, (id, field.name)
                assert field.least <= field.parameter.default <= field.most, (id, field.name)


def test_a_comment_goes_on_below_its_line():
    (one, two) = parse("a: float = 1.0  # a long comment,\n# 1e-3 to 1e4\nb: int = 2  # 1 to 3\n")
    assert one.doc == "a long comment, 1e-3 to 1e4"
    assert two.doc == "1 to 3"
    (first, _) = fields([one, two], [], frozenset())
    assert (first.least, first.most) == (1e-3, 1e4)
