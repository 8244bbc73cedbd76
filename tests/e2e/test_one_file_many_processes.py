"""Several processes on one database: a server and two agents, each a process of its own."""

import asyncio
import json
import sqlite3
from pathlib import Path
from typing import Any

import httpx2

from mcp import Client, StdioServerParameters
from support.processes import PROGRAM, Serving, environment, serving

BATCHES = 20
CREATES = 5


async def agent(home: Path, name: str) -> list[dict[str, Any]]:
    """One agent: its own `hivekeep mcp`, twenty batches of five creates; answers every entry it got."""
    command = StdioServerParameters(
        command=PROGRAM[0], args=[*PROGRAM[1:], "mcp", "--actor", name], env=environment(home), cwd=home
    )
    entries: list[dict[str, Any]] = []
    async with Client(command) as client:
        for batch in range(BATCHES):
            calls = [
                {"tool": "create", "args": {"kind": "concept", "name": f"{name} {batch}.{number}"}}
                for number in range(CREATES)
            ]
            answer = await client.call_tool("request", {"ops": json.dumps(calls), "presentation": "verbose"})
            entries += json.loads(answer.content[0].text)["results"]  # type: ignore[union-attr]
    return entries


async def visitor(server: Serving) -> list[int]:
    """Meanwhile somebody reads and writes over HTTP; answers the statuses."""
    statuses = []
    async with httpx2.AsyncClient(base_url=server.url, headers=server.headers) as client:
        for number in range(BATCHES):
            note = {"kind": "observation", "content": f"seen {number}"}
            statuses.append((await client.post("/api/v1/verbs/create", json=note)).status_code)
            statuses.append((await client.post("/api/v1/verbs/stats", json={})).status_code)
    return statuses


async def everybody(home: Path, server: Serving) -> tuple[list[dict[str, Any]], list[int]]:
    """Two agents and a visitor at once."""
    one, two, statuses = await asyncio.gather(agent(home, "mia"), agent(home, "leo"), visitor(server))
    return one + two, statuses


def test_two_agents_and_a_server_write_one_file_without_a_lock_error(tmp_path: Path) -> None:
    """200 creates from two processes beside a serving one: all are stored, and no answer mentions a lock."""
    with serving(tmp_path) as server:
        entries, statuses = asyncio.run(everybody(tmp_path, server))
    assert [entry for entry in entries if not entry["ok"]] == []
    assert "lock" not in json.dumps(entries).lower()
    assert set(statuses) == {200}
    (path,) = tmp_path.rglob("hivekeep.db")
    with sqlite3.connect(path) as store:
        names = [row[0] for row in store.execute("SELECT name FROM entities")]
        actors = dict(
            store.execute("SELECT actor, count(*) FROM events WHERE verb = 'create' AND kind = 'audit' GROUP BY 1")
        )
        (verdict,) = store.execute("PRAGMA integrity_check").fetchone()
    assert len(set(names)) == 2 * BATCHES * CREATES
    assert actors == {"actor:mia": 100, "actor:leo": 100, "anonymous:local": BATCHES}
    assert verdict == "ok"
