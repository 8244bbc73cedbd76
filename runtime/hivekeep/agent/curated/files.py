"""Reads files of folders that somebody else may have filled.

Invariant: nothing waits and nothing is read but a regular file. A pipe, a device or a folder in the place of a file is
an error, and what is judged is the open file, so nobody can swap it in between.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Final

# A pipe in the place of a file must not make us wait for somebody who writes.
_READ_ONLY: Final = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)
_NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)


class NotRegular(OSError):
    """There is something, and it is no regular file."""


def read(path: Path, most: int, *, follow: bool = True) -> bytes:
    """At most that many bytes from the beginning of a regular file; `follow` says whether it may be behind a link.

    Raises NotRegular, and another OSError for what is not there or cannot be read.
    """
    handle = os.open(path, _READ_ONLY if follow else _READ_ONLY | _NO_FOLLOW)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise NotRegular(errno.EINVAL, "not a regular file", str(path))
        with open(handle, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(handle)
