"""What the pack `todo` must implement: one method a verb, typed by its contract.

Printed from registry/packs/todo/ by `make generate`; do not edit.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from hivekeep_contract.catalog import Wait
from hivekeep_contract.models.base import (
    Bag,
)
from hivekeep_contract.models.todo import (
    ImportArgs,
    ImportResult,
    ListArgs,
)

CtxT = TypeVar("CtxT", contravariant=True)


class TodoHandlers(Protocol[CtxT]):
    """Things to do."""

    def import_(self, ctx: CtxT, args: ImportArgs, /) -> ImportResult:
        """Import tasks."""
        ...

    def list_(self, ctx: CtxT, args: ListArgs, /) -> Bag | Wait:
        """List what is to do."""
        ...
