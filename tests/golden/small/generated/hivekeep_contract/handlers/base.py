"""What the pack `base` must implement: one method a verb, typed by its contract.

Printed from registry/packs/base/ by `make generate`; do not edit.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from hivekeep_contract.models.base import (
    FindArgs,
    FindResult,
    KeepArgs,
    KeepResult,
)

CtxT = TypeVar("CtxT", contravariant=True)


class BaseHandlers(Protocol[CtxT]):
    """Notes."""

    def find(self, ctx: CtxT, args: FindArgs, /) -> FindResult:
        """Find notes."""
        ...

    def keep(self, ctx: CtxT, args: KeepArgs, /) -> KeepResult:
        """Keep a note."""
        ...
