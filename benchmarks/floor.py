"""The statements of creates and of one get by hand, on the real schema and the real connection settings.

No language, no validation, no gate, no envelope: what a program would do that knows the answer beforehand. The
values are made before the clock starts.
"""

from __future__ import annotations

import json
import random
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hivekeep.identity.caller import Caller, make_caller
from hivekeep.jobs.embedding import start_job
from hivekeep.request.envelope import ToolCall, parse_tool_call
from hivekeep.storage.connections import open_connection, storage_options
from hivekeep.storage.engine import Tx
from hivekeep.wiring import open_server
from hivekeep_contract.settings import Settings

NEW_SEQ = "INSERT INTO entity_ledger (id) VALUES (?)"
SAME_NAME = "SELECT 1 FROM entities WHERE namespace = ? AND name_key = ? AND deleted_at IS NULL AND kind = ? LIMIT 1"
NEW_ENTITY = (
    "INSERT INTO entities (id, namespace, kind, name, created_at, updated_at, entity_type, description, properties,"
    " tags, deleted_at, merged_into, merge_event_id, version, seq, name_key)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
NEW_WORDS = "INSERT INTO entity_words (rowid, title, body) VALUES (?, ?, ?)"
NEW_TRIGRAMS = "INSERT INTO entity_trigrams (rowid, title, body) VALUES (?, ?, ?)"
NEW_EVENT = (
    "INSERT INTO events (id, namespace, verb, substrate, actor, kind, outcome, payload, payload_schema_version,"
    " profile_state_version, duration_us, target_id, session_id, aggregate_kind, aggregate_id, created_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
NEW_OBSERVATION = "INSERT INTO event_observations (event_id, role, position, referent_id) VALUES (?, ?, ?, ?)"
BY_ID = (
    "SELECT id, namespace, kind, name, created_at, updated_at, entity_type, description, properties, tags, deleted_at,"
    " merged_into, merge_event_id, version, seq FROM entities WHERE id = ? AND deleted_at IS NULL"
)

WORDS = 30
"""Words of a description: about 200 characters."""


class Sample(NamedTuple):
    """The text of one entity."""

    name: str
    description: str


def samples(count: int, seed: int) -> list[Sample]:
    """`count` entities of made-up words, the same for the same seed."""
    rng = random.Random(seed)
    syllables = [first + second for first in "bdfgklmnprstvz" for second in ("a", "el", "in", "o", "ur")]
    vocabulary = ["".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(4000)]
    return [
        Sample(" ".join(rng.choices(vocabulary, k=3)), " ".join(rng.choices(vocabulary, k=WORDS))) for _ in range(count)
    ]


def create_op(sample: Sample) -> str:
    """The operation that creates a sample."""
    text = json.dumps(sample.description)
    return (
        f'create(kind="concept", name={json.dumps(sample.name)}, description={text},'
        ' tags=["bench", "sample"], properties={"origin": "benchmark", "rank": 7})'
    )


class Ours:
    """The program on a store of its own, reached as a door reaches it: tool call in, envelope out."""

    def __init__(
        self, path: Path | str, synchronous: str, *, models: tuple[str, ...] = (), working: bool = False
    ) -> None:
        """`models` are the embedders of the store; with `working` their vectors are made beside what is measured."""
        settings = Settings(db=str(path), storage_synchronous=synchronous, embedding_models=models)
        self._server = open_server(settings, threaded=False)
        self._caller: Caller = make_caller(None, None, ())
        self._job = start_job(self._server.engine, self._server.around.embedders, settings) if working else None

    def call(self, ops: str) -> dict[str, Any]:
        """Run one operation and answer its result."""
        request: ToolCall = parse_tool_call({"ops": ops, "presentation": "verbose"})
        envelope = self._server.handle(request, self._caller, source="bench")
        if envelope["status"] != "success":
            raise RuntimeError(f"{ops}: {envelope}")
        result: dict[str, Any] = envelope["results"][0]["result"]
        return result

    def write(self, fn: Callable[[Tx], None]) -> None:
        """Carry out a function in one transaction, past the verbs."""
        self._server.engine.run_write(fn)

    def close(self) -> None:
        """Close the store."""
        if self._job is not None:
            self._job.stop()
        self._server.engine.close()


class Floor:
    """The statements by hand on a store of its own: one connection for writes and one for audit rows."""

    def __init__(self, path: Path | str, synchronous: str) -> None:
        if not Path(path).exists():
            Ours(path, synchronous).close()
        options = storage_options(Settings(db=str(path), storage_synchronous=synchronous))
        self._write = open_connection(str(path), "writer", options)
        self._read = open_connection(str(path), "reader", options)
        self._audit = open_connection(str(path), "audit", options)

    def create(self, sample: Sample, ids: tuple[str, str, str]) -> None:
        """Everything that a create commits: sequence, row, both text indexes, its event and the audit row."""
        record, created, audit = ids
        execute = self._write.execute
        now = time.time_ns() // 1000
        execute("BEGIN IMMEDIATE")
        execute(SAME_NAME, ("local", sample.name, "concept")).fetchone()
        execute(NEW_SEQ, (record,))
        seq = self._write.last_insert_rowid()
        execute(NEW_ENTITY, _entity(record, sample, seq, now))
        execute(NEW_WORDS, (seq, sample.name, sample.description))
        execute(NEW_TRIGRAMS, (seq, sample.name, sample.description))
        execute(NEW_EVENT, _event(created, "create", "entity_created", record, now))
        execute(NEW_OBSERVATION, (created, "target", 0, record))
        execute(NEW_EVENT, _event(audit, "create", "audit", record, now))
        execute("COMMIT")

    def create_many(self, batch: Sequence[Sample], ids: Sequence[tuple[str, str]], audit: str) -> None:
        """Everything that a create of many commits, each statement carried out for all records at once."""
        many = self._write.executemany
        now = time.time_ns() // 1000
        self._write.execute("BEGIN IMMEDIATE")
        self._write.execute(NEW_SEQ, (ids[0][0],))
        first = self._write.last_insert_rowid()
        many(NEW_SEQ, [(record,) for record, _ in ids[1:]])
        rows = list(zip(range(first, first + len(batch)), batch, ids, strict=True))
        many(NEW_ENTITY, [_entity(record, sample, seq, now) for seq, sample, (record, _) in rows])
        for statement in (NEW_WORDS, NEW_TRIGRAMS):
            many(statement, [(seq, sample.name, sample.description) for seq, sample, _ in rows])
        many(NEW_EVENT, [_event(created, "create", "entity_created", record, now) for record, created in ids])
        many(NEW_OBSERVATION, [(created, "target", 0, record) for record, created in ids])
        self._write.execute(NEW_EVENT, _event(audit, "create", "audit", ids[0][0], now))
        self._write.execute("COMMIT")

    def get(self, record: str, event: str) -> tuple[Any, ...] | None:
        """Read a row by its key, then commit one event on the audit connection."""
        row: tuple[Any, ...] | None = self._read.execute(BY_ID, (record,)).fetchone()
        execute = self._audit.execute
        execute("BEGIN IMMEDIATE")
        execute(NEW_EVENT, _event(event, "get", "audit", record, time.time_ns() // 1000))
        execute("COMMIT")
        return row

    def close(self) -> None:
        """Close the connections."""
        for connection in (self._write, self._read, self._audit):
            connection.close()


def new_ids(count: int) -> list[str]:
    """`count` fresh ids."""
    return [str(uuid.uuid4()) for _ in range(count)]


PAYLOAD = json.dumps(
    {
        "timestamp": "2026-01-01T00:00:00.000000Z",
        "actor": "anonymous:local",
        "namespace": "local",
        "verb": "create",
        "decision": "allow",
        "obligations": [],
        "gate_impl": "allow_all",
        "resource": {"work_class": "interactive", "cost_unit": 1},
        "request_id": 1234567890123456,
    }
)


def _entity(record: str, sample: Sample, seq: int, now: int) -> tuple[object, ...]:
    properties, tags = '{"origin":"benchmark","rank":7}', '["bench","sample"]'
    row = (record, "local", "concept", sample.name, now, now, None, sample.description, properties, tags)
    return (*row, None, None, None, 1, seq, sample.name)


def _event(event: str, verb: str, kind: str, target: str, now: int) -> tuple[object, ...]:
    actor = "anonymous:local"
    head = (event, "local", verb, "entity", actor, kind, "success", PAYLOAD, 1, None, 500, target)
    return (*head, None, None, None, now)
