"""In which order a write is checked: the first thing that is wrong is the one that is told."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from hivekeep_contract.gateway import OPERATIONS
from support.gateway import ABSENT, HOST, TOKEN, HttpGateway, Reply, event, open_http, opening, path_of

EVENTS = OPERATIONS["agent.events"]
OPEN = OPERATIONS["agent.open"]
RIGHT = {
    "Host": HOST,
    "Authorization": f"Bearer {TOKEN}",
    "Content-Type": "application/json",
    "Idempotency-Key": "k",
}


def send(
    http: HttpGateway,
    target: str,
    body: bytes = b"{}",
    *,
    method: str = "POST",
    operation: str = "agent.events",
    **headers: str | None,
) -> Reply:
    chosen: dict[str, str | None] = {**RIGHT, **{name.replace("_", "-"): value for name, value in headers.items()}}
    sent = [(name, value) for name, value in chosen.items() if value is not None]
    return http.send(method, target, body, sent, operation=operation)


def test_a_write_that_is_all_wrong_is_mended_one_step_at_a_time(http: HttpGateway) -> None:
    """Host, token, content type, body, query string, run id, key, run, fields: each is told when those before it
    are right."""
    wrong_path = "/api/v1/agent/runs/a%2Fb/events?x=1"
    wrong: dict[str, Any] = {
        "Host": "evil.example",
        "Authorization": "Bearer no",
        "Content_Type": "text/plain",
        "Idempotency_Key": None,
    }
    assert send(http, wrong_path, b"{", **wrong).told == (400, "VALIDATION_ERROR", "foreign_host")
    del wrong["Host"]
    assert send(http, wrong_path, b"{", **wrong).told == (401, "AUTHENTICATION_ERROR", "bad_token")
    del wrong["Authorization"]
    assert send(http, wrong_path, b"{", **wrong).told == (400, "VALIDATION_ERROR", "content_type")
    del wrong["Content_Type"]
    assert send(http, wrong_path, b"{", **wrong).told == (400, "VALIDATION_ERROR", "not_json")
    assert send(http, wrong_path, **wrong).told == (400, "VALIDATION_ERROR", "query_not_allowed")
    assert send(http, "/api/v1/agent/runs/a%2Fb/events", **wrong).told == (400, "VALIDATION_ERROR", "bad_run_id")
    absent = path_of(EVENTS, ABSENT)
    assert send(http, absent, **wrong).told == (400, "VALIDATION_ERROR", "key_missing")
    del wrong["Idempotency_Key"]
    assert send(http, absent).told == (404, "NOT_FOUND", "no_run")
    run_id = http.opened()
    assert send(http, path_of(EVENTS, run_id)).told == (400, "VALIDATION_ERROR", "missing_field")


def test_an_unknown_path_comes_after_the_body_and_before_the_query_string(http: HttpGateway) -> None:
    """A bad content type or body there is 400, a good one 404, whatever its query string and key are."""
    for method in ("POST", "PUT", "PATCH"):
        common: dict[str, Any] = {"method": method, "operation": "api.v1"}
        assert send(http, "/api/v1/agent/x?y", Content_Type="text/plain", **common).told[2] == "content_type"
        assert send(http, "/api/v1/agent/x?y", b"[]", **common).told[2] == "not_an_object"
        assert send(http, "/api/v1/agent/x?y", Idempotency_Key=None, **common).told == (404, "NOT_FOUND", "no_endpoint")


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS"])
def test_a_wrong_method_is_an_unknown_path(http: HttpGateway, method: str) -> None:
    """404 and never 405, in the envelope of `api.v1`, without a header that lists methods."""
    reply = send(http, path_of(EVENTS, ABSENT), method=method, operation="api.v1")
    assert reply.told == (404, "NOT_FOUND", "no_endpoint")
    assert "allow" not in reply.headers


def test_head_is_a_wrong_method_too(http: HttpGateway) -> None:
    """404 without a body, also where GET would answer."""
    run_id = http.opened()
    target = path_of(OPERATIONS["agent.run.read"], run_id)
    reply = asyncio.run(http.raw("HEAD", target, headers=list(RIGHT.items())))
    assert (reply.status, reply.envelope) == (404, {})


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_a_stranger_is_told_the_operation_and_nothing_else(http: HttpGateway, name: str) -> None:
    """401 before anything of the request is looked at, with the name that method and path lead to."""
    operation = OPERATIONS[name]
    target = path_of(operation, ABSENT)
    reply = send(http, target, b"{", method=operation.http_method, operation=name, Authorization=None)
    assert reply.told == (401, "AUTHENTICATION_ERROR", "bad_token")


def test_the_key_is_looked_up_after_the_fields(http: HttpGateway) -> None:
    """A used key with a body that is no body of the operation is 400; with another right body 409."""
    run_id = http.opened()
    http.events(run_id, event(), key="used")
    assert http.events(run_id, key="used").told == (400, "VALIDATION_ERROR", "wrong_value")
    assert http.events(run_id, event("step.failed"), key="used").told == (409, "CONFLICT", "key_reused")


def test_the_record_of_a_key_comes_before_the_state_of_the_run(http: HttpGateway) -> None:
    """On a run that has ended, a used key with another body is `key_reused`, a fresh key `run_closed`."""
    run_id = http.opened()
    http.events(run_id, event(), key="used")
    http.close(run_id)
    assert http.events(run_id, event("step.failed"), key="used").told[2] == "key_reused"
    assert http.events(run_id, event("step.failed")).told[2] == "run_closed"
    assert http.events(run_id, event(), key="used").status == 200


def test_a_checkpoint_looks_at_run_and_catalog_before_its_fields(http: HttpGateway) -> None:
    """In intake and after the end 409 whatever the body says; another catalog 409 with a body that is wrong."""
    waiting = http.opened(opening(task={"title": "t", "query": "q"}))
    assert http.checkpoint(waiting, nonsense=1).told == (409, "CONFLICT", "run_in_intake")
    run_id = http.opened()
    assert http.checkpoint(run_id, capabilities=[], nonsense=1).told == (409, "CONFLICT", "catalog_differs")
    assert http.checkpoint(run_id, nonsense=1).told == (400, "VALIDATION_ERROR", "unknown_field")
    http.close(run_id)
    assert http.checkpoint(run_id, nonsense=1).told == (409, "CONFLICT", "run_closed")


def test_a_policy_is_asked_before_the_run_is_looked_for(tmp_path: Path) -> None:
    """A caller that the policy does not know is refused alike for runs that exist and runs that do not."""
    with open_http(tmp_path / "store.db", gate_granted_actors=("anna",)) as http:
        assert http.open().told == (422, "SECURITY_REJECTION", "denied")
        assert http.events(ABSENT, event()).told == (422, "SECURITY_REJECTION", "denied")
        assert http.ask("agent.run.read", ABSENT).told == (422, "SECURITY_REJECTION", "denied")
        named = send(http, OPEN.path, json.dumps(opening()).encode(), operation="agent.open", Hivekeep_Actor="anna")
        assert named.status == 200


def test_a_denial_is_on_record_with_its_reason(tmp_path: Path) -> None:
    """The decision of the policy was lost with the exception that told it, so the row of a denial said that the policy
    had not been asked. It says who was refused what and why, and nothing of the request."""
    with open_http(tmp_path / "store.db", gate_granted_actors=("anna",)) as http:
        body = json.dumps(opening(workspace="a-very-private-name")).encode()
        refused = send(http, OPEN.path, body, operation="agent.open", Hivekeep_Actor="carl")
        assert refused.told == (422, "SECURITY_REJECTION", "denied")
        with http.door.gateway.engine.read() as tx:
            (row,) = tx.all("SELECT verb, outcome, actor, target_id, payload FROM events")
    assert row[:4] == ("agent.open", "denied", "actor:carl", None)
    told = json.loads(row[4])
    assert told["decision"] == "deny"
    assert told["deny_reason"].startswith("agent.open: ")
    assert "a-very-private-name" not in row[4]


def test_who_may_only_read_may_read_runs(tmp_path: Path) -> None:
    """`gate.deny_writes_for` refuses the writes of the gateway and lets its reads through."""
    reader = {"Hivekeep_Actor": "anna"}
    settings = {"gate_granted_actors": ("anna",), "gate_grant_unattributed": True, "gate_deny_writes_for": ("anna",)}
    with open_http(tmp_path / "store.db", **settings) as http:
        run_id = http.opened()
        read = OPERATIONS["agent.run.read"]
        body = json.dumps(opening()).encode()
        assert send(http, OPEN.path, body, operation="agent.open", **reader).told[2] == "denied"
        assert send(http, path_of(read, run_id), method="GET", operation=read.name, **reader).status == 200
