"""A hybrid search of one namespace of 2,000 notes among 100,000, against its two questions asked by hand.

By hand is one statement of sqlite-vec over the partition of the namespace, for as many neighbors as the vector arm
reads, with and without one statement of FTS5 over the words, which knows no namespaces. Ours is the pipeline behind the
verb, on a snapshot, with the vector of the query made: both arms within the scope, the check that every vector is of
the text that is stored now, fusion, excerpts. Texts and vectors are made up; a query is three words of one note. Times
are those of the processor.

The target holds against the vectors alone, the harder one: as nothing changes, our side has the vectors of each
namespace in memory after its first searches, as it has in a process that loaded numpy to embed. Told without a target
is the first search, which reads the tables of sqlite-vec.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.floor import new_ids
from benchmarks.measure import Result, Run, pairs, slower
from hivekeep.search.embedders.protocol import unit_vector
from hivekeep.search.hybrid import NoteSearch, search_notes
from hivekeep.search.lexical import parse_terms, plan_words
from hivekeep.search.meaning import QueryVector
from hivekeep.storage import notes, vectors
from hivekeep.storage.connections import storage_options
from hivekeep.storage.engine import Engine, Tx
from hivekeep.storage.notes import NoteRow
from hivekeep.storage.sqlite import open_store
from hivekeep.storage.statements import sql
from hivekeep.storage.vector_layout import FLOATS_PREFIX
from hivekeep.storage.vector_memory import VECTOR_MEMORY
from hivekeep.storage.vectors import Model, VectorRow
from hivekeep_contract.limits import SEARCH_ARM_FACTOR, SEARCH_DEFAULT, VECTOR_SCANS_BEFORE_HELD
from hivekeep_contract.settings import Settings

TARGET = 1.5
NAMESPACES = 50
NOTES = 2_000
"""Notes of one namespace."""
DIMS = 384
WORDS = 12
VOCABULARY = 4_000
ASKED = 3
QUERIES = 20
KIND = "observation"
MODEL, REVISION = "synthetic", "1"
BYTE_MIDDLE = 127.5
READ = SEARCH_ARM_FACTOR * SEARCH_DEFAULT
"""Candidates that each arm is asked for."""

PARTITION = (
    "SELECT rowid, distance FROM {table} WHERE embedding MATCH ? AND k = ?"
    " AND namespace = ? AND substrate = 'note' AND kind = ?"
)
MATCH = "SELECT rowid, bm25(note_words) FROM note_words WHERE note_words MATCH ? ORDER BY bm25(note_words) LIMIT ?"


class Question(NamedTuple):
    """A query with its vector, and the namespace that is asked."""

    namespace: str
    text: str
    vector: bytes


def run(count: int) -> list[Result]:
    """How many times the floor's time a hybrid search takes; nothing where sqlite-vec cannot be loaded."""
    import numpy as np  # noqa: F401  # as the process has it that made the vectors

    rng = random.Random(17)
    with tempfile.TemporaryDirectory(prefix="hivekeep-bench-") as folder:
        path = str(Path(folder) / "bench.db")
        engine = open_store(path, storage_options(Settings(db=path, storage_synchronous="normal")))
        questions = _fill(engine, rng)
        with engine.read() as tx:
            model = vectors.find_model(tx, MODEL, REVISION)
            if model is None or not tx.vectors_ready():
                return []
            both = partial(_by_hand, tx, model, questions, words=True)
            its_vectors = partial(_by_hand, tx, model, questions, words=False)
            ours = partial(_by_us, tx, questions)
            for _ in range(VECTOR_SCANS_BEFORE_HELD):
                ours()
            results = [
                _case("both arms", both, ours, count, TARGET),
                _case("its vectors", its_vectors, ours, count, TARGET),
                _case("its vectors, at first", its_vectors, partial(_at_first, tx, questions), count, None),
            ]
        engine.close()
    return results


def _case(floor: str, by_hand: Run, ours: Run, count: int, target: float | None) -> Result:
    return slower("hybrid", f"2,000 of 100,000 notes, against {floor}", pairs(by_hand, ours, count), target)


def _fill(engine: Engine, rng: random.Random) -> list[Question]:
    """Store the notes with their vectors and answer queries about some of them."""
    syllables = [first + second for first in "bdfgklmnprstvz" for second in ("a", "el", "in", "o", "ur")]
    vocabulary = ["".join(rng.choices(syllables, k=rng.randint(2, 4))) for _ in range(VOCABULARY)]
    asked = set(rng.sample(range(NAMESPACES), QUERIES))
    model = engine.run_write(lambda tx: vectors.register_model(tx, MODEL, REVISION, DIMS, 1))
    questions = []
    for number in range(NAMESPACES):
        namespace = f"space{number}"
        texts = [rng.choices(vocabulary, k=WORDS) for _ in range(NOTES)]
        engine.run_write(lambda tx, n=namespace, t=texts: _store(tx, model, n, t, rng))  # type: ignore[misc]
        if number in asked:
            questions.append(Question(namespace, " ".join(rng.sample(rng.choice(texts), ASKED)), _vector(rng)))
    return questions


def _store(tx: Tx, model: Model, namespace: str, texts: Sequence[Sequence[str]], rng: random.Random) -> None:
    rows = [
        NoteRow(id=record, namespace=namespace, kind=KIND, content=" ".join(text), created_at=1, updated_at=1)
        for record, text in zip(new_ids(len(texts)), texts, strict=True)
    ]
    notes.insert_many(tx, rows)
    stored = notes.get_many(tx, [row.id for row in rows])
    vectors.put_many(tx, model, _vectors(stored.values(), rng))


def _vectors(rows: Iterable[NoteRow], rng: random.Random) -> Iterator[VectorRow]:
    for row in rows:
        made_of = vectors.source_hash(row.name, row.content)
        yield VectorRow("note", row.seq, row.namespace, row.kind, made_of, _vector(rng))


def _vector(rng: random.Random) -> bytes:
    return unit_vector([byte - BYTE_MIDDLE for byte in rng.randbytes(DIMS)])


def _by_hand(tx: Tx, model: Model, questions: Sequence[Question], *, words: bool) -> float:
    partition = sql(PARTITION, table=f"{FLOATS_PREFIX}{model.id}")
    matches = [plan.match for one in questions if (plan := plan_words(parse_terms(one.text), "any_term")) is not None]
    started = time.process_time()
    for question, match in zip(questions, matches, strict=True):
        tx.all(partition, (question.vector, READ, question.namespace, KIND))
        if words:
            tx.all(MATCH, (match, READ))
    return (time.process_time() - started) / len(questions)


def _at_first(tx: Tx, questions: Sequence[Question]) -> float:
    """The same when nothing is in memory."""
    VECTOR_MEMORY.clear()
    return _by_us(tx, questions)


def _by_us(tx: Tx, questions: Sequence[Question]) -> float:
    started = time.process_time()
    for question in questions:
        search = NoteSearch(
            query=question.text, namespaces=(question.namespace,), kind=KIND, text_mode="any_term", limit=SEARCH_DEFAULT
        )
        search_notes(tx, search, (QueryVector(MODEL, REVISION, question.vector),))
    return (time.process_time() - started) / len(questions)
