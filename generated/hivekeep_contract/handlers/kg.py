"""What the pack `kg` must implement: one method a verb, typed by its contract.

Printed from registry/packs/kg/ by `make generate`; do not edit.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from hivekeep_contract.models.kg import (
    CreateArgs,
    CreateResult,
    DeleteArgs,
    Deletion,
    GetArgs,
    GetResult,
    LinkArgs,
    LinkedEdge,
    ListArgs,
    ListResult,
    NeighborsArgs,
    NeighborsResult,
    RestoreArgs,
    RestoreResult,
    ScanArgs,
    ScanResult,
    SearchArgs,
    SearchResult,
    StatsArgs,
    StatsResult,
    UpdateArgs,
    UpdateResult,
    VerbsArgs,
    VerbsResult,
    WhoamiArgs,
    WhoamiResult,
)

CtxT = TypeVar("CtxT", contravariant=True)


class KgHandlers(Protocol[CtxT]):
    """Entities, notes, edges and events; the base every other pack writes into."""

    def create(self, ctx: CtxT, args: CreateArgs, /) -> CreateResult:
        """Create an entity or a note."""
        ...

    def delete(self, ctx: CtxT, args: DeleteArgs, /) -> Deletion:
        """Delete a record, softly or for good."""
        ...

    def get(self, ctx: CtxT, args: GetArgs, /) -> GetResult:
        """Fetch one record of any kind by id."""
        ...

    def link(self, ctx: CtxT, args: LinkArgs, /) -> LinkedEdge:
        """Create or replace a typed edge."""
        ...

    def list_(self, ctx: CtxT, args: ListArgs, /) -> ListResult:
        """List live records with filters, by offset or by a stable cursor."""
        ...

    def neighbors(self, ctx: CtxT, args: NeighborsArgs, /) -> NeighborsResult:
        """List what a node is connected to."""
        ...

    def restore(self, ctx: CtxT, args: RestoreArgs, /) -> RestoreResult:
        """Bring a softly deleted entity, note or edge back."""
        ...

    def scan(self, ctx: CtxT, args: ScanArgs, /) -> ScanResult:
        """Tell whether a note body would be refused as holding a secret."""
        ...

    def search(self, ctx: CtxT, args: SearchArgs, /) -> SearchResult:
        """Find records by what they say."""
        ...

    def stats(self, ctx: CtxT, args: StatsArgs, /) -> StatsResult:
        """Count the live records the caller can see."""
        ...

    def update(self, ctx: CtxT, args: UpdateArgs, /) -> UpdateResult:
        """Change fields of an entity, note or edge."""
        ...

    def verbs(self, ctx: CtxT, args: VerbsArgs, /) -> VerbsResult:
        """List the verbs this server offers."""
        ...

    def whoami(self, ctx: CtxT, args: WhoamiArgs, /) -> WhoamiResult:
        """Tell who is asking, where they write and which build answers."""
        ...
