"""A notebook's form inside of Jupyter: a field for each parameter, and a button that runs its cells.

The fields, their bounds and their choices are those of ``marginbook serve``. The cells run in the kernel of
the notebook that shows the form, so what they leave behind can be used in cells of one's own.
"""

from __future__ import annotations

import html
import os
from pathlib import Path
from typing import Any

import nbformat

from ..base.extras import naming_the_extra
from .catalogue import UnknownNotebook, find
from .fields import BadValues, Field, fields, sets_here, values
from .parameters import FORM, TAG, parameters

with naming_the_extra():
    import ipywidgets
    from IPython.core.getipython import get_ipython

#: an int with so few values gets a slider; one with more is typed
SLIDER = 1000
#: where Jupyter says which file it is that a kernel belongs to
FILE_OF_KERNEL = "JPY_SESSION_NAME"


class Form(ipywidgets.VBox):
    """The fields of a notebook, its button, and the outputs of the last run.

    Parameters
    ----------
    notebook : str or path
        An id such as ``"drm/02_algorithms"``, or a file (.ipynb).

    Attributes
    ----------
    fields : dict of str to widget
    cells : list of str
        The sources that a run executes.
    button, progress, said, outputs : widgets
        ``said`` has the sentences about fields that are wrong.

    Raises
    ------
    UnknownNotebook
    """

    def __init__(self, notebook: str | Path) -> None:
        node = read(notebook)
        self._fields = fields(parameters(node), *sets_here())
        self.cells = [cell.source for cell in node.cells if _runs(cell)]
        self.fields = {field.name: _widget(field) for field in self._fields}
        self.button = ipywidgets.Button(description="Run", button_style="primary")
        self.button.on_click(lambda _: self.run())
        self.progress = ipywidgets.IntProgress(max=len(self.cells), layout={"visibility": "hidden"})
        self.said = ipywidgets.HTML()
        self.outputs = ipywidgets.Output()
        rows = [_row(field, self.fields[field.name]) for field in self._fields]
        last = ipywidgets.HBox([self.button, self.progress, self.said])
        super().__init__([*rows, last, self.outputs])

    def chosen(self) -> dict[str, Any]:
        """Return the values of the parameters; raise BadValues, with a sentence for each that is wrong."""
        return values(self._fields, {name: _texts(each) for name, each in self.fields.items()})

    def run(self) -> None:
        """Execute the cells in this kernel with the values of the form; the first error ends it."""
        try:
            chosen = self.chosen()
        except BadValues as error:
            self.said.value = "<br>".join(html.escape(text) for text in error.errors.values())
            return
        shell: Any = get_ipython()
        if shell is None:
            raise RuntimeError("there is no kernel here: open the notebook in Jupyter")
        self.said.value, self.button.disabled = "", True
        self.progress.value, self.progress.layout.visibility = 0, "visible"
        self.outputs.clear_output()
        try:
            with self.outputs:
                shell.push(chosen)
                for source in self.cells:
                    if not shell.run_cell(source, store_history=False).success:
                        break
                    self.progress.value += 1
        finally:
            self.button.disabled = False


def read(notebook: str | Path) -> nbformat.NotebookNode:
    """Return a notebook by its id, or by its file; where there is no checkout, the file that is open here."""
    path = Path(notebook)
    if path.is_file():
        return nbformat.read(path, as_version=4)
    try:
        return find(str(notebook)).read()
    except UnknownNotebook:
        opened = Path(os.environ.get(FILE_OF_KERNEL, ""))
        if opened.suffix != ".ipynb" or opened.stem != path.name or not opened.is_file():
            raise
        return nbformat.read(opened, as_version=4)


def _runs(cell: nbformat.NotebookNode) -> bool:
    """Say whether a run executes this cell: neither the parameters, which the form gives, nor a form."""
    tags = cell.metadata.get("tags", [])
    return cell.cell_type == "code" and TAG not in tags and FORM not in cell.source


def _widget(field: Field) -> ipywidgets.ValueWidget:
    texts = field.texts(field.parameter.default)
    if field.kind == "choice":
        return ipywidgets.Dropdown(options=field.choices, value=texts[0])
    if field.kind == "several":
        return ipywidgets.SelectMultiple(options=field.choices, value=texts, rows=min(len(field.choices), 6))
    if field.kind == "number" and field.least is not None and field.most is not None:
        width = field.most - field.least
        if field.parameter.type == "int" and width <= SLIDER:
            whole = {"min": int(field.least), "max": int(field.most)}
            return ipywidgets.IntSlider(field.parameter.default, **whole, continuous_update=False)
        if field.parameter.type == "float":
            part = {"min": field.least, "max": field.most, "step": width / 100, "readout_format": ".3g"}
            return ipywidgets.FloatSlider(field.parameter.default, **part, continuous_update=False)
    return ipywidgets.Text(texts[0], continuous_update=False)


def _texts(widget: ipywidgets.ValueWidget) -> list[str]:
    """Return what a widget holds as a form of the server would send it."""
    if isinstance(widget, ipywidgets.SelectMultiple):
        return list(widget.value)
    return [str(widget.value)]


def _row(field: Field, widget: ipywidgets.ValueWidget) -> ipywidgets.HBox:
    name = ipywidgets.HTML(f"<code>{html.escape(field.name)}</code>", layout={"width": "9em"})
    return ipywidgets.HBox([name, widget, ipywidgets.HTML(html.escape(field.parameter.doc))])
