"""What the pack `session` must implement: one method a verb, typed by its contract.

Printed from registry/packs/session/ by `make generate`; do not edit.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from hivekeep_contract.models.session import (
    ExportArgs,
    ExportResult,
    ListArgs,
    MirrorHits,
    MirrorStats,
    OneSession,
    ResumeArgs,
    SearchArgs,
    SessionPage,
    StatsArgs,
    StoreArgs,
    StoredSession,
    VacuumArgs,
    Vacuumed,
)

CtxT = TypeVar("CtxT", contravariant=True)


class SessionHandlers(Protocol[CtxT]):
    """What agents did in their sessions, kept across providers."""

    def export(self, ctx: CtxT, args: ExportArgs, /) -> ExportResult:
        """Write one session down as json or markdown."""
        ...

    def list_(self, ctx: CtxT, args: ListArgs, /) -> SessionPage:
        """List stored sessions, newest first."""
        ...

    def resume(self, ctx: CtxT, args: ResumeArgs, /) -> OneSession:
        """Read one session with its content."""
        ...

    def search(self, ctx: CtxT, args: SearchArgs, /) -> MirrorHits:
        """Search the messages of mirrored transcripts; not available yet."""
        ...

    def stats(self, ctx: CtxT, args: StatsArgs, /) -> MirrorStats:
        """Report rows and bytes of the mirror tables, and the size of the database."""
        ...

    def store(self, ctx: CtxT, args: StoreArgs, /) -> StoredSession:
        """Keep a session of an agent."""
        ...

    def vacuum(self, ctx: CtxT, args: VacuumArgs, /) -> Vacuumed:
        """Rewrite the database file without free pages, and report by how much it shrank."""
        ...
