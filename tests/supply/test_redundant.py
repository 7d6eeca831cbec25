"""Which tests `supply/redundant.py` names, and which it does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from marginbook.book.mutants_stored import sha

from .scripts import ROOT, script
from .tiny_package import SUMS, TESTS


def test_a_test_is_named_where_a_faster_one_runs_all_its_lines(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "supply"))
    redundant = script("redundant")
    monkeypatch.setattr(redundant, "ROOT", home)
    redundant.main()
    assert "0 of 0 test functions in the 0 of 1 files" in capsys.readouterr().err
    tests = [
        ("wide", 1.0),
        ("slow[1]", 1.0),
        ("slow[2]", 0.5),
        ("fast", 0.1),
        ("other", 2.0),
        ("killer", 9.0),
    ]
    kept = {
        "tests": [[f"{TESTS}::test_{name}", cpu, cpu] for name, cpu in tests],
        "left_out": 0,
        "slowest": 9.0,
        "read": {SUMS: sha((home / SUMS).read_bytes())},
        # what is at line 0, and what a test runs of its own file, is no reason
        "ran": {SUMS: {"0": 0, "9": 1, "10": 2, "17": 3}, TESTS: {"0": 0, "14": 3}},
        "sets": [[0, 1, 2, 3, 4, 5], [0, 1, 3, 5], [0, 2], [4]],
    }
    path = home / "_build" / "mutants" / "measured-10" / (TESTS.replace("/", "-") + ".json")
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(kept))
    stored = home / "results" / "mutants" / "mutants.csv"
    stored.parent.mkdir(parents=True)
    columns = (
        "seed,file,room,kind,line,operator,occurrence,before,after,outcome,killed_by,tests,seconds,budget"
    )
    stored.write_text(
        f"{columns},source,against\n1,{SUMS},toy,model,9,Made,0,a,b,killed,{TESTS}::test_killer[x],1,1,30,c,d\n"
    )
    redundant.main()
    told = capsys.readouterr()
    assert told.out.splitlines()[1:] == [f"{TESTS}::test_slow,1.50,2,{TESTS}::test_wide,1.00,2"]
    assert "1 of 5 test functions in the 1 of 1 files" in told.err
    (home / SUMS).write_text("changed = True\n")  # the measurement is of other code
    redundant.main()
    assert len(capsys.readouterr().out.splitlines()) == 1
