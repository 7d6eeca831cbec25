"""What a release is made of, for scanners: the locked packages with their licences as a CycloneDX document.

The same lock and the same commit give the same bytes: the time is that of the commit, and the serial number
is computed from the content.
"""

from __future__ import annotations

import json
import re
import tomllib
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..base.extras import naming_the_extra
from .locked_packages import Locked, locked
from .supply_page import licences

if TYPE_CHECKING:
    from cyclonedx.model.bom import Bom
    from cyclonedx.model.component import Component


def write(home: Path, target: Path, stamp: int) -> None:
    """Write the document of a checkout, CycloneDX 1.6 in JSON.

    Parameters
    ----------
    home : path
        The checkout, with ``requirements.lock``, ``pyproject.toml`` and ``results/supply/licences.csv``.
    target : path
    stamp : int
        Seconds of Unix, the time of the commit.
    """
    with naming_the_extra():
        from cyclonedx.output.json import JsonV1Dot6

    bom = document(home)
    bom.serial_number, bom.metadata.timestamp = uuid.UUID(int=0), datetime.fromtimestamp(stamp, UTC)
    bom.serial_number = uuid.uuid5(uuid.NAMESPACE_OID, JsonV1Dot6(bom).output_as_string())
    text = json.dumps(json.loads(JsonV1Dot6(bom).output_as_string()), indent=1, sort_keys=True)
    target.write_text(text + "\n", encoding="utf-8", newline="\n")


def document(home: Path) -> Bom:
    """Return components, their licences and who needs whom; the scope says who installs a package.

    ``required`` are the library's own dependencies and what is copied into the pages, ``optional`` those of
    its extras, and ``excluded`` what only the tests use.
    """
    from cyclonedx.contrib.this.builders import this_component
    from cyclonedx.model.bom import Bom

    project = tomllib.loads((home / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    packages, asked = locked(home / "requirements.lock"), asked_by_scope(project)
    rows = {(row["package"], row["version"]): row for row in licences(home / "results" / "supply")}
    scopes = {scope: reached(packages, asked[scope]) for scope in ("required", "optional")}
    made: dict[str, list[Component]] = {}
    for each in packages:
        scope = next((scope for scope, names in scopes.items() if each.name in names), "excluded")
        row = rows.pop((each.name, each.version))
        made.setdefault(each.name, []).append(_component(row, scope, marker=each.marker))
    for (name, _), row in rows.items():
        made.setdefault(name, []).append(_component(row, "required", part=row["where"]))
    library = _library(project["license"])
    bom = Bom(components=[one for found in made.values() for one in found])
    bom.metadata.component = library
    bom.metadata.tools.components.add(this_component())
    bom.register_dependency(
        library, [one for name in set().union(*asked.values()) for one in made.get(name, ())]
    )
    for each in packages:
        for name in each.wanted_by & made.keys():
            for one in made[name]:
                bom.register_dependency(one, made[each.name])
    return bom


def asked_by_scope(project: dict[str, Any]) -> dict[str, set[str]]:
    """Return what pyproject.toml asks for: for the library, for the extras of users, for the tests."""
    extras = dict(project["optional-dependencies"])
    lines = {"required": project["dependencies"], "excluded": extras.pop("test")}
    lines["optional"] = [line for extra in extras.values() for line in extra]
    return {
        scope: {re.split(r"[^\w.-]", line)[0].lower() for line in asked} - {project["name"]}
        for scope, asked in lines.items()
    }


def reached(packages: Iterable[Locked], names: set[str]) -> set[str]:
    """Return the names, and those of all that they need."""
    needs: dict[str, set[str]] = {}
    for each in packages:
        for name in each.wanted_by:
            needs.setdefault(name, set()).add(each.name)
    found, waiting = set(), list(names)
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            waiting += needs.get(name, ())
    return found


def _library(licence: str) -> Component:
    from cyclonedx.contrib.license.factories import LicenseFactory
    from cyclonedx.model.component import Component

    return Component(
        name="marginbook",
        version=__version__,
        bom_ref=f"marginbook@{__version__}",
        licenses=[LicenseFactory().make_from_string(licence)],
    )


def _component(row: dict[str, str], scope: str, **properties: str) -> Component:
    """Return one package; the licence is as its metadata state it, an SPDX name where they use one."""
    from cyclonedx.contrib.license.factories import LicenseFactory
    from cyclonedx.model import Property
    from cyclonedx.model.component import Component, ComponentScope
    from packageurl import PackageURL

    told = {**properties, "copyleft-texts": row["carries"]}
    return Component(
        name=row["package"],
        version=row["version"],
        bom_ref=f"{row['package']}@{row['version']}",
        scope=ComponentScope(scope),
        purl=PackageURL("pypi", name=row["package"], version=row["version"]),
        licenses=[LicenseFactory().make_from_string(row["licence"])],
        properties=[Property(name=f"marginbook:{key}", value=text) for key, text in told.items() if text],
    )
