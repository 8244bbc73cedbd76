"""search: ranked hits over entities or notes, and what each arm did."""

from typing import NamedTuple

from hivekeep.packs.context import MAIN, Context
from hivekeep.packs.kg.scopes import check_scope
from hivekeep.packs.ontology import KindRef
from hivekeep.search import hybrid
from hivekeep.search.hybrid import EntitySearch, Hit, NoteSearch, SearchResult
from hivekeep.search.meaning import Meaning, meaning_of, pending
from hivekeep.storage.engine import Tx
from hivekeep.storage.text_index import TextSubstrate
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.limits import SEARCH_CAP, SEARCH_QUERY_MAX_BYTES
from hivekeep_contract.models import kg as models

SEARCHABLE: tuple[TextSubstrate, ...] = ("entity", "note")


class Wanted(NamedTuple):
    """What is searched, and how: one of the two pipelines with its search."""

    substrate: TextSubstrate
    search: EntitySearch | NoteSearch

    def find(self, tx: Tx, meaning: Meaning) -> SearchResult:
        """The hits in the store as this snapshot has it."""
        if isinstance(self.search, EntitySearch):
            return hybrid.search_entities(tx, self.search, meaning)
        return hybrid.search_notes(tx, self.search, meaning)


def search(ctx: Context, args: models.SearchArgs) -> models.SearchResult:
    """Hits best first; raises InvalidInput for a kind that is not searched and filters of another kind.

    The vector of the query is made between two looks at the store, never during one; raises EmbedderUnavailable when
    its model cannot work.
    """
    wanted = _wanted(ctx, args)
    read, scope = ctx.engines[MAIN].read, wanted.search
    wait_ms = ctx.settings.embedding_wait_ms
    waiting = pending(read, ctx.embedders, wanted.substrate, scope.namespaces, scope.kind, wait_ms)
    meaning = meaning_of(read, ctx.embedders, args.query)
    with ctx.reading() as reading:
        found = wanted.find(reading.tx, meaning)
    ctx.beside = {"status": "complete", "arm_participation": hybrid.participation(args.text_mode, found, waiting)}
    ctx.emit("search_executed", wanted.substrate, None, _telemetry(args, found))
    return [_row(hit, wanted.substrate) for hit in found.hits]


def _wanted(ctx: Context, args: models.SearchArgs) -> Wanted:
    substrate = ctx.ontology.kind(args.kind).substrate
    if substrate not in SEARCHABLE:
        raise InvalidInput(f"search: kind={args.kind!r} is not searched; use list(kind={args.kind!r}) with its filters")
    check_scope("search", ctx.given, substrate)
    check_query("search", "query", args.query)
    if substrate == "entity":
        return Wanted("entity", _entities(ctx, args))
    return Wanted("note", _notes(ctx, args))


def check_query(verb: str, param: str, query: str) -> None:
    """Refuse a query that is longer than a search takes; raises InvalidInput."""
    if len(query.encode()) > SEARCH_QUERY_MAX_BYTES:
        raise InvalidInput(f"{verb}: {param} must be at most {SEARCH_QUERY_MAX_BYTES} bytes")


def _entities(ctx: Context, args: models.SearchArgs) -> EntitySearch:
    kind = ctx.ontology.one_kind(args.kind, substrate="entity", specific=args.entity_kind, param="entity_kind")
    return EntitySearch(
        query=args.query,
        namespaces=ctx.visible(args.namespace),
        kind=kind.kind,
        entity_type=_entity_type(ctx, args, kind),
        tags=tuple(args.tags or ()),
        properties=args.properties,
        text_mode=args.text_mode,
        limit=min(args.limit, SEARCH_CAP),
        floor=_floor(args),
        order_by=args.order_by,
    )


def _entity_type(ctx: Context, args: models.SearchArgs, kind: KindRef) -> str | None:
    if args.entity_type is None:
        return kind.entity_type
    if kind.kind is not None:
        return ctx.ontology.entity_type(kind.kind, args.entity_type)
    return ctx.ontology.any_entity_type(args.entity_type)


def _notes(ctx: Context, args: models.SearchArgs) -> NoteSearch:
    kind = ctx.ontology.one_kind(args.kind, substrate="note", specific=args.note_kind, param="note_kind")
    return NoteSearch(
        query=args.query,
        namespaces=ctx.visible(args.namespace),
        kind=kind.kind,
        tags=tuple(args.tags or ()),
        properties=args.properties,
        text_mode=args.text_mode,
        limit=min(args.limit, SEARCH_CAP),
        floor=_floor(args),
        order_by=args.order_by,
        include_superseded=bool(args.include_superseded),
    )


def _floor(args: models.SearchArgs) -> float:
    return next((value for value in (args.min_rank_score, args.min_score) if value is not None), 0.0)


def _row(hit: Hit, substrate: str) -> models.EntityHit | models.NoteHit:
    signals: models.Signals = {}
    if hit.keyword_score is not None:
        signals["keyword_score"] = hit.keyword_score
    if hit.similarity is not None:
        signals["vector_similarity"] = hit.similarity
    row: models.Hit = {
        "id": hit.id,
        "rank_score": hit.score,
        "rank_score_kind": "rrf",
        "signals": signals,
        "score": hit.score,
        "title": hit.title,
        "snippet": hit.snippet,
        "source": hit.source,
    }
    if substrate == "entity":
        return {**row, "entity_kind": hit.kind}
    return {**row, "note_kind": hit.kind}


def _telemetry(args: models.SearchArgs, found: SearchResult) -> dict[str, object]:
    return {
        "kind": args.kind,
        "query_chars": len(args.query),
        "text_mode": args.text_mode,
        "limit": args.limit,
        "hits": len(found.hits),
    }
