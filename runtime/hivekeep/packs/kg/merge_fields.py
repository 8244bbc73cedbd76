"""What one record holds after two were merged.

Invariant: the strategies only choose where both records have something; what a single one has is never lost, and no tag
is.
"""

from typing import Any, NamedTuple

from hivekeep.packs.kg.comparing import canonical
from hivekeep.storage.entities import EntityRow
from hivekeep.storage.json_text import dump, load_object, load_tags
from hivekeep.storage.notes import NoteRow
from hivekeep_contract.limits import MERGE_SEPARATOR
from hivekeep_contract.models import kg as models

TAGS = "tags"


class Policy(NamedTuple):
    """How a caller wants two records to become one."""

    strategy: models.MergeStrategy
    content_strategy: models.MergeContentStrategy


class Fields(NamedTuple):
    """The columns of the kept record that a merge decides about, and what it counted on the way."""

    columns: dict[str, Any]
    properties_merged: int
    tags_unioned: int
    content_appended: bool


def entity_fields(into: EntityRow, gone: EntityRow, policy: Policy) -> Fields:
    """Name, type, description, properties and tags of two entities."""
    properties, added_keys = _properties(load_object(into.properties), load_object(gone.properties), policy)
    tags, added_tags = _tags(load_tags(into.tags), load_tags(gone.tags))
    columns = {
        "name": _chosen(into.name, gone.name, policy),
        "entity_type": _chosen(into.entity_type, gone.entity_type, policy),
        "description": _text(into.description, gone.description, policy),
        "properties": dump(properties),
        "tags": dump(tags),
    }
    return Fields(columns, added_keys, added_tags, _appends(gone.description, policy))


def note_fields(into: NoteRow, gone: NoteRow, policy: Policy) -> Fields:
    """Name, content and properties of two notes; their tags live in the properties."""
    ours, theirs = load_object(into.properties), load_object(gone.properties)
    tags, added_tags = _note_tags(ours, theirs)
    properties, added_keys = _properties(ours, theirs, policy)
    if tags is not None:
        properties[TAGS] = tags
    columns = {
        "name": _chosen(into.name, gone.name, policy),
        "content": _text(into.content, gone.content, policy),
        "properties": dump(properties),
    }
    return Fields(columns, added_keys, added_tags, _appends(gone.content, policy))


def _chosen(ours: str | None, theirs: str | None, policy: Policy) -> str | None:
    """The preferred one of two values, or the one that there is."""
    first, second = (theirs, ours) if policy.strategy == "prefer_from" else (ours, theirs)
    return second if first is None else first


def _text(ours: str | None, theirs: str | None, policy: Policy) -> str | None:
    """The text that two texts make; an empty one makes way for the other."""
    if not ours:
        return theirs or ours
    if not theirs:
        return ours
    if policy.content_strategy == "append":
        return ours + MERGE_SEPARATOR + theirs
    return theirs if policy.content_strategy == "prefer_from" else ours


def _appends(theirs: str | None, policy: Policy) -> bool:
    return policy.content_strategy == "append" and bool(theirs)


def _properties(ours: dict[str, Any], theirs: dict[str, Any], policy: Policy) -> tuple[dict[str, Any], int]:
    """The joined properties, and how many keys are new on the kept record."""
    if policy.strategy == "union":
        return _union(ours, theirs)
    added = sum(key not in ours for key in theirs)
    if policy.strategy == "prefer_from":
        return {**ours, **theirs}, added
    return {**ours, **{key: value for key, value in theirs.items() if key not in ours}}, added


def _union(ours: dict[str, Any], theirs: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """Objects on both sides are joined at any depth; of any other two values ours stays."""
    joined, added = dict(ours), 0
    for key, value in theirs.items():
        if key not in joined:
            joined[key] = value
            added += 1
        elif isinstance(joined[key], dict) and isinstance(value, dict):
            joined[key], below = _union(joined[key], value)
            added += below
    return joined, added


def _tags(ours: list[Any], theirs: list[Any]) -> tuple[list[Any], int]:
    """Ours, then theirs, each once whatever its case; and how many of theirs are new."""
    joined: dict[str, Any] = {}
    for tag in ours:
        joined.setdefault(_same_tag(tag), tag)
    before = len(joined)
    for tag in theirs:
        joined.setdefault(_same_tag(tag), tag)
    return list(joined.values()), len(joined) - before


def _same_tag(tag: Any) -> str:
    return canonical(tag.casefold() if isinstance(tag, str) else tag)


def _note_tags(ours: dict[str, Any], theirs: dict[str, Any]) -> tuple[list[Any] | None, int]:
    """Take the two lists out of the properties and join them; a `tags` that is no list stays a property like others."""
    found = [properties[TAGS] for properties in (ours, theirs) if TAGS in properties]
    if not found or not all(isinstance(tags, list) for tags in found):
        return None, 0
    return _tags(ours.pop(TAGS, []), theirs.pop(TAGS, []))
