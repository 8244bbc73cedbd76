"""Which records an edge may join, and what its metadata must say.

Invariant: every edge that is written has passed the same checks in the same order: both ends exist, they differ, their
substrates fit, the table of the loaded packs allows the pair.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hivekeep.packs.context import Context
from hivekeep.packs.ontology import Ontology
from hivekeep.storage.records import Located
from hivekeep_contract import vocabulary
from hivekeep_contract.errors import InvalidInput

DEPENDS_ON = "depends_on"
DEPENDENCY_KIND = "dependency_kind"
TABLED = ("entity", "note")
"""Substrates whose kinds the endpoint table of the loaded packs names."""


class Endpoints(NamedTuple):
    """The ends of an edge in stored order; `swapped` when the caller named them the other way round."""

    source_id: str
    target_id: str
    swapped: bool


def check_pair(ontology: Ontology, relation: str, source: Located, target: Located) -> None:
    """Refuse a pair that the relation may not join; raises InvalidInput with the relations that would fit."""
    if source.id == target.id:
        raise InvalidInput(f"{relation}: source and target are the same record {source.id}; an edge joins two")
    if joins(ontology, relation, source, target):
        return
    raise InvalidInput(
        f"{relation} may not join {_name(source)} -> {_name(target)}; "
        f"for this pair use: {', '.join(_fitting(ontology, source, target)) or 'no relation'}"
    )


def joins(ontology: Ontology, relation: str, source: Located, target: Located) -> bool:
    """Whether the substrates and kinds of two different records let the relation join them in this order."""
    note_to = vocabulary.RELATIONS[relation].note_to
    if source.substrate == "note" and (note_to == "any" or (note_to == "note" and target.substrate == "note")):
        return True
    return source.substrate == target.substrate in TABLED and ontology.allows(relation, source.kind, target.kind)


def check_note_rules(
    ctx: Context, relation: str, source: Located, target: Located, beside: Sequence[tuple[str, str]]
) -> None:
    """Ask the pack that owns the kind of a source note; `beside`: edges of the relation that the same call makes."""
    if source.substrate == "note":
        ctx.rules_of(source.kind).link(ctx, relation, source, target, beside)


def ordered(relation: str, source_id: str, target_id: str) -> Endpoints:
    """The ends as they are stored: a symmetric relation has the smaller id first."""
    if vocabulary.RELATIONS[relation].symmetric and target_id < source_id:
        return Endpoints(target_id, source_id, swapped=True)
    return Endpoints(source_id, target_id, swapped=False)


def edge_metadata(
    relation: str,
    source: Located,
    target: Located,
    metadata: Mapping[str, Any] | None,
    given_kind: str | None,
) -> dict[str, Any] | None:
    """The metadata to store: what the caller gave, with the dependency kind of a depends_on edge.

    Raises InvalidInput for a dependency kind on another relation, an unknown one, or two that differ.
    """
    inside = None if metadata is None else metadata.get(DEPENDENCY_KIND)
    if relation != DEPENDS_ON:
        if given_kind is not None or inside is not None:
            raise InvalidInput(f"dependency_kind belongs to {DEPENDS_ON} edges, not to {relation}")
        return None if metadata is None else dict(metadata)
    if inside is not None and inside not in vocabulary.DEPENDENCY_KINDS:
        accepted = ", ".join(vocabulary.DEPENDENCY_KINDS)
        raise InvalidInput(f"metadata.dependency_kind {inside!r} is unknown; accepted: {accepted}")
    if given_kind is not None and inside is not None and given_kind != inside:
        raise InvalidInput(f"dependency_kind={given_kind!r} contradicts metadata.dependency_kind={inside!r}")
    kind = given_kind or inside or vocabulary.DEPENDENCY_DEFAULTS.get((source.kind, target.kind))
    if kind is None:
        return None if metadata is None else dict(metadata)
    return {**(metadata or {}), DEPENDENCY_KIND: kind}


def _fitting(ontology: Ontology, source: Located, target: Located) -> list[str]:
    return [name for name in vocabulary.RELATIONS if joins(ontology, name, source, target)]


def _name(record: Located) -> str:
    return record.kind if record.substrate in ("entity", "note") else record.substrate
