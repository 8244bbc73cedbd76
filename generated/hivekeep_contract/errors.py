"""One class for each situation in which an operation fails.

Printed from registry/errors.yaml by `make generate`; do not edit.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

_DETAILS_MAX = 8
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
    """Texts only, at most 8: when there are more, the last place tells how many were dropped."""
    pairs = [(key, value if isinstance(value, str) else _text(value)) for key, value in details.items()]
    if len(pairs) <= _DETAILS_MAX:
        return dict(pairs)
    kept = dict(pairs[: _DETAILS_MAX - 1])
    kept["details_truncated"] = str(len(pairs) - len(kept))
    return kept


def _text(value: object) -> str:
    return _WORDS[value] if value is None or isinstance(value, bool) else str(value)


class ParseError(HivekeepError):
    """The ops string is not of the request language. data.dsl_error names the fault, position the character. Correct the string at the position named; nothing ran.

    Fields: reason, dsl_error, position.
    """

    code = "parse_error"
    kind = "invalid_params"
    http_status = 400
    no_write = True


class InvalidParams(HivekeepError):
    """A field of the request itself is unknown or has a wrong value. Use the fields the message lists; nothing ran.

    Fields: reason.
    """

    code = "invalid_params"
    kind = "invalid_params"
    http_status = 400
    no_write = True


class UnknownVerb(HivekeepError):
    """No loaded pack has a verb of this name. Use the verb the message suggests, or list them with verbs()."""

    code = "unknown_verb"
    kind = "unknown_verb"
    http_status = 404
    no_write = True


class InvalidInput(HivekeepError):
    """An argument is unknown, missing, of the wrong type, out of range, or contradicts another one. The message names the argument and what is accepted."""

    code = "invalid_input"
    kind = "invalid_input"
    http_status = 400


class PrevReferenceFailed(HivekeepError):
    """A $prev reference does not fit the result before it. The message lists the fields that exist there."""

    code = "prev_reference_failed"
    kind = "invalid_input"
    http_status = 400
    no_write = True


class PermissionDenied(HivekeepError):
    """The policy refuses this verb to this caller. Ask the operator for a grant."""

    code = "permission_denied"
    kind = "permission_denied"
    http_status = 403
    no_write = True


class GateUnavailable(HivekeepError):
    """The policy could not be asked, so the operation was refused. Try again; the operator finds the cause in the log of the server."""

    code = "gate_unavailable"
    kind = "gate_unavailable"
    http_status = 503
    no_write = True
    retryable = True


class NotFound(HivekeepError):
    """A record that the operation names does not exist, or is deleted. Check the id; get with include_deleted=true shows a deleted record."""

    code = "not_found"
    kind = "not_found"
    http_status = 404
    no_write = True


class RecordNotFound(HivekeepError):
    """get found no live record of this id. Check the id; include_deleted=true shows a deleted record."""

    code = "not_found"
    kind = "runtime_error"
    http_status = 404


class Ambiguous(HivekeepError):
    """A prefix or name fits several records; the message lists them. Give more digits, or a full UUID from the list."""

    code = "ambiguous"
    kind = "ambiguous"
    http_status = 409
    no_write = True


class RedirectCycle(HivekeepError):
    """Merge redirects lead in a circle. Read the records with include_deleted=true and mend merged_into."""

    code = "redirect_cycle"
    kind = "runtime_error"
    http_status = 409


class RedirectChainTooLong(HivekeepError):
    """More merge redirects than one read follows. Ask for a later record of the chain."""

    code = "redirect_chain_too_long"
    kind = "runtime_error"
    http_status = 409


class GraphBudgetExceeded(HivekeepError):
    """Following the edges took more than one operation may use; details.budget says whether rows or time. No part of the answer is given. Lower max_depth or hops, give fewer roots, or filter by relations, direction or min_weight."""

    code = "graph_budget_exceeded"
    kind = "budget_exceeded"
    http_status = 422
    no_write = True


class DeadlineExceeded(HivekeepError):
    """The operation took longer than it may. No part of its answer is given. Try again with a smaller limit or narrower filters."""

    code = "deadline_exceeded"
    kind = "deadline_exceeded"
    http_status = 504
    no_write = True
    retryable = True


class InvalidQuery(HivekeepError):
    """The text of a query is not of its language, or names what is not there. Correct the text at the position that is named; the message says what is accepted there."""

    code = "invalid_query"
    kind = "invalid_input"
    http_status = 400
    no_write = True


class QueryTooExpensive(HivekeepError):
    """The query ran longer than one operation may. No part of its answer is given. Give kinds, relations or exact names to the pattern, or fewer hops."""

    code = "query_too_expensive"
    kind = "budget_exceeded"
    http_status = 422
    no_write = True


class KeyConflict(HivekeepError):
    """Another live note of this namespace and kind holds the key, with other content. Read the holder and update it, or choose another key."""

    code = "key_conflict"
    kind = "conflict"
    http_status = 409
    no_write = True


class IdempotencyKeyConflict(HivekeepError):
    """The idempotency key was used before, with other content. Read the record that holds the key, or choose another key."""

    code = "idempotency_key_conflict"
    kind = "conflict"
    http_status = 409
    no_write = True


class EdgeTombstoned(HivekeepError):
    """The edge exists but is deleted. Give resurrect=true to bring it back."""

    code = "edge_tombstoned"
    kind = "conflict"
    http_status = 409
    no_write = True


class NaturalKeyConflict(HivekeepError):
    """Another edge already has these endpoints and this relation. Update or delete the edge that is named."""

    code = "natural_key_conflict"
    kind = "conflict"
    http_status = 409
    no_write = True


class VersionConflict(HivekeepError):
    """The note has another version than expected. Read it again and decide with the current version."""

    code = "version_conflict"
    kind = "conflict"
    http_status = 409
    no_write = True


class ConcurrentChange(HivekeepError):
    """The record was changed between the read and the write of this operation. Read it again and repeat."""

    code = "concurrent_change"
    kind = "conflict"
    http_status = 409
    no_write = True
    retryable = True


class RestoreKeyConflict(HivekeepError):
    """Another live note took the key while this one was deleted. Delete or re-key the holder first."""

    code = "restore_key_conflict"
    kind = "conflict"
    http_status = 409
    no_write = True


class MergeGuard(HivekeepError):
    """The two records do not pass a check of merge; they may not mean the same. Compare the two; correct the field that is named, or keep both."""

    code = "merge_guard"
    kind = "conflict"
    http_status = 409
    no_write = True


class MergeNamespaces(HivekeepError):
    """The two records of a merge are in different namespaces. Merge records of one namespace."""

    code = "merge_namespaces"
    kind = "conflict"
    http_status = 409
    no_write = True


class MergeTooLarge(HivekeepError):
    """The merge would change or remove more rows than one operation may. Delete edges that are not needed, then repeat."""

    code = "merge_too_large"
    kind = "conflict"
    http_status = 409
    no_write = True


class MergeTombstone(HivekeepError):
    """The record was merged into another one and cannot be restored alone. Use the kept record that is named."""

    code = "merge_tombstone"
    kind = "conflict"
    http_status = 409
    no_write = True


class LiveMergedEntity(HivekeepError):
    """The entity is live but still carries a merge pointer. An operator clears merged_into."""

    code = "live_merged_entity"
    kind = "conflict"
    http_status = 409
    no_write = True


class EndpointDeleted(HivekeepError):
    """An endpoint of the edge is deleted. Restore the endpoint first."""

    code = "endpoint_deleted"
    kind = "conflict"
    http_status = 409
    no_write = True


class SelfApproval(HivekeepError):
    """Who proposed a change may not approve it. Let another actor approve it."""

    code = "self_approval"
    kind = "permission_denied"
    http_status = 403
    no_write = True


class NotProposer(HivekeepError):
    """Only the proposer may withdraw a proposal. Reject it with review instead."""

    code = "not_proposer"
    kind = "permission_denied"
    http_status = 403
    no_write = True


class ProposalClosed(HivekeepError):
    """The proposal is in a status that this step may not leave. Propose the change again, with this one as its parent_id."""

    code = "proposal_closed"
    kind = "conflict"
    http_status = 409
    no_write = True


class ProposalExpired(HivekeepError):
    """The proposal may no longer be approved. Propose the change again, with a later expiry."""

    code = "proposal_expired"
    kind = "conflict"
    http_status = 409
    no_write = True


class ProfileExists(HivekeepError):
    """There is a profile of this name in the caller's namespace. Choose another name, or use the profile that is there."""

    code = "profile_exists"
    kind = "conflict"
    http_status = 409
    no_write = True


class EventWindowTooLarge(HivekeepError):
    """The window of an exhaustive count holds more events than it may look at. Narrow since and until, or name an actor or a kind."""

    code = "event_window_too_large"
    kind = "invalid_input"
    http_status = 422
    no_write = True


class Unconfigured(HivekeepError):
    """The operation needs a setting, or a part, that this server was started without. The message names it; the operator can give a setting."""

    code = "unconfigured"
    kind = "unconfigured"
    http_status = 409
    no_write = True


class SecretDetected(HivekeepError):
    """The text holds something that looks like a credential; it was not stored. Take the credential out; scan() shows what would be refused."""

    code = "secret_detected"
    kind = "secret_detected"
    http_status = 422
    no_write = True


class WriterPoolCheckoutTimeout(HivekeepError):
    """The writing connection was not free in time. Try again.

    Fields: stage, timeout_ms, capability, operation.
    """

    code = "writer_pool_checkout_timeout"
    kind = "unavailable"
    http_status = 503
    no_write = True
    retryable = True


class WriterQueueFull(HivekeepError):
    """Too many writes were waiting and no place came free in time. Try again later, or send fewer writes at once.

    Fields: stage, timeout_ms, capability, operation.
    """

    code = "writer_queue_full"
    kind = "unavailable"
    http_status = 503
    no_write = True
    retryable = True


class WriterTaskBeginBusy(HivekeepError):
    """Another process held the write lock for the whole wait. Try again.

    Fields: stage, timeout_ms, capability, operation.
    """

    code = "writer_task_begin_busy"
    kind = "unavailable"
    http_status = 503
    no_write = True
    retryable = True


class ReaderCheckoutTimeout(HivekeepError):
    """All readers were busy for the whole wait. Try again.

    Fields: stage, timeout_ms, capability, operation.
    """

    code = "reader_checkout_timeout"
    kind = "unavailable"
    http_status = 503
    no_write = True
    retryable = True


class StorageUnavailable(HivekeepError):
    """The store cannot carry out the operation; the disk is full, the file is read-only or damaged. The message says which; `hivekeep doctor` says more.

    Fields: stage, capability, operation.
    """

    code = "storage_unavailable"
    kind = "unavailable"
    http_status = 503
    no_write = True


class WriteOutcomeUnknown(HivekeepError):
    """The disk could not be flushed while a write was being committed; the commit may or may not have reached it. Look the record up before trying again; `hivekeep doctor` examines the file.

    Fields: stage, capability, operation.
    """

    code = "write_outcome_unknown"
    kind = "unavailable"
    http_status = 503


class NewerSchema(HivekeepError):
    """The database was written by a newer version of this program. Install that version; this one wrote nothing."""

    code = "newer_schema"
    kind = "unavailable"
    http_status = 503
    no_write = True


class MigrationFailed(HivekeepError):
    """The database could not be brought to the schema of this program; the backup that is named holds it as it was. Keep the backup and report the message."""

    code = "migration_failed"
    kind = "unavailable"
    http_status = 503
    no_write = True


class NotOurDatabase(HivekeepError):
    """The file is a database of another application. Name another file with --db."""

    code = "not_our_database"
    kind = "unavailable"
    http_status = 503
    no_write = True


class AuditStoreFailure(HivekeepError):
    """The operation was carried out but its required audit row was not stored; the store failed. Do not repeat it; domain_result holds the outcome.

    Fields: domain_result.
    """

    code = "store_failure"
    kind = "obligation"
    http_status = 503


class AuditDeadlineExpired(HivekeepError):
    """The operation was carried out but its required audit row was not stored; another writer held the store for the whole wait. Do not repeat it; domain_result holds the outcome.

    Fields: domain_result.
    """

    code = "admission_deadline_expired"
    kind = "obligation"
    http_status = 503


class AuditQueueExhausted(HivekeepError):
    """The operation was carried out but its required audit row was not stored; too many rows were waiting. Do not repeat it; domain_result holds the outcome.

    Fields: domain_result.
    """

    code = "queue_admission_exhausted"
    kind = "obligation"
    http_status = 503


class ResponseFrameBudgetExceeded(HivekeepError):
    """The operation succeeded but its result does not fit into the response. Read the stored outcome with a narrower read.

    Fields: recoverable, search.
    """

    code = "response_frame_budget_exceeded"
    kind = "response_frame_budget_exceeded"
    http_status = 413


class ResultTooDeep(HivekeepError):
    """The operation succeeded but its result is nested deeper than a response may be. Read the stored outcome with a narrower read.

    Fields: recoverable.
    """

    code = "result_too_deep"
    kind = "result_too_deep"
    http_status = 413


class EmbedderUnavailable(HivekeepError):
    """The embedder that the operation needs cannot work now: it is not installed, its endpoint does not answer, or it answers what is no vector. Read the message; `hivekeep doctor` says what to install or set, and embedding.models can be none."""

    code = "embedder_unavailable"
    kind = "unavailable"
    http_status = 503
    no_write = True
    retryable = True


class Unsupported(HivekeepError):
    """The input is understood but not part of what this verb does. The message names the word."""

    code = "unsupported"
    kind = "unsupported"
    http_status = 400
    no_write = True


class Internal(HivekeepError):
    """A fault of the server. The log names it under error_id. Report the error_id.

    Fields: error_id.
    """

    code = "internal"
    kind = "internal"
    http_status = 500


class Unauthorized(HivekeepError):
    """The bearer token is missing or wrong. Read the token from the runtime descriptor of the server."""

    code = "unauthorized"
    kind = "unauthorized"
    http_status = 401
    no_write = True


class ForeignOrigin(HivekeepError):
    """The Host or Origin of the request is not this machine. Call the server by its loopback address."""

    code = "foreign_origin"
    kind = "forbidden"
    http_status = 403
    no_write = True


class PayloadTooLarge(HivekeepError):
    """The request body is larger than the limit. Send fewer operations at once.

    Fields: max_bytes.
    """

    code = "payload_too_large"
    kind = "payload_too_large"
    http_status = 413
    no_write = True


class UnsupportedMediaType(HivekeepError):
    """The body is not application/json. Send Content-Type: application/json."""

    code = "unsupported_media_type"
    kind = "unsupported_media_type"
    http_status = 415
    no_write = True


class MalformedBody(HivekeepError):
    """The body is not the JSON that the route takes. The message says what was wrong."""

    code = "malformed_body"
    kind = "invalid_params"
    http_status = 400
    no_write = True


class RouteNotFound(HivekeepError):
    """There is no such path. GET /openapi.json lists the paths."""

    code = "route_not_found"
    kind = "not_found"
    http_status = 404
    no_write = True


class MethodNotAllowed(HivekeepError):
    """The path does not take this method. Use a method that is listed.

    Fields: allowed.
    """

    code = "method_not_allowed"
    kind = "method_not_allowed"
    http_status = 405
    no_write = True


ERRORS: dict[str, type[HivekeepError]] = {
    "parse_error": ParseError,
    "invalid_params": InvalidParams,
    "unknown_verb": UnknownVerb,
    "invalid_input": InvalidInput,
    "prev_reference_failed": PrevReferenceFailed,
    "permission_denied": PermissionDenied,
    "gate_unavailable": GateUnavailable,
    "not_found": NotFound,
    "record_not_found": RecordNotFound,
    "ambiguous": Ambiguous,
    "redirect_cycle": RedirectCycle,
    "redirect_chain_too_long": RedirectChainTooLong,
    "graph_budget_exceeded": GraphBudgetExceeded,
    "deadline_exceeded": DeadlineExceeded,
    "invalid_query": InvalidQuery,
    "query_too_expensive": QueryTooExpensive,
    "key_conflict": KeyConflict,
    "idempotency_key_conflict": IdempotencyKeyConflict,
    "edge_tombstoned": EdgeTombstoned,
    "natural_key_conflict": NaturalKeyConflict,
    "version_conflict": VersionConflict,
    "concurrent_change": ConcurrentChange,
    "restore_key_conflict": RestoreKeyConflict,
    "merge_guard": MergeGuard,
    "merge_namespaces": MergeNamespaces,
    "merge_too_large": MergeTooLarge,
    "merge_tombstone": MergeTombstone,
    "live_merged_entity": LiveMergedEntity,
    "endpoint_deleted": EndpointDeleted,
    "self_approval": SelfApproval,
    "not_proposer": NotProposer,
    "proposal_closed": ProposalClosed,
    "proposal_expired": ProposalExpired,
    "profile_exists": ProfileExists,
    "event_window_too_large": EventWindowTooLarge,
    "unconfigured": Unconfigured,
    "secret_detected": SecretDetected,
    "writer_pool_checkout_timeout": WriterPoolCheckoutTimeout,
    "writer_queue_full": WriterQueueFull,
    "writer_task_begin_busy": WriterTaskBeginBusy,
    "reader_checkout_timeout": ReaderCheckoutTimeout,
    "storage_unavailable": StorageUnavailable,
    "write_outcome_unknown": WriteOutcomeUnknown,
    "newer_schema": NewerSchema,
    "migration_failed": MigrationFailed,
    "not_our_database": NotOurDatabase,
    "audit_store_failure": AuditStoreFailure,
    "audit_deadline_expired": AuditDeadlineExpired,
    "audit_queue_exhausted": AuditQueueExhausted,
    "response_frame_budget_exceeded": ResponseFrameBudgetExceeded,
    "result_too_deep": ResultTooDeep,
    "embedder_unavailable": EmbedderUnavailable,
    "unsupported": Unsupported,
    "internal": Internal,
    "unauthorized": Unauthorized,
    "foreign_origin": ForeignOrigin,
    "payload_too_large": PayloadTooLarge,
    "unsupported_media_type": UnsupportedMediaType,
    "malformed_body": MalformedBody,
    "route_not_found": RouteNotFound,
    "method_not_allowed": MethodNotAllowed,
}
