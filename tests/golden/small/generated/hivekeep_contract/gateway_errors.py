"""How operations of the agent event gateway fail: one class for each way.

Printed from registry/gateway/_surface.yaml by `make generate`; do not edit.
"""

from typing import Any, ClassVar, Literal

Reason = Literal[
    "no_run",
    "closed",
    "wrong_value",
]


class GatewayError(Exception):
    """A failure that an envelope can carry: nothing in it comes from the request.

    `reason` says why, or is empty. `field` is the JSON pointer of a field that the interface knows. `retry_after_s` are
    the seconds to wait before the same request is sent again. Failures that no envelope carries, because only the command
    line has them, keep the `status` of this class.
    """

    code: ClassVar[str]
    status: ClassVar[int] = 500
    message: ClassVar[str]
    exit_status: ClassVar[int]

    def __init__(
        self, reason: Reason | Literal[""] = "", *, field: str | None = None, retry_after_s: int | None = None
    ) -> None:
        super().__init__(f"{self.code}: {reason}" if reason else self.code)
        self.reason: str = reason
        self.field = field
        self.retry_after_s = retry_after_s

    @property
    def details(self) -> dict[str, Any]:
        """`error.details` of the envelope: the seconds to wait, or the reason and the field, or nothing."""
        if self.retry_after_s is not None:
            return {"retryAfterSeconds": self.retry_after_s}
        given = {"reason": self.reason or None, "field": self.field}
        return {name: value for name, value in given.items() if value is not None}


class ValidationError(GatewayError):
    """The request is wrong."""

    code = "VALIDATION_ERROR"
    status = 400
    message = "invalid request"
    exit_status = 3


class NotFound(GatewayError):
    """There is no such run."""

    code = "NOT_FOUND"
    status = 404
    message = "not there"
    exit_status = 4


class Conflict(GatewayError):
    """The run is closed."""

    code = "CONFLICT"
    status = 409
    message = "in the way"
    exit_status = 5


class Backpressure(GatewayError):
    """Too many writes."""

    code = "BACKPRESSURE"
    status = 429
    message = "busy"
    exit_status = 6


class PartialFailure(GatewayError):
    """Some parts failed."""

    code = "PARTIAL_FAILURE"
    message = "partly failed"
    exit_status = 9


FAILURES: dict[str, type[GatewayError]] = {
    "validation_error": ValidationError,
    "not_found": NotFound,
    "conflict": Conflict,
    "backpressure": Backpressure,
    "partial_failure": PartialFailure,
}

#: What each reason means.
REASONS: dict[str, str] = {
    "no_run": "There is no such run.",
    "closed": "It has ended.",
    "wrong_value": "A field is wrong.",
}
