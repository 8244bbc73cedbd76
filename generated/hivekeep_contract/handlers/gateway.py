"""What the agent event gateway must implement: one generator an operation, typed by its contract.

Printed from registry/gateway/ by `make generate`; do not edit.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Protocol, TypeVar

from hivekeep_contract.models.gateway import (
    Acknowledged,
    AnswerBody,
    CheckpointBody,
    Checkpointed,
    CloseBody,
    ClosedRun,
    EventPage,
    EventsBody,
    EventsListQuery,
    FeedbackBody,
    IntakeReadQuery,
    IntakeState,
    OpenBody,
    OpenedRun,
    Promoted,
    PromotionsBody,
    RecordedFeedback,
    RunPage,
    RunReadQuery,
    RunView,
    RunsListQuery,
)

CtxT = TypeVar("CtxT", contravariant=True)


class GatewayHandlers(Protocol[CtxT]):
    """Coding agents report their runs and get bounded, untrusted context back.

    A generator yields its pieces of work and returns the `data` of the envelope. The run that the path names is in `ctx`.
    """

    def open(self, ctx: CtxT, body: OpenBody, /) -> Generator[Any, Any, OpenedRun]:
        """Open a run and its intake."""
        ...

    def answer(self, ctx: CtxT, body: AnswerBody, /) -> Generator[Any, Any, OpenedRun]:
        """Answer the question of the intake that waits."""
        ...

    def events(self, ctx: CtxT, body: EventsBody, /) -> Generator[Any, Any, Acknowledged]:
        """Append events to the ledger of a run."""
        ...

    def checkpoint(self, ctx: CtxT, body: CheckpointBody, /) -> Generator[Any, Any, Checkpointed]:
        """Report where a run stands and get context and advice."""
        ...

    def close(self, ctx: CtxT, body: CloseBody, /) -> Generator[Any, Any, ClosedRun]:
        """End a run."""
        ...

    def feedback(self, ctx: CtxT, body: FeedbackBody, /) -> Generator[Any, Any, RecordedFeedback]:
        """Judge a delivered entry, a recommendation, the run, or a question of the intake."""
        ...

    def promotions(self, ctx: CtxT, body: PromotionsBody, /) -> Generator[Any, Any, Promoted]:
        """Make a candidate entry of a proposal."""
        ...

    def runs_list(self, ctx: CtxT, query: RunsListQuery, /) -> Generator[Any, Any, RunPage]:
        """List the runs of a workspace."""
        ...

    def run_read(self, ctx: CtxT, query: RunReadQuery, /) -> Generator[Any, Any, RunView]:
        """Read a run."""
        ...

    def intake_read(self, ctx: CtxT, query: IntakeReadQuery, /) -> Generator[Any, Any, IntakeState]:
        """Read the intake of a run."""
        ...

    def events_list(self, ctx: CtxT, query: EventsListQuery, /) -> Generator[Any, Any, EventPage]:
        """Read the events of a run."""
        ...
