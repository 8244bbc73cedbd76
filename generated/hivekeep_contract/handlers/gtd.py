"""What the pack `gtd` must implement: one method a verb, typed by its contract.

Printed from registry/packs/gtd/ by `make generate`; do not edit.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from hivekeep_contract.models.gtd import (
    AssignArgs,
    AssignedTask,
    Census,
    CensusArgs,
    CompleteArgs,
    CompletedTask,
    NextArgs,
    NextResult,
    RepairArgs,
    RepairReport,
    TasksArgs,
    TasksResult,
    TransitionArgs,
    TransitionResult,
)

CtxT = TypeVar("CtxT", contravariant=True)


class GtdHandlers(Protocol[CtxT]):
    """Tasks with a status, a priority and what they wait for."""

    def assign(self, ctx: CtxT, args: AssignArgs, /) -> AssignedTask:
        """Create a task."""
        ...

    def census(self, ctx: CtxT, args: CensusArgs, /) -> Census:
        """Count the raw timestamps of live tasks by their size."""
        ...

    def complete(self, ctx: CtxT, args: CompleteArgs, /) -> CompletedTask:
        """Finish a task, or give it up."""
        ...

    def next_(self, ctx: CtxT, args: NextArgs, /) -> NextResult:
        """List what can be done now, most urgent first."""
        ...

    def repair(self, ctx: CtxT, args: RepairArgs, /) -> RepairReport:
        """Correct timestamps and unknown statuses of tasks, one by one, as they were observed."""
        ...

    def tasks(self, ctx: CtxT, args: TasksArgs, /) -> TasksResult:
        """List tasks by status, assignee and priority."""
        ...

    def transition(self, ctx: CtxT, args: TransitionArgs, /) -> TransitionResult:
        """Move a task to another status."""
        ...
