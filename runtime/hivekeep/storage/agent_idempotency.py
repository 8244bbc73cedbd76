"""What the gateway answered to each idempotency key.

Invariant: a row is written in the transaction of the mutation it acknowledges, so it exists exactly when that
happened. It is found by one point lookup, however many there are; the key itself is never stored.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from hivekeep.storage import json_text
from hivekeep.storage.engine import Tx


class StoredAnswer(NamedTuple):
    """The hash of the request that a key was used with, and the acknowledgement it got."""

    request_hash: str
    response: dict[str, Any]


FIND: Final = "SELECT request_hash, response FROM agent_idempotency WHERE scope = ? AND key_hash = ?"
_INSERT: Final = (
    "INSERT INTO agent_idempotency (scope, key_hash, request_hash, response, run_seq, created_at)"
    " VALUES (?, ?, ?, ?, ?, ?)"
)


def find(tx: Tx, scope: str, key_hash: str) -> StoredAnswer | None:
    """What a key of a scope was answered, or None when it is free."""
    row = tx.one(FIND, (scope, key_hash))
    return None if row is None else StoredAnswer(str(row[0]), json_text.load_object(row[1]))


def insert(tx: Tx, scope: str, key_hash: str, answer: StoredAnswer, run_seq: int, now_us: int) -> None:
    """Store the answer of a key that is free; it goes with the run of that number."""
    response = json_text.dump(answer.response)
    tx.run(_INSERT, (scope, key_hash, answer.request_hash, response, run_seq, now_us))
