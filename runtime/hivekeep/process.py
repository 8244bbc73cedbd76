"""This process as the operating system knows it.

Invariant: what the system does not tell is None with a reason, never a guess.
"""

import os
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

_START_TICKS_FIELD = 19
"""Place of the start time behind the command name in /proc/PID/stat (proc_pid_stat(5), field 22)."""


class Started(NamedTuple):
    """When the process was created, in whole seconds since the epoch, or why that is not known."""

    at: int | None
    unavailable_reason: str | None


class Use(NamedTuple):
    """Processor time in microseconds and memory in bytes; None where the system does not tell."""

    cpu_us: int
    rss_bytes: int | None


def use() -> Use:
    """What this process used since it was created, and holds now."""
    return Use(time.process_time_ns() // 1000, _resident_bytes())


def _resident_bytes() -> int | None:
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None


def threads_beside() -> list[str]:
    """What the threads of this process beside its first one are called, each name once, without a number behind it."""
    others = (thread.name for thread in threading.enumerate() if thread is not threading.main_thread())
    return sorted({name.rpartition("_")[0] or name for name in others})


def started() -> Started:
    """The creation time of this process."""
    if not sys.platform.startswith("linux"):
        return Started(None, f"the creation time of a process is not read on {sys.platform}")
    try:
        behind_name = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        ticks = int(behind_name[_START_TICKS_FIELD])
        lines = Path("/proc/stat").read_text().splitlines()
        boot = next(int(line.split()[1]) for line in lines if line.startswith("btime "))
    except (OSError, ValueError, IndexError, StopIteration) as fault:
        return Started(None, f"/proc could not be read: {fault}")
    return Started(boot + ticks // os.sysconf("SC_CLK_TCK"), None)
