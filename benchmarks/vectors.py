"""vectors: a search among 100,000 vectors against the statement of sqlite-vec by hand.

The vectors are random around random centers, which is harder to order than those of real sentences. A second namespace
of 2,000 is searched beside them. Both sides ask the same tables; ours also finds out how large the scope is and whose
the vectors are.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from benchmarks.measure import Result, faster, pairs, slower
from hivekeep.storage import vectors
from hivekeep.storage.connections import storage_options
from hivekeep.storage.engine import Tx
from hivekeep.storage.sqlite import SqliteEngine, open_store
from hivekeep.storage.vectors import Model, Scope, VectorRow
from hivekeep_contract.settings import Settings

SLOWER_AT_MOST: Final = 1.5
FASTER_AT_LEAST: Final = 5.0
FOUND_AT_LEAST: Final = 0.97

SIZES: Final = {"large": 100_000, "small": 2_000}
DIMS: Final = 384
CENTERS: Final = 500
QUERIES: Final = 20
K: Final = 10
BATCH: Final = 5_000

BY_HAND: Final = (
    "SELECT rowid >> 1, distance FROM vector_floats_{model} WHERE embedding MATCH ? AND k = ? AND namespace = ?"
    " AND substrate = 'note'"
)


def run(count: int) -> list[Result]:
    """How much slower a search of a small scope is, and how much faster that of a large one; nothing without vec0."""
    with tempfile.TemporaryDirectory(prefix="hivekeep-bench-") as folder:
        engine = open_store(str(Path(folder) / "bench.db"), storage_options(Settings()))
        try:
            return _measured(engine, count)
        finally:
            engine.close()


def _measured(engine: SqliteEngine, count: int) -> list[Result]:
    with engine.read() as tx:
        if not tx.vectors_ready():
            print("vectors: left out, the sqlite-vec extension cannot be loaded here", file=sys.stderr)
            return []
        model = engine.run_write(lambda writing: vectors.register_model(writing, "bench", "1", DIMS, 1))
        queries = _fill(engine, model)
        small, large = _sides(tx, model, "small"), _sides(tx, model, "large")
        _check(small, queries, 1.0)
        _check(large, queries, FOUND_AT_LEAST)
        timed = [[_timed(side, queries) for side in sides] for sides in (small, large)]
        return [
            slower("vectors", "2,000 among 102,000", pairs(*timed[0], count), SLOWER_AT_MOST),
            faster("vectors", "100,000 among 102,000", pairs(*timed[1], count), FASTER_AT_LEAST),
        ]


Search = Callable[[bytes], list[int]]


def _sides(tx: Tx, model: Model, namespace: str) -> tuple[Search, Search]:
    """The search of one namespace by hand, and ours."""
    statement = BY_HAND.replace("{model}", str(model.id))
    scope = Scope("note", (namespace,))
    return (
        lambda query: [row[0] for row in tx.all(statement, (query, K, namespace))],
        lambda query: [near.seq for near in vectors.nearest(tx, model, query, scope, K)],
    )


def _check(sides: tuple[Search, Search], queries: list[bytes], share: float) -> None:
    by_hand, ours = sides
    found = sum(len(set(by_hand(query)) & set(ours(query))) for query in queries) / (K * len(queries))
    if found < share:
        raise RuntimeError(f"only {found:.1%} of the nearest are found, not {share:.1%}")


def _timed(search: Search, queries: list[bytes]) -> Callable[[], float]:
    """Seconds for one search."""

    def run_all() -> float:
        started = time.perf_counter()
        for query in queries:
            search(query)
        return (time.perf_counter() - started) / len(queries)

    return run_all


def _fill(engine: SqliteEngine, model: Model) -> list[bytes]:
    """Store the vectors and answer those that are searched for."""
    queries: list[bytes] = []
    seq = 0
    for namespace, size in SIZES.items():
        for batch in _random(size, len(namespace)):
            rows = [
                VectorRow("note", number, namespace, "memory", number, embedding)
                for number, embedding in enumerate(batch, seq + 1)
            ]
            seq += len(rows)
            queries = queries or batch[:QUERIES]
            engine.run_write(lambda tx, rows=rows: vectors.put_many(tx, model, rows))
    return queries


def _random(size: int, seed: int) -> Iterator[list[bytes]]:
    """Vectors of length one, in batches."""
    import numpy as np

    random = np.random.default_rng(seed)
    centers = random.normal(size=(CENTERS, DIMS))
    for start in range(0, size, BATCH):
        many = min(BATCH, size - start)
        made = 0.7 * centers[random.integers(CENTERS, size=many)] + random.normal(size=(many, DIMS))
        made /= np.linalg.norm(made, axis=1, keepdims=True)
        yield [row.tobytes() for row in made.astype("<f4")]
