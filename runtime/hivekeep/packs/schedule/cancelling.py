"""cancel: withdraw what is still pending.

Invariant: an event is withdrawn or carried out, never both: the row only changes from the version that was read.
"""

from hivekeep.identity.resolve import Wanted, resolve
from hivekeep.packs.context import Context
from hivekeep.packs.schedule import events
from hivekeep.storage import notes
from hivekeep.times import iso
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.models import schedule as models

FINDABLE = ("entity", "note")


def cancel(ctx: Context, args: models.CancelArgs) -> models.Cancelled:
    """The withdrawn event; raises NotFound, Ambiguous, and InvalidInput for one that is not pending."""
    wanted = Wanted("id", FINDABLE, by_name=False, namespaces=(ctx.caller.namespace,))
    found = resolve(ctx.tx, args.id, wanted, ctx.caller)
    if found.kind != events.KIND:
        raise InvalidInput(f"schedule.cancel: {found.id} is no scheduled_event; it is of the kind {found.kind}")
    row = notes.get(ctx.tx, found.id)
    assert row is not None
    event = events.read(row)
    events.refuse_unless_pending(event)
    ctx.touch("note", row.id)
    withdrawn = events.read(notes.update(ctx.tx, row, events.cancelled(event, ctx.now_us)))
    ctx.emit(
        "note_updated", "note", row.id, {"id": row.id, "namespace": row.namespace, "changed_fields": ["properties"]}
    )
    properties = events.public(withdrawn)["properties"]
    return {
        "id": row.id,
        "full_id": row.id,
        "status": properties["status"],
        "cancelled_at": iso(ctx.now_us),
        "properties": properties,
    }
