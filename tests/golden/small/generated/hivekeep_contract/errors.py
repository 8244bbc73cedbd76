"""One class for each situation in which an operation fails.

Printed from registry/errors.yaml by `make generate`; do not edit.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

_DETAILS_MAX = 3
_WORDS = {None: "null", True: "true", False: "false"}


class HivekeepError(Exception):
    """A failure that an answer can carry.

    `details` explain the situation as short texts. `fields` become further keys of the error object and attributes
    of the exception; a field `code` replaces the code of the class.
    """

    code: str = ""
    kind: ClassVar[str] = "internal"
    http_status: ClassVar[int] = 500
    no_write: ClassVar[bool] = False
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, details: Mapping[str, object] | None = None, **fields: object) -> None:
        super().__init__(message)
        self.message = message
        self.details = _details(details) if details else {}
        self.code = str(fields.pop("code", self.code))
        self.fields = fields
        self.__dict__.update(fields)

    def body(self) -> dict[str, Any]:
        """The error object of an entry, without its disposition."""
        body: dict[str, Any] = {"kind": self.kind}
        if self.code:
            body["code"] = self.code
        body["message"] = self.message
        if self.details:
            body["details"] = self.details
        if self.retryable:
            body["retryable"] = True
        return {**body, **self.fields}


def _details(details: Mapping[str, object]) -> dict[str, str]:
    """Texts only, at most 3: when there are more, the last place tells how many were dropped."""
    pairs = [(key, value if isinstance(value, str) else _text(value)) for key, value in details.items()]
    if len(pairs) <= _DETAILS_MAX:
        return dict(pairs)
    kept = dict(pairs[: _DETAILS_MAX - 1])
    kept["details_truncated"] = str(len(pairs) - len(kept))
    return kept


def _text(value: object) -> str:
    return _WORDS[value] if value is None or isinstance(value, bool) else str(value)


class InvalidInput(HivekeepError):
    """An argument is wrong. Read the message."""

    code = "invalid_input"
    kind = "invalid_input"
    http_status = 400


class RecordMissing(HivekeepError):
    """There is no such record. Check the id."""

    code = "not_found"
    kind = "runtime_error"
    http_status = 404


class NotFound(HivekeepError):
    """It does not exist. Check the id."""

    code = "not_found"
    kind = "not_found"
    http_status = 404
    no_write = True


class Busy(HivekeepError):
    """The store was busy. Try again.

    Fields: timeout_ms.
    """

    code = "busy"
    kind = "unavailable"
    http_status = 503
    no_write = True
    retryable = True


class Unauthorized(HivekeepError):
    """No token. Send one."""

    code = "unauthorized"
    kind = "unauthorized"
    http_status = 401
    no_write = True


class BadBody(HivekeepError):
    """The body is not JSON. Send JSON."""

    code = "bad_body"
    kind = "invalid_params"
    http_status = 400
    no_write = True


ERRORS: dict[str, type[HivekeepError]] = {
    "invalid_input": InvalidInput,
    "record_missing": RecordMissing,
    "not_found": NotFound,
    "busy": Busy,
    "unauthorized": Unauthorized,
    "bad_body": BadBody,
}
