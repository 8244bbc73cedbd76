"""What the pack `schedule` must implement: one method a verb, typed by its contract.

Printed from registry/packs/schedule/ by `make generate`; do not edit.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from hivekeep_contract.models.schedule import (
    Agenda,
    AgendaArgs,
    CancelArgs,
    Cancelled,
    RemindArgs,
    ScheduleArgs,
    Scheduled,
)

CtxT = TypeVar("CtxT", contravariant=True)


class ScheduleHandlers(Protocol[CtxT]):
    """Reminders and calls that are carried out later, once or again and again."""

    def agenda(self, ctx: CtxT, args: AgendaArgs, /) -> Agenda:
        """List what is due next."""
        ...

    def cancel(self, ctx: CtxT, args: CancelArgs, /) -> Cancelled:
        """Withdraw a scheduled event."""
        ...

    def remind(self, ctx: CtxT, args: RemindArgs, /) -> Scheduled:
        """Be reminded of something later."""
        ...

    def schedule(self, ctx: CtxT, args: ScheduleArgs, /) -> Scheduled:
        """Have one call carried out later."""
        ...
