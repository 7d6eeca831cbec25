"""The page says what the stored results say: numbers are recomputed here in another way."""

import re

import numpy as np
import pandas as pd
import pytest

from marginbook.base.project import resource
from marginbook.book import which_page
from marginbook.book.which_page import answers, overview, sentences
from marginbook.experiments import load_protocol
from marginbook.study.claims import findings as told_first
from marginbook.study.claims.advice import OURS, Findings, Sentence, advice, headline, listed, percent
from marginbook.study.claims.rankings import complete, not_told_apart, ranks, results
from marginbook.study.experiments.sets import sizes


@pytest.fixture(scope="module")
def rows():
    found = results()
    assert found is not None
    return found


@pytest.fixture(scope="module")
def found(rows):
    return Findings(rows)


@pytest.fixture(scope="module")
def told(found):
    return {one.when: one for one in [*headline(found), *advice(found)]}


@pytest.fixture(scope="module")
def table():
    """Read the file anew, without the package: sets by methods, and its rows."""
    raw = pd.read_csv(resource("results", "study", "accuracy.csv"))
    return raw.groupby(["dataset", "method"])["accuracy"].mean().unstack(), raw


def numbers(text):
    return [float(one.replace("−", "-")) for one in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", text)]


def sentence(told, beginning):
    (one,) = [one for when, one in told.items() if when.startswith(beginning)]
    return one


def test_every_entry_is_stored_with_its_49_fits(rows):
    assert complete(rows)
    assert (rows["n_fits"] == 49).all()
    assert not rows[["accuracy", "g_mean"]].isna().any().any()
    assert not rows["failed_fits"][~rows["method"].str.startswith("CLASMK")].any()
    for _, one in rows.groupby(["dataset", "split"]):
        assert one[["n_train", "n_test", "n_features"]].nunique().eq(1).all()
    assert (rows["n_train"] <= sizes(10**6)[0]).all()


def test_every_sentence_holds_and_there_is_one_for_each_question(told):
    assert all(one.holds for one in told.values())
    assert len(told) >= 9


def test_the_best_rank_on_the_page_is_that_of_the_file(told, table):
    ranks = table[0].rank(axis=1, ascending=False).mean().sort_values()
    text = sentence(told, "The methods do differ").text
    assert f"that of {ranks.index[0]}, {ranks.iloc[0]:.1f} of 11" in text
    assert f"over {len(table[0])} sets" in text


def test_no_paper_method_beats_the_svm_in_the_file_either(told, table):
    accuracy = table[0]
    text = sentence(told, "No method of the five papers").text
    assert numbers(text)[2] == len(OURS) == 7
    # a method decided to be better by more than a point would at least have a mean lead of that size
    assert all((accuracy[name] - accuracy["SVM"]).mean() < 1 for name in OURS)


def test_leads_and_medians_are_those_of_the_file(told, table):
    accuracy, raw = table
    text = sentence(told, "Good accuracy, soon").text
    assert numbers(text)[0] == round(abs((accuracy["kernel ridge"] - accuracy["SVM"]).mean()), 1)
    sparse = numbers(sentence(told, "Cheap predictions").text)
    needed = raw.groupby(["dataset", "method"])["needed"].mean().unstack().median()
    assert sparse[0] == round(needed["kFDA-0.5"], 1)
    assert sparse[1] == round(needed["SVM"])
    assert sparse[2] == round((accuracy["SVM"] - accuracy["kFDA-0.5"]).mean(), 1)
    lost = numbers(sentence(told, "Cheap training").text)
    assert lost[:2] == [round((accuracy["SVM"] - accuracy[name]).mean()) for name in ("LDA", "SMM")]


def test_counts_of_near_sets_by_a_plain_loop(told, table):
    accuracy, raw = table
    pair, names = ("SVM", "random forest"), list(accuracy.columns)
    count = 0
    for name, one in raw.groupby("dataset"):
        reached = []
        for _, split in one.groupby("split"):
            of = split.set_index("method")
            first = of.loc[pair[0], "inner_accuracy"] >= of.loc[pair[1], "inner_accuracy"]
            reached.append(of.loc[pair[0] if first else pair[1], "accuracy"])
        count += accuracy.loc[name].max() - np.mean(reached) < 1
    text = sentence(told, "The best accuracy").text
    alone = {name: int((accuracy.max(axis=1) - accuracy[name] < 1).sum()) for name in names}
    found = numbers(text)
    assert found[2] == count
    assert found[4] == alone["SVM"]
    assert found[5] == alone["random forest"]
    assert found[6] == max(alone.values())


def test_the_table_has_the_means_of_the_file(found, table):
    text = overview(found)
    for name, mean in table[0].mean().items():
        assert re.search(rf"\* - {re.escape(name)}\n  - [\d.]+\n  - {mean:.1f}\n", text)


def test_probabilities_on_the_page_add_up(found):
    for versus in found.against.values():
        np.testing.assert_allclose(versus[["worse", "same", "better"]].sum(axis=1), 1)
        assert len(versus) == 10


@pytest.mark.parametrize("written", [sentences, answers])
def test_a_sentence_that_does_not_hold_stops_the_build(written):
    with pytest.raises(ValueError, match="'The moon is cheese' is not true of the stored results any more"):
        written([Sentence("Fine", "yes", True), Sentence("The moon is cheese", "yes", False)])


def test_every_answer_names_what_to_take(found):
    told = advice(found)
    assert all(one.take.endswith(".") for one in told)
    assert all(f"**{one.take}**" in answers(told) for one in told)


def test_findings_have_the_numbers_of_the_file(table):
    accuracy, raw = table
    none, twins, rows_, _, without = told_first.findings()
    assert "under 1 % for each of the papers' seven methods" in none.text
    assert all((accuracy[name] - accuracy["SVM"]).median() < 1 for name in OURS)
    lost = [-(accuracy[name] - accuracy[plain]).mean() for name, plain, _ in told_first.INGREDIENTS]
    assert f"falls by {min(lost):.1f} to {max(lost):.1f} points" in twins.text
    needed = raw.groupby(["dataset", "method"])["needed"].mean().unstack().median()
    assert f"needs {needed['kFDA-0.5']:.0f} % of the training rows" in rows_.text
    ring = accuracy.loc["ringnorm", ["DRM", "LDM", "kernel ridge"]]
    assert f"reach {ring.min():.1f} to {ring.max():.1f} %" in without.text


def test_other_results_refuse_the_findings(rows, monkeypatch):
    names = load_protocol("study/accuracy").methods
    turned = dict(zip(names, [*names[5:], *names[:5]], strict=True))
    other = Findings(rows.assign(method=rows["method"].map(turned)))
    monkeypatch.setattr(told_first, "stored", lambda: other)
    assert not any(one.holds for one in (told_first.none_better(), told_first.few_rows()))
    assert not told_first.intercept().holds


def test_results_of_another_kind_make_the_sentences_false(rows):
    # all methods exchange their names in a circle: nearly everything said of one is then said of another
    names = load_protocol("study/accuracy").methods
    turned = dict(zip(names, [*names[5:], *names[:5]], strict=True))
    other = Findings(rows.assign(method=rows["method"].map(turned)))
    assert not all(one.holds for one in [*headline(other), *advice(other)])


def test_without_complete_results_the_page_says_so(tmp_path, monkeypatch, rows):
    for known in (None, rows.iloc[:100]):
        monkeypatch.setattr(which_page, "results", lambda known=known: known)
        which_page.write(tmp_path)
        for name in ("answers", "table"):
            assert "not stored" in (tmp_path / f"which-{name}.md").read_text()


def test_the_quiz_says_what_the_results_say(found, table):
    """The page's own sentences, which nobody fills in."""
    text = re.sub(r"\s+", " ", resource("book", "which.md").read_text("utf-8"))
    assert "CLASMK is not decided to be worse than the SVM." in text
    assert "It is hardly ever better by a point" in text
    assert "CLASMK" in found.decided("open")
    assert ((table[0]["CLASMK"] - table[0]["SVM"]) > 1).mean() < 0.1
    assert "The DRM has the best average rank by G-mean." in text
    assert "Kernel ridge and the LDM follow so closely that Nemenyi's test cannot separate the three." in text
    first, second, third = ranks(found.g_mean).index[:3]
    assert (first, {second, third}) == ("DRM", {"kernel ridge", "LDM"})
    assert {second, third} <= set(not_told_apart(found.g_mean, first))


def test_no_number_of_the_page_has_a_hyphen_for_a_minus(tmp_path):
    which_page.write(tmp_path)
    texts = [path.read_text("utf-8") for path in tmp_path.iterdir()]
    texts += [one.text + one.caption for one in told_first.findings()]
    words = [re.sub(r"\$[^$]*\$|`[^`]*`", "", text) for text in texts]
    assert [found for text in words for found in re.findall(r"(?<![\w-])-\d[\d.]*", text)] == []


def test_words_for_shares_and_lists():
    assert [percent(share) for share in (0.0099, 0.01, 0.5, 0.99, 0.991)] == [
        "under 1 %", "1 %", "50 %", "99 %", "over 99 %",
    ]  # fmt: skip
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
