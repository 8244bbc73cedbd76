"""list: pages of live records, by offset or along a cursor."""

from collections.abc import Callable, Sequence

from hivekeep.identity.caller import filter_labels, shown_as
from hivekeep.identity.ids import classify
from hivekeep.identity.resolve import Wanted, resolve
from hivekeep.packs.context import Context
from hivekeep.packs.kg import shapes
from hivekeep.packs.kg.message_filters import message_traits
from hivekeep.packs.kg.paging import Limit, clamp
from hivekeep.packs.kg.scopes import check_scope
from hivekeep.packs.ontology import KindRef
from hivekeep.storage import edges, entities, events, notes, proposals
from hivekeep.storage.edges import EdgeFilter, EdgeRow
from hivekeep.storage.entities import EntityFilter, EntityRow
from hivekeep.storage.events import EventFilter
from hivekeep.storage.notes import NoteFilter, NoteRow
from hivekeep.storage.proposals import ProposalFilter
from hivekeep_contract.errors import InvalidInput, NotFound
from hivekeep_contract.limits import LIST_CAP
from hivekeep_contract.models import kg as models

Items = (
    Sequence[models.Entity]
    | Sequence[models.Note]
    | Sequence[models.Edge]
    | Sequence[models.Event]
    | Sequence[models.ProposalRow]
)


def list_records(ctx: Context, args: models.ListArgs) -> models.ListResult:
    """One page; raises InvalidInput for filters of another kind, NotFound for a cursor or endpoint that is gone."""
    kind = ctx.ontology.kind(args.kind)
    check_scope("list", ctx.given, kind.substrate)
    limit = clamp(args.limit, LIST_CAP[kind.substrate])
    if args.after is not None and limit.effective == 0:
        raise InvalidInput("list: limit must be at least 1 in a cursor walk (after), got 0")
    return _PAGES[kind.substrate](ctx, args, kind, limit)


def _entities(ctx: Context, args: models.ListArgs, kind: KindRef, limit: Limit) -> models.ListResult:
    kind = ctx.ontology.one_kind(args.kind, substrate="entity", specific=args.entity_kind, param="entity_kind")
    entity_type = args.entity_type if args.entity_type is not None else kind.entity_type
    filters = EntityFilter(kind.kind, entity_type, tuple(args.tags or ()))
    namespaces = ctx.visible(args.namespace)
    if args.after is None:
        rows = entities.list_page(ctx.tx, namespaces, filters, limit=limit.effective, offset=args.offset)
        return _offset_page([shapes.entity(row) for row in rows], limit)
    start = _boundary(ctx, args.after, "entity", namespaces, _find_entity)
    page = entities.list_after(ctx.tx, namespaces, filters, limit=limit.effective, after_seq=start)
    return {
        "entities": [shapes.entity(row) for row in page.rows],
        "next_after": page.next_after,
        **limit.report(),
    }


def _notes(ctx: Context, args: models.ListArgs, kind: KindRef, limit: Limit) -> models.ListResult:
    kind = ctx.ontology.one_kind(args.kind, substrate="note", specific=args.note_kind, param="note_kind")
    filters = NoteFilter(kind.kind, tuple(args.tags or ()), message_traits(ctx, args, kind))
    namespaces = ctx.visible(args.namespace)
    if args.after is None:
        rows = notes.list_page(ctx.tx, namespaces, filters, limit=limit.effective, offset=args.offset)
        return _offset_page([shapes.note(row, parse_content=args.parse_content) for row in rows], limit)
    start = _boundary(ctx, args.after, "note", namespaces, _find_note)
    page = notes.list_after(ctx.tx, namespaces, filters, limit=limit.effective, after_seq=start)
    shown: models.NotePage = {
        "notes": [shapes.note(row, parse_content=args.parse_content) for row in page.rows],
        "next_after": page.next_after,
        "requested_limit": limit.requested,
        "effective_limit": limit.effective,
        "limit_clamped": limit.clamped,
    }
    if page.scan_incomplete:
        shown["scan_incomplete"] = True
    return shown


def _edges(ctx: Context, args: models.ListArgs, kind: KindRef, limit: Limit) -> models.ListResult:
    filters = EdgeFilter(
        source_id=_endpoint(ctx, "source_id", args.source_id),
        target_id=_endpoint(ctx, "target_id", args.target_id),
        relations=tuple(args.relations or ()),
        min_weight=args.min_weight,
        max_weight=args.max_weight,
    )
    namespaces = ctx.visible(args.namespace)
    if args.after is None:
        rows = edges.list_page(ctx.tx, namespaces, filters, limit=limit.effective, offset=args.offset)
        return _offset_page([shapes.edge(row) for row in rows], limit)
    start = _boundary(ctx, args.after, "edge", namespaces, _find_edge)
    page = edges.list_after(ctx.tx, namespaces, filters, limit=limit.effective, after_seq=start)
    return {"edges": [shapes.edge(row) for row in page.rows], "next_after": page.next_after, **limit.report()}


def _events(ctx: Context, args: models.ListArgs, kind: KindRef, limit: Limit) -> models.ListResult:
    filters = EventFilter(
        kinds=_union(args.event_kind, args.event_kinds),
        verbs=_union(args.verb, args.verbs),
        outcome=args.outcome,
        actors=() if args.actor is None else filter_labels(args.actor),
        substrate=args.substrate,
        target_id=_endpoint(ctx, "target_id", args.target_id, include_deleted=True),
        session_id=args.session_id,
        since=args.since,
        until=args.until,
        observed=tuple(args.observed or ()),
        selected=tuple(args.selected or ()),
    )
    page = events.list_page(ctx.tx, ctx.visible(args.namespace), filters, limit=limit.effective, offset=args.offset)
    return _offset_page([shapes.event(row) for row in page.rows], limit, scan_incomplete=page.scan_incomplete)


def _proposals(ctx: Context, args: models.ListArgs, kind: KindRef, limit: Limit) -> models.ListResult:
    filters = ProposalFilter(
        status=args.status,
        proposers=() if args.proposer is None else shown_as(args.proposer),
        actors=() if args.actor is None else shown_as(args.actor),
    )
    # The namespace is the named one or the caller's own, as for every verb on proposals.
    rows = proposals.list_page(ctx.tx, (ctx.namespace,), filters, limit=limit.effective, offset=args.offset)
    return _offset_page([shapes.proposal_row(row) for row in rows], limit)


def _offset_page(items: Items, limit: Limit, *, scan_incomplete: bool = False) -> models.OffsetPage:
    page: models.OffsetPage = {
        "items": list(items),
        "requested_limit": limit.requested,
        "effective_limit": limit.effective,
        "limit_clamped": limit.clamped,
    }
    if scan_incomplete:
        page["scan_incomplete"] = True
    return page


_PAGES: dict[str, Callable[[Context, models.ListArgs, KindRef, Limit], models.ListResult]] = {
    "entity": _entities,
    "note": _notes,
    "edge": _edges,
    "event": _events,
    "proposal": _proposals,
}


def _boundary(
    ctx: Context,
    after: str,
    substrate: str,
    namespaces: tuple[str, ...],
    find: Callable[[Context, str], EntityRow | NoteRow | EdgeRow | None],
) -> int:
    """The insertion sequence behind which the page starts; a deleted cursor row is still a valid boundary.

    Raises InvalidInput for anything but a full UUID, NotFound for a row that is gone or not visible.
    """
    if after == "":
        return 0
    ref = classify(after)
    if ref.form != "uuid":
        raise InvalidInput(
            f'list: after must be "" or a full UUID from next_after, got {after!r}; '
            "a prefix is refused because the walk needs one stable boundary"
        )
    row = find(ctx, ref.text)
    if row is None or row.namespace not in namespaces:
        raise NotFound(
            f'after: the cursor {ref.text} names no {substrate} that is visible here; begin anew with after=""',
            details={"param": "after", "id": ref.text},
        )
    return row.seq


def _find_entity(ctx: Context, record_id: str) -> EntityRow | None:
    return entities.get(ctx.tx, record_id, include_deleted=True)


def _find_note(ctx: Context, record_id: str) -> NoteRow | None:
    return notes.get(ctx.tx, record_id, include_deleted=True)


def _find_edge(ctx: Context, record_id: str) -> EdgeRow | None:
    return edges.get(ctx.tx, record_id, include_deleted=True)


def _endpoint(ctx: Context, param: str, text: str | None, *, include_deleted: bool = False) -> str | None:
    """The full id of a filter; a full UUID filters as it is, whether or not it exists."""
    if text is None or classify(text).form == "uuid":
        return text
    return resolve(ctx.tx, text, Wanted(param, include_deleted=include_deleted), ctx.caller).id


def _union(one: str | None, many: Sequence[str] | None) -> tuple[str, ...]:
    return ((one,) if one is not None else ()) + tuple(many or ())
