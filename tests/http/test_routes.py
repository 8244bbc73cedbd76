"""What the routes answer: entries, envelopes, statuses, and Falcon's own errors in our shape."""

import json
from typing import Any

import pytest

from hivekeep.doors import http
from hivekeep.identity.caller import make_caller
from hivekeep_contract.routes import ROUTES

from .conftest import BODY_LIMIT, Client

SESSION = "0a1b2c3d-0000-4000-8000-00000000000f"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def refusal(code: str, kind: str, message: str, tool: str | None = None, **fields: Any) -> dict[str, Any]:
    error = {"kind": kind, "code": code, "message": message, **fields, "domain_disposition": "not_committed"}
    return {"ok": False, "tool": tool, "domain_disposition": "not_committed", "error": error}


class TestVerbRoute:
    def test_a_success_is_one_entry(self, client: Client) -> None:
        """200 with `ok`, `tool` and the verbose result."""
        answer = client.post("/api/v1/verbs/create", {"kind": "concept", "name": "RoPE"})
        assert answer.status_code == 200
        assert set(answer.json) == {"ok", "tool", "result"}
        assert (answer.json["ok"], answer.json["tool"]) == (True, "create")
        assert answer.json["result"]["name"] == "RoPE"
        assert len(answer.json["result"]["id"]) == 36

    def test_the_status_is_that_of_the_error(self, client: Client) -> None:
        """A missing record is 404 with the disposition of a handler's error; bad arguments are 400."""
        missing = client.post("/api/v1/verbs/get", {"id": "00000000-0000-4000-8000-000000000000"})
        assert (missing.status_code, missing.json["error"]["code"]) == (404, "not_found")
        assert missing.json["domain_disposition"] == missing.json["error"]["domain_disposition"] == "unknown"
        wrong = client.post("/api/v1/verbs/get", {"id": 7})
        assert (wrong.status_code, wrong.json["error"]["code"]) == (400, "invalid_input")
        assert wrong.json["domain_disposition"] == "not_committed"

    def test_an_unknown_verb_is_not_found(self, client: Client) -> None:
        """404 with the name in `tool`, not Falcon's 404, and an audit row."""
        answer = client.post("/api/v1/verbs/no_such", {})
        assert (answer.status_code, answer.json["tool"]) == (404, "no_such")
        assert answer.json["error"]["code"] == "unknown_verb"
        rows = client.post("/api/v1/verbs/list", {"kind": "event", "event_kind": "audit", "verb": "no_such"})
        assert [row["outcome"] for row in rows.json["result"]["items"]] == ["error"]

    @pytest.mark.parametrize("verb", ["stats", "no_such"])
    def test_a_refusal_of_the_door_names_the_verb(self, client: Client, verb: str) -> None:
        """Known or not, the verb of the path is the `tool` of the entry."""
        path = ROUTES["verb"].path.format(verb=verb)
        refused = [
            client.post(path, {}, Authorization=None),
            client.send("GET", path),
            client.send("OPTIONS", path),
            client.post(f"{path}?colour=red", {}),
            client.post(path, body=b"["),
        ]
        assert [answer.status_code for answer in refused] == [401, 405, 405, 400, 400]
        assert {answer.json["tool"] for answer in refused} == {verb}

    def test_presentation_and_format_come_from_the_query(self, client: Client) -> None:
        """Verbose by default; agent shortens ids; anything else in the query is refused."""
        made = client.post("/api/v1/verbs/create?presentation=agent", {"kind": "concept", "name": "RoPE"})
        assert len(made.json["result"]["id"]) < 36
        for query in ("presentation=loud", "format=xml", "presentaton=agent", "format=json&format=auto"):
            answer = client.post(f"/api/v1/verbs/stats?{query}", {})
            assert (answer.status_code, answer.json["error"]["code"]) == (400, "invalid_params"), query

    def test_headers_say_who_is_asking(self, client: Client) -> None:
        """whoami repeats the headers of its own request, UTF-8 included; without them the caller is anonymous."""
        named = client.post(
            "/api/v1/verbs/whoami", {}, Hivekeep_Actor="zoë".encode().decode("latin-1"), Hivekeep_Namespace="team"
        ).json["result"]
        assert (named["actor_id"], named["actor_kind"], named["namespace"]) == ("zoë", "actor", "team")
        unnamed = client.post("/api/v1/verbs/whoami", {}).json["result"]
        assert (unnamed["actor_id"], unnamed["actor_kind"]) == ("local", "anonymous")
        assert (unnamed["namespace"], unnamed["unattributed"]) == ("local", True)

    def test_a_header_names_the_session(self, client: Client) -> None:
        """Its own request has it, in audit row, events and memory, and the next one without it has none."""
        named = client.post("/api/v1/verbs/whoami", {}, Hivekeep_Session=SESSION.upper()).json["result"]
        assert named["session_id"] == SESSION
        assert "session_id" not in client.post("/api/v1/verbs/whoami", {}).json["result"]
        remembered = client.post("/api/v1/verbs/memory.remember", {"content": "a"}, Hivekeep_Session=SESSION).json
        memory = remembered["result"]["id"]
        assert client.post("/api/v1/verbs/get", {"id": memory}).json["result"]["properties"]["session_id"] == SESSION
        client.post("/api/v1/verbs/memory.remember", {"content": "b"})
        events = client.post("/api/v1/verbs/list", {"kind": "event", "session_id": SESSION}).json["result"]["items"]
        assert [(event["verb"], event["kind"]) for event in events] == [
            ("memory.remember", "audit"),
            ("memory.remember", "note_created"),
            ("whoami", "audit"),
        ]
        assert {event["session_id"] for event in events} == {SESSION}
        assert events[0]["payload"]["session_id"] == SESSION

    def test_the_session_of_an_mcp_message_is_its_header(self, client: Client) -> None:
        """As of every other route; it is the session of the caller, not one of the transport."""
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "request", "arguments": {"ops": "whoami()"}},
        }
        other = SESSION.replace("a", "b")
        answer = client.post("/mcp", message, Hivekeep_Session=other)
        assert other in answer.text

    def test_callers_are_remembered_within_bounds(self, own_client: Client) -> None:
        """More sessions than places: each request is still its own caller's."""
        remembered = own_client.door._callers
        nobody = make_caller(None, None, ())
        remembered.update({(None, None, str(number)): nobody for number in range(http._CALLERS_REMEMBERED - 1)})
        sizes = []
        for number in range(3):
            session = f"{number:08x}{SESSION[8:]}"
            named = own_client.post("/api/v1/verbs/whoami", {}, Hivekeep_Session=session).json["result"]
            assert named["session_id"] == session
            sizes.append(len(remembered))
        assert sizes == [http._CALLERS_REMEMBERED, 1, 2]

    @pytest.mark.parametrize(
        "headers",
        [
            {"Hivekeep_Actor": " \xff"},
            {"Hivekeep_Namespace": "a b"},
            {"Hivekeep_Session": "today"},
            {"Hivekeep_Session": SESSION[:8]},
            {"Hivekeep_Session": ""},
        ],
    )
    def test_a_caller_that_cannot_be_is_refused(self, client: Client, headers: dict[str, str]) -> None:
        """Bytes that are no UTF-8, a namespace outside the grammar, a session that is no UUID: 400 invalid_params."""
        answer = client.post("/api/v1/verbs/whoami", {}, **headers)
        assert (answer.status_code, answer.json["error"]["code"]) == (400, "invalid_params")


class TestRequestRoute:
    def test_failures_of_operations_travel_with_200(self, client: Client) -> None:
        """One answer for all operations, agent presentation, status 200 though one of them failed."""
        ops = '[create(kind="concept", name="A"), get(id="00000000-0000-4000-8000-000000000000")]'
        answer = client.post("/api/v1/request", {"ops": ops})
        assert answer.status_code == 200
        assert answer.json["summary"] == {"total": 2, "succeeded": 1, "failed": 1, "aborted": 0}
        assert [entry["ok"] for entry in answer.json["results"]] == [True, False]

    @pytest.mark.parametrize(
        ("body", "code"),
        [
            ({"ops": ""}, "parse_error"),
            ({"ops": "create(kind=concept)"}, "parse_error"),
            ({"ops": "stats()", "presentaton": "agent"}, "invalid_params"),
            ({"ops": 7}, "invalid_params"),
            ({}, "invalid_params"),
        ],
    )
    def test_a_request_refused_as_a_whole_is_400(self, client: Client, body: Any, code: str) -> None:
        """Nothing ran: one entry without a tool."""
        answer = client.post("/api/v1/request", body)
        assert (answer.status_code, answer.json["tool"], answer.json["error"]["code"]) == (400, None, code)


class TestBodies:
    @pytest.mark.parametrize("path", ["/api/v1/verbs/stats", "/api/v1/request"])
    @pytest.mark.parametrize(
        ("body", "content_type", "status", "code"),
        [
            (b"{}", "text/plain", 415, "unsupported_media_type"),
            (b"{}", None, 415, "unsupported_media_type"),
            (b"{}", "application/json-patch+json", 415, "unsupported_media_type"),
            (b"", "application/json", 400, "malformed_body"),
            (b"{", "application/json", 400, "malformed_body"),
            (b"[]", "application/json", 400, "malformed_body"),
            (b'{"a": NaN}', "application/json", 400, "malformed_body"),
            (b'{"a": "\xff"}', "application/json", 400, "malformed_body"),
            (b'{"a": "\\ud800"}', "application/json", 400, "malformed_body"),
            (b'{"a":' * 700 + b"1" + b"}" * 700, "application/json", 413, "payload_too_large"),
        ],
    )
    def test_what_is_no_json_object_is_refused(
        self, client: Client, path: str, body: bytes, content_type: str | None, status: int, code: str
    ) -> None:
        """Media type, syntax, shape, encoding and size: each has its own code, and no answer is Falcon's."""
        answer = client.post(path, body=body, Content_Type=content_type)
        assert (answer.status_code, answer.json["error"]["code"]) == (status, code)
        assert answer.json["ok"] is False

    def test_the_limit_is_exact(self, client: Client) -> None:
        """A body of the limit passes, one byte more is 413 and names the limit."""
        filler = BODY_LIMIT - len('{"ops": ""}')
        at_limit = client.post("/api/v1/request", body=b'{"ops": "' + b" " * filler + b'"}')
        assert (at_limit.status_code, at_limit.json["error"]["code"]) == (400, "parse_error")
        beyond = client.post("/api/v1/request", body=b'{"ops": "' + b" " * (filler + 1) + b'"}')
        assert (beyond.status_code, beyond.json["error"]["max_bytes"]) == (413, BODY_LIMIT)

    def test_a_body_may_come_in_pieces(self, own_client: Client) -> None:
        """It is put together, and the limit is that of the whole."""
        own_client.piece_bytes = 5
        answer = own_client.post("/api/v1/verbs/create", {"kind": "concept", "name": "put together"})
        assert (answer.status_code, answer.json["result"]["name"]) == (200, "put together")
        beyond = own_client.post("/api/v1/verbs/stats", body=b" " * (BODY_LIMIT + 1))
        assert (beyond.status_code, beyond.json["error"]["max_bytes"]) == (413, BODY_LIMIT)

    def test_parameters_of_the_media_type_are_welcome(self, client: Client) -> None:
        """`Application/JSON; charset=utf-8` is JSON."""
        answer = client.post("/api/v1/verbs/stats", body=b"{}", Content_Type="Application/JSON; charset=utf-8")
        assert answer.status_code == 200

    def test_depth_that_breaks_a_parser_is_malformed(self, own_client: Client) -> None:
        """Nesting beyond the interpreter's stack is 400, not 500."""
        own_client.door.body_limit = 1_000_000
        answer = own_client.post("/api/v1/request", body=b"[" * 300_000)
        assert (answer.status_code, answer.json["error"]["code"]) == (400, "malformed_body")


class TestFalconsOwnErrors:
    @pytest.mark.parametrize(
        ("method", "path", "allowed"),
        [
            ("GET", "/api/v1/verbs/stats", ["POST"]),
            ("DELETE", "/mcp", ["POST"]),
            ("GET", "/mcp", ["POST"]),
            ("HEAD", "/health/live", ["GET"]),
            ("POST", "/docs", ["GET"]),
        ],
    )
    def test_a_wrong_method_is_405_in_our_shape(
        self, client: Client, method: str, path: str, allowed: list[str]
    ) -> None:
        """Entry with code method_not_allowed and the Allow header."""
        answer = client.send(method, path)
        assert answer.status_code == 405
        assert [name.strip() for name in answer.headers["allow"].split(",")] == allowed
        if method != "HEAD":
            assert answer.json["error"]["code"] == "method_not_allowed"
            assert answer.json["error"]["allowed"] == allowed

    def test_options_is_a_method_like_any_other(self, client: Client) -> None:
        """There is no CORS preflight to answer."""
        assert client.send("OPTIONS", "/mcp").status_code == 405

    @pytest.mark.parametrize("path", ["/nowhere", "/docs/", "/mcp/", "/health", "/api/v2"])
    def test_a_path_outside_is_404_in_our_shape(self, client: Client, path: str) -> None:
        """Entry with code route_not_found."""
        message = "there is no such path; /docs tells people which there are, /openapi.json tools"
        answer = client.get(path)
        assert (answer.status_code, answer.json) == (404, refusal("route_not_found", "not_found", message))

    def test_the_root_leads_to_the_reference(self, client: Client) -> None:
        """302 without a body and without a token; a foreign Host and another method are refused as everywhere."""
        answer = client.get("/", Authorization=None)
        assert (answer.status_code, answer.headers["location"], answer.content) == (302, "/docs", b"")
        assert client.get(answer.headers["location"], Authorization=None).status_code == 200
        assert client.get("/", Host="evil.example").status_code == 403
        assert client.post("/", {}).status_code == 405

    def test_an_unforeseen_fault_is_named_not_shown(
        self, own_client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        """500 with an id; the log has the id and the place; neither has the exception's text."""

        def fail(*_args: Any, **_more: Any) -> Any:
            raise ZeroDivisionError("the secret of the request")

        monkeypatch.setattr(own_client.door.server, "call_verb", fail)
        answer = own_client.post("/api/v1/verbs/stats", {})
        assert (answer.status_code, answer.json["error"]["code"]) == (500, "internal")
        error_id = answer.json["error"]["error_id"]
        assert error_id in caplog.text
        assert "ZeroDivisionError" in caplog.text
        assert "secret" not in caplog.text + answer.text
        assert "Traceback" not in answer.text


class TestMcpRoute:
    def test_a_handshake_client_is_served_without_a_session(self, client: Client) -> None:
        """initialize, the initialized notification (202, empty) and a call; no session id is minted."""
        params = {"protocolVersion": "2025-11-25", "capabilities": {}}
        opened = client.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
        assert opened.json["result"]["protocolVersion"] == "2025-11-25"
        assert "mcp-session-id" not in opened.headers
        noted = client.post("/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert (noted.status_code, noted.content) == (202, b"")
        arguments = {"ops": 'create(kind="concept", name="A")'}
        call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "request"}}
        call["params"]["arguments"] = arguments  # type: ignore[index]
        envelope = json.loads(client.post("/mcp", call).json["result"]["content"][0]["text"])
        assert envelope["summary"]["succeeded"] == 1

    def test_a_stateless_client_needs_no_handshake(self, client: Client) -> None:
        """One POST with envelope and headers is a whole conversation."""
        answer = client.post(
            "/mcp",
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"_meta": META, "name": "request", "arguments": {"ops": "stats()"}},
            },
            MCP_Protocol_Version="2026-07-28",
            Mcp_Method="tools/call",
            Mcp_Name="request",
        )
        assert (answer.status_code, answer.json["result"]["resultType"]) == (200, "complete")
        assert answer.json["result"]["isError"] is False

    @pytest.mark.parametrize(
        ("message", "status", "code"),
        [
            ({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}, 400, -32602),
            ({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}, 400, -32020),
        ],
    )
    def test_stateless_refusals_carry_their_status(self, client: Client, message: Any, status: int, code: int) -> None:
        """A missing envelope or routing header is 400 with the protocol's code."""
        answer = client.post("/mcp", message, MCP_Protocol_Version="2026-07-28")
        assert (answer.status_code, answer.json["error"]["code"]) == (status, code)

    def test_an_unknown_stateless_method_is_404(self, client: Client) -> None:
        """-32601 travels with 404 in the stateless era and with 200 before."""
        message = {"jsonrpc": "2.0", "id": 1, "method": "resources/list", "params": {"_meta": META}}
        headers = {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": "resources/list"}
        assert client.post("/mcp", message, **headers).status_code == 404
        old = client.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "resources/list"})
        assert (old.status_code, old.json["error"]["code"]) == (200, -32601)

    def test_an_unreadable_body_is_a_parse_error(self, client: Client) -> None:
        """400 with -32700 and no id."""
        answer = client.post("/mcp", body=b"{")
        assert (answer.status_code, answer.json["id"], answer.json["error"]["code"]) == (400, None, -32700)

    def test_batches_are_taken_of_the_one_revision_that_has_them(self, client: Client) -> None:
        """Without a version header or with 2025-03-26: a list of answers; later revisions refuse it whole."""
        batch = [PING, {"jsonrpc": "2.0", "method": "notifications/initialized"}, {**PING, "id": 2}]
        for headers in ({}, {"MCP_Protocol_Version": "2025-03-26"}):
            assert [reply["id"] for reply in client.post("/mcp", batch, **headers).json] == [1, 2]
        assert client.post("/mcp", batch[1:2]).status_code == 202
        late = client.post("/mcp", batch, MCP_Protocol_Version="2025-11-25")
        assert (late.status_code, late.json["error"]["code"]) == (400, -32600)

    def test_a_refused_request_is_a_tool_error(self, client: Client) -> None:
        """A parse error of the ops reaches the model as the result of the call."""
        params = {"name": "request", "arguments": {"ops": "nonsense("}}
        answer = client.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        result = answer.json["result"]
        assert (answer.status_code, result["isError"]) == (200, True)
        assert json.loads(result["content"][0]["text"])["error"]["code"] == "parse_error"
