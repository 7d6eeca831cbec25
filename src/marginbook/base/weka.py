"""Weka, a library in Java, called inside of this process: found, started once, and missed in one sentence.

JPype calls it without a process for each fit, which a cross-validation over a grid could not afford.
"""

from __future__ import annotations

import importlib.util
import os
import threading
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

#: the environment variable that names Weka's jar
VARIABLE = "MARGINBOOK_WEKA"
#: where Debian's package `weka` puts it
DEBIAN = Path("/usr/share/java/weka.jar")
# No signals: Ctrl-C stays with Python. One thread: other tasks have the other cores. Java puts a guard
# below the stack of the thread that starts it, as -Xss says; OpenBLAS with two threads needs more than the
# default, 1 MB.
_OPTIONS = ("-Xrs", "-Xss8m", "-XX:+UseSerialGC", "-Djava.awt.headless=true")
_INSTALL = (
    "install all three with: apt-get install weka default-jre-headless; pip install 'marginbook[weka]'; "
    f"outside of Debian, {VARIABLE} names weka.jar and JAVA_HOME the folder of Java"
)

_one_starts = threading.Lock()
_started_in: int | None = None


class WekaMissing(ImportError):
    """Weka cannot be called here; the message says what is missing and how to install it."""


def jar() -> Path:
    """Return the path of Weka's jar, which need not be there: ``MARGINBOOK_WEKA``, else that of Debian."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else DEBIAN


def version() -> str | None:
    """Return the version of Weka as its jar states it, such as ``"3.6.14"``; None without a jar that does."""
    return _version_of(jar())


@cache
def _version_of(path: Path) -> str | None:
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.read("weka/core/version.txt").decode().strip().replace("-", ".")
    except (OSError, KeyError, UnicodeDecodeError, zipfile.BadZipFile):
        return None


def missing() -> str:
    """Return what keeps Weka from being called, and what to install; nothing where it can be."""
    lacking = []
    if importlib.util.find_spec("jpype") is None:
        lacking.append("JPype is not installed")
    elif not _has_java():
        lacking.append("there is no Java")
    if not jar().is_file():
        lacking.append(f"there is no {jar()}")
    elif version() is None:
        lacking.append(f"{jar()} is not Weka's jar")
    return f"Weka cannot be called: {', '.join(lacking)}; {_INSTALL}" if lacking else ""


def _has_java() -> bool:
    import jpype

    if jpype.isJVMStarted():
        return True
    try:
        return Path(jpype.getDefaultJVMPath()).is_file()
    except (jpype.JVMNotFoundException, jpype.JVMNotSupportedException):
        return False


def java_class(name: str) -> Any:
    """Return a class of Weka, or of Java, by its dotted name; the first call starts the virtual machine.

    It may be called from several threads. A worker process starts a machine of its own; a copy of a process
    in which one runs (``fork``) cannot, as only one of the machine's threads lives on in it.

    Raises
    ------
    WekaMissing
        Java, Weka's jar or JPype is not there.
    RuntimeError
        In a copy of a process in which the machine runs.
    """
    _start()
    import jpype

    return jpype.JClass(name)


def _start() -> None:
    global _started_in
    with _one_starts:
        if _started_in == os.getpid():
            return
        if _started_in is not None:
            raise RuntimeError(
                "Java was started before this process was forked, and does not work in the copy; let the "
                "workers be started anew, as joblib's loky does"
            )
        if told := missing():
            raise WekaMissing(told)
        import jpype

        if not jpype.isJVMStarted():
            try:
                jpype.startJVM(*_OPTIONS, classpath=[str(jar())], interrupt=False, convertStrings=False)
            except (OSError, RuntimeError) as error:
                raise WekaMissing(f"Java did not start: {' '.join(str(error).split())}; {_INSTALL}") from None
            if threading.current_thread() is not threading.main_thread():
                # at the end the machine would wait for this thread, which may be gone by then
                jpype.JClass("java.lang.Thread").detach()
        else:  # another package was the first
            jpype.addClassPath(str(jar()))
        _started_in = os.getpid()
