"""neighbors and a walk of two steps around dense nodes, against the statements that a program would write by hand.

The handlers are measured alone, with the arguments checked and the policy asked before the clock starts; how much
the rest of an operation adds (language, checks, audit row, envelope) is reported without a target.
"""

from __future__ import annotations

import random
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

from benchmarks.measure import Result, pairs, slower
from hivekeep.dispatch.call import Call, prepare
from hivekeep.dispatch.run import Server
from hivekeep.identity.caller import make_caller
from hivekeep.request.envelope import parse_tool_call
from hivekeep.storage import edges, entities
from hivekeep.storage.connections import open_connection, storage_options
from hivekeep.storage.edges import EdgeRow
from hivekeep.storage.engine import Tx
from hivekeep.storage.entities import EntityRow
from hivekeep.wiring import open_server
from hivekeep_contract.settings import Settings

NEIGHBORS_TARGET = 3.0
WALK_TARGET = 2.0
NODES = 20_000
EDGES = 100_000
RELATIONS = ("extends", "depends_on", "part_of", "enables", "variant_of", "competes_with")
DENSE = 50
"""Edges that a node has at least to be asked about."""
WALK_LIMIT = 1000
"""Most nodes that a walk shows; nodes with more of them within two steps are not asked about."""
ROUNDS = 3

NEIGHBORS = """
SELECT edges.id, source_id, target_id, relation, weight, entities.id AS other, name, kind
  FROM edges JOIN entities ON entities.id = target_id
 WHERE source_id = ?1 AND edges.namespace = 'local' AND edges.deleted_at IS NULL AND entities.deleted_at IS NULL
UNION ALL
SELECT edges.id, source_id, target_id, relation, weight, entities.id AS other, name, kind
  FROM edges JOIN entities ON entities.id = source_id
 WHERE target_id = ?1 AND edges.namespace = 'local' AND edges.deleted_at IS NULL AND entities.deleted_at IS NULL
 ORDER BY weight DESC, other, 1
"""
WALK = """
WITH one (id) AS (
  SELECT target_id FROM edges WHERE source_id = ?1 AND namespace = 'local' AND deleted_at IS NULL
  UNION SELECT source_id FROM edges INDEXED BY edges_by_target
   WHERE target_id = ?1 AND namespace = 'local' AND deleted_at IS NULL
), two (id) AS (
  SELECT target_id FROM one CROSS JOIN edges INDEXED BY edges_by_source ON source_id = one.id
   WHERE namespace = 'local' AND deleted_at IS NULL
  UNION SELECT source_id FROM one CROSS JOIN edges INDEXED BY edges_by_target ON target_id = one.id
   WHERE namespace = 'local' AND deleted_at IS NULL
)
SELECT entities.id, name, kind, 1 FROM one CROSS JOIN entities USING (id) WHERE deleted_at IS NULL
UNION ALL
SELECT entities.id, name, kind, 2 FROM two CROSS JOIN entities USING (id)
 WHERE deleted_at IS NULL AND two.id <> ?1 AND two.id NOT IN (SELECT id FROM one)
"""
"""Joins and indexes are given: left alone, SQLite reads every edge of the namespace, a hundred times as many."""


def run(count: int) -> list[Result]:
    """How many times the time of the statements alone the handlers take, then whole operations."""
    with tempfile.TemporaryDirectory(prefix="hivekeep-bench-") as folder:
        settings = Settings(db=str(Path(folder) / "bench.db"))
        server = open_server(settings, threaded=False)
        server.engine.run_write(fill)
        floor = open_connection(str(settings.db), "reader", storage_options(settings))
        with server.engine.read() as tx:
            dense = [node for node in _dense(tx) if len(_rows(floor, WALK, node)) <= WALK_LIMIT]
            results = _cases(count, server, tx, floor, dense)
        results += _operations(count, server, floor, dense)
        floor.close()
        server.engine.close()
    return results


def _cases(count: int, server: Server, tx: Tx, floor: apsw.Connection, dense: list[str]) -> list[Result]:
    near = {node: _handler(server, tx, "neighbors", {"node_id": node}) for node in dense}
    walk = {node: _handler(server, tx, "traverse", _walk_args(node)) for node in dense}
    for node in dense:
        _same(node, len(near[node]()), len(_rows(floor, NEIGHBORS, node)))
        _same(node, len(walk[node]()[0]["nodes"]), len(_rows(floor, WALK, node)))
    return [
        slower(
            "graph",
            "neighbors, handler",
            pairs(_timed(dense, lambda node: _rows(floor, NEIGHBORS, node)), _timed(dense, lambda n: near[n]()), count),
            NEIGHBORS_TARGET,
        ),
        slower(
            "graph",
            "traverse of depth 2, handler",
            pairs(_timed(dense, lambda node: _rows(floor, WALK, node)), _timed(dense, lambda n: walk[n]()), count),
            WALK_TARGET,
        ),
    ]


def _operations(count: int, server: Server, floor: apsw.Connection, dense: list[str]) -> list[Result]:
    return [
        slower(
            "graph",
            f"{verb}, whole operation",
            pairs(
                _timed(dense, lambda node, statement=statement: _rows(floor, statement, node)),  # type: ignore[misc]
                _timed(dense, lambda node, template=template: _request(server, template % node)),  # type: ignore[misc]
                count,
            ),
            None,
        )
        for verb, statement, template in (
            ("neighbors", NEIGHBORS, 'neighbors(node_id="%s")'),
            ("traverse", WALK, f'traverse(roots=["%s"], max_depth=2, limit={WALK_LIMIT}, include_roots=false)'),
        )
    ]


def fill(tx: Tx) -> None:
    """A graph in which one end of an edge is drawn evenly and the other mostly from few nodes."""
    rng = random.Random(11)
    ids = [str(uuid.UUID(int=rng.getrandbits(128), version=4)) for _ in range(NODES)]
    for moment, node in enumerate(ids):
        entities.insert(tx, EntityRow(node, "local", "concept", f"node {moment}", moment, moment))
    known: set[tuple[str, str, str]] = set()
    while len(known) < EDGES:
        relation = rng.choice(RELATIONS)
        source, target = rng.choice(ids), ids[int(NODES * rng.random() ** 2)]
        if relation == "competes_with" and target < source:
            source, target = target, source
        if source == target or (source, target, relation) in known:
            continue
        known.add((source, target, relation))
        edge = str(uuid.UUID(int=rng.getrandbits(128), version=4))
        moment = len(known)
        weight = rng.randint(1, 100) / 100
        edges.insert(tx, EdgeRow(edge, "local", source, target, relation, moment, moment, weight))


def _dense(tx: Tx) -> list[str]:
    rows = tx.all(
        "SELECT id FROM (SELECT source_id AS id FROM edges UNION ALL SELECT target_id FROM edges)"
        " GROUP BY id HAVING count(*) >= ? ORDER BY id",
        (DENSE,),
    )
    return [row[0] for row in rows]


def _handler(server: Server, tx: Tx, verb: str, args: dict[str, Any]) -> Callable[[], Any]:
    compiled = server.compiled(server.verbs[verb])
    caller = make_caller(None, None, ())
    call = prepare(compiled, args, caller, source="bench", request_id=1, around=server.around)
    if not isinstance(call, Call):
        raise RuntimeError(f"{verb}: {call.error}")
    context, arguments = call.context(tx, writable=False), call.args
    return lambda: compiled.handler(context, arguments)


def _walk_args(node: str) -> dict[str, Any]:
    return {"roots": [node], "max_depth": 2, "limit": WALK_LIMIT, "include_roots": False}


def _rows(connection: apsw.Connection, statement: str, node: str) -> list[Any]:
    return connection.execute(statement, (node,)).fetchall()


def _request(server: Server, operation: str) -> dict[str, Any]:
    request = parse_tool_call({"ops": operation, "presentation": "verbose"})
    return server.handle(request, make_caller(None, None, ()), source="bench")


def _timed(dense: list[str], ask: Callable[[str], Any]) -> Callable[[], float]:
    """Seconds for one node, over every dense node several times."""

    def run() -> float:
        started = time.perf_counter()
        for _ in range(ROUNDS):
            for node in dense:
                ask(node)
        return (time.perf_counter() - started) / (ROUNDS * len(dense))

    return run


def _same(node: str, ours: int, by_hand: int) -> None:
    if ours != by_hand:
        raise RuntimeError(f"{node}: {ours} rows by us, {by_hand} by hand")
