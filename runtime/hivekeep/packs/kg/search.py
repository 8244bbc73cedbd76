"""search: ranked hits over entities or notes, and what each arm did."""

from hivekeep.packs.context import Context
from hivekeep.packs.kg.scopes import check_scope
from hivekeep.packs.ontology import KindRef
from hivekeep.search import hybrid
from hivekeep.search.hybrid import EntitySearch, Hit, NoteSearch, SearchResult
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.limits import SEARCH_CAP, SEARCH_QUERY_MAX_BYTES
from hivekeep_contract.models import kg as models

SEARCHABLE = ("entity", "note")


def search(ctx: Context, args: models.SearchArgs) -> models.SearchResult:
    """Hits best first; raises InvalidInput for a kind that is not searched and filters of another kind."""
    substrate = ctx.ontology.kind(args.kind).substrate
    if substrate not in SEARCHABLE:
        raise InvalidInput(f"search: kind={args.kind!r} is not searched; use list(kind={args.kind!r}) with its filters")
    check_scope("search", ctx.given, substrate)
    check_query("search", "query", args.query)
    found = _entities(ctx, args) if substrate == "entity" else _notes(ctx, args)
    ctx.beside = {
        "status": "complete",
        "arm_participation": hybrid.participation(args.text_mode, found.text_candidates),
    }
    ctx.emit("search_executed", substrate, None, _telemetry(args, found))
    return [_row(hit, substrate) for hit in found.hits]


def check_query(verb: str, param: str, query: str) -> None:
    """Refuse a query that is longer than a search takes; raises InvalidInput."""
    if len(query.encode()) > SEARCH_QUERY_MAX_BYTES:
        raise InvalidInput(f"{verb}: {param} must be at most {SEARCH_QUERY_MAX_BYTES} bytes")


def _entities(ctx: Context, args: models.SearchArgs) -> SearchResult:
    kind = ctx.ontology.one_kind(args.kind, substrate="entity", specific=args.entity_kind, param="entity_kind")
    wanted = EntitySearch(
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
    return hybrid.search_entities(ctx.tx, wanted)


def _entity_type(ctx: Context, args: models.SearchArgs, kind: KindRef) -> str | None:
    if args.entity_type is None:
        return kind.entity_type
    if kind.kind is not None:
        return ctx.ontology.entity_type(kind.kind, args.entity_type)
    return ctx.ontology.any_entity_type(args.entity_type)


def _notes(ctx: Context, args: models.SearchArgs) -> SearchResult:
    kind = ctx.ontology.one_kind(args.kind, substrate="note", specific=args.note_kind, param="note_kind")
    wanted = NoteSearch(
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
    return hybrid.search_notes(ctx.tx, wanted)


def _floor(args: models.SearchArgs) -> float:
    return next((value for value in (args.min_rank_score, args.min_score) if value is not None), 0.0)


def _row(hit: Hit, substrate: str) -> models.EntityHit | models.NoteHit:
    signals: models.Signals = {}
    if hit.keyword_score is not None:
        signals["keyword_score"] = hit.keyword_score
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
