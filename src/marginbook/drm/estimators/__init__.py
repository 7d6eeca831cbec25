"""What users call: the classifiers with scikit-learn's interface, their parameters, and their selection."""

from .classifier import DRMClassifier

__all__ = ["DRMClassifier"]
