"""What is done to an entry: record, revise, verify, supersede, disable, enable, link, purge.

Invariant: each is pure SQL in the caller's transaction and leaves one audit row; what it refuses it has not touched. A
revision is never changed, a verified entry is never revised by hand, and superseding and purging are final (gateway
rules, memory model).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from hivekeep.agent.canonical import canonical
from hivekeep.agent.curated import indexing
from hivekeep.agent.curated.content import Content
from hivekeep.identity.ids import new_id
from hivekeep.storage import agent_entries, agent_links, agent_revisions
from hivekeep.storage.agent_entries import AuditRow, EntryRow
from hivekeep.storage.agent_links import LinkRow, NamedLink
from hivekeep.storage.agent_revisions import RevisionRow
from hivekeep.storage.engine import Tx
from hivekeep_contract.gateway import ENTRY_OPERATIONS
from hivekeep_contract.gateway_errors import Conflict, IntegrityError, NotFound, ValidationError
from hivekeep_contract.limits import (
    ENTRY_CONFIDENCE_DEFAULT,
    ENTRY_STATUS_DEFAULT,
    ENTRY_TRUST_DEFAULT,
    GLOBAL_WORKSPACE,
)

CANDIDATE: Final = "candidate"
VERIFIED: Final = "verified"
SUPERSEDED: Final = "superseded"


class Author(NamedTuple):
    """Who does something, and the moment of it in microseconds."""

    name: str
    now_us: int


class Source(NamedTuple):
    """Where a managed entry stands in its source: the id of the source, what it calls the entry, the state there."""

    id: str
    mapping: str
    state: str


class NewEntry(NamedTuple):
    """An entry to record."""

    workspace: str
    content: Content
    status: str = ENTRY_STATUS_DEFAULT
    trust_level: str = ENTRY_TRUST_DEFAULT
    confidence: float = ENTRY_CONFIDENCE_DEFAULT
    source: Source | None = None


class Stored(NamedTuple):
    """An entry with its current revision; `changed` is False when it stood so before."""

    entry: EntryRow
    revision: RevisionRow
    changed: bool


def get(tx: Tx, entry_id: str) -> EntryRow:
    """The entry of a full id. Raises NotFound."""
    found = agent_entries.get(tx, entry_id)
    if found is None:
        raise NotFound("no_record")
    return found


def current(tx: Tx, entry: EntryRow) -> RevisionRow:
    """What an entry says now. Raises IntegrityError when the store has lost it."""
    found = agent_revisions.get(tx, entry.seq, entry.revision)
    if found is None:
        raise IntegrityError("broken_record")
    return found


def record(tx: Tx, new: NewEntry, by: Author) -> Stored:
    """Store an entry at revision 1, or answer the one of the workspace that says the same."""
    content_hash = new.content.hash
    existing = agent_entries.with_content(tx, new.workspace, content_hash)
    if existing is not None:
        return Stored(existing, current(tx, existing), changed=False)
    source_id, mapping, state = new.source or (None, None, None)
    entry = agent_entries.insert(
        tx,
        EntryRow(
            id=new_id(),
            workspace=new.workspace,
            status=new.status,
            trust_level=new.trust_level,
            confidence=new.confidence,
            revision=1,
            content_hash=content_hash,
            superseded_by=None,
            disabled=0,
            source_id=source_id,
            source_mapping=mapping,
            source_state=state,
            created_by=by.name,
            created_at=by.now_us,
            updated_at=by.now_us,
            verified_at=by.now_us if new.status == VERIFIED else None,
        ),
    )
    revision = _add_revision(tx, entry, new.content, by)
    note(tx, entry, "record", by)
    return Stored(entry, revision, changed=True)


def revise(tx: Tx, entry_id: str, expected_revision: int, content: Content, by: Author) -> Stored:
    """Give a candidate another content, as a new revision; the content that it has leaves it as it is.

    Raises NotFound; Conflict for another revision than expected, an entry that is no candidate or is managed by a
    source, and for content that another entry of the workspace has.
    """
    entry = get(tx, entry_id)
    _expect(entry, expected_revision)
    _expect_candidate(entry)
    if entry.source_id is not None:
        raise Conflict("managed_entry")
    return replace(tx, entry, content, by, "revise")


def replace(tx: Tx, entry: EntryRow, content: Content, by: Author, operation: str) -> Stored:
    """The new revision of an entry that was read in this transaction, whatever its status.

    Raises Conflict for content that another entry of the workspace has.
    """
    content_hash = content.hash
    if content_hash == entry.content_hash:
        return Stored(entry, current(tx, entry), changed=False)
    if agent_entries.with_content(tx, entry.workspace, content_hash) is not None:
        raise Conflict("entry_exists")
    changed = agent_entries.change(
        tx, entry, revision=entry.revision + 1, content_hash=content_hash, updated_at=by.now_us
    )
    revision = _add_revision(tx, changed, content, by)
    note(tx, changed, operation, by)
    return Stored(changed, revision, changed=True)


def verify(tx: Tx, entry_id: str, expected_revision: int, by: Author) -> Stored:
    """Make a candidate verified at the revision that its reader saw. Raises NotFound and Conflict."""
    entry = get(tx, entry_id)
    _expect(entry, expected_revision)
    _expect_candidate(entry)
    return _change(tx, entry, by, "verify", status=VERIFIED, verified_at=by.now_us)


def supersede(tx: Tx, entry_id: str, replacement_id: str, by: Author) -> Stored:
    """Say that another entry of the same workspace replaces this one.

    Raises NotFound; ValidationError when both are one; Conflict for another workspace, and when either is superseded
    already.
    """
    entry, replacement = get(tx, entry_id), get(tx, replacement_id)
    if entry.id == replacement.id:
        raise ValidationError("wrong_value", field="/replacementId")
    if entry.workspace != replacement.workspace:
        raise Conflict("other_workspace")
    if SUPERSEDED in (entry.status, replacement.status):
        # A replacement that was replaced itself could close a circle.
        raise Conflict("entry_superseded")
    changed = agent_entries.change(tx, entry, status=SUPERSEDED, superseded_by=replacement.id, updated_at=by.now_us)
    note(tx, changed, "supersede", by, other_id=replacement.id)
    return Stored(changed, current(tx, changed), changed=True)


def disable(tx: Tx, entry_id: str, by: Author) -> Stored:
    """Keep an entry from being delivered, whatever its status. Raises NotFound."""
    return _switch(tx, get(tx, entry_id), by, "disable", disabled=1)


def enable(tx: Tx, entry_id: str, by: Author) -> Stored:
    """Take `disable` back. Raises NotFound."""
    return _switch(tx, get(tx, entry_id), by, "enable", disabled=0)


def link(tx: Tx, from_id: str, to_id: str, relation: str, by: Author) -> tuple[NamedLink, bool]:
    """Relate two entries of a workspace, or one to an entry of the global workspace; answers whether it is new.

    Raises NotFound, ValidationError for one entry twice, and Conflict for entries of two workspaces.
    """
    first, second = get(tx, from_id), get(tx, to_id)
    if first.id == second.id:
        raise ValidationError("wrong_value", field="/toId")
    if first.workspace != second.workspace and GLOBAL_WORKSPACE not in (first.workspace, second.workspace):
        raise Conflict("other_workspace")
    found = agent_links.find(tx, first.seq, relation, second.seq)
    row = found or LinkRow(new_id(), first.seq, second.seq, relation, by.name, by.now_us)
    if found is None:
        agent_links.insert(tx, row)
        note(tx, first, "link", by, other_id=second.id)
    return NamedLink(row.id, first.id, second.id, row.relation, row.created_by, row.created_at), found is None


def purge(tx: Tx, entry_id: str, by: Author) -> EntryRow:
    """Remove an entry with its revisions, links, index rows and audit; one audit row without content is left.

    An entry that it replaced stays superseded, by the id of which nothing but that row is left. Raises NotFound.
    """
    entry = get(tx, entry_id)
    indexing.forget(tx, entry)
    agent_links.erase(tx, entry.seq)
    agent_revisions.erase(tx, entry.seq)
    agent_entries.erase(tx, entry)
    note(tx, entry, "purge", by)
    return entry


def is_purged(tx: Tx, entry_id: str) -> bool:
    """Whether there was an entry of this id that was purged."""
    return agent_entries.is_purged(tx, entry_id, ENTRY_OPERATIONS["purge"])


def note(tx: Tx, entry: EntryRow, operation: str, by: Author, other_id: str | None = None) -> None:
    """Leave an audit row; `operation` is a key of `ENTRY_OPERATIONS`."""
    word = ENTRY_OPERATIONS[operation]
    agent_entries.audit(tx, AuditRow(entry.workspace, word, entry.id, entry.revision, other_id, by.name, by.now_us))


def revision_row(entry_seq: int, revision: int, content: Content, by: Author) -> RevisionRow:
    """The row of a revision that an author makes."""
    return RevisionRow(
        entry_seq=entry_seq,
        revision=revision,
        kind=content.kind,
        title=content.title,
        body=content.body,
        summary=content.summary,
        scope=_json(content.scope),
        provenance=_json(content.provenance),
        tags=_json(content.tags),
        content_hash=content.hash,
        created_by=by.name,
        created_at=by.now_us,
    )


def _add_revision(tx: Tx, entry: EntryRow, content: Content, by: Author) -> RevisionRow:
    row = revision_row(entry.seq, entry.revision, content, by)
    agent_revisions.insert(tx, row)
    indexing.put(tx, entry, content)
    return row


def _json(value: object) -> str:
    """The spelling that exports and hashes have, so that no two of equal content differ."""
    return canonical(value).decode()


def _switch(tx: Tx, entry: EntryRow, by: Author, operation: str, *, disabled: int) -> Stored:
    if entry.disabled == disabled:
        return Stored(entry, current(tx, entry), changed=False)
    return _change(tx, entry, by, operation, disabled=disabled)


def _change(tx: Tx, entry: EntryRow, by: Author, operation: str, **changes: Any) -> Stored:
    changed = agent_entries.change(tx, entry, updated_at=by.now_us, **changes)
    note(tx, changed, operation, by)
    return Stored(changed, current(tx, changed), changed=True)


def _expect(entry: EntryRow, expected_revision: int) -> None:
    if entry.revision != expected_revision:
        raise Conflict("revision_differs")


def _expect_candidate(entry: EntryRow) -> None:
    if entry.status == SUPERSEDED:
        raise Conflict("entry_superseded")
    if entry.status != CANDIDATE:
        raise Conflict("not_candidate")
