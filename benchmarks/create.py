"""create, from the text of the operation to its envelope, against its statements by hand."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks.floor import Floor, Ours, Sample, create_op, new_ids, samples
from benchmarks.measure import Result, pairs, share

TARGETS = {"normal": 0.50, "full": 0.70}
TURNS = 10
OPERATIONS = 20
"""Turns of a pair, and operations of a turn."""


def run(count: int) -> list[Result]:
    """The share of the floor's speed with and without a flush to the disk for every commit."""
    return [_measured(synchronous, target, count) for synchronous, target in TARGETS.items()]


def _measured(synchronous: str, target: float, count: int) -> Result:
    with tempfile.TemporaryDirectory(prefix="hivekeep-bench-") as folder:
        floor = Floor(Path(folder) / "floor.db", synchronous)
        ours = Ours(Path(folder) / "ours.db", synchronous)
        # Both sides write the same texts in the same order, so their indexes grow and merge alike.
        texts = samples(OPERATIONS * TURNS * (count + 1), seed=1)
        batches = [texts[start : start + OPERATIONS] for start in range(0, len(texts), OPERATIONS)]
        by_hand, by_us = iter(batches), iter(batches)
        measured = pairs(lambda: _by_hand(floor, next(by_hand)), lambda: _by_us(ours, next(by_us)), count, TURNS)
        floor.close()
        ours.close()
    return share("create", f"synchronous {synchronous}", measured, target)


def _by_hand(floor: Floor, batch: list[Sample]) -> float:
    ids = list(zip(new_ids(len(batch)), new_ids(len(batch)), new_ids(len(batch)), strict=True))
    started = time.perf_counter()
    for sample, three in zip(batch, ids, strict=True):
        floor.create(sample, three)
    return (time.perf_counter() - started) / len(batch)


def _by_us(ours: Ours, batch: list[Sample]) -> float:
    operations = [create_op(sample) for sample in batch]
    started = time.perf_counter()
    for operation in operations:
        ours.call(operation)
    return (time.perf_counter() - started) / len(batch)
