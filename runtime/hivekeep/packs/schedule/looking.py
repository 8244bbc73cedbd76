"""agenda: what is due next.

Invariant: looking changes nothing, and an overdue event stays in the list until it is carried out or missed.
"""

from typing import NamedTuple

from hivekeep.packs.context import Context
from hivekeep.packs.schedule import events
from hivekeep.storage import schedules
from hivekeep.times import iso_or_none
from hivekeep_contract.models import schedule as models


class Tick(NamedTuple):
    """The last look of this process's dispatcher, in microseconds; None before the first one."""

    last_us: int | None


def agenda(ctx: Context, args: models.AgendaArgs, tick: Tick | None) -> models.Agenda:
    """The pending events of the window; `tick` is given in a process that carries them out."""
    rows = schedules.agenda(ctx.tx, ctx.visible(), since=args.from_, until=args.to, limit=args.limit)
    told: models.Agenda = {"events": [events.public(events.read(row)) for row in rows], "count": len(rows)}
    if tick is not None:
        told["ticker"] = {"last_tick_at": iso_or_none(tick.last_us)}
    return told
