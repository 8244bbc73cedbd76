"""Batches of 200 events, from the body of the request to its acknowledgement, against the same work by hand.

By hand is one sanitising pass with the same rules and shapes, written for these texts, canonical JSON of each payload,
the hash of each event and the insert, in one transaction with the same durability. It looks nothing up, checks no
schema and no rule, and keeps no acknowledgement. Both sides must store the same payloads. Then a batch onto a ledger of
100,000 events against one onto an empty ledger, and the last page of that ledger against its first.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import orjson

from benchmarks.floor import new_ids
from benchmarks.measure import Result, pairs, share, slower
from hivekeep.agent.canonical import ts
from hivekeep.dispatch.gateway import Asked, GatewayServer
from hivekeep.dispatch.run import drive
from hivekeep.identity.caller import make_caller
from hivekeep.storage.connections import open_connection, storage_options
from hivekeep.wiring import open_gateway, open_server
from hivekeep_contract.gateway import OPERATIONS
from hivekeep_contract.settings import Settings

BATCH = 200
TURNS = 3
EVENTS = 100_000
TARGET = 0.50
FLAT = 1.3
"""A longer ledger may cost so much more: its indexes are one level deeper."""
PAGE = 100
CALLS = 20
WORKSPACE = "/srv/code/demo"
CALLER = make_caller(None, None, ())


def run(count: int) -> list[Result]:
    """The share of the floor's speed, then what 100,000 events change about a batch and about a page."""
    with tempfile.TemporaryDirectory(prefix="hivekeep-bench-") as folder:
        floor, ours = ByHand(Path(folder) / "floor.db"), Ledger(Path(folder) / "ours.db")
        batches = _batches(1)
        both = [next(batches) for _ in range(TURNS * (count + 1))]
        by_hand, by_us = iter(both), iter(both)
        measured = pairs(lambda: _timed(floor.append, by_hand), lambda: _timed(ours.append, by_us), count, TURNS)
        if floor.payloads() != ours.payloads():
            raise RuntimeError("the two sides store different payloads")
        result = share("ledger", f"batch of {BATCH} events, for each event", measured, TARGET)
        floor.close()
        ours.close()
        return [result, *_lengths(count, Path(folder))]


def _lengths(count: int, folder: Path) -> list[Result]:
    empty, long = Ledger(folder / "empty.db"), Ledger(folder / "long.db")
    batches = _batches(2)
    for _ in range(EVENTS // BATCH):
        long.append(next(batches))
    grown = pairs(lambda: _timed(empty.append, batches), lambda: _timed(long.append, batches), count, turns=TURNS)
    paged = pairs(lambda: _pages(long, 0), lambda: _pages(long, EVENTS - PAGE), count, turns=TURNS)
    empty.close()
    long.close()
    return [
        slower("ledger", f"batch onto {EVENTS:,} events against onto none, for each event", grown, FLAT),
        slower("ledger", f"page of {PAGE} events at the end of {EVENTS:,} against at the start", paged, FLAT),
    ]


class Ledger:
    """The program on a store of its own with one run: bodies in, data of the answers out."""

    def __init__(self, path: Path) -> None:
        server = open_server(Settings(db=str(path), embedding_models=(), runtime_packs=("kg",)), threaded=False)
        self._engine = server.engine
        self._gateway: GatewayServer = open_gateway(server)
        self._run: str = self._write("agent.open", None, OPENING)["runId"]

    def append(self, events: list[dict[str, Any]]) -> None:
        """One request with a batch."""
        self._write("agent.events", self._run, {"apiVersion": "1", "events": events})

    def page(self, after: int) -> list[dict[str, Any]]:
        """A page of events."""
        asked = Asked(OPERATIONS["agent.events.list"], self._run, (("after", str(after)),))
        items: list[dict[str, Any]] = drive(self._gateway.steps(asked, CALLER, source="bench"))["items"]
        return items

    def payloads(self) -> list[str]:
        """What is stored of the batches, in its order."""
        with self._engine.read() as tx:
            return [row[0] for row in tx.all(STORED)]

    def close(self) -> None:
        """Close the store."""
        self._engine.close()

    def _write(self, operation: str, run: str | None, body: dict[str, Any]) -> dict[str, Any]:
        asked = Asked(OPERATIONS[operation], run, (), body, str(uuid.uuid4()))
        data: dict[str, Any] = drive(self._gateway.steps(asked, CALLER, source="bench"))
        return data


class ByHand:
    """The statements and the pass by hand on a store of its own."""

    def __init__(self, path: Path) -> None:
        Ledger(path).close()
        self._connection = open_connection(str(path), "writer", storage_options(Settings(db=str(path))))
        (self._run,) = _one(self._connection, "SELECT id FROM agent_runs")
        (self._sequence,) = _one(self._connection, "SELECT max(sequence) FROM agent_events")

    def append(self, events: list[dict[str, Any]]) -> None:
        """Sanitise, serialize, chain and store a batch in one commit."""
        now = time.time_ns() // 1_000_000 * 1000
        rows, previous = [], "0" * 64
        for event, event_id in zip(events, new_ids(len(events)), strict=True):
            self._sequence += 1
            masked: list[dict[str, str]] = []
            clean = _sanitise(event, "", "$", masked)
            sealed = {
                "protocol": "by-hand",
                "runId": self._run,
                "sequence": self._sequence,
                "eventId": event_id,
                "previousHash": previous,
                "eventType": event["eventType"],
                "sourceEventId": event["sourceEventId"],
                "sourceSequence": event["sourceSequence"],
                "sourceType": None,
                "actor": clean["actor"],
                "outcome": clean.get("outcome"),
                "occurredAt": ts(now),
                "ingestedAt": ts(now),
                "payload": clean["payload"],
                "redaction": masked,
            }
            digest = hashlib.sha256(orjson.dumps(sealed, option=orjson.OPT_SORT_KEYS)).hexdigest()
            payload = orjson.dumps(clean["payload"], option=orjson.OPT_SORT_KEYS).decode()
            named = (event_id, event["sourceEventId"], event["sourceSequence"], event["eventType"], None)
            told = (clean["actor"], clean.get("outcome"), now, now, payload, json.dumps(masked))
            rows.append((1, self._sequence, *named, *told, previous, digest))
            previous = digest
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany(NEW_EVENT, rows)
        self._connection.execute("UPDATE agent_runs SET last_sequence = ?", (self._sequence,))
        self._connection.execute("COMMIT")

    def payloads(self) -> list[str]:
        """What is stored of the batches, in its order."""
        return [row[0] for row in self._connection.execute(STORED)]

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


NEW_EVENT = (
    "INSERT INTO agent_events (run_seq, sequence, event_id, source_event_id, source_sequence, event_type, source_type,"
    " actor, outcome, occurred_at, ingested_at, payload, redaction, previous_hash, event_hash)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
STORED = "SELECT payload FROM agent_events WHERE source_event_id IS NOT NULL ORDER BY sequence"
OPENING = {
    "apiVersion": "1",
    "workspace": WORKSPACE,
    "client": {"kind": "bench"},
    "task": {
        "title": "build the parser",
        "query": "build the parser",
        "profileHints": {"taskType": "build", "target": "parser", "expected": "tests pass"},
    },
    "captureProfile": "standard",
    "coverage": dict.fromkeys(("run", "tool", "command", "file", "approval"), "declared"),
    "capabilities": [{"kind": "skill", "name": "kiokuko-soul"}],
}

KNOWN = re.compile(
    r"(?<![A-Za-z0-9])(?:sk-[\w-]{16}|gh[oprsu]_\w{20}|github_pat_\w{20}|xox[abprs]-[\w-]{16}|A[KS]IA[A-Z0-9]{16}"
    r"|AIza[\w-]{20}|npm_\w{20}|hf_\w{20})|-----BEGIN [A-Z ]*PRIVATE KEY"
)
ASSIGNED = re.compile(
    r"(?:api[ _-]?key|access[ _-]?token|refresh[ _-]?token|client[ _-]?secret|password|passwd|secret)[\"']?\s*[:=]\s*"
    r"[\"']?[a-z0-9_./+=:-]{12}|authorization[\"']?\s*[:=]\s*[\"']?bearer\s+[a-z0-9._~+/=-]{12}"
)
TELLING = re.compile(
    "password|passwd|secret|token|api[_-]?key|authorization|cookie|credential|private[ _-]?key"
    "|chain[_-]?of[_-]?thought|hidden[_-]?reasoning|private[_-]?reasoning|internal[_-]?monologue|^env(?:ironment)?$",
    re.IGNORECASE,
)
URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S*\Z")
USER = re.compile(r"://[^\s/@]*@|[?&](?:token|key|sig)[^=]*=")
OUTPUTS = frozenset(["stdout", "stderr", "output", "preview", "excerpt", "diff"])


def _sanitise(value: Any, key: str, place: str, masked: list[dict[str, str]]) -> Any:
    """The rules that the texts of this benchmark meet, each looked for in every text."""
    if isinstance(value, dict):
        kept = {}
        for name, member in value.items():
            if TELLING.search(name) and not isinstance(member, (int, float)):
                masked.append({"path": f"{place}[{json.dumps(name)}]", "kind": "sensitive_key"})
                kept[name] = "[REDACTED]"
            else:
                kept[name] = _sanitise(member, name, f'{place}["{name}"]', masked)
        return kept
    if isinstance(value, list):
        return [_sanitise(member, key, f'{place}["{number}"]', masked) for number, member in enumerate(value)]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, str):
        return value
    if KNOWN.search(value) or ASSIGNED.search(value.lower()):
        masked.append({"path": place, "kind": "secret_pattern"})
        return "[REDACTED:known_token_prefix]"
    if "://" in value and (URL.match(value) or USER.search(value)):
        masked.append({"path": place, "kind": "url"})
        return value.split("?")[0]
    if value.startswith(WORKSPACE + "/"):
        masked.append({"path": place, "kind": "home_path"})
        return value[len(WORKSPACE) + 1 :]
    if key in OUTPUTS and len(value) > 1000 and len(value.encode()) > 4096:
        masked.append({"path": place, "kind": "preview_truncated"})
        return value.encode()[:4093].decode(errors="ignore") + "…"
    return value


def _batches(seed: int) -> Iterator[list[dict[str, Any]]]:
    """Batches of what agents report: steps, files, commands with their output; one in ten meets a rule."""
    rng = random.Random(seed)
    vocabulary = ["".join(rng.choices("abdeiklmnorstu", k=rng.randint(2, 9))) for _ in range(2000)]
    number = 0
    while True:
        batch = []
        for _ in range(BATCH):
            number += 1
            batch.append(_event(rng, vocabulary, seed, number))
        yield batch


def _event(rng: random.Random, vocabulary: list[str], seed: int, number: int) -> dict[str, Any]:
    def words(count: int) -> str:
        return " ".join(rng.choices(vocabulary, k=count))

    kind = number % 10
    payload: dict[str, Any] = {"step": words(4), "note": words(25), "duration": rng.randint(1, 9000)}
    event_type = "step.completed"
    if kind in (1, 2, 3):
        event_type = "file.changed"
        payload = {"path": f"src/{rng.choice(vocabulary)}/{rng.choice(vocabulary)}.py", "lines": rng.randint(1, 400)}
    elif kind in (4, 5, 6):
        event_type = "command.completed"
        lines = "\n".join(f"{rng.choice(vocabulary)}.py:{rng.randint(1, 900)}: {words(6)}" for _ in range(12))
        payload = {"command": f"make {words(2)}", "stdout": lines, "exit": 0, "mutated": False}
    elif kind == 7:
        event_type = "tool.completed"
        payload |= {"cwd": f"{WORKSPACE}/{rng.choice(vocabulary)}", "url": f"https://example.org/{words(1)}?page=2"}
    elif kind == 8:
        payload |= {"maxTokens": 4096, "session": {"token": words(1)}}
    return {
        "eventType": event_type,
        "actor": "agent:1",
        "outcome": "ok",
        "payload": payload,
        "sourceEventId": f"{seed}-{number}",
        "sourceSequence": number,
    }


def _timed(append: Callable[[list[dict[str, Any]]], None], batches: Iterator[list[dict[str, Any]]]) -> float:
    batch = next(batches)
    started = time.perf_counter()
    append(batch)
    return (time.perf_counter() - started) / BATCH


def _pages(ledger: Ledger, after: int) -> float:
    started = time.perf_counter()
    for _ in range(CALLS):
        if len(ledger.page(after)) != PAGE:
            raise RuntimeError("a page is not full")
    return (time.perf_counter() - started) / CALLS


def _one(connection: apsw.Connection, statement: str) -> tuple[Any, ...]:
    row: tuple[Any, ...] = next(iter(connection.execute(statement)))
    return row
