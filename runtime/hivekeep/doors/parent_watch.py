"""A worker that outlives its parent stops itself: its port closes within two seconds of a `kill -9`.

Linux is asked to signal us when the parent dies; everywhere a thread also looks once a second, because that
signal is lost when the parent died before we asked, and other systems do not have it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

POLL_S = 1.0
_PR_SET_PDEATHSIG = 1


def stop_with_parent(parent: int, *, poll_s: float = POLL_S) -> None:
    """Send this process SIGTERM once its parent is no longer `parent`.

    Call it in the child, after the fork.
    """
    if sys.platform == "linux":
        _ask_kernel()
    threading.Thread(target=_watch, args=(parent, poll_s), name="parent-watch", daemon=True).start()


def _ask_kernel() -> None:
    import ctypes

    # A kernel that refuses (a sandbox may) leaves the thread as the only watch.
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _watch(parent: int, poll_s: float) -> None:
    while os.getppid() == parent:
        time.sleep(poll_s)
    os.kill(os.getpid(), signal.SIGTERM)
