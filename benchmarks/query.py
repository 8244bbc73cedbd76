"""query: a pattern of three hops, from the second run of a text on, against the statement a program writes by hand.

Measured is what the engine of queries does for a text: look the compiled query up, run it, shape the rows. How much
the rest of an operation adds is reported without a target.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

from benchmarks.graph import fill
from benchmarks.measure import Result, pairs, slower
from hivekeep.dispatch.run import Server
from hivekeep.identity.caller import make_caller
from hivekeep.query.execute import run as run_query
from hivekeep.request.envelope import parse_tool_call
from hivekeep.storage.connections import open_connection, storage_options
from hivekeep.storage.engine import Tx
from hivekeep.wiring import open_server
from hivekeep_contract.settings import Settings

TARGET = 3.0
PAGE = 500
STARTS = range(100, 20_000, 1_000)
"""Numbers of the nodes at which the patterns begin."""

BY_HAND = """
SELECT d.name
  FROM entities a CROSS JOIN edges x CROSS JOIN entities b CROSS JOIN edges y CROSS JOIN entities c
       CROSS JOIN edges z CROSS JOIN entities d
 WHERE a.name_key = ?1 AND a.namespace = 'local' AND a.deleted_at IS NULL
   AND x.source_id = a.id AND +x.namespace = 'local' AND x.deleted_at IS NULL
   AND b.id = x.target_id AND +b.namespace = 'local' AND b.deleted_at IS NULL
   AND y.source_id = b.id AND +y.namespace = 'local' AND y.deleted_at IS NULL
   AND c.id = y.target_id AND +c.namespace = 'local' AND c.deleted_at IS NULL
   AND z.source_id = c.id AND +z.namespace = 'local' AND z.deleted_at IS NULL
   AND d.id = z.target_id AND +d.namespace = 'local' AND d.deleted_at IS NULL
 ORDER BY a.id, x.id, b.id, y.id, c.id, z.id, d.id LIMIT 501
"""
PLAIN = "MATCH (a {{name: 'node {0}'}})-->(b)-->(c)-->(d) RETURN d.name"
LABELED = "MATCH (a:concept {{name: 'node {0}'}})-->(b:concept)-->(c:concept)-->(d:concept) RETURN d.name"
REACH = """
WITH RECURSIVE walk (id, depth) AS (
  SELECT id, 0 FROM entities WHERE name_key = ?1 AND namespace = 'local' AND deleted_at IS NULL
  UNION
  SELECT e.target_id, depth + 1 FROM walk CROSS JOIN edges e CROSS JOIN entities n
   WHERE e.source_id = walk.id AND e.relation = 'extends' AND +e.namespace = 'local' AND e.deleted_at IS NULL
     AND n.id = e.target_id AND n.deleted_at IS NULL AND +n.namespace = 'local' AND depth < 4
)
SELECT name FROM walk JOIN entities USING (id) WHERE depth > 0 GROUP BY name ORDER BY min(depth), name LIMIT 501
"""
PATH = "MATCH (a {{name: 'node {0}'}})-[:extends*1..4]->(b) RETURN b.name"


def run(count: int) -> list[Result]:
    """How many times the time of the statement by hand our queries take."""
    with tempfile.TemporaryDirectory(prefix="hivekeep-bench-") as folder:
        settings = Settings(db=str(Path(folder) / "bench.db"))
        server = open_server(settings, threaded=False)
        server.engine.run_write(fill)
        floor = open_connection(str(settings.db), "reader", storage_options(settings))
        with server.engine.read() as tx:
            results = [
                _case("three hops", floor, BY_HAND, _engine(tx, PLAIN), count, TARGET),
                _case("three hops, kinds given", floor, BY_HAND, _engine(tx, LABELED), count, TARGET),
                _case("one to four hops", floor, REACH, _engine(tx, PATH), count, None),
            ]
        results.append(_case("three hops, whole operation", floor, BY_HAND, _operation(server, PLAIN), count, None))
        floor.close()
        server.engine.close()
    return results


def _case(
    name: str, floor: apsw.Connection, statement: str, ours: Callable[[int], int], count: int, target: float | None
) -> Result:
    def by_hand(start: int) -> int:
        return min(len(floor.execute(statement, (f"node {start}",)).fetchall()), PAGE)

    for start in STARTS:
        if ours(start) != by_hand(start):
            raise RuntimeError(f"{name}, node {start}: {ours(start)} rows by us, {by_hand(start)} by hand")
    return slower("query", name, pairs(_timed(by_hand), _timed(ours), count), target)


def _engine(tx: Tx, text: str) -> Callable[[int], int]:
    return lambda start: len(run_query(tx, text.format(start), ("local",), PAGE).rows)


def _operation(server: Server, text: str) -> Callable[[int], int]:
    def ask(start: int) -> int:
        operation = f'query(query="{text.format(start)}")'
        request = parse_tool_call({"ops": operation, "presentation": "verbose"})
        answer: dict[str, Any] = server.handle(request, make_caller(None, None, ()), source="bench")
        return len(answer["results"][0]["result"]["rows"])

    return ask


def _timed(ask: Callable[[int], int]) -> Callable[[], float]:
    """Seconds for one query, over every start."""

    def run() -> float:
        started = time.perf_counter()
        for start in STARTS:
            ask(start)
        return (time.perf_counter() - started) / len(STARTS)

    return run
