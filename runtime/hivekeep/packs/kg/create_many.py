"""create: one record, or the records of `items` in one transaction.

Invariant: an item means what the same fields mean in a create of their own; it only takes fewer of them.
"""

from collections.abc import Sequence
from typing import Any, cast

from hivekeep.packs.context import Context
from hivekeep.packs.kg import shapes
from hivekeep.packs.kg.bulk import failure, judge, refuse_others
from hivekeep.packs.kg.create import create_one, created, entity_row, kind_of, note_row
from hivekeep.packs.kg.scopes import a
from hivekeep.storage import entities, notes
from hivekeep.storage.entities import EntityRow
from hivekeep.storage.notes import NoteRow
from hivekeep_contract.catalog import VERBS
from hivekeep_contract.errors import HivekeepError, InvalidInput
from hivekeep_contract.models import kg as models

BESIDE_ITEMS = ("atomic", "verbose", "namespace")
ITEM_FIELDS = {"entity": tuple(models.EntityItem.__annotations__), "note": tuple(models.NoteItem.__annotations__)}
"""The fields of an item by substrate, in the order of the contract."""
_KNOWN = frozenset(ITEM_FIELDS["entity"] + ITEM_FIELDS["note"])
_OF_SINGLES = frozenset(param.name for param in VERBS["create"].params) - _KNOWN

Row = EntityRow | NoteRow


def create(ctx: Context, args: models.CreateArgs) -> models.CreateResult:
    """One record, or what became of many; raises InvalidInput, NotFound, KeyConflict, SecretDetected."""
    return create_one(ctx, args) if args.items is None else _create_many(ctx, args, args.items)


def _create_many(ctx: Context, args: models.CreateArgs, items: Sequence[dict[str, Any]]) -> models.BulkCreated:
    refuse_others(ctx, args, "items", BESIDE_ITEMS)
    ctx.model_runs = 0
    judged = judge(items, lambda item: _row(ctx, item), param="items", atomic=args.atomic)
    rows = [row for row in judged if not isinstance(row, HivekeepError)]
    made = [row for row in rows if isinstance(row, EntityRow)]
    entities.insert_many(ctx.tx, made)
    noted = [row for row in rows if isinstance(row, NoteRow)]
    notes.insert_many(ctx.tx, noted)
    for note in noted:
        ctx.rules_of(note.kind).made(ctx, note)
    ctx.emit_all([created(row) for row in rows])
    ctx.mention(*(row.id for row in made))
    report: models.BulkCreated = {
        "attempted": len(items),
        "created": len(rows),
        "skipped": 0,
        "failed": len(items) - len(rows),
        "results": [_result(index, outcome, args.verbose) for index, outcome in enumerate(judged)],
    }
    if args.verbose:
        report["entities"] = [shapes.entity(row) for row in made]
    return report


def _row(ctx: Context, item: dict[str, Any]) -> Row:
    """The record that an item describes; raises InvalidInput and SecretDetected."""
    _check_known(item)
    args, given = ctx.read_entry(item)
    kind = kind_of(ctx, args)
    fields = ITEM_FIELDS[kind.substrate]
    for name in sorted(given.difference(fields)):
        other = "note" if kind.substrate == "entity" else "entity"
        raise InvalidInput(
            f"create: {name!r} is for {a(other)}, and this item is {a(kind.substrate)}; accepted: {', '.join(fields)}"
        )
    return entity_row(ctx, args, kind) if kind.substrate == "entity" else note_row(ctx, args, kind)


def _check_known(item: dict[str, Any]) -> None:
    for name in item:
        if name in _OF_SINGLES:
            raise InvalidInput(f"create: an item takes no {name!r}; create that record with a call of its own")
    if item.get("kind") is None:
        raise InvalidInput("create: 'kind' is required in every item; it must be a string")
    for name in item:
        if name not in _KNOWN:
            accepted = "; ".join(f"{substrate}: {', '.join(fields)}" for substrate, fields in ITEM_FIELDS.items())
            raise InvalidInput(f"create: unknown field {name!r} in an item; accepted: {accepted}")


def _result(index: int, outcome: Row | HivekeepError, verbose: bool) -> models.ItemSuccess | models.ItemFailure:
    if isinstance(outcome, HivekeepError):
        error = failure(outcome)
        return {"index": index, "ok": False, "domain_disposition": error["domain_disposition"], "error": error}
    return {"index": index, "ok": True, "result": _made(outcome, verbose)}


def _made(row: Row, verbose: bool) -> models.ItemReceipt | models.ItemEntity | models.ItemNote:
    if not verbose:
        return {"id": row.id, "kind": row.kind, "created": True}
    if isinstance(row, EntityRow):
        return {**shapes.entity(row), "created": True}
    return cast("models.ItemNote", {**shapes.note(row), "created": True})
