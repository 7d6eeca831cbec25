"""The licences of all that requirements.lock installs, into ``results/supply/licences.csv``.

Read from the metadata of the very wheels that the lock names: from what is installed, and for packages of
other systems and Pythons from a download whose hash the lock knows. `make lock` calls it.
"""

from __future__ import annotations

import csv
import email
import hashlib
import importlib.metadata
import re
import subprocess
import sys
import tempfile
import zipfile
from email.message import Message
from pathlib import Path

from marginbook.book.locked_packages import Locked, locked

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "results" / "supply" / "licences.csv"
FIELDS = ("package", "version", "where", "licence", "kind", "carries")

#: copyleft licences, as their names or texts say; what is carried along in a wheel counts, too
_STRONG = re.compile(r"\b(AGPL|GPL|GNU (Affero )?General Public)", re.I)
_WEAK = re.compile(r"\b(LGPL|MPL|EPL|CDDL|GNU Lesser|Mozilla Public)", re.I)
_TEXTS = {
    "GPL with the GCC runtime exception": re.compile(r"GCC RUNTIME LIBRARY EXCEPTION", re.I),
    "AGPL": re.compile(r"GNU AFFERO GENERAL PUBLIC LICENSE\s+Version", re.I),
    "LGPL": re.compile(r"GNU LESSER GENERAL PUBLIC LICENSE\s+Version|^License: LGPL", re.I | re.M),
    "GPL": re.compile(r"GNU GENERAL PUBLIC LICENSE\s+Version", re.I),
    "MPL": re.compile(r"Mozilla Public License,? (Version|v\.?) ?2", re.I),
}


def kind(licence: str) -> str:
    """Return ``permissive``, ``weak copyleft``, ``copyleft`` or ``unknown`` for a licence as stated.

    Of alternatives joined by OR the mildest counts; of parts joined by AND the strictest.
    """
    if not licence:
        return "unknown"
    order = ("permissive", "weak copyleft", "copyleft")
    choices = []
    for choice in re.split(r"\bOR\b", licence):
        parts = [
            2 if _STRONG.search(part) and not _WEAK.search(part) else bool(_WEAK.search(part))
            for part in re.split(r"\bAND\b|;", choice)
        ]
        choices.append(max(parts))
    return order[min(choices)]


def stated(metadata: Message) -> str:
    """Return the licence that a wheel's metadata state: an SPDX expression, a short field or classifiers."""
    if expression := metadata.get("License-Expression"):
        return str(expression)
    names = [
        str(line).split(" :: ")[-1]
        for line in metadata.get_all("Classifier") or []
        if str(line).startswith("License ::") and not str(line).endswith("OSI Approved")
    ]
    field = str(metadata.get("License") or "").strip()
    if field and "\n" not in field and len(field) < 60 and field != "UNKNOWN":
        return field
    return "; ".join(names)


def carried(texts: list[str]) -> str:
    """Return the copyleft licences whose texts lie in a wheel beside its own."""
    whole = "\n".join(texts)
    names = [name for name, pattern in _TEXTS.items() if pattern.search(whole)]
    if names and names[0].startswith("GPL with") and "GPL" in names:
        names.remove("GPL")  # the text that the exception belongs to
    return "; ".join(names)


def of_installed(package: Locked) -> tuple[Message, list[str]] | None:
    """Return metadata and licence texts of an installed package of the right version, else None."""
    try:
        found = importlib.metadata.distribution(package.name)
    except importlib.metadata.PackageNotFoundError:
        return None
    if found.version != package.version:
        return None
    files = [file for file in found.files or [] if _is_licence(str(file))]
    texts = [Path(str(found.locate_file(file))).read_text("utf-8", errors="replace") for file in files]
    return found.metadata, texts  # type: ignore[return-value]


def of_download(package: Locked, folder: Path) -> tuple[Message, list[str]]:
    """Return the same from a wheel that pip downloads and whose hash is in the lock."""
    base = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:")
    for version in ("3.12", "3.11", "3.13"):
        command = (
            *base,
            "--python-version",
            version,
            "-d",
            str(folder),
            f"{package.name}=={package.version}",
        )
        if subprocess.run(command, capture_output=True).returncode == 0:
            break
    (wheel,) = folder.glob("*.whl")
    if hashlib.sha256(wheel.read_bytes()).hexdigest() not in package.hashes:
        raise SystemExit(f"{wheel.name} is not one of the files that requirements.lock names")
    return read_wheel(wheel)


def read_wheel(wheel: Path) -> tuple[Message, list[str]]:
    """Return the metadata and the licence texts of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (about,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        texts = [archive.read(name).decode("utf-8", "replace") for name in names if _is_licence(name)]
        return email.message_from_bytes(archive.read(about)), texts


def _is_licence(name: str) -> bool:
    inside, _, rest = name.partition(".dist-info/")
    return bool(rest) and bool(re.search(r"licen[cs]e|copying|notice", rest, re.I)) and "/" not in inside


def main() -> None:
    """Write the table."""
    from marginbook.book.slides import writing
    from marginbook.notebooks import mathjax

    rows = []
    for package in locked(ROOT / "requirements.lock"):
        with tempfile.TemporaryDirectory() as folder:
            metadata, texts = of_installed(package) or of_download(package, Path(folder))
        rows.append(_row(package.name, package.version, package.marker, metadata, texts))
    read = {"MathJax of the pages": mathjax.WHEEL, "reveal.js of the slides, MIT": writing.WHEEL}
    for what, wheel in read.items():
        rows.append(_row(wheel.package, wheel.version, what, *read_wheel(mathjax.wheel(wheel))))
    OUT.parent.mkdir(parents=True, exist_ok=True)
    with OUT.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerows([FIELDS, *rows])
    print(f"{OUT.relative_to(ROOT)}: {len(rows)} packages")


def _row(name: str, version: str, where: str, metadata: Message, texts: list[str]) -> list[str]:
    # where the metadata say nothing, the heading of the licence text does
    heading = texts[0].strip().partition("\n")[0].strip() if texts else ""
    licence = " ".join(stated(metadata).split()) or (heading if heading.endswith("License") else "")
    return [name, version, where, licence, kind(licence), carried(texts)]


if __name__ == "__main__":
    from marginbook.cli.stopping import keeping, one_sentence

    with one_sentence(), keeping("nothing was written"):
        main()
