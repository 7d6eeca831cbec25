"""C4.5 by Weka: its splits and its pruning by hand, Weka's own command, threads, workers, Ctrl-C."""

from __future__ import annotations

import os
import pickle
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine, make_classification
from sklearn.metrics import accuracy_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginbook.base import weka
from marginbook.base.weka import WekaMissing, java_class
from marginbook.drm.peers import select
from marginbook.drm.peers.j48 import J48Classifier

from .weka import needs_weka

pytestmark = needs_weka


@parametrize_with_checks([J48Classifier(), J48Classifier(0.1, pruned=False)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def entropy(*counts):
    shares = np.array([c for c in counts if c], dtype=float) / sum(counts)
    return float(-(shares * np.log2(shares)).sum())


def root_split(X, y, least):
    """The formulas of the docstring, in loops; None where nothing is gained."""
    n, g = len(y), len(np.unique(y))
    side = max(least, min(25, n / (10 * g)))
    best = []
    for j, x in enumerate(X.T):
        values = np.unique(x)
        gains = []
        for low in values[:-1]:
            left, right = y[x <= low], y[x > low]
            if min(len(left), len(right)) >= side:
                after = sum(len(part) / n * entropy(*np.bincount(part)) for part in (left, right))
                gains.append((entropy(*np.bincount(y)) - after, low, len(left)))
        if gains:
            gain, low, size = max(gains, key=lambda each: round(each[0], 9))
            gain -= np.log2(len(gains)) / n
            if gain > 1e-6:
                best.append((j, low, gain, gain / entropy(size, n - size)))
    if not best:
        return None, None
    average = np.mean([gain for *_, gain, _ in best])
    by_ratio = max((b for b in best if b[2] >= average - 1e-3), key=lambda b: round(b[3], 9))
    return by_ratio[:2], max(best, key=lambda b: b[2])[:2]


def test_the_root_has_the_largest_gain_ratio():
    rng = np.random.default_rng(0)
    compared, other_than_gain = 0, 0
    for _ in range(60):
        n, g = int(rng.integers(12, 60)), int(rng.integers(2, 5))
        y = rng.integers(0, g, n)
        X = np.round(4 * (rng.normal(size=(n, 4)) + y[:, None] * [0.0, 0.4, 0.8, 0.6])) / 4
        expected, by_gain = root_split(X, y, 2)
        found = re.search(r"^x(\d+) <= ([-.\d]+)", J48Classifier(pruned=False).fit(X, y).text_, re.M)
        if found is None:  # nothing gained, or the tree errs as often as a leaf
            continue
        assert (int(found[1]), float(found[2])) == expected
        compared += 1
        other_than_gain += expected != by_gain
    assert compared > 40
    assert other_than_gain > 3


def test_a_split_by_hand():
    """Of 4 thresholds that leave 2 rows on a side, one parts the classes: 1 bit less log2(3)/6 of a bit."""
    X, y = np.array([[1.0], [2], [3], [5], [6], [7]]), np.array(["b", "b", "b", "a", "a", "a"])
    model = J48Classifier().fit(X, y)
    assert re.findall(r"^x.*", model.text_, re.M) == ["x0 <= 3: 1 (3.0)", "x0 > 3: 0 (3.0)"]
    assert model.predict([[3.9], [3.0], [-9], [99]]).tolist() == ["a", "b", "b", "a"]  # 3 is in the data
    assert J48Classifier(4).fit(X, y).n_leaves_ == 1


def test_pruning_is_the_example_of_the_book():
    """Quinlan (1993), 4.2: leaves of 6, 9 and 1 pure rows expect 3.273 errors, one leaf of 16 only 2.512."""
    X = np.repeat([0.0, 1.0, 2.0], [6, 1, 9])[:, None]
    y = (X[:, 0] == 1).astype(int)
    assert J48Classifier(1, pruned=False).fit(X, y).n_leaves_ == 3
    pruned = J48Classifier(1).fit(X, y)
    assert pruned.n_leaves_ == 1
    assert ": 0 (16.0/1.0)\n" in pruned.text_


def test_less_confidence_prunes_more():
    X, y = load_digits(return_X_y=True)
    X, y = X[::4], np.where(np.arange(len(X[::4])) % 5 == 0, np.roll(y[::4], 1), y[::4])  # a fifth is noise
    leaves = [J48Classifier(confidence=c).fit(X, y).n_leaves_ for c in (0.001, 0.05, 0.25, 0.5)]
    assert leaves == sorted(leaves)
    assert leaves[0] < leaves[-1] < J48Classifier(pruned=False).fit(X, y).n_leaves_


@pytest.mark.parametrize(
    ("load", "least", "confidence"),
    [(load_iris, 2, 0.25), (load_wine, 5, 0.1), (load_digits, 3, 0.25)],
)
def test_equal_to_wekas_command(load, least, confidence, tmp_path):
    X, y = load(return_X_y=True)
    X = X[::2] if load is load_digits else X
    y = y[::2] if load is load_digits else y
    rows = np.random.default_rng(0).permutation(len(y))
    train, test = np.split(rows, [2 * len(y) // 3])
    for name, part in (("train", train), ("test", test)):
        lines = ["@relation rows", *(f"@attribute x{j} numeric" for j in range(X.shape[1]))]
        lines += [f"@attribute class {{{','.join(map(str, np.unique(y)))}}}", "@data"]
        lines += [",".join([*(repr(float(v)) for v in X[i]), str(y[i])]) for i in part]
        (tmp_path / f"{name}.arff").write_text("\n".join(lines) + "\n")
    files = ["-t", str(tmp_path / "train.arff"), "-T", str(tmp_path / "test.arff")]
    options = ["-M", str(least), "-C", str(confidence), "-p", "0"]
    java = ["java", "-cp", str(weka.jar()), "weka.classifiers.trees.J48", *files, *options]
    told = subprocess.run(java, capture_output=True, text=True, timeout=120, check=True).stdout
    predicted = [int(label) for label in re.findall(r"^ *\d+ +\d+:\S+ +\d+:(\S+)", told, re.M)]
    model = J48Classifier(least, confidence).fit(X[train], y[train])
    assert model.predict(X[test]).tolist() == predicted
    assert model.n_leaves_ > 3


def test_a_share_is_a_number_of_rows():
    X, y = load_wine(return_X_y=True)
    assert J48Classifier(0.1).fit(X, y).text_ == J48Classifier(18).fit(X, y).text_
    assert J48Classifier(10**30).fit(X, y).n_leaves_ == 1
    assert J48Classifier(confidence=np.float32(0.25)).fit(X, y).text_ == J48Classifier().fit(X, y).text_


def test_units_matter_where_values_are_close():
    """Values that differ by less than 1e-5 are the same for Weka: C4.5 is not among the scale-free peers."""
    X, y = load_iris(return_X_y=True)
    assert J48Classifier().fit(X * 1e-7, y).n_leaves_ == 1
    assert J48Classifier().fit(X * 8, y).n_leaves_ == J48Classifier().fit(X, y).n_leaves_


def test_what_was_pickled_predicts_the_same():
    X, y = load_iris(return_X_y=True)
    model = J48Classifier(3).fit(X, np.array(["s", "c", "v"])[y])
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert (again.text_, again.get_params()) == (model.text_, model.get_params())
    pickle.dumps(clone(model))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"min_samples_leaf": 0},
            r"min_samples_leaf must be a whole number >= 1 or a share in \(0, 1\), got 0",
        ),
        ({"min_samples_leaf": 1.5}, "got 1.5"),
        ({"confidence": 0.6}, r"confidence must be a number in \(0, 0.5\], got 0.6"),
        ({"confidence": 0}, "got 0"),
        ({"pruned": 1}, "pruned must be True or False, got 1"),
    ],
)
def test_bad_parameters(parameters, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        J48Classifier(**parameters).fit(X, y)


def test_bad_data():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="J48Classifier needs at least 2 classes"):
        J48Classifier().fit(X, np.zeros(150))
    with pytest.raises(ValueError, match="NaN"):
        J48Classifier().fit(np.where(X > 6, np.nan, X), y)


def test_an_error_of_java_is_told_in_one_line():
    from marginbook.drm.peers.j48 import _call

    with pytest.raises(RuntimeError, match=r"Weka could not grow the tree: java\.lang\.\w+"):
        _call(java_class("java.lang.Integer").parseInt, "no number")


def test_threads_and_processes_give_the_same():
    X, y = make_classification(120, 8, random_state=1)
    alone = [J48Classifier(m).fit(X[::2], y[::2]).predict(X) for m in range(1, 9)]

    def one(m):
        return J48Classifier(m).fit(X[::2], y[::2]).predict(X)

    for backend in ("threading", "loky"):
        found = Parallel(n_jobs=2, backend=backend)(delayed(one)(m) for m in range(1, 9))
        np.testing.assert_array_equal(found, alone)


def test_two_kernels_of_one_selection_share_the_machine(monkeypatch):
    """A grid with leave-one-out calls the machine that runs."""
    import jpype

    java_class("weka.classifiers.trees.J48")
    monkeypatch.setattr(jpype, "startJVM", None)
    X, y = load_iris(return_X_y=True)
    settings = {"node_share": [0.05, 0.2], "loo_limit": 200}
    model, parameters, score = select("C4.5", X[::3], y[::3], accuracy_score, settings, 0)
    assert isinstance(model, J48Classifier)
    assert set(parameters) == {"node_share"}
    assert score > 0.85


def script(text, *, wait=True):
    arguments = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-c", text], env={**os.environ}, **arguments)
    return process.communicate(timeout=120) if wait else process


def test_the_machine_is_started_once_by_many_threads():
    out, errors = script("""
import threading, jpype
from marginbook.base.weka import java_class
starts, start = [], jpype.startJVM
jpype.startJVM = lambda *a, **k: (starts.append(1), start(*a, **k))
threads = [threading.Thread(target=java_class, args=("weka.core.Instances",)) for _ in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
print(len(starts))
""")
    assert (out, errors) == ("1\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_copy_says_so():
    out, _ = script("""
import os, sys
from marginbook.base.weka import java_class
java_class("weka.core.Instances")
if os.fork() == 0:
    try:
        java_class("weka.core.Instances")
    except RuntimeError as error:
        print(error, flush=True)
    os._exit(0)
os.wait()
""")
    assert "Java was started before this process was forked" in out


def test_java_leaves_room_on_the_stack_for_products_by_several_threads():
    """OpenBLAS puts more than a megabyte there; a guard of Java ended the process without a word."""
    out, errors = script("""
import os
os.environ.update(OPENBLAS_NUM_THREADS="2", OMP_NUM_THREADS="2")
import numpy as np
from marginbook.base.weka import java_class
java_class("weka.core.Instances")
A = np.random.default_rng(0).normal(size=(600, 600))
print(np.abs(np.linalg.inv(A @ A.T + np.eye(600)) @ (A @ A.T + np.eye(600)) - np.eye(600)).max() < 1e-6)
""")
    assert (out, errors) == ("True\n", "")


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C reaches a whole console there")
def test_ctrl_c_ends_it():
    process = script(
        """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from sklearn.datasets import load_digits
from marginbook.drm.peers.j48 import J48Classifier
X, y = load_digits(return_X_y=True)
J48Classifier().fit(X, y)
print("ready", flush=True)
while True:
    J48Classifier().fit(X, y)
""",
        wait=False,
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode not in (0, None)
    assert errors.rstrip().endswith("KeyboardInterrupt")


def test_the_version_is_that_of_the_jar():
    assert weka.version() == str(java_class("weka.core.Version").VERSION)


def test_no_java_is_told_before_a_fit(monkeypatch, tmp_path):
    monkeypatch.setattr(weka, "_started_in", None)
    monkeypatch.setenv("MARGINBOOK_WEKA", str(tmp_path / "weka.jar"))
    X, y = load_iris(return_X_y=True)
    with pytest.raises(
        WekaMissing, match=r"there is no .*weka\.jar; install all three with: apt-get install"
    ):
        J48Classifier().fit(X, y)
