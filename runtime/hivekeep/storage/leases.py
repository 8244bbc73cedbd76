"""Who does a piece of background work: one owner at a time, over all processes on one file.

Keeps true: a fence is given once and to one owner, and each later one is larger. An owner that went silent loses the
lease only to another claim, so work is safe when `holds` is asked in the very transaction that writes its result: as
long as it answers True nobody else was given the lease.

Every function needs a write transaction. Times are integer microseconds.
"""

from __future__ import annotations

from typing import Final

from hivekeep.storage.engine import Tx

_NOBODY: Final = ""

_CLAIM: Final = (
    "INSERT INTO leases (name, owner, fence, expires_at) VALUES (?1, ?2, 1, ?3) ON CONFLICT (name) DO UPDATE"
    " SET owner = excluded.owner, fence = fence + 1, expires_at = excluded.expires_at"
    " WHERE leases.expires_at <= ?4 OR leases.owner = excluded.owner RETURNING fence"
)
_RENEW: Final = "UPDATE leases SET expires_at = ? WHERE name = ? AND owner = ? AND fence = ?"
_RELEASE: Final = "UPDATE leases SET owner = ?, expires_at = 0 WHERE name = ? AND owner = ? AND fence = ?"
_HOLDS: Final = "SELECT 1 FROM leases WHERE name = ? AND owner = ? AND fence = ?"


def claim(tx: Tx, name: str, owner: str, ttl_us: int, now_us: int) -> int | None:
    """A new fence for the lease of this name until `now_us + ttl_us`; None while another owner has it.

    An owner that claims what it has gets a new fence, and its former one holds no more.
    """
    _check_owner(owner)
    granted = tx.all(_CLAIM, (name, owner, now_us + ttl_us, now_us))
    return int(granted[0][0]) if granted else None


def renew(tx: Tx, name: str, owner: str, fence: int, ttl_us: int, now_us: int) -> bool:
    """Keep the lease until `now_us + ttl_us`; False when it went to somebody else or was released.

    A lease that ran out and that nobody claimed is kept, too.
    """
    tx.run(_RENEW, (now_us + ttl_us, name, owner, fence))
    return tx.changes() == 1


def release(tx: Tx, name: str, owner: str, fence: int) -> None:
    """Give the lease up, so that anybody may claim it at once; no error when it is lost already."""
    tx.run(_RELEASE, (_NOBODY, name, owner, fence))


def holds(tx: Tx, name: str, owner: str, fence: int) -> bool:
    """Whether nobody was given the lease since this owner got this fence, and it was not released."""
    return tx.one(_HOLDS, (name, owner, fence)) is not None


def _check_owner(owner: str) -> None:
    if owner == _NOBODY:
        raise ValueError("the owner of a lease needs a name")
