"""How an entry is found again: its rows in the text indexes and among the tags and signals.

Invariant: exactly the current revision of an entry is indexed, in the transaction that made it current.
"""

from __future__ import annotations

from hivekeep.agent import signals
from hivekeep.agent.curated import content as contents
from hivekeep.agent.curated.content import Content
from hivekeep.storage import agent_entries, agent_retrieval, agent_revisions
from hivekeep.storage.agent_entries import EntryRow
from hivekeep.storage.agent_retrieval import IndexedEntry
from hivekeep.storage.engine import Tx


def put(tx: Tx, entry: EntryRow, content: Content) -> None:
    """Index what an entry says now, in the place of what it said before."""
    agent_retrieval.index_entry(tx, of(entry, content))


def of(entry: EntryRow, content: Content) -> IndexedEntry:
    """What the indexes hold of an entry that says this now."""
    return IndexedEntry(
        seq=entry.seq,
        workspace=entry.workspace,
        revision=entry.revision,
        title=content.title,
        summary=content.summary,
        body=content.body,
        tags=content.tags,
        signals=signals.of_scope(content.scope),
    )


def forget(tx: Tx, entry: EntryRow) -> None:
    """Take an entry out of the indexes."""
    agent_retrieval.unindex_entry(tx, entry.workspace, entry.seq)


def rebuild(tx: Tx) -> list[str]:
    """Build the indexes of all entries anew from their current revisions; answers the names of the text indexes."""
    agent_retrieval.clear(tx)
    for entry in agent_entries.everywhere(tx):
        row = agent_revisions.get(tx, entry.seq, entry.revision)
        if row is not None:
            put(tx, entry, contents.of_revision(row))
    return agent_retrieval.settle(tx)
