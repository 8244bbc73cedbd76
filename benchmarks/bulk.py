"""create with 1,000 items, from the text of the operation to its envelope, against its statements by hand."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

from benchmarks.floor import Floor, Ours, Sample, new_ids, samples
from benchmarks.measure import Result, pairs, share

TARGET = 0.50
ITEMS = 1000
TURNS = 2
"""Turns of a pair; a turn is one call."""


def run(count: int) -> list[Result]:
    """The share of the floor's speed for one record of an atomic bulk create."""
    with tempfile.TemporaryDirectory(prefix="hivekeep-bench-") as folder:
        floor = Floor(Path(folder) / "floor.db", "full")
        ours = Ours(Path(folder) / "ours.db", "full")
        # Both sides write the same texts in the same order, so their indexes grow and merge alike.
        texts = samples(ITEMS * TURNS * (count + 1), seed=4)
        batches = [texts[start : start + ITEMS] for start in range(0, len(texts), ITEMS)]
        by_hand, by_us = iter(batches), iter(batches)
        measured = pairs(lambda: _by_hand(floor, next(by_hand)), lambda: _by_us(ours, next(by_us)), count, TURNS)
        floor.close()
        ours.close()
    return [share("bulk", f"create of {ITEMS} items", measured, TARGET)]


def _by_hand(floor: Floor, batch: list[Sample]) -> float:
    ids = list(zip(new_ids(len(batch)), new_ids(len(batch)), strict=True))
    (audit,) = new_ids(1)
    started = time.perf_counter()
    floor.create_many(batch, ids, audit)
    return (time.perf_counter() - started) / len(batch)


def _by_us(ours: Ours, batch: list[Sample]) -> float:
    items = [
        {
            "kind": "concept",
            "name": sample.name,
            "description": sample.description,
            "tags": ["bench", "sample"],
            "properties": {"origin": "benchmark", "rank": 7},
        }
        for sample in batch
    ]
    operation = f"create(items={json.dumps(items)})"
    started = time.perf_counter()
    ours.call(operation)
    return (time.perf_counter() - started) / len(batch)
