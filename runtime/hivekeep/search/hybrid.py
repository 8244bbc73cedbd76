"""Search over entities and notes: arms, fusion, modifiers, floor, filters, order, limit - in this order.

The invariant: what the caller may not see or did not ask for (namespace, kind, type, tags, deleted and
replaced records) is left out inside the queries, before anything is truncated; only the properties filter
works on the candidate window. So a hit of the right kind is never lost to better hits of a wrong one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from hivekeep.search import fusion
from hivekeep.search.legs import text_leg, vector_leg
from hivekeep.search.lexical import Term, TextMode, parse_terms
from hivekeep.search.meaning import NO_MEANING, Meaning
from hivekeep.search.snippet import excerpt
from hivekeep.storage import text_index
from hivekeep.storage.engine import Tx
from hivekeep.storage.entities import name_key
from hivekeep.storage.text_index import Candidate, Scope, TextSubstrate
from hivekeep_contract.limits import (
    ENTITY_RRF_K,
    NOTE_RRF_K,
    SEARCH_ARM_FACTOR,
    SEARCH_WINDOW_CAP,
    SEARCH_WINDOW_FACTOR,
)

OrderBy = Literal["score", "created_at", "updated_at"]
Source = Literal["text", "vector", "both"]

NO_TEXT_HIT = "No text candidate survived matching, filtering, fusion, and the result limit."
TRY_FEWER_TERMS = NO_TEXT_HIT + " Plain text search combines normalized term groups conjunctively; try fewer terms."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """What both substrates take; None and empty filters are no filter, `floor` is an inclusive score."""

    query: str
    namespaces: Sequence[str]
    kind: str | None = None
    tags: Sequence[str] = ()
    properties: Mapping[str, object] | None = None
    text_mode: TextMode = "all_terms"
    limit: int = 10
    floor: float = 0.0
    order_by: OrderBy = "score"


@dataclass(frozen=True, slots=True, kw_only=True)
class EntitySearch(_Search):
    """A search over entities; `entity_type` is the canonical subtype and compares the column."""

    entity_type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteSearch(_Search):
    """A search over notes, without those that a live note replaces unless `include_superseded`."""

    include_superseded: bool = False


class Hit(NamedTuple):
    """One found record.

    `keyword_score` is None when no index scored it (terms under three characters, or only the vector arm found it),
    `similarity` when the vector arm did not find it.
    """

    id: str
    kind: str
    score: float
    keyword_score: float | None
    similarity: float | None
    source: Source
    title: str | None
    snippet: str | None
    created_at: int
    updated_at: int


class SearchResult(NamedTuple):
    """The hits in order, and how many of them each arm found."""

    hits: list[Hit]
    text_candidates: int
    vector_candidates: int


class _Arms(NamedTuple):
    """What each arm found by id, best first; in the vector arm with the best similarity of any model."""

    text: dict[str, Candidate]
    vector: dict[str, float]
    candidates: dict[str, Candidate]
    """All of them; one that only the vector arm found has its body."""


class _Ranked(NamedTuple):
    score: float
    candidate: Candidate
    similarity: float | None
    source: Source


def participation(mode: TextMode, found: SearchResult, pending: int | None) -> dict[str, dict[str, object]]:
    """The `arm_participation` of an answered search.

    `pending` counts the records of the scope that wait for their vector; None: there is no embedder, so no vector arm.
    """
    text: dict[str, object] = {"status": "ran", "candidate_count": found.text_candidates, "mode": mode}
    if not found.text_candidates:
        text["reason"] = TRY_FEWER_TERMS if mode == "all_terms" else NO_TEXT_HIT
    if pending is None:
        return {"text": text, "vector": {"status": "skipped", "candidate_count": 0}}
    vector = {"status": "ran", "candidate_count": found.vector_candidates, "pending": pending}
    return {"text": text, "vector": vector}


def search_entities(tx: Tx, search: EntitySearch, meaning: Meaning = NO_MEANING) -> SearchResult:
    """The best entities for a query; scores by the exact-title rule (seed: search, rank_score).

    Without the `meaning` of the query there is no vector arm.
    """
    key = name_key(search.query.strip())
    scope = Scope(search.namespaces, search.kind, search.entity_type, search.tags, name_key=key)

    def score(fused: float, candidate: Candidate) -> float:
        exact = name_key((candidate.title or "").strip()) == key
        return fusion.entity_score(fused, exact_title=exact)

    return _run(tx, "entity", search, meaning, scope, ENTITY_RRF_K, score)


def search_notes(tx: Tx, search: NoteSearch, meaning: Meaning = NO_MEANING) -> SearchResult:
    """The best notes for a query; scores weighed by salience (seed: search, rank_score)."""
    scope = Scope(search.namespaces, search.kind, tags=search.tags, superseded=search.include_superseded)

    return _run(tx, "note", search, meaning, scope, NOTE_RRF_K, _score_of_note)


def _score_of_note(fused: float, candidate: Candidate) -> float:
    return fusion.note_score(fused, candidate.salience)


def _run(
    tx: Tx,
    substrate: TextSubstrate,
    search: _Search,
    meaning: Meaning,
    scope: Scope,
    constant: int,
    score: Callable[[float, Candidate], float],
) -> SearchResult:
    if search.limit <= 0 or not search.namespaces:
        return SearchResult([], 0, 0)
    window = _window(search)
    terms = parse_terms(search.query)
    arms = _arms(tx, substrate, terms, search.text_mode, meaning, scope, SEARCH_ARM_FACTOR * window)
    fused = fusion.reciprocal_ranks([arms.text, arms.vector], constant)
    candidates = arms.candidates
    best_first = sorted([(-score(one, candidates[record_id]), record_id) for record_id, one in fused.items()])
    ranked = [_ranked(arms, record_id, -low) for low, record_id in best_first[:window] if -low >= search.floor]
    ranked = _with_properties(tx, substrate, ranked, search.properties)
    hits = _hits(tx, substrate, _in_order(ranked, search.order_by)[: search.limit], terms)
    of_text = sum(hit.source != "vector" for hit in hits)
    of_vectors = sum(hit.source != "text" for hit in hits)
    return SearchResult(hits, of_text, of_vectors)


def _window(search: _Search) -> int:
    if search.properties or search.tags or search.order_by != "score":
        return max(search.limit, min(search.limit * SEARCH_WINDOW_FACTOR, SEARCH_WINDOW_CAP))
    return search.limit


def _arms(
    tx: Tx,
    substrate: TextSubstrate,
    terms: Sequence[Term],
    mode: TextMode,
    meaning: Meaning,
    scope: Scope,
    limit: int,
) -> _Arms:
    text = {found.id: found for found in text_leg(tx, terms, scope, limit, substrate, mode)}
    candidates = dict(text)
    best: dict[str, float] = {}
    for vector in meaning:
        for found, similarity in vector_leg(tx, vector, vector.embedding, scope, limit, substrate):
            record_id = found.id
            if record_id not in candidates:
                candidates[record_id] = found
            if record_id not in best or similarity > best[record_id]:
                best[record_id] = similarity
    if len(meaning) > 1:
        # Cosines of two models are not the same measure, but a record that one of them finds close should not sink.
        nearest = sorted(best, key=lambda record_id: (-best[record_id], record_id))[:limit]
        best = {record_id: best[record_id] for record_id in nearest}
    return _Arms(text, best, candidates)


def _ranked(arms: _Arms, record_id: str, score: float) -> _Ranked:
    similarity = arms.vector.get(record_id)
    by_text: Source = "text" if similarity is None else "both"
    source: Source = by_text if record_id in arms.text else "vector"
    return _Ranked(score, arms.candidates[record_id], similarity, source)


def _with_properties(
    tx: Tx, substrate: TextSubstrate, ranked: list[_Ranked], wanted: Mapping[str, object] | None
) -> list[_Ranked]:
    if not wanted or not ranked:
        return ranked
    stored = text_index.properties(tx, substrate, [entry.candidate.seq for entry in ranked])
    return [entry for entry in ranked if _contains(json.loads(stored[entry.candidate.seq]), wanted)]


def _contains(properties: Mapping[str, object], wanted: Mapping[str, object]) -> bool:
    return all(key in properties and _json_equal(properties[key], value) for key, value in wanted.items())


def _json_equal(left: object, right: object) -> bool:
    """JSON equality: numbers by value, but true is not 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_json_equal(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_json_equal, left, right))
    return left == right


def _in_order(ranked: list[_Ranked], order_by: OrderBy) -> list[_Ranked]:
    if order_by == "created_at":
        return sorted(ranked, key=lambda entry: -entry.candidate.created_at)
    if order_by == "updated_at":
        return sorted(ranked, key=lambda entry: -entry.candidate.updated_at)
    return ranked


def _hits(tx: Tx, substrate: TextSubstrate, ranked: list[_Ranked], terms: Sequence[Term]) -> list[Hit]:
    if not ranked:
        return []
    unread = [entry.candidate.seq for entry in ranked if entry.source != "vector"]
    texts = text_index.bodies(tx, substrate, unread) if unread else {}
    literals = [term.literal for term in terms]
    hits = []
    for score, found, similarity, source in ranked:
        seq, record_id, kind, title, _, created, updated, keyword_score, _, body = found
        shown = excerpt(body if source == "vector" else texts[seq], literals)
        hits.append(Hit(record_id, kind, score, keyword_score, similarity, source, title, shown, created, updated))
    return hits
