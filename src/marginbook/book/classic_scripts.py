"""Scripts that run in a book that is opened as a file, too: browsers load modules from a server only.

The scripts are written as modules, and the tests import them as such. In the built book each tag of a module
becomes one of a classic script, deferred as modules are, and the script holds all that it imports.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

_TAG = re.compile(r'<script\b[^>]*\btype="module"[^>]*></script>')
_SOURCE = re.compile(r'\bsrc="([^"?#]+)')
_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) (\w+))", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


def make_classic(html: Path) -> None:
    """Replace the modules of a built book by classic scripts.

    Parameters
    ----------
    html : path
        Folder with ``index.html``.
    """
    found: set[Path] = set()
    for page in html.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        tags = _TAG.findall(text)
        found |= {(page.parent / unquote(_SOURCE.findall(tag)[0])).resolve() for tag in tags}
        if tags:
            deferred = _TAG.sub(lambda tag: tag[0].replace('type="module"', 'defer="defer"'), text)
            page.write_text(deferred, encoding="utf-8")
    for script, text in {script: bundled(script) for script in sorted(found)}.items():
        script.write_text(text, encoding="utf-8")


def bundled(entry: Path) -> str:
    """Return a classic script that does what the module `entry` does, with the modules that it imports.

    Raises
    ------
    ValueError
        Where modules import each other in a circle, or one uses a form of ``import`` or ``export`` other than
        ``import { … } from "./…";`` and ``export`` before a function, a class or a constant.
    """
    names: dict[Path, str] = {}
    parts = ['"use strict";', "(() => {", "const HERE = document.currentScript.src;"]

    def take(path: Path, above: tuple[Path, ...]) -> str:
        if path in above:
            raise ValueError(f"{path.name} imports itself, by {above[-1].name}")
        if path not in names:
            text = path.read_text(encoding="utf-8").replace("import.meta.url", "HERE")
            body = _IMPORT.sub(
                lambda found: (
                    f"const {{{found[1].replace(' as ', ': ')}}} = "
                    f"{take((path.parent / found[2]).resolve(), (*above, path))};"
                ),
                text,
            )
            body, given = _EXPORT.sub("", body), ", ".join(_EXPORT.findall(body))
            if other := _OTHER.search(body):
                raise ValueError(f"{path.name}: {other[0]!r} cannot become part of a classic script")
            names[path] = f"module{len(names)}"
            parts.append(
                f"const {names[path]} = (() => {{ // {path.name}\n{body}return {{ {given} }};\n}})();"
            )
        return names[path]

    take(entry.resolve(), ())
    return "\n".join([*parts, "})();", ""])
