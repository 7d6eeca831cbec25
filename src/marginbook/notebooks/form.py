"""How a downloaded notebook offers a form for its parameters, where Jupyter's widgets are installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .parameters import FORM

if TYPE_CHECKING:
    from .widgets import Form


def form(notebook: str) -> Form | None:
    """Return the form of a notebook, to be shown in Jupyter; without ipywidgets say what to install.

    Parameters
    ----------
    notebook : str
        An id such as ``"drm/02_algorithms"``, or a file (.ipynb).

    Examples
    --------
    In a cell of its own::

        from marginbook.notebooks.form import form
        form("drm/02_algorithms")
    """
    try:
        from .widgets import Form
    except ModuleNotFoundError as error:
        print(f"no form here, all else works: {error}")
        return None
    return Form(notebook)


def source(id: str) -> str:
    """Return the source of the cell that offers the form of a notebook."""
    return (
        f'# Optional: change the parameters in a form, and run this notebook from it.\n{FORM}\n\nform("{id}")'
    )
