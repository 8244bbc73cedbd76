"""Who made a scheduled event: an event of the store that nobody can change, beside the note that says it for display.

Invariant: the creator is the caller that the door verified when the event was made. A note without such an event, or
whose event was written by anything else, is carried out for nobody.
"""

from dataclasses import replace

from hivekeep.identity.caller import Caller
from hivekeep.identity.namespaces import visible_set
from hivekeep.packs.context import Context
from hivekeep.storage import schedules
from hivekeep.storage.engine import Tx
from hivekeep.storage.json_text import load_object
from hivekeep.storage.notes import NoteRow

VERB = "schedule.creator_provenance"
KIND = "audit"


def record(ctx: Context, row: NoteRow) -> None:
    """Say who makes the note, in its transaction."""
    creator = {"kind": ctx.caller.kind, "id": ctx.caller.id}
    replace(ctx, verb=VERB).emit(KIND, "note", row.id, {"creator": creator, "namespace": row.namespace})


def creator(tx: Tx, row: NoteRow) -> Caller | None:
    """Who made the note, working in its namespace; None when no event says so."""
    event = schedules.first_event(tx, row.namespace, row.id, KIND, VERB)
    if event is None:
        return None
    said = load_object(event.payload).get("creator", {})
    kind, actor_id = said.get("kind"), said.get("id")
    if f"{kind}:{actor_id}" != event.actor:
        return None
    return Caller(kind, actor_id, row.namespace, visible_set(row.namespace, (), actor_id))
