"""resolve: which entities references in plain words mean.

Invariant: a stage that finds several entities answers with all it may show of them; none is ever picked. The stages
are asked in the order of how sure they are of the caller's words, and the first that finds something answers.
"""

from collections.abc import Sequence
from typing import NamedTuple

from hivekeep.identity.ids import classify
from hivekeep.packs.context import Context
from hivekeep.packs.kg.redirects import kept
from hivekeep.packs.kg.search import check_query
from hivekeep.packs.ontology import KindRef
from hivekeep.search import hybrid
from hivekeep.search.hybrid import EntitySearch
from hivekeep.storage import entities, records
from hivekeep.storage.entities import EntityRow
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.limits import AMBIGUOUS_SHOWN, RESOLVE_CONFIDENCE, RESOLVE_LEAD, RESOLVE_SEARCH_DEPTH
from hivekeep_contract.models import kg as models


class Wanted(NamedTuple):
    """What the whole call says about its references."""

    kind: KindRef
    limit: int
    recent: Sequence[EntityRow]


def resolve(ctx: Context, args: models.ResolveArgs) -> models.References:
    """What each reference means; raises InvalidInput, RedirectCycle, RedirectChainTooLong, PermissionDenied."""
    wanted = Wanted(_kind(ctx, args.kind), args.limit, _recent(ctx))
    for ref in args.refs:
        check_query("resolve", "each of refs", ref)
    return {"results": [_resolved(ctx, ref, wanted) for ref in args.refs]}


def _kind(ctx: Context, word: str | None) -> KindRef:
    kind = KindRef("entity") if word is None else ctx.ontology.kind(word)
    if kind.substrate != "entity":
        accepted = ", ".join(("entity", *ctx.ontology.entity_kinds))
        raise InvalidInput(f"resolve: 'kind' must be an entity kind, not {word!r}; accepted: {accepted}")
    return kind


def _recent(ctx: Context) -> list[EntityRow]:
    """The entities that the caller named last and that are still there, most recent first."""
    ids = ctx.recent.of(ctx.caller, ctx.namespace)
    rows = entities.get_many(ctx.tx, ids)
    return [rows[record_id] for record_id in ids if record_id in rows]


def _resolved(ctx: Context, ref: str, wanted: Wanted) -> models.Reference:
    words = ref.strip()
    if not words:
        return _nothing(ref)
    if classify(words).form != "name":
        return _by_id(ctx, ref, words)
    return (
        _by_recent_name(ref, words, wanted)
        or _by_part_of_recent_name(ref, words, wanted)
        or _by_exact_name(ctx, ref, words, wanted)
        or _by_search(ctx, ref, words, wanted)
    )


# the stages


def _by_id(ctx: Context, ref: str, text: str) -> models.Reference:
    """Stage 1: a live entity, or a merged one that leads to a live one."""
    written = classify(text)
    ids = [written.text]
    if written.form == "prefix":
        ids = _with_prefix(ctx, written.text)
    if len(ids) > 1:
        candidates: list[models.ReferenceCandidate] = [
            {"id": record_id, "name": None, "score": RESOLVE_CONFIDENCE["id"]} for record_id in ids[:AMBIGUOUS_SHOWN]
        ]
        return {"ref": ref, "status": "ambiguous", "candidates": candidates}
    row = entities.get(ctx.tx, ids[0], include_deleted=True) if ids else None
    found, walked = (None, []) if row is None else kept(ctx.tx, row)
    if found is None:
        return _nothing(ref)
    result = _one(ref, found.id, "id")
    if walked:
        ctx.ask_gate(ctx.verb, {"refs": [found.id]})
        result["redirected_from"] = walked
    return result


def _with_prefix(ctx: Context, prefix: str) -> list[str]:
    """The entities whose id begins so; tombstones count only when there is no live one."""
    for include_deleted in (False, True):
        found = records.find_prefix(ctx.tx, prefix, ("entity",), include_deleted)
        if found:
            break
    return [record_id for _, record_id in found]


def _by_recent_name(ref: str, words: str, wanted: Wanted) -> models.Reference | None:
    """Stage 2: an entity that the caller named last has this name."""
    plain = _folded(words)
    return _of_rows(ref, [row for row in wanted.recent if _folded(row.name) == plain], "recent")


def _by_part_of_recent_name(ref: str, words: str, wanted: Wanted) -> models.Reference | None:
    """Stage 2b: its name holds the reference, or the reference holds its name."""
    plain = _folded(words)
    found = [row for row in wanted.recent if plain in (name := _folded(row.name)) or name in plain]
    return _of_rows(ref, found, "recent_part")


def _by_exact_name(ctx: Context, ref: str, words: str, wanted: Wanted) -> models.Reference | None:
    """Stage 3: live entities of the caller's namespace that are called just so."""
    found = [row for row in entities.find_by_exact_name(ctx.tx, ctx.namespace, words) if _fits(row, wanted.kind)]
    return _of_rows(ref, found, "exact_name")


def _by_search(ctx: Context, ref: str, words: str, wanted: Wanted) -> models.Reference:
    """Stage 4: the only hit, or the one that leads the second clearly."""
    search = EntitySearch(
        query=words,
        namespaces=(ctx.namespace,),
        kind=wanted.kind.kind,
        entity_type=wanted.kind.entity_type,
        limit=max(wanted.limit, RESOLVE_SEARCH_DEPTH),
    )
    hits = [hit for hit in hybrid.search_entities(ctx.tx, search).hits if hit.score > 0]
    if not hits:
        return _nothing(ref)
    if len(hits) == 1 or hits[0].score >= RESOLVE_LEAD * hits[1].score:
        return _one(ref, hits[0].id, "search")
    candidates: list[models.ReferenceCandidate] = [
        {"id": hit.id, "name": hit.title, "score": hit.score} for hit in hits[: wanted.limit]
    ]
    return {"ref": ref, "status": "ambiguous", "candidates": candidates}


# answers


def _folded(text: str) -> str:
    """The text with its ASCII letters in lower case; `str.lower` would also change others."""
    return text.translate(_ASCII_LOWER)


_ASCII_LOWER = {letter: letter + 32 for letter in range(ord("A"), ord("Z") + 1)}


def _fits(row: EntityRow, kind: KindRef) -> bool:
    return kind.kind in (None, row.kind) and kind.entity_type in (None, row.entity_type)


def _of_rows(ref: str, rows: Sequence[EntityRow], way: str) -> models.Reference | None:
    if not rows:
        return None
    if len(rows) == 1:
        return _one(ref, rows[0].id, way)
    candidates: list[models.ReferenceCandidate] = [
        {"id": row.id, "name": row.name, "score": RESOLVE_CONFIDENCE[way]} for row in rows[:AMBIGUOUS_SHOWN]
    ]
    return {"ref": ref, "status": "ambiguous", "candidates": candidates}


def _one(ref: str, entity_id: str, way: str) -> models.Reference:
    return {"ref": ref, "status": "resolved", "id": entity_id, "confidence": RESOLVE_CONFIDENCE[way]}


def _nothing(ref: str) -> models.Reference:
    return {"ref": ref, "status": "not_found"}
