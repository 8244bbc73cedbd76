"""get, from the text of the operation to its envelope, against a key read and one committed event."""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path

from benchmarks.floor import Floor, Ours, create_op, new_ids, samples
from benchmarks.measure import Result, pairs, share

TARGET = 0.30
RECORDS = 500
TURNS = 10
OPERATIONS = 100
"""Turns of a pair, and operations of a turn."""


def run(count: int) -> list[Result]:
    """The share of the floor's speed; every get leaves its audit row."""
    with tempfile.TemporaryDirectory(prefix="hivekeep-bench-") as folder:
        path = Path(folder) / "bench.db"
        ours = Ours(path, "full")
        known = [str(ours.call(create_op(sample))["id"]) for sample in samples(RECORDS, seed=2)]
        floor = Floor(path, "full")
        rng = random.Random(3)
        measured = pairs(
            lambda: _by_hand(floor, rng.choices(known, k=OPERATIONS)),
            lambda: _by_us(ours, rng.choices(known, k=OPERATIONS)),
            count,
            TURNS,
        )
        floor.close()
        ours.close()
    return [share("get", "with its audit row", measured, TARGET)]


def _by_hand(floor: Floor, ids: list[str]) -> float:
    events = new_ids(len(ids))
    started = time.perf_counter()
    for record, event in zip(ids, events, strict=True):
        floor.get(record, event)
    return (time.perf_counter() - started) / len(ids)


def _by_us(ours: Ours, ids: list[str]) -> float:
    operations = [f'get(id="{record}")' for record in ids]
    started = time.perf_counter()
    for operation in operations:
        ours.call(operation)
    return (time.perf_counter() - started) / len(ids)
