"""What feedback taught the profiles of a namespace, one row for each thing that is believed.

Keeps true: a state, its targets and its sections are only written together with a larger `updated_at` and an entry of
the private log, in one transaction; so whoever reads `updated_at` knows whether anything changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import marks, members, sql


class StateRow(NamedTuple):
    """The beliefs of one profile in one namespace. `target_count` is how many rows of targets it has."""

    namespace: str
    profile_id: str
    relevance_alpha: float
    relevance_beta: float
    salience_alpha: float
    salience_beta: float
    temporal_alpha: float
    temporal_beta: float
    target_count: int
    total_events: int
    exploration_epoch: int
    section_events: int
    section_epoch: int
    updated_at: int


class TargetRow(NamedTuple):
    """What is believed of one record."""

    target_id: str
    alpha: float
    beta: float


class SectionRow(NamedTuple):
    """What is believed of one section, and where that began."""

    section: str
    alpha: float
    beta: float
    prior_alpha: float
    prior_beta: float


class Mass(NamedTuple):
    """How much implicit feedback on a record counted at a moment."""

    mass: float
    updated_at: int


_OWNER: Final = " WHERE namespace = ? AND profile_id = ?"
_STATE_COLUMNS: Final = ", ".join(StateRow._fields)
_STATE: Final = sql("SELECT {columns} FROM brain_states{owner}", columns=_STATE_COLUMNS, owner=_OWNER)
_PUT_STATE: Final = sql(
    "INSERT OR REPLACE INTO brain_states ({columns}) VALUES ({marks})",
    columns=_STATE_COLUMNS,
    marks=marks(len(StateRow._fields)),
)
_TARGETS: Final = sql("SELECT target_id, alpha, beta FROM brain_targets{owner}", owner=_OWNER)
_TARGET: Final = _TARGETS + " AND target_id = ?"
_NEWEST_TARGETS: Final = _TARGETS + " ORDER BY seq DESC LIMIT ?"
_ADD_TARGET: Final = "INSERT INTO brain_targets (namespace, profile_id, target_id, alpha, beta) VALUES (?, ?, ?, ?, ?)"
_SET_TARGET: Final = sql("UPDATE brain_targets SET alpha = ?, beta = ?{owner} AND target_id = ?", owner=_OWNER)
_DROP_OLDEST: Final = (
    "DELETE FROM brain_targets WHERE seq = (SELECT min(seq) FROM brain_targets WHERE namespace = ? AND profile_id = ?)"
)
_DROP_TARGETS: Final = sql("DELETE FROM brain_targets{owner}", owner=_OWNER)
_SECTIONS: Final = sql(
    "SELECT section, alpha, beta, prior_alpha, prior_beta FROM brain_sections{owner} ORDER BY section", owner=_OWNER
)
_PUT_SECTION: Final = (
    "INSERT OR REPLACE INTO brain_sections (namespace, profile_id, section, alpha, beta, prior_alpha, prior_beta)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_LOG: Final = (
    "INSERT INTO brain_events (id, namespace, profile_id, event_kind, payload, created_at) VALUES (?, ?, ?, ?, ?, ?)"
)
_MASS: Final = sql("SELECT mass, updated_at FROM brain_mass{owner} AND target_id = ?", owner=_OWNER)
_PUT_MASS: Final = (
    "INSERT OR REPLACE INTO brain_mass (namespace, profile_id, target_id, mass, updated_at) VALUES (?, ?, ?, ?, ?)"
)
_SWEEP_MASS: Final = sql(
    "DELETE FROM brain_mass{owner} AND target_id IN"
    " (SELECT target_id FROM brain_mass{owner} AND updated_at < ? ORDER BY updated_at LIMIT ?)",
    owner=_OWNER,
)
_DROP_MASS: Final = sql("DELETE FROM brain_mass{owner}", owner=_OWNER)


def get(tx: Tx, namespace: str, profile_id: str) -> StateRow | None:
    """The beliefs of a profile, when it has learned anything in this namespace."""
    row = tx.one(_STATE, (namespace, profile_id))
    return None if row is None else StateRow._make(row)


def put(tx: Tx, row: StateRow) -> None:
    """Store the beliefs of a profile."""
    tx.run(_PUT_STATE, row)


def target(tx: Tx, namespace: str, profile_id: str, target_id: str) -> TargetRow | None:
    """What is believed of one record."""
    row = tx.one(_TARGET, (namespace, profile_id, target_id))
    return None if row is None else TargetRow._make(row)


def targets(tx: Tx, namespace: str, profile_id: str, target_ids: Sequence[str]) -> list[TargetRow]:
    """What is believed of those of the records on which there was feedback."""
    wanted = members(target_ids)
    statement = _TARGETS + " AND target_id IN (" + wanted.sql + ")"
    return [TargetRow._make(row) for row in tx.all(statement, (namespace, profile_id, *wanted.args))]


def newest_targets(tx: Tx, namespace: str, profile_id: str, limit: int) -> list[TargetRow]:
    """The records that got their first feedback last."""
    return [TargetRow._make(row) for row in tx.all(_NEWEST_TARGETS, (namespace, profile_id, limit))]


def add_target(tx: Tx, namespace: str, profile_id: str, row: TargetRow) -> None:
    """Begin to believe something of a record."""
    tx.run(_ADD_TARGET, (namespace, profile_id, *row))


def set_target(tx: Tx, namespace: str, profile_id: str, row: TargetRow) -> None:
    """Change what is believed of a record."""
    tx.run(_SET_TARGET, (row.alpha, row.beta, namespace, profile_id, row.target_id))


def drop_oldest_target(tx: Tx, namespace: str, profile_id: str) -> None:
    """Forget the record that got its first feedback before all others."""
    tx.run(_DROP_OLDEST, (namespace, profile_id))


def drop_targets(tx: Tx, namespace: str, profile_id: str) -> None:
    """Forget every record, and how much implicit feedback counted."""
    tx.run(_DROP_TARGETS, (namespace, profile_id))
    tx.run(_DROP_MASS, (namespace, profile_id))


def sections(tx: Tx, namespace: str, profile_id: str) -> list[SectionRow]:
    """What is believed of sections, by name."""
    return [SectionRow._make(row) for row in tx.all(_SECTIONS, (namespace, profile_id))]


def put_sections(tx: Tx, namespace: str, profile_id: str, rows: Sequence[SectionRow]) -> None:
    """Store what is believed of sections."""
    tx.many(_PUT_SECTION, [(namespace, profile_id, *row) for row in rows])


def log(tx: Tx, event_id: str, namespace: str, profile_id: str, event_kind: str, payload: str, created_at: int) -> None:
    """Append to the history of a state; `payload` is JSON text."""
    tx.run(_LOG, (event_id, namespace, profile_id, event_kind, payload, created_at))


def mass(tx: Tx, namespace: str, profile_id: str, target_id: str) -> Mass | None:
    """How much implicit feedback on a record counted, and when that was."""
    row = tx.one(_MASS, (namespace, profile_id, target_id))
    return None if row is None else Mass._make(row)


def put_mass(tx: Tx, namespace: str, profile_id: str, target_id: str, mass: Mass) -> None:
    """Note how much implicit feedback on a record counts now."""
    tx.run(_PUT_MASS, (namespace, profile_id, target_id, *mass))


def sweep_mass(tx: Tx, namespace: str, profile_id: str, before: int, limit: int) -> None:
    """Forget the oldest masses that were last noted before a moment, at most `limit` of them."""
    tx.run(_SWEEP_MASS, (namespace, profile_id, namespace, profile_id, before, limit))
