"""create of one record: an entity or note with its edges, in one transaction."""

from collections.abc import Mapping
from typing import Any, cast

from hivekeep import values
from hivekeep.gate.secrets import refuse_secrets
from hivekeep.identity.ids import new_id
from hivekeep.identity.resolve import Wanted, resolve
from hivekeep.packs.context import Context, Happened
from hivekeep.packs.kg import shapes
from hivekeep.packs.kg.comparing import canonical
from hivekeep.packs.kg.endpoints import check_note_rules, check_pair, edge_metadata, ordered
from hivekeep.packs.kg.scopes import check_scope
from hivekeep.packs.ontology import KindRef
from hivekeep.storage import edges, entities, notes
from hivekeep.storage.edges import EdgeRow
from hivekeep.storage.entities import EntityRow
from hivekeep.storage.json_text import EMPTY_LIST, EMPTY_OBJECT, dump, load_object
from hivekeep.storage.notes import NoteRow
from hivekeep.storage.records import Located
from hivekeep_contract import vocabulary
from hivekeep_contract.errors import InvalidInput, KeyConflict
from hivekeep_contract.limits import POSSIBLE_DUPLICATES_MAX
from hivekeep_contract.models import kg as models

INSTEAD = {
    "edge": "edges are made with link",
    "event": "events are written by the server and never by a caller",
    "proposal": "proposals are made with propose",
}
FULL_WEIGHT = 1.0


def create_one(
    ctx: Context, args: models.CreateArgs
) -> models.CreatedEntity | models.CreatedNote | models.ReplayedNote:
    """Store one record; see the contract for what each kind takes. Raises InvalidInput, NotFound, KeyConflict."""
    kind = kind_of(ctx, args)
    check_scope("create", ctx.given, kind.substrate)
    return _create_entity(ctx, args, kind) if kind.substrate == "entity" else _create_note(ctx, args, kind)


def kind_of(ctx: Context, args: models.CreateArgs) -> KindRef:
    """The kind of the record to be made; raises InvalidInput for one that cannot be made, or that is not specific."""
    assert args.kind is not None
    word = args.kind.strip()
    if word in INSTEAD:
        raise InvalidInput(f"create: kind={word!r} cannot be created; {INSTEAD[word]}")
    ref = ctx.ontology.kind(word)
    if ref.substrate == "entity" and (ref.kind is None or args.entity_kind is not None):
        ref = ctx.ontology.one_kind(word, substrate="entity", specific=args.entity_kind, param="entity_kind")
        if ref.kind is None:
            raise InvalidInput(
                "create: kind='entity' needs a specific kind as well: entity_kind is one of "
                + ", ".join(ctx.ontology.entity_kinds)
            )
    if ref.substrate == "entity":
        return ref
    ref = ctx.ontology.one_kind(word, substrate="note", specific=args.note_kind, param="note_kind")
    return ref if ref.kind is not None else KindRef("note", vocabulary.DEFAULT_NOTE_KIND)


def entity_row(ctx: Context, args: models.CreateArgs, kind: KindRef) -> EntityRow:
    """The entity that the arguments describe; raises InvalidInput and SecretDetected."""
    if args.name is None:
        raise InvalidInput("create: 'name' is required for an entity; it must be a string that is not blank")
    assert kind.kind is not None
    refuse_secrets(
        (
            ("entity.name", args.name),
            ("entity.description", args.description),
            ("entity.tags", args.tags),
            ("entity.properties", args.properties),
            ("entity.namespace", ctx.namespace),
        )
    )
    entity_type = kind.entity_type
    if args.entity_type is not None:
        entity_type = ctx.ontology.entity_type(kind.kind, args.entity_type)
    return EntityRow(
        new_id(),
        ctx.namespace,
        kind.kind,
        args.name,
        ctx.now_us,
        ctx.now_us,
        entity_type,
        args.description,
        dump(args.properties) if args.properties else EMPTY_OBJECT,
        dump(args.tags) if args.tags else EMPTY_LIST,
    )


def _create_entity(ctx: Context, args: models.CreateArgs, kind: KindRef) -> models.CreatedEntity:
    row = entity_row(ctx, args, kind)
    duplicates = [] if args.skip_dedup_check else _same_name(ctx, row.name, row.kind)
    row = row._replace(seq=entities.insert(ctx.tx, row))
    ctx.touch("entity", row.id)
    ctx.mention(row.id)
    ctx.emit(*created(row))
    if args.edges:
        _add_edges(ctx, Located("entity", row.id, row.namespace, row.kind, None), args.edges)
    result = cast("models.CreatedEntity", shapes.entity(row, properties=args.properties, tags=args.tags))
    if duplicates:
        result["possible_duplicates"] = duplicates
    if warnings := ctx.embed("entity", row):
        result["warnings"] = warnings
    return result


def _same_name(ctx: Context, name: str, kind: str) -> list[models.Duplicate]:
    found = entities.find_by_name(ctx.tx, ctx.namespace, name, kind, limit=POSSIBLE_DUPLICATES_MAX)
    return [{"id": row.id, "name": row.name, "kind": row.kind} for row in found]


def note_row(ctx: Context, args: models.CreateArgs, kind: KindRef) -> NoteRow:
    """The note that the arguments describe; raises InvalidInput and SecretDetected."""
    assert kind.kind is not None
    rules = ctx.rules_of(kind.kind)
    content = rules.content(args.name) if args.content is None else args.content
    if content is None:
        raise InvalidInput("create: 'content' is required for a note; it must be a string")
    _check_embedded(content, args.embedding_content)
    properties = dict(args.properties or {})
    if args.tags is not None:
        properties["tags"] = args.tags
    written = note_secret_fields(content, args.name, properties)
    refuse_secrets((*written, ("note.key", args.key), ("note.namespace", ctx.namespace)))
    row = NoteRow(
        id=new_id(),
        namespace=ctx.namespace,
        kind=kind.kind,
        name=args.name,
        content=content,
        salience=args.salience,
        decay_factor=args.decay_factor,
        properties=dump(properties),
        key=args.key,
        created_at=ctx.now_us,
        updated_at=ctx.now_us,
    )
    return rules.prepare(ctx, row)


def _create_note(ctx: Context, args: models.CreateArgs, kind: KindRef) -> models.CreatedNote | models.ReplayedNote:
    row = note_row(ctx, args, kind)
    if row.key is not None:
        holder = notes.find_by_key(ctx.tx, row.namespace, row.kind, row.key)
        if holder is not None:
            return _replay(ctx, holder, row)
    row = row._replace(seq=notes.insert(ctx.tx, row))
    ctx.touch("note", row.id)
    ctx.emit(*created(row))
    ctx.rules_of(row.kind).made(ctx, row)
    _annotate(ctx, row, args.annotates or [])
    result = cast("models.CreatedNote", shapes.note(row))
    if args.key is not None:
        result["created"] = True
    if warnings := ctx.embed("note", row, override=args.embedding_content):
        result["warnings"] = warnings
    return result


def note_secret_fields(
    content: str | None, name: str | None, properties: Mapping[str, Any] | None
) -> tuple[tuple[str, object], ...]:
    """Where a note may hold a secret, in the order in which it is looked for."""
    return (("note.content", content), ("note.name", name), ("note.properties", properties))


def _check_embedded(content: str, beginning: str | None) -> None:
    if beginning is None:
        return
    if not beginning or len(beginning) >= len(content) or not content.startswith(beginning):
        raise InvalidInput(
            "create: 'embedding_content' must be a beginning of 'content' that is not empty and shorter than it; "
            f"got {len(beginning)} characters"
        )


def _replay(ctx: Context, holder: NoteRow, wanted: NoteRow) -> models.ReplayedNote:
    """Answer a repeated keyed create with the note that exists; other content, or a hidden holder, is a conflict."""
    disclosed = _may_list(ctx, holder)
    if disclosed and holder.content == wanted.content and _same(holder.properties, wanted.properties):
        ctx.touch("note", holder.id)
        return {"id": holder.id, "created": False}
    details: dict[str, object] = {"reason": "key_conflict", "key": holder.key}
    if disclosed:
        details["existing_id"] = holder.id
    raise KeyConflict(
        f"create: a live {holder.kind} note in namespace {holder.namespace!r} already holds the key {holder.key!r} "
        "with other content or properties; nothing was written",
        details=details,
    )


def _same(stored: str, wanted: str) -> bool:
    """Whether two JSON texts say the same, in whatever order of keys."""
    return stored == wanted or canonical(load_object(stored)) == canonical(load_object(wanted))


def _may_list(ctx: Context, holder: NoteRow) -> bool:
    """Whether the policy would let this caller find the holder by listing."""
    return ctx.permits("list", {"kind": holder.kind, "namespace": holder.namespace, "key": holder.key})


def created(row: EntityRow | NoteRow) -> Happened:
    """The event of a new record."""
    substrate = "entity" if isinstance(row, EntityRow) else "note"
    payload = {"id": row.id, "namespace": row.namespace, "kind": row.kind}
    if row.name is not None:
        payload["name"] = row.name
    return Happened(f"{substrate}_created", substrate, row.id, payload)


def _annotate(ctx: Context, note: NoteRow, references: list[str]) -> None:
    source = Located("note", note.id, note.namespace, note.kind, None)
    seen: set[str] = set()
    for reference in references:
        target = resolve(ctx.tx, reference, Wanted("annotates"), ctx.caller)
        # The rules of the kind may have joined the note to the record already.
        made = edges.find_natural(ctx.tx, note.namespace, note.id, target.id, "annotates")
        if made is None and target.id not in seen:
            seen.add(target.id)
            _add_edge(ctx, "annotates", source, target, FULL_WEIGHT)


def _add_edges(ctx: Context, source: Located, wanted: list[models.CreateEdgesItem]) -> None:
    seen: set[tuple[str, str]] = set()
    for index, item in enumerate(wanted):
        relation = _relation(item["relation"], index)
        target = resolve(ctx.tx, item["target_id"], Wanted(f"edges[{index}].target_id"), ctx.caller)
        if (relation, target.id) in seen:
            raise InvalidInput(f"create: edges[{index}] repeats an edge of the same call")
        seen.add((relation, target.id))
        weight = item.get("weight")
        _add_edge(ctx, relation, source, target, FULL_WEIGHT if weight is None else weight)


def _relation(word: str, index: int) -> str:
    try:
        return values.relation(word)
    except ValueError as error:
        raise InvalidInput(f"create: edges[{index}].relation must be {error}, got {word!r}") from None


def _add_edge(ctx: Context, relation: str, source: Located, target: Located, weight: float) -> None:
    check_pair(ctx.ontology, relation, source, target)
    check_note_rules(ctx, relation, source, target, ())
    ends = ordered(relation, source.id, target.id)
    metadata = edge_metadata(relation, source, target, None, None)
    row = EdgeRow(
        id=new_id(),
        namespace=ctx.namespace,
        source_id=ends.source_id,
        target_id=ends.target_id,
        relation=relation,
        weight=weight,
        metadata=None if metadata is None else dump(metadata),
        created_at=ctx.now_us,
        updated_at=ctx.now_us,
    )
    edges.insert(ctx.tx, row)
    ctx.emit("link_created", "edge", row.id, link_payload(row))


def link_payload(row: EdgeRow) -> dict[str, Any]:
    """What a link_created event says."""
    return {
        "id": row.id,
        "namespace": row.namespace,
        "source_id": row.source_id,
        "target_id": row.target_id,
        "relation": row.relation,
        "weight": row.weight,
    }
