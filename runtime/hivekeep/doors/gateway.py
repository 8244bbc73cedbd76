"""The agent event gateway as HTTP: its paths, its headers, its bodies and its envelope. Bytes in, values out.

What it keeps true:
- Paths are matched as they came, before percent-decoding, so that no encoding of a slash makes another path.
- A header that must come once is looked for in the list of headers; which of two would win is nobody's guess.
- Each failure has one fixed message, and no part of an envelope repeats anything that the client sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote_to_bytes

from hivekeep import compact_json, strict_json
from hivekeep.agent.formats import FORMATS
from hivekeep.request.json_values import depth_exceeds
from hivekeep_contract.gateway import API_VERSION, DOOR_OPERATIONS, KEY_HEADER, OPERATIONS, Operation
from hivekeep_contract.gateway_errors import GatewayError, IntegrityError, ValidationError
from hivekeep_contract.limits import (
    GATEWAY_KEY_MAX_BYTES,
    GATEWAY_NESTING_MAX,
    GATEWAY_RESPONSE_MAX_BYTES,
)
from hivekeep_contract.routes import GATEWAY_PREFIX

Headers = Iterable[tuple[bytes, bytes]]
"""Names in lower case with their values, as they came."""

UNKNOWN_OPERATION = DOOR_OPERATIONS["unknown"]
READY_OPERATION = DOOR_OPERATIONS["ready"]
RUN_STEP = "{runId}"
"""Stands in the path of an operation where the id of its run goes."""
UNREADABLE_OPERATION = DOOR_OPERATIONS["unreadable"]
BODY_METHODS = ("POST", "PUT", "PATCH")
"""Requests with these methods must bring a JSON body, whatever their path."""

_MEDIA_TYPE = "application/json"
_CONTENT_TYPE = b"content-type"
_KEY = KEY_HEADER.lower().encode()
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_is_run_id = FORMATS["gateway_run_id"]
_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


class Target(NamedTuple):
    """What method and path ask for: the operation, None when there is none, and the run id as the path spells it."""

    operation: Operation | None
    raw_run_id: str | None = None

    @property
    def name(self) -> str:
        """The name of the operation for the envelope."""
        return UNKNOWN_OPERATION if self.operation is None else self.operation.name


_ROUTES = [(operation.http_method, operation.path.split("/"), operation) for operation in OPERATIONS.values()]


def locate(method: str, raw_path: bytes) -> Target:
    """The operation of a path below the prefix; a method that the path does not take is no operation."""
    path = raw_path.decode("ascii", "replace")
    if path.startswith(f"{GATEWAY_PREFIX}/"):
        steps = path.split("/")
        for taken, pattern, operation in _ROUTES:
            if taken == method and _fits(pattern, steps):
                return Target(operation, steps[pattern.index(RUN_STEP)] if RUN_STEP in pattern else None)
    return Target(None)


def _fits(pattern: list[str], steps: list[str]) -> bool:
    return len(pattern) == len(steps) and all(
        wanted in (step, RUN_STEP) for wanted, step in zip(pattern, steps, strict=True)
    )


def run_id(raw: str) -> str:
    """The run id that a path spells. Raises ValidationError for one that no run can have."""
    if _BROKEN_ESCAPE.search(raw):
        raise ValidationError("bad_run_id")
    try:
        text = unquote_to_bytes(raw).decode("utf-8")
    except UnicodeDecodeError:
        raise ValidationError("bad_run_id") from None
    if not _is_run_id(text):
        raise ValidationError("bad_run_id")
    return text


def query_pairs(text: str) -> list[tuple[str, str]]:
    """The fields of a query string in their order. Raises ValidationError for bytes that are no UTF-8."""
    try:
        return parse_qsl(text, keep_blank_values=True, errors="strict")
    except ValueError:
        raise ValidationError("query_value") from None


def check_content_type(headers: Headers) -> None:
    """Raise ValidationError unless there is one Content-Type and it is that of JSON."""
    given = [value.decode("latin-1") for name, value in headers if name == _CONTENT_TYPE]
    if len(given) != 1 or given[0].partition(";")[0].strip().lower() != _MEDIA_TYPE:
        raise ValidationError("content_type")


def idempotency_key(headers: Headers) -> str:
    """The one key of a write, as it came (gateway rules, idempotency). Raises ValidationError."""
    given = [value for name, value in headers if name == _KEY]
    if len(given) != 1:
        raise ValidationError("key_missing")
    try:
        key = given[0].decode("utf-8")
    except UnicodeDecodeError:
        raise ValidationError("key_malformed") from None
    key_bytes(key)
    return key


def key_bytes(key: str) -> bytes:
    """The bytes of an Idempotency-Key (gateway rules, idempotency).

    Raises ValidationError for one that is blank or too long, has blanks around it or control characters in it, or that
    UTF-8 cannot write.
    """
    try:
        raw = key.encode()
    except UnicodeEncodeError:
        raise ValidationError("key_malformed") from None
    if not key or key != key.strip() or len(raw) > GATEWAY_KEY_MAX_BYTES or _CONTROL.search(key):
        raise ValidationError("key_malformed")
    return raw


def json_object(raw: bytes) -> dict[str, Any]:
    """The JSON object of a body. Raises ValidationError with a word for what it is instead."""
    try:
        value = strict_json.decode_unique(raw.decode("utf-8"))
    except strict_json.DuplicateKey:
        raise ValidationError("duplicate_key") from None
    except strict_json.NestedTooDeep:
        raise ValidationError("nested_too_deep") from None
    except ValueError:
        raise ValidationError("not_json") from None
    if depth_exceeds(value, GATEWAY_NESTING_MAX):
        raise ValidationError("nested_too_deep")
    if not isinstance(value, dict):
        raise ValidationError("not_an_object")
    return value


def success(operation: str, data: Any) -> dict[str, Any]:
    """The success envelope of `operation`."""
    return {"apiVersion": API_VERSION, "ok": True, "operation": operation, "data": data, "meta": {}}


def failure(operation: str, error: GatewayError) -> dict[str, Any]:
    """The failure envelope of `operation`."""
    told = {"code": error.code, "message": error.message, "details": error.details}
    return {"apiVersion": API_VERSION, "ok": False, "operation": operation, "error": told}


def success_text(operation: str, data: Any) -> bytes:
    """The success envelope as JSON. Raises IntegrityError for one that is too large to send."""
    text = compact_json.encode(success(operation, data))
    if len(text) > GATEWAY_RESPONSE_MAX_BYTES:
        raise IntegrityError("response_too_large")
    return text
