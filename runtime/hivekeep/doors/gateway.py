"""The envelope of the agent event gateway, which also answers for paths of /api/v1 that do not exist.

What it keeps true: the checks come in the gateway's order (host, token, content type, body, route), each
failure has one fixed message, and no message repeats anything the client sent.
"""

from __future__ import annotations

from typing import Any, NamedTuple

UNKNOWN_OPERATION = "api.v1"


class Failure(NamedTuple):
    """One way to fail: the code of the envelope, the HTTP status and the fixed message."""

    code: str
    status: int
    message: str


INVALID = Failure("VALIDATION_ERROR", 400, "invalid request")
UNAUTHENTICATED = Failure("AUTHENTICATION_ERROR", 401, "authorization invalid")
NO_ENDPOINT = Failure("NOT_FOUND", 404, "endpoint not found")
CONFLICT = Failure("CONFLICT", 409, "conflicts with current state")


def failure(operation: str, reason: Failure, message: str | None = None) -> dict[str, Any]:
    """The failure envelope of `operation`; `message` replaces the fixed one only where no client reads it."""
    told = {"code": reason.code, "message": message or reason.message, "details": {}}
    return {"apiVersion": "1", "ok": False, "operation": operation, "error": told}


def success(operation: str, data: dict[str, Any]) -> dict[str, Any]:
    """The success envelope of `operation`."""
    return {"apiVersion": "1", "ok": True, "operation": operation, "data": data, "meta": {}}
