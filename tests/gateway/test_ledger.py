"""The ledger through the operations: many writers, hidden credentials in the bytes of the store, examination."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hivekeep.agent import integrity
from hivekeep.storage.sqlite import SqliteEngine
from hivekeep.wiring import open_server
from hivekeep_contract.settings import Settings
from support.gateway import Gateway, Reply, event

WRITERS = 8
REQUESTS = 12

# Built from parts, so that no text here looks like a credential to a scanner of repositories.
CORE = "Zq7Rt2LxK9mVb4ZcN8wHs"
GITHUB = "ghp_" + CORE
PASSWORD = "hunter2" + CORE


def _opened(folder: Path) -> Gateway:
    settings = Settings(db=str(folder / "store.db"), embedding_models=(), storage_disk_reserve_bytes=0)
    return Gateway(open_server(settings, threaded=True))


def _examined(engine: SqliteEngine | Any) -> list[str]:
    with engine.read() as tx:
        return [str(found) for found in integrity.examine(tx, 5)]


def _checkpoint(gateway: Gateway, run: str, said: list[dict[str, Any]], key: str) -> Reply:
    """A checkpoint, asked again with its key while others write between its events and its context."""
    while (reply := gateway.checkpoint(run, events=said, key=key)).status == 409:
        assert reply.error["details"]["reason"] in ("context_changed", "run_moved_on")
    return reply


def test_eight_clients_write_one_run(tmp_path: Path) -> None:
    """Events and checkpoints of eight threads at once: each number is given once, none is missing, the chain holds, and
    what each client sent stands together in its order."""
    gateway = _opened(tmp_path)
    run = gateway.opened()
    begun = gateway.run(run)["lastSequence"]

    def write(writer: int) -> list[int]:
        given: list[int] = []
        for request in range(REQUESTS):
            key = f"{writer}-{request}"
            said = [event(sourceEventId=f"{key}-{place}", sourceSequence=place) for place in range(1 + request % 4)]
            send = _checkpoint(gateway, run, said, key) if request == 6 else gateway.events(run, *said, key=key)
            numbers = send.data["localSequences"]
            assert numbers == list(range(numbers[0], numbers[0] + len(said)))
            given += numbers
        return given

    with ThreadPoolExecutor(WRITERS) as threads:
        given = sorted(number for numbers in threads.map(write, range(WRITERS)) for number in numbers)
    count = WRITERS * REQUESTS // 4 * (1 + 2 + 3 + 4)
    assert given == list(range(begun + 1, begun + 1 + count))
    assert gateway.run(run)["lastSequence"] == begun + count
    assert _examined(gateway.server.engine) == []
    gateway.server.engine.close()


def test_a_replay_by_many_clients_is_stored_once(tmp_path: Path) -> None:
    """The same key and the same source ids from eight threads: one batch in the ledger, one acknowledgement for all."""
    gateway = _opened(tmp_path)
    run = gateway.opened()
    said = [event(sourceEventId=f"s-{place}") for place in range(5)]

    def write(writer: int) -> Any:
        return gateway.events(run, *said, key="same" if writer % 2 else f"other-{writer}").data

    with ThreadPoolExecutor(WRITERS) as threads:
        answers = list(threads.map(write, range(WRITERS)))
    assert answers == [answers[0]] * WRITERS
    assert [item["sourceEventId"] for item in gateway.timeline(run)].count("s-0") == 1
    assert _examined(gateway.server.engine) == []
    gateway.server.engine.close()


def _hidden() -> dict[str, Any]:
    """A payload with a credential in every place that the rules know."""
    return {
        "plain": f"clone with {GITHUB} please",
        "assigned": f'config: {{"password": "{PASSWORD}"}}',
        "json": json.dumps({"inner": json.dumps({"note": f"password={PASSWORD}"})}),
        "escaped": "gh\\u0070_" + CORE,
        "encoded": quote(f"password={PASSWORD}", safe="").replace("e", "%65"),
        "colored": f"ghp_\x1b[1m{CORE}",
        "url": f"https://ada:{PASSWORD}@example.org/x?key={CORE}#{CORE}",
        "inside": f"GET https://ada:{PASSWORD}@example.org/x and https://example.org/y?sig={CORE} failed",
        "path": f"/opt/{GITHUB}/bin",
        "headers": {"Authorization": f"Bearer {CORE}", "Cookie": f"session={CORE}"},
        "credentials": {"user": "ada", "password": PASSWORD},
        "env": {"GITHUB_TOKEN": GITHUB, "DATABASE": PASSWORD, "LANG": "C"},
        "hidden_reasoning": f"the password is {PASSWORD}",
        "list": [[{"deep": {"api_key": CORE}}]],
        "auth_key": CORE + "P3dYf6JgT1eUa5XoC0iQ",
    }


def test_no_credential_reaches_the_bytes_of_the_store(tmp_path: Path) -> None:
    """Whatever place of an event or a checkpoint it came in: not in the file, not in its log, not in an answer."""
    gateway = _opened(tmp_path)
    run = gateway.opened()
    answers = [
        gateway.events(run, event(payload=_hidden(), actor=f"me {GITHUB}", outcome=GITHUB, sourceType=GITHUB)),
        gateway.checkpoint(
            run,
            events=[event(payload=_hidden())],
            currentGoal=f"use {GITHUB}",
            changedPaths=[f"/opt/{GITHUB}"],
            errorSignatures=[f"password={PASSWORD}"],
        ),
        gateway.events(run, event(eventId=GITHUB)),
        gateway.events(run, event(sourceEventId=f"https://ada:{PASSWORD}@h/")),
        gateway.events(run, event(payload={GITHUB: 1})),
    ]
    assert [answer.status for answer in answers] == [200, 200, 422, 422, 422]
    shown = [answer.envelope for answer in answers] + gateway.timeline(run)
    assert CORE not in json.dumps(shown)
    assert _examined(gateway.server.engine) == []
    logged = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    gateway.server.engine.close()
    stored = (tmp_path / "store.db").read_bytes()
    assert all(b"[REDACTED:known_token_prefix]" in found for found in (logged, stored))
    assert all(CORE.encode() not in found for found in (logged, stored))
