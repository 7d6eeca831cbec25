"""What users call: estimators with scikit-learn's interface, their parameters, and their selection."""

from .low_rank import LowRankSVMClassifier

__all__ = ["LowRankSVMClassifier"]
