"""What the comparison tells first; its numbers come from the stored results.

There are no claims of papers here, so each finding carries its condition on the results itself.
"""

from __future__ import annotations

from ...claims.findings import Finding
from . import finding_pictures as pictures
from .advice import OURS, REFERENCE, listed, percent
from .finding_numbers import INGREDIENTS, WITH, WITHOUT, stored
from .posteriors import ROPE, ROPES

#: methods as a reader of the chapters knows them; tables have the short names
NAMED = {
    "kFDA-0.5": "sparse kFDA (*kFDA-0.5* in the tables)",
    "kFDA": "kFDA with a ridge (*kFDA*)",
    "CLASMK equal": "CLASMK with equal weights",
}


def findings() -> list[Finding]:
    """Return the findings, the most interesting first."""
    return [none_better(), ingredients(), few_rows(), two_methods(), intercept()]


def none_better() -> Finding:
    """Return how the papers' methods stand against the support vector machine."""
    found = stored()
    sets = len(found.accuracy)
    equal, open_ = found.decided("same"), found.decided("open")
    best = max(OURS, key=lambda name: found.chance(name, "better"))
    least, _, most = (f"{rope:g}" for rope in ROPES)
    chances = listed(f"{name} {percent(found.chance(name, 'worse'))}" for name in open_)
    return Finding(
        f"None of the papers' methods is practically better than an {REFERENCE} on {said(sets)} data sets",
        f"Every method had the same training rows and the same {said(49)} fits. A difference counts if it is "
        f"larger than one point of accuracy. That a lead of more than a point over the {REFERENCE} is the "
        f"most likely outcome on a data set has a posterior probability of "
        f"{percent(found.chance(best, 'better'))} for each of the papers' {said(len(OURS))} methods. "
        f"{listed(NAMED.get(name, name) for name in equal)} are practically the same as the {REFERENCE}, "
        "each with a probability of at least "
        f"{percent(min(found.chance(name, 'same') for name in equal))}. Two remain undecided, CLASMK with "
        f"learned weights and the SMM: the probabilities that they are worse are {chances}. With {least} "
        f"or {most} points as the threshold, too, no method is better.",
        {},
        "study/01_one_bench#study-posteriors",
        pictures.against_reference,
        f"Seven rows of {sets} dots, one row a method of the papers and one dot a data set: accuracy minus "
        f"that of the {REFERENCE}. A band marks one point to both sides of zero. The means of five rows lie "
        "in it; those of CLASMK and SMM lie at its edge or left of it.",
        f"One dot is a data set: accuracy minus the {REFERENCE}'s, in points. In the grey band a difference "
        "is negligible. Bars are means; the right column is the posterior probability that this is "
        "practically better as a rule. "
        "Dots at the left edge lie further out.",
        holds=ROPE == 1
        and not any(found.decided("better", rope) for rope in ROPES)
        and len(equal) == 5
        and open_ == ["CLASMK", "SMM"]
        and found.chance(best, "better") < 0.01
        and all(found.chance(name, "worse") > 0.25 for name in open_),
        home=f"On {said(sets)} data sets, with equal effort in tuning, none of the papers' methods is "
        f"practically better than a support vector machine: the posterior probability that a lead above one "
        f"point is the most likely outcome is {percent(found.chance(best, 'better'))} for each.",
    )


def ingredients() -> Finding:
    """Return what each paper's own ingredient is worth, against the same method without it."""
    found = stored()
    same = [found.pair(name, plain).same for name, plain, _ in INGREDIENTS]
    leads = [found.lead(name, plain) for name, plain, _ in INGREDIENTS]
    parts = [f"{what} ({name})" for name, _, what in INGREDIENTS]
    return Finding(
        f"What {said(len(INGREDIENTS))} of the papers add changes accuracy by less than a point",
        f"We compare {said(len(INGREDIENTS))} methods with a twin that lacks the paper's own ingredient: "
        f"{listed(parts)}. Each is practically the same as its twin, with a probability of "
        f"{percent(min(same))}. With the ingredient, the mean accuracy falls by {-max(leads):.1f} to "
        f"{-min(leads):.1f} points. (The SVM also has the "
        "intercept that the LDM lacks.) This is about accuracy only. Sparsity, one pass over the data or a "
        "leave-one-out bound may be worth having at equal accuracy.",
        {},
        "study/01_one_bench#study-posteriors",
        pictures.without_ingredient,
        "Four rows of dots, one row a pair of methods and one dot a data set: accuracy with the ingredient "
        "minus accuracy without. All four means lie slightly left of zero, inside the band of one point.",
        "One dot is a data set: accuracy with the paper's ingredient minus accuracy without it. All means "
        "(bars) lie within one point of zero (grey band).",
        holds=min(same) > 0.99 and min(leads) > -1 and max(leads) < 0,
    )


def few_rows() -> Finding:
    """Return what sparse kFDA saves."""
    found = stored()
    needed = {name: found.of(name, "needed") for name in ("kFDA-0.5", REFERENCE)}
    pair = found.pair("kFDA-0.5", REFERENCE)
    return Finding(
        f"Sparse kFDA predicts from about a quarter of the rows that the {REFERENCE} needs",
        f"In the median a prediction of kFDA with $q=\\frac12$ needs {needed['kFDA-0.5']:.0f} % of the "
        f"training rows, where the {REFERENCE} needs {needed[REFERENCE]:.0f} %. The two are practically the "
        f"same in accuracy with a probability of {percent(pair.same)}; the mean difference is "
        f"{-found.lead('kFDA-0.5', REFERENCE):.1f} points. ([Its chapter](kfda.md) compares them "
        "on the paper's own sets, by its protocol.) Its penalty has many local minima, and "
        f"{found.of('kFDA-0.5', 'missed'):.1f} % of its fits warned that they had missed their tolerance.",
        {},
        "study/01_one_bench#study-costs",
        pictures.rows_and_accuracy,
        f"Left, one dot per data set: rows that sparse kFDA needs against those of the {REFERENCE}; most "
        "dots lie far below the diagonal, a few on or above it. Right, a histogram of the differences in "
        "accuracy: most within one point of zero.",
        "One dot is a data set. Left: below the diagonal kFDA needs fewer training rows than the "
        f"{REFERENCE}. Right: the accuracies differ by less than one point (grey band) on most sets.",
        holds=0.15 < needed["kFDA-0.5"] / needed[REFERENCE] < 0.35 and pair.decision == "same",
    )


def two_methods() -> Finding:
    """Return what choosing among several methods by cross-validation is worth."""
    found = stored()
    sets = len(found.accuracy)
    pair = [REFERENCE, "random forest"]
    most = max(found.near([name]) for name in found.order)
    leaders = [name for name in found.order if found.near([name]) == most]
    return Finding(
        "Two unlike methods are worth more than the best single one",
        f"No single method is within one point of the best on more than {most} of {sets} sets "
        f"({listed(leaders)}). Tune an {REFERENCE} and a random forest, keep the one with the better "
        f"cross-validated accuracy, and it is on {found.near(pair)}. Choosing among all "
        f"{said(len(found.order))} in the same way gives {found.near(found.order)}, for "
        f"{said(len(found.order))} times as many fits.",
        {},
        "study/01_one_bench#study-summary",
        pictures.near_the_best,
        f"Horizontal bars: sets out of {sets} on which a choice is within one point of the best of eleven "
        f"methods. The random forest alone has the shortest bar, then {REFERENCE} and kernel ridge; choosing "
        "between two is longer, choosing among all the longest.",
        f"On how many of {sets} sets a choice is within one point of the best of all. Above: one method "
        "always. Below: the one that cross-validates best.",
        holds=found.near(pair) > most and found.near(found.order) > found.near(pair),
    )


def intercept() -> Finding:
    """Return what an intercept is worth where one class lies around the other."""
    table = stored().accuracy
    without, with_one = (
        table.loc["ringnorm", list(names)].to_numpy(dtype=float) for names in (WITHOUT, WITH)
    )
    lost = with_one[0] - without  # the first is the reference
    return Finding(
        "Where one class surrounds the other, a missing intercept costs "
        f"{lost.min():.0f} to {lost.max():.0f} points",
        "As printed, DRM and LDM have no intercept; kernel ridge usually has none either. On ringnorm, "
        f"where one class lies around the other, these three reach {without.min():.1f} to "
        f"{without.max():.1f} %, and the machines with an intercept {with_one.min():.1f} to "
        f"{with_one.max():.1f} %. `LDMClassifier(fit_intercept=True)` adds it, and kernel ridge with an "
        "intercept is [`LSSVMClassifier`](#guide-lssvmclassifier).",
        {},
        "study/01_one_bench#study-intercept",
        pictures.ringnorm,
        "Accuracies on ringnorm, ten splits each, as dots: SVM, kFDA and CLASMK, which have an intercept, "
        "lie between 96 and 99 per cent; kernel ridge, LDM and DRM, which have none, between 90 and 97.",
        "Accuracy on ringnorm, one dot a split, bars are means. Blue: with an intercept. Orange: without.",
        holds=bool(without.max() < with_one.min() - 1 and lost.min() > 2),
    )


def said(number: int) -> str:
    """Return a number as one writes it in a sentence.

    >>> said(30), said(7), said(31)
    ('thirty', 'seven', '31')
    """
    words = {4: "four", 7: "seven", 11: "eleven", 30: "thirty"}
    return words.get(number, str(number))
