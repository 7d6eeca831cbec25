"""How many of the sets that only URLs give are here: tests of the others are skipped.

``python supply/only_urls.py`` fails where ``MARGINBOOK_MIRROR`` is set and none of them is here: then
`make online` would skip all its tests, and a mirror that is broken would look like one that is whole.
"""

from __future__ import annotations

import argparse
import os
import sys

from marginbook.cli.stopping import one_sentence
from marginbook.datasets import registry
from marginbook.datasets.load import is_here


def main() -> int:
    """Count; the exit code is 1 if the mirror gave nothing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args()
    wanted = [
        entry
        for entry in registry().values()
        if entry.available and all(source.kind == "url" for source in entry.sources)
    ]
    here = sum(any(map(is_here, entry.sources)) for entry in wanted)
    print(f"{here} of {len(wanted)} sets that only URLs give are here; tests of the others are skipped")
    mirror = os.environ.get("MARGINBOOK_MIRROR")
    if mirror and not here:
        print(
            f"the mirror {mirror} gave none of them; see what `marginbook data fetch` says", file=sys.stderr
        )
        return 1
    return 0


if __name__ == "__main__":
    with one_sentence():
        sys.exit(main())
