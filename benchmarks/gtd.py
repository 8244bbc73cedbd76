"""gtd.next over 10,000 tasks of which half depend on others, against the statements by hand for the same answer.

The handler is measured alone, with the arguments checked and the policy asked before the clock starts; how much the
rest of an operation adds is reported without a target. The statements by hand walk the same indexes; they answer rows,
the handler answers tasks with what each waits for. Times are those of the processor: nothing waits for the disk but the
audit row of a whole operation.
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
from hivekeep.storage import notes
from hivekeep.storage.connections import open_connection, storage_options
from hivekeep.storage.engine import Tx
from hivekeep.storage.json_text import dump
from hivekeep.storage.notes import NoteRow
from hivekeep.wiring import open_server
from hivekeep_contract.settings import Settings

TARGET = 3.0
TASKS = 10_000
STATUSES = {"inbox": 1, "next": 5, "active": 5, "waiting": 1, "someday": 1, "done": 3, "cancelled": 1}
"""How often each status is drawn."""
ASSIGNEES = 20
BLOCKERS_MAX = 4
CALLS = 20
BEGAN = 1_780_000_000_000_000

STATUS = (
    "CASE json_type({t}properties, '$.status') WHEN 'text' THEN json_extract({t}properties, '$.status')"
    " ELSE 'inbox' END"
)
RANK = "CASE json_extract(t.properties, '$.priority') WHEN 'p0' THEN 0 WHEN 'p1' THEN 1 WHEN 'p3' THEN 3 ELSE 2 END"
READY = """
(json_type(t.properties, '$.depends_on') IS NULL OR NOT EXISTS (
  SELECT 1 FROM json_each(t.properties, '$.depends_on') d
   WHERE NOT EXISTS (SELECT 1 FROM notes b WHERE b.id = d.value AND b.namespace = 'local' AND b.kind = 'task'
     AND b.deleted_at IS NULL AND json_extract(b.properties, '$.status') = 'done')))
"""
OURS = "t.namespace = 'local' AND t.kind = 'task' AND t.deleted_at IS NULL"
NEXT = f"""
SELECT t.id, t.name, t.created_at, t.updated_at, t.properties FROM notes t INDEXED BY notes_tasks_next
 WHERE {OURS} AND {STATUS.format(t="t.")} IN ('next', 'active') AND {READY}
 ORDER BY {RANK}, t.created_at DESC, t.id LIMIT 10
"""
ASSIGNED = f"""
SELECT t.id, t.name, t.created_at, t.updated_at, t.properties FROM notes t INDEXED BY notes_tasks_assigned
 WHERE {OURS} AND json_extract(t.properties, '$.assignee') = 'agent:7'
   AND {STATUS.format(t="t.")} IN ('next', 'active') AND {READY}
 ORDER BY {RANK}, t.created_at DESC, t.id LIMIT 10
"""
ALL = f"""
SELECT t.id, t.name, t.created_at, t.updated_at, t.properties FROM notes t INDEXED BY notes_tasks_next
 WHERE {OURS} AND {STATUS.format(t="t.")} IN ('next', 'active')
 ORDER BY {READY} DESC, {RANK}, t.created_at DESC, t.id LIMIT 10
"""
CASES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("next", NEXT, {}),
    ("next of one assignee", ASSIGNED, {"assignee": "agent:7"}),
    ("next, blocked ones behind", ALL, {"include_blocked": True}),
)


def run(count: int) -> list[Result]:
    """How many times the time of the statement alone the handler takes, then whole operations."""
    with tempfile.TemporaryDirectory(prefix="hivekeep-bench-") as folder:
        settings = Settings(db=str(Path(folder) / "bench.db"), embedding_models=(), runtime_packs=("kg", "gtd"))
        server = open_server(settings, threaded=False)
        server.engine.run_write(fill)
        floor = open_connection(str(settings.db), "reader", storage_options(settings))
        with server.engine.read() as tx:
            results = [_case(count, server, tx, floor, *case) for case in CASES]
        results.append(
            slower(
                "gtd",
                "next, whole operation",
                pairs(_timed(lambda: _rows(floor, NEXT)), _timed(lambda: _request(server, "gtd.next()")), count),
                None,
            )
        )
        floor.close()
        server.engine.close()
    return results


def fill(tx: Tx) -> None:
    """Tasks made one after the other, half of them waiting for up to four older ones."""
    rng = random.Random(13)
    ids: list[str] = []
    rows = []
    for place in range(TASKS):
        properties: dict[str, Any] = {
            "status": rng.choices(list(STATUSES), list(STATUSES.values()))[0],
            "priority": rng.choice(("p0", "p1", "p2", "p3")),
            "assignee": f"agent:{rng.randrange(ASSIGNEES)}",
        }
        if ids and rng.random() < 0.5:
            properties["depends_on"] = rng.sample(ids, min(len(ids), rng.randint(1, BLOCKERS_MAX)))
        title = f"Task {place} of the benchmark"
        moment = BEGAN + place
        row = NoteRow(new_id(), "local", "task", title, moment, moment, name=title, properties=dump(properties))
        ids.append(row.id)
        rows.append(row)
    notes.insert_many(tx, rows)


def _case(
    count: int, server: Server, tx: Tx, floor: apsw.Connection, name: str, statement: str, args: dict[str, Any]
) -> Result:
    handler = _handler(server, tx, args)
    ours, by_hand = [task["id"] for task in handler()], [row[0] for row in _rows(floor, statement)]
    if ours != by_hand:
        raise RuntimeError(f"{name}: the two sides answer different tasks: {ours} and {by_hand}")
    measured = pairs(_timed(lambda: _rows(floor, statement)), _timed(handler), count)
    return slower("gtd", f"{name}, handler", measured, TARGET)


def _handler(server: Server, tx: Tx, args: dict[str, Any]) -> Callable[[], Any]:
    compiled = server.compiled(server.verbs["gtd.next"])
    call = prepare(compiled, args, make_caller(None, None, ()), source="bench", request_id=1, around=server.around)
    if not isinstance(call, Call):
        raise RuntimeError(f"gtd.next: {call.error}")
    context, arguments = call.context(tx, writable=False), call.args
    return lambda: compiled.handler(context, arguments)


def _request(server: Server, operation: str) -> dict[str, Any]:
    request = parse_tool_call({"ops": operation, "presentation": "verbose"})
    return server.handle(request, make_caller(None, None, ()), source="bench")


def _rows(floor: apsw.Connection, statement: str) -> list[tuple[Any, ...]]:
    return list(floor.execute(statement))


def _timed(work: Callable[[], object]) -> Callable[[], float]:
    """Seconds of processor time for one call."""

    def run_once() -> float:
        started = time.thread_time()
        for _ in range(CALLS):
            work()
        return (time.thread_time() - started) / CALLS

    return run_once
