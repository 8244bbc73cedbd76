"""context: entities and what surrounds them, within a budget of characters.

Invariant: the answer depends on the store and the arguments alone. Each entity stands once, and everything that was
found but did not fit is counted.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from hivekeep.compact_json import dump
from hivekeep.identity.resolve import Wanted, resolve
from hivekeep.packs.context import MAIN, Context
from hivekeep.packs.kg.expansion import Expansion
from hivekeep.packs.kg.search import check_query
from hivekeep.search import hybrid
from hivekeep.search.hybrid import EntitySearch
from hivekeep.search.meaning import NO_MEANING, Meaning, meaning_of
from hivekeep.storage import entities
from hivekeep.storage.edges import NeighborFilter, NeighborRow
from hivekeep.storage.entities import EntityRow
from hivekeep.storage.json_text import load_object
from hivekeep_contract.errors import InvalidInput, NotFound
from hivekeep_contract.limits import CONTEXT_DEFAULT, CONTEXT_MAX, CONTEXT_MIN, CONTEXT_SEARCH_FACTOR
from hivekeep_contract.models import kg as models
from hivekeep_contract.vocabulary import RELATIONS


class Numbers(NamedTuple):
    """The numbers of a call, within their ranges."""

    hops: int
    budget: int
    limit: int
    fanout: int


class Near(NamedTuple):
    """A neighbor that was found; `via` is the one between it and the anchor, None next to the anchor."""

    row: NeighborRow
    via: str | None


def context(ctx: Context, args: models.ContextArgs) -> models.ContextBody:
    """The anchors with their neighbors; raises InvalidInput, NotFound, Ambiguous, GraphBudgetExceeded."""
    query = (args.query or "").strip()
    if not query and not args.entity_ids:
        raise InvalidInput("context: give 'query' (not blank), 'entity_ids' (not empty) or both")
    check_query("context", "query", query)
    meaning = meaning_of(ctx.engines[MAIN].read, ctx.embedders, query) if query else NO_MEANING
    with ctx.reading() as reading:
        return _gathered(reading, args, query, meaning)


def _gathered(ctx: Context, args: models.ContextArgs, query: str, meaning: Meaning) -> models.ContextBody:
    numbers = Numbers(*(_clamped(name, getattr(args, name)) for name in Numbers._fields))
    filters = NeighborFilter(args.direction, tuple(args.relations or ()), kinds=ctx.ontology.entity_kinds)
    expansion = Expansion(ctx, filters)
    anchors = _named(ctx, args.entity_ids or ())
    if query:
        anchors += _found(ctx, query, meaning, anchors, numbers.limit)
    seen = {anchor.id for anchor in anchors}
    near = [_surroundings(expansion, anchor.id, numbers, seen) for anchor in anchors]
    body = _body(ctx, anchors, near, numbers.budget, undirected=_all_symmetric(filters.relations))
    _report(body, args, numbers)
    return body


def _clamped(name: str, given: int | None) -> int:
    return CONTEXT_DEFAULT[name] if given is None else max(CONTEXT_MIN[name], min(given, CONTEXT_MAX[name]))


def _all_symmetric(relations: Sequence[str]) -> bool:
    return bool(relations) and all(RELATIONS[relation].symmetric for relation in relations)


# anchors


def _named(ctx: Context, refs: Sequence[str]) -> list[EntityRow]:
    """The entities of the references, each once; raises NotFound that lists every reference without one."""
    wanted = Wanted("entity_ids", ("entity",))
    rows: dict[str, EntityRow] = {}
    missing = []
    for ref in refs:
        try:
            found = resolve(ctx.tx, ref, wanted, ctx.caller)
        except NotFound:
            missing.append(ref)
            continue
        row = rows.get(found.id) or entities.get(ctx.tx, found.id)
        if row is None or row.namespace not in ctx.visible():
            missing.append(ref)
        else:
            rows[row.id] = row
    if missing:
        names = ", ".join(missing)
        raise NotFound(f"entity_ids: not found: {names}", details={"param": "entity_ids", "id": names})
    return list(rows.values())


def _found(ctx: Context, query: str, meaning: Meaning, named: Sequence[EntityRow], limit: int) -> list[EntityRow]:
    """The best entities for the query that are not named anyway."""
    depth = (limit + len(named)) * CONTEXT_SEARCH_FACTOR
    search = EntitySearch(query=query, namespaces=ctx.visible(), limit=depth)
    known = {row.id for row in named}
    ids = [hit.id for hit in hybrid.search_entities(ctx.tx, search, meaning).hits if hit.id not in known]
    rows = (entities.get(ctx.tx, entity_id) for entity_id in ids[:limit])
    return [row for row in rows if row is not None]


# neighbors


def _surroundings(expansion: Expansion, anchor_id: str, numbers: Numbers, seen: set[str]) -> list[Near]:
    """The neighbors of an anchor that nothing before it has shown, in the order in which they are filled in."""
    if numbers.hops == 0:
        return []
    rows = expansion.neighbors(anchor_id, numbers.fanout)
    first = list(_unseen((Near(row, None) for row in rows), seen))
    if numbers.hops == 1:
        return first
    parents = [near.row.neighbor_id for near in first]
    pool = [Near(row, parent) for parent in parents for row in expansion.neighbors(parent, numbers.fanout)]
    pool.sort(key=lambda near: (-near.row.weight, near.row.neighbor_id, near.via))
    return [*first, *_unseen(pool, seen)]


def _unseen(found: Iterable[Near], seen: set[str]) -> Iterator[Near]:
    for near in found:
        if near.row.neighbor_id not in seen:
            seen.add(near.row.neighbor_id)
            yield near


# the budget


def _body(
    ctx: Context, anchors: Sequence[EntityRow], near: Sequence[Sequence[Near]], budget: int, *, undirected: bool
) -> models.ContextBody:
    """Fill in anchors, then their neighbors, as long as they fit."""
    left = budget
    shown: list[models.ContextAnchor] = []
    for anchor in anchors:
        entity = _entity(anchor)
        size = len(dump(entity))
        if size > left:
            break
        left -= size
        shown.append({"entity": entity, "neighbors": []})
    for entry, found in zip(shown, near, strict=False):
        for neighbor in _neighbors(ctx, entry["entity"]["id"], found, undirected=undirected):
            size = len(dump(neighbor))
            if size > left:
                break
            left -= size
            entry["neighbors"].append(neighbor)
    dropped: models.ContextDropped = {
        "anchors": len(anchors) - len(shown),
        "neighbors": sum(map(len, near)) - sum(len(entry["neighbors"]) for entry in shown),
    }
    return {"anchors": shown, "truncated": any(dropped.values()), "dropped": dropped}


def _entity(row: EntityRow) -> models.ContextEntity:
    return {
        "id": row.id,
        "name": row.name,
        "kind": row.kind,
        "description": row.description,
        "properties": load_object(row.properties),
    }


def _neighbors(
    ctx: Context, anchor_id: str, found: Sequence[Near], *, undirected: bool
) -> Iterator[models.ContextNeighbor]:
    rows = entities.get_many(ctx.tx, [near.row.neighbor_id for near in found])
    for near in found:
        entity, edge = rows[near.row.neighbor_id], near.row
        direction: models.Direction = "outgoing" if edge.source_id == (near.via or anchor_id) else "incoming"
        yield {
            "id": entity.id,
            "name": entity.name,
            "relation": edge.relation,
            "direction": "both" if undirected else direction,
            "weight": edge.weight,
            "hop": 1 if near.via is None else 2,
            "via": near.via,
            "description": entity.description,
        }


def _report(body: models.ContextBody, args: models.ContextArgs, numbers: Numbers) -> None:
    """Say of each number that the caller gave what was used instead."""
    fields: dict[str, object] = {}
    for name, used in numbers._asdict().items():
        given = getattr(args, name)
        if given is not None:
            fields[f"requested_{name}"] = given
            fields[f"effective_{name}"] = used
            fields[f"{name}_clamped"] = given != used
    body.update(fields)  # type: ignore[typeddict-item]
