"""What the pack `kg` must implement: one method a verb, typed by its contract.

Printed from registry/packs/kg/ by `make generate`; do not edit.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from hivekeep_contract.models.kg import (
    ContextArgs,
    ContextBody,
    CreateArgs,
    CreateResult,
    DbDiagnosticsArgs,
    DbDiagnosticsResult,
    DeleteArgs,
    Deletion,
    GetArgs,
    GetResult,
    LinkArgs,
    LinkResult,
    ListArgs,
    ListResult,
    MergeArgs,
    MergeResult,
    NeighborsArgs,
    NeighborsResult,
    ProposeArgs,
    Proposed,
    QueryArgs,
    QueryPage,
    References,
    ResolveArgs,
    RestoreArgs,
    RestoreResult,
    ReviewArgs,
    Reviewed,
    ScanArgs,
    ScanResult,
    SearchArgs,
    SearchResult,
    StatsArgs,
    StatsResult,
    TraverseArgs,
    TraverseResult,
    UpdateArgs,
    UpdateResult,
    VerbsArgs,
    VerbsResult,
    WhoamiArgs,
    WhoamiResult,
    WithdrawArgs,
    Withdrawn,
)

CtxT = TypeVar("CtxT", contravariant=True)


class KgHandlers(Protocol[CtxT]):
    """Entities, notes, edges and events; the base every other pack writes into."""

    def context(self, ctx: CtxT, args: ContextArgs, /) -> ContextBody:
        """Gather entities and what surrounds them, within a size budget."""
        ...

    def create(self, ctx: CtxT, args: CreateArgs, /) -> CreateResult:
        """Create an entity or a note, or up to 1000 at once."""
        ...

    def db_diagnostics(self, ctx: CtxT, args: DbDiagnosticsArgs, /) -> DbDiagnosticsResult:
        """Report contention, size, log and integrity of every database file that is open."""
        ...

    def delete(self, ctx: CtxT, args: DeleteArgs, /) -> Deletion:
        """Delete a record, softly or for good."""
        ...

    def get(self, ctx: CtxT, args: GetArgs, /) -> GetResult:
        """Fetch one record of any kind by id."""
        ...

    def link(self, ctx: CtxT, args: LinkArgs, /) -> LinkResult:
        """Create or replace a typed edge, or up to 1000 at once."""
        ...

    def list_(self, ctx: CtxT, args: ListArgs, /) -> ListResult:
        """List live records with filters, by offset or by a stable cursor."""
        ...

    def merge(self, ctx: CtxT, args: MergeArgs, /) -> MergeResult:
        """Make one record out of two that mean the same."""
        ...

    def neighbors(self, ctx: CtxT, args: NeighborsArgs, /) -> NeighborsResult:
        """List what a node is connected to."""
        ...

    def propose(self, ctx: CtxT, args: ProposeArgs, /) -> Proposed:
        """Propose a change for others to review."""
        ...

    def query(self, ctx: CtxT, args: QueryArgs, /) -> QueryPage:
        """Match a pattern in the graph, in GQL or SPARQL, without writing."""
        ...

    def resolve(self, ctx: CtxT, args: ResolveArgs, /) -> References:
        """Find out which entities references in plain words mean."""
        ...

    def restore(self, ctx: CtxT, args: RestoreArgs, /) -> RestoreResult:
        """Bring a softly deleted entity, note or edge back."""
        ...

    def review(self, ctx: CtxT, args: ReviewArgs, /) -> Reviewed:
        """Approve, reject or comment on a proposal, or ask for changes."""
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

    def traverse(self, ctx: CtxT, args: TraverseArgs, /) -> TraverseResult:
        """Follow edges outward from roots, nearest nodes first."""
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

    def withdraw(self, ctx: CtxT, args: WithdrawArgs, /) -> Withdrawn:
        """Take a proposal of one's own back."""
        ...
