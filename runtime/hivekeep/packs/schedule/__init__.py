"""The schedule pack: reminders and calls that are carried out later.

Invariant: one module a topic; the class only says which function answers which verb, and keeps when the dispatcher of
this process looked last. The pack itself carries nothing out.
"""

from collections.abc import Mapping

from hivekeep.packs.context import Context
from hivekeep.packs.note_rules import NoteRules
from hivekeep.packs.schedule import cancelling, creating, events, looking, rules
from hivekeep.packs.schedule.looking import Tick
from hivekeep_contract.models import schedule as models


class SchedulePack:
    """The handlers that `hivekeep_contract.handlers.schedule.ScheduleHandlers` asks for."""

    note_rules: Mapping[str, NoteRules] = {events.KIND: rules.ScheduledEventRules()}

    def __init__(self) -> None:
        self.tick: Tick | None = None
        """The last look of the dispatcher; None where this process has none."""

    cancel = staticmethod(cancelling.cancel)
    remind = staticmethod(creating.remind)
    schedule = staticmethod(creating.schedule)

    def agenda(self, ctx: Context, args: models.AgendaArgs) -> models.Agenda:
        """What is due next."""
        return looking.agenda(ctx, args, self.tick)
