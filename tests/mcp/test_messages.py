"""The MCP door as a function: what each message of both eras is answered with."""

import json
from typing import Any

import pytest

from hivekeep.doors import mcp

TOOL = {"name": "request", "inputSchema": {"type": "object"}}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
HEADERS = {"mcp-protocol-version": "2026-07-28"}


def ask(method: str, params: Any = None, *, request_id: Any = 1, headers: Any = None) -> Any:
    message = {"jsonrpc": "2.0", "id": request_id, "method": method}
    if params is not None:
        message["params"] = params
    return mcp.route(message, lambda: TOOL, headers=headers)


def failure_of(reply: Any) -> tuple[Any, int]:
    return reply["id"], reply["error"]["code"]


class TestHandshakeEra:
    @pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
    def test_a_known_version_is_echoed(self, version: str) -> None:
        """initialize answers with the version the client asked for, for every handshake revision."""
        result = ask("initialize", {"protocolVersion": version, "capabilities": {}})["result"]
        assert result["protocolVersion"] == version
        assert result["capabilities"] == {"tools": {}}
        assert result["serverInfo"]["name"] == "hivekeep"

    @pytest.mark.parametrize("version", ["1999-01-01", "2026-07-28", ""])
    def test_any_other_version_is_answered_with_the_newest(self, version: str) -> None:
        """A version no handshake knows, the stateless one included, is countered with 2025-11-25."""
        assert ask("initialize", {"protocolVersion": version})["result"]["protocolVersion"] == "2025-11-25"

    def test_initialize_without_a_version_is_refused(self) -> None:
        """protocolVersion is required: -32602."""
        assert failure_of(ask("initialize", {})) == (1, -32602)

    def test_ping_is_answered_with_an_empty_result(self) -> None:
        """ping answers {} under the same id, texts included."""
        assert ask("ping", request_id="a") == {"jsonrpc": "2.0", "id": "a", "result": {}}

    def test_there_is_one_tool_and_one_page(self) -> None:
        """tools/list gives the tool and no cursor; a cursor, which nobody handed out, is refused."""
        assert ask("tools/list")["result"] == {"tools": [TOOL]}
        assert failure_of(ask("tools/list", {"cursor": "x"})) == (1, -32602)

    def test_a_call_comes_back_to_the_door(self) -> None:
        """tools/call of `request` is handed out with its arguments; a call without arguments has none."""
        call = ask("tools/call", {"name": "request", "arguments": {"ops": "stats()"}})
        assert (call.id, call.arguments, call.stateless) == (1, {"ops": "stats()"}, False)
        assert ask("tools/call", {"name": "request"}).arguments == {}

    def test_another_tool_or_a_list_of_arguments_is_a_protocol_error(self) -> None:
        """An unknown tool and arguments that are no object answer -32602."""
        assert failure_of(ask("tools/call", {"name": "create"})) == (1, -32602)
        assert failure_of(ask("tools/call", {"name": "request", "arguments": ["stats()"]})) == (1, -32602)

    @pytest.mark.parametrize("method", ["resources/list", "prompts/list", "logging/setLevel", "no/such"])
    def test_what_we_do_not_offer_is_unknown(self, method: str) -> None:
        """Methods of capabilities we do not announce answer -32601."""
        assert failure_of(ask(method)) == (1, -32601)


class TestStatelessEra:
    def test_discover_names_versions_and_server(self) -> None:
        """server/discover carries versions, capabilities, a cache hint, resultType and who answers."""
        result = ask("server/discover", {"_meta": META})["result"]
        assert result["supportedVersions"] == ["2026-07-28"]
        assert result["capabilities"] == {"tools": {}}
        assert result["resultType"] == "complete"
        assert (result["ttlMs"], result["cacheScope"]) == (300_000, "private")
        assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "hivekeep"

    def test_no_handshake_is_needed(self) -> None:
        """tools/list and tools/call are served from the envelope of the request alone."""
        assert ask("tools/list", {"_meta": META})["result"]["tools"] == [TOOL]
        call = ask("tools/call", {"_meta": META, "name": "request", "arguments": {"ops": "stats()"}})
        assert (call.stateless, call.arguments) == (True, {"ops": "stats()"})

    @pytest.mark.parametrize("gone", list(META))
    def test_each_required_key_is_required(self, gone: str) -> None:
        """A request that lacks one of the two envelope keys is malformed: -32602 naming the key."""
        meta = {key: value for key, value in META.items() if key != gone}
        reply = ask("server/discover", {"_meta": meta})
        assert failure_of(reply) == (1, -32602)
        assert gone in reply["error"]["message"]

    def test_an_unknown_version_is_told_the_known_ones(self) -> None:
        """-32022 with the supported list and the version that was asked for."""
        meta = META | {"io.modelcontextprotocol/protocolVersion": "2027-01-01"}
        reply = ask("tools/list", {"_meta": meta})
        assert reply["error"]["code"] == -32022
        assert reply["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2027-01-01"}

    @pytest.mark.parametrize("value", [None, 20260728, ["2026-07-28"]])
    def test_a_version_that_is_no_text_is_a_defect(self, value: Any) -> None:
        """A version that is not a string is -32602, not a failed negotiation."""
        meta = META | {"io.modelcontextprotocol/protocolVersion": value}
        assert failure_of(ask("tools/list", {"_meta": meta})) == (1, -32602)

    @pytest.mark.parametrize("method", ["initialize", "ping", "logging/setLevel", "subscriptions/listen"])
    def test_methods_of_the_other_era_are_unknown(self, method: str) -> None:
        """With the stateless envelope, methods that the revision removed answer -32601."""
        assert failure_of(ask(method, {"_meta": META})) == (1, -32601)


class TestHeaders:
    def test_headers_that_agree_pass(self) -> None:
        """Version, method and name headers that repeat the body are accepted, base64 wrapping included."""
        headers = HEADERS | {"mcp-method": "tools/call", "mcp-name": "=?base64?cmVxdWVzdA==?="}
        assert isinstance(ask("tools/call", {"_meta": META, "name": "request"}, headers=headers), mcp.Call)

    @pytest.mark.parametrize(
        "headers",
        [
            {},
            {"mcp-protocol-version": "2025-11-25", "mcp-method": "tools/call", "mcp-name": "request"},
            HEADERS | {"mcp-name": "request"},
            HEADERS | {"mcp-method": "tools/list", "mcp-name": "request"},
            HEADERS | {"mcp-method": "tools/call"},
            HEADERS | {"mcp-method": "tools/call", "mcp-name": "Request"},
            HEADERS | {"mcp-method": "tools/call", "mcp-name": "=?base64?!?="},
        ],
    )
    def test_a_header_that_disagrees_or_lacks_is_a_mismatch(self, headers: dict[str, str]) -> None:
        """-32020 for each routing header that is missing, different or wrapped in broken base64."""
        reply = ask("tools/call", {"_meta": META, "name": "request"}, headers=headers)
        assert failure_of(reply) == (1, -32020)

    def test_a_modern_header_over_an_old_body_is_not_served_silently(self) -> None:
        """A header that names a stateless version makes the envelope required."""
        assert failure_of(ask("tools/list", {}, headers=HEADERS)) == (1, -32602)

    def test_the_status_follows_the_era(self) -> None:
        """Stateless errors map to 400 and 404; handshake errors travel with 200, unreadable ones with 400."""
        unknown, wrong = mcp.error(1, -32601, "x"), mcp.error(1, -32602, "x")
        assert [mcp.http_status(reply, True) for reply in (unknown, wrong)] == [404, 400]
        assert [mcp.http_status(reply, False) for reply in (unknown, wrong)] == [200, 200]
        assert mcp.http_status(mcp.error(None, -32700, "x"), False) == 400
        assert mcp.http_status({"jsonrpc": "2.0", "id": 1, "result": {}}, True) == 200


class TestMalformed:
    @pytest.mark.parametrize(
        ("message", "request_id", "code"),
        [
            ("text", None, -32600),
            (None, None, -32600),
            ({"id": 1, "method": "ping"}, 1, -32600),
            ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, 1, -32600),
            ({"jsonrpc": "2.0", "id": None, "method": "ping"}, None, -32600),
            ({"jsonrpc": "2.0", "id": True, "method": "ping"}, None, -32600),
            ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, None, -32600),
            ({"jsonrpc": "2.0", "id": 1, "method": 7}, 1, -32600),
            ({"jsonrpc": "2.0", "id": 1}, 1, -32600),
            ({"jsonrpc": "2.0", "method": 7}, None, -32600),
            ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}, 1, -32602),
        ],
    )
    def test_it_is_refused_under_the_id_it_has(self, message: Any, request_id: Any, code: int) -> None:
        """Whatever cannot be a request is answered with an error, never raised."""
        assert failure_of(mcp.route(message, lambda: TOOL)) == (request_id, code)

    @pytest.mark.parametrize(
        "message",
        [
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
            {"jsonrpc": "2.0", "id": 1, "result": {}},
            {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}},
        ],
    )
    def test_notifications_and_responses_get_no_answer(self, message: Any) -> None:
        """A message that asks for nothing is answered with nothing."""
        assert mcp.route(message, lambda: TOOL) is None


class TestBatches:
    def test_only_one_revision_takes_them(self) -> None:
        """2025-03-26 obliges a server to take batches; every other revision, and none, refuses: -32600."""
        ping: list[object] = [{"jsonrpc": "2.0", "id": 1, "method": "ping"}]
        assert mcp.refuse_batch(ping, "2025-03-26") is None
        for version in ("2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28", None):
            refusal = mcp.refuse_batch(ping, version)
            assert refusal is not None
            assert failure_of(refusal) == (None, -32600)

    def test_size_and_content_are_limited(self) -> None:
        """An empty batch, one of 101 messages and one that holds initialize are refused."""
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        for batch in ([], [ping] * 101, [ping, {"jsonrpc": "2.0", "id": 2, "method": "initialize"}]):
            assert mcp.refuse_batch(list(batch), "2025-03-26") is not None


class TestToolResults:
    def envelope(self, succeeded: int, failed: int) -> dict[str, Any]:
        summary = {"total": succeeded + failed, "succeeded": succeeded, "failed": failed, "aborted": 0}
        return {"results": [{"ok": True, "result": "Müller 设备"}], "summary": summary}

    def test_the_envelope_is_the_text(self) -> None:
        """The one content block holds the envelope as compact JSON in readable characters."""
        envelope = self.envelope(1, 0)
        result = mcp.finish(mcp.Call(7, {}, False), envelope)["result"]
        assert list(result) == ["content", "isError"]
        assert json.loads(result["content"][0]["text"]) == envelope
        assert "Müller 设备" in result["content"][0]["text"]

    @pytest.mark.parametrize(("succeeded", "failed", "is_error"), [(1, 0, False), (1, 1, False), (0, 2, True)])
    def test_a_model_is_alarmed_only_when_nothing_succeeded(self, succeeded: int, failed: int, is_error: bool) -> None:
        """isError is set when every operation failed; a partial success is told by its entries."""
        call = mcp.Call(7, {}, False)
        assert mcp.finish(call, self.envelope(succeeded, failed))["result"]["isError"] is is_error

    def test_a_refused_request_is_a_tool_error_not_a_protocol_error(self) -> None:
        """A request refused as a whole reaches the model: isError with the error entry as text."""
        entry = {"ok": False, "tool": None, "error": {"code": "parse_error"}}
        reply = mcp.refuse(mcp.Call("x", {}, True), entry)
        assert (reply["id"], reply["result"]["isError"]) == ("x", True)
        assert reply["result"]["resultType"] == "complete"
        assert json.loads(reply["result"]["content"][0]["text"]) == entry


def test_the_tool_lists_the_loaded_verbs_and_only_those() -> None:
    """The description names each verb of the loaded packs; without packs it names none."""
    from hivekeep_contract.catalog import VERBS

    tool = mcp.load_tool(frozenset({"kg"}))
    assert tool["name"] == "request"
    assert tool["inputSchema"]["required"] == ["ops"]
    assert tool["inputSchema"]["additionalProperties"] is False
    listed = tool["description"].split("- kg (")[1].split(": ", 1)[1].split(", ")
    assert listed == [verb.name for verb in VERBS.values() if verb.pack == "kg" and not verb.internal]
    assert "create" not in mcp.load_tool(frozenset())["description"].split("Loaded verbs:")[1]
