"""complete and transition: a task leaves one status for another.

Invariant: the table of the contract decides, and the row of the history is in the transaction of the change. Both verbs
run in a transaction that keeps every other writer out, so what was read is what is changed.
"""

from typing import Any, cast

from hivekeep.gate.secrets import refuse_secrets
from hivekeep.identity.resolve import Wanted, resolve
from hivekeep.packs.context import Context
from hivekeep.packs.gtd import shapes
from hivekeep.packs.gtd.dependencies import CANCELLED
from hivekeep.packs.gtd.shapes import properties_of, status_of
from hivekeep.storage import notes, task_history
from hivekeep.storage.json_text import dump
from hivekeep.storage.notes import NoteRow
from hivekeep.storage.task_fields import DONE, FINAL_STATUSES, KIND, STATUSES
from hivekeep.storage.task_history import Step
from hivekeep.times import iso
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.models import gtd as models
from hivekeep_contract.vocabulary import TRANSITIONS

WAYS = TRANSITIONS["gtd.status"]
STAYED = "already in target status"
DUPLICATE = "duplicate_of"


def complete(ctx: Context, args: models.CompleteArgs) -> models.CompletedTask:
    """The task that has ended; raises InvalidInput, NotFound, Ambiguous, SecretDetected."""
    refuse_secrets((("result", args.result),))
    _check_duplicate(args.duplicate_of, args.status, ctx)
    row = _found(ctx, args.id)
    came_from = _standing(ctx, row)
    if came_from in FINAL_STATUSES:
        raise InvalidInput(f"gtd.complete: task {row.id} is {came_from}, and nothing leads on from there")
    said = _duplicate(ctx, row, args.duplicate_of)
    if args.result is not None:
        said["result"] = args.result
    ended = iso(ctx.now_us)
    _move(ctx, row, came_from, args.status, args.result, {**said, "completed_at": ended})
    return {
        "completed": True,
        "id": row.id,
        "full_id": row.id,
        "from": came_from,
        "to": args.status,
        "completed_at": ended,
        "is_terminal": True,
        "audit_persisted": True,
    }


def transition(ctx: Context, args: models.TransitionArgs) -> models.TransitionResult:
    """The task where it stands now; raises InvalidInput, NotFound, Ambiguous, SecretDetected."""
    refuse_secrets((("note", args.note),))
    _check_duplicate(args.duplicate_of, args.status, ctx)
    row = _found(ctx, args.id)
    came_from = _standing(ctx, row)
    if came_from == args.status:
        return _stayed(ctx, row, args)
    if came_from in FINAL_STATUSES:
        raise InvalidInput(f"gtd.transition: task {row.id} is {came_from}, and nothing leads on from there")
    if args.status not in WAYS[came_from]:
        raise InvalidInput(
            f"gtd.transition: nothing leads from {came_from} to {args.status}; accepted: {', '.join(WAYS[came_from])}"
        )
    said = _duplicate(ctx, row, args.duplicate_of)
    if args.note is not None:
        said["transition_note"] = args.note
    if args.status == DONE:
        said["completed_at"] = iso(ctx.now_us)
    told = shapes.task(_move(ctx, row, came_from, args.status, args.note, said))
    return {
        "transitioned": True,
        "id": row.id,
        "full_id": row.id,
        "from": came_from,
        "to": args.status,
        "is_terminal": args.status in FINAL_STATUSES,
        "title": told["title"],
        "priority": told["priority"],
        "assignee": told["assignee"],
        "due": told["due"],
        "audit_persisted": True,
    }


def _stayed(ctx: Context, row: NoteRow, args: models.TransitionArgs) -> models.UnmovedTask:
    """The answer for a task that stands there already; a duplicate must be the one that is recorded."""
    if args.duplicate_of is not None:
        recorded = properties_of(row).get(DUPLICATE)
        if _partner(ctx, row, args.duplicate_of, include_deleted=True).id != recorded:
            raise InvalidInput(
                f"gtd.transition: task {row.id} is {args.status} already, and its {DUPLICATE!r} is "
                f"{recorded or 'not recorded'}; it cannot be changed"
            )
    ctx.touch("note", row.id)
    told: models.UnmovedTask = {
        "transitioned": False,
        "id": row.id,
        "full_id": row.id,
        "from": args.status,
        "to": args.status,
        "note": STAYED,
    }
    if args.note is not None:
        told["note_recorded"] = False
    return told


def _found(ctx: Context, reference: str) -> NoteRow:
    """The live task of a reference in any namespace; raises NotFound, Ambiguous, InvalidInput for another kind."""
    return _task(ctx, "id", reference, include_deleted=False)


def _task(ctx: Context, param: str, reference: str, *, include_deleted: bool) -> NoteRow:
    wanted = Wanted(param, ("note",), include_deleted=include_deleted, by_name=False)
    found = resolve(ctx.tx, reference, wanted, ctx.caller)
    if found.kind != KIND:
        raise InvalidInput(f"{ctx.verb}: {param!r} must name a task; {found.id} is of the kind {found.kind}")
    row = notes.get(ctx.tx, found.id, include_deleted=include_deleted)
    assert row is not None
    return row


def _standing(ctx: Context, row: NoteRow) -> models.Status:
    """Where a task stands; raises InvalidInput when that is no status."""
    stored = status_of(properties_of(row))
    if stored not in STATUSES:
        raise InvalidInput(
            f"{ctx.verb}: the stored status {stored!r} of task {row.id} is none of {', '.join(STATUSES)}; "
            "correct it with gtd.repair"
        )
    return cast("models.Status", stored)


def _check_duplicate(duplicate_of: str | None, status: str, ctx: Context) -> None:
    if duplicate_of is not None and status != CANCELLED:
        raise InvalidInput(f"{ctx.verb}: {DUPLICATE!r} is for status={CANCELLED!r} alone, not for {status!r}")


def _duplicate(ctx: Context, row: NoteRow, reference: str | None) -> dict[str, Any]:
    """The property that names the task which stands for the same; raises NotFound, Ambiguous, InvalidInput."""
    if reference is None:
        return {}
    return {DUPLICATE: _partner(ctx, row, reference, include_deleted=False).id}


def _partner(ctx: Context, row: NoteRow, reference: str, *, include_deleted: bool) -> NoteRow:
    partner = _task(ctx, DUPLICATE, reference, include_deleted=include_deleted)
    if partner.id == row.id:
        raise InvalidInput(f"{ctx.verb}: {DUPLICATE!r} must name another task than {row.id}")
    return partner


def _move(ctx: Context, row: NoteRow, came_from: str, to: str, note: str | None, said: dict[str, Any]) -> NoteRow:
    """Store the new status with what is said of it, its row in the history, and its event."""
    properties = {**properties_of(row), "status": to, **said}
    stored = notes.update(ctx.tx, row, row._replace(properties=dump(properties), updated_at=ctx.now_us))
    task_history.add(ctx.tx, Step(row.id, row.namespace, came_from, to, note, ctx.now_us))
    ctx.touch("note", row.id)
    ctx.emit(
        "task_transitioned", "note", row.id, {"id": row.id, "namespace": row.namespace, "from": came_from, "to": to}
    )
    return stored
