"""What an embedder costs a write: create with the local model registered, against create without any."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.floor import Ours, Sample, create_op, samples
from benchmarks.measure import Result, pairs, slower

TARGET = 1.3
TURNS = 4
OPERATIONS = 25
"""Turns of a pair, and operations of a turn."""
LONG = 12
"""How many samples make the text of a long record: about 2,400 characters, of which the model takes half."""
MODELS = ("minilm",)


def run(count: int) -> list[Result]:
    """The median time of a create: short and long texts, and while vectors are made beside it."""
    return [
        _measured("short text", count, 1, working=False),
        _measured("long text", count, LONG, working=False),
        _measured("short text, vectors being made", count, 1, working=True, target=None),
    ]


def _measured(case: str, count: int, parts: int, *, working: bool, target: float | None = TARGET) -> Result:
    with tempfile.TemporaryDirectory(prefix="hivekeep-bench-") as folder:
        without = Ours(Path(folder) / "without.db", "full")
        with_one = Ours(Path(folder) / "with.db", "full", models=MODELS, working=working)
        texts = _texts(OPERATIONS * TURNS * (count + 1), parts)
        floor, ours = (_batches(texts) for _ in range(2))
        measured = pairs(lambda: _create(without, next(floor)), lambda: _create(with_one, next(ours)), count, TURNS)
        without.close()
        with_one.close()
    return slower("embedding", case, measured, target)


def _texts(count: int, parts: int) -> list[Sample]:
    found = samples(count * parts, seed=5)
    return [
        Sample(found[start].name, ". ".join(one.description for one in found[start : start + parts]))
        for start in range(0, len(found), parts)
    ]


def _batches(texts: list[Sample]) -> Iterator[list[Sample]]:
    for start in range(0, len(texts), OPERATIONS):
        yield texts[start : start + OPERATIONS]


def _create(ours: Ours, batch: list[Sample]) -> float:
    """The median seconds of a create."""
    taken = []
    for operation in [create_op(sample) for sample in batch]:
        started = time.perf_counter()
        ours.call(operation)
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)
