"""What the pack `brain` must implement: one method a verb, typed by its contract.

Printed from registry/packs/brain/ by `make generate`; do not edit.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from hivekeep_contract.models.brain import (
    ActivateArgs,
    ArchiveArgs,
    AutoFeedbackArgs,
    AutoFeedbackResult,
    BindArgs,
    BindResult,
    BindingsArgs,
    BindingsResult,
    CreateProfileArgs,
    CreateProfileResult,
    DeactivateArgs,
    EventCountsArgs,
    EventCountsResult,
    FeedbackAnswer,
    FeedbackArgs,
    LifecycleStep,
    MarkTurnArgs,
    MarkTurnResult,
    ProfileArgs,
    ProfileRecord,
    ProfilesArgs,
    ProfilesResult,
    RecordServeArgs,
    RecordServeResult,
    RegisterAdapterArgs,
    RegisterAdapterResult,
    ResetArgs,
    ResetResult,
    ResolveArgs,
    ResolveResult,
    UnbindArgs,
    UnbindResult,
)

CtxT = TypeVar("CtxT", contravariant=True)


class BrainHandlers(Protocol[CtxT]):
    """Profiles that tune the ranking of recalls, the feedback that teaches them, and counts of what happened."""

    def activate(self, ctx: CtxT, args: ActivateArgs, /) -> LifecycleStep:
        """Let a profile serve and learn."""
        ...

    def archive(self, ctx: CtxT, args: ArchiveArgs, /) -> LifecycleStep:
        """Keep a profile for reading only."""
        ...

    def auto_feedback(self, ctx: CtxT, args: AutoFeedbackArgs, /) -> AutoFeedbackResult:
        """Give feedback on one result of a recall."""
        ...

    def bind(self, ctx: CtxT, args: BindArgs, /) -> BindResult:
        """Say whom a profile serves."""
        ...

    def bindings(self, ctx: CtxT, args: BindingsArgs, /) -> BindingsResult:
        """List the bindings of an actor."""
        ...

    def create_profile(self, ctx: CtxT, args: CreateProfileArgs, /) -> CreateProfileResult:
        """Make a profile."""
        ...

    def deactivate(self, ctx: CtxT, args: DeactivateArgs, /) -> LifecycleStep:
        """Set a profile aside; what it learned is kept."""
        ...

    def event_counts(self, ctx: CtxT, args: EventCountsArgs, /) -> EventCountsResult:
        """Count events of a window by kind, actor and verb."""
        ...

    def feedback(self, ctx: CtxT, args: FeedbackArgs, /) -> FeedbackAnswer:
        """Say what a record was worth."""
        ...

    def mark_turn(self, ctx: CtxT, args: MarkTurnArgs, /) -> MarkTurnResult:
        """Note that a unit of work began."""
        ...

    def profile(self, ctx: CtxT, args: ProfileArgs, /) -> ProfileRecord:
        """Show a profile and what it has learned."""
        ...

    def profiles(self, ctx: CtxT, args: ProfilesArgs, /) -> ProfilesResult:
        """List the profiles of the caller's namespace."""
        ...

    def record_serve(self, ctx: CtxT, args: RecordServeArgs, /) -> RecordServeResult:
        """Note which records answered a query, so that a scorer can grade them later."""
        ...

    def register_adapter(self, ctx: CtxT, args: RegisterAdapterArgs, /) -> RegisterAdapterResult:
        """Record an adapter that fits the base model in use."""
        ...

    def reset(self, ctx: CtxT, args: ResetArgs, /) -> ResetResult:
        """Let a profile forget what it learned."""
        ...

    def resolve(self, ctx: CtxT, args: ResolveArgs, /) -> ResolveResult:
        """Tell which profile would serve a caller."""
        ...

    def unbind(self, ctx: CtxT, args: UnbindArgs, /) -> UnbindResult:
        """Remove bindings."""
        ...
