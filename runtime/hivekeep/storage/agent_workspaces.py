"""Repositories that share a workspace, and the folders that are known to be their checkouts.

Invariant: one remote belongs to one repository and one folder to one; both only ever point at a stored repository.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import marks, sql


class RepositoryRow(NamedTuple):
    """A repository. `remote_key` is the fingerprint of its remote, if it has one; `created_at` is in microseconds."""

    id: str
    workspace: str
    remote_key: str | None
    created_at: int


_COLUMNS: Final = ", ".join(RepositoryRow._fields)
_SELECT: Final = sql("SELECT {columns} FROM agent_repositories", columns=_COLUMNS)
_BY_ID: Final = _SELECT + " WHERE id = ?"
_BY_REMOTE: Final = _SELECT + " WHERE remote_key = ?"
_BY_PLACE: Final = sql(
    "{select} WHERE id = (SELECT repository_id FROM agent_repository_places WHERE path = ?)", select=_SELECT
)
_INSERT: Final = sql(
    "INSERT INTO agent_repositories ({columns}) VALUES ({marks})",
    columns=_COLUMNS,
    marks=marks(len(RepositoryRow._fields)),
)
_CHANGE: Final = "UPDATE agent_repositories SET workspace = ?, remote_key = coalesce(remote_key, ?) WHERE id = ?"
_IN_WORKSPACE: Final = "SELECT 1 FROM agent_repositories WHERE workspace = ? LIMIT 1"
_PUT_PLACE: Final = "INSERT OR REPLACE INTO agent_repository_places (path, repository_id, created_at) VALUES (?, ?, ?)"


def by_id(tx: Tx, repository_id: str) -> RepositoryRow | None:
    """The repository of an id."""
    return _one(tx, _BY_ID, repository_id)


def by_remote(tx: Tx, remote_key: str) -> RepositoryRow | None:
    """The repository of a remote's fingerprint."""
    return _one(tx, _BY_REMOTE, remote_key)


def by_place(tx: Tx, path: str) -> RepositoryRow | None:
    """The repository that a folder is a checkout of."""
    return _one(tx, _BY_PLACE, path)


def is_project(tx: Tx, workspace: str) -> bool:
    """Whether a workspace is that of a known repository."""
    return tx.one(_IN_WORKSPACE, (workspace,)) is not None


def insert(tx: Tx, row: RepositoryRow) -> None:
    """Store a repository."""
    tx.run(_INSERT, row)


def change(tx: Tx, repository_id: str, workspace: str, remote_key: str | None) -> None:
    """Give a repository its workspace, and a remote unless it has one."""
    tx.run(_CHANGE, (workspace, remote_key, repository_id))


def put_place(tx: Tx, path: str, repository_id: str, now_us: int) -> None:
    """Note that a folder is a checkout of a repository."""
    tx.run(_PUT_PLACE, (path, repository_id, now_us))


def _one(tx: Tx, statement: str, *args: object) -> RepositoryRow | None:
    row = tx.one(statement, args)
    return None if row is None else RepositoryRow._make(row)
