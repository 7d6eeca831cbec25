"""Which commit the checkout is at. Apart from `project`, which every result's fingerprint covers."""

from __future__ import annotations

import subprocess

from .project import root

#: asks without writing: a question that is killed must not leave a lock that stops the next commit
GIT = ("git", "--no-optional-locks")


def commit(*written: str) -> str | None:
    """Return the short commit of the checkout, with ``-dirty`` if it differs from it; None outside of git.

    Parameters
    ----------
    *written : str
        Folders that the caller writes to: new files there are its own.
    """
    home = root()
    if home is None or not (home / ".git").exists():  # a file in a worktree; not a repository further up
        return None
    left_out = [f":(exclude){each}" for each in written]
    asked = [["rev-parse", "--short=12", "HEAD"], ["status", "--porcelain", "--", ".", *left_out]]
    try:
        done = [subprocess.run([*GIT, *each], cwd=home, capture_output=True, text=True) for each in asked]
    except OSError:  # no git here
        return None
    if any(each.returncode for each in done):
        return None
    return done[0].stdout.strip() + ("-dirty" if done[1].stdout else "")
