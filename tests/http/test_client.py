"""The client of the command line against servers that answer wrongly: which answers it believes, and what it tells."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPMessage as Message
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.doors import client as clients
from hivekeep.doors.client import Answer, Client
from hivekeep.doors.descriptor import Descriptor
from hivekeep.doors.peer import Connection, Reply
from hivekeep_contract.gateway_errors import (
    Backpressure,
    Conflict,
    DatabaseError,
    GatewayError,
    IntegrityError,
    ServiceUnavailable,
    UnexpectedError,
    ValidationError,
)
from hivekeep_contract.limits import GATEWAY_RESPONSE_MAX_BYTES, HTTP_BODY_MAX_BYTES
from support.answering import INSTANCE, PROVED, TOKEN, Answering, Response, answering, json_response, response

RUN = "6f1f64a9-5f0b-4a1e-9df7-5d2c0f2a9b11"
CLOSE = f"POST /api/v1/agent/runs/{RUN}/close"
KEY = "the key of this write"
BODY = {"apiVersion": "1", "status": "completed"}


def success(data: Any, **changes: Any) -> dict[str, Any]:
    return {"apiVersion": "1", "ok": True, "operation": "agent.close", "data": data, "meta": {}, **changes}


def failure(code: str, message: str, details: Any, **changes: Any) -> dict[str, Any]:
    error = {"code": code, "message": message, "details": details}
    return {"apiVersion": "1", "ok": False, "operation": "agent.close", "error": error, **changes}


@contextmanager
def client_of(replies: Mapping[str, bytes | Response]) -> Iterator[tuple[Client, Answering]]:
    with answering({**PROVED, **replies}) as program:
        url = f"http://127.0.0.1:{program.port}"
        found = Descriptor(INSTANCE, os.getpid(), url, "sha256:" + "0f" * 32, "2026-01-02T03:04:05.678Z", TOKEN)
        with Client(Connection(found), {"Hivekeep-Actor": "Zoë"}) as client:
            yield client, program


def close(reply: bytes | Response) -> Answer:
    """What closing a run is answered when the server sends `reply`."""
    with client_of({CLOSE: reply}) as (client, _):
        return client.call("agent.close", run_id=RUN, body=BODY, key=KEY)


def refused(reply: bytes | Response) -> GatewayError:
    with pytest.raises(GatewayError) as found:
        close(reply)
    assert TOKEN not in repr(found.value)
    assert KEY not in repr(found.value)
    return found.value


def test_a_request_is_authenticated_json_with_its_key_and_who_asks() -> None:
    """Body as compact JSON, key and actor as UTF-8, to the path of the operation."""
    with client_of({CLOSE: json_response(200, success({"a": 1}))}) as (client, program):
        found = client.call("agent.close", run_id=RUN, body=BODY, key="schlüssel")
    asked = program.asked[-1]
    assert (found.failure, found.data) == (None, {"a": 1})
    assert json.loads(asked.body) == BODY
    assert asked.headers["authorization"] == f"Bearer {TOKEN}"
    assert asked.headers["content-type"] == "application/json"
    assert asked.headers["idempotency-key"].encode("latin-1").decode() == "schlüssel"
    assert asked.headers["hivekeep-actor"].encode("latin-1").decode() == "Zoë"


def test_a_query_is_encoded() -> None:
    """Fields of a read go into the query string and nothing of them into the path."""
    page = success({"items": []}, operation="agent.runs.list")
    with client_of({"GET /api/v1/agent/runs?workspace=a%2Fb+%26%23&limit=5": json_response(200, page)}) as (client, _):
        found = client.call("agent.runs.list", query={"workspace": "a/b &#", "limit": "5"})
    assert found.data == {"items": []}


@pytest.mark.parametrize("run_id", ["..", "../../verbs/get", "a..b", ""])
def test_a_run_id_cannot_lead_out_of_its_place(run_id: str) -> None:
    """It is refused before anything is sent, or it stays one step of the path."""
    with client_of({}) as (client, program):
        with pytest.raises(ValidationError) as found:
            client.call("agent.run.read", run_id=run_id)
        assert found.value.reason == "bad_run_id"
        assert len(program.asked) == 2


def test_a_run_id_is_one_step_of_the_path() -> None:
    """Slash, blank, question mark, fragment and other scripts are escaped."""
    with client_of({}) as (client, program):
        with pytest.raises(ServiceUnavailable):
            client.call("agent.run.read", run_id="a/b c?d#é")
        assert program.lines()[-1] == "GET /api/v1/agent/runs/a%2Fb%20c%3Fd%23%C3%A9"


@pytest.mark.parametrize("key", ["", " ", " a", "a ", "a\n", "a\r\nX: y", "a\0", "é" * 129, "\ud800"])
def test_a_key_that_no_header_can_carry_is_refused(key: str) -> None:
    """Before anything is sent; a line break would begin another header."""
    with client_of({}) as (client, program):
        with pytest.raises(ValidationError) as found:
            client.call("agent.close", run_id=RUN, body=BODY, key=key)
        assert found.value.reason == "key_malformed"
        assert len(program.asked) == 2


def test_a_body_has_the_size_that_the_server_takes() -> None:
    """One byte more is refused before it is sent."""
    frame = len('{"a":""}')
    with client_of({CLOSE: json_response(200, success({}))}) as (client, program):
        client.call("agent.close", run_id=RUN, body={"a": "x" * (HTTP_BODY_MAX_BYTES - frame)}, key=KEY)
        with pytest.raises(ValidationError) as found:
            client.call("agent.close", run_id=RUN, body={"a": "x" * (HTTP_BODY_MAX_BYTES - frame + 1)}, key=KEY)
        assert found.value.reason == "body_too_large"
        assert len(program.asked) == 3


@pytest.mark.parametrize(
    ("status", "code", "message", "details", "expected"),
    [
        (400, "VALIDATION_ERROR", "invalid request", {"reason": "wrong_value", "field": "/status"}, ValidationError),
        (
            400,
            "VALIDATION_ERROR",
            "invalid request",
            {"reason": "unknown_field", "field": "/events/0"},
            ValidationError,
        ),
        (409, "CONFLICT", "conflicts with current state", {"reason": "run_closed"}, Conflict),
        (409, "CONFLICT", "conflicts with current state", {}, Conflict),
        (429, "BACKPRESSURE", "busy", {"retryAfterSeconds": 1}, Backpressure),
        (500, "DATABASE_ERROR", "internal error", {"reason": "internal"}, UnexpectedError),
        (503, "DATABASE_ERROR", "database unavailable", {}, DatabaseError),
    ],
)
def test_a_failure_in_the_words_of_the_contract_is_believed(
    status: int, code: str, message: str, details: Any, expected: type[GatewayError]
) -> None:
    """One code may stand for two failures; the status says which."""
    told = failure(code, message, details)
    found = close(json_response(status, told))
    assert (found.failure, found.envelope) == (expected, told)


CONFLICT: tuple[str, str, dict[str, Any]] = ("CONFLICT", "conflicts with current state", {})


@pytest.mark.parametrize(
    ("status", "envelope"),
    [
        (200, success({}, operation="agent.events")),
        (200, success({}, apiVersion="2")),
        (200, success({}, apiVersion=1)),
        (200, success([])),
        (200, success({}, meta=None)),
        (200, success({}, more=1)),
        (200, {**success({}), "error": None}),
        (200, {name: value for name, value in success({}).items() if name != "meta"}),
        (409, success({})),
        (200, failure(*CONFLICT)),
        (404, failure(*CONFLICT)),
        (409, failure(*CONFLICT, operation="agent.open")),
        (409, failure(*CONFLICT, meta={})),
        (409, failure("CONFLICT", f"conflicts with {TOKEN}", {})),
        (409, failure("CONFLICT", KEY, {})),
        (409, failure("NONSENSE", "conflicts with current state", {})),
        (409, failure("CONFLICT", "conflicts with current state", {"reason": KEY})),
        (409, failure("CONFLICT", "conflicts with current state", {"reason": ["run_closed"]})),
        (409, failure("CONFLICT", "conflicts with current state", {"field": f"/{TOKEN}"})),
        (409, failure("CONFLICT", "conflicts with current state", {"field": "/status/completed"})),
        (409, failure("CONFLICT", "conflicts with current state", {"field": "status"})),
        (409, failure("CONFLICT", "conflicts with current state", {"stack": "File server.py"})),
        (409, failure("CONFLICT", "conflicts with current state", None)),
        (429, failure("BACKPRESSURE", "busy", {"retryAfterSeconds": 61})),
        (429, failure("BACKPRESSURE", "busy", {"retryAfterSeconds": True})),
        (409, []),
        (409, None),
    ],
)
def test_anything_else_is_an_integrity_error_and_is_not_shown(status: int, envelope: Any) -> None:
    """Other members, another operation, a status that does not fit, or words that the contract does not have."""
    found = refused(json_response(status, envelope))
    assert (type(found), found.reason) == (IntegrityError, "bad_answer")


@pytest.mark.parametrize(
    ("reply", "expected", "reason"),
    [
        (response(200, b"{"), IntegrityError, "bad_answer"),
        (response(200, b""), IntegrityError, "bad_answer"),
        (response(200, b'{"ok":\xff}'), IntegrityError, "bad_answer"),
        (json_response(200, success({}), content_type="text/html"), IntegrityError, "bad_answer"),
        (json_response(200, success({}), content_type=""), IntegrityError, "bad_answer"),
        (response(200, b" " * (GATEWAY_RESPONSE_MAX_BYTES + 1)), IntegrityError, "response_too_large"),
        (response(200, b"{}", content_length="99", connection="close"), ServiceUnavailable, "no_answer"),
        (b"HTTP/1.1 nonsense\r\n\r\n", ServiceUnavailable, "no_answer"),
        (lambda _asked: None, ServiceUnavailable, "no_answer"),
    ],
)
def test_an_answer_that_is_no_envelope(reply: bytes | Response, expected: type[GatewayError], reason: str) -> None:
    """What is whole and wrong is an integrity error; without a whole answer nobody knows what became of the write."""
    found = refused(reply)
    assert (type(found), found.reason) == (expected, reason)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from([TOKEN, KEY, "1", "agent.close"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
ENVELOPES = st.fixed_dictionaries(
    {"apiVersion": st.just("1"), "ok": st.just(False) | JSON_VALUES, "operation": st.just("agent.close")},
    optional={
        "error": JSON_VALUES
        | st.fixed_dictionaries(
            {
                "code": st.just("CONFLICT") | JSON_VALUES,
                "message": st.just("conflicts with current state") | JSON_VALUES,
                "details": st.dictionaries(st.sampled_from(["reason", "field", "retryAfterSeconds", "x"]), JSON_VALUES),
            }
        ),
        "data": JSON_VALUES,
        "meta": JSON_VALUES,
    },
)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(status=st.sampled_from([200, 204, 409, 500]), envelope=ENVELOPES | JSON_VALUES)
def test_whatever_is_answered_is_an_envelope_of_ours_or_an_integrity_error(status: int, envelope: Any) -> None:
    """No answer makes the client fail otherwise, and no failure that is believed repeats the token or the key."""
    headers = Message()
    headers["content-type"] = "application/json"
    try:
        found = clients.checked("agent.close", Reply(status, headers, json.dumps(envelope).encode()))
    except IntegrityError:
        return
    assert found.envelope == envelope
    assert (found.failure is None) == envelope["ok"]
    if found.failure is not None:
        assert found.failure.status == status
        assert TOKEN not in json.dumps(envelope)
        assert KEY not in json.dumps(envelope)


def test_a_server_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the time of the contract, whatever it does with the connection."""
    monkeypatch.setattr(clients, "CLIENT_TIMEOUT_MS", 50)
    found = refused(lambda _asked: b"")
    assert (type(found), found.reason) == (ServiceUnavailable, "no_answer")
