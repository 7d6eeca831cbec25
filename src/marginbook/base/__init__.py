"""What all parts stand on: where files are, fingerprints of code, names, extras, progress; labels, folds."""
