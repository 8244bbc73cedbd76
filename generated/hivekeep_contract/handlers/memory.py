"""What the pack `memory` must implement: one method a verb, typed by its contract.

Printed from registry/packs/memory/ by `make generate`; do not edit.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from hivekeep_contract.models.memory import (
    FeedbackArgs,
    Judged,
    PruneArgs,
    Pruned,
    RecallArgs,
    RecallResult,
    RememberArgs,
    Remembered,
    VacuumArgs,
    Vacuumed,
)

CtxT = TypeVar("CtxT", contravariant=True)


class MemoryHandlers(Protocol[CtxT]):
    """Memories that fade, and their recall by meaning, recency and weight."""

    def feedback(self, ctx: CtxT, args: FeedbackArgs, /) -> Judged:
        """Say whether something recalled was of use."""
        ...

    def prune(self, ctx: CtxT, args: PruneArgs, /) -> Pruned:
        """Forget memories that weigh little or have expired."""
        ...

    def recall(self, ctx: CtxT, args: RecallArgs, /) -> RecallResult:
        """Recall memories by meaning, words, weight and recency."""
        ...

    def remember(self, ctx: CtxT, args: RememberArgs, /) -> Remembered:
        """Remember something, with a weight that fades."""
        ...

    def vacuum(self, ctx: CtxT, args: VacuumArgs, /) -> Vacuumed:
        """Rewrite the database file without the space that deleted rows left."""
        ...
