"""One look for all figures: colours that colour-blind readers tell apart, letters that a phone can show.

Figures are PNG at twice the usual density: nbval compares the text of an SVG, which carries coordinates that
differ between versions of the font renderer, and leaves a PNG alone.
"""

from __future__ import annotations

import sys
from typing import Any

from .extras import naming_the_extra

with naming_the_extra():
    import matplotlib as mpl
    from cycler import cycler

# Okabe and Ito (2008); yellow left out, it cannot be seen on white
COLOURS = {
    "blue": "#0072B2",
    "vermilion": "#D55E00",
    "green": "#009E73",
    "purple": "#CC79A7",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "black": "#000000",
}
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

STYLE: dict[str, Any] = {
    "figure.figsize": (6.4, 3.8),  # shown at 390 px, 11 pt letters come out at 9 px and more
    "figure.dpi": 100,
    "figure.facecolor": "white",  # dark pages show figures on a white card
    "figure.constrained_layout.use": True,
    "savefig.dpi": 200,
    "savefig.facecolor": "white",
    "font.size": 11,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.prop_cycle": cycler(color=list(COLOURS.values())),
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "legend.frameon": False,
    "svg.hashsalt": "marginbook",
}


def use_style() -> None:
    """Set the style for every figure that follows; in a notebook, figures also become sharp PNGs.

    Every cell that draws carries its alternative text in the cell's metadata, where the book reads it::

        ---
        mystnb:
          image:
            alt: Objective over iterations, three algorithms; gradient descent falls fastest.
        ---

    Examples
    --------
    >>> use_style()
    >>> mpl.rcParams["axes.prop_cycle"].by_key()["color"][0]
    '#0072B2'
    """
    mpl.rcParams.update(STYLE)  # type: ignore[arg-type]
    if "IPython" in sys.modules:
        from IPython import get_ipython  # only where a notebook runs; the library does not need it
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        if get_ipython() is not None:
            set_matplotlib_formats("png", dpi=200, bbox_inches="tight", metadata={"Software": None})
