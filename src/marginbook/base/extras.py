"""What the library leaves to extras, and the sentence that names the extra where a package is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

#: name of an import -> the extra of pyproject.toml that brings it
EXTRA_OF = {
    "IPython": "book",
    "PIL": "book",
    "celer": "bench",
    "click": "cli",
    "cvxpy": "oracle",
    "cyclonedx": "release",
    "cycler": "book",
    "dask": "dask",
    "distributed": "dask",
    "docutils": "book",
    "filelock": "data",
    "imblearn": "experiments",
    "ipykernel": "book",
    "ipywidgets": "widgets",
    "jpype": "weka",
    "jupyter_client": "book",
    "jupytext": "book",
    "markdown_it": "book",
    "matplotlib": "book",
    "matplotlib_inline": "book",
    "mdit_py_plugins": "book",
    "mpmath": "test",
    "nbclient": "book",
    "nbconvert": "book",
    "nbformat": "book",
    "packageurl": "release",
    "pandas": "experiments",
    "papermill": "book",
    "playwright": "test",
    "pooch": "data",
    "pyarrow": "large",
    "pybtex": "book",
    "rdata": "data",
    "requests": "data",
    "rich": "cli",
    "scikit_posthocs": "experiments",
    "skglm": "bench",
    "sphinx": "book",
    "starlette": "serve",
    "urllib3": "data",
    "uvicorn": "serve",
    "yaml": "book",
}


def advice(error: ModuleNotFoundError, extra: str = "") -> str:
    """Return what is missing and how to install it, or nothing for a package of which no extra knows.

    Parameters
    ----------
    error : ModuleNotFoundError
    extra : str
        Names the extras to install; by default the one that brings the package.

    Examples
    --------
    >>> advice(ModuleNotFoundError("No module named 'cvxpy'", name="cvxpy"))
    "cvxpy is not installed: pip install 'marginbook[oracle]'"
    """
    if not error.name and "pip install 'marginbook[" in str(error):
        return str(error)  # has been said where it was raised
    package = (error.name or "").partition(".")[0]
    extra = extra or EXTRA_OF.get(package, "")
    return f"{package} is not installed: pip install 'marginbook[{extra}]'" if package and extra else ""


@contextmanager
def naming_the_extra() -> Iterator[None]:
    """Give the imports inside of ``with`` an error that says which extra to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        if not (text := advice(error)):
            raise
        raise ModuleNotFoundError(text, name=error.name) from None
