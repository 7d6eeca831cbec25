"""Every public estimator meets bad input: a certificate, a warning or a clear error comes back."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags

from marginbook.clasmk import SubspaceKernelTransformer, TwoLayerMKLClassifier
from marginbook.clasmk.solvers.svm_outputs import train
from marginbook.drm import DRMClassifier, DRMClassifierCV, MixedNormDRMClassifier
from marginbook.kfda import KFDAClassifier, RealisationSearch, SparseKFDAClassifier
from marginbook.ldm import LDMClassifier, LDMClassifierCV, MDOClassifier
from marginbook.smm import CalibratedSVMClassifier, LowRankSVMClassifier

from .candidates import USUAL, Case, cases, public_estimators
from .judging import Fault, Outcome, check_answers, check_fitted, outcome
from .recipes import CONTAINERS, SPARSE, Labels, Rows, wrapped

EXAMPLES = 8
X, y = Rows(20, 6, seed=1).make(), Labels("two").make(20)


@pytest.mark.parametrize("name", public_estimators())
def test_bad_input_ends_in_a_certificate_a_warning_or_a_clear_error(name):
    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(cases(name))
    def each(case):
        found = outcome(case.run)
        assert found.kind != "fault", found.what

    each()


def _fitted(name, rows):
    usual = USUAL.get(name, {})
    model = public_estimators()[name](**usual)
    if "random_state" in model.get_params(deep=False):
        model.set_params(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(model).fit(rows, y)


def _said(model, rows):
    method = next(
        each for each in ("decision_function", "predict_proba", "transform") if hasattr(model, each)
    )
    return getattr(model, method)(rows)


@pytest.mark.parametrize("name", public_estimators())
def test_the_container_of_the_numbers_does_not_matter(name):
    """And what is given is not written to. Formats that an estimator does not take, it refuses by name."""
    small = np.round(X * 8) / 8  # exact in 16 bits
    expected = _said(_fitted(name, small), small)
    takes_sparse = get_tags(public_estimators()[name](**USUAL.get(name, {}))).input_tags.sparse
    for container in CONTAINERS:
        rows = wrapped(small, container)
        before = rows.copy() if hasattr(rows, "copy") else list(rows)
        if container in SPARSE and not takes_sparse:
            with pytest.raises((TypeError, ValueError), match=r"dense|toarray"):
                _fitted(name, rows)
            continue
        model = _fitted(name, rows)
        np.testing.assert_allclose(_said(model, rows), expected, rtol=1e-4, atol=1e-5, err_msg=container)
        same = (rows != before).nnz == 0 if sparse.issparse(rows) else np.array_equal(rows, before)
        assert same, container


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ">f8", "object"])
def test_the_type_of_the_numbers_does_not_matter(dtype):
    small = np.round(X * 8) / 8
    for model in (DRMClassifier(), LDMClassifier(), KFDAClassifier(), LowRankSVMClassifier()):
        plain, other = (clone(model).fit(rows, y) for rows in (small, small.astype(dtype)))
        said = _said(other, small.astype(dtype))
        # a linear decision function of float32 rows is float32
        same = {"rtol": 1e-6} if said.dtype == np.float32 else {"rtol": 0}
        np.testing.assert_allclose(said, _said(plain, small), **same)


MIXED = np.array([1, "a"], dtype=object)[np.arange(20) % 2]


@pytest.mark.parametrize("name", sorted({*public_estimators()} - {"SubspaceKernelTransformer"}))
def test_labels_without_an_order(name):
    with pytest.raises(ValueError, match=r"the labels have the types int, str, which have no order"):
        _fit_with(name, MIXED)
    with pytest.raises(ValueError, match=r"the labels have the types NoneType, bool"):
        _fit_with(name, np.where(np.arange(20) == 0, None, MIXED == 1))


def _fit_with(name, labels):
    return public_estimators()[name](**USUAL.get(name, {})).fit(X, labels)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (DRMClassifierCV(kernels=0), "kernels must be a sequence of at least one value, got 0"),
        (DRMClassifierCV(scoring=3), "scoring must be None, a scorer's name or a callable, got 3"),
        (
            RealisationSearch(None, {}),
            r"estimator must be a classifier such as SparseKFDAClassifier\(\), got None",
        ),
        (
            RealisationSearch(SparseKFDAClassifier(), {"rho": [1.0]}, realisations=[([50], [1])]),
            "realisations names rows beyond the 20 of X",
        ),
        (
            RealisationSearch(SparseKFDAClassifier(), {"rho": [1.0]}, cv=[([0, 1, 50], [2, 3])]),
            "cv names rows beyond the 10 of a realisation",
        ),
        (CalibratedSVMClassifier(cv=[]), "cv is empty, wanted None, a number of folds"),
        (CalibratedSVMClassifier(cv={}), r"cv is empty, got \{\}"),
        (
            RealisationSearch(SparseKFDAClassifier(), {"rho": [1.0]}, realisations=[0, 1]),
            "realisations must be",
        ),
        (CalibratedSVMClassifier(1e300), r"estimator must be None or a classifier, got 1e\+300"),
    ],
)
def test_parameters_that_once_ended_elsewhere(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


@pytest.mark.filterwarnings("ignore")  # scikit-learn's, of the folds
def test_a_choice_among_scores_that_are_all_undefined():
    search = LDMClassifierCV((0.1,), (0.1,), (1.0,), gammas=(1.0,), cv=2, scoring="roc_auc")
    with pytest.raises(ValueError, match="all 1 grid points have a fold whose score is undefined"):
        search.fit([[0.0], [1.0], [2.0]], [0, 1, 0])


def test_rows_so_long_that_their_dissimilarities_overflow():
    model = MixedNormDRMClassifier(kernel=np.dot).fit(X, y)
    with pytest.raises(ValueError, match="dissimilarities of these rows are beyond double precision"):
        model.predict(X * 1e160)


def test_rows_so_long_that_the_maps_are_singular():
    rows = Rows(2, 40, base="counts").make() * 1e150
    model = DRMClassifier(5e-324, kernel="linear", solver="one-pass")
    with pytest.raises(
        ValueError, match="the maps are singular to rounding: the rows are too long beside beta"
    ):
        model.fit(rows, [0, 1])


def test_two_layers_whose_objective_overflows():
    rows = np.outer(np.arange(1.0, 9.0), np.ones(3)) * 1e-300
    with pytest.raises(ValueError, match=r"F is inf with reg = 1.0e\+100"):
        TwoLayerMKLClassifier(reg=1e100, unit_diagonal=True).fit(rows, [0, 1] * 4)


def test_a_search_looks_at_its_rows_first():
    search = RealisationSearch(SparseKFDAClassifier(), {"rho": [1.0]}, cv=2)
    with pytest.raises(ValueError, match=r"inhomogeneous|sequence"):
        search.fit([[1.0], [2.0, 3.0]] * 6, [0, 1] * 6)
    with pytest.raises(ValueError, match="should be a 1d array"):
        search.fit(X, np.stack([y, y], axis=1))


def test_rows_on_one_ray_do_not_hold_up_the_search_for_margins():
    """The linear SVM that starts it does not return where the square of its gradient at 0 underflows."""
    rows = np.column_stack([np.full(20, 1e-200), np.ones(20)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = MDOClassifier(n_restarts=0).fit(rows, y)
    assert np.isfinite(model.coef_).all()


def test_a_machine_that_rounding_keeps_from_its_tolerance_ends():
    """libsvm holds its matrix in single precision, and has no limit of its own."""
    rows = np.arange(36.0).reshape(12, 3)
    with pytest.warns(ConvergenceWarning, match="terminated early"):
        found = train((rows @ rows.T + 1) ** 3, np.resize([-1.0, 1.0], (12, 1)), 1.0, 0.0)
    assert np.isfinite(found.inner_gap)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
@pytest.mark.parametrize(
    "model",
    [
        DRMClassifier(kernel="linear"),
        LDMClassifier(kernel="linear"),
        KFDAClassifier(kernel="linear"),
        MixedNormDRMClassifier(kernel="linear"),
        LowRankSVMClassifier(),
        SubspaceKernelTransformer("linear"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_scales_at_the_ends_of_double_precision(model, scale):
    def run():
        fitted = clone(model).fit(X * scale, y)
        certified = check_fitted(fitted)
        check_answers(fitted, X * scale, len(X))
        return certified

    assert outcome(run).kind != "fault"


def test_the_judge_tells_right_from_wrong():
    """A fault is found where there is one: an unclear error, a number that is none, a missed optimum."""
    model = KFDAClassifier().fit(X, y)
    assert check_fitted(model)
    model.dual_coef_[0] = np.nan
    with pytest.raises(Fault, match="coef_ is not finite"):
        check_fitted(model)
    loose = LDMClassifier().fit(X, y)
    loose.dual_gap_ = 1.0 + loose.objective_
    with pytest.raises(Fault, match="uncertified: dual_gap_"):
        check_fitted(loose)

    sparse = SparseKFDAClassifier(q=1.0).fit(X, y)
    sparse.stationarity_ = 1.0  # the gap is what counts
    assert check_fitted(sparse)
    for name in ("dual_gap_", "stationarity_"):
        wrong = SparseKFDAClassifier(q=1.0).fit(X, y)
        setattr(wrong, name, 1.0 + wrong.objective_ if name == "dual_gap_" else np.nan)
        with pytest.raises(Fault, match=name):
            check_fitted(wrong)

    def silent():
        raise Fault("uncertified: dual_gap_ is 1")

    def warned():
        warnings.warn("gap 1 > tol", ConvergenceWarning, stacklevel=1)
        return silent()

    assert outcome(silent).kind == "fault"
    assert outcome(warned) == Outcome("warned", "gap 1 > tol")
    assert outcome(lambda: [][0]).kind == "fault"
    assert outcome(lambda: float("rows")).kind == "fault"
    assert outcome(lambda: LDMClassifier(C=-1).fit(X, y)).kind == "parameter"
    assert outcome(lambda: LDMClassifier().fit(X * np.nan, y)).kind == "input"
    assert outcome(lambda: LDMClassifier().fit(X, y * 0)).kind == "problem"


def test_a_case_is_made_again_from_what_it_prints():
    case = Case(
        "KFDAClassifier", (("reg", 0.5),), Rows(7, 2, "line", 1e8, "nan", "object", "F"), Labels("text")
    )
    assert eval(repr(case), {"Case": Case, "Rows": Rows, "Labels": Labels}) == case
    assert outcome(case.run).kind == "input"
