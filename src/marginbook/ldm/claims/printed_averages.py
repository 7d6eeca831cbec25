"""The claim about the rows 'Ave. accuracy' of Tables 2 to 4: are they the means of their columns, rounded?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache

import numpy as np

from ...claims import Evidence, Rival, claim, decide
from ..paper.printed import KINDS, LEVEL, printed, summary

#: tables of right averages that are drawn, and the seed
DRAWN, SEED = 400, 66


def chance_by_rounding(cells: list[float], average: str) -> float:
    """Return how likely rounding alone puts a printed average this far from the mean of printed cells.

    Each cell may be off by half a unit of its last digit, uniformly, so that the sum of what is missing has
    the distribution of Irwin and Hall.

    >>> chance_by_rounding([0.9, 0.8], "0.850"), f"{chance_by_rounding([0.912] * 12, '0.9128'):.0e}"
    (1.0, '1e-04')
    """
    n, total = len(cells), sum(round(1000 * cell) for cell in cells)  # in units of the last digit
    return _beyond(n, abs(total - 1000 * n * Fraction(average)) - Fraction(n, 2))


@cache
def _beyond(n: int, short: Fraction) -> float:
    """Return how likely the sum of n numbers, uniform from -1/2 to 1/2, is `short` or more away from 0."""
    if short <= 0:
        return 1.0
    left = Fraction(n, 2) - short  # the sum of n uniform numbers is at most this
    terms = [Fraction((-1) ** k * math.comb(n, k)) * (left - k) ** n for k in range(n) if k < left]
    return float(2 * sum(terms, Fraction(0)) / math.factorial(n))


def false_alarms(lengths: Sequence[int], level: float) -> float:
    """Return the share of tables of right averages in which one of them has a probability below `level`.

    The averages are those that are doubted most easily: each lies half-way between two numbers of three
    digits, and either may be printed.

    Parameters
    ----------
    lengths : sequence of int
        Of each average, the number of cells.
    level : float
    """
    rng, doubted = np.random.default_rng(SEED), 0
    for _ in range(DRAWN):
        chances = []
        for n in lengths:
            cells = rng.uniform(600, 1000, n)
            low = math.floor(cells.mean())
            cells += low + 0.5 - cells.mean()
            average = f"{(low + int(rng.integers(2))) / 1000:.3f}"
            chances.append(chance_by_rounding((np.rint(cells) / 1000).tolist(), average))
        doubted += min(chances) < level
    return doubted / DRAWN


#: the one average that the cells contradict, as they give it
MENDED = {("table-4", "LDM"): "0.918"}


@claim(
    "ldm/table-2-averages",
    kind="arithmetic",
    where="Tables 2, 3 and 4, the rows 'Ave. accuracy'",
    statement="the average accuracies are the means of the columns above them",
    notebook="ldm/04_regular_data#ldm-table-2-averages",
    rivals=(
        Rival("an average of the SVM .001 smaller", {"instead": {("table-4", "SVM"): "0.912"}}),
        Rival("an average of MAMC .001 larger", {"instead": {("table-2", "MAMC"): "0.651"}}),
        Rival("the average that the cells give", {"instead": MENDED}),
        Rival("corrected to .917", {"mended": {("table-4", "LDM"): "0.917"}}),
        Rival("5 % for each average instead of 5 % for all, by Bonferroni's correction", {"tests": 1}),
    ),
)
def check_averages(
    instead: Mapping[tuple[str, str], str] = {},
    mended: Mapping[tuple[str, str], str] = MENDED,
    tests: int | None = None,
) -> Evidence:
    """Average the printed cells again, and ask how likely rounding explains each difference.

    Parameters
    ----------
    instead : mapping
        By table and method, averages that are printed otherwise.
    mended : mapping
        The corrections.
    tests : int, default: the number of averages
        By how many the 5 % are divided. Drawn tables of right averages show whether that is enough.
    """
    lengths: list[int] = []
    chances, fixed, equal, off, unequal = {}, {}, 0, [], []
    for table in KINDS:
        means = printed(table).means
        for method, printed_text in summary(table, "average").items():
            column = means[method].dropna()
            text = instead.get((table, method), printed_text)
            if text == "N/A":
                continue
            again = float(column.mean())
            key = table, method
            lengths.append(len(column))
            chances[key] = chance_by_rounding(column.to_list(), text)
            fixed[key] = chance_by_rounding(column.to_list(), mended.get(key, text))
            equal += f"{again:.3f}" == text
            if f"{again:.3f}" != text:
                off.append(
                    f"{method} on {KINDS[table]} sets, {again:.4f} from the cells, printed {text}; rounding "
                    f"explains this with probability {chances[key]:.1g}"
                )
            if len(column) < len(means):
                rest = means.loc[column.index]
                others = ", ".join(f"{name} {rest[name].mean():.3f}" for name in ("SVM", "LDM"))
                unequal.append(
                    f"the average {text} of {method} in the table of {KINDS[table]} sets is over "
                    f"{len(column)} sets, those of the others over {len(means)}; on the same {len(column)} "
                    f"sets the others have {others}"
                )
    level = LEVEL / (len(chances) if tests is None else tests)
    alarms = false_alarms(lengths, level)
    worst = min(chances.values())
    least = min(fixed.values())
    with_mended = f"; with the corrected averages it is {least:.1g}" if least < level else ""
    told = f"{100 * alarms:.1f} % of {DRAWN} drawn tables of right averages"
    too_many = f"; it is below {level:.1g} in {told}" if alarms > LEVEL else ""
    same = sum(in_order(table) == in_order(table, mended) for table in KINDS)
    return Evidence(
        verdict=decide(worst >= level, least >= level and alarms <= LEVEL),
        measured=f"{equal} of {len(chances)} averages agree to the last digit; the smallest probability that "
        f"rounding explains a difference is {worst:.1g}{with_mended}{too_many}",
        claimed=f"a probability of at least {level:.1g} for each, {LEVEL:g} for all {len(chances)}",
        slack=worst - level,
        why=f"Differences: {'; '.join(off) or 'none'}. Cells and averages are rounded to three digits. The "
        f"{100 * LEVEL:.0f} % for all averages are divided by their number (Bonferroni's correction): an "
        f"average has a probability below that in {told}, all of them half-way between two printed numbers, "
        "which rounding makes doubtful most easily. The "
        "corrected statement, also checked: the average is "
        f"{', '.join(f'{text} for {m} on {KINDS[t]} sets' for (t, m), text in mended.items())}, and the "
        f"others are as printed; the order of the methods by their averages stays in {same} of {len(KINDS)} "
        f"tables. Averages that leave out an empty cell: {'; '.join(unequal) or 'none'}.",
        sizes={"averages": len(chances), "drawn": DRAWN},
        seeds=(SEED,),
    )


def in_order(table: str, mended: Mapping[tuple[str, str], str] = {}) -> list[str]:
    """Return the methods of a table by their printed averages, the highest first, with corrections if any."""
    averages = {
        method: float(mended.get((table, method), text))
        for method, text in summary(table, "average").items()
        if text != "N/A"
    }
    return sorted(averages, key=lambda method: -averages[method])
