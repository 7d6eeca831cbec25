"""LDMClassifier beside what goes well: pieces that it does not take, what a pickle holds, what a seed "
"decides."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse

from marginbook.ldm import LDMClassifier, LDMClassifierCV

rng = np.random.default_rng(6)
X = rng.normal(size=(60, 40))
y = (X[:, 0] + 0.3 * rng.normal(size=60) > 0).astype(int)


def test_partial_fit_says_what_it_needs() -> None:
    for given in ({"kernel": "linear"}, {"solver": "asgd"}):
        with pytest.raises(AttributeError) as found:
            _ = LDMClassifier(**given).partial_fit
        assert "needs kernel='linear' and solver='asgd'" in str(found.value.__cause__)


@pytest.mark.parametrize("solver", ["dcd", "active-set"])
def test_a_pickle_of_a_linear_machine_holds_no_training_rows(solver: str) -> None:
    model = LDMClassifier(kernel="linear", solver=solver).fit(X, y)
    assert 0 <= model.loo_bound() <= 1
    again = pickle.loads(pickle.dumps(model))
    assert not hasattr(again, "_train")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    with pytest.raises(ValueError, match=r"this fit kept none .*a pickle"):
        again.loo_bound()
    kernel = pickle.loads(pickle.dumps(LDMClassifier().fit(X, y)))
    assert 0 <= kernel.loo_bound() <= 1


def test_a_pickle_of_a_machine_on_a_given_matrix_takes_its_sparse_rows_too() -> None:
    """The name of the kernel is another string then, which only looks the same."""
    model = LDMClassifier(kernel="precomputed").fit(X @ X.T, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X @ X.T), model.decision_function(X @ X.T))
    found = again.decision_function(sparse.csr_matrix(X @ X.T))
    np.testing.assert_allclose(found, model.decision_function(X @ X.T), atol=1e-9)


@pytest.mark.parametrize("given", ["no", 2, None])
@pytest.mark.parametrize("kind", [LDMClassifier, LDMClassifierCV])
def test_an_intercept_is_true_or_false(kind: type, given: object) -> None:
    with pytest.raises(ValueError, match="fit_intercept must be True or False"):
        kind(fit_intercept=given).fit(X, y)


def test_the_last_fit_of_a_search_has_its_seed() -> None:
    rows = sparse.csr_matrix(X)
    search = LDMClassifierCV((0.1,), (0.1,), (1.0,), kernel="linear", cv=2, random_state=3).fit(rows, y)
    assert search.best_estimator_.random_state == 3
