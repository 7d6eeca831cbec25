"""Bad arguments for the statistics on tables of scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from marginbook.experiments import stats

from .calls import Call, calls
from .candidates import WILD
from .judging import Fault

_SCORES = (0.9, 0.8, 0.7, 0.85, 0.8, 0.0, 1.0, -1.0, 1e-300, 5e-324, 1e300)
_ROW = st.one_of(
    st.lists(st.sampled_from(_SCORES), min_size=0, max_size=6),
    st.lists(st.floats(), min_size=2, max_size=4),
    st.sampled_from(
        (None, "abc", 3.0, [[0.1], [0.2]], ["a", "b"], [None, None], [1j, 0.5], [10**400, 1], {"a": 1})
    ),
)
#: two methods on the same splits, more often than not
_TWO = st.one_of(
    st.integers(2, 7).flatmap(
        lambda n: st.tuples(*(st.lists(st.sampled_from(_SCORES), min_size=n, max_size=n) for _ in range(2)))
    ),
    st.tuples(_ROW, _ROW),
)
_TABLE = st.one_of(
    st.tuples(st.integers(0, 6), st.integers(0, 5)).flatmap(
        lambda shape: st.lists(
            st.lists(st.sampled_from(_SCORES), min_size=shape[1], max_size=shape[1]),
            min_size=shape[0],
            max_size=shape[0],
        )
    ),
    st.lists(st.lists(st.floats(), min_size=3, max_size=3), min_size=2, max_size=4),
    st.just([["a", "b", "c"]] * 3),
)


def _test(call: Callable[[], stats.TestResult]) -> tuple[float, int]:
    """Return what is a number in every result: statistic and degrees of freedom may not be."""
    found = call()
    if np.isnan(found.statistic) or not 0 <= found.p_value <= 1:
        raise Fault(f"statistic {found.statistic} with p-value {found.p_value}")
    return found.p_value, found.n


def _of_two(name: str, **named: Any) -> st.SearchStrategy[Call]:
    def tested(pair: Any, **rest: Any) -> tuple[float, int]:
        return _test(lambda: getattr(stats, name)(*pair, **rest))

    tested.__name__ = tested.__qualname__ = name
    options = st.fixed_dictionaries({key: st.sampled_from(value) for key, value in named.items()})
    return st.builds(lambda pair, rest: Call(tested, (pair,), tuple(rest.items())), _TWO, options)


def _of_table(name: str, framed: bool, *others: Any, **named: Any) -> st.SearchStrategy[Call]:
    def asked(rows: Any, *others: Any, **rest: Any) -> Any:
        table = pd.DataFrame(rows) if framed else rows
        if not framed:
            return _test(lambda: getattr(stats, name)(table, **rest))
        return getattr(stats, name)(table, *others, **rest).to_numpy()

    asked.__name__ = asked.__qualname__ = name
    return calls(asked, _TABLE, *others, **named)


_SIZES = (90, 10, 1, 0.5, 0, -1, np.nan, np.inf, 1e300, "90", None, 1j, [9], 10**400)
SCORED: dict[str, st.SearchStrategy[Any]] = {
    "paired_t": _of_two("paired_t"),
    "wilcoxon": _of_two("wilcoxon"),
    "corrected_resampled_t": _of_two("corrected_resampled_t", n_train=_SIZES, n_test=_SIZES),
    "friedman": _of_table("friedman", False),
    "iman_davenport": _of_table("iman_davenport", False),
    "average_ranks": _of_table("average_ranks", True, higher_is_better=(True, False)),
    "nemenyi": _of_table("nemenyi", True),
    "win_tie_loss": _of_table("win_tie_loss", True, (0, 1, "a", None), margin=(0.0, 0.1, *WILD)),
    "critical_difference": calls(
        stats.critical_difference, (14, 2, 1, *WILD), (4, 2, 1, 60, *WILD), (0.05, 0.999, 1e-9, *WILD)
    ),
}
