"""What the generic verbs may do with a scheduled event: delete and restore it, and link it.

Invariant: everything that decides when and for whom it is carried out is written by the verbs of this pack and by the
dispatcher alone.
"""

from typing import TYPE_CHECKING

from hivekeep.packs.note_rules import NoteRules
from hivekeep.packs.schedule import events
from hivekeep.storage.notes import NoteRow
from hivekeep_contract.errors import InvalidInput

if TYPE_CHECKING:
    from hivekeep.packs.context import Context


class ScheduledEventRules(NoteRules):
    """The rules of the kind `scheduled_event`."""

    def prepare(self, ctx: "Context", row: NoteRow) -> NoteRow:
        """A note that nobody made through this pack would be carried out for nobody."""
        raise InvalidInput(f"{ctx.verb}: a scheduled_event is made with schedule.schedule or schedule.remind")

    def change(self, ctx: "Context", old: NoteRow, new: NoteRow) -> NoteRow:
        """Its state is the dispatcher's, its text what was verified."""
        raise InvalidInput(
            f"{ctx.verb}: a scheduled_event is not changed; withdraw it with schedule.cancel and make another"
        )

    def remove(self, ctx: "Context", row: NoteRow, *, hard: bool) -> None:
        """Deleting withdraws it; what is being carried out stays, or its outcome would have no place."""
        if events.read(row).status == events.FIRING:
            raise InvalidInput(f"{ctx.verb}: the scheduled event {row.id} is firing; delete it when that is over")

    def merge(self, ctx: "Context", into: NoteRow, gone: NoteRow) -> None:
        """Two times and two creators do not become one."""
        raise InvalidInput(f"{ctx.verb}: scheduled events are not merged; withdraw one with schedule.cancel")
