"""memory.recall among 10,000 memories, without vectors, against the text index asked for the same terms by hand.

By hand is one statement of FTS5: match, bm25, the best ten. Ours is the whole operation, from the text of the call to
its envelope and audit row: terms, words and neighbors, fusion, weights, mentions, corrections. The words of memories
are as frequent as those of a language (Zipf), so a query has rare and common ones.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from itertools import accumulate
from pathlib import Path

import apsw

from benchmarks.floor import Ours, new_ids
from benchmarks.measure import Result, pairs, slower
from hivekeep.packs.memory.recall import question_terms
from hivekeep.search.lexical import plan_words
from hivekeep.storage import notes
from hivekeep.storage.connections import open_connection, storage_options
from hivekeep.storage.engine import Tx
from hivekeep.storage.notes import NoteRow
from hivekeep_contract.settings import Settings

TARGET = 4.0
MEMORIES = 10_000
WORDS = 30
"""Words of a memory: about 200 characters."""
SESSION = 20
"""Memories of one session."""
QUERIES = 20
ASKED = 8
"""Words of a query; they are words of one memory."""
VOCABULARY = 8_000
HIT_COUNT = 10

BY_HAND = "SELECT rowid, bm25(note_words) FROM note_words WHERE note_words MATCH ? ORDER BY bm25(note_words) LIMIT ?"


def run(count: int) -> list[Result]:
    """How many times the floor's time a recall takes."""
    with tempfile.TemporaryDirectory(prefix="hivekeep-bench-") as folder:
        path = Path(folder) / "bench.db"
        ours = Ours(path, "normal")
        texts = _texts()
        ours.write(lambda tx: _fill(tx, texts))
        queries = _queries(texts)
        hand = open_connection(str(path), "reader", storage_options(Settings(db=str(path))))
        measured = pairs(lambda: _by_hand(hand, queries), lambda: _by_us(ours, queries), count)
        hand.close()
        ours.close()
    return [slower("recall", "10,000 memories, no vectors", measured, TARGET)]


def _texts() -> list[list[str]]:
    """Memories of made-up words, the n-th word of the vocabulary with a frequency of 1/n."""
    rng = random.Random(11)
    syllables = [first + second for first in "bdfgklmnprstvz" for second in ("a", "el", "in", "o", "ur")]
    vocabulary = ["".join(rng.choices(syllables, k=rng.randint(2, 4))) for _ in range(VOCABULARY)]
    weights = list(accumulate(1 / rank for rank in range(1, VOCABULARY + 1)))
    return [rng.choices(vocabulary, cum_weights=weights, k=WORDS) for _ in range(MEMORIES)]


def _queries(texts: list[list[str]]) -> list[str]:
    rng = random.Random(12)
    return [" ".join(rng.sample(rng.choice(texts), ASKED)) for _ in range(QUERIES)]


def _fill(tx: Tx, texts: list[list[str]]) -> None:
    sessions = new_ids(MEMORIES // SESSION)
    now = time.time_ns() // 1000
    rows = [
        NoteRow(
            id=record_id,
            namespace="local",
            kind="memory",
            content=" ".join(text),
            created_at=now - number * 60_000_000,
            updated_at=now,
            salience=0.3,
            decay_factor=0.02,
            properties=json.dumps({"memory_type": "episodic", "session_id": sessions[number // SESSION]}),
        )
        for number, (record_id, text) in enumerate(zip(new_ids(MEMORIES), texts, strict=True))
    ]
    notes.insert_many(tx, rows)


def _by_hand(connection: apsw.Connection, queries: list[str]) -> float:
    plans = [plan_words(question_terms(query), "any_term") for query in queries]
    matches = [plan.match for plan in plans if plan is not None]
    started = time.perf_counter()
    for match in matches:
        connection.execute(BY_HAND, (match, HIT_COUNT)).fetchall()
    return (time.perf_counter() - started) / len(matches)


def _by_us(ours: Ours, queries: list[str]) -> float:
    operations = [f"memory.recall(query={json.dumps(query)}, limit={HIT_COUNT})" for query in queries]
    started = time.perf_counter()
    for operation in operations:
        ours.call(operation)
    return (time.perf_counter() - started) / len(operations)
