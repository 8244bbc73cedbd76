"""register_adapter: an adapter of the base model in use, as an entity.

Invariant: an adapter that is recorded fits the configured revision, and one id is one entity of a namespace.
"""

from hivekeep.gate.secrets import refuse_secrets
from hivekeep.identity.ids import new_id
from hivekeep.packs.context import Context
from hivekeep.storage import entities
from hivekeep.storage.entities import EntityRow
from hivekeep.storage.json_text import dump
from hivekeep_contract.errors import InvalidInput, Unconfigured
from hivekeep_contract.models import brain as models

KIND = "artifact"
TYPE = "adapter"
SETTING = "brain.base_model_revision"


def register_adapter(ctx: Context, args: models.RegisterAdapterArgs) -> models.RegisterAdapterResult:
    """Store the adapter, or what changed of it; raises Unconfigured, InvalidInput, SecretDetected."""
    _check_revision(ctx, args.base_model_revision)
    own = {"content_hash": args.content_hash, "base_model_revision": args.base_model_revision}
    metadata = args.metadata or {}
    taken = sorted(own.keys() & metadata.keys())
    if taken:
        raise InvalidInput(
            f"{ctx.verb}: 'metadata' must not hold {' or '.join(taken)}; they have arguments of their own"
        )
    properties = {**metadata, **own}
    refuse_secrets((("entity.name", args.adapter_id), ("entity.properties", properties)))
    row, is_new = _stored(ctx, args.adapter_id, dump(properties))
    ctx.touch("entity", row.id)
    ctx.mention(row.id)
    result: models.RegisterAdapterResult = {
        "registered": True,
        "adapter_id": row.name,
        "entity_id": row.id,
        "content_hash": args.content_hash,
        "base_model_revision": args.base_model_revision,
    }
    # Only the name is text that is searched for, and it never changes.
    warnings = ctx.embed("entity", row) if is_new else []
    if warnings:
        result["warnings"] = warnings
    return result


def _check_revision(ctx: Context, revision: str) -> None:
    active = ctx.settings.brain_base_model_revision
    if active is None:
        raise Unconfigured(
            f"{ctx.verb}: this server knows no base model revision; the operator sets {SETTING}",
            details={"setting": SETTING},
        )
    if revision != active:
        raise InvalidInput(
            f"{ctx.verb}: 'base_model_revision' must be {active!r}, the revision in use; got {revision!r}"
        )


def _stored(ctx: Context, name: str, properties: str) -> tuple[EntityRow, bool]:
    """The entity of the adapter, and whether it is new; a known one gets its new properties."""
    named = entities.find_by_exact_name(ctx.tx, ctx.namespace, name)
    old = next((row for row in named if (row.kind, row.entity_type) == (KIND, TYPE)), None)
    if old is None:
        return _insert(ctx, name, properties), True
    if old.properties == properties:
        return old, False
    stored = entities.update(ctx.tx, old, old._replace(properties=properties, updated_at=ctx.now_us))
    payload = {"id": old.id, "namespace": old.namespace, "changed_fields": ["properties"]}
    ctx.emit("entity_updated", "entity", old.id, payload)
    return stored, False


def _insert(ctx: Context, name: str, properties: str) -> EntityRow:
    row = EntityRow(
        id=new_id(),
        namespace=ctx.namespace,
        kind=KIND,
        entity_type=TYPE,
        name=name,
        properties=properties,
        created_at=ctx.now_us,
        updated_at=ctx.now_us,
    )
    seq = entities.insert(ctx.tx, row)
    payload = {"id": row.id, "namespace": row.namespace, "kind": KIND, "name": name}
    ctx.emit("entity_created", "entity", row.id, payload)
    return row._replace(seq=seq)
