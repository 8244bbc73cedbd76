"""How operations of the agent event gateway fail: one class for each way.

Printed from registry/gateway/_surface.yaml by `make generate`; do not edit.
"""

from typing import Any, ClassVar, Literal

Reason = Literal[
    "bad_token",
    "foreign_host",
    "content_type",
    "body_too_large",
    "not_http",
    "not_json",
    "duplicate_key",
    "nested_too_deep",
    "not_an_object",
    "query_not_allowed",
    "query_unknown",
    "query_repeated",
    "query_value",
    "bad_cursor",
    "bad_run_id",
    "no_endpoint",
    "no_run",
    "no_parent",
    "no_record",
    "key_missing",
    "key_malformed",
    "unknown_field",
    "missing_field",
    "wrong_type",
    "wrong_value",
    "too_long",
    "too_large",
    "empty",
    "reserved_key",
    "fields_exclusive",
    "field_missing_for",
    "secret",
    "denied",
    "key_reused",
    "run_in_intake",
    "run_closed",
    "run_moved_on",
    "intake_final",
    "not_outstanding",
    "answered_otherwise",
    "catalog_differs",
    "source_id_reused",
    "event_id_reused",
    "batch_repeats",
    "batch_partly_stored",
    "feedback_id_reused",
    "other_workspace",
    "delivery_too_early",
    "entry_exists",
    "context_changed",
    "revision_differs",
    "not_candidate",
    "entry_superseded",
    "ambiguous",
    "managed_entry",
    "entry_purged",
    "record_differs",
    "checksum_differs",
    "bad_archive",
    "busy",
    "closing",
    "store_unavailable",
    "no_server",
    "no_answer",
    "bad_answer",
    "server_running",
    "bad_runtime_file",
    "unsafe_file",
    "bad_setting",
    "bad_usage",
    "unreadable_file",
    "spool_full",
    "bytes_left",
    "bad_spool",
    "no_platform",
    "response_too_large",
    "broken_record",
    "internal",
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


class UsageError(GatewayError):
    """The call itself is wrong."""

    code = "USAGE_ERROR"
    status = 400
    message = "invalid request"
    exit_status = 2


class ValidationError(GatewayError):
    """A header or a field is not what the operation takes. Nothing was written."""

    code = "VALIDATION_ERROR"
    status = 400
    message = "invalid request"
    exit_status = 3


class AuthenticationError(GatewayError):
    """The bearer token is missing or wrong. Nothing was written."""

    code = "AUTHENTICATION_ERROR"
    status = 401
    message = "authorization invalid"
    exit_status = 7


class NotFound(GatewayError):
    """There is no such path, run or record. Nothing was written."""

    code = "NOT_FOUND"
    status = 404
    message = "endpoint not found"
    exit_status = 4


class Conflict(GatewayError):
    """The request does not fit the state of the run, or a key or an id was used for something else. Nothing was written; only a conflict between ranking and delivery comes behind the write, which then stands: the same key gets its acknowledgement and fresh context."""

    code = "CONFLICT"
    status = 409
    message = "conflicts with current state"
    exit_status = 5


class SecurityRejection(GatewayError):
    """The request holds a credential where none can be masked, or the policy refuses the caller. Nothing was written."""

    code = "SECURITY_REJECTION"
    status = 422
    message = "rejected"
    exit_status = 7


class Backpressure(GatewayError):
    """Too many writes are waiting. Try again with the same key after the seconds of Retry-After; the write is carried out once."""

    code = "BACKPRESSURE"
    status = 429
    message = "busy"
    exit_status = 6


class IntegrityError(GatewayError):
    """What is stored contradicts itself."""

    code = "INTEGRITY_ERROR"
    status = 500
    message = "internal integrity error"
    exit_status = 8


class UnexpectedError(GatewayError):
    """A fault of the server."""

    code = "DATABASE_ERROR"
    status = 500
    message = "internal error"
    exit_status = 6


class DatabaseError(GatewayError):
    """The store cannot be used at the moment."""

    code = "DATABASE_ERROR"
    status = 503
    message = "database unavailable"
    exit_status = 6


class ServiceUnavailable(GatewayError):
    """The server is on its way out, or there is none."""

    code = "SERVICE_UNAVAILABLE"
    status = 503
    message = "service unavailable"
    exit_status = 6


class PartialFailure(GatewayError):
    """Some of several parts failed."""

    code = "PARTIAL_FAILURE"
    message = "partly failed"
    exit_status = 9


class NotImplemented(GatewayError):
    """This program has no such operation."""

    code = "NOT_IMPLEMENTED"
    message = "not available"
    exit_status = 2


FAILURES: dict[str, type[GatewayError]] = {
    "usage_error": UsageError,
    "validation_error": ValidationError,
    "authentication_error": AuthenticationError,
    "not_found": NotFound,
    "conflict": Conflict,
    "security_rejection": SecurityRejection,
    "backpressure": Backpressure,
    "integrity_error": IntegrityError,
    "unexpected_error": UnexpectedError,
    "database_error": DatabaseError,
    "service_unavailable": ServiceUnavailable,
    "partial_failure": PartialFailure,
    "not_implemented": NotImplemented,
}

#: What each reason means.
REASONS: dict[str, str] = {
    "bad_token": "The Authorization header is not `Bearer` and the token.",
    "foreign_host": "The Host or Origin of the request is not this machine.",
    "content_type": "There must be exactly one Content-Type, application/json.",
    "body_too_large": "The body has too many bytes.",
    "not_http": "The request is not well-formed HTTP, such as one with a control character in a header.",
    "not_json": "The body is not JSON: not UTF-8, malformed, or a number that JSON cannot hold.",
    "duplicate_key": "An object of the body has a key twice.",
    "nested_too_deep": "The body nests too deeply.",
    "not_an_object": "The body must be one JSON object.",
    "query_not_allowed": "This operation takes no query string.",
    "query_unknown": "The query string has a field that the operation does not take.",
    "query_repeated": "The query string has a field twice.",
    "query_value": "A field of the query string has a wrong value.",
    "bad_cursor": "The cursor is none that a page gave.",
    "bad_run_id": "The run id of the path is malformed.",
    "no_endpoint": "There is no such path, or it does not take this method.",
    "no_run": "There is no such run.",
    "no_parent": "There is no such parent run.",
    "no_record": "The delivery, entry, question or proposal that the request names does not exist here.",
    "key_missing": "A write needs exactly one Idempotency-Key header.",
    "key_malformed": "The Idempotency-Key is blank, too long, or has control characters or blanks around it.",
    "unknown_field": "An object of the request has a field that is not known there.",
    "missing_field": "A required field is missing.",
    "wrong_type": "A field has a value of the wrong type.",
    "wrong_value": "A field has a value that is not accepted.",
    "too_long": "A text or a list is too long.",
    "too_large": "A payload, task, answer or metadata object is too large.",
    "empty": "The request says nothing: at least one of its optional fields is needed.",
    "reserved_key": "Metadata uses a key that is reserved for the server.",
    "fields_exclusive": "Two fields exclude each other.",
    "field_missing_for": "A field needs another one beside it.",
    "secret": "A key or a field that cannot be masked holds what looks like a credential.",
    "denied": "The policy refuses this operation to this caller.",
    "key_reused": "The Idempotency-Key was used before with another request.",
    "run_in_intake": "The run still waits for an answer.",
    "run_closed": "The run has ended.",
    "run_moved_on": "The run got new events between ranking and delivery; nothing was delivered. Ask again.",
    "intake_final": "The profile of the run is final.",
    "not_outstanding": "The question is not the one that waits for an answer.",
    "answered_otherwise": "The question was answered before with another value.",
    "catalog_differs": "The capabilities are not those that the run was opened with.",
    "source_id_reused": "A source event id was used before for another event of this run.",
    "event_id_reused": "An event id was used before for another event.",
    "batch_repeats": "Two events of the batch have the same id.",
    "batch_partly_stored": "Some events of the batch are stored already and some are not.",
    "feedback_id_reused": "The feedback id was used before.",
    "other_workspace": "The parent run, or the other entry, belongs to another workspace.",
    "delivery_too_early": "The delivery was made before the proposal.",
    "entry_exists": "The same content is in the memory of the workspace already, as another entry or without this proposal.",
    "context_changed": "Memory changed between ranking and delivery; nothing was delivered. Ask again.",
    "revision_differs": "The entry has another revision than expected.",
    "not_candidate": "Only a candidate can be changed or verified.",
    "entry_superseded": "The entry was superseded.",
    "ambiguous": "Several records have an id that begins so.",
    "managed_entry": "A managed source speaks for the entry; change it there.",
    "entry_purged": "The entry was purged here and is not taken back.",
    "record_differs": "A record of the file is here already, with other content.",
    "checksum_differs": "The file or one of its revisions is not what its checksum says.",
    "bad_archive": "The file is no whole export: a line is out of its place, is missing, or names what is not there.",
    "busy": "Too many writes are waiting.",
    "closing": "The server is on its way out.",
    "store_unavailable": "The store cannot be used at the moment.",
    "no_server": "No server of this database is running.",
    "no_answer": "The server did not answer in time. Nobody knows whether it did what was asked; ask again with the same key.",
    "bad_answer": "What answered is no answer of the gateway.",
    "server_running": "A server of this database is running already.",
    "bad_runtime_file": "A file or the folder of a running server cannot be used.",
    "unsafe_file": "A file or the folder of a running server is a link, or open to other users, or belongs to one.",
    "bad_setting": "A setting has a value that is not accepted.",
    "bad_usage": "The command was called in a way that it does not take.",
    "unreadable_file": "A file that the command names cannot be read.",
    "spool_full": "Too many writes wait on disk for a server.",
    "bytes_left": "The runs are gone, but the file or its log may hold bytes of them still. Repeat the command.",
    "bad_spool": "A write that waits on disk is none of ours, or the folder of them is open to other users.",
    "no_platform": "This operating system cannot do it.",
    "response_too_large": "The answer would have too many bytes.",
    "broken_record": "What is stored contradicts itself.",
    "internal": "A fault of the server.",
}
