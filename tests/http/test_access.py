"""Who is let in: token, Host and Origin, and which paths are open."""

from typing import Any

import pytest

from .conftest import TOKEN, Client

GUARDED = [
    ("POST", "/api/v1/verbs/stats"),
    ("POST", "/api/v1/request"),
    ("POST", "/mcp"),
    ("GET", "/health/ready"),
]
OPEN = ["/health/live", "/openapi.json", "/docs", "/llms.txt", "/llms-full.txt", "/md/api-reference.md"]

BAD_TOKENS = [
    None,
    "",
    TOKEN,
    f"bearer {TOKEN}",
    f"Bearer  {TOKEN}",
    f"Bearer {TOKEN}0",
    f"Bearer {TOKEN.upper()}",
    f"Bearer {TOKEN[:-1]}",
    f"Basic {TOKEN}",
    "Bearer " + "0" * 64,
]
FOREIGN_HOSTS = [
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "127.0.0.1@evil.example",
    "127.0.0.1:4000:80",
    "localhost:99999",
    "10.0.0.1",
    "[::2]:80",
    "app.example",
    "",
]
FOREIGN_ORIGINS = [
    "null",
    "https://evil.example",
    "http://localhost.evil.example",
    "http://127.0.0.1@evil.example",
    "https://app.example.evil.example",
    "http://app.example",
    "file://localhost",
    "localhost",
    "",
]


@pytest.mark.parametrize(("method", "path"), GUARDED)
@pytest.mark.parametrize("authorization", BAD_TOKENS)
def test_only_the_exact_token_opens_a_guarded_path(
    client: Client, method: str, path: str, authorization: str | None
) -> None:
    """Scheme, spacing, case and length are part of the token; the refusal is 401 and tells nothing of it."""
    answer = client.send(method, path, json={} if method == "POST" else None, Authorization=authorization)
    assert answer.status_code == 401
    assert answer.json["ok"] is False
    assert answer.json["error"]["code"] == ("AUTHENTICATION_ERROR" if path == "/health/ready" else "unauthorized")
    assert TOKEN[:8] not in answer.text
    assert "www-authenticate" not in answer.headers


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/mcp"), ("OPTIONS", "/mcp"), ("DELETE", "/api/v1/verbs/stats"), ("GET", "/metrics")]
)
def test_a_stranger_does_not_learn_the_methods_of_a_path(client: Client, method: str, path: str) -> None:
    """A wrong method on a guarded path is 401 without the token and 403 from elsewhere, not 405 or 404."""
    assert client.send(method, path, Authorization=None).status_code == 401
    assert client.send(method, path, Origin="https://evil.example").status_code == 403
    assert client.send(method, path).status_code in (404, 405)


def test_blanks_round_a_header_are_no_part_of_it(client: Client) -> None:
    """HTTP parsers differ in what they leave there; Host, Origin, token and routing headers are read without it."""
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    answer = client.post(
        "/mcp",
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"_meta": meta, "name": "request"}},
        Host=" localhost \t",
        Origin=" http://localhost ",
        Authorization=f"Bearer {TOKEN} ",
        Content_Type=" application/json ",
        MCP_Protocol_Version="2026-07-28 ",
        Mcp_Method="tools/call ",
        Mcp_Name="\trequest ",
    )
    assert (answer.status_code, answer.json["result"]["isError"]) == (200, True)
    assert "ops must be a string" in answer.text


@pytest.mark.parametrize("path", OPEN)
def test_open_paths_need_no_token(client: Client, path: str) -> None:
    """The pages and the liveness probe answer without a token."""
    answer = client.get(path, Authorization=None)
    assert answer.status_code == 200
    assert answer.content


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_a_foreign_host_is_refused_everywhere(client: Client, host: str) -> None:
    """A Host that is not parsed as this machine gets 403, on open paths too, also with the right token."""
    for method, path in [*GUARDED, ("GET", "/docs"), ("GET", "/health/live")]:
        answer = client.send(method, path, json={} if method == "POST" else None, Host=host)
        assert (answer.status_code, answer.json["error"]["code"]) == (403, "foreign_origin"), path


@pytest.mark.parametrize("origin", FOREIGN_ORIGINS)
def test_a_foreign_origin_is_refused_before_the_token_is_looked_at(client: Client, origin: str) -> None:
    """A page of another site gets 403, whether it knows the token or not."""
    for authorization in (f"Bearer {TOKEN}", None):
        answer = client.post("/mcp", {}, Origin=origin, Authorization=authorization)
        assert (answer.status_code, answer.json["error"]["code"]) == (403, "foreign_origin")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "127.8.9.1:80", "[::1]:4000"])
def test_loopback_names_and_addresses_are_this_machine(client: Client, host: str) -> None:
    """`localhost`, the whole of 127.0.0.0/8 and ::1 are accepted as Host, with any port."""
    assert client.get("/health/live", Host=host).status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://localhost:3000", "http://127.0.0.1", "http://[::1]:8080", "https://app.example"]
)
def test_pages_of_this_machine_and_allowed_ones_may_call(client: Client, origin: str) -> None:
    """Loopback origins and the configured one pass, and get no CORS header in return."""
    answer = client.post("/api/v1/verbs/stats", {}, Origin=origin)
    assert answer.status_code == 200
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("path", ["/api/v1x", "/api/v10/agent/runs", "/api/v1.json"])
def test_a_path_that_begins_alike_is_not_below_the_prefix(client: Client, path: str) -> None:
    """The pattern of the gateway's paths was not bound at its end, so paths of no version answered in its envelope and
    asked for the token."""
    answer = client.get(path, Authorization=None)
    assert (answer.status_code, answer.json["ok"], answer.json.get("apiVersion")) == (404, False, None)


@pytest.mark.parametrize("path", ["/api/v1", "/api/v1/", "/api/v1/agent", "/api/v1/agent/runs/x/y"])
def test_the_gateway_speaks_its_own_envelope(client: Client, path: str) -> None:
    """Under /api/v1 a missing token is 401, a foreign Host 400 and an unknown path 404, in the gateway's shape."""

    def told(**headers: Any) -> tuple[int, dict[str, Any]]:
        answer = client.get(path, **headers)
        return answer.status_code, answer.json

    def envelope(code: str, message: str, reason: str) -> dict[str, Any]:
        error = {"code": code, "message": message, "details": {"reason": reason}}
        return {"apiVersion": "1", "ok": False, "operation": "api.v1", "error": error}

    assert told(Authorization=None) == (401, envelope("AUTHENTICATION_ERROR", "authorization invalid", "bad_token"))
    foreign = (400, envelope("VALIDATION_ERROR", "invalid request", "foreign_host"))
    assert told(Host="evil.example") == foreign
    assert told(Origin="https://evil.example") == foreign
    assert told() == (404, envelope("NOT_FOUND", "endpoint not found", "no_endpoint"))


@pytest.mark.parametrize(
    "request_",
    [
        {"body": b"{}", "Content_Type": "text/plain"},
        {"body": b"{}", "Content_Type": None},
        {"body": b"{"},
        {"body": b"[]"},
        {"body": b""},
        {"body": b'{"a": "' + b"x" * 5000 + b'"}'},
    ],
)
def test_the_gateway_checks_the_body_before_the_route(client: Client, request_: dict[str, Any]) -> None:
    """A bad content type, body or size on an unknown path is 400, not 404, 413 or 415."""
    answer = client.post("/api/v1/agent/nothing", **request_)
    assert (answer.status_code, answer.json["error"]["code"]) == (400, "VALIDATION_ERROR")


def test_a_stranger_who_asks_for_readiness_is_told_in_the_gateways_envelope(client: Client) -> None:
    """401 with the operation `health.ready` and without the instance of the server."""
    answer = client.get("/health/ready", Authorization=None)
    error = {"code": "AUTHENTICATION_ERROR", "message": "authorization invalid", "details": {"reason": "bad_token"}}
    assert answer.json == {"apiVersion": "1", "ok": False, "operation": "health.ready", "error": error}
    assert "hivekeep-instance" not in answer.headers


def test_readiness_ends_before_the_store_is_closed(own_client: Client) -> None:
    """/health/ready is 200 while requests are served and 503 once the server is on its way out."""
    assert (own_client.get("/health/ready").status_code, own_client.get("/health/ready").json) == (200, {"ok": True})
    own_client.door.ready = False
    assert (own_client.get("/health/ready").status_code, own_client.get("/health/ready").json) == (503, {"ok": False})


def test_every_answer_carries_the_security_headers(client: Client) -> None:
    """No sniffing, no caching, no referrer, and a policy that loads nothing; pages may use inline styles only."""
    for answer in (client.get("/health/live"), client.post("/api/v1/request", {}), client.get("/nowhere")):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert answer.headers["content-type"] == "application/json; charset=utf-8"
    page = client.get("/docs")
    assert "style-src 'unsafe-inline'" in page.headers["content-security-policy"]
    assert "script-src" not in page.headers["content-security-policy"]
    assert page.headers["content-type"] == "text/html; charset=utf-8"
