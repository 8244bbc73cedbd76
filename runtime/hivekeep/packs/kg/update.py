"""update: a patch on an entity, note or edge.

Invariant: what the patch does not name stays; a change is written with its event, or nothing is.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar, cast

from hivekeep.gate.secrets import refuse_secrets
from hivekeep.identity.resolve import Wanted, resolve
from hivekeep.packs.context import Context
from hivekeep.packs.kg import shapes
from hivekeep.packs.kg.comparing import canonical
from hivekeep.packs.kg.create import note_secret_fields
from hivekeep.packs.kg.endpoints import DEPENDENCY_KIND, check_note_rules, check_pair, edge_metadata, ordered
from hivekeep.packs.kg.scopes import a, check_scope
from hivekeep.packs.ontology import KindRef
from hivekeep.storage import edges, entities, notes, records
from hivekeep.storage.edges import EdgeRow
from hivekeep.storage.entities import EntityRow
from hivekeep.storage.json_text import EMPTY_OBJECT, dump, load_object
from hivekeep.storage.notes import NoteRow
from hivekeep.storage.records import Located
from hivekeep_contract.errors import EndpointDeleted, InvalidInput, NaturalKeyConflict, NotFound, VersionConflict
from hivekeep_contract.models import kg as models

CHANGEABLE = ("entity", "note", "edge")
EMBEDDED = frozenset({"name", "description", "content"})
"""The columns that the vector of a record is made of."""

R = TypeVar("R")


def update(ctx: Context, args: models.UpdateArgs) -> models.UpdateResult:
    """The record after the patch; raises InvalidInput, NotFound, VersionConflict, NaturalKeyConflict."""
    if "entity_kind" in ctx.given:
        raise InvalidInput("update: 'entity_kind' cannot be changed; the kind of a record is for life")
    found = changeable(ctx, args.id)
    check_hint(ctx, "update", args.kind, found)
    check_scope("update", ctx.given, found.substrate)
    ctx.touch(found.substrate, found.id)
    if found.substrate == "entity":
        ctx.mention(found.id)
        return _update_entity(ctx, args, _present(entities.get(ctx.tx, found.id)))
    if found.substrate == "note":
        return _update_note(ctx, args, _present(notes.get(ctx.tx, found.id)))
    return _update_edge(ctx, args, _present(edges.get(ctx.tx, found.id)))


def changeable(ctx: Context, ref: str, *, include_deleted: bool = False) -> Located:
    """The record that update or delete means; raises NotFound, Ambiguous, InvalidInput for one that never changes."""
    try:
        return resolve(ctx.tx, ref, Wanted("id", CHANGEABLE, include_deleted=include_deleted), ctx.caller)
    except NotFound:
        found = records.locate(ctx.tx, ref)
        if found is None or found.substrate in CHANGEABLE:
            raise
    raise InvalidInput(
        f"{ctx.verb}: {ref} is {a(found.substrate)}, and those never change; accepted: {', '.join(CHANGEABLE)}"
    )


def check_hint(ctx: Context, verb: str, hint: str | None, found: Located) -> None:
    """Refuse a kind hint that names something else than the record is; raises InvalidInput (kind mismatch)."""
    if hint is None:
        return
    wanted = ctx.ontology.kind(hint)
    if wanted.substrate != found.substrate or wanted.kind not in (None, found.kind):
        actual = a(found.kind) if found.substrate in ("entity", "note") else a(found.substrate)
        raise InvalidInput(f"{verb}: kind mismatch: {found.id} is {actual}, not {_named(wanted)}")


def _named(ref: KindRef) -> str:
    return a(ref.kind or ref.substrate)


def _present(row: R | None) -> R:
    """A row that was located in this very transaction."""
    assert row is not None
    return row


def _update_entity(ctx: Context, args: models.UpdateArgs, old: EntityRow) -> models.UpdatedEntity:
    if "name" in ctx.given and args.name is None:
        raise InvalidInput("update: the name of an entity cannot be cleared; give a string that is not blank")
    refuse_secrets(
        (
            ("entity.name", args.name),
            ("entity.description", args.description),
            ("entity.tags", args.tags),
            ("entity.properties", args.properties),
        )
    )
    patch: dict[str, Any] = {}
    if args.name is not None:
        patch["name"] = args.name
    if "description" in ctx.given:
        patch["description"] = args.description
    if "entity_type" in ctx.given:
        patch["entity_type"] = (
            None if args.entity_type is None else ctx.ontology.entity_type(old.kind, args.entity_type)
        )
    if args.properties is not None:
        patch["properties"] = dump({**load_object(old.properties), **args.properties})
    if args.tags is not None:
        patch["tags"] = dump(args.tags)
    changed = _changed(old, patch)
    if not changed:
        return cast("models.UpdatedEntity", shapes.entity(old))
    stored = entities.update(ctx.tx, old, old._replace(**patch, updated_at=ctx.now_us))
    _emit_update(ctx, "entity", old.id, old.namespace, changed)
    result = cast("models.UpdatedEntity", shapes.entity(stored))
    if warnings := _embed(ctx, "entity", stored, changed):
        result["warnings"] = warnings
    return result


def _update_note(ctx: Context, args: models.UpdateArgs, old: NoteRow) -> models.UpdatedNote:
    if args.expected_version is not None and args.expected_version != old.version:
        raise VersionConflict(
            f"update: note {old.id} has version {old.version}, not {args.expected_version}; read it again",
            details={
                "reason": "version_conflict",
                "expected_version": args.expected_version,
                "current_version": old.version,
            },
        )
    asked = old._replace(**_note_patch(ctx, args, old))
    wanted = ctx.rules_of(old.kind).change(ctx, old, asked)._asdict()
    changed = _changed(old, wanted, same=_same_note_field)
    if not changed and args.expected_version is None:
        return cast("models.UpdatedNote", {**shapes.note(old), "unchanged": True})
    stored = notes.update(ctx.tx, old, NoteRow(**{**wanted, "updated_at": ctx.now_us}))
    _emit_update(ctx, "note", old.id, old.namespace, changed)
    result = cast("models.UpdatedNote", shapes.note(stored))
    if warnings := _embed(ctx, "note", stored, changed):
        result["warnings"] = warnings
    return result


def _embed(ctx: Context, substrate: str, stored: EntityRow | NoteRow, changed: Collection[str]) -> list[models.Warning]:
    """A record whose text stayed keeps its vector."""
    return ctx.embed(substrate, stored) if EMBEDDED.intersection(changed) else []


def _note_patch(ctx: Context, args: models.UpdateArgs, old: NoteRow) -> dict[str, Any]:
    patch: dict[str, Any] = {
        name: getattr(args, name) for name in ("name", "salience", "decay_factor") if name in ctx.given
    }
    if args.content is not None:
        patch["content"] = args.content
    properties = dict(args.properties or {})
    if args.tags is not None:
        properties["tags"] = args.tags
    refuse_secrets(note_secret_fields(args.content, args.name, properties))
    if properties:
        patch["properties"] = dump({**load_object(old.properties), **properties})
    return patch


def _same_note_field(name: str, old: Any, new: Any) -> bool:
    """Equality of stored values; the order of tags does not matter, how often each occurs does."""
    if name != "properties" or old == new:
        return bool(old == new)
    return _comparable(load_object(old)) == _comparable(load_object(new))


def _comparable(properties: dict[str, Any]) -> str:
    tags = properties.get("tags")
    if isinstance(tags, list):
        properties = {**properties, "tags": sorted(canonical(tag) for tag in tags)}
    return canonical(properties)


def _update_edge(ctx: Context, args: models.UpdateArgs, old: EdgeRow) -> models.Edge:
    refuse_secrets((("edge.metadata", args.properties),))
    relation = args.relation or old.relation
    patch: dict[str, Any] = {}
    if args.properties is not None or relation != old.relation:
        # The ends decide what the relation and the metadata may be; the weight of a hidden edge needs none.
        source, target = (_endpoint(ctx, record_id) for record_id in (old.source_id, old.target_id))
    if relation != old.relation:
        check_pair(ctx.ontology, relation, source, target)
        check_note_rules(ctx, relation, source, target, ())
        ends = ordered(relation, old.source_id, old.target_id)
        _refuse_taken(ctx, old, relation, ends.source_id, ends.target_id)
        patch |= {"relation": relation, "source_id": ends.source_id, "target_id": ends.target_id}
    if args.weight is not None:
        patch["weight"] = args.weight
    if args.properties is not None or relation != old.relation:
        merged = {**load_object(old.metadata or EMPTY_OBJECT), **(args.properties or {})}
        if relation != old.relation and DEPENDENCY_KIND not in (args.properties or {}):
            merged.pop(DEPENDENCY_KIND, None)
        metadata = edge_metadata(relation, source, target, merged or None, None)
        patch["metadata"] = None if metadata is None else dump(metadata)
    changed = _changed(old, patch)
    if not changed:
        return shapes.edge(old)
    stored = edges.update(ctx.tx, old, old._replace(**patch, updated_at=ctx.now_us))
    payload = {"id": old.id, "changed_fields": changed, "previous": shapes.edge(old)}
    ctx.emit("edge_updated", "edge", old.id, payload)
    return shapes.edge(stored)


def _endpoint(ctx: Context, record_id: str) -> Located:
    found = records.locate(ctx.tx, record_id)
    if found is None or found.deleted_at is not None:
        raise EndpointDeleted(
            f"update: the edge's endpoint {record_id} is deleted; restore it first",
            details={"reason": "endpoint_deleted", "endpoint_id": record_id},
        )
    return found


def _refuse_taken(ctx: Context, old: EdgeRow, relation: str, source_id: str, target_id: str) -> None:
    taken = edges.find_natural(ctx.tx, old.namespace, source_id, target_id, relation)
    if taken is not None:
        raise NaturalKeyConflict(
            f"update: the edge {taken.id} already says {source_id} {relation} {target_id}",
            details={"reason": "natural_key_conflict", "edge_id": taken.id},
        )


def _changed(
    old: EntityRow | NoteRow | EdgeRow,
    patch: Mapping[str, Any],
    same: Callable[[str, Any, Any], bool] = lambda _name, before, after: bool(before == after),
) -> list[str]:
    """The names of the fields whose value the patch really changes."""
    return [name for name, value in patch.items() if not same(name, getattr(old, name), value)]


def _emit_update(ctx: Context, substrate: str, record_id: str, namespace: str, changed: list[str]) -> None:
    payload = {"id": record_id, "namespace": namespace, "changed_fields": changed}
    ctx.emit(f"{substrate}_updated", substrate, record_id, payload)
