"""What a text gives away of the solution of an exercise."""

from __future__ import annotations

import ast

from marginbook.coursework.exercises import Exercise


def leaks(exercise: Exercise, text: str) -> list[str]:
    """Return the statements of the solution that `text` gives away, commented out or not.

    A statement that the starter holds as code is the reader's to begin with, and so are short ones.
    """
    given = set(statements(exercise.starter))
    own = (line for line in statements(exercise.solution) if line not in given)
    return [line for line in own if squeezed(line) in squeezed(text)]


def squeezed(text: str) -> str:
    return "".join(text.split()).replace("#", "").replace('"', "'")


def statements(source: str) -> list[str]:
    """Return the simple statements of `source` that say something, each in the spelling of ast.unparse."""
    simple = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Expr)
    found = [ast.unparse(node) for node in ast.walk(ast.parse(source)) if isinstance(node, simple)]
    return [line for line in found if len(line) >= 12]
