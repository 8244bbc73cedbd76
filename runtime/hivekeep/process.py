"""This process as the operating system knows it.

Invariant: what the system does not tell is None with a reason, never a guess.
"""

import os
import sys
from pathlib import Path
from typing import NamedTuple

_START_TICKS_FIELD = 19
"""Place of the start time behind the command name in /proc/PID/stat (proc_pid_stat(5), field 22)."""


class Started(NamedTuple):
    """When the process was created, in whole seconds since the epoch, or why that is not known."""

    at: int | None
    unavailable_reason: str | None


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
