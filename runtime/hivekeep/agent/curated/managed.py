"""Entries that an external collection manages: what it has, has no longer, and has again.

Invariant: an import says what the collection holds now. Only a managed entry is revised whatever its status, because
its source speaks for it; an entry that the source lacks is kept, but not delivered (gateway rules, managed entries).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from hivekeep.agent.canonical import canonical
from hivekeep.agent.curated import checks, lifecycle
from hivekeep.agent.curated import content as contents
from hivekeep.agent.curated.archive import Archive
from hivekeep.agent.curated.content import Content
from hivekeep.agent.curated.lifecycle import CANDIDATE, SUPERSEDED, VERIFIED, Author, NewEntry, Source
from hivekeep.storage import agent_entries, agent_sources
from hivekeep.storage.agent_entries import EntryRow
from hivekeep.storage.agent_sources import SourceRow
from hivekeep.storage.engine import Tx
from hivekeep_contract.gateway_errors import Conflict, NotFound, ValidationError
from hivekeep_contract.limits import SOURCE_CONFIDENCE, SOURCE_PROVENANCE_TYPE, SOURCE_TRUST

ACTIVE: Final = "active"
STALE: Final = "stale"
DISABLED: Final = "disabled"


class Item(NamedTuple):
    """One entry of a collection: what the collection calls it, what it says, how sure that is."""

    mapping: str
    content: Content
    confidence: float = SOURCE_CONFIDENCE


class Refreshed(NamedTuple):
    """How many entries an import added, gave a new revision, found as they were, found again, and missed."""

    added: int = 0
    revised: int = 0
    unchanged: int = 0
    restored: int = 0
    stale: int = 0


def item(source_id: str, mapping: str, content: Content, confidence: float = SOURCE_CONFIDENCE) -> Item:
    """An entry of a collection; its provenance names the collection beside what it said itself.

    Raises SecurityRejection when anything in it, or a name, looks like a credential.
    """
    reference = canonical({"sourceId": source_id, "mapping": mapping}).decode()
    provenance = {**content.provenance, "type": SOURCE_PROVENANCE_TYPE, "reference": reference}
    said = content._replace(provenance=provenance)
    contents.refuse_secrets(said)
    return Item(mapping, said, confidence)


def of_archive(archive: Archive, source_id: str) -> list[Item]:
    """The entries of an exported file, each called by its id, at their last revisions; superseded ones are left out.

    Raises ValidationError and SecurityRejection.
    """
    items = []
    for (record, at), revisions in zip(archive.entries, archive.revisions, strict=True):
        if not revisions:
            raise ValidationError("bad_archive", field=at)
        if record["status"] == SUPERSEDED:
            continue
        last = revisions[-1]
        content = contents.parse({name: last.record[name] for name in Content._fields}, last.at)
        mapping = checks.mapping(record["entryId"], f"{at}/entryId")
        items.append(item(source_id, mapping, content, checks.confidence(record["confidence"], f"{at}/confidence")))
    return items


def refresh(
    tx: Tx, workspace: str, source_id: str, items: Sequence[Item], checksum: str, by: Author, *, verified: bool = False
) -> Refreshed:
    """Make the entries of a source what the collection holds; `verified` is where new ones stand.

    Nothing is written when nothing changed. Raises ValidationError when two items have one name and Conflict when
    another entry of the workspace says the same.
    """
    if len({one.mapping for one in items}) != len(items):
        raise ValidationError("batch_repeats")
    known = {entry.source_mapping: entry for entry in agent_entries.of_source(tx, workspace, source_id)}
    counts = dict.fromkeys(Refreshed._fields, 0)
    for one in items:
        existing = known.pop(one.mapping, None)
        if existing is None:
            _add(tx, workspace, source_id, one, by, VERIFIED if verified else CANDIDATE)
            counts["added"] += 1
        else:
            counts[_bring_up(tx, existing, one, by)] += 1
    for missed in known.values():
        counts["stale"] += _move(tx, missed, STALE, "stale", by)
    refreshed = Refreshed(**counts)
    _remember(tx, workspace, source_id, checksum, by, changed=refreshed.unchanged != sum(refreshed))
    return refreshed


def disable(tx: Tx, workspace: str, source_id: str, by: Author) -> int:
    """Switch a source off: none of its entries is delivered until it is imported again.

    Answers how many entries that concerns. Raises NotFound.
    """
    source = agent_sources.get(tx, workspace, source_id)
    if source is None:
        raise NotFound("no_record")
    if source.state != DISABLED:
        agent_sources.put(tx, source._replace(state=DISABLED, refreshed_at=by.now_us))
    return sum(_move(tx, entry, DISABLED, "disable", by) for entry in agent_entries.of_source(tx, workspace, source_id))


def _add(tx: Tx, workspace: str, source_id: str, one: Item, by: Author, status: str) -> None:
    place = Source(source_id, one.mapping, ACTIVE)
    new = NewEntry(workspace, one.content, status, SOURCE_TRUST, one.confidence, place)
    if not lifecycle.record(tx, new, by).changed:
        raise Conflict("entry_exists")


def _bring_up(tx: Tx, entry: EntryRow, one: Item, by: Author) -> str:
    """Give a known entry what its source says now; answers what became of it, a field of `Refreshed`."""
    restored = _move(tx, entry, ACTIVE, "refresh", by)
    now = lifecycle.get(tx, entry.id) if restored else entry
    if lifecycle.replace(tx, now, one.content, by, "refresh").changed:
        return "revised"
    return "restored" if restored else "unchanged"


def _move(tx: Tx, entry: EntryRow, state: str, operation: str, by: Author) -> bool:
    """Change where an entry stands in its source; answers whether it stood elsewhere."""
    if entry.source_state == state:
        return False
    lifecycle.note(tx, agent_entries.change(tx, entry, source_state=state, updated_at=by.now_us), operation, by)
    return True


def _remember(tx: Tx, workspace: str, source_id: str, checksum: str, by: Author, *, changed: bool) -> None:
    known = agent_sources.get(tx, workspace, source_id)
    if known is None:
        agent_sources.put(tx, SourceRow(workspace, source_id, ACTIVE, checksum, by.now_us, by.now_us))
    elif changed or known.state != ACTIVE or known.checksum != checksum:
        agent_sources.put(tx, known._replace(state=ACTIVE, checksum=checksum, refreshed_at=by.now_us))
