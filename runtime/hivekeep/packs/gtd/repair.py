"""repair: corrections of what other programs stored in tasks, each against the value that was observed.

Invariant: a task is judged and changed in the one transaction that also writes its history, so nothing can come
between. What was stored before the first repair of a field is kept for good. A preview judges the same way and writes
nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from hivekeep.identity.ids import classify
from hivekeep.packs.context import Context
from hivekeep.packs.gtd.fields import OF_REPAIR
from hivekeep.packs.gtd.shapes import properties_of, status_of
from hivekeep.storage import notes, task_census, task_history
from hivekeep.storage.json_text import dump
from hivekeep.storage.notes import NoteRow
from hivekeep.storage.task_census import Stored
from hivekeep.storage.task_fields import FINAL_STATUSES, KIND, STATUSES
from hivekeep.storage.task_history import Step
from hivekeep.times import iso
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.models import gtd as models

STATUS = "status"
TIMES = ("created_at", "updated_at")
INT64 = 1 << 63
HISTORY_NOTE = "repair"
_EVIDENCE = {"originals", "last"}
_ORIGINAL = {"value", "at", "actor"}
_LAST = {"at", "actor", "changes"}


class Refusal(Exception):
    """Why a task is left as it is; `stored` is what was read of it before."""

    def __init__(
        self, reason: models.RepairRefusal, message: str, stored: Mapping[str, str | None] | None = None
    ) -> None:
        super().__init__(message)
        self.reason: models.RepairRefusal = reason
        self.stored = dict(stored or {})


class Item(NamedTuple):
    """One task of the call with its corrections."""

    id: str
    changes: Mapping[str, models.RepairChange]


class Judged(NamedTuple):
    """A task whose corrections pass every check, and what is stored of the fields that they name."""

    row: NoteRow
    stored: Mapping[str, str | None]


def repair(ctx: Context, args: models.RepairArgs) -> models.RepairReport:
    """What was corrected, or would be; raises InvalidInput for a call that is not well formed."""
    items = _items(args.items)
    results = [ctx.write(_then(item, apply=True)) for item in items] if args.apply else _preview(ctx, items)
    accepted = sum(result["accepted"] for result in results)
    return {
        "apply": args.apply,
        "accepted": accepted,
        "applied": sum(result["applied"] for result in results),
        "refused": len(results) - accepted,
        "results": results,
    }


def _items(wanted: Sequence[models.RepairItemsItem]) -> list[Item]:
    """The items with canonical ids, each once; raises InvalidInput."""
    items: dict[str, Item] = {}
    for index, item in enumerate(wanted):
        ref = classify(item["id"])
        if ref.form != "uuid":
            raise InvalidInput(f"gtd.repair: 'items[{index}].id' must be a full UUID; got {item['id']!r}")
        if ref.text in items:
            raise InvalidInput(f"gtd.repair: 'items[{index}].id' repeats {ref.text}; name each task once")
        if not item["changes"]:
            raise InvalidInput(f"gtd.repair: 'items[{index}].changes' must name at least one field")
        items[ref.text] = Item(ref.text, item["changes"])
    return list(items.values())


def _preview(ctx: Context, items: Sequence[Item]) -> list[models.RepairResult]:
    with ctx.reading() as snapshot:
        return [_then(item, apply=False)(snapshot) for item in items]


def _then(item: Item, *, apply: bool) -> Callable[[Context], models.RepairResult]:
    """What is done with one item in a transaction of its own."""

    def carry_out(ctx: Context) -> models.RepairResult:
        try:
            judged = _judge(ctx, item)
        except Refusal as refusal:
            return _result(item, refusal.stored, refusal=refusal)
        if apply:
            _apply(ctx, item, judged)
        return _result(item, judged.stored, applied=apply)

    return carry_out


def _result(
    item: Item, stored: Mapping[str, str | None], *, applied: bool = False, refusal: Refusal | None = None
) -> models.RepairResult:
    return {
        "id": item.id,
        "accepted": refusal is None,
        "applied": applied,
        "stored": dict(stored),
        "proposed": {name: change["value"] for name, change in item.changes.items()},
        "reason": None if refusal is None else refusal.reason,
        "message": None if refusal is None else str(refusal),
    }


def _judge(ctx: Context, item: Item) -> Judged:
    """The task, when every correction of the item may be made; raises Refusal."""
    row = _live_task(ctx, item.id)
    for name, change in item.changes.items():
        _check_proposed(name, change["value"])
    source = task_census.stored(ctx.tx, row.id)
    if source.properties_type != "object":
        raise Refusal("invalid_properties", f"the properties of task {row.id} are no object")
    values = {"created_at": str(row.created_at), "updated_at": str(row.updated_at), STATUS: source.status}
    stored = {name: values[name] for name in item.changes}
    for name, change in item.changes.items():
        if change["observed"] != stored[name]:
            raise Refusal("stale_observed", f"{name!r} is stored as {stored[name]}, not {change['observed']}", stored)
    if STATUS in item.changes:
        _check_status(row, source, stored)
    if not _well_formed(properties_of(row).get(OF_REPAIR, {})):
        raise Refusal(
            "invalid_repair_history", f"properties.{OF_REPAIR} of task {row.id} was not written by a repair", stored
        )
    return Judged(row, stored)


def _live_task(ctx: Context, note_id: str) -> NoteRow:
    row = notes.get(ctx.tx, note_id, include_deleted=True)
    if row is None:
        raise Refusal("not_found", f"there is no note {note_id}")
    if row.kind != KIND:
        raise Refusal("not_task", f"note {note_id} is of the kind {row.kind}")
    if row.deleted_at is not None:
        raise Refusal("deleted", f"task {note_id} is deleted; restore it first")
    return row


def _check_proposed(name: str, value: Any) -> None:
    if name == STATUS:
        if value not in FINAL_STATUSES:
            raise Refusal("invalid_target", f"{name!r} can become one of {', '.join(FINAL_STATUSES)} alone")
    elif name not in TIMES:
        raise Refusal("unsupported_field", f"{name!r} is not repaired; accepted: {', '.join((*TIMES, STATUS))}")
    elif type(value) is not int or not -INT64 <= value < INT64:
        raise Refusal("invalid_target", f"{name!r} must be a whole number of microseconds of at most 64 bits")


def _check_status(row: NoteRow, source: Stored, stored: Mapping[str, str | None]) -> None:
    if source.status_type != "text":
        raise Refusal(
            "lifecycle_status",
            f"the status of task {row.id} is no text and counts as inbox; use gtd.complete or gtd.transition",
            stored,
        )
    if status_of(properties_of(row)) in STATUSES:
        raise Refusal("canonical_status", f"{stored[STATUS]} is a status; use gtd.complete or gtd.transition", stored)


def _well_formed(evidence: Any) -> bool:
    """Whether this is nothing yet, or what a repair leaves behind."""
    if evidence == {}:
        return True
    if not isinstance(evidence, dict) or evidence.keys() != _EVIDENCE:
        return False
    originals, last = evidence["originals"], evidence["last"]
    return (
        isinstance(originals, dict)
        and isinstance(last, dict)
        and last.keys() == _LAST
        and isinstance(last["changes"], dict)
        and all(
            name in (*TIMES, STATUS) and isinstance(original, dict) and original.keys() == _ORIGINAL
            for name, original in originals.items()
        )
    )


def _apply(ctx: Context, item: Item, judged: Judged) -> None:
    """Store the corrections, what stood there before, and the row of the history."""
    row, properties = judged.row, properties_of(judged.row)
    came_from = status_of(properties)
    values = {name: change["value"] for name, change in item.changes.items()}
    if STATUS in values:
        properties[STATUS] = values.pop(STATUS)
    at, actor = iso(ctx.now_us), ctx.caller.label
    first = {name: {"value": stored, "at": at, "actor": actor} for name, stored in judged.stored.items()}
    properties[OF_REPAIR] = {
        "originals": {**first, **properties.get(OF_REPAIR, {}).get("originals", {})},
        "last": {"at": at, "actor": actor, "changes": dict(item.changes)},
    }
    notes.update(ctx.tx, row, row._replace(**values, properties=dump(properties)))
    task_history.add(ctx.tx, Step(row.id, row.namespace, came_from, status_of(properties), HISTORY_NOTE, ctx.now_us))
    ctx.touch("note", row.id)
    payload = {"id": row.id, "namespace": row.namespace, "changed_fields": sorted({*values, "properties"})}
    ctx.emit("note_updated", "note", row.id, payload)
