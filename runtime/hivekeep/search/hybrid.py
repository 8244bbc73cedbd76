"""Search over entities and notes: arms, fusion, modifiers, floor, filters, order, limit - in this order.

The invariant: what the caller may not see or did not ask for (namespace, kind, type, tags, deleted and
replaced records) is left out inside the queries, before anything is truncated; only the properties filter
works on the candidate window. So a hit of the right kind is never lost to better hits of a wrong one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

from hivekeep.search import fusion
from hivekeep.search.lexical import Term, TextMode, parse_terms, plan_literals, plan_words
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
    """One found record; `keyword_score` is None when no index scored it (terms under three characters)."""

    id: str
    kind: str
    score: float
    keyword_score: float | None
    source: Source
    title: str | None
    snippet: str | None
    created_at: int
    updated_at: int


class SearchResult(NamedTuple):
    """The hits in order, and how many of them the text arm found."""

    hits: list[Hit]
    text_candidates: int


class _Ranked(NamedTuple):
    score: float
    candidate: Candidate


def search_entities(tx: Tx, search: EntitySearch) -> SearchResult:
    """The best entities for a query; scores by the exact-title rule (seed: search, rank_score)."""
    key = name_key(search.query.strip())
    scope = Scope(search.namespaces, search.kind, search.entity_type, search.tags, name_key=key)

    def score(fused: float, candidate: Candidate) -> float:
        exact = name_key((candidate.title or "").strip()) == key
        return fusion.entity_score(fused, exact_title=exact)

    return _run(tx, "entity", search, scope, ENTITY_RRF_K, score)


def search_notes(tx: Tx, search: NoteSearch) -> SearchResult:
    """The best notes for a query; scores weighed by salience (seed: search, rank_score)."""
    scope = Scope(search.namespaces, search.kind, tags=search.tags, superseded=search.include_superseded)

    def score(fused: float, candidate: Candidate) -> float:
        return fusion.note_score(fused, candidate.salience)

    return _run(tx, "note", search, scope, NOTE_RRF_K, score)


def participation(mode: TextMode, text_candidates: int) -> dict[str, dict[str, object]]:
    """The `arm_participation` of an answered search; there is no vector arm without an embedder."""
    text: dict[str, object] = {"status": "ran", "candidate_count": text_candidates, "mode": mode}
    if not text_candidates:
        text["reason"] = TRY_FEWER_TERMS if mode == "all_terms" else NO_TEXT_HIT
    return {"text": text, "vector": {"status": "skipped", "candidate_count": 0}}


def _run(
    tx: Tx,
    substrate: TextSubstrate,
    search: _Search,
    scope: Scope,
    constant: int,
    score: Callable[[float, Candidate], float],
) -> SearchResult:
    if search.limit <= 0 or not search.namespaces:
        return SearchResult([], 0)
    window = _window(search)
    terms = parse_terms(search.query)
    candidates = _text_arm(tx, substrate, terms, search.text_mode, scope, SEARCH_ARM_FACTOR * window)
    fused = fusion.reciprocal_ranks([[candidate.id for candidate in candidates]], constant)
    ranked = [_Ranked(score(fused[candidate.id], candidate), candidate) for candidate in candidates]
    ranked.sort(key=lambda entry: (-entry.score, entry.candidate.id))
    ranked = [entry for entry in ranked[:window] if entry.score >= search.floor]
    ranked = _with_properties(tx, substrate, ranked, search.properties)
    hits = _hits(tx, substrate, _in_order(ranked, search.order_by)[: search.limit], terms)
    return SearchResult(hits, sum(hit.source != "vector" for hit in hits))


def _window(search: _Search) -> int:
    if search.properties or search.tags or search.order_by != "score":
        return max(search.limit, min(search.limit * SEARCH_WINDOW_FACTOR, SEARCH_WINDOW_CAP))
    return search.limit


def _text_arm(
    tx: Tx, substrate: TextSubstrate, terms: Sequence[Term], mode: TextMode, scope: Scope, limit: int
) -> list[Candidate]:
    """Word hits, then what only the trigram index found, then what only a comparison of the records found."""
    found: list[Candidate] = []
    words = plan_words(terms, mode)
    if words:
        found += text_index.match_words(tx, substrate, words.match, words.where, scope, limit)
    if len(found) == limit:
        return found
    literals = plan_literals(terms, mode, partial(text_index.trigrams_from, tx, substrate))
    if literals.match:
        room, known = limit - len(found), [candidate.seq for candidate in found]
        found += text_index.match_trigrams(tx, substrate, literals.match, literals.where, scope, room, known=known)
    if literals.scan and len(found) < limit:
        room, known = limit - len(found), [candidate.seq for candidate in found]
        found += text_index.scan(tx, substrate, literals.scan, scope, room, match_any=literals.scan_any, known=known)
    return found


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
    texts = text_index.bodies(tx, substrate, [entry.candidate.seq for entry in ranked])
    literals = [term.literal for term in terms]
    return [_hit(entry, texts[entry.candidate.seq], literals) for entry in ranked]


def _hit(entry: _Ranked, body: str | None, literals: Sequence[str]) -> Hit:
    found = entry.candidate
    return Hit(
        found.id,
        found.kind,
        entry.score,
        found.score,
        "text",
        found.title,
        excerpt(body, literals),
        found.created_at,
        found.updated_at,
    )
