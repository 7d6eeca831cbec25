"""Would the tests notice? Small errors in the code, one at a time, each against the tests that run its line.

``python supply/mutants.py`` (`make mutants`) draws a sample of the mutants that Cosmic Ray's operators can
make of the files in `mutating.places.WHERE`: the same one for the same seed. Each is tried in a copy of
the checkout, until a test fails or takes ten times its time. What came out is appended to
``results/mutants/mutants.csv`` at once, and the book shows it. Stopped, it goes on where it was. Rows of
other code or tests stay until ``--again`` is given; the page also shows what came out at first.

With ``--claims`` the claims of a room stand in the place of tests: a mutant of its models, solvers and
estimators meets the checks that run its line, until one comes to another verdict, raises an error or takes
too long (``results/mutants/claims.csv``). Where one only tells other numbers, that is noted.

With ``--everyone`` a mutant meets the tests also after one has failed, and for each test is counted how many
mutants it met, noticed, and noticed alone (``results/mutants/tests.csv``).

Which tests or claims run a line is measured when it is first asked (all tests: half an hour of CPU) and kept
in ``_build/mutants``. Mutants that are listed in ``results/mutants/equivalent.toml`` are tried with
``--equivalent`` only: nobody should notice one.
"""

from __future__ import annotations

import argparse
import queue
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sized
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from marginbook.cli.stopping import one_sentence

with one_sentence():  # these imports take seconds
    import check
    from mutating import drawn, places
    from mutating.drawn import Mutant
    from mutating.judging import Settings, Worker
    from mutating.judging_claims import ClaimWorker, of_a_room
    from mutating.keeping import Keeper, KeptAnswers
    from mutating.needed import Asked, EveryoneWorker, counted
    from mutating.reached import Store

    from marginbook.base.progress import Progress, clock
    from marginbook.base.project import cache_dir
    from marginbook.book.mutants_stored import (
        CLAIMS_CSV,
        CSV,
        EQUIVALENT,
        NOTICED,
        TESTS_CSV,
        ClaimRow,
        Key,
        Row,
        equivalents,
        outdated,
        read,
    )

ROOT = Path(__file__).resolve().parents[1]
DEFAULTS = {"number": 2000, "budget": 30.0, "slow": 10.0}


def main() -> int:
    """Draw, and try what is not stored; the exit code is 1 if a mutant was not noticed, now or before."""
    options = _options()
    stored = ROOT / "results" / "mutants"
    path, of = (stored / CLAIMS_CSV, ClaimRow) if options.claims else (stored / CSV, Row)
    same = equivalents(stored / EQUIVALENT)
    if options.equivalent:
        return try_equivalent(same, options)
    mutants = draw(ROOT, options)
    if options.list:
        for each in mutants:
            print(f"{each.file}:{each.line} {each.operator}\n    {each.before}\n    {each.after}")
        return 0
    rows = read(path, of)
    left = [each for each in mutants if each.key not in same]
    if options.everyone:
        return ask_everyone(left, options)
    if options.control:
        left = [replace(each, text=(ROOT / each.file).read_text(encoding="utf-8")) for each in left]
    else:
        left = waiting(left, rows, options, ROOT)
    done: list[Row] = []
    store = Keeper(path)
    with Progress("mutants", len(left), "tried", left=partial(to_come, done, len(left))) as bar:

        def ended(row: Row) -> None:
            done.append(row)
            if not options.control:
                store.append(row)
            told = f"{row.outcome} {row.file.removeprefix('src/marginbook/')}:{row.line}"
            bar.ended(told if row.outcome not in NOTICED or options.control else "")

        kind = ClaimWorker if options.claims else Worker
        try_all(ROOT, left, _settings(options), options.seed, options.n_jobs, ended, kind)
    if options.control:
        wrong = [row for row in done if row.outcome in NOTICED]
        for row in wrong:
            print(f"noticed without a mutant: {row.killed_by}")
        return int(bool(wrong))
    return int(not told(mutants, read(path, of), same, options.seed))


def to_come(done: Sized, total: int, elapsed: float) -> float | None:
    """Return the seconds that are left when some of all were done in `elapsed` seconds."""
    return elapsed / len(done) * (total - len(done)) if done else None


def ask_everyone(mutants: list[Mutant], options: argparse.Namespace) -> int:
    """Let mutants meet all fast tests that reach them, and count which tests are needed; return 0."""
    asked = f"everyone-{options.seed}-{options.budget:g}-{options.slow:g}-{options.ask}.jsonl"
    kept = KeptAnswers(ROOT, ROOT / "_build" / "mutants" / asked)
    left = [each for each in mutants if each.key not in kept.answers]
    done: list[Asked] = []
    with Progress("mutants", len(left), "asked everyone", left=partial(to_come, done, len(left))) as bar:

        def ended(one: Asked) -> None:
            done.append(one)
            kept.append(one)
            bar.ended()

        try_all(ROOT, left, _settings(options), options.seed, options.n_jobs, ended, EveryoneWorker)
    needed = counted(kept.of(mutants), options.seed)
    path = ROOT / "results" / "mutants" / TESTS_CSV
    Keeper(path).replace(needed)
    alone = sum(each.alone > 0 for each in needed)
    print(f"{len(needed):,} test functions met a mutant; {alone:,} noticed one that no other did")
    return 0


def try_equivalent(same: Iterable[Key], options: argparse.Namespace) -> int:
    """Try the mutants that are said to change nothing; return 1 if one is noticed or cannot be made."""
    made = {key: drawn.matching(ROOT, *key) for key in same}
    for file, line, operator, _ in (key for key, each in made.items() if each is None):
        print(f"{file}: {operator} makes nothing of this line\n    {line}")
    rows: list[Row] = []
    left = [each for each in made.values() if each is not None]
    try_all(ROOT, left, _settings(options), options.seed, options.n_jobs, rows.append)
    noticed = [row for row in rows if row.outcome in NOTICED]
    for row in noticed:
        print(f"{row.outcome}: {row.file}:{row.line} {row.killed_by}\n    {row.before}\n    {row.after}")
    print(f"{len(left):,} that are said to change nothing: {len(noticed):,} noticed")
    return int(bool(noticed) or len(left) < len(made))


def draw(home: Path, options: argparse.Namespace) -> list[Mutant]:
    """Return the sample, or those of its mutants that are asked for."""

    def wanted(file: str, kind: str) -> bool:
        asked = not options.files or any(part in file for part in options.files)
        asked = asked and (not options.claims or of_a_room(file))
        return asked and (not options.kinds or kind in options.kinds)

    found = places.places(home, places.files(home))
    if options.claims:  # of the others, claims would have nothing to say
        return drawn.sample(home, found, drawn.WHOLE, options.seed, wanted, options.number)
    return drawn.sample(home, found, options.number, options.seed, wanted)


def waiting(
    mutants: Iterable[Mutant], rows: Iterable[Row], options: argparse.Namespace, home: Path
) -> list[Mutant]:
    """Return the mutants without a row, and those that met fewer tests than they would now.

    With ``options.again`` those, too, whose row is of other code or tests.
    """
    budget = 0.0 if options.ask else options.budget
    last = {row.key: row for row in rows if row.seed == options.seed}
    known = {key: row for key, row in last.items() if row.outcome in NOTICED or row.budget >= budget}
    again = options.again
    changed = {row.key for row in outdated(known.values(), home)}
    old = [each for each in mutants if each.key in changed]
    if old:
        print(f"{len(old)} rows are of other code or tests: " + ("tried" if again else "--again tries them"))
    return [each for each in mutants if each.key not in known or (again and each in old)]


def try_all(
    home: Path,
    mutants: list[Mutant],
    settings: Settings,
    seed: int,
    n_jobs: int,
    ended: Callable[[Any], None],
    kind: type[Worker] = Worker,
) -> None:
    """Try mutants in parallel; `ended` is called with one row after the other.

    Raises
    ------
    KeyboardInterrupt
        After all processes have ended.
    """
    folder = home / "_build" / "mutants"
    reach = kind.reached(home, check.graph())
    store = Store(home, folder / f"{kind.own}measured-{settings.slow:g}")
    left: queue.SimpleQueue[Mutant] = queue.SimpleQueue()
    for each in mutants:
        left.put(each)
    lock, stop, failed = threading.Lock(), threading.Event(), []
    workers = [
        kind(home, folder / f"{kind.own}worker-{number}", cache_dir("data"), reach, store, settings)
        for number in range(min(n_jobs, len(mutants)))
    ]

    def work(worker: Worker) -> None:
        try:
            while not stop.is_set():
                row = worker.judge(left.get_nowait(), seed)
                with lock:
                    ended(row)
        except queue.Empty:
            pass
        except Exception as error:  # of a server that was ended by Ctrl-C, or a fault: the main thread tells
            failed.append(error)
            stop.set()

    threads = [threading.Thread(target=work, args=(worker,)) for worker in workers]
    try:
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.05)
    finally:
        stop.set()
        for worker in workers:
            worker.close()
        for thread in threads:
            thread.join()
    if failed:
        raise failed[0]


def told(mutants: Iterable[Mutant], rows: Iterable[Row], same: Iterable[object], seed: int) -> bool:
    """Print counts and what was not noticed; return whether everything was."""
    drawn = {each.key for each in mutants} - set(same)
    last = {row.key: row for row in rows if row.seed == seed and row.key in drawn}
    counts = Counter(row.outcome for row in last.values())
    missed = [row for row in last.values() if row.outcome not in NOTICED]
    for row in sorted(missed, key=lambda row: (row.file, row.line)):
        print(f"{row.outcome}: {row.file}:{row.line} {row.operator} ({row.tests} met)")
        print(f"    {row.before}\n    {row.after}")
    print(f"seed {seed}: " + ", ".join(f"{count} {name}" for name, count in counts.most_common()))
    return not missed


def _settings(options: argparse.Namespace) -> Settings:
    return Settings(budget=options.budget, slow=options.slow, ask=options.ask)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--claims", action="store_true", help="ask the claims of a room in place of tests")
    parser.add_argument("--number", type=int, help="of mutants (default: 2000; of claims 300)")
    parser.add_argument("--seed", type=int, default=1, help="another one draws others (default: %(default)s)")
    parser.add_argument("--n-jobs", type=int, default=2, help="processes (default: %(default)s)")
    parser.add_argument("--kinds", nargs="+", help="of the sample only these: model, certificates, ...")
    parser.add_argument("--files", nargs="+", help="of the sample only paths with this")
    parser.add_argument("--again", action="store_true", help="try also what other code or tests decided")
    parser.add_argument(
        "--budget", type=float, help="seconds of tests for a mutant (default: 30; of claims 60)"
    )
    parser.add_argument("--slow", type=float, help="slower tests are left out (default: 10 s; claims 20)")
    parser.add_argument("--ask", type=int, default=0, help="only so many test files each (default: all)")
    parser.add_argument("--list", action="store_true", help="print the sample and end")
    parser.add_argument(
        "--equivalent", action="store_true", help="try those that are listed as changing nothing"
    )
    parser.add_argument(
        "--everyone", action="store_true", help="which tests are needed: ask them also after one has noticed"
    )
    parser.add_argument(
        "--control", action="store_true", help="run the same tests without the mutants: none may fail"
    )
    options = parser.parse_args()
    defaults = {"number": 300, "budget": 60.0, "slow": 20.0} if options.claims else DEFAULTS
    unset = {name: value for name, value in defaults.items() if getattr(options, name) is None}
    vars(options).update(unset)
    return options


if __name__ == "__main__":
    with suppress(ValueError):  # a shell without a terminal lets what it starts ignore Ctrl-C
        signal.signal(signal.SIGINT, signal.default_int_handler)
    begin = time.monotonic()
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print(f"stopped after {clock(time.monotonic() - begin)}; call it again to go on", file=sys.stderr)
        sys.exit(130)
