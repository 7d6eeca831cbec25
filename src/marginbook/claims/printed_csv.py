"""The numbers that a paper prints in a table, read from the file that we copied them to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

PRINTED_COLUMNS = ["dataset", "method", "mean", "std", "note"]


def read_printed(path: Path) -> pd.DataFrame:
    """Return the numbers that a paper prints, as text: what a dash stood for is empty.

    Raises
    ------
    ValueError
        Other columns than dataset, method, mean, std, note; a cell twice; a mean that is no number.
    """
    import pandas as pd

    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    if list(frame.columns) != PRINTED_COLUMNS:
        raise ValueError(f"{path.name} has the columns {list(frame.columns)}, expected {PRINTED_COLUMNS}")
    if frame.duplicated(["dataset", "method"]).any():
        twice = frame[frame.duplicated(["dataset", "method"])].iloc[0]
        raise ValueError(f"{path.name} has the cell {twice['dataset']}, {twice['method']} twice")
    for text in (*frame["mean"], *frame["std"]):
        try:
            float(text or "nan")
        except ValueError:
            raise ValueError(f"{path.name} has {text!r} where a number or nothing should be") from None
    return frame


def read_numbers(path: Path) -> pd.DataFrame:
    """Return what `read_printed` does with the means and deviations as numbers, nan where none is printed."""
    frame = read_printed(path)
    return frame.assign(**{name: frame[name].replace("", "nan").astype(float) for name in ("mean", "std")})
