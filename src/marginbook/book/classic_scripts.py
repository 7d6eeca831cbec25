"""Scripts that run in a book that is opened as a file, too: browsers load modules from a server only.

The scripts are written as modules, and the tests import them as such. In the built book each tag of a module
becomes one of a classic script, deferred as modules are, and the script holds all that it imports.
"""

from __future__ import annotations

import hashlib
import re
from functools import partial
from pathlib import Path
from urllib.parse import unquote

_TAG = re.compile(r'<script\b[^>]*\btype="module"[^>]*></script>')
_SOURCE = re.compile(r'\bsrc="(?!\w+:|/)([^"?#]+)[^"]*"')
_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) (\w+))", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export|await)\b.*|\bimport\(.*", re.MULTILINE)
#: where a script is, for what it loads beside it
_HERE = "import.meta.url"


def make_classic(html: Path) -> None:
    """Replace the modules of a built book by classic scripts.

    Their addresses end with a hash of what they hold, as a browser that kept an older script must not run it.

    Parameters
    ----------
    html : path
        Folder with ``index.html``.
    """
    made: dict[Path, str] = {}

    def classic(page: Path, tag: re.Match[str]) -> str:
        found = _SOURCE.search(tag[0])
        if not found:  # of another machine, or in the page itself
            return tag[0]
        script = (page.parent / unquote(found[1])).resolve()
        if script not in made:
            made[script] = bundled(script)
        mark = hashlib.sha256(made[script].encode()).hexdigest()[:8]
        deferred = tag[0].replace(found[0], f'src="{found[1]}?v={mark}"')
        return deferred.replace('type="module"', 'defer="defer"')

    for page in html.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        changed = _TAG.sub(partial(classic, page), text)
        if changed != text:
            page.write_text(changed, encoding="utf-8")
    for script, text in made.items():
        script.write_text(text, encoding="utf-8")


def bundled(entry: Path) -> str:
    """Return a classic script that does what the module `entry` does, with the modules that it imports.

    Raises
    ------
    ValueError
        Where modules import each other in a circle, or one waits, imports or exports in another form than
        ``import { … } from "./…";`` and ``export`` before a function, a class or a constant.
    """
    names: dict[Path, str] = {}
    parts: list[str] = []

    def take(path: Path, above: tuple[Path, ...]) -> str:
        if path in above:
            raise ValueError(f"{path.name} imports itself, by {above[-1].name}")
        if path not in names:
            body = _IMPORT.sub(
                lambda found: (
                    f"const {{{found[1].replace(' as ', ': ')}}} = "
                    f"{take((path.parent / found[2]).resolve(), (*above, path))};"
                ),
                path.read_text(encoding="utf-8"),
            )
            body, given = _EXPORT.sub("", body), ", ".join(_EXPORT.findall(body))
            if other := _OTHER.search(body):
                raise ValueError(f"{path.name}: {other[0]!r} cannot become part of a classic script")
            names[path] = f"module{len(names)}"
            parts.extend(
                [f"const {names[path]} = (() => {{ // {path.name}", body, f"return {{ {given} }};", "})();"]
            )
        return names[path]

    take(entry.resolve(), ())
    text = "\n".join(parts)
    if _HERE in text:
        text = "const HERE = document.currentScript.src;\n" + text.replace(_HERE, "HERE")
    return f'"use strict";\n(() => {{\n{text}\n}})();\n'
