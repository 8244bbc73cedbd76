"""Bad input over HTTP: each is 400 with a clear word (or 422 for a credential), and never a 500."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hivekeep_contract.gateway import OPERATIONS
from support.gateway import ABSENT, HttpGateway, Reply, event, opening, path_of

OPEN = OPERATIONS["agent.open"]
EVENTS = OPERATIONS["agent.events"]
SECRET = "ghp_" + "a1B2" * 9
LIMIT = 2 * 1024 * 1024


def details(reply: Reply) -> dict[str, Any]:
    found: dict[str, Any] = reply.error["details"]
    return found


def raw(http: HttpGateway, body: bytes) -> Reply:
    """An open with this body."""
    return http.send("POST", OPEN.path, body, http.headers(OPEN), operation=OPEN.name)


def replaced(path: str, value: Any) -> dict[str, Any]:
    """A right open with one field replaced; `...` removes it."""
    body = json.loads(json.dumps(opening()))
    *parents, name = path.strip("/").split("/")
    place = body
    for parent in parents:
        place = place[parent]
    if value is ...:
        del place[name]
    else:
        place[name] = value
    return dict(body)


class TestBytes:
    @pytest.mark.parametrize(
        ("body", "reason"),
        [
            (b'{"a": NaN}', "not_json"),
            (b'{"a": Infinity}', "not_json"),
            (b'{"a": 1e999}', "not_json"),
            (b'{"a": 1, "a": 2}', "duplicate_key"),
            (b'{"a": ' + b"[" * 3000 + b"]" * 3000 + b"}", "nested_too_deep"),
            (b"[" * 200_000, "nested_too_deep"),
            (b'{"a": "\\ud800"}', "not_json"),
            (b'{"a": "\xc3\x28"}', "not_json"),
            (b"", "not_json"),
            (b"[]", "not_an_object"),
        ],
    )
    def test_a_body_that_is_no_json_object(self, http: HttpGateway, body: bytes, reason: str) -> None:
        """Before routing as well: the same on a path that does not exist."""
        assert raw(http, body).told == (400, "VALIDATION_ERROR", reason)
        elsewhere = http.send("POST", "/api/v1/agent/nothing", body, http.headers(OPEN))
        assert elsewhere.told == (400, "VALIDATION_ERROR", reason)

    def test_the_largest_body(self, http: HttpGateway) -> None:
        """2 MiB are read, one byte more is 400."""
        right = json.dumps(opening()).encode()
        assert raw(http, right + b" " * (LIMIT - len(right))).status == 200
        assert raw(http, right + b" " * (LIMIT - len(right) + 1)).told == (400, "VALIDATION_ERROR", "body_too_large")

    @pytest.mark.parametrize("name", ["Content-Type", "Idempotency-Key"])
    def test_a_header_that_comes_twice(self, http: HttpGateway, name: str) -> None:
        """Two alike, or two that differ: 400 with the word for the header."""
        headers = http.headers(OPEN)
        value = dict(headers)[name]
        wanted = {"Content-Type": "content_type", "Idempotency-Key": "key_missing"}[name]
        for second in (value, "text/plain"):
            sent = [*headers, (name, second)]
            reply = http.send("POST", OPEN.path, json.dumps(opening()).encode(), sent, operation=OPEN.name)
            assert reply.told == (400, "VALIDATION_ERROR", wanted)


class TestOpen:
    @pytest.mark.parametrize(
        ("path", "value", "reason", "field"),
        [
            ("/apiVersion", ..., "missing_field", "/apiVersion"),
            ("/apiVersion", 1, "wrong_type", "/apiVersion"),
            ("/apiVersion", "2", "wrong_value", "/apiVersion"),
            ("/workspace", "", "wrong_value", "/workspace"),
            ("/workspace", " \t ", "wrong_value", "/workspace"),
            ("/workspace", "a\nb", "wrong_value", "/workspace"),
            ("/workspace", "x" * 16385, "too_long", "/workspace"),
            ("/client", ..., "missing_field", "/client"),
            ("/client/kind", "a\x07", "wrong_value", "/client/kind"),
            ("/client/kind", "\U0001f41d" * 129, "wrong_value", "/client/kind"),
            ("/client/name", "x", "unknown_field", "/client"),
            ("/client/version", None, "wrong_type", "/client/version"),
            ("/task/title", "a\x00b", "wrong_value", "/task/title"),
            ("/task/query", 7, "wrong_type", "/task/query"),
            ("/task/profileHints", {"taskType": "fix"}, "wrong_value", "/task/profileHints/taskType"),
            ("/task/profileHints", {"targets": "x"}, "unknown_field", "/task/profileHints"),
            ("/captureProfile", "full", "wrong_value", "/captureProfile"),
            ("/coverage/approval", ..., "missing_field", "/coverage/approval"),
            ("/coverage/network", "complete", "unknown_field", "/coverage"),
            ("/coverage/run", "all", "wrong_value", "/coverage/run"),
            ("/metadata", [], "wrong_type", "/metadata"),
            ("/metadata", {"kiokukoCapabilityCatalogBinding": {}}, "reserved_key", "/metadata"),
            ("/metadata", {"text": "x" * 65_536}, "too_large", "/metadata"),
            ("/startedAt", "2026-02-30T00:00:00.000Z", "wrong_value", "/startedAt"),
            ("/startedAt", "2026-01-02T03:04:05Z", "wrong_value", "/startedAt"),
            ("/startedAt", "2026-01-02T03:04:05.678+00:00", "wrong_value", "/startedAt"),
            ("/parentRunId", "", "wrong_value", "/parentRunId"),
            ("/surprise", 1, "unknown_field", None),
        ],
    )
    def test_a_field_that_is_not_taken(
        self, http: HttpGateway, path: str, value: Any, reason: str, field: str | None
    ) -> None:
        """The reason and the place of the known field; nothing of the value or of an unknown name, and no run."""
        reply = http.open(replaced(path, value))
        assert (reply.status, details(reply)) == (400, {"reason": reason} | ({"field": field} if field else {}))
        assert http.ask("agent.runs.list", query={"workspace": "demo"}).data["items"] == []

    def test_texts_may_have_lines(self, http: HttpGateway) -> None:
        """Newline and tab in title, query and hints; a task as large as one may be."""
        task = {"title": "a\nb", "query": "fix\tit\nnow", "profileHints": {"target": "x\ny", "constraints": None}}
        assert http.open(opening(task=task)).data["taskProfile"]["target"] == "x\ny"
        long = {"title": "t" * 16384, "query": "\U0001f41d" * 8192}
        assert http.open(opening(task=long)).status == 200

    @pytest.mark.parametrize("key", [SECRET, "password=hunter2hunter2"])
    def test_a_secret_where_none_can_be_masked(self, http: HttpGateway, key: str) -> None:
        """In the workspace, in a key of metadata or of a payload: 422, and the secret is in no answer."""
        for body in (opening(workspace=key), opening(metadata={key: 1})):
            reply = http.open(body)
            assert reply.told == (422, "SECURITY_REJECTION", "secret")
            assert key not in json.dumps(reply.envelope)
        run_id = http.opened()
        assert http.events(run_id, event(payload={"a": [{key: 1}]})).told[2] == "secret"

    def test_a_malformed_catalog_is_no_reason_to_refuse(self, http: HttpGateway) -> None:
        """Anything is taken, and told as unknown."""
        for catalog in (None, 7, "x", {}, [1], [{"kind": "skill"}]):
            data = http.open(opening(capabilities=catalog)).data
            assert data["capabilities"]["availability"] == "unknown"


class TestEvents:
    @pytest.mark.parametrize(
        ("fields", "reason", "field"),
        [
            ({"eventType": "step.begun"}, "wrong_value", "/events/1/eventType"),
            ({"actor": ""}, "wrong_value", "/events/1/actor"),
            ({"actor": "a\x00"}, "wrong_value", "/events/1/actor"),
            ({"payload": ...}, "missing_field", "/events/1/payload"),
            ({"payload": {"text": "x" * 65_536}}, "too_large", "/events/1/payload"),
            ({"eventId": "a b"}, "wrong_value", "/events/1/eventId"),
            ({"eventId": "x" * 257}, "too_long", "/events/1/eventId"),
            ({"sourceSequence": -1}, "wrong_value", "/events/1/sourceSequence"),
            ({"sourceSequence": 2**53}, "wrong_value", "/events/1/sourceSequence"),
            ({"sourceSequence": 1.5}, "wrong_type", "/events/1/sourceSequence"),
            ({"sourceSequence": "1"}, "wrong_type", "/events/1/sourceSequence"),
            ({"occurredAt": "yesterday"}, "wrong_value", "/events/1/occurredAt"),
            ({"sequence": 1}, "unknown_field", "/events/1"),
        ],
    )
    def test_one_bad_event_refuses_the_batch(
        self, http: HttpGateway, fields: dict[str, Any], reason: str, field: str
    ) -> None:
        """400 with the place of the event; nothing is appended."""
        run_id = http.opened()
        bad = {name: value for name, value in (event() | fields).items() if value is not ...}
        reply = http.events(run_id, event(), bad)
        assert (reply.status, details(reply)) == (400, {"reason": reason, "field": field})
        assert http.run(run_id)["lastSequence"] == 3

    def test_how_many_events(self, http: HttpGateway) -> None:
        """1 to 200."""
        run_id = http.opened()
        assert details(http.events(run_id)) == {"reason": "wrong_value", "field": "/events"}
        assert details(http.events(run_id, *[event()] * 201)) == {"reason": "too_long", "field": "/events"}
        assert http.events(run_id, *[event()] * 200).data["acceptedThrough"] == 203

    def test_any_payload(self, http: HttpGateway) -> None:
        """Null, numbers, texts with control characters, 60 levels; texts of events may hold line breaks."""
        run_id = http.opened()
        deep: Any = 1
        for _ in range(60):
            deep = [deep]
        payloads = [None, 0, -1.5, 2**70, "a\x00\x1b\n", deep, {"": ""}]
        http.events(run_id, *[event("source.event", payload=payload, actor="a\nb") for payload in payloads])
        assert [item["payload"] for item in http.timeline(run_id, after=3)] == payloads


@pytest.mark.parametrize("name", sorted(name for name, operation in OPERATIONS.items() if operation.writes))
def test_every_write_refuses_what_it_does_not_know(http: HttpGateway, name: str) -> None:
    """An empty object and one with a strange field: 400, on a run that is there."""
    operation = OPERATIONS[name]
    run_id = http.opened() if operation.has_run else None
    for body in ({}, {"apiVersion": "1", "strange": 1}):
        reply = http.ask(name, run_id, body)
        assert reply.status in (400, 409)
        assert "strange" not in json.dumps(reply.envelope)


def test_run_ids_of_every_form(http: HttpGateway) -> None:
    """What no run can have is 400, what could be a run is 404."""
    read = OPERATIONS["agent.run.read"]
    for raw_id, told in (
        ("", (400, "bad_run_id")),
        ("a%2Fb", (400, "bad_run_id")),
        ("%00", (400, "bad_run_id")),
        ("x" * 257, (400, "bad_run_id")),
        ("x" * 256, (404, "no_run")),
        ("%F0%9F%90%9D", (404, "no_run")),
        (ABSENT, (404, "no_run")),
    ):
        reply = http.send("GET", path_of(read, raw_id), headers=http.headers(read), operation=read.name)
        assert (reply.status, details(reply)["reason"]) == told, raw_id


def test_headers_that_name_nobody(http: HttpGateway) -> None:
    """A caller that cannot be is 400 in the envelope."""
    sent = [*http.headers(OPEN), ("Hivekeep-Namespace", "a b")]
    reply = http.send("POST", OPEN.path, json.dumps(opening()).encode(), sent, operation=OPEN.name)
    assert reply.told == (400, "VALIDATION_ERROR", "wrong_value")
