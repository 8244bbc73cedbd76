"""Takes an exported file into a workspace.

Invariant: all of the file or nothing. What is here already as the file has it stays untouched, so taking a file in
twice changes nothing; what differs, or was purged here, refuses the file. Ids, history and moments are the file's.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from hivekeep.agent.canonical import ts_us
from hivekeep.agent.curated import checks, indexing, lifecycle
from hivekeep.agent.curated import content as contents
from hivekeep.agent.curated.archive import Archive, Line
from hivekeep.agent.curated.content import Content
from hivekeep.agent.curated.lifecycle import SUPERSEDED, Author
from hivekeep.agent.curated.managed import DISABLED
from hivekeep.storage import agent_entries, agent_links, agent_revisions, agent_sources
from hivekeep.storage.agent_entries import AuditRow, EntryRow
from hivekeep.storage.agent_links import LinkRow
from hivekeep.storage.agent_revisions import RevisionRow
from hivekeep.storage.agent_sources import SourceRow
from hivekeep.storage.engine import Tx
from hivekeep_contract.gateway import ENTRY_OPERATIONS
from hivekeep_contract.gateway_errors import Conflict, ValidationError
from hivekeep_contract.vocabulary import ENUMS

_STATUSES: Final = ENUMS["gateway.entry_status"]
_TRUST: Final = ENUMS["gateway.trust_level"]
_RELATIONS: Final = ENUMS["gateway.entry_relation"]
_STATES: Final = ENUMS["gateway.source_state"]
_SOURCE_STATES: Final = tuple(state for state in _STATES if state != "stale")
_SOURCE_FIELDS: Final = ("id", "mapping", "state")
_ID: Final = "gateway_uuid"
_HASH: Final = "hex64"


class Draft(NamedTuple):
    """An entry of a file, not yet stored: its row, and its revisions with what they say, oldest first."""

    entry: EntryRow
    revisions: list[tuple[RevisionRow, Content]]


class DraftLink(NamedTuple):
    """A link of a file by the ids of its entries, and the pointer to its line."""

    id: str
    from_id: str
    to_id: str
    relation: str
    created_by: str
    created_at: int
    at: str


class Incoming(NamedTuple):
    """Everything of a file as rows of one workspace."""

    workspace: str
    sources: list[SourceRow]
    entries: list[Draft]
    links: list[DraftLink]
    audit: list[AuditRow]


class Imported(NamedTuple):
    """How many of each were stored; `unchanged` counts entries that were here already."""

    entries: int
    unchanged: int
    links: int
    sources: int


def drafts(archive: Archive, workspace: str) -> Incoming:
    """The rows of a file for a workspace, each line looked at. Raises ValidationError."""
    both = zip(archive.entries, archive.revisions, strict=True)
    entries = [_draft(line, revisions, workspace) for line, revisions in both]
    return Incoming(
        workspace,
        [_source(line, workspace) for line in archive.sources],
        entries,
        [_link(line) for line in archive.links],
        [_audit(line, workspace) for line in archive.audit],
    )


def take_in(tx: Tx, incoming: Incoming, by: Author) -> Imported:
    """Store what is not here yet.

    Raises Conflict when something of the file is here with other content or was purged here, and ValidationError when a
    line refers to what is neither in the file nor here.
    """
    sources = sum(_take_source(tx, row) for row in incoming.sources)
    stored = {}
    for draft in incoming.entries:
        if _is_new(tx, draft):
            stored[draft.entry.id] = _store(tx, draft)
    _check_replacements(tx, incoming)
    links = sum(_take_link(tx, incoming.workspace, link) for link in incoming.links)
    agent_entries.audit_many(tx, [row for row in incoming.audit if row.entry_id in stored or _is_lost(tx, row)])
    imported = Imported(len(stored), len(incoming.entries) - len(stored), links, sources)
    if stored or links or sources:
        word = ENTRY_OPERATIONS["import"]
        agent_entries.audit(tx, AuditRow(incoming.workspace, word, None, None, None, by.name, by.now_us))
    return imported


def _draft(line: Line, revisions: list[Line], workspace: str) -> Draft:
    record, at = line
    if not revisions:
        raise ValidationError("bad_archive", field=at)
    told = [_revision(revision, number) for number, revision in enumerate(revisions, start=1)]
    if checks.whole(record["revision"], f"{at}/revision") != len(told):
        raise ValidationError("wrong_value", field=f"{at}/revision")
    status = checks.word(record["status"], f"{at}/status", _STATUSES)
    source = _entry_source(record["source"], f"{at}/source")
    replaced = record["supersededBy"]
    if (status == SUPERSEDED) != (replaced is not None):
        raise ValidationError("wrong_value", field=f"{at}/supersededBy")
    verified = record["verifiedAt"]
    entry = EntryRow(
        id=checks.formatted(record["entryId"], f"{at}/entryId", _ID),
        workspace=workspace,
        status=status,
        trust_level=checks.word(record["trustLevel"], f"{at}/trustLevel", _TRUST),
        confidence=checks.confidence(record["confidence"], f"{at}/confidence"),
        revision=len(told),
        content_hash=told[-1][0].content_hash,
        superseded_by=None if replaced is None else checks.formatted(replaced, f"{at}/supersededBy", _ID),
        disabled=int(checks.truth(record["disabled"], f"{at}/disabled")),
        source_id=source[0],
        source_mapping=source[1],
        source_state=source[2],
        created_by=checks.identifier(record["createdBy"], f"{at}/createdBy"),
        created_at=_moment(record["createdAt"], f"{at}/createdAt"),
        updated_at=_moment(record["updatedAt"], f"{at}/updatedAt"),
        verified_at=None if verified is None else _moment(verified, f"{at}/verifiedAt"),
    )
    return Draft(entry, told)


def _revision(line: Line, number: int) -> tuple[RevisionRow, Content]:
    """A revision without its entry's number, and what it says; its hash is worked out again.

    The line was looked at for credentials when the file was read.
    """
    record, at = line
    if record["revision"] != number:
        raise ValidationError("wrong_value", field=f"{at}/revision")
    content = contents.parse({name: record[name] for name in contents.Content._fields}, at)
    if record["contentHash"] != content.hash:
        raise ValidationError("checksum_differs", field=f"{at}/contentHash")
    by = Author(
        checks.identifier(record["createdBy"], f"{at}/createdBy"), _moment(record["createdAt"], f"{at}/createdAt")
    )
    return lifecycle.revision_row(0, number, content, by), content


def _entry_source(value: object, field: str) -> tuple[str, str, str] | tuple[None, None, None]:
    if value is None:
        return None, None, None
    source = checks.members(value, field, _SOURCE_FIELDS)
    checks.required(source, field, _SOURCE_FIELDS)
    return (
        checks.identifier(source["id"], f"{field}/id"),
        checks.mapping(source["mapping"], f"{field}/mapping"),
        checks.word(source["state"], f"{field}/state", _STATES),
    )


def _source(line: Line, workspace: str) -> SourceRow:
    record, at = line
    return SourceRow(
        workspace=workspace,
        id=checks.identifier(record["id"], f"{at}/id"),
        state=checks.word(record["state"], f"{at}/state", _SOURCE_STATES),
        checksum=checks.formatted(record["checksum"], f"{at}/checksum", _HASH),
        created_at=_moment(record["createdAt"], f"{at}/createdAt"),
        refreshed_at=_moment(record["refreshedAt"], f"{at}/refreshedAt"),
    )


def _link(line: Line) -> DraftLink:
    record, at = line
    return DraftLink(
        id=checks.formatted(record["linkId"], f"{at}/linkId", _ID),
        from_id=checks.formatted(record["fromId"], f"{at}/fromId", _ID),
        to_id=checks.formatted(record["toId"], f"{at}/toId", _ID),
        relation=checks.word(record["relation"], f"{at}/relation", _RELATIONS),
        created_by=checks.identifier(record["createdBy"], f"{at}/createdBy"),
        created_at=_moment(record["createdAt"], f"{at}/createdAt"),
        at=at,
    )


def _audit(line: Line, workspace: str) -> AuditRow:
    record, at = line
    other = record["otherId"]
    return AuditRow(
        workspace=workspace,
        operation=checks.word(record["operation"], f"{at}/operation", ENTRY_OPERATIONS.values()),
        entry_id=checks.formatted(record["entryId"], f"{at}/entryId", _ID),
        revision=checks.whole(record["revision"], f"{at}/revision"),
        other_id=None if other is None else checks.formatted(other, f"{at}/otherId", _ID),
        actor=checks.identifier(record["actor"], f"{at}/actor"),
        created_at=_moment(record["createdAt"], f"{at}/createdAt"),
    )


def _moment(value: object, field: str) -> int:
    return ts_us(checks.formatted(value, field, checks.MOMENT_FORMAT))


def _take_source(tx: Tx, row: SourceRow) -> bool:
    existing = agent_sources.get(tx, row.workspace, row.id)
    if existing is not None and existing != row:
        raise Conflict("record_differs")
    if existing is None:
        agent_sources.put(tx, row)
    return existing is None


def _is_new(tx: Tx, draft: Draft) -> bool:
    existing = agent_entries.get(tx, draft.entry.id)
    if existing is not None:
        if existing._replace(seq=0) != draft.entry or not _same_history(tx, existing, draft):
            raise Conflict("record_differs")
        return False
    if lifecycle.is_purged(tx, draft.entry.id):
        raise Conflict("entry_purged")
    if agent_entries.with_content(tx, draft.entry.workspace, draft.entry.content_hash) is not None:
        raise Conflict("entry_exists")
    return True


def _same_history(tx: Tx, existing: EntryRow, draft: Draft) -> bool:
    history = [row._replace(entry_seq=0) for row in agent_revisions.history(tx, existing.seq)]
    return history == [row for row, _ in draft.revisions]


def _store(tx: Tx, draft: Draft) -> EntryRow:
    if draft.entry.source_id is not None:
        _check_source(tx, draft.entry)
    entry = agent_entries.insert(tx, draft.entry)
    agent_revisions.insert_many(tx, [row._replace(entry_seq=entry.seq) for row, _ in draft.revisions])
    indexing.put(tx, entry, draft.revisions[-1][1])
    return entry


def _check_source(tx: Tx, entry: EntryRow) -> None:
    assert entry.source_id is not None
    assert entry.source_mapping is not None
    source = agent_sources.get(tx, entry.workspace, entry.source_id)
    if source is None or (source.state == DISABLED) != (entry.source_state == DISABLED):
        # A source is switched off with all its entries.
        raise ValidationError("bad_archive")
    if agent_entries.with_mapping(tx, entry.workspace, entry.source_id, entry.source_mapping) is not None:
        raise Conflict("record_differs")


def _check_replacements(tx: Tx, incoming: Incoming) -> None:
    """What replaces an entry is in its workspace, or its purge is known here or to the file."""
    purged = {row.entry_id for row in incoming.audit if row.operation == ENTRY_OPERATIONS["purge"]}
    for entry, _ in incoming.entries:
        replaced_by = entry.superseded_by
        if replaced_by is None or replaced_by in purged or lifecycle.is_purged(tx, replaced_by):
            continue
        found = agent_entries.get(tx, replaced_by)
        if found is None or found.workspace != entry.workspace or found.id == entry.id:
            raise ValidationError("bad_archive")


def _take_link(tx: Tx, workspace: str, link: DraftLink) -> bool:
    ends: list[Any] = [agent_entries.get(tx, link.from_id), agent_entries.get(tx, link.to_id)]
    if any(end is None or end.workspace != workspace for end in ends) or link.from_id == link.to_id:
        raise ValidationError("bad_archive", field=link.at)
    existing = agent_links.get(tx, link.id)
    if existing is not None:
        if existing != link[:-1]:
            raise Conflict("record_differs")
        return False
    if agent_links.find(tx, ends[0].seq, link.relation, ends[1].seq) is not None:
        return False
    agent_links.insert(tx, LinkRow(link.id, ends[0].seq, ends[1].seq, link.relation, link.created_by, link.created_at))
    return True


def _is_lost(tx: Tx, row: AuditRow) -> bool:
    """Whether an audit row tells of a purge that is not known here, of an entry that is not here."""
    if row.operation != ENTRY_OPERATIONS["purge"] or row.entry_id is None:
        return False
    return agent_entries.get(tx, row.entry_id) is None and not lifecycle.is_purged(tx, row.entry_id)
