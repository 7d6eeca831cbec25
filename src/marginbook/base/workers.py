"""Worker processes: what they leave to their parent."""

from __future__ import annotations

import multiprocessing
import signal


def leave_ctrl_c_to_parent() -> None:
    """In a worker, take no notice of Ctrl-C; elsewhere do nothing.

    It reaches the whole process group, and the parent alone decides what then happens.
    """
    if multiprocessing.parent_process() is not None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
