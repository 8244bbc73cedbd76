"""JSON and texts that a command is given, in a file or on standard input.

What it keeps true: no more is read than one request may hold, whatever the file is, and an object is read as the
gateway reads a body.
"""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import Any

from hivekeep.doors import gateway, wire
from hivekeep_contract.gateway_errors import ValidationError
from hivekeep_contract.limits import HTTP_BODY_MAX_BYTES

STANDARD_STREAM = "-"
"""Stands for standard input, and for standard output, where a file is named."""


def object_in(source: str) -> dict[str, Any]:
    """The JSON object in a file. Raises OSError, and ValidationError for anything else."""
    return gateway.json_object(_read(source))


def value_in(source: str) -> Any:
    """The JSON value in a file. Raises OSError, and ValidationError for what is none."""
    try:
        return wire.decode(_read(source))
    except ValueError:
        raise ValidationError("not_json") from None


def text_in(source: str) -> str:
    """The text in a file. Raises OSError, and ValidationError for bytes that are no UTF-8."""
    try:
        return _read(source).decode()
    except UnicodeDecodeError:
        raise ValidationError("not_json") from None


def _read(source: str) -> bytes:
    if source != STANDARD_STREAM:
        with Path(source).open("rb") as file:
            raw = file.read(HTTP_BODY_MAX_BYTES + 1)
    elif sys.stdin is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), source)
    else:
        raw = sys.stdin.buffer.read(HTTP_BODY_MAX_BYTES + 1)
    if len(raw) > HTTP_BODY_MAX_BYTES:
        raise ValidationError("body_too_large")
    return raw
