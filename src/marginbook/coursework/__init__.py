"""Coursework: a problem set of each room, for students and for instructors, from the text of its exercises.

The one source is ``notebooks/<room>/NN_exercises.md``, which `marginbook.coursework.exercises` takes apart.

A set becomes three notebooks (student, source for nbgrader, solutions), packed in one zip for students and
one for instructors; `grade` marks a submission by executing its answers between the original cells.

The format is nbgrader's, because that is metadata on ordinary cells with ordinary assertions: a student needs
no grader, where a notebook of otter-grader imports one to check anything. Nothing here imports nbgrader.
"""

from ..base.extras import naming_the_extra

with naming_the_extra():
    from .building import solutions, source, student
    from .grading import Mark, grade
    from .packing import write
    from .sets import ProblemSet, available, find

__all__ = ["Mark", "ProblemSet", "available", "find", "grade", "solutions", "source", "student", "write"]
