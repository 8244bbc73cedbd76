"""The printed schemas of the gateway accept and refuse exactly what its contract words say."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

SMALL = Path(__file__).parents[2] / "golden" / "small" / "generated" / "hivekeep_contract"
SCHEMAS: dict[str, Any] = json.loads((SMALL / "schemas.json").read_text(encoding="utf-8"))
OPENAPI: dict[str, Any] = json.loads((SMALL / "openapi.json").read_text(encoding="utf-8"))
GATEWAY: dict[str, Any] = SCHEMAS["gateway"]
DIALECT = jsonschema_rs.Draft202012Validator
INPUTS = {name: DIALECT(schema) for name, schema in {**GATEWAY["bodies"], **GATEWAY["queries"]}.items()}

CLIENT = {"kind": "codex"}
RUN = {"runId": "r", "client": CLIENT, "startedIn": None}


@pytest.mark.parametrize(
    ("operation", "request_", "valid"),
    [
        ("run.open", {"apiVersion": "1", "client": CLIENT}, True),
        ("run.open", {"client": CLIENT}, False),
        ("run.open", {"apiVersion": 1, "client": CLIENT}, False),
        ("run.open", {"apiVersion": "2", "client": CLIENT}, False),
        ("run.open", {"apiVersion": "1"}, False),
        ("run.open", {"apiVersion": "1", "client": None}, False),
        ("run.open", {"apiVersion": "1", "client": CLIENT, "colour": "red"}, False),
        ("run.open", {"apiVersion": "1", "client": CLIENT | {"colour": "red"}}, False),
        ("run.open", {"apiVersion": "1", "client": {}}, False),
        ("run.open", {"apiVersion": "1", "client": CLIENT | {"sessionId": "s"}}, True),
        ("run.open", {"apiVersion": "1", "client": CLIENT | {"sessionId": None}}, False),
        ("run.open", {"apiVersion": "1", "client": CLIENT | {"level": None}}, True),
        ("run.open", {"apiVersion": "1", "client": CLIENT | {"level": "middle"}}, False),
        ("run.open", {"apiVersion": "1", "client": CLIENT, "metadata": {"any": ["thing"]}}, True),
        ("run.open", {"apiVersion": "1", "client": CLIENT, "metadata": None}, False),
        ("run.open", {"apiVersion": "1", "client": {"kind": "x" * 20}}, True),
        ("run.open", {"apiVersion": "1", "client": {"kind": "x" * 21}}, False),
        ("run.open", {"apiVersion": "1", "client": CLIENT, "helper": CLIENT | {"level": "high"}}, True),
        ("run.open", {"apiVersion": "1", "client": CLIENT, "helper": CLIENT | {"level": "low"}}, False),
        ("run.note", {"apiVersion": "1", "text": "a"}, True),
        ("run.note", {"apiVersion": "1", "text": None}, False),
        ("run.note", {"apiVersion": "1"}, False),
        ("run.note", {"apiVersion": "1", "text": "a", "notes": [{"text": "b"}]}, False),
        ("run.note", {"apiVersion": "1", "notes": [{"text": "b", "at": "2026"}]}, True),
        ("run.note", {"apiVersion": "1", "notes": [{"at": "2026"}]}, False),
        ("run.note", {"apiVersion": "1", "notes": [{"text": "b", "at": None}]}, False),
        ("run.note", {"apiVersion": "1", "notes": []}, False),
        ("run.note", {"apiVersion": "1", "notes": [{"text": "b"}] * 4}, False),
        ("run.note", {"apiVersion": "1", "text": "a", "author": None}, True),
        ("run.note", {"apiVersion": "1", "notes": [{"text": "b"}], "author": "ann"}, False),
        ("run.note", {"apiVersion": "1", "text": "a", "level": "high"}, True),
        ("run.note", {"apiVersion": "1", "text": "a", "level": "high", "budget": 20}, True),
        ("run.note", {"apiVersion": "1", "text": "a", "level": "high", "budget": 21}, False),
        ("run.note", {"apiVersion": "1", "text": "a", "level": "low"}, False),
        ("run.note", {"apiVersion": "1", "text": "a", "budget": 101}, False),
        ("run.list", {"client": "codex", "limit": 5}, True),
        ("run.list", {"client": "codex", "apiVersion": "1"}, False),
        ("run.list", {"limit": 5}, False),
        ("run.list", {"client": "codex", "limit": -1}, False),
        ("run.read", {}, True),
        ("run.read", {"a": "b"}, False),
    ],
)
def test_a_request_is_taken_or_refused(operation: str, request_: dict[str, Any], valid: bool) -> None:
    """Objects are closed at every depth, null is a value only where it is said to be, rules and bounds hold."""
    assert INPUTS[operation].is_valid(request_) is valid


@pytest.mark.parametrize(
    ("changes", "valid"),
    [
        ({}, True),
        ({"data": {}}, False),
        ({"data": RUN | {"more": 1}}, False),
        ({"operation": "run.read"}, False),
        ({"meta": None}, False),
        ({"apiVersion": 1}, False),
        ({"more": 1}, False),
    ],
)
def test_a_success_is_one_envelope(changes: dict[str, Any], valid: bool) -> None:
    """The envelope names its operation, and holds the data of that operation and nothing else."""
    schema = {**GATEWAY["success"]["run.open"], "$defs": SCHEMAS["$defs"]}
    envelope = {"apiVersion": "1", "ok": True, "operation": "run.open", "data": RUN, "meta": {}}
    assert DIALECT(schema).is_valid(envelope | changes) is valid


@pytest.mark.parametrize(
    ("error", "valid"),
    [
        ({"code": "CONFLICT", "message": "in the way", "details": {}}, True),
        ({"code": "CONFLICT", "message": "in the way", "details": {"reason": "closed"}}, True),
        ({"code": "CONFLICT", "message": "in the way", "details": {"reason": "wrong_value", "field": "/text"}}, True),
        ({"code": "BACKPRESSURE", "message": "busy", "details": {"retryAfterSeconds": 1}}, True),
        ({"code": "BACKPRESSURE", "message": "busy", "details": {"retryAfterSeconds": 0}}, False),
        ({"code": "CONFLICT", "message": "anything", "details": {}}, False),
        ({"code": "CONFLICT", "message": "in the way", "details": {"reason": "because"}}, False),
        ({"code": "CONFLICT", "message": "in the way", "details": {"field": "text"}}, False),
        ({"code": "CONFLICT", "message": "in the way", "details": {"value": "a secret"}}, False),
        ({"code": "PARTIAL_FAILURE", "message": "partly failed", "details": {}}, False),
        ({"code": "CONFLICT", "message": "in the way"}, False),
    ],
)
def test_a_failure_says_nothing_of_its_own(error: dict[str, Any], valid: bool) -> None:
    """Code, message and reason are words of the contract; what only the command line knows is never answered."""
    envelope = {"apiVersion": "1", "ok": False, "operation": "run.open", "error": error}
    assert DIALECT(GATEWAY["failure"]).is_valid(envelope) is valid


def test_openapi_leads_from_the_opening_to_what_comes_next() -> None:
    """Two methods share a path; the answer names the run of the paths behind its links."""
    runs = OPENAPI["paths"]["/small/runs"]
    assert {method: operation["operationId"] for method, operation in runs.items()} == {
        "post": "run.open",
        "get": "run.list",
    }
    assert runs["post"]["responses"]["200"]["links"] == {
        "note": {
            "operationId": "run.note",
            "description": "Say something.",
            "parameters": {"runId": "$response.body#/data/runId"},
        },
        "list": {"operationId": "run.list", "description": "Read all."},
    }


def test_openapi_declares_the_headers_and_every_status() -> None:
    """A write has its key, an operation on a run the run; only the refusal of a full queue says when to come back."""
    note = OPENAPI["paths"]["/small/runs/{runId}/notes"]["post"]
    assert note["parameters"] == [
        {"$ref": "#/components/parameters/runId"},
        {"$ref": "#/components/parameters/idempotency_key"},
    ]
    assert sorted(note["responses"]) == ["200", "400", "404", "429"]
    assert [status for status, answer in note["responses"].items() if "headers" in answer] == ["429"]
    key = OPENAPI["components"]["parameters"]["idempotency_key"]
    assert (key["name"], key["in"], key["required"], key["schema"]["maxLength"]) == ("Small-Key", "header", True, 20)
