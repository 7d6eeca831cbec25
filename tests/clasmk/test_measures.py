"""The measures of the experiments: against what they are made of, repeated, and the data sets."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import StandardScaler, normalize

from marginbook.clasmk.estimators.chosen_kernels import CLASKTransformer
from marginbook.clasmk.estimators.hierarchy import HierarchicalCLASMKClassifier
from marginbook.clasmk.estimators.lssvm import LSSVMClassifier
from marginbook.clasmk.estimators.weighted_kernels import CLASMKTransformer
from marginbook.clasmk.experiments import DATASETS, EXPERIMENTS, data, figures_2_23
from marginbook.clasmk.experiments.figures_2_23 import measure_kernels, measure_sizes, number_of
from marginbook.clasmk.experiments.figures_9_15 import measure_limited
from marginbook.clasmk.experiments.figures_24_27 import measure_weights
from marginbook.clasmk.experiments.lssvm_chosen import ChosenLSSVM
from marginbook.clasmk.experiments.table_4 import METHODS, choose, measure_benchmark
from marginbook.clasmk.experiments.tables_1_2 import SINGLE, measure_table
from marginbook.clasmk.experiments.timed import TRANSFORMERS
from marginbook.clasmk.model.kernel_sets import paper_kernels
from marginbook.clasmk.paper.readings import COLUMNS, SCALINGS
from marginbook.clasmk.peers.single_kernel import SubspaceKernelTransformer
from marginbook.datasets.dataset import Dataset
from marginbook.experiments import load_protocol
from marginbook.experiments.fold import Fold, rows_seed

X, Y = load_wine(return_X_y=True)
TRAIN, TEST = np.arange(0, 178, 2), np.arange(1, 178, 2)
PARTS = (X[TRAIN], Y[TRAIN], X[TEST], Y[TEST])
TWO = tuple(
    part[labels < 2] for part, labels in zip(PARTS, (Y[TRAIN], Y[TRAIN], Y[TEST], Y[TEST]), strict=True)
)
TABLE = {"scaling": {"wine": "unit-range"}, "tol": 0.01, "eta": 0.01, "threshold": 1e-4, "C": 1.0}
TABLE |= {"C_grid": [0.1, 10.0], "choice_rows": 60}
BENCH = {"tol": 1e-3, "eta": 0.1, "threshold": 0.1, "marginal": 1.0, "C_grid": [0.1, 1.0], "choice_rows": 50}
BENCH |= {"svm_C": [1.0, 10.0], "folds": 3, "cv_rows": 40, "mkl_tol": 0.01, "mkl_max_iter": 30}
LAYERS = {"scaling": "standard", "n_layers": 3, "tol": 0.01, "eta": 0.1, "threshold": 0.1, "marginal": 1.0}
LAYERS |= {"C": 1.0, "test_rows": 50}
MAPS = {"scaling": "standard", "kernels": "table-4", "tol": 0.01, "eta": 0.1, "threshold": 0.1}
SECONDS = ("basis_seconds", "weights_seconds", "statistics_seconds", "classifier_seconds")


def run(measure, method, settings, parts=PARTS, seed=1):
    found = measure(Fold(*parts, "wine", seed), method, settings)
    assert all(isinstance(value, float | int | str | None) for value in found.values())
    return found


def without_seconds(found):
    return {name: value for name, value in found.items() if name not in SECONDS}


def test_scaling_by_the_training_rows():
    A, B = data.scaled(X[TRAIN], X[TEST], "standard")
    scaler = StandardScaler().fit(X[TRAIN])
    np.testing.assert_allclose(A, scaler.transform(X[TRAIN]), atol=1e-12)
    np.testing.assert_allclose(B, scaler.transform(X[TEST]), atol=1e-12)
    A, B = data.scaled(X[TRAIN], X[TEST], "unit-range")
    assert A.min() == 0
    assert A.max() == pytest.approx(1)
    np.testing.assert_allclose(B, (X[TEST] - X[TRAIN].min(0)) / np.ptp(X[TRAIN], axis=0))
    np.testing.assert_allclose(data.scaled(X, X[:3], "unit-length")[0], normalize(X))
    with pytest.raises(ValueError, match="unknown scaling 'log'"):
        data.scaled(X, X, "log")


@pytest.mark.parametrize("how", ["none", "standard", "unit-range", "unit-length"])
def test_scaling_of_constant_features_and_zero_rows_is_finite(how):
    A = np.array([[1e9, 0.0], [1e9, 0.0], [1e9, 3.0]])
    for part in data.scaled(A, np.zeros((2, 2)), how):
        assert np.isfinite(part).all()
    if how not in ("unit-length", "none"):
        assert (data.scaled(A, A, how)[0][:, 0] == 0).all()


def test_a_scaling_behind_the_name_of_a_method_is_that_of_every_set():
    found = without_seconds(run(measure_table, "poly (8), standard", TABLE))
    assert found == without_seconds(run(measure_table, "poly (8)", {**TABLE, "scaling": "standard"}))
    assert found != without_seconds(run(measure_table, "poly (8), unit-length", TABLE))
    with pytest.raises(ValueError, match="scaling"):
        run(measure_table, "poly (8), log", TABLE)
    np.testing.assert_array_equal(data.scaled(X, X[:3], "none")[1], X[:3])


def test_half_changes_the_truncation_only():
    stated = {"eta": 0.1, "tol": 0.01}
    assert figures_2_23.truncating("K=17", stated) == {**stated, "truncation": "sum"}
    assert figures_2_23.truncating("K=17 half", {"eta": 0.1}) == {"eta": 0.5, "truncation": "mean"}
    assert figures_2_23.number_of("n=1000 half", "n=") == 1000


def test_a_single_kernel_is_the_embedding_and_an_lssvm():
    found = run(measure_table, "poly (8)", TABLE)
    A, B = data.scaled(X[TRAIN], X[TEST], "unit-range")
    model = SubspaceKernelTransformer(SINGLE["poly (8)"], tol=0.01).fit(A)
    machine = LSSVMClassifier(C=1.0).fit(model.transform(A), Y[TRAIN])
    assert found["error"] == 100 * np.mean(machine.predict(model.transform(B)) != Y[TEST])
    assert found["n_features"] == model.subspace_.n_components


@pytest.mark.parametrize("method", TRANSFORMERS)
def test_the_timed_transformers_learn_what_the_transformers_do(method):
    found = run(measure_table, method, TABLE)
    seed = rows_seed("clasmk", "wine", X[TRAIN])
    A = data.scaled(X[TRAIN], X[TEST], "unit-range")[0]
    kind = CLASKTransformer if method == "CLASK-ML exact" else CLASMKTransformer
    extra = {} if kind is CLASKTransformer else {"threshold": 1.0 if method == "CLASK-ML" else 1e-4}
    extra |= {"combine": "concat"} if "concat" in method else {}
    extra |= {"truncation": "mean"} if "half" in method else {}
    extra |= {"weights_on": "basis"} if "M_B" in method else {}
    eta = 0.5 if "half" in method else 0.01
    model = kind(list(SINGLE.values()), tol=0.01, eta=eta, random_state=seed, **extra).fit(A, Y[TRAIN])
    np.testing.assert_allclose(json.loads(found["weights"]), model.weights_, atol=1e-6)
    assert found["objective"] == model.objective_
    assert found["n_features"] == sum(model.map_.widths)
    assert all(found[name] >= 0 for name in SECONDS)
    if method in ("CLASK-ML", "CLASK-ML exact", "CLASMK-ML concat"):
        assert (np.count_nonzero(json.loads(found["weights"]), axis=1) == 1).all()


def test_results_repeat_and_do_not_depend_on_the_methods_seed():
    for measure, method, settings in (
        (measure_table, "CLASMK-ML", TABLE),
        (measure_benchmark, "2L-CLASMK-ML", BENCH),
        (measure_weights, "CLASMK-ML", MAPS),
    ):
        first, second = (without_seconds(run(measure, method, settings, seed=seed)) for seed in (1, 2))
        assert first == second
    assert (
        rows_seed("clasmk", "wine", X)
        != rows_seed("clasmk", "wine", X[::-1])
        != rows_seed("clasmk", "iris", X[::-1])
    )


@pytest.mark.parametrize("method", METHODS)
def test_every_method_of_table_4_learns(method):
    found = run(measure_benchmark, method, BENCH, TWO)
    assert 60 < found["accuracy"] <= 100
    assert found["n_train"] == len(TWO[1])
    assert found["C"] in (0.1, 1.0, 10.0)
    if "MKL" in method:
        assert len(json.loads(found["chosen"])) == 13
        assert found["certificate"] <= 0.02


def test_one_layer_is_the_first_of_two():
    one, two = (json.loads(run(measure_benchmark, name, BENCH, TWO)["chosen"]) for name in list(METHODS)[:2])
    assert one == two[:1]


def test_layers_are_those_of_the_classifier():
    found = run(measure_kernels, "K=7", LAYERS)
    seed = rows_seed("clasmk", "wine", X[TRAIN])
    A, B = data.scaled(X[TRAIN], X[TEST], "standard")
    kept = np.sort(np.random.default_rng(seed + 1).permutation(len(TEST))[:50])
    model = HierarchicalCLASMKClassifier(
        paper_kernels("figures", 7),
        n_layers=3,
        eps=0.0,
        tol=0.01,
        base=LSSVMClassifier(1.0),
        random_state=seed,
    ).fit(A, Y[TRAIN])
    wanted = [100 * np.mean(labels == Y[TEST][kept]) for labels in model.staged_predict(B[kept])]
    np.testing.assert_allclose(json.loads(found["accuracy"]), wanted, atol=1e-4)
    assert json.loads(found["features"]) == np.cumsum(model.n_features_per_layer_).tolist()
    assert found["accuracy_last"] == pytest.approx(wanted[-1])
    lengths = {len(json.loads(found[name])) for name in ("marginal", "kept", "weights_seconds", "n_nodes")}
    assert lengths == {found["n_layers"]}


def test_a_size_takes_so_many_rows_and_no_more_than_there_are():
    assert run(measure_sizes, "n=40", LAYERS)["n_train"] == 40
    assert run(measure_sizes, "n=400", LAYERS)["n_train"] == len(TRAIN)
    for name in ("n=", "K=17", "n=-3", "17"):
        with pytest.raises(ValueError, match="unknown method"):
            number_of(name, "n=")


@pytest.mark.parametrize("measure", [measure_table, measure_benchmark])
def test_an_unknown_method_is_named(measure):
    with pytest.raises(ValueError, match="unknown method 'Random forest'"):
        measure(Fold(*PARTS, "wine", 0), "Random forest", {**TABLE, **BENCH})


def test_chosen_lssvm_refits_all_rows_with_the_c_of_a_part():
    digits, labels = load_digits(return_X_y=True)
    digits, labels = digits[:300] / 16, labels[:300]
    model = ChosenLSSVM([1e-3, 1.0], rows=100, random_state=3).fit(digits, labels)
    part = np.random.default_rng(3).permutation(300)[:100]
    trial = LSSVMClassifier(C=[1e-3, 1.0]).fit(digits[part], labels[part])
    assert model.C_ == trial.C_
    whole = LSSVMClassifier(C=trial.C_).fit(digits, labels)
    np.testing.assert_array_equal(model.decision_function(digits), whole.decision_function(digits))


def test_cross_validation_takes_the_first_of_the_best():
    class Constant:
        def __init__(self, label):
            self.label = label

        def fit(self, X, y):
            return self

        def predict(self, X):
            return np.full(len(X), self.label)

    y = np.array([0] * 10 + [1] * 20)
    picked = choose([0, 1, 1.0], Constant, y[:, None], y, {"folds": 3, "cv_rows": 99}, 0)
    assert picked == 1
    assert isinstance(picked, int)


def test_folds_are_ten_and_stratified(monkeypatch):
    y = np.repeat([0, 1, 2], [50, 30, 20])
    made = Dataset(np.arange(200.0).reshape(100, 2), y, "x", source="here", sha256="0")
    monkeypatch.setattr(data, "registered", lambda name: made)
    splits = data.folded("banana").official_splits
    assert len(splits) == 10
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(100))
    for train, test in splits:
        assert np.bincount(y[test]).tolist() == [5, 3, 2]
        assert not set(train) & set(test)


def test_thyroid_becomes_normal_against_the_rest(monkeypatch):
    y = np.array([1, 2, 3, 3, 3])
    made = Dataset(np.eye(5), y, "ann-thyroid", source="here", sha256="0")
    monkeypatch.setattr(data, "registered", lambda name: made)
    assert data.thyroid().y.tolist() == [1, 1, 0, 0, 0]
    made = Dataset(np.eye(5), np.minimum(y, 2), "ann-thyroid", source="here", sha256="0")
    monkeypatch.setattr(data, "registered", lambda name: made)
    with pytest.raises(ValueError, match="wanted"):
        data.thyroid()


def test_the_protocol_names_what_there_is():
    from marginbook.datasets.registry import entry

    for table in EXPERIMENTS:
        protocol = load_protocol(f"clasmk/{table}")
        for name in protocol.datasets:
            assert name in DATASETS or entry(name).name == name
    scaled = {f"{name}, {how}" for name in COLUMNS for how in SCALINGS}
    assert set(load_protocol("clasmk/table-1").methods) == {*SINGLE, *TRANSFORMERS, *scaled}
    assert set(load_protocol("clasmk/table-4").methods) == set(METHODS)
    scaling = load_protocol("clasmk/table-1").settings["scaling"]
    assert set(scaling) == set(load_protocol("clasmk/table-1").datasets)


def test_the_limit_of_evaluations_ends_the_search():
    settings = {"scaling": "standard", "tol": 0.01, "eta": 0.1, "max_evaluations": 200}
    short = run(measure_limited, "K=17", settings)
    again = run(measure_limited, "K=17", settings)
    assert without_seconds(short) == without_seconds(again)
    # an iteration that begins below the limit is finished, with a gradient of CK differences
    assert 200 <= short["n_evaluations"] <= 200 + 3 * 17 + 10
    assert not short["converged"]
    long = run(measure_limited, "K=17", settings | {"max_evaluations": 3000})
    assert long["objective"] < short["objective"]
    assert long["n_kernels"] == 17
    assert long["kept"] <= 17
