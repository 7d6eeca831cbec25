"""What users call: transformers and classifiers with scikit-learn's interface, and how they are fitted."""
