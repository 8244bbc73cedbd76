"""The candidates of a recall: three legs, their fusion, and what is dropped before anything is scored.

Invariant: every candidate is a live memory that meets the filters of the call. Filters are part of the statements that
find candidates, so the limits of the legs cut only memories that could have been answered.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from hivekeep.search import fusion, legs
from hivekeep.search.fusion import PARTICIPANTS, Leg, Strategy
from hivekeep.search.lexical import Term
from hivekeep.search.meaning import Meaning
from hivekeep.storage import memories
from hivekeep.storage.engine import Tx
from hivekeep.storage.memories import MemoryRow
from hivekeep.storage.text_index import Scope
from hivekeep_contract.limits import RECALL_COSINE_FLOOR, RECALL_NEIGHBOUR_SOURCES

TEXT: Final = "text"
NEIGHBOURS: Final = "neighbours"
VECTOR: Final = "vector"


class Question(NamedTuple):
    """What is asked: terms for the words, one vector for each model, and how the legs are joined."""

    terms: Sequence[Term]
    vectors: Meaning
    strategy: Strategy
    weights: Mapping[Leg, float]
    scope: Scope


@dataclass(slots=True)
class Found:
    """What the legs found, by id of the memory.

    `faint` counts what only a vector below the cosine floor found; `exhausted`: wider legs would find nothing more.
    """

    rows: dict[str, MemoryRow]
    faint: int
    legs: dict[Leg, dict[str, float]] = field(default_factory=dict)
    by_model: dict[str, list[tuple[str, float]]] = field(default_factory=dict)
    exhausted: bool = True

    @property
    def similarity(self) -> Mapping[str, float]:
        """The best cosine of each memory that a vector found."""
        return self.legs.get(VECTOR, {})

    def keep(self, ids: set[str]) -> None:
        """Leave these memories alone in every leg."""
        self.rows = {key: row for key, row in self.rows.items() if key in ids}
        self.legs = {name: {key: leg[key] for key in leg if key in ids} for name, leg in self.legs.items()}

    def fused(self, question: Question) -> dict[str, float]:
        """One score for each memory."""
        return fusion.fuse(question.strategy, self.legs, question.weights)


def gather(tx: Tx, question: Question, size: int, limit: int) -> Found:
    """Ask each leg of the strategy for `size` memories, of which `limit` may be answered."""
    wanted = PARTICIPANTS[question.strategy]
    text = legs.text_leg(tx, question.terms, question.scope, size, enough=limit) if TEXT in wanted else []
    near = _nearest(tx, question, size) if VECTOR in wanted else {}
    beside: Mapping[int, float] = {}
    if NEIGHBOURS in wanted and text and question.weights[NEIGHBOURS]:
        beside = legs.neighbour_leg(tx, text[:RECALL_NEIGHBOUR_SOURCES], question.scope)
    similar = _best(near.values())
    similarity = {seq: cosine for seq, cosine in similar.items() if cosine >= RECALL_COSINE_FLOOR}
    by_seq = memories.hydrate(tx, list({*(one.seq for one in text), *similarity, *beside}))
    found = Found({row.id: row for row in by_seq.values()}, faint=len(similar.keys() - by_seq.keys()))
    found.exhausted = len(text) < size and all(len(hits) < size for hits in near.values())
    by_leg: dict[Leg, Mapping[int, float]] = {TEXT: legs.text_scores(text), NEIGHBOURS: beside, VECTOR: similarity}
    for name in wanted:
        found.legs[name] = {by_seq[seq].id: score for seq, score in by_leg[name].items() if seq in by_seq}
    for model, hits in near.items():
        found.by_model[model] = [(by_seq[seq].id, score) for seq, score in hits.items() if seq in by_seq]
    return found


def _nearest(tx: Tx, question: Question, size: int) -> dict[str, dict[int, float]]:
    """For each model the memories with the most similar vectors, most similar first, by `seq`."""
    return {
        vector.name: {
            candidate.seq: similarity
            for candidate, similarity in legs.vector_leg(tx, vector, vector.embedding, question.scope, size)
        }
        for vector in question.vectors
    }


def _best(of_models: Iterable[Mapping[int, float]]) -> dict[int, float]:
    """Several models together: each memory with its best similarity."""
    best: dict[int, float] = {}
    for hits in of_models:
        for seq, similarity in hits.items():
            best[seq] = max(similarity, best.get(seq, similarity))
    return best
