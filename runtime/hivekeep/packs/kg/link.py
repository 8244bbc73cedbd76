"""link of one edge: create, replace or bring back.

Invariant: namespace, source, target and relation name one edge for ever, live or deleted. An edge is planned, with all
checks, before anything is written.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hivekeep.gate.secrets import refuse_secrets
from hivekeep.identity.ids import new_id
from hivekeep.identity.resolve import Wanted, resolve
from hivekeep.packs.context import Context, Happened
from hivekeep.packs.kg import shapes
from hivekeep.packs.kg.create import link_payload
from hivekeep.packs.kg.endpoints import check_note_rules, check_pair, edge_metadata, ordered
from hivekeep.storage import edges
from hivekeep.storage.edges import EdgeRow
from hivekeep.storage.json_text import dump
from hivekeep.storage.records import Located
from hivekeep_contract.errors import EdgeTombstoned
from hivekeep_contract.models import kg as models

AUDIT_VERSION = 2
"""Version of the audit payload that names the edge."""

Find = Callable[[str, str], Located]
"""(parameter, reference) -> the live record it means; raises NotFound and Ambiguous."""


class Planned(NamedTuple):
    """A write of one edge that passed every check: `row` replaces `old`, or is new.

    `source` and `target` are the ends in the order of the caller.
    """

    row: EdgeRow
    old: EdgeRow | None
    source: Located
    target: Located

    @property
    def mutation(self) -> models.Mutation:
        """What the write does to the edge."""
        if self.old is None:
            return "created"
        return "updated" if self.old.deleted_at is None else "resurrected"

    @property
    def entities(self) -> list[str]:
        """The ends that are entities."""
        return [end.id for end in (self.source, self.target) if end.substrate == "entity"]


def link_one(ctx: Context, args: models.LinkArgs) -> models.LinkedEdge:
    """The edge and what was done; raises NotFound, Ambiguous, InvalidInput, EdgeTombstoned, SecretDetected."""
    planned = plan(ctx, args, finder(ctx), ())
    if planned.old is None:
        edges.insert(ctx.tx, planned.row)
    else:
        edges.update(ctx.tx, planned.old, planned.row)
    ctx.emit(*linked(planned))
    ctx.touch("edge", planned.row.id)
    ctx.mention(*planned.entities)
    ctx.audit = {"edge": link_payload(planned.row)}
    ctx.audit_version = AUDIT_VERSION
    return shown(planned)


def finder(ctx: Context) -> Find:
    """How the ends of an edge are found."""
    return lambda param, text: resolve(ctx.tx, text, Wanted(param), ctx.caller)


def plan(ctx: Context, args: models.LinkArgs, find: Find, beside: Sequence[Planned]) -> Planned:
    """The write that the arguments ask for, after the writes `beside` it; raises what `link_one` raises."""
    assert args.source_id is not None
    assert args.target_id is not None
    assert args.relation is not None
    source, target = find("source_id", args.source_id), find("target_id", args.target_id)
    check_pair(ctx.ontology, args.relation, source, target)
    if source.substrate == "note":
        made = [(one.source.id, one.target.id) for one in beside if one.row.relation == args.relation]
        check_note_rules(ctx, args.relation, source, target, made)
    refuse_secrets((("edge.metadata", args.metadata),))
    metadata = edge_metadata(args.relation, source, target, args.metadata, args.dependency_kind)
    said: dict[str, Any] = {
        "weight": args.weight,
        "metadata": None if metadata is None else dump(metadata),
        "updated_at": ctx.now_us,
    }
    ends = ordered(args.relation, source.id, target.id)
    old = edges.find_natural(ctx.tx, ctx.namespace, ends.source_id, ends.target_id, args.relation)
    if old is None:
        row = EdgeRow(
            id=new_id(),
            namespace=ctx.namespace,
            source_id=ends.source_id,
            target_id=ends.target_id,
            relation=args.relation,
            created_at=ctx.now_us,
            **said,
        )
        return Planned(row, None, source, target)
    if old.deleted_at is not None and not args.resurrect:
        raise EdgeTombstoned(
            f"link: the edge {old.id} between these records is deleted; give resurrect=true to bring it back",
            details={"reason": "edge_tombstoned", "edge_id": old.id},
        )
    return Planned(old._replace(**said, deleted_at=None), old, source, target)


def linked(planned: Planned) -> Happened:
    """The event of a write; one that replaces tells the edge before it."""
    row, old = planned.row, planned.old
    if old is None:
        return Happened("link_created", "edge", row.id, link_payload(row))
    changed = [name for name in ("weight", "metadata", "deleted_at") if getattr(old, name) != getattr(row, name)]
    payload = {"id": row.id, "changed_fields": changed, "previous": shapes.edge(old)}
    return Happened("edge_updated", "edge", row.id, payload)


def shown(planned: Planned) -> models.LinkedEdge:
    """The edge for the answer, its ends as the caller named them."""
    answer: models.LinkedEdge = {**shapes.edge(planned.row), "mutation": planned.mutation}
    answer["source_id"], answer["target_id"] = planned.source.id, planned.target.id
    return answer
