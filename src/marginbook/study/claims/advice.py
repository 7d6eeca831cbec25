"""What we would use when: sentences whose numbers are computed from the stored results.

A sentence carries the condition under which it is true. If new results make one false, the page refuses to
be built until somebody has written it anew; no wording outlives its numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..experiments.methods import METHODS
from .posteriors import ROPE, ROPES, SURE, Posterior, against, posterior
from .rankings import by_set, not_told_apart, ranks, summary, verdict

if TYPE_CHECKING:
    import pandas as pd

#: the method that all are held against
REFERENCE = "SVM"
OURS = tuple(name for name, method in METHODS.items() if method.paper)


@dataclass(frozen=True)
class Sentence:
    """A heading, a text in MyST, and whether the text is true of the results."""

    when: str
    text: str
    holds: bool


class Findings:
    """What the page says of rows as of :func:`marginbook.study.claims.rankings.results`, computed once."""

    def __init__(self, rows: pd.DataFrame) -> None:
        self.rows = rows
        self.accuracy, self.g_mean = by_set(rows), by_set(rows, "g_mean")
        self.told = summary(rows)
        self.order = [str(name) for name in self.told.index]
        self.against = {rope: against(self.accuracy, REFERENCE, rope) for rope in ROPES}

    def pair(self, first: str, second: str) -> Posterior:
        """Return the posterior of two methods' accuracies at the usual rope."""
        return posterior(self.accuracy[first], self.accuracy[second])

    def lead(self, first: str, second: str) -> float:
        """Return by how many points of mean accuracy the first is ahead."""
        return float((self.accuracy[first] - self.accuracy[second]).mean())

    def of(self, name: str, column: str) -> float:
        """Return a number of a method from :func:`marginbook.study.claims.rankings.summary`."""
        return float(self.told[column][name])

    def chance(self, name: str, how: str) -> float:
        """Return the probability that a method is "worse" than the reference, the "same" or "better"."""
        return float(self.against[ROPE][how][name])

    def seconds(self, name: str) -> float:
        """Return median processor seconds of tuning and the refit."""
        return self.of(name, "tune") + self.of(name, "fit")

    def picked(self, names: Iterable[str]) -> pd.Series:
        """Return accuracy by set where each split takes the one of `names` that is best in tuning.

        Of equals the first of `names`.
        """
        names = list(names)
        wide = self.rows.pivot(
            index=["dataset", "split"], columns="method", values=["accuracy", "inner_accuracy"]
        )
        best = wide["inner_accuracy"][names].to_numpy().argmax(axis=1)
        reached = wide["accuracy"][names].to_numpy()[range(len(best)), best]
        import pandas as pd

        found = pd.Series(reached, index=wide.index).groupby("dataset").mean()
        return found.loc[self.accuracy.index]

    def near(self, names: Iterable[str]) -> int:
        """Return on how many sets `picked` is less than the rope from the best method of the set."""
        return int((self.accuracy.max(axis=1) - self.picked(names) < ROPE).sum())

    def decided(self, decision: str, rope: float = ROPE) -> list[str]:
        """Return the papers' methods with that decision against the reference."""
        found = self.against[rope]["decision"]
        return [name for name in OURS if found[name] == decision]


def percent(share: float) -> str:
    """Return a probability in words that do not round it to certainty.

    >>> percent(0.914), percent(0.9999), percent(0.0)
    ('91 %', 'over 99 %', 'under 1 %')
    """
    if share > 0.99:
        return "over 99 %"
    return "under 1 %" if share < 0.01 else f"{100 * share:.0f} %"


def listed(names: Iterable[str]) -> str:
    """Return names as in a sentence.

    >>> listed(["SVM", "LDA", "DRM"]), listed([])
    ('SVM, LDA and DRM', 'none')
    """
    *first, last = list(names) or ["none"]
    return f"{', '.join(first)} and {last}" if first else last


def headline(found: Findings) -> list[Sentence]:
    """Return what the tests say of all methods together."""
    test, order = verdict(found.accuracy), ranks(found.accuracy)
    best = str(order.index[0])
    same = not_told_apart(found.accuracy, best)
    better, equal = found.decided("better"), found.decided("same")
    worse, open_ = found.decided("worse"), found.decided("open")
    apart = [name for name in found.order if name not in same]
    alike = [name for name in apart if found.pair(name, best).decision == "same"]
    small = (
        f" Told apart is not far apart: {listed(alike)} and {best} are practically the same." if alike else ""
    )
    return [
        Sentence(
            "The methods are not alike",
            f"Friedman's test over {len(found.accuracy)} sets gives χ² = {test['chi2']:.0f} "
            f"(p = {test['p']:.0e}). The best average rank is that of {best}, {order.iloc[0]:.1f} of "
            f"{len(order)}; two ranks must be {test['difference']:.1f} apart for Nemenyi's test, which tells "
            f"{best} from {listed(apart)} only.{small}",
            test["p"] < 0.05 and 1 < len(same) < len(order),
        ),
        Sentence(
            f"No method of the five papers is practically better than the {REFERENCE}",
            f"Practically better is by more than {ROPE:g} point of accuracy, and decided is a posterior "
            f"probability of {percent(SURE)}. Of the {len(OURS)} columns from the papers {len(equal)} are "
            f"decided to be the same as the {REFERENCE} ({listed(equal)}), {len(worse)} worse "
            f"({listed(worse)}), {len(open_)} are open ({listed(open_)}).",
            not better,
        ),
    ]


def advice(found: Findings) -> list[Sentence]:
    """Return what we would use when."""
    return [*_first_choice(found), *_costs(found), *_instead_of(found), _ropes(found)]


def _first_choice(found: Findings) -> list[Sentence]:
    sets = len(found.accuracy)
    pair = (REFERENCE, "random forest")
    alone = {name: found.near([name]) for name in found.order}
    most = max(alone, key=lambda name: alone[name])
    ridge = found.pair("kernel ridge", REFERENCE)
    g_order = ranks(found.g_mean)
    first = str(g_order.index[0])
    alike = not_told_apart(found.g_mean, first)[1:]
    return [
        Sentence(
            "One method, and no time to think",
            f"Kernel ridge or the {REFERENCE}, with the Gaussian kernel. They differ by "
            f"{abs(found.lead('kernel ridge', REFERENCE)):.1f} points on average, and are practically the "
            f"same with a probability of {percent(ridge.same)}; tuning takes "
            f"{found.seconds('kernel ridge'):.2f} and {found.seconds(REFERENCE):.2f} seconds.",
            ridge.same > max(ridge.better, ridge.worse)
            and max(found.seconds("kernel ridge"), found.seconds(REFERENCE))
            < min(found.seconds(name) for name in ("LDM", "kFDA-0.5", "CLASMK", "random forest")),
        ),
        Sentence(
            "Two methods, and for each problem the better one in cross-validation",
            f"{listed(pair)}. What tuning prefers of the two is less than {ROPE:g} point from the best of "
            f"all {len(found.order)} methods on {found.near(pair)} of {sets} sets; {REFERENCE} alone is on "
            f"{alone[REFERENCE]}, the forest on {alone['random forest']}, no single method on more "
            f"than {alone[most]} ({most}). Choosing among all {len(found.order)}, with as many times the "
            f"fits, gives {found.near(found.order)}.",
            found.near(pair) > max(alone[name] for name in pair),
        ),
        Sentence(
            "Classes of different size",
            f"The DRM, whose paper is about imbalanced data too, has the best average rank by G-mean, "
            f"{g_order.iloc[0]:.1f}; but {g_order.index[1]} follows with {g_order.iloc[1]:.1f}, and "
            f"Nemenyi's test does not tell the DRM from {listed(alike)}. Its mean G-mean is "
            f"{found.of('DRM', 'g_mean'):.1f} %, that of the {REFERENCE} {found.of(REFERENCE, 'g_mean'):.1f} "
            f"%. All were tuned for accuracy.",
            first == "DRM" and REFERENCE in alike,
        ),
    ]


def _costs(found: Findings) -> list[Sentence]:
    sets = len(found.accuracy)
    sparse = found.pair("kFDA-0.5", REFERENCE)
    linear = ("LDA", "SMM")
    slow = {name: found.seconds(name) / found.seconds(REFERENCE) for name in ("CLASMK", "random forest")}
    missed = found.of("kFDA-0.5", "missed")
    others_missed = float(found.told["missed"].drop("kFDA-0.5").max())
    needed = {name: found.of(name, "needed") for name in ("kFDA-0.5", REFERENCE)}
    return [
        Sentence(
            "Predictions must be cheap, or explained by examples",
            f"kFDA with q = 1/2: in the median a prediction needs {needed['kFDA-0.5']:.1f} % of the training "
            f"rows, where the {REFERENCE} needs {needed[REFERENCE]:.0f} %. It costs "
            f"{-found.lead('kFDA-0.5', REFERENCE):.1f} points of accuracy on average; practically the same "
            f"with a probability of {percent(sparse.same)}, worse with {percent(sparse.worse)}. "
            f"{missed:.1f} % of its fits missed their tolerance, of the other methods' at most "
            f"{others_missed:.1f} %.",
            needed["kFDA-0.5"] < 0.5 * needed[REFERENCE]
            and found.lead("kFDA-0.5", REFERENCE) < 0
            and missed > others_missed,
        ),
        Sentence(
            "Training must be cheap",
            f"Try a linear machine first: {listed(linear)} are {-found.lead('LDA', REFERENCE):.0f} and "
            f"{-found.lead('SMM', REFERENCE):.0f} points behind the {REFERENCE} on average, but on "
            f"{found.near(linear)} of {sets} sets what tuning prefers of the two is less than {ROPE:g} point "
            f"from the best of all. At the other end, tuning a forest takes {slow['random forest']:.0f} "
            f"times as long as tuning the {REFERENCE}, and CLASMK {slow['CLASMK']:.0f} times.",
            all(found.chance(name, "worse") > 0.5 for name in linear)
            and found.near(linear) >= 3
            and min(slow.values()) > 2,
        ),
    ]


def _instead_of(found: Findings) -> list[Sentence]:
    learned = found.pair("CLASMK", "CLASMK equal")
    drm, ldm = found.pair("DRM", "kernel ridge"), found.pair("LDM", REFERENCE)
    return [
        Sentence(
            "One kernel per class, CLASMK",
            f"Leave its weights equal: learning them is practically the same with a probability of "
            f"{percent(learned.same)} and better with {percent(learned.better)}; the mean accuracy changes "
            f"by {found.lead('CLASMK', 'CLASMK equal'):+.1f} points.",
            learned.better < 0.5,
        ),
        Sentence(
            "DRM or kernel ridge, LDM or SVM",
            f"The simpler one, unless the paper's own question is yours. The DRM is practically the same as "
            f"kernel ridge with a probability of {percent(drm.same)}, better with {percent(drm.better)}; the "
            f"LDM the same as the {REFERENCE} with {percent(ldm.same)}, better with {percent(ldm.better)}.",
            max(drm.better, ldm.better) < 0.5,
        ),
    ]


def _ropes(found: Findings) -> Sentence:
    widths = listed(f"{rope:g}" for rope in ROPES)
    same, worse = (listed(str(len(found.decided(how, rope))) for rope in ROPES) for how in ("same", "worse"))
    return Sentence(
        "If another width counts as the same",
        f"At ropes of {widths} points none of the papers' {len(OURS)} columns is decided to be better than "
        f"the {REFERENCE}; {same} are decided to be the same, {worse} to be worse.",
        not any(found.decided("better", rope) for rope in ROPES),
    )
