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
    """What a reader wants, the numbers, whether they are true of the results, what we would take, and why."""

    when: str
    text: str
    holds: bool
    take: str = ""
    why: str = ""


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
    lost = f"{len(worse)} to be worse ({listed(worse)})" if worse else "none is worse"
    apart = [name for name in found.order if name not in same]
    alike = [name for name in apart if found.pair(name, best).decision == "same"]
    small = (
        f" A significant difference may still be a small one: {listed(alike)} and {best} are practically "
        "the same."
        if alike
        else ""
    )
    return [
        Sentence(
            "The methods do differ",
            f"Friedman's test over {len(found.accuracy)} sets gives χ² = {test['chi2']:.0f} "
            f"(p = {test['p']:.0e}). The best average rank is that of {best}, {order.iloc[0]:.1f} of "
            f"{len(order)}. Ranks {test['difference']:.1f} apart differ significantly by Nemenyi's test, "
            f"which separates {best} from {listed(apart)} only.{small}",
            test["p"] < 0.05 and 1 < len(same) < len(order),
        ),
        Sentence(
            f"No method of the five papers is practically better than the {REFERENCE}",
            f"Practically better means: by more than {ROPE:g} point of accuracy. We call a comparison "
            f"decided when the posterior probability reaches {percent(SURE)}. Of the papers' {len(OURS)} "
            f"methods, {len(equal)} are decided to be the same as the {REFERENCE} ({listed(equal)}), {lost}, "
            f"and {len(open_)} are open ({listed(open_)}).",
            not better,
        ),
        _ropes(found),
    ]


def advice(found: Findings) -> list[Sentence]:
    """Return what we would use when."""
    return [*_first_choice(found), *_costs(found), *_instead_of(found)]


def _first_choice(found: Findings) -> list[Sentence]:
    sets = len(found.accuracy)
    pair = (REFERENCE, "random forest")
    alone = {name: found.near([name]) for name in found.order}
    ridge = found.pair("kernel ridge", REFERENCE)
    return [
        Sentence(
            "Good accuracy, soon",
            f"Kernel ridge and the {REFERENCE} differ by "
            f"{abs(found.lead('kernel ridge', REFERENCE)):.1f} points on average and are practically "
            f"the same with a probability of {percent(ridge.same)}. Tuning takes "
            f"{found.seconds('kernel ridge'):.2f} and {found.seconds(REFERENCE):.2f} seconds.",
            ridge.same > max(ridge.better, ridge.worse)
            and max(found.seconds("kernel ridge"), found.seconds(REFERENCE))
            < min(found.seconds(name) for name in ("LDM", "kFDA-0.5", "CLASMK", "random forest")),
            f"Kernel ridge or the {REFERENCE}, with the Gaussian kernel.",
            f"The same with a probability of {percent(ridge.same)}.",
        ),
        Sentence(
            "The best accuracy, for more computing",
            f"Tune the {REFERENCE} and a random forest. The one that tuning prefers is within {ROPE:g} point "
            f"of the best of all {len(found.order)} methods on {found.near(pair)} of {sets} sets. The "
            f"{REFERENCE} alone is there on {alone[REFERENCE]}, the forest on {alone['random forest']}, no "
            f"method on more than {max(alone.values())}. Choosing among all {len(found.order)} gives "
            f"{found.near(found.order)}.",
            found.near(pair) > max(alone.values()),
            f"{REFERENCE} and random forest; keep the one that cross-validates better.",
            f"Within a point of the best on {found.near(pair)} of {sets} sets; no single method on more than "
            f"{max(alone.values())}.",
        ),
    ]


def _costs(found: Findings) -> list[Sentence]:
    sets = len(found.accuracy)
    sparse = found.pair("kFDA-0.5", REFERENCE)
    linear = ("LDA", "SMM")
    both = sum(found.seconds(name) for name in linear)
    slow = {name: found.seconds(name) / found.seconds(REFERENCE) for name in ("CLASMK", "random forest")}
    missed = found.of("kFDA-0.5", "missed")
    needed = {name: found.of(name, "needed") for name in ("kFDA-0.5", REFERENCE)}
    return [
        Sentence(
            "Cheap predictions, or a small model",
            f"A prediction of sparse kFDA needs {needed['kFDA-0.5']:.1f} % of the training rows, the "
            f"{REFERENCE}'s {needed[REFERENCE]:.0f} % (medians). The price is "
            f"{-found.lead('kFDA-0.5', REFERENCE):.1f} points of accuracy; practically the same with a "
            f"probability of {percent(sparse.same)}. {missed:.1f} % of its fits missed their tolerance; no "
            "other method's did.",
            needed["kFDA-0.5"] < 0.5 * needed[REFERENCE]
            and found.lead("kFDA-0.5", REFERENCE) < 0
            and sparse.decision == "same"
            and missed > 0
            and not found.told["missed"].drop("kFDA-0.5").any(),
            "Sparse kFDA, [`SparseKFDAClassifier(q=0.5)`](#guide-sparsekfdaclassifier).",
            f"It needs {needed['kFDA-0.5']:.0f} % of the training rows, the {REFERENCE} "
            f"{needed[REFERENCE]:.0f} %, at practically the same accuracy.",
        ),
        Sentence(
            "Cheap training",
            f"LDA and SMM, linear machines here, are {-found.lead('LDA', REFERENCE):.0f} and "
            f"{-found.lead('SMM', REFERENCE):.0f} points behind the {REFERENCE} on average. Yet the one that "
            f"tuning prefers is within {ROPE:g} point of the best on {found.near(linear)} of {sets} sets. "
            f"Tuning both takes {both:.2f} seconds, kernel ridge {found.seconds('kernel ridge'):.2f}, and "
            f"that is as near on {found.near(['kernel ridge'])}. What linear machines save on many rows "
            f"was not measured here. Tuning a forest takes {slow['random forest']:.0f} times as long as "
            f"tuning the {REFERENCE}, CLASMK {slow['CLASMK']:.0f} times.",
            all(found.chance(name, "worse") > 0.5 for name in linear)
            and found.near(linear) < min(found.near(["kernel ridge"]), found.near([REFERENCE]))
            and both > max(found.seconds("kernel ridge"), found.seconds(REFERENCE))
            and min(slow.values()) > 2,
            f"At these sizes, kernel ridge or the {REFERENCE}, too.",
            f"Tuning takes {found.seconds('kernel ridge'):.2f} and {found.seconds(REFERENCE):.2f} "
            f"seconds. LDA takes {found.seconds('LDA'):.2f} and is {-found.lead('LDA', REFERENCE):.0f} "
            "points behind.",
        ),
    ]


def _instead_of(found: Findings) -> list[Sentence]:
    learned = found.pair("CLASMK", "CLASMK equal")
    drm, ldm = found.pair("DRM", "kernel ridge"), found.pair("LDM", REFERENCE)
    g_order = ranks(found.g_mean)
    first, second = str(g_order.index[0]), str(g_order.index[1])
    alike = not_told_apart(found.g_mean, first)
    apart = [name for name in g_order.index if name not in alike]
    return [
        Sentence(
            "Classes of different size",
            f"By G-mean the {first} has the best average rank, {g_order.iloc[0]:.1f}, then {second}, "
            f"{g_order.iloc[1]:.1f}; Nemenyi's test separates the {first} from {listed(apart)} only. Its "
            f"mean G-mean is {found.of(first, 'g_mean'):.1f} %, the {REFERENCE}'s "
            f"{found.of(REFERENCE, 'g_mean'):.1f} %. All were tuned for accuracy.",
            first == "DRM" and REFERENCE in alike,
            "Any good kernel machine, tuned for the measure that you want.",
            f"{first} and {second} lead by G-mean, with ranks of {g_order.iloc[0]:.1f} and "
            f"{g_order.iloc[1]:.1f}. [Fifteen imbalanced sets](#drm-fig-4) tell more.",
        ),
        Sentence(
            "DRM or LDM",
            f"DRM and kernel ridge are practically the same with a probability of {percent(drm.same)}, LDM "
            f"and {REFERENCE} with {percent(ldm.same)}.",
            drm.decision == ldm.decision == "same",
            f"Kernel ridge or the {REFERENCE}, unless you need what only the [DRM](drm.md) or the "
            "[LDM](ldm.md) has.",
            f"Practically the same, each with a probability of {percent(min(drm.same, ldm.same))}.",
        ),
        Sentence(
            "A kernel for each class",
            f"Learning the weights makes practically no difference (probability {percent(learned.same)}); "
            f"the mean accuracy {_moves(found.lead('CLASMK', 'CLASMK equal'))}.",
            learned.better < 0.5 and learned.decision == "same",
            "CLASMK with equal weights.",
            f"With learned weights the mean accuracy {_moves(found.lead('CLASMK', 'CLASMK equal'))}.",
        ),
    ]


def _moves(points: float) -> str:
    """Say which way a mean goes.

    >>> _moves(-0.31), _moves(0.04)
    ('falls by 0.3 points', 'stays the same')
    """
    if round(points, 1) == 0:
        return "stays the same"
    return f"{'rises' if points > 0 else 'falls'} by {abs(points):.1f} points"


def _ropes(found: Findings) -> Sentence:
    counts = {rope: [len(found.decided(how, rope)) or "none" for how in ("same", "worse")] for rope in ROPES}
    (first, (same, worse)), *others = counts.items()
    told = [
        f"with {rope:g}{' point' if rope == 1 else ''}, {equal} and {behind}"
        for rope, (equal, behind) in others
    ]
    return Sentence(
        "Another threshold does not make a winner",
        f"None of the papers' {len(OURS)} methods beats the {REFERENCE}. With {first:g} points as the "
        f"threshold, {same} are the same as the {REFERENCE} and {worse} worse; {'; '.join(told)}. The others "
        "are open.",
        not any(found.decided("better", rope) for rope in ROPES),
    )
