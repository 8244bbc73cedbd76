"""link: create or replace one typed edge.

Invariant: namespace, source, target and relation name one edge for ever, live or deleted.
"""

from typing import Any

from hivekeep.gate.secrets import refuse_secrets
from hivekeep.identity.ids import new_id
from hivekeep.identity.resolve import Wanted, resolve
from hivekeep.packs.context import Context
from hivekeep.packs.kg import shapes
from hivekeep.packs.kg.create import link_payload
from hivekeep.packs.kg.endpoints import check_pair, edge_metadata, ordered
from hivekeep.storage import edges
from hivekeep.storage.edges import EdgeRow
from hivekeep.storage.json_text import dump
from hivekeep_contract.errors import EdgeTombstoned
from hivekeep_contract.models import kg as models

AUDIT_VERSION = 2
"""Version of the audit payload that names the edge."""


def link(ctx: Context, args: models.LinkArgs) -> models.LinkedEdge:
    """The edge and what was done; raises NotFound, Ambiguous, InvalidInput, EdgeTombstoned, SecretDetected."""
    source = resolve(ctx.tx, args.source_id, Wanted("source_id"), ctx.caller)
    target = resolve(ctx.tx, args.target_id, Wanted("target_id"), ctx.caller)
    check_pair(ctx.ontology, args.relation, source, target)
    refuse_secrets((("edge.metadata", args.metadata),))
    metadata = edge_metadata(args.relation, source, target, args.metadata, args.dependency_kind)
    ends = ordered(args.relation, source.id, target.id)
    wanted = EdgeRow(
        id=new_id(),
        namespace=ctx.namespace,
        source_id=ends.source_id,
        target_id=ends.target_id,
        relation=args.relation,
        weight=args.weight,
        metadata=None if metadata is None else dump(metadata),
        created_at=ctx.now_us,
        updated_at=ctx.now_us,
    )
    row, mutation = _store(ctx, wanted, args.resurrect)
    ctx.touch("edge", row.id)
    ctx.audit = {"edge": link_payload(row)}
    ctx.audit_version = AUDIT_VERSION
    shown: models.LinkedEdge = {**shapes.edge(row), "mutation": mutation}
    if ends.swapped:
        shown["source_id"], shown["target_id"] = source.id, target.id
    return shown


def _store(ctx: Context, wanted: EdgeRow, resurrect: bool) -> tuple[EdgeRow, models.Mutation]:
    old = edges.find_natural(ctx.tx, wanted.namespace, wanted.source_id, wanted.target_id, wanted.relation)
    if old is None:
        edges.insert(ctx.tx, wanted)
        ctx.emit("link_created", "edge", wanted.id, link_payload(wanted))
        return wanted, "created"
    if old.deleted_at is not None and not resurrect:
        raise EdgeTombstoned(
            f"link: the edge {old.id} between these records is deleted; give resurrect=true to bring it back",
            details={"reason": "edge_tombstoned", "edge_id": old.id},
        )
    changes: dict[str, Any] = {"weight": wanted.weight, "metadata": wanted.metadata, "deleted_at": None}
    changed = [name for name, value in changes.items() if getattr(old, name) != value]
    row = edges.update(ctx.tx, old, old._replace(**changes, updated_at=ctx.now_us))
    payload = {"id": old.id, "changed_fields": changed, "previous": shapes.edge(old)}
    ctx.emit("edge_updated", "edge", old.id, payload)
    return row, "updated" if old.deleted_at is None else "resurrected"
