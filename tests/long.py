"""Which tests `make test` leaves out: of half a second and more, and of five seconds in a browser.

``PYTEST_ADDOPTS='--junitxml=_build/unit.xml -o junit_duration_report=call' make unit ARGS=--all`` measures
them on a quiet machine, without what fixtures take, which falls to whichever test comes first. The same with
``browser`` measures those in a browser; ``python -m tests.long _build/unit.xml _build/browser.xml`` writes
``tests/long.txt``.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest

LIST = Path(__file__).with_name("long.txt")
#: seconds from which a test is long, and one in a browser
LONG, LONG_IN_A_BROWSER = 0.5, 5.0
#: the share of a function's time above which it is named as a whole
WHOLE = 0.8
#: never on the list
NEVER = (
    "test_scikit_learn_checks",
    "test_every_page_is_sound_and_accessible",
    "test_no_link_is_dead",
    "test_promised.py::test_the_list_has_what_the_code_has",
    "test_floor_plan.py::test_beside_the_rooms_imports_run_one_way_too",
    "test_floor_plan.py::test_a_room_loads_nothing_of_evidence_and_book",
    "test_stored_evidence.py::test_evidence_is_as_stored",
    "test_without_urls.py::test_evidence_for_a_claim_cannot_come_from_a_url",
)


def mark(items: list[pytest.Item]) -> None:
    """Mark those that the list names, by function or with parameters."""
    named = set(LIST.read_text(encoding="utf-8").splitlines())
    for item in items:
        if named & {item.nodeid, item.nodeid.partition("[")[0]}:
            item.add_marker(pytest.mark.long)


def names(seconds: Mapping[str, float], least: float = LONG) -> list[str]:
    """Return lines of the list.

    Parameters
    ----------
    seconds : mapping of str to float
        By pytest's name of a test.
    least : float
        Seconds from which a test is long.
    """
    functions: dict[str, dict[str, float]] = defaultdict(dict)
    for test, taken in seconds.items():
        functions[test.partition("[")[0]][test] = taken
    lines: list[str] = []
    for function, tests in functions.items():
        long = [test for test, taken in tests.items() if taken >= least]
        if not long or function.endswith(NEVER):
            continue
        whole = sum(tests[test] for test in long) >= WHOLE * sum(tests.values())
        lines += [function] if whole else long
    return lines


def measured(report: Path) -> dict[str, float]:
    """Read pytest's names, and seconds, from a report in the format of JUnit."""
    found: dict[str, float] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        parts = case.attrib["classname"].split(".")
        for cut in range(len(parts), 0, -1):
            file = "/".join(parts[:cut]) + ".py"
            if Path(file).is_file():
                found["::".join([file, *parts[cut:], case.attrib["name"]])] = float(case.attrib["time"])
                break
    return found


if __name__ == "__main__":
    unit, browser = map(measured, map(Path, sys.argv[1:]))
    lines = names(unit) + names(browser, LONG_IN_A_BROWSER)
    LIST.write_text("".join(f"{line}\n" for line in sorted(lines)), encoding="utf-8")
