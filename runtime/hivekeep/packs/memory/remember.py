"""remember: one memory with its edges and vectors-to-be, in one transaction.

Invariant: a key names one memory of a namespace for as long as that lives; a repeated call answers it as it is stored.
"""

from hivekeep.gate.secrets import refuse_secrets
from hivekeep.identity.ids import classify, new_id
from hivekeep.identity.namespaces import LOCAL
from hivekeep.identity.resolve import Wanted, resolve
from hivekeep.packs.context import Context
from hivekeep.packs.memory.defaults import resolved
from hivekeep.storage import edges, memories, notes
from hivekeep.storage.edges import EdgeRow
from hivekeep.storage.json_text import dump, load_object
from hivekeep.storage.memories import KIND
from hivekeep.storage.notes import NoteRow
from hivekeep.storage.records import Located
from hivekeep.times import iso
from hivekeep_contract.errors import IdempotencyKeyConflict, InvalidInput
from hivekeep_contract.models import memory as models

ANNOTATES = "annotates"
SUPERSEDES = "supersedes"
SEMANTIC = "semantic"
REASON = "idempotency_key_conflict"


def remember(ctx: Context, args: models.RememberArgs) -> models.Remembered:
    """The memory that was stored, or the one that holds the key.

    Raises InvalidInput, NotFound, Ambiguous, IdempotencyKeyConflict, SecretDetected.
    """
    if not args.content.strip():
        raise InvalidInput("memory.remember: 'content' must be a string that is not blank")
    if args.embedding_model is not None:
        ctx.embedders.get(args.embedding_model)
    written = (("content", args.content), ("tags", args.tags))
    refuse_secrets((*written, ("idempotency_key", args.idempotency_key), ("namespace", args.namespace)))
    if args.namespace is None and args.memory_type == SEMANTIC:
        # A fact is for everybody who asks, wherever its author writes; the events of the call go with it.
        ctx.namespace = LOCAL
    if args.idempotency_key is not None:
        holder = notes.find_by_key(ctx.tx, ctx.namespace, KIND, args.idempotency_key)
        if holder is not None:
            return _replay(ctx, holder, args.content)
    return _store(ctx, args)


def _store(ctx: Context, args: models.RememberArgs) -> models.Remembered:
    source = None if args.source_id is None else _found(ctx, "source_id", args.source_id)
    older = None if args.supersedes is None else _memory(ctx, args.supersedes)
    row = _row(ctx, args, source)
    row = row._replace(seq=notes.insert(ctx.tx, row))
    ctx.touch("note", row.id)
    ctx.emit("note_created", "note", row.id, {"id": row.id, "namespace": row.namespace, "kind": row.kind})
    told = _told(row)
    if source is not None:
        told["edge_id"] = _link(ctx, ANNOTATES, row, source)
    if older is not None:
        told["supersedes_edge_id"] = _link(ctx, SUPERSEDES, row, older)
    warnings = ctx.embed("note", row, only_model=args.embedding_model)
    if warnings:
        told["warnings"] = warnings
    return told


def _found(ctx: Context, param: str, reference: str) -> Located:
    """The entity or note of a reference; a prefix looks into the caller's primary namespace alone."""
    prefix = classify(reference).form == "prefix"
    namespaces = (ctx.caller.namespace,) if prefix else None
    wanted = Wanted(param, ("entity", "note"), by_name=False, namespaces=namespaces)
    return resolve(ctx.tx, reference, wanted, ctx.caller)


def _memory(ctx: Context, reference: str) -> Located:
    found = _found(ctx, SUPERSEDES, reference)
    if found.kind != KIND:
        raise InvalidInput(f"memory.remember: 'supersedes' must name a memory; {found.id} is of the kind {found.kind}")
    return found


def _row(ctx: Context, args: models.RememberArgs, source: Located | None) -> NoteRow:
    said = resolved(args.memory_type, args.salience, args.decay_factor)
    properties: dict[str, object] = {"memory_type": said.memory_type}
    if args.tags:
        properties["tags"] = args.tags
    if source is not None:
        properties["source_id"] = source.id
    if ctx.caller.session_id is not None:
        properties["session_id"] = ctx.caller.session_id
    return NoteRow(
        id=new_id(),
        namespace=ctx.namespace,
        kind=KIND,
        content=args.content,
        salience=said.salience,
        decay_factor=said.decay_factor,
        properties=dump(properties),
        key=args.idempotency_key,
        created_at=ctx.now_us,
        updated_at=ctx.now_us,
    )


def _link(ctx: Context, relation: str, memory: NoteRow, target: Located) -> str:
    """Join the new memory to a record; a note may annotate anything and supersede another note."""
    row = EdgeRow(
        id=new_id(),
        namespace=memory.namespace,
        source_id=memory.id,
        target_id=target.id,
        relation=relation,
        created_at=ctx.now_us,
        updated_at=ctx.now_us,
    )
    edges.insert(ctx.tx, row)
    ctx.emit(
        "link_created",
        "edge",
        row.id,
        {
            "id": row.id,
            "namespace": row.namespace,
            "source_id": row.source_id,
            "target_id": row.target_id,
            "relation": relation,
            "weight": row.weight,
        },
    )
    return row.id


def _replay(ctx: Context, holder: NoteRow, content: str) -> models.Remembered:
    """The memory that holds the key; other content, or a holder that the policy hides, is a conflict."""
    disclosed = ctx.permits("list", {"kind": KIND, "namespace": holder.namespace, "key": holder.key})
    if disclosed and holder.content == content:
        ctx.touch("note", holder.id)
        joined = memories.edges_from(ctx.tx, holder.id)
        told = _told(holder)
        told["replayed"] = True
        if ANNOTATES in joined:
            told["edge_id"] = joined[ANNOTATES]
        if SUPERSEDES in joined:
            told["supersedes_edge_id"] = joined[SUPERSEDES]
        return told
    details: dict[str, object] = {"reason": REASON, "key": holder.key}
    if disclosed:
        details["existing_id"] = holder.id
    raise IdempotencyKeyConflict(
        f"memory.remember: a memory of namespace {holder.namespace!r} already holds the idempotency key {holder.key!r}"
        " with other content; nothing was written",
        details=details,
    )


def _told(row: NoteRow) -> models.Remembered:
    said = resolved(load_object(row.properties).get("memory_type"), row.salience, row.decay_factor)
    return {
        "id": row.id,
        "full_id": row.id,
        "kind": row.kind,
        "salience": said.salience,
        "decay_factor": said.decay_factor,
        "memory_type": said.memory_type,
        "created_at": iso(row.created_at),
    }
