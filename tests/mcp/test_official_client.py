"""The official client of the protocol against our door: both eras, over stdio and over HTTP."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from mcp import Client, StdioServerParameters
from support.processes import PROGRAM, Serving, environment, serving

ERAS = [("legacy", "2025-11-25"), ("auto", "2026-07-28"), ("2026-07-28", "2026-07-28")]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("home")) as started:
        yield started


async def converse(client: Client) -> dict[str, Any]:
    """What a client does with a memory: look at the tool, write, read back, and make a mistake."""
    tools = (await client.list_tools()).tools
    made = await client.call_tool("request", {"ops": 'create(kind="concept", name="RoPE")'})
    entity = json.loads(made.content[0].text)["results"][0]["result"]  # type: ignore[union-attr]
    read = await client.call_tool("request", {"ops": f'get(id="{entity["id"]}")'})
    wrong = await client.call_tool("request", {"ops": "get(id=1"})
    with pytest.raises(MCPError) as unknown:
        await client.call_tool("create", {})
    return {
        "version": client.protocol_version,
        "server": client.server_info.name if client.server_info else None,
        "tools": [tool.name for tool in tools],
        "read": json.loads(read.content[0].text)["results"][0]["result"]["name"],  # type: ignore[union-attr]
        "wrong": (wrong.is_error, json.loads(wrong.content[0].text)["error"]["code"]),  # type: ignore[union-attr]
        "unknown tool": unknown.value.error.code,
    }


def expected(version: str, server: str | None) -> dict[str, Any]:
    return {
        "version": version,
        "server": server,
        "tools": ["request"],
        "read": "RoPE",
        "wrong": (True, "parse_error"),
        "unknown tool": -32602,
    }


@pytest.mark.parametrize(("mode", "version"), ERAS)
def test_over_stdio(tmp_path: Path, mode: str, version: str) -> None:
    """Handshake, probe and pinned version: one tool, a write, a read, a tool error and a protocol error."""
    command = StdioServerParameters(
        command=PROGRAM[0], args=[*PROGRAM[1:], "mcp"], env=environment(tmp_path), cwd=tmp_path
    )

    async def talk() -> dict[str, Any]:
        async with Client(command, mode=mode) as client:
            return await converse(client)

    known = None if mode == version else "hivekeep"
    assert asyncio.run(talk()) == expected(version, known)


@pytest.mark.parametrize(("mode", "version"), ERAS)
def test_over_http(server: Serving, mode: str, version: str) -> None:
    """The same conversation with the token in a header; the client finds no session and needs none."""

    async def talk() -> dict[str, Any]:
        async with httpx2.AsyncClient(headers=server.headers) as http:
            transport = streamable_http_client(f"{server.url}/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                return await converse(client)

    known = None if mode == version else "hivekeep"
    assert asyncio.run(talk()) == expected(version, known)


def test_without_the_token_there_is_no_conversation(server: Serving) -> None:
    """The official client, which has no token, gets no session."""

    async def talk() -> None:
        async with Client(f"{server.url}/mcp", mode="legacy"):
            raise AssertionError("the server let a stranger in")

    with pytest.raises(ExceptionGroup) as refused:
        asyncio.run(talk())
    assert refused.value.subgroup(MCPError) is not None
    assert refused.value.subgroup(AssertionError) is None
