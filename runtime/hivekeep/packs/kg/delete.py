"""delete and restore: tombstones and their return.

Invariant: what restore brings back is what delete hid, text indexes included; what hard delete removes takes its edges
along in the same transaction.
"""

from typing import Any, cast

from hivekeep.identity.resolve import Wanted, resolve
from hivekeep.packs.context import Context
from hivekeep.packs.kg import shapes
from hivekeep.packs.kg.endpoints import check_note_rules
from hivekeep.packs.kg.update import CHANGEABLE, changeable, check_hint
from hivekeep.storage import edges, embedding_queue, entities, notes, records
from hivekeep.storage.edges import EdgeRow
from hivekeep.storage.entities import EntityRow
from hivekeep.storage.notes import NoteRow
from hivekeep.storage.records import Located
from hivekeep_contract.errors import (
    EndpointDeleted,
    LiveMergedEntity,
    MergeTombstone,
    NotFound,
    RestoreKeyConflict,
)
from hivekeep_contract.models import kg as models

TABLES: dict[str, Any] = {"entity": entities, "note": notes, "edge": edges}


def delete(ctx: Context, args: models.DeleteArgs) -> models.Deletion:
    """Delete a record; raises NotFound (also for a second soft delete), Ambiguous, InvalidInput."""
    found = changeable(ctx, args.id, include_deleted=args.hard)
    check_hint(ctx, "delete", args.kind, found)
    ctx.touch(found.substrate, found.id)
    table = TABLES[found.substrate]
    row = table.get(ctx.tx, found.id, include_deleted=True)
    if isinstance(row, NoteRow):
        ctx.rules_of(row.kind).remove(ctx, row, hard=args.hard)
    removed: list[EdgeRow] = []
    if args.hard:
        removed = table.hard_delete(ctx.tx, row)
    else:
        table.soft_delete(ctx.tx, row, ctx.now_us)
    embedding_queue.remove(ctx.tx, found.substrate, row.seq)
    if found.substrate == "entity":
        ctx.forget(found.id)
    _emit_deleted(ctx, found.substrate, found.id, found.namespace, args.hard)
    for edge in removed:
        _emit_deleted(ctx, "edge", edge.id, edge.namespace, args.hard)
    return {"deleted": True, "id": found.id, "kind": args.kind}


def _emit_deleted(ctx: Context, substrate: str, record_id: str, namespace: str, hard: bool) -> None:
    payload = {"id": record_id, "namespace": namespace, "hard": hard}
    ctx.emit(f"{substrate}_deleted", substrate, record_id, payload)


def restore(ctx: Context, args: models.RestoreArgs) -> models.RestoreResult:
    """Bring a tombstone back; a live record is left alone.

    Raises NotFound (absent, or outside the visible namespaces), then InvalidInput for a kind that does not fit, then
    the conflicts of the contract.
    """
    wanted = Wanted("id", CHANGEABLE, include_deleted=True, by_name=False)
    found = resolve(ctx.tx, args.id, wanted, ctx.caller)
    if found.namespace not in ctx.caller.visible:
        raise NotFound(f"id: not found: {args.id}", details={"param": "id", "id": args.id})
    check_hint(ctx, "restore", args.kind, found)
    ctx.touch(found.substrate, found.id)
    if found.substrate == "entity":
        return _restore_entity(ctx, found)
    if found.substrate == "note":
        return _restore_note(ctx, found)
    return _restore_edge(ctx, found)


def _restore_entity(ctx: Context, found: Located) -> models.RestoredEntity:
    row = entities.get(ctx.tx, found.id, include_deleted=True)
    assert row is not None
    if row.deleted_at is None and row.merged_into is None:
        return cast("models.RestoredEntity", {**shapes.entity(row), "restored": False})
    if row.deleted_at is None:
        raise LiveMergedEntity(
            f"restore: {row.id} is live but still carries merged_into {row.merged_into}",
            details={"reason": "live_merged_entity", "merged_into": row.merged_into},
        )
    if row.merged_into is not None:
        raise _merged_away(ctx, entities, row)
    stored = entities.restore(ctx.tx, row, ctx.now_us)
    _emit_restored(ctx, "entity", row.id, row.namespace)
    result = cast("models.RestoredEntity", {**shapes.entity(stored), "restored": True})
    if warnings := ctx.embed("entity", stored):
        result["warnings"] = warnings
    return result


def _merged_away(ctx: Context, table: Any, row: EntityRow | NoteRow) -> MergeTombstone:
    kept_id, kept = _last_kept(ctx, table, row)
    if kept is None:
        way = "which is gone for good, so nothing is left to restore"
    else:
        way = f"use {kept_id}" if kept.deleted_at is None else f"restore {kept_id}, which is deleted, and use it"
    return MergeTombstone(
        f"restore: {row.id} was merged into {kept_id} and cannot be restored alone; {way}",
        details={"reason": "merge_tombstone", "kept_id": kept_id},
    )


def _last_kept(ctx: Context, table: Any, row: EntityRow | NoteRow) -> tuple[str, EntityRow | NoteRow | None]:
    """The record at the end of the redirects of a merge tombstone; None when its row was removed."""
    seen = {row.id}
    while row.merged_into is not None and row.merged_into not in seen:
        seen.add(row.merged_into)
        following = table.get(ctx.tx, row.merged_into, include_deleted=True)
        if following is None:
            return row.merged_into, None
        row = following
    return row.id, row


def _restore_note(ctx: Context, found: Located) -> models.RestoredNote:
    row = notes.get(ctx.tx, found.id, include_deleted=True)
    assert row is not None
    if row.deleted_at is None:
        return cast("models.RestoredNote", {**shapes.note(row), "restored": False})
    if row.merged_into is not None:
        raise _merged_away(ctx, notes, row)
    _refuse_taken_key(ctx, row)
    ctx.rules_of(row.kind).restore(ctx, row)
    stored = notes.restore(ctx.tx, row, ctx.now_us)
    _emit_restored(ctx, "note", row.id, row.namespace)
    result = cast("models.RestoredNote", {**shapes.note(stored), "restored": True})
    if warnings := ctx.embed("note", stored):
        result["warnings"] = warnings
    return result


def _refuse_taken_key(ctx: Context, row: NoteRow) -> None:
    if row.key is None:
        return
    holder = notes.find_by_key(ctx.tx, row.namespace, row.kind, row.key)
    if holder is not None:
        raise RestoreKeyConflict(
            f"restore: the live note {holder.id} took the key {row.key!r} meanwhile; neither was changed",
            details={"reason": "restore_key_conflict", "key": row.key, "existing_id": holder.id},
        )


def _restore_edge(ctx: Context, found: Located) -> models.RestoredEdge:
    row = edges.get(ctx.tx, found.id, include_deleted=True)
    assert row is not None
    if row.deleted_at is None:
        return {**shapes.edge(row), "restored": False}
    ends: list[Located] = []
    for endpoint in (row.source_id, row.target_id):
        end = records.locate(ctx.tx, endpoint)
        if end is None or end.deleted_at is not None:
            raise EndpointDeleted(
                f"restore: the endpoint {endpoint} of edge {row.id} is deleted; restore it first",
                details={"reason": "endpoint_deleted", "endpoint_id": endpoint},
            )
        ends.append(end)
    source, target = ends
    check_note_rules(ctx, row.relation, source, target, ())
    stored = edges.restore(ctx.tx, row, ctx.now_us)
    payload = {"id": row.id, "changed_fields": ["deleted_at"], "previous": shapes.edge(row), "restored": True}
    ctx.emit("edge_updated", "edge", row.id, payload)
    return {**shapes.edge(stored), "restored": True}


def _emit_restored(ctx: Context, substrate: str, record_id: str, namespace: str) -> None:
    payload = {"id": record_id, "namespace": namespace, "changed_fields": ["deleted_at"], "restored": True}
    ctx.emit(f"{substrate}_updated", substrate, record_id, payload)
