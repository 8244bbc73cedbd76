"""The curated memory as a person works with it: one call an operation, each one transaction on a store.

Invariant: files are read before a transaction and written after it. An entry is named by its full id or by the first
eight or more digits of it; every answer is JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from hivekeep.agent import retrieval
from hivekeep.agent.canonical import moment_now
from hivekeep.agent.curated import archive, checks, folders, lifecycle, managed, secrecy, taking_in, views, workspaces
from hivekeep.agent.curated import content as contents
from hivekeep.agent.curated.lifecycle import Author, NewEntry, Stored
from hivekeep.agent.curated.workspaces import Resolved
from hivekeep.identity.ids import classify
from hivekeep.storage import (
    agent_deliveries,
    agent_entries,
    agent_feedback,
    agent_links,
    agent_retrieval,
    agent_revisions,
)
from hivekeep.storage.agent_entries import EntryFilter, EntryRow
from hivekeep.storage.engine import Engine, Tx
from hivekeep.storage.snapshots import snapshot
from hivekeep_contract.gateway import WORKSPACE_REASONS
from hivekeep_contract.gateway_errors import Conflict, NotFound, ValidationError
from hivekeep_contract.limits import (
    ARCHIVE_MAX_BYTES,
    ENTRY_CONFIDENCE_DEFAULT,
    RETRIEVAL_HITS_MAX,
)
from hivekeep_contract.vocabulary import ENUMS

T = TypeVar("T")
Answer = dict[str, Any]

_CONFIDENCE: Final = "confidence"


class _Undone(Exception):
    """Carries the outcome of a dry run out of its transaction, which is rolled back."""

    def __init__(self, outcome: Any) -> None:
        super().__init__()
        self.outcome = outcome


@dataclass(frozen=True, slots=True)
class Desk:
    """A store, and the name of whoever works with it; `folder` has the workspace that counts when none is named."""

    engine: Engine
    author: str
    folder: Path

    def __post_init__(self) -> None:
        """Raise SecurityRejection for an author that looks like a credential: everything is stored under that name."""
        secrecy.refuse([("/actor", self.author)])

    def workspace(self, folder: Path | None = None) -> Answer:
        """The workspace of a folder and why. Raises ValidationError for a malformed project file."""
        found = self._resolved(folder or self.folder)
        checkout = found.place.checkout
        return {
            "workspace": found.workspace,
            "repositoryId": found.repository_id,
            "reason": found.reason,
            "explanation": WORKSPACE_REASONS[found.reason],
            "known": found.known,
            "root": str(found.place.root),
            "repository": None if checkout is None else str(checkout.common),
            "projectFile": None if found.place.project is None else str(found.place.project.file),
        }

    def bind(self, workspace: str, folder: Path | None = None) -> Answer:
        """Have the repository of a folder belong to a workspace from now on.

        Raises ValidationError for a bad name and Conflict for the global one and for a folder with a project file.
        """
        found = self._resolved(folder or self.folder)
        if found.place.project is not None:
            # The file would go on to say otherwise.
            raise Conflict("other_workspace")
        chosen = found._replace(workspace=self._named(workspace))

        def remember(tx: Tx) -> None:
            workspaces.remember(tx, chosen, self._by().now_us)

        self.engine.run_write(remember)
        return self.workspace(folder)

    def record(self, workspace: str | None, given: Mapping[str, Any]) -> Answer:
        """Store an entry; `given` are the fields of its content, and `confidence`.

        `created` is False when the workspace has an entry that says the same, which is answered instead.
        """
        fields = dict(given)
        confidence = checks.confidence(fields.pop(_CONFIDENCE, ENTRY_CONFIDENCE_DEFAULT), f"/{_CONFIDENCE}")
        content = contents.read(fields)
        name, found = self._where(workspace)
        new = NewEntry(name, content, confidence=confidence)

        def write(tx: Tx) -> Stored:
            self._remember(tx, found)
            return lifecycle.record(tx, new, self._by())

        stored = self.engine.run_write(write)
        return {"entry": views.entry(stored), "created": stored.changed}

    def show(self, reference: str, revision: int | None = None) -> Answer:
        """An entry, its links, its revisions in short, what was done to it and with it; or one of its revisions."""
        with self.engine.read() as tx, snapshot(tx):
            entry = self._entry(tx, reference)
            if revision is not None:
                row = agent_revisions.get(tx, entry.seq, revision)
                if row is None:
                    raise NotFound("no_record")
                return {"entryId": entry.id, "revision": views.revision(row), "untrusted": True}
            return {
                "entry": views.entry(Stored(entry, lifecycle.current(tx, entry), changed=False)),
                "revisions": [
                    {"revision": row.revision, "title": row.title, "createdBy": row.created_by}
                    for row in agent_revisions.history(tx, entry.seq)
                ],
                "links": [views.link(row) for row in agent_links.of_entry(tx, entry.seq)],
                "audit": [views.audit(row) for row in agent_entries.audit_of(tx, entry.id)],
                "use": _use(tx, entry.id),
                "untrusted": True,
            }

    def search(self, workspace: str | None, query: str, filters: EntryFilter, limit: int) -> Answer:
        """The entries that a text finds, best first; without a text the newest ones.

        A text finds what could be delivered: neither superseded nor switched off.
        """
        name, _ = self._where(workspace)
        key = None if filters.tag_key is None else agent_retrieval.tag_key(filters.tag_key)
        wanted = filters._replace(tag_key=key)
        with self.engine.read() as tx, snapshot(tx):
            found = self._found(tx, name, query, wanted, limit) if query.strip() else None
            entries = agent_entries.newest(tx, name, wanted, limit) if found is None else found
            items = [views.entry(Stored(entry, lifecycle.current(tx, entry), changed=False)) for entry in entries]
        return {"workspace": name, "items": items, "untrusted": True}

    def revise(self, reference: str, expected_revision: int, changes: Mapping[str, Any]) -> Answer:
        """Give a candidate at the revision that was read other fields; those that are not given stay."""

        def write(tx: Tx) -> Stored:
            entry = self._entry(tx, reference)
            said = contents.of_revision(lifecycle.current(tx, entry))
            content = contents.read({**said._asdict(), "tags": list(said.tags), **changes})
            return lifecycle.revise(tx, entry.id, expected_revision, content, self._by())

        return self._changed(write)

    def verify(self, reference: str, expected_revision: int) -> Answer:
        """Make a candidate verified at the revision that was read."""
        return self._changed(
            lambda tx: lifecycle.verify(tx, self._entry(tx, reference).id, expected_revision, self._by())
        )

    def supersede(self, reference: str, replacement: str) -> Answer:
        """Have an entry replaced by another one."""
        return self._changed(
            lambda tx: lifecycle.supersede(
                tx, self._entry(tx, reference).id, self._entry(tx, replacement).id, self._by()
            )
        )

    def disable(self, reference: str) -> Answer:
        """Keep an entry from being delivered."""
        return self._changed(lambda tx: lifecycle.disable(tx, self._entry(tx, reference).id, self._by()))

    def enable(self, reference: str) -> Answer:
        """Let an entry be delivered again."""
        return self._changed(lambda tx: lifecycle.enable(tx, self._entry(tx, reference).id, self._by()))

    def link(self, reference: str, other: str, relation: str) -> Answer:
        """Relate two entries."""
        checks.word(relation, "/relation", ENUMS["gateway.entry_relation"])

        def write(tx: Tx) -> Answer:
            first, second = self._entry(tx, reference), self._entry(tx, other)
            row, is_new = lifecycle.link(tx, first.id, second.id, relation, self._by())
            return {"link": views.link(row), "created": is_new}

        return self.engine.run_write(write)

    def purge(self, reference: str) -> Answer:
        """Remove an entry for good; whoever calls this has asked whether that is meant."""
        purged = self.engine.run_write(lambda tx: lifecycle.purge(tx, self._entry(tx, reference).id, self._by()))
        return {"entryId": purged.id, "workspace": purged.workspace, "purged": True}

    def export(self, workspace: str | None) -> tuple[bytes, Answer]:
        """The memory of a workspace as a file, and what is in it."""
        name, _ = self._where(workspace)
        with self.engine.read() as tx, snapshot(tx):
            made = archive.export(tx, name)
        return made.data, {"workspace": name, **made.counts, "linksLeftOut": made.links_left_out}

    def take_in(self, data: bytes, workspace: str | None, *, dry_run: bool) -> Answer:
        """Store the entries of an exported file, by default in the workspace that it comes from."""
        read = archive.read(data)
        name = read.workspace if workspace is None else self._named(workspace)
        incoming = taking_in.drafts(read, name)
        imported = self._maybe(lambda tx: taking_in.take_in(tx, incoming, self._by()), dry_run=dry_run)
        return {"workspace": name, "dryRun": dry_run, **imported._asdict()}

    def refresh(self, source: Path, source_id: str, workspace: str | None, *, verified: bool, dry_run: bool) -> Answer:
        """Have a folder or an exported file manage entries, as it is now.

        Raises FolderRefused for a file of the folder that is no entry, and OSError.
        """
        checks.identifier(source_id, "/source")
        secrecy.refuse([("/source", source_id)])
        if source.is_dir():
            items, checksum = folders.read(source, source_id)
        else:
            read = archive.read(read_file(source))
            items, checksum = managed.of_archive(read, source_id), read.checksum
        name, found = self._where(workspace)

        def write(tx: Tx) -> managed.Refreshed:
            self._remember(tx, found)
            return managed.refresh(tx, name, source_id, items, checksum, self._by(), verified=verified)

        refreshed = self._maybe(write, dry_run=dry_run)
        return {"workspace": name, "source": source_id, "dryRun": dry_run, **refreshed._asdict()}

    def disable_source(self, source_id: str, workspace: str | None, *, dry_run: bool) -> Answer:
        """Switch a managed source off."""
        name, _ = self._where(workspace)
        count = self._maybe(lambda tx: managed.disable(tx, name, source_id, self._by()), dry_run=dry_run)
        return {"workspace": name, "source": source_id, "dryRun": dry_run, "disabled": count}

    def entry(self, reference: str) -> Answer:
        """An entry at its current revision."""
        with self.engine.read() as tx, snapshot(tx):
            entry = self._entry(tx, reference)
            return views.entry(Stored(entry, lifecycle.current(tx, entry), changed=False))

    def _by(self) -> Author:
        return Author(self.author, moment_now())

    def _changed(self, write: Callable[[Tx], Stored]) -> Answer:
        stored = self.engine.run_write(write)
        return {"entry": views.entry(stored), "changed": stored.changed}

    def _maybe(self, write: Callable[[Tx], T], *, dry_run: bool) -> T:
        """Carry a write out, or find out in a transaction that is rolled back what it would do."""

        def tried(tx: Tx) -> T:
            outcome = write(tx)
            if dry_run:
                raise _Undone(outcome)
            return outcome

        try:
            return self.engine.run_write(tried)
        except _Undone as undone:
            outcome: T = undone.outcome
            return outcome

    def _entry(self, tx: Tx, reference: str) -> EntryRow:
        """The entry of a full id or of eight or more digits. Raises ValidationError and NotFound."""
        form, text = classify(reference)
        if form == "name":
            raise ValidationError("wrong_value", field="/entryId")
        found = agent_entries.with_prefix(tx, text)
        if len(found) > 1:
            raise ValidationError("ambiguous", field="/entryId")
        if not found:
            raise NotFound("no_record")
        return found[0]

    def _found(self, tx: Tx, workspace: str, query: str, filters: EntryFilter, limit: int) -> Sequence[EntryRow]:
        hits = retrieval.search(tx, [workspace], [query], limit=RETRIEVAL_HITS_MAX).hits
        rows = agent_entries.get_many(tx, [hit.entry.id for hit in hits])
        kept = agent_entries.meeting(tx, workspace, filters, [row.seq for row in rows.values()])
        return [rows[hit.entry.id] for hit in hits if rows[hit.entry.id].seq in kept][:limit]

    def _where(self, workspace: str | None) -> tuple[str, Resolved | None]:
        """The workspace to work in: the named one, or that of the folder with its repository."""
        if workspace is not None:
            return self._named(workspace), None
        found = self._resolved(self.folder)
        return found.workspace, found

    def _named(self, workspace: str) -> str:
        checks.identifier(workspace, "/workspace")
        secrecy.refuse([("/workspace", workspace)])
        return workspace

    def _resolved(self, folder: Path) -> Resolved:
        place = workspaces.look(folder)
        with self.engine.read() as tx:
            return workspaces.resolve(tx, place)

    def _remember(self, tx: Tx, found: Resolved | None) -> None:
        if found is not None and not found.known:
            workspaces.remember(tx, found, self._by().now_us)


def _use(tx: Tx, entry_id: str) -> Answer:
    """How often an entry was delivered, to how many runs, and what they said of it."""
    deliveries, runs = agent_deliveries.use_of(tx, entry_id)
    return {"deliveries": deliveries, "runs": runs, "verdicts": agent_feedback.tally(tx, entry_id)}


def read_file(file: Path) -> bytes:
    """The bytes of an exported file, no more than may be read. Raises OSError."""
    with file.open("rb") as opened:
        return opened.read(ARCHIVE_MAX_BYTES + 1)
