"""What the package exports beside its estimators meets bad arguments."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from marginbook import datasets
from marginbook.clasmk import paper_kernels
from marginbook.kfda import MinimumError, MinimumRetained, choose_realisation
from marginbook.smm import aggregate, crossings

from .calls import check_finite
from .candidates import public_estimators
from .functions import FUNCTIONS
from .fuzzing import KINDS
from .judging import Fault, outcome
from .public import LEFT_OUT, PARSERS, is_so, public


@pytest.mark.parametrize("name", FUNCTIONS)
def test_bad_arguments_end_in_an_answer_or_a_clear_error(name):
    @settings(
        max_examples=25,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(FUNCTIONS[name])
    def each(call):
        found = outcome(call.run)
        assert found.kind != "fault", found.what

    each()


def test_all_that_is_public_meets_bad_input():
    """A new estimator, function or parser has to be drawn for, or a true reason given why not."""
    names = public()
    covered = {*public_estimators(), *FUNCTIONS, *PARSERS}
    assert {*names} - covered - {*LEFT_OUT} == set()
    assert covered - {*names} == set()  # nothing that is gone
    assert {*LEFT_OUT} & covered == set()
    for name, reason in LEFT_OUT.items():
        assert is_so(name, reason, names[name]), f"{name} is not {reason}"
    assert sorted(kind for kinds in PARSERS.values() for kind in kinds) == sorted(KINDS)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: choose_realisation([0.1], []), "retained must be a sequence of at least one number"),
        (lambda: choose_realisation("abc", [1.0]), "errors must be a sequence of numbers, got 'abc'"),
        (lambda: choose_realisation([0.1, 0.2], [1.0]), "got 2 and 1 numbers"),
        (lambda: choose_realisation(0.1, 1.0), r"got shape \(\)"),
        (lambda: MinimumError()(None), "cv_results must be what a search leaves, a dict, got NoneType"),
        (lambda: MinimumError()({"mean_test_accuracy": ["a"]}), "mean_test_accuracy must be a sequence"),
        (
            lambda: MinimumRetained()(
                {"mean_test_accuracy": [1.0], "mean_test_neg_retained": [1.0], "split0_test_accuracy": []}
            ),
            "split0_test_accuracy must be a sequence of at least one number",
        ),
        (
            lambda: MinimumRetained()(
                {
                    "mean_test_accuracy": [0.5, 1.0],
                    "mean_test_neg_retained": [1.0, 1.0],
                    "split0_test_accuracy": [1.0],
                }
            ),
            "a fold of cv_results has no score of candidate 1",
        ),
        (lambda: paper_kernels(count=np.inf), "count = inf, wanted a whole number >= 2"),
        (lambda: paper_kernels(count=10**400), "wanted a whole number >= 2|wanted at most"),
        (lambda: paper_kernels(np.zeros(2)), "unknown list of kernels"),
        (lambda: aggregate([[1.0], [1.0, 2.0]], "count"), "decisions must be an .*, got list"),
        (lambda: aggregate([[1.0]], []), r"unknown aggregate \[\]"),
        (lambda: crossings({}), "decisions must be an .*, got dict"),
        (lambda: crossings(10**400), "decisions must be an .*, got int"),
        (lambda: datasets.load(3), "a data set has a name such as 'iris', got 3"),
        (lambda: datasets.make_banana("5"), "n_samples must be a whole number >= 1, got '5'"),
        (lambda: datasets.make_banana(5, noise=np.nan), "noise must be a number .*, got nan"),
        (lambda: datasets.make_twonorm(True), "n_samples must be a whole number >= 1, got True"),
        (lambda: datasets.make_low_rank(5, shape=3), "shape must be two whole numbers >= 1, got 3"),
        (lambda: datasets.make_low_rank(5, link=[]), r"link must be one of .*, got \[\]"),
        (lambda: datasets.make_ringnorm(5, random_state="x"), "random_state must be None, .*, got 'x'"),
        (lambda: datasets.make_waveform(5, n_classes=[2]), r"n_classes must be 2 or 3, got \[2\]"),
    ],
)
def test_arguments_that_once_ended_elsewhere(call, message):
    with pytest.raises((ValueError, TypeError, datasets.UnknownDataset), match=message):
        call()


def test_a_number_that_is_none_is_found_anywhere():
    with pytest.raises(Fault, match="not finite"):
        check_finite({"a": [1.0, (np.array([1.0, np.nan]),)]})
    check_finite([1.0, "nan", None, np.arange(3)])
