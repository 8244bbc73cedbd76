"""comm.probe over 100,000 messages, against the statements by hand for the same answer.

The handler is measured alone, with the arguments checked and the policy asked before the clock starts; how much the
rest of an operation adds is reported without a target. The statements by hand walk the same indexes.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

from benchmarks.measure import Result, pairs, slower
from hivekeep.dispatch.call import Call, prepare
from hivekeep.dispatch.run import Server
from hivekeep.identity.caller import make_caller
from hivekeep.identity.ids import new_id
from hivekeep.request.envelope import parse_tool_call
from hivekeep.storage import messages, notes
from hivekeep.storage.connections import open_connection, storage_options
from hivekeep.storage.engine import Tx
from hivekeep.storage.json_text import dump
from hivekeep.storage.notes import NoteRow
from hivekeep.wiring import open_server
from hivekeep_contract.settings import Settings

TARGET = 3.0
PAIRS = 50_000
"""Each is two messages, as comm.send stores it."""
ACTORS = 50
READ_SHARE = 0.9
CALLS = 50
BEGAN = 1_780_000_000_000_000
ACTOR = "agent:7"
OURS = "namespace = 'local' AND actor = 'agent:7'"
UNREAD = """
SELECT count(*) FROM notes INDEXED BY notes_unread
 WHERE namespace = 'local' AND coalesce(json_extract(properties, '$.to_actor'), 'local') = 'agent:7'
   AND kind = 'message' AND deleted_at IS NULL AND json_extract(properties, '$.direction') = 'inbound'
   AND json_type(properties, '$.read') IS NOT 'true' AND created_at < ?
"""
LAST = f"""
SELECT max(seq), (SELECT seq FROM sqlite_sequence WHERE name = 'message_arrivals') FROM message_arrivals WHERE {OURS}
"""
NEW = """
SELECT n.id, n.created_at, json_extract(n.properties, '$.from_actor'), json_extract(n.properties, '$.subject')
  FROM message_arrivals a CROSS JOIN notes n ON n.seq = a.note_seq
 WHERE a.namespace = 'local' AND a.actor = 'agent:7' AND a.seq > ? AND n.deleted_at IS NULL
 ORDER BY a.seq DESC LIMIT 100
"""
BEHIND = {"nothing new": 0, "ten new messages": 10, "a hundred new messages": 100}


def run(count: int) -> list[Result]:
    """How many times the time of the statements alone the handler takes, then whole operations."""
    with tempfile.TemporaryDirectory(prefix="hivekeep-bench-") as folder:
        settings = Settings(db=str(Path(folder) / "bench.db"), embedding_models=(), runtime_packs=("kg", "comm"))
        server = open_server(settings, threaded=False)
        server.engine.run_write(fill)
        floor = open_connection(str(settings.db), "reader", storage_options(settings))
        with server.engine.read() as tx:
            since = {name: _since(floor, behind) for name, behind in BEHIND.items()}
            results = [_case(count, server, tx, floor, name, cursor) for name, cursor in since.items()]
        operation = f'comm.probe(actor="{ACTOR}", since_us={since["nothing new"]})'
        results.append(
            slower(
                "comm",
                "probe, whole operation",
                pairs(
                    _timed(lambda: _by_hand(floor, since["nothing new"])),
                    _timed(lambda: _request(server, operation)),
                    count,
                ),
                None,
            )
        )
        floor.close()
        server.engine.close()
    return results


def fill(tx: Tx) -> None:
    """Messages between fifty actors, one after the other; one in ten is unread."""
    rng = random.Random(13)
    rows = []
    for place in range(PAIRS):
        sender, recipient = (f"agent:{rng.randrange(ACTORS)}" for _ in range(2))
        outbound, moment = new_id(), BEGAN + place * 1000
        properties: dict[str, Any] = {
            "comm_schema_version": 1,
            "direction": "outbound",
            "read": False,
            "from_actor": sender,
            "to_actor": recipient,
            "from": "local",
            "to": "local",
            "thread_id": outbound,
            "sent_at": "2026-06-01T00:00:00.000000Z",
            "subject": f"Message {place}",
        }
        inbound = {**properties, "direction": "inbound", "read": rng.random() < READ_SHARE, "outbound_ref": outbound}
        for record, said in ((outbound, properties), (new_id(), inbound)):
            text = f"The text of message {place} of the benchmark."
            rows.append(NoteRow(record, "local", "message", text, moment, moment, properties=dump(said)))
    notes.insert_many(tx, rows)
    for row in rows:
        messages.arrived(tx, row)


def _since(floor: apsw.Connection, behind: int) -> int:
    """The cursor behind which so many messages of the actor arrived."""
    statement = f"SELECT seq FROM message_arrivals WHERE {OURS} ORDER BY seq DESC LIMIT 1 OFFSET ?"
    return int(_one(floor, statement, (behind,))[0])


def _one(floor: apsw.Connection, statement: str, args: tuple[int, ...] = ()) -> tuple[Any, ...]:
    row: tuple[Any, ...] = next(iter(floor.execute(statement, args)))
    return row


def _case(count: int, server: Server, tx: Tx, floor: apsw.Connection, name: str, since: int) -> Result:
    handler = _handler(server, tx, {"actor": ACTOR, "since_us": since})
    ours, (cursor, stale, rows) = handler(), _by_hand(floor, since)
    if ours["cursor_us"] != cursor or ours["stale_unread_count"] != stale:
        raise RuntimeError(f"{name}: the two sides count differently: {ours} and {cursor}, {stale}")
    if [one["id"] for one in ours["new_messages"]] != [row[0] for row in rows]:
        raise RuntimeError(f"{name}: the two sides answer different messages")
    measured = pairs(_timed(lambda: _by_hand(floor, since)), _timed(handler), count)
    return slower("comm", f"probe, {name}, handler", measured, TARGET)


def _by_hand(floor: apsw.Connection, since: int) -> tuple[int, int, list[tuple[Any, ...]]]:
    """Cursor, stale unread messages, and the new ones in the order of their moments."""
    last, _given = _one(floor, LAST)
    (stale,) = _one(floor, UNREAD, (time.time_ns() // 1000 - 20 * 60_000_000,))
    rows = sorted(floor.execute(NEW, (since,)), key=lambda row: (row[1], row[0])) if last > since else []
    return max(last, since), stale, rows


def _handler(server: Server, tx: Tx, args: dict[str, Any]) -> Callable[[], Any]:
    compiled = server.compiled(server.verbs["comm.probe"])
    call = prepare(compiled, args, make_caller(None, None, ()), source="bench", request_id=1, around=server.around)
    if not isinstance(call, Call):
        raise RuntimeError(f"comm.probe: {call.error}")
    context, arguments = call.context(tx, writable=False), call.args
    return lambda: compiled.handler(context, arguments)


def _request(server: Server, operation: str) -> dict[str, Any]:
    request = parse_tool_call({"ops": operation, "presentation": "verbose"})
    return server.handle(request, make_caller(None, None, ()), source="bench")


def _timed(work: Callable[[], object]) -> Callable[[], float]:
    def run_once() -> float:
        started = time.perf_counter()
        for _ in range(CALLS):
            work()
        return (time.perf_counter() - started) / CALLS

    return run_once
