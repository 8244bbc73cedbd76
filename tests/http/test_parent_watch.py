"""A process that outlives its parent is told so."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="serve is for Linux and macOS")

CHILD = """
import os, sys, time
from hivekeep.doors import parent_watch
{without_kernel}
parent_watch.stop_with_parent(os.getppid(), poll_s=0.05)
print(os.getpid(), flush=True)
time.sleep(30)
"""


@pytest.mark.parametrize("without_kernel", ["", "parent_watch._ask_kernel = lambda: None"])
def test_the_death_of_the_parent_is_a_sigterm(without_kernel: str) -> None:
    """With the kernel's help and with the watching thread alone, the child ends soon after its parent was killed."""
    child = CHILD.format(without_kernel=without_kernel)
    parent = subprocess.Popen(
        [sys.executable, "-c", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"],
        stdout=subprocess.PIPE,
    )
    with parent:
        assert parent.stdout is not None
        orphan = int(parent.stdout.readline())
        parent.kill()
        parent.wait(timeout=5)
        deadline = time.monotonic() + 2
        while _is_running(orphan):
            if time.monotonic() > deadline:
                os.kill(orphan, signal.SIGKILL)
                pytest.fail("the orphan was still running after 2 s")
            time.sleep(0.02)


def _is_running(pid: int) -> bool:
    """Whether the process runs; one that ended but was not collected by its new parent does not."""
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat").read_text() if sys.platform == "linux" else ") R"
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
