"""The HTTP client of the command line: operations of the gateway, asked of the server of one database.

What it keeps true:
- It never opens the database. Without a server that proved to be the one of the descriptor nothing is sent.
- A request goes below the base path of the gateway only, and is no larger than the server takes.
- An answer counts only when it is an envelope of the operation that was asked, and a failure only when it is made of
  the words of the contract: code, message and reason are compared, a field is a known one. So a failure cannot repeat
  the token, the key, the address or a text of the request; one that does is an integrity error and is not shown
  (gateway rules, client of the command line).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files as resources
from typing import Any, NamedTuple, Self
from urllib.parse import quote, urlencode

from hivekeep import compact_json, paths
from hivekeep.doors import gateway, wire
from hivekeep.doors.peer import AnswerTooLarge, Connection, NoAnswer, NoServer, Reply, look
from hivekeep_contract.gateway import API_VERSION, BASE_PATH, KEY_HEADER, OPERATIONS, Operation
from hivekeep_contract.gateway_errors import (
    FAILURES,
    REASONS,
    GatewayError,
    IntegrityError,
    ServiceUnavailable,
    ValidationError,
)
from hivekeep_contract.limits import (
    CLIENT_TIMEOUT_MS,
    GATEWAY_RESPONSE_MAX_BYTES,
    GATEWAY_RETRY_AFTER_MAX_S,
    HTTP_BODY_MAX_BYTES,
)

_JSON = "application/json"
_NOT_IN_A_TARGET = re.compile(r"[^!-~]|[#\\]|\.\.")
_POINTER = re.compile(r"(?:/[A-Za-z0-9_]+)+")
_SUCCESS = {"apiVersion", "ok", "operation", "data", "meta"}
_FAILURE = {"apiVersion", "ok", "operation", "error"}
_ERROR = {"code", "message", "details"}
_FAILURES = {(failure.code, failure.status): failure for failure in FAILURES.values()}


class Answer(NamedTuple):
    """An envelope of the gateway, and which failure it tells of; None for a success."""

    envelope: dict[str, Any]
    failure: type[GatewayError] | None

    @property
    def data(self) -> dict[str, Any]:
        """The data of a success."""
        data: dict[str, Any] = self.envelope["data"]
        return data


class Client:
    """The gateway of one running server. `headers` say who is asking."""

    def __init__(self, connection: Connection, headers: Mapping[str, str]) -> None:
        self._connection = connection
        self._headers = {name: value.encode("utf-8") for name, value in headers.items()}

    @classmethod
    def of(cls, files: paths.RuntimeFiles, headers: Mapping[str, str]) -> Self:
        """A client of the server of a database.

        Raises ServiceUnavailable when none runs, or what listens there is another one; RuntimeRefused for an unsafe or
        malformed descriptor.
        """
        found = look(files)
        if found.descriptor is None or not found.running:
            raise ServiceUnavailable("no_server")
        try:
            return cls(Connection(found.descriptor), headers)
        except NoServer:
            raise ServiceUnavailable("no_server") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._connection.close()

    def call(
        self,
        name: str,
        *,
        run_id: str | None = None,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Answer:
        """Ask for an operation of the contract by its name.

        `query` maps fields to texts, `body` is the object to send, `key` its Idempotency-Key. Raises ValidationError
        for what cannot be sent; ServiceUnavailable without an answer, after which nobody knows whether the operation
        was carried out, so that the same key has to be used again; IntegrityError for an answer that is none of the
        gateway.
        """
        operation = OPERATIONS[name]
        target = _target(operation, run_id, query or {})
        headers: dict[str, str | bytes] = {**self._connection.authorization, **self._headers}
        raw = None if body is None else _raw(body)
        if raw is not None:
            headers["Content-Type"] = _JSON
        if key is not None:
            headers[KEY_HEADER] = gateway.key_bytes(key)
        try:
            reply = self._connection.exchange(
                operation.http_method,
                target,
                headers,
                raw,
                timeout_ms=CLIENT_TIMEOUT_MS,
                max_bytes=GATEWAY_RESPONSE_MAX_BYTES,
            )
        except NoAnswer:
            raise ServiceUnavailable("no_answer") from None
        except AnswerTooLarge:
            raise IntegrityError("response_too_large") from None
        return checked(name, reply)


def _target(operation: Operation, run_id: str | None, query: Mapping[str, str]) -> str:
    """Path and query of a request. Raises ValidationError for a run id that leads out of its place."""
    path = operation.path if run_id is None else operation.path.replace(gateway.RUN_STEP, quote(run_id, safe=""))
    target = f"{path}?{urlencode(query)}" if query else path
    if run_id == "" or not path.startswith(f"{BASE_PATH}/") or _NOT_IN_A_TARGET.search(path):
        raise ValidationError("bad_run_id")
    return target


def _raw(body: Mapping[str, Any]) -> bytes:
    """The bytes of a body. Raises ValidationError for more than the server takes."""
    raw = compact_json.encode(body)
    if len(raw) > HTTP_BODY_MAX_BYTES:
        raise ValidationError("body_too_large")
    return raw


def checked(operation: str, reply: Reply) -> Answer:
    """The envelope of an answer to `operation`. Raises IntegrityError for anything else, whatever it says."""
    try:
        envelope = wire.decode(reply.body)
    except ValueError:
        raise IntegrityError("bad_answer") from None
    is_json = reply.headers.get_content_type() == _JSON
    if not is_json or not isinstance(envelope, dict) or not _is_of(operation, envelope):
        raise IntegrityError("bad_answer")
    failure = None
    if not (200 <= reply.status < 300 and _is_success(envelope)):
        failure = _failure(reply.status, envelope)
        if failure is None:
            raise IntegrityError("bad_answer")
    return Answer(envelope, failure)


def _is_of(operation: str, envelope: Mapping[str, Any]) -> bool:
    return envelope.get("apiVersion") == API_VERSION and envelope.get("operation") == operation


def _is_success(envelope: Mapping[str, Any]) -> bool:
    return (
        envelope.keys() == _SUCCESS
        and envelope["ok"] is True
        and isinstance(envelope["data"], dict)
        and isinstance(envelope["meta"], dict)
    )


def _failure(status: int, envelope: Mapping[str, Any]) -> type[GatewayError] | None:
    """Which failure of the contract an envelope tells of; None when it is no failure, or says what no failure says."""
    error = envelope.get("error")
    if envelope.keys() != _FAILURE or envelope["ok"] is not False:
        return None
    if not isinstance(error, dict) or error.keys() != _ERROR or not isinstance(error["code"], str):
        return None
    failure = _FAILURES.get((error["code"], status))
    if failure is None or error["message"] != failure.message or not isinstance(error["details"], dict):
        return None
    return failure if all(_is_detail(name, value) for name, value in error["details"].items()) else None


def _is_detail(name: str, value: object) -> bool:
    """Whether a detail of a failure is a word, a number or a place of the contract."""
    match name:
        case "reason":
            return isinstance(value, str) and value in REASONS
        case "field":
            return isinstance(value, str) and _is_known_place(value)
        case "retryAfterSeconds":
            return type(value) is int and 1 <= value <= GATEWAY_RETRY_AFTER_MAX_S
    return False


def _is_known_place(pointer: str) -> bool:
    """Whether a JSON pointer is made of indices and of names that the contract has."""
    if _POINTER.fullmatch(pointer) is None:
        return False
    return all(name.isdecimal() or name in _field_names() for name in pointer.split("/")[1:])


@cache
def _field_names() -> frozenset[str]:
    """The names of all fields of the gateway; read when a failure names one."""
    schemas = json.loads(resources("hivekeep_contract").joinpath("schemas.json").read_bytes())
    return frozenset(_names(schemas["gateway"]))


def _names(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("properties", ())
        for part in schema.values():
            yield from _names(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _names(part)
