"""What users call: the classifier with scikit-learn's interface, its selection, and what a fit retains."""

from .classifier import SparseKFDAClassifier

__all__ = ["SparseKFDAClassifier"]
