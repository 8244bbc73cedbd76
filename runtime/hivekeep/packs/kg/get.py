"""get: one record of any kind by id, along merge redirects."""

from typing import cast

from hivekeep.identity.resolve import Wanted, resolve
from hivekeep.packs.context import Context
from hivekeep.packs.kg import shapes
from hivekeep.packs.kg.proposals import proposed
from hivekeep.packs.kg.redirects import kept
from hivekeep.storage import edges, entities, events, notes, proposals
from hivekeep.storage.entities import EntityRow
from hivekeep.storage.records import Located
from hivekeep_contract.errors import Ambiguous, NotFound, RecordNotFound
from hivekeep_contract.models import kg as models

DELETABLE = ("entity", "note", "edge")
_FULL_ID_CHARS = 36


def get(ctx: Context, args: models.GetArgs) -> models.GetResult:
    """The record; raises RecordNotFound, Ambiguous, RedirectCycle, RedirectChainTooLong, InvalidInput."""
    if not args.include_deleted and len(args.id) == _FULL_ID_CHARS:
        # Most full ids name entities: reading the row at once spares asking first where the id lives. A name of this
        # length costs one look in vain.
        row = entities.get(ctx.tx, args.id, include_deleted=True)
        if row is not None:
            return _entity(ctx, row, args)
    found = _find(ctx, args)
    if found.substrate == "entity":
        return _entity(ctx, entities.get(ctx.tx, found.id, include_deleted=True), args)
    if found.substrate == "proposal":
        return _proposal(ctx, found)
    ctx.touch(found.substrate, found.id)
    if found.substrate == "note":
        note = notes.get(ctx.tx, found.id, include_deleted=args.include_deleted)
        if note is not None:
            return shapes.note(note, parse_content=args.parse_content)
    elif found.substrate == "edge":
        edge = _edge(ctx, found, args)
        if edge is not None:
            return edge
    else:
        event = events.get(ctx.tx, found.id)
        if event is not None:
            shown = shapes.event(event)
            return {**shown, "kind": "event", "event_kind": shown["kind"]}
    raise _gone(found.id)


def _find(ctx: Context, args: models.GetArgs) -> Located:
    """Where the id leads; merged entities are found although they are deleted, to be followed."""
    try:
        found = resolve(ctx.tx, args.id, Wanted("id", include_deleted=False), ctx.caller)
    except NotFound:
        found = _tombstone(ctx, args)
    if found.deleted_at is not None and args.include_deleted and found.namespace not in ctx.caller.visible:
        raise _gone(args.id)
    return found


def _tombstone(ctx: Context, args: models.GetArgs) -> Located:
    """A deleted record that may be shown: asked for, or an entity that leads on. Raises RecordNotFound."""
    substrates = DELETABLE if args.include_deleted else ("entity",)
    try:
        return resolve(ctx.tx, args.id, Wanted("id", substrates, include_deleted=True, by_name=False), ctx.caller)
    except (NotFound, Ambiguous) as error:
        if isinstance(error, Ambiguous) and args.include_deleted:
            raise
        raise _gone(args.id) from None


def _entity(ctx: Context, row: EntityRow | None, args: models.GetArgs) -> models.FetchedEntity:
    walked: list[str] = []
    if row is not None and row.deleted_at is not None and not args.include_deleted:
        row, walked = kept(ctx.tx, row)
    if row is None:
        raise _gone(args.id)
    ctx.touch("entity", row.id)
    if row.deleted_at is None:
        ctx.mention(row.id)
    shown = cast("models.FetchedEntity", shapes.entity(row))
    if walked:
        ctx.ask_gate("get", {"id": row.id})
        shown["redirected_from"] = walked
    return shown


def _edge(ctx: Context, found: Located, args: models.GetArgs) -> models.FetchedEdge | None:
    row = edges.get(ctx.tx, found.id, include_deleted=args.include_deleted)
    if row is None:
        return None
    return {**shapes.edge(row), "kind": "edge", "annotations": _annotations(ctx, row.id)}


def _proposal(ctx: Context, found: Located) -> models.Proposal:
    row = proposals.get(ctx.tx, found.id)
    if row is None or row.namespace != ctx.namespace:
        raise _gone(found.id)
    ctx.touch("event", row.id)
    return shapes.proposal(row, proposed(ctx, row))


def _annotations(ctx: Context, edge_id: str) -> list[models.Annotation]:
    """The live notes about an edge, in every namespace, oldest annotation first."""
    about = [
        row
        for row in edges.incident(ctx.tx, [edge_id])
        if row.relation == "annotates" and row.target_id == edge_id and row.deleted_at is None
    ]
    rows = notes.get_many(ctx.tx, [row.source_id for row in about])
    return [
        {**shapes.note(rows[row.source_id]), "annotation_edge_id": row.id} for row in about if row.source_id in rows
    ]


def _gone(ref: str) -> RecordNotFound:
    return RecordNotFound(f"not found: {ref}", details={"id": ref})
