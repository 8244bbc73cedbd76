"""Whether the entries of the curated memory are what was recorded.

Invariant: nothing is changed, a page of entries is in memory at a time, and a finding names an entry, not what it says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hivekeep.agent.curated import content as contents
from hivekeep.agent.curated import indexing, lifecycle, secrecy
from hivekeep.storage import agent_entries, agent_retrieval, agent_revisions
from hivekeep.storage.agent_entries import EntryRow
from hivekeep.storage.agent_revisions import RevisionRow
from hivekeep.storage.engine import Tx
from hivekeep_contract.gateway_errors import SecurityRejection


class Finding(NamedTuple):
    """What is wrong with an entry. `broken`: it is not what was recorded."""

    entry_id: str
    trouble: str
    broken: bool = True

    def __str__(self) -> str:
        return f"entry {self.entry_id}: {self.trouble}"


def examine(tx: Tx) -> Iterator[Finding]:
    """Every entry of every workspace: its revisions and their hashes, how it is found, what replaces it, credentials.

    `tx` must be a snapshot.
    """
    for entry in agent_entries.everywhere(tx):
        history = agent_revisions.history(tx, entry.seq)
        trouble = _of_history(entry, history) or _of_keys(tx, entry, history[-1]) or _of_replacement(tx, entry)
        if trouble is not None:
            yield Finding(entry.id, trouble)
        elif any(map(_holds_credential, history)):
            yield Finding(entry.id, "it holds what looks like a credential", broken=False)


def _of_history(entry: EntryRow, history: list[RevisionRow]) -> str | None:
    if [row.revision for row in history] != list(range(1, entry.revision + 1)):
        return f"it does not have the revisions 1 to {entry.revision}"
    for row in history:
        if contents.of_revision(row).hash != row.content_hash:
            return f"revision {row.revision} is not what was hashed"
    return None if history[-1].content_hash == entry.content_hash else "its hash is not that of its revision"


def _of_keys(tx: Tx, entry: EntryRow, current: RevisionRow) -> str | None:
    expected = indexing.of(entry, contents.of_revision(current))
    tags, signals = agent_retrieval.stored_keys(tx, entry.seq)
    if tags != agent_retrieval.tag_rows(expected):
        return "its tags are not those that it is found by"
    if signals != agent_retrieval.signal_rows(expected):
        return "its signals are not those that it is found by"
    return None


def _of_replacement(tx: Tx, entry: EntryRow) -> str | None:
    replaced_by = entry.superseded_by
    if replaced_by is None or lifecycle.is_purged(tx, replaced_by):
        return None
    found = agent_entries.get(tx, replaced_by)
    if found is None or found.workspace != entry.workspace:
        return "what replaces it is not there"
    return None


def _holds_credential(row: RevisionRow) -> bool:
    try:
        secrecy.refuse(contents.of_revision(row)._asdict().items())
    except SecurityRejection:
        return True
    return False
