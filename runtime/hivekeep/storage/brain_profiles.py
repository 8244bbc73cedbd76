"""Tuning profiles and the bindings that say whom they serve.

Keeps true: both belong to one namespace, that of their makers; a binding is unique by what it matches.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import Where, marks, sql


class ProfileRow(NamedTuple):
    """One profile; `created_at` is None for one that nobody made."""

    namespace: str
    profile_id: str
    description: str | None
    consumer_kind: str
    state_class: str
    lifecycle: str
    created_at: int | None
    updated_at: int


class BindingRow(NamedTuple):
    """Which profile serves an actor in a namespace for a consumer kind; each of the three may be the wildcard."""

    namespace: str
    actor: str
    for_namespace: str
    consumer_kind: str
    profile_id: str
    priority: int
    created_at: int


class BindingFilter(NamedTuple):
    """Conditions on bindings, each by equality; None stands for no condition."""

    profile_id: str | None = None
    actor: str | None = None
    for_namespace: str | None = None
    consumer_kind: str | None = None


_PROFILE_COLUMNS: Final = ", ".join(ProfileRow._fields)
_PROFILES: Final = sql("SELECT {columns} FROM brain_profiles WHERE namespace = ?", columns=_PROFILE_COLUMNS)
_PROFILE: Final = _PROFILES + " AND profile_id = ?"
_PUT_PROFILE: Final = sql(
    "INSERT OR REPLACE INTO brain_profiles ({columns}) VALUES ({marks})",
    columns=_PROFILE_COLUMNS,
    marks=marks(len(ProfileRow._fields)),
)
_BINDING_COLUMNS: Final = ", ".join(BindingRow._fields)
_BINDINGS: Final = sql("SELECT {columns} FROM brain_bindings WHERE ", columns=_BINDING_COLUMNS)
_MATCHING: Final = (
    _BINDINGS
    + "namespace = ?1 AND actor IN (?2, ?5) AND for_namespace IN (?3, ?5) AND consumer_kind IN (?4, ?5)"
    + " ORDER BY created_at DESC, profile_id"
)
_PUT_BINDING: Final = sql(
    "INSERT OR REPLACE INTO brain_bindings ({columns}) VALUES ({marks})",
    columns=_BINDING_COLUMNS,
    marks=marks(len(BindingRow._fields)),
)


def get(tx: Tx, namespace: str, profile_id: str) -> ProfileRow | None:
    """The profile of a name, when somebody made or changed it."""
    row = tx.one(_PROFILE, (namespace, profile_id))
    return None if row is None else ProfileRow._make(row)


def all_of(tx: Tx, namespace: str) -> list[ProfileRow]:
    """Every profile that somebody made or changed, by name."""
    return [ProfileRow._make(row) for row in tx.all(_PROFILES + " ORDER BY profile_id", (namespace,))]


def put(tx: Tx, row: ProfileRow) -> None:
    """Store a profile, in the place of the one of this name."""
    tx.run(_PUT_PROFILE, row)


def bind(tx: Tx, row: BindingRow) -> None:
    """Store a binding, in the place of the one that matches the same."""
    tx.run(_PUT_BINDING, row)


def unbind(tx: Tx, namespace: str, filters: BindingFilter) -> int:
    """Remove the bindings that meet every condition; answers how many."""
    where = _conditions(namespace, filters)
    tx.run(sql("DELETE FROM brain_bindings WHERE {where}", where=where.text), where.args)
    return tx.changes()


def bindings(tx: Tx, namespace: str, filters: BindingFilter) -> list[BindingRow]:
    """The bindings that meet every condition, highest priority first, then newest."""
    where = _conditions(namespace, filters)
    ordered = " ORDER BY priority DESC, created_at DESC, actor, for_namespace, consumer_kind"
    return [BindingRow._make(row) for row in tx.all(_BINDINGS + where.text + ordered, where.args)]


def matching(
    tx: Tx, namespace: str, actor: str, for_namespace: str, consumer_kind: str, wildcard: str
) -> list[BindingRow]:
    """The bindings whose three values each equal the wanted one or the wildcard, newest first."""
    wanted = (namespace, actor, for_namespace, consumer_kind, wildcard)
    return [BindingRow._make(row) for row in tx.all(_MATCHING, wanted)]


def _conditions(namespace: str, filters: BindingFilter) -> Where:
    where = Where()
    where.equal("namespace", namespace)
    for column, value in filters._asdict().items():
        where.equal(column, value)
    return where
