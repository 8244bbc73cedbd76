"""Which two records may be merged: the safety floor.

Invariant: records of different kinds are never merged; the other checks only keep entities apart that probably do not
mean the same, and a caller may skip them.
"""

import string
from collections.abc import Iterable
from typing import Any, NamedTuple

from hivekeep.packs.kg.comparing import canonical
from hivekeep.packs.kg.scopes import a
from hivekeep.storage.entities import EntityRow
from hivekeep.storage.json_text import dump, load_object
from hivekeep.storage.notes import NoteRow
from hivekeep_contract.limits import MERGE_PREFIX_MIN_CHARS
from hivekeep_contract.models import kg as models

TRIGRAM = 3
PROJECTS = "projects"
_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


class Refusal(NamedTuple):
    """Why two records are not merged: the check, the field it compared, what that holds on both sides, a sentence."""

    guard: models.MergeGuard
    compared: str
    into_value: Any
    from_value: Any
    detail: str


def entity_refusal(into: EntityRow, gone: EntityRow, force: bool) -> Refusal | None:
    """The first check that two entities do not pass; `force` leaves only the kind."""
    if into.kind != gone.kind:
        return _other_kind("entity_kind", into, gone)
    if force:
        return None
    if not alike(into.name, gone.name):
        detail = f"the names {into.name!r} and {gone.name!r} are not alike"
        return Refusal("name_similarity", "name", into.name, gone.name, detail)
    ours, theirs = (load_object(row.properties).get(PROJECTS) for row in (into, gone))
    if disjoint(ours, theirs):
        detail = f"the projects {dump(ours)} and {dump(theirs)} have no common member"
        return Refusal("project_compatibility", f"properties.{PROJECTS}", ours, theirs, detail)
    return None


def note_refusal(into: NoteRow, gone: NoteRow, force: bool) -> Refusal | None:
    """Two notes need the same kind and nothing more, so `force` has nothing to leave out."""
    return None if into.kind == gone.kind else _other_kind("note_kind", into, gone)


def _other_kind(guard: models.MergeGuard, into: EntityRow | NoteRow, gone: EntityRow | NoteRow) -> Refusal:
    detail = f"{into.id} is {a(into.kind)} and {gone.id} is {a(gone.kind)}"
    return Refusal(guard, "kind", into.kind, gone.kind, detail)


def alike(one: str, other: str) -> bool:
    """Whether two names may name the same: equal or one the beginning of the other, or half of their trigrams shared.

    Case and the amount of white space do not count.
    """
    shorter, longer = sorted((_plain(one), _plain(other)), key=len)
    if not shorter:
        return False
    if shorter == longer:
        return True
    if len(shorter) >= MERGE_PREFIX_MIN_CHARS and longer.startswith(shorter):
        return True
    left, right = _trigrams(shorter), _trigrams(longer)
    common = len(left & right)
    return common > 0 and 4 * common >= len(left) + len(right)


def _plain(name: str) -> str:
    return " ".join(name.lower().split())


def _trigrams(text: str) -> set[str]:
    return {text[start : start + TRIGRAM] for start in range(len(text) - TRIGRAM + 1)}


def disjoint(one: Any, other: Any) -> bool:
    """Whether both are lists that hold something, and nothing in common."""
    if not (isinstance(one, list) and isinstance(other, list) and one and other):
        return False
    return _members(one).isdisjoint(_members(other))


def _members(values: Iterable[Any]) -> set[str]:
    """Values by what they are compared by: texts without outer white space and ASCII case, others as they are."""
    return {canonical(value.strip().translate(_ASCII_LOWER) if isinstance(value, str) else value) for value in values}
