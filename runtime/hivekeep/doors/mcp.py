"""The Model Context Protocol as a pure function: one decoded message in, one message (or nothing) out.

What it keeps true:
- Both eras are served side by side and decided per message, never per connection: a request whose `_meta`
  (or HTTP header) names a stateless revision is answered by that revision's rules, everything else by the
  handshake revisions. Nothing is remembered here; the one thing a transport remembers is the negotiated
  handshake version, because only 2025-03-26 allows batches.
- There is exactly one tool, `request`. A call of it comes back as a `Call`: the door runs it and hands the
  outcome to `finish` or `refuse`.
- A client can provoke JSON-RPC errors only; no input raises.

Sources: the MCP specification, revisions 2024-11-05 to 2025-11-25 (lifecycle, transports) and 2026-07-28
(versioning, per-request protocol fields, server validation of HTTP headers).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hivekeep_contract.limits import MAX_OPS
from hivekeep_contract.request import TOOL_DESCRIPTION, TOOL_NAME, TOOL_SUMMARY

HANDSHAKE_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
STATELESS_VERSIONS = ("2026-07-28",)
BATCH_VERSION = "2025-03-26"

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
UNSUPPORTED_PROTOCOL_VERSION = -32022

META_VERSION = "io.modelcontextprotocol/protocolVersion"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META_SERVER = "io.modelcontextprotocol/serverInfo"

VERSION_HEADER = "mcp-protocol-version"
METHOD_HEADER = "mcp-method"
NAME_HEADER = "mcp-name"
ROUTING_HEADERS = (VERSION_HEADER, METHOD_HEADER, NAME_HEADER)

CACHE_TTL_MS = 300_000

_INSTRUCTIONS = (
    "One tool, `request`, takes a string `ops` of one or more operations. "
    'Start with request(ops="verbs()"); any verb explains itself with help=true.'
)
_STATUS_OF_CODE = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    UNSUPPORTED_PROTOCOL_VERSION: 400,
    METHOD_NOT_FOUND: 404,
}

Message = dict[str, Any]
ToolSource = Callable[[], Message]


class Call:
    """A `tools/call` of the one tool, still to be run by the door.

    `id` is the JSON-RPC id, `arguments` the tool's argument object, `stateless` the era its answer is
    shaped for.
    """

    __slots__ = ("arguments", "id", "stateless")

    def __init__(self, call_id: str | int, arguments: Message, stateless: bool) -> None:
        self.id = call_id
        self.arguments = arguments
        self.stateless = stateless


class _Refusal(Exception):
    """A request that gets a JSON-RPC error; never leaves this module."""

    def __init__(self, code: int, message: str, data: Message | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


def server_info() -> Message:
    """Name, title and version of this server, as `Implementation` of the protocol."""
    from hivekeep import __version__

    return {"name": "hivekeep", "title": "hivekeep", "version": __version__}


def route(message: object, tool: ToolSource, *, headers: Mapping[str, str] | None = None) -> Message | Call | None:
    """Answer one decoded message.

    `tool` gives the tool's definition and is called for `tools/list` only. `headers` are the routing headers by
    lower-case name; None on stdio, where the header rules of the stateless era do not apply.
    Returns the reply, a `Call` the door has to run, or None when the message asks for no answer.
    """
    if not isinstance(message, dict):
        return error(None, INVALID_REQUEST, "the message must be one JSON-RPC request object")
    if message.get("jsonrpc") != "2.0":
        return error(_id_of(message), INVALID_REQUEST, "jsonrpc must be the string '2.0'")
    method = message.get("method")
    if "id" not in message or (method is None and ("result" in message or "error" in message)):
        return None if _may_be_ignored(message) else error(None, INVALID_REQUEST, "method must be a string")
    request_id = _id_of(message)
    if request_id is None or not isinstance(method, str):
        return error(request_id, INVALID_REQUEST, "a request has a string or integer id and a string method")
    params = message.get("params", {})
    if not isinstance(params, dict):
        return error(request_id, INVALID_PARAMS, "params must be an object")
    stateless = is_stateless(message, headers)
    try:
        if stateless:
            _check_envelope(method, params, headers)
            return _stateless(request_id, method, params, tool)
        return _handshake(request_id, method, params, tool)
    except _Refusal as refusal:
        return error(request_id, refusal.code, str(refusal), refusal.data)


def negotiate(message: object) -> str | None:
    """The handshake version an `initialize` message settles on, or None for any other message.

    A version this server knows is echoed; any other is answered with the newest handshake version.
    """
    if not isinstance(message, dict) or message.get("method") != "initialize":
        return None
    params = message.get("params")
    wanted = params.get("protocolVersion") if isinstance(params, dict) else None
    return wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[0]


def cancelled(message: object) -> str | int | None:
    """The id of the request that a message takes back, or None for any other message."""
    if not isinstance(message, dict) or message.get("method") != "notifications/cancelled":
        return None
    params = message.get("params")
    request_id = params.get("requestId") if isinstance(params, dict) else None
    return _id_of({"id": request_id})


def is_stateless(message: object, headers: Mapping[str, str] | None = None) -> bool:
    """Whether the rules of the stateless era apply to `message`.

    They do when it asks for `server/discover`, when its `_meta` names a protocol version, or when the HTTP
    header names a version that no handshake could have negotiated (so a half-built modern request is told
    what is missing instead of being served silently as an old one).
    """
    if not isinstance(message, dict):
        return False
    if headers is not None:
        named = headers.get(VERSION_HEADER)
        if named is not None and named not in HANDSHAKE_VERSIONS:
            return True
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return message.get("method") == "server/discover" or (isinstance(meta, dict) and META_VERSION in meta)


def refuse_batch(batch: list[object], version: str | None) -> Message | None:
    """The error for a batch, or None when `version` obliges us to take it (2025-03-26 alone does)."""
    if version != BATCH_VERSION:
        return error(None, INVALID_REQUEST, f"batches belong to protocol version {BATCH_VERSION} only")
    if not 1 <= len(batch) <= MAX_OPS:
        return error(None, INVALID_REQUEST, f"a batch holds 1 to {MAX_OPS} messages")
    if any(negotiate(item) for item in batch):
        return error(None, INVALID_REQUEST, "initialize must not be part of a batch")
    return None


def finish(call: Call, envelope: Message) -> Message:
    """The reply of a tool call that ran: the response envelope as JSON text.

    `isError` is set when nothing succeeded, so that a model notices; a partial success is read from the
    entries.
    """
    summary = envelope.get("summary")
    failed = isinstance(summary, dict) and not summary["succeeded"] and summary["failed"] > 0
    return _tool_result(call, envelope, failed)


def refuse(call: Call, entry: Message) -> Message:
    """The reply of a tool call that was refused as a whole; `entry` is the failure entry that says why."""
    return _tool_result(call, entry, True)


def error(request_id: str | int | None, code: int, message: str, data: Message | None = None) -> Message:
    """One JSON-RPC error message; `request_id` None when the id could not be read."""
    body: Message = {"code": code, "message": message}
    if data is not None:
        body["data"] = data
    return {"jsonrpc": "2.0", "id": request_id, "error": body}


def fault(message: object, text: str) -> Message:
    """The reply to a request that this server failed to answer."""
    return error(_id_of(message) if isinstance(message, dict) else None, INTERNAL_ERROR, text)


def http_status(reply: Message, stateless: bool) -> int:
    """HTTP status of a reply.

    The stateless era maps error codes to statuses, the handshake era only those of unreadable messages.
    """
    failure = reply.get("error")
    if failure is None:
        return 200
    code = failure["code"]
    if stateless or code in (PARSE_ERROR, INVALID_REQUEST):
        return _STATUS_OF_CODE.get(code, 200)
    return 200


def load_tool(packs: frozenset[str]) -> Message:
    """The definition of the tool `request` for the loaded `packs`.

    Its description lists their verbs, pack by pack.
    """
    from importlib.resources import files

    from hivekeep_contract.catalog import PACKS, VERBS

    schema = json.loads(files("hivekeep_contract").joinpath("schemas.json").read_bytes())["request"]
    verbs = _verb_lines(packs, PACKS, VERBS)
    return {
        "name": TOOL_NAME,
        "title": "hivekeep request",
        "description": "\n".join([f"{TOOL_SUMMARY} {TOOL_DESCRIPTION}", "", "Loaded verbs:", *verbs]),
        "inputSchema": schema,
        "annotations": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False},
    }


def _verb_lines(packs: frozenset[str], all_packs: Any, verbs: Any) -> Iterator[str]:
    for name, pack in sorted(all_packs.items(), key=lambda item: item[1].order):
        if name in packs:
            listed = [verb.name for verb in verbs.values() if verb.pack == name and not verb.internal]
            yield f"- {name} ({pack.title}): {', '.join(listed)}"


def _handshake(request_id: str | int, method: str, params: Message, tool: ToolSource) -> Message | Call:
    if method == "initialize":
        return _result(request_id, _initialize(params))
    if method == "ping":
        return _result(request_id, {})
    if method == "tools/list":
        return _result(request_id, _tools(params, tool))
    if method == "tools/call":
        return Call(request_id, _arguments(params), stateless=False)
    raise _Refusal(METHOD_NOT_FOUND, f"method not found: {method[:100]}")


def _stateless(request_id: str | int, method: str, params: Message, tool: ToolSource) -> Message | Call:
    if method == "server/discover":
        found = {"supportedVersions": list(STATELESS_VERSIONS), "capabilities": {"tools": {}}}
        return _result(request_id, _stamped(found | _cache_hint() | {"instructions": _INSTRUCTIONS}))
    if method == "tools/list":
        return _result(request_id, _stamped(_tools(params, tool) | _cache_hint()))
    if method == "tools/call":
        return Call(request_id, _arguments(params), stateless=True)
    raise _Refusal(METHOD_NOT_FOUND, f"method not found: {method[:100]}")


def _initialize(params: Message) -> Message:
    if not isinstance(params.get("protocolVersion"), str):
        raise _Refusal(INVALID_PARAMS, "protocolVersion must be a string")
    return {
        "protocolVersion": negotiate({"method": "initialize", "params": params}),
        "capabilities": {"tools": {}},
        "serverInfo": server_info(),
        "instructions": _INSTRUCTIONS,
    }


def _tools(params: Message, tool: ToolSource) -> Message:
    if params.get("cursor") is not None:
        raise _Refusal(INVALID_PARAMS, "the list of tools has one page; there is no cursor")
    return {"tools": [tool()]}


def _arguments(params: Message) -> Message:
    name = params.get("name")
    if name != TOOL_NAME:
        raise _Refusal(INVALID_PARAMS, f"unknown tool; the only tool is {TOOL_NAME!r}")
    arguments = params.get("arguments", {})
    if not isinstance(arguments, dict):
        raise _Refusal(INVALID_PARAMS, "arguments must be an object")
    return arguments


def _check_envelope(method: str, params: Message, headers: Mapping[str, str] | None) -> None:
    """Refuse a broken envelope: first its keys, then headers against body, then the version itself."""
    meta = params.get("_meta")
    if not isinstance(meta, dict):
        raise _Refusal(INVALID_PARAMS, f"params._meta must be an object with {META_VERSION} and {META_CAPABILITIES}")
    missing = [key for key in (META_VERSION, META_CAPABILITIES) if key not in meta]
    if missing:
        raise _Refusal(INVALID_PARAMS, f"params._meta lacks {', '.join(missing)}")
    version = meta[META_VERSION]
    if headers is not None:
        _check_headers(method, params, version, headers)
    if not isinstance(version, str):
        raise _Refusal(INVALID_PARAMS, f"{META_VERSION} must be a string")
    if not isinstance(meta[META_CAPABILITIES], dict):
        raise _Refusal(INVALID_PARAMS, f"{META_CAPABILITIES} must be an object")
    if version not in STATELESS_VERSIONS:
        told = {"supported": list(STATELESS_VERSIONS), "requested": version}
        raise _Refusal(UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", told)


def _check_headers(method: str, params: Message, version: object, headers: Mapping[str, str]) -> None:
    """Headers an intermediary may have routed on must say what the body says."""
    if headers.get(VERSION_HEADER) != version:
        raise _Refusal(HEADER_MISMATCH, "Header mismatch: MCP-Protocol-Version does not match params._meta")
    if headers.get(METHOD_HEADER) != method:
        raise _Refusal(HEADER_MISMATCH, "Header mismatch: Mcp-Method does not match the method of the body")
    if method == "tools/call" and _decoded(headers.get(NAME_HEADER)) != params.get("name"):
        raise _Refusal(HEADER_MISMATCH, "Header mismatch: Mcp-Name does not match params.name")


def _decoded(value: str | None) -> str | None:
    """A header value with the protocol's `=?base64?...?=` wrapping taken off; None for a broken wrapping."""
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    from base64 import b64decode

    try:
        return b64decode(value[9:-2], validate=True).decode("utf-8")
    except ValueError:
        return None


def _tool_result(call: Call, body: Message, is_error: bool) -> Message:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    result: Message = {"content": [{"type": "text", "text": text}], "isError": is_error}
    return _result(call.id, _stamped(result) if call.stateless else result)


def _result(request_id: str | int, result: Message) -> Message:
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def _stamped(result: Message) -> Message:
    """A result of the stateless era says that it is whole and who made it."""
    return {"resultType": "complete", **result, "_meta": {META_SERVER: server_info()}}


def _cache_hint() -> Message:
    return {"ttlMs": CACHE_TTL_MS, "cacheScope": "private"}


def _id_of(message: Message) -> str | int | None:
    value = message.get("id")
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    return None


def _may_be_ignored(message: Message) -> bool:
    """Notifications and stray responses get no answer; an id-less object that is neither is malformed."""
    return isinstance(message.get("method"), str) or "result" in message or "error" in message
