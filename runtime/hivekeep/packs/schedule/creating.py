"""remind and schedule: one scheduled event with the proof of who made it, in one transaction.

Invariant: nothing is armed before the event that names its creator is written.
"""

from hivekeep.gate.secrets import refuse_secrets
from hivekeep.identity.ids import new_id
from hivekeep.packs.context import Context
from hivekeep.packs.schedule import actions, events, moments, provenance, recurrence
from hivekeep.packs.schedule.moments import Moment
from hivekeep.storage import notes
from hivekeep.storage.json_text import dump
from hivekeep.storage.notes import NoteRow
from hivekeep_contract.errors import InvalidInput, Unconfigured
from hivekeep_contract.models import schedule as models

DELIVERY_PACK = "comm"


def remind(ctx: Context, args: models.RemindArgs) -> models.Scheduled:
    """The reminder; raises InvalidInput, SecretDetected, and Unconfigured where nothing could deliver it."""
    due = _due(ctx, args.at)
    _check_repeat(args.repeat)
    if not ctx.loaded(DELIVERY_PACK):
        raise Unconfigured(
            "schedule.remind: a reminder is delivered with comm.send; load the pack comm (runtime.packs)",
            details={"setting": "runtime.packs"},
        )
    refuse_secrets((("content", args.content),))
    properties = events.new_properties(events.REMIND, due, args.at, args.repeat, ctx.caller.label)
    return _store(ctx, args.content, properties)


def schedule(ctx: Context, args: models.ScheduleArgs) -> models.Scheduled:
    """The scheduled call; raises InvalidInput and SecretDetected."""
    due = _due(ctx, args.at)
    _check_repeat(args.repeat)
    actions.check(ctx, args.action)
    refuse_secrets((("action", args.action),))
    properties = events.new_properties(events.SCHEDULE, due, args.at, args.repeat, ctx.caller.label)
    return _store(ctx, args.action, {**properties, "payload": args.action})


def _due(ctx: Context, text: str) -> Moment:
    try:
        due = moments.parse(text)
    except ValueError:
        raise InvalidInput(f"{ctx.verb}: 'at' must be {moments.ACCEPTED}; got {text!r}") from None
    if due.us <= ctx.now_us:
        raise InvalidInput(f"{ctx.verb}: 'at' must be later than now; got {text!r}")
    return due


def _check_repeat(repeat: str | None) -> None:
    if repeat is not None:
        recurrence.rule(repeat)


def _store(ctx: Context, content: str, properties: dict[str, object]) -> models.Scheduled:
    row = NoteRow(
        id=new_id(),
        namespace=ctx.namespace,
        kind=events.KIND,
        content=content,
        properties=dump(properties),
        created_at=ctx.now_us,
        updated_at=ctx.now_us,
    )
    row = row._replace(seq=notes.insert(ctx.tx, row))
    ctx.touch("note", row.id)
    ctx.emit("note_created", "note", row.id, {"id": row.id, "namespace": row.namespace, "kind": row.kind})
    provenance.record(ctx, row)
    armed = notes.update(ctx.tx, row, events.armed(events.read(row), ctx.now_us))
    said = events.public(events.read(armed))["properties"]
    told: models.Scheduled = {
        "id": armed.id,
        "full_id": armed.id,
        "event_type": said["event_type"],
        "trigger_at": said["trigger_at"],
        "repeat": said["repeat"],
        "status": said["status"],
    }
    if warnings := ctx.embed("note", armed):
        told["warnings"] = warnings
    return told
