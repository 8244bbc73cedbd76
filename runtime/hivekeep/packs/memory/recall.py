"""recall: the memories that a query is about, best first.

Invariant: a memory is answered only if it is live, meets every filter and is replaced by no other one; whatever else
was found is counted beside the answer. No model runs while the store is read.
"""

import json
from collections.abc import Sequence
from time import perf_counter_ns
from typing import NamedTuple

from hivekeep.gate.secrets import mask
from hivekeep.identity.ids import classify
from hivekeep.packs.context import MAIN, Context
from hivekeep.packs.memory import answers, entity_names, scoring, serving
from hivekeep.packs.memory.candidates import NEIGHBOURS, TEXT, VECTOR, Found, Question, gather
from hivekeep.packs.memory.entity_names import Mentions
from hivekeep.packs.memory.queries import check_query
from hivekeep.packs.memory.scoring import Facts, Scored
from hivekeep.packs.memory.serving import Serving
from hivekeep.search import legs, lexical
from hivekeep.search.embedders import EmbedderUnavailable
from hivekeep.search.fusion import PARTICIPANTS
from hivekeep.search.lexical import Term
from hivekeep.search.meaning import NO_MEANING, Meaning, meaning_of, pending
from hivekeep.storage import memories
from hivekeep.storage.memories import KIND, MemoryRow
from hivekeep.storage.memory_filter import ANY_MEMORY, MemoryFilter
from hivekeep.storage.text_index import Scope
from hivekeep_contract.errors import DeadlineExceeded
from hivekeep_contract.limits import (
    RECALL_CANDIDATES_CAP,
    RECALL_CANDIDATES_FACTOR,
    RECALL_CANDIDATES_MIN,
    RECALL_DEADLINE_MS,
    RECALL_LIMIT_CAP,
    RECALL_PERCENT,
    RECALL_ROUNDS,
    RECALL_TERMS,
    RECALL_TOP_K_CAP,
    RECALL_WIDENING,
)
from hivekeep_contract.models import memory as models

NO_EMBEDDER = "no embedder is configured"
"""Why meaning alone finds nothing on a server that has no model."""


class Vectors(NamedTuple):
    """The query as each model sees it; `missing` says why a leg that was asked for is not served."""

    found: Meaning
    missing: str | None


class Ranked(NamedTuple):
    """The answer before it is cut to size, and how many candidates were left out for what."""

    scored: list[Scored]
    facts: dict[str, Facts]
    found: Found
    replaced: set[str]
    counts: answers.Counts


class Clock:
    """How long a recall has taken."""

    def __init__(self) -> None:
        self._started = perf_counter_ns()

    @property
    def us(self) -> int:
        """Microseconds since the call began."""
        return (perf_counter_ns() - self._started) // 1000

    def check(self) -> None:
        """Raise DeadlineExceeded when a recall may take no longer."""
        if self.us > RECALL_DEADLINE_MS * 1000:
            raise DeadlineExceeded(
                f"memory.recall: took longer than {RECALL_DEADLINE_MS} ms; no part of the answer is given",
                details={"allowed_ms": RECALL_DEADLINE_MS},
            )


def recall(ctx: Context, args: models.RecallArgs) -> models.RecallResult:
    """The memories, or a report about them; raises InvalidInput, NotFound, DeadlineExceeded."""
    clock = Clock()
    check_query(args.query)
    limit = _limit(args)
    scope = _scope(ctx, args)
    vectors = _vectors(ctx, args, scope)
    with ctx.reading() as reader:
        served = serving.serve(reader, args.profile_id)
        ranked = _ranked(reader, args, limit, _question(ctx, args, scope, vectors), served, clock)
    shown = answers.fit(ranked.scored[:limit], args.full_content)
    hits = [_hit(args, one, ranked, served, shown, vectors) for one in shown.scored]
    _leave_behind(ctx, args, [one.id for one in shown.scored], served, vectors, clock.us)
    if not hits or any(ranked.counts[1:]):
        counts = ranked.counts._replace(pending=_pending(ctx, args, scope))
        ctx.beside = {"advisories": [answers.advisory(counts)]}
    models_asked = ranked.found.by_model if args.include_breakdown else {}
    return answers.whole(hits, shown, vectors.missing, models_asked)


# the request


def _limit(args: models.RecallArgs) -> int:
    return min(args.limit, RECALL_LIMIT_CAP) if args.top_k is None else min(args.top_k, RECALL_TOP_K_CAP)


def _floor(args: models.RecallArgs) -> float:
    """The lowest score from 0 to 1; what is above 1 is percent."""
    floor = args.min_score or 0.0
    return floor if floor <= 1.0 else floor / RECALL_PERCENT


def question_terms(query: str) -> Sequence[Term]:
    """The first terms of a query that are no stop words; when it has no others, the first ones."""
    terms = lexical.parse_terms(query)
    return ([term for term in terms if not term.stops] or terms)[:RECALL_TERMS]


def _scope(ctx: Context, args: models.RecallArgs) -> Scope:
    filters = MemoryFilter(
        tags=tuple(args.tags or ()),
        tag_mode=args.tag_mode,
        without_tags=tuple(args.exclude_tags or ()),
        memory_type=args.memory_type,
        created_after=args.created_after,
        created_before=args.created_before,
    )
    return Scope(ctx.visible(args.namespace), KIND, memories=filters)


def _vectors(ctx: Context, args: models.RecallArgs, scope: Scope) -> Vectors:
    """Embed the query once for each model that is asked; one that cannot work leaves the other legs alone.

    Raises InvalidInput for a model that is not registered.
    """
    if args.embedding_model is not None:
        ctx.embedders.get(args.embedding_model)
    ctx.model_runs = 0
    if VECTOR not in PARTICIPANTS[args.fusion_strategy]:
        return Vectors(NO_MEANING, None)
    if not ctx.embedders:
        return Vectors(NO_MEANING, NO_EMBEDDER if PARTICIPANTS[args.fusion_strategy] == (VECTOR,) else None)
    ctx.model_runs = 1
    read = ctx.engines[MAIN].read
    if ctx.settings.embedding_wait_ms:
        pending(read, ctx.embedders, "note", scope.namespaces, scope.kind, ctx.settings.embedding_wait_ms)
    try:
        return Vectors(meaning_of(read, ctx.embedders, args.query, only=args.embedding_model), None)
    except EmbedderUnavailable as fault:
        return Vectors(NO_MEANING, fault.message)


def _question(ctx: Context, args: models.RecallArgs, scope: Scope, vectors: Vectors) -> Question:
    return Question(
        terms=question_terms(args.query),
        vectors=vectors.found,
        strategy=args.fusion_strategy,
        weights={
            TEXT: ctx.settings.memory_weight_text,
            NEIGHBOURS: ctx.settings.memory_weight_neighbours,
            VECTOR: ctx.settings.memory_weight_vector,
        },
        scope=scope,
    )


# candidates and scores


def _ranked(
    ctx: Context, args: models.RecallArgs, limit: int, question: Question, served: Serving, clock: Clock
) -> Ranked:
    """The answer before it is cut; the legs are widened while too little of what they found may be answered."""
    size = min(RECALL_CANDIDATES_CAP, max(limit * RECALL_CANDIDATES_FACTOR, RECALL_CANDIDATES_MIN))
    for _ in range(RECALL_ROUNDS):
        clock.check()
        ranked = _scored(ctx, args, question, gather(ctx.tx, question, size, limit), served)
        if len(ranked.scored) >= limit or ranked.found.exhausted or size == RECALL_CANDIDATES_CAP:
            break
        size = min(size * RECALL_WIDENING, RECALL_CANDIDATES_CAP)
    if len(ranked.scored) >= limit:
        return ranked
    return ranked._replace(counts=ranked.counts._replace(other_scope=_other_scope(ctx, question)))


def _scored(ctx: Context, args: models.RecallArgs, question: Question, found: Found, served: Serving) -> Ranked:
    """Everything that may be answered, best first.

    Replaced memories go before near duplicates are looked for: a correction often begins like what it corrects, and
    must not be the one that pays for it.
    """
    counted = len(found.rows) + found.faint
    if args.min_salience:
        found.keep({key for key, row in found.rows.items() if row.salience >= args.min_salience})
    facts = _facts(ctx, args, question, found, served)
    replaced = _replaced(ctx, question, found)
    hidden = set() if args.include_superseded else replaced & facts.keys()
    scored = [
        Scored(key, scoring.composite(fact, served.weights), found.rows[key].content)
        for key, fact in facts.items()
        if key not in hidden
    ]
    floor = _floor(args)
    high = [one for one in scored if one.rank_score >= floor]
    high = [one for one in scoring.without_echoes(high) if one.rank_score >= floor]
    low = counted - len(hidden) - len(high)
    counts = answers.Counts(candidates=counted, below_floor=low, superseded=len(hidden), other_scope=0)
    return Ranked(high, facts, found, replaced, counts)


def _facts(
    ctx: Context, args: models.RecallArgs, question: Question, found: Found, served: Serving
) -> dict[str, Facts]:
    """What the composite asks of each candidate that has a relevance."""
    relevance = scoring.relevance(found.fused(question), question.strategy)
    if not relevance:
        return {}
    if args.entity_names is None:
        names = entity_names.names_in(ctx.tx, args.query, question.scope.namespaces)
    else:
        names = entity_names.given_names(args.entity_names)
    mentions = Mentions(names)
    means = served.means(list(relevance))
    return {key: _fact(ctx, found.rows[key], place, mentions, means[key]) for key, place in relevance.items()}


def _fact(ctx: Context, row: MemoryRow, relevance: float, mentions: Mentions, mean: float | None) -> Facts:
    return Facts(
        relevance,
        row.salience,
        row.decay_factor,
        scoring.age_days(ctx.now_us, row.created_at),
        row.memory_type,
        mentions.in_text(row.content),
        mean,
    )


def _replaced(ctx: Context, question: Question, found: Found) -> set[str]:
    """The candidates that a live note replaces by an edge, or another candidate by its property `supersedes`."""
    namespaces = tuple(dict.fromkeys((*ctx.caller.visible, *question.scope.namespaces)))
    replaced = memories.superseded(ctx.tx, list(found.rows), namespaces)
    for row in found.rows.values():
        if row.supersedes is not None:
            named = _references(row.supersedes)
            replaced |= {key for key in found.rows if key.startswith(named) and key != row.id}
    return replaced


def _references(supersedes: str) -> tuple[str, ...]:
    """The ids and prefixes that the property holds: one text, or a list of them; anything else names nothing."""
    said = json.loads(supersedes)
    texts = said if isinstance(said, list) else [said]
    named = [classify(text) for text in texts if isinstance(text, str) and text.strip()]
    return tuple(reference.text for reference in named if reference.form != "name")


def _other_scope(ctx: Context, question: Question) -> int:
    """How many memories that the caller may see have the words and are kept out by the filters of the call."""
    visible = tuple(dict.fromkeys((*ctx.caller.visible, *question.scope.namespaces)))
    if question.scope.memories == ANY_MEMORY and set(visible) == set(question.scope.namespaces):
        return 0
    words = legs.text_leg(ctx.tx, question.terms, Scope(visible, KIND), RECALL_CANDIDATES_CAP, enough=1)
    return memories.outside(ctx.tx, [one.seq for one in words], question.scope.namespaces, question.scope.memories)


def _pending(ctx: Context, args: models.RecallArgs, scope: Scope) -> int:
    """How many memories of the scope no vector finds yet; 0 where no vector is asked."""
    if VECTOR not in PARTICIPANTS[args.fusion_strategy]:
        return 0
    return pending(ctx.engines[MAIN].read, ctx.embedders, "note", scope.namespaces, scope.kind, 0) or 0


# the answer


def _hit(
    args: models.RecallArgs, one: Scored, ranked: Ranked, served: Serving, shown: answers.Fitted, vectors: Vectors
) -> models.Recalled:
    facts, row = ranked.facts[one.id], ranked.found.rows[one.id]
    hit = answers.hit(one, row, facts, ranked.found.similarity.get(one.id))
    hit["serve_attribution"] = served.attribution
    if served.profile_id is not None:
        hit["served_by_profile_id"] = served.profile_id
    if args.include_breakdown:
        hit["breakdown"] = scoring.breakdown(facts, served.weights)
    if args.include_source_id:
        hit["source_id"] = _source(row)
    if args.include_superseded:
        hit["superseded"] = one.id in ranked.replaced
    if shown.left_out:
        hit["truncated"] = True
    if vectors.missing is not None:
        hit["degraded"] = answers.ANN_UNAVAILABLE
        hit["degraded_reason"] = vectors.missing
    return hit


def _source(row: MemoryRow) -> str | None:
    """The id of the record that the memory annotates; a property that holds something else says nothing."""
    said = None if row.source_id is None else json.loads(row.source_id)
    reference = classify(said) if isinstance(said, str) and said.strip() else None
    return reference.text if reference is not None and reference.form == "uuid" else None


def _leave_behind(
    ctx: Context, args: models.RecallArgs, ids: list[str], served: Serving, vectors: Vectors, latency_us: int
) -> None:
    """The event of the recall, and what the tuning learns from it; all of it after the answer."""
    payload: dict[str, object] = {
        "query": mask(args.query),
        "target_ids": ids,
        "hits": len(ids),
        "latency_us": latency_us,
        "fusion_strategy": args.fusion_strategy,
        "serve_attribution": served.attribution,
        "served_by_profile_id": served.profile_id,
        "degraded": vectors.missing is not None,
    }
    if vectors.missing is not None:
        payload["degraded_reason"] = vectors.missing
    if noted := serving.leave_behind(ctx, args.query, ids, served, latency_us):
        payload["serve_ledger_ids"] = noted
    ctx.emit("recall_executed", "note", None, payload)
