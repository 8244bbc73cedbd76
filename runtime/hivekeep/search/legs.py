"""The legs of retrieval: what the words of a query find, what its vector finds, and what stands beside the finds.

Invariant: every candidate is in the scope when it is answered, whichever index or vector led to it. A vector counts
only while it is the vector of the text that is stored now, so a changed, deleted or restored record is right in every
leg at once, whatever the embedding queue has done.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple, Protocol

from hivekeep.search.lexical import Term, TextMode, plan_literals, plan_words, wordless
from hivekeep.storage import text_index, threads, vectors
from hivekeep.storage.engine import Tx
from hivekeep.storage.text_index import Candidate, Scope, TextSubstrate
from hivekeep_contract.limits import SEARCH_ARM_FACTOR, VECTOR_ROUNDS


class ModelName(Protocol):
    """What tells the vectors of one embedder from those of another; every `Embedder` is one."""

    @property
    def name(self) -> str: ...
    @property
    def revision(self) -> str: ...


class Similar(NamedTuple):
    """A record with the cosine of its vector and the query's."""

    candidate: Candidate
    similarity: float


def text_leg(
    tx: Tx,
    terms: Sequence[Term],
    scope: Scope,
    limit: int,
    substrate: TextSubstrate = "note",
    mode: TextMode = "any_term",
    enough: int | None = None,
) -> list[Candidate]:
    """Word hits, then what only the trigram index found, then what only a comparison of the records found.

    A leg is asked for several candidates a place of the answer; `enough` says how many places there are, otherwise
    SEARCH_ARM_FACTOR does. Substrings stand behind every word, so once the words fill the places only terms that are no
    words are asked for: trigrams of many terms cost far more.
    """
    found: list[Candidate] = []
    words = plan_words(terms, mode)
    if words:
        found += text_index.match_words(tx, substrate, words.match, words.where, scope, limit)
    if len(found) * SEARCH_ARM_FACTOR >= limit if enough is None else len(found) >= enough:
        terms = wordless(terms) if mode == "any_term" else ()
    if not terms or len(found) == limit:
        return found
    literals = plan_literals(terms, mode, partial(text_index.trigrams_from, tx, substrate))
    if literals.match:
        room, known = limit - len(found), [candidate.seq for candidate in found]
        found += text_index.match_trigrams(tx, substrate, literals.match, literals.where, scope, room, known=known)
    if literals.scan and len(found) < limit:
        room, known = limit - len(found), [candidate.seq for candidate in found]
        found += text_index.scan(tx, substrate, literals.scan, scope, room, match_any=literals.scan_any, known=known)
    return found


def text_scores(found: Sequence[Candidate]) -> dict[int, float]:
    """The scores of a text leg by `seq` on one scale.

    Scores of two indexes cannot be compared: those of hits that only the trigram index found are placed below the
    weakest word hit, in their order and distances, and a hit that no index scored counts 0.
    """
    words = [candidate.score for candidate in found if candidate.found_by == "words" and candidate.score]
    trigrams = [candidate.score for candidate in found if candidate.found_by == "trigrams" and candidate.score]
    factor = min(words) / max(trigrams) / 2 if words and trigrams else 1.0
    return {
        candidate.seq: (candidate.score or 0.0) * (1.0 if candidate.found_by == "words" else factor)
        for candidate in found
    }


def vector_leg(
    tx: Tx, model: ModelName, query: bytes, scope: Scope, limit: int, substrate: TextSubstrate = "note"
) -> list[Similar]:
    """The records of the scope whose vectors of this model are most similar to the query's, most similar first.

    Vectors know the namespace and the kind of their record and nothing else of the scope, so more of them are read
    while too few remain; when a filter is so narrow that VECTOR_ROUNDS did not help, the records that meet it are
    compared one by one.
    """
    known = vectors.find_model(tx, model.name, model.revision)
    if known is None or limit <= 0:
        return []
    near = vectors.ranked(tx, known, query, vectors.Scope(substrate, scope.namespaces, scope.kind), limit)
    found: list[Similar] = []
    for size in (limit << doubled for doubled in range(VECTOR_ROUNDS)):
        batch = list(islice(near, size))
        found += _valid(tx, batch, scope, substrate)
        if len(found) >= limit or len(batch) < size:
            return _best(found, limit)
    exact = iter(vectors.similarities(tx, known, query, substrate, text_index.within(tx, substrate, scope)))
    found = []
    while len(found) < limit and (batch := list(islice(exact, limit))):
        found += _valid(tx, batch, scope, substrate)
    return _best(found, limit)


def _best(found: list[Similar], limit: int) -> list[Similar]:
    # They come by similarity, so only where it is alike is there anything to sort.
    if len({similarity for _, similarity in found}) < len(found):
        found.sort(key=lambda one: (-one.similarity, one.candidate.id))
    return found[:limit]


def _valid(tx: Tx, near: Sequence[vectors.Near], scope: Scope, substrate: TextSubstrate) -> list[Similar]:
    """Those that are in the scope and say what they said when their vector was made."""
    stored = text_index.look_up(tx, substrate, [one.seq for one in near], scope)
    return [
        Similar(found, similarity)
        for seq, similarity, made_of in near
        if (found := stored.get(seq)) is not None and vectors.source_hash(found.title, found.body) == made_of
    ]


def neighbour_leg(tx: Tx, text: Sequence[Candidate], scope: Scope) -> dict[int, float]:
    """What memories gain from the text hits beside them, by `seq`: the sum of the scores of the two next to each.

    An answer seldom repeats the words of its question, but the turn before it often does.
    """
    gained: dict[int, float] = {}
    scores = text_scores(text)
    for memory in threads.beside(tx, list(scores)):
        for neighbour in (memory.previous, memory.next):
            if neighbour is not None:
                gained[neighbour] = gained.get(neighbour, 0.0) + scores[memory.seq]
    unknown = [seq for seq in gained if seq not in scores]
    allowed = text_index.among(tx, "note", unknown, scope)
    return {seq: score for seq, score in gained.items() if score > 0 and (seq in scores or seq in allowed)}
