"""The command line with streams, folders and disks that are not what a program expects: one line, never a traceback."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from support.processes import PROGRAM, environment

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="redirections of a POSIX shell")
HIVEKEEP = shlex.join(PROGRAM)
CREATE = """exec 'create(kind="concept", name="A")'"""


def shell(home: Path, script: str) -> tuple[int, str]:
    """Status and standard error of a line of shell in which `hivekeep` is the program."""
    done = subprocess.run(
        ["/bin/sh", "-c", script.replace("hivekeep", HIVEKEEP)],
        cwd=home,
        env=environment(home),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (f"hivekeep {CREATE} >&-", "hivekeep: standard output is closed; nothing was done\n"),
        ("hivekeep exec - <&-", "hivekeep: standard input is closed; nothing was done\n"),
        ("hivekeep mcp <&-", "hivekeep: standard input or output is closed; MCP needs both\n"),
        ("hivekeep mcp >&-", "hivekeep: standard input or output is closed; MCP needs both\n"),
        (
            "mkdir gone && cd gone && rmdir ../gone && hivekeep exec 'stats()'",
            "hivekeep: the working directory does not exist any more; change to one that does\n",
        ),
    ],
)
def test_a_stream_or_folder_that_is_missing_is_status_2(tmp_path: Path, script: str, told: str) -> None:
    """Python gives a closed stream as None, and a deleted working directory raises: both were tracebacks."""
    assert shell(tmp_path, script) == (2, told)
    assert not (tmp_path / ".local").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110
@pytest.mark.parametrize("command", [CREATE, "doctor", "server status"])
def test_output_that_cannot_be_written_is_told_once(tmp_path: Path, command: str) -> None:
    """The answer is lost, the work is done: the one line says so, and the interpreter adds none of its own at exit."""
    status, told = shell(tmp_path, f"hivekeep {command} >/dev/full")
    line = "hivekeep: standard output: No space left on device; what was asked for has been done\n"
    assert (status, told) == (1, line)


def test_a_reader_that_has_seen_enough_ends_the_command_quietly(tmp_path: Path) -> None:
    """`hivekeep ... | head` says nothing about the pipe."""
    assert shell(tmp_path, "hivekeep exec 'list(kind=\"event\")' | true") == (0, "")
