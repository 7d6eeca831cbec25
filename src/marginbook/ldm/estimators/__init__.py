"""What users call: the classifier with scikit-learn's interface, its parameters, and its selection."""

from .classifier import LDMClassifier

__all__ = ["LDMClassifier"]
