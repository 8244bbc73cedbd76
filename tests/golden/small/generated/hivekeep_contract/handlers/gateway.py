"""What the agent event gateway must implement: one generator an operation, typed by its contract.

Printed from registry/gateway/ by `make generate`; do not edit.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Protocol, TypeVar

from hivekeep_contract.models.gateway import (
    ListQuery,
    NoteBody,
    NotedRun,
    OpenBody,
    Page,
    ReadQuery,
    Run,
)

CtxT = TypeVar("CtxT", contravariant=True)


class GatewayHandlers(Protocol[CtxT]):
    """Runs are reported.

    A generator yields its pieces of work and returns the `data` of the envelope. The run that the path names is in `ctx`.
    """

    def open(self, ctx: CtxT, body: OpenBody, /) -> Generator[Any, Any, Run]:
        """Open a run."""
        ...

    def note(self, ctx: CtxT, body: NoteBody, /) -> Generator[Any, Any, NotedRun]:
        """Say something in a run."""
        ...

    def list(self, ctx: CtxT, query: ListQuery, /) -> Generator[Any, Any, Page]:
        """List runs."""
        ...

    def read(self, ctx: CtxT, query: ReadQuery, /) -> Generator[Any, Any, Run]:
        """Read a run."""
        ...
