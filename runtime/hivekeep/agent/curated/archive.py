"""The memory of a workspace as one file: JSON lines, the first of which is the checksum of all others.

Invariant: equal memory gives equal bytes. A file that was read is whole (its checksum and its counts fit), every line
has the fields of its type and no others, every content its hash, and nothing in it looks like a credential.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, NamedTuple

from hivekeep import strict_json
from hivekeep.agent import canonical
from hivekeep.agent.curated import checks, secrecy, views
from hivekeep.agent.curated.lifecycle import Stored, current
from hivekeep.storage import agent_entries, agent_links, agent_revisions, agent_sources
from hivekeep.storage.engine import Tx
from hivekeep_contract.gateway import ARCHIVE_FIELDS, ARCHIVE_TYPES
from hivekeep_contract.gateway_errors import ValidationError
from hivekeep_contract.limits import (
    ARCHIVE_FORMAT,
    ARCHIVE_LINE_MAX_BYTES,
    ARCHIVE_LINES_MAX,
    ARCHIVE_MAX_BYTES,
    ARCHIVE_VERSION,
)

_TYPE: Final = "type"
_LINE_END: Final = b"\n"

_CHECKSUM: Final = ARCHIVE_TYPES["checksum"]
_MANIFEST: Final = ARCHIVE_TYPES["manifest"]
_SOURCE: Final = ARCHIVE_TYPES["source"]
_ENTRY: Final = ARCHIVE_TYPES["entry"]
_REVISION: Final = ARCHIVE_TYPES["revision"]
_LINK: Final = ARCHIVE_TYPES["link"]
_AUDIT: Final = ARCHIVE_TYPES["audit"]
_COUNTED: Final = {"sources": _SOURCE, "entries": _ENTRY, "revisions": _REVISION, "links": _LINK, "audit": _AUDIT}

Record = dict[str, Any]


class Line(NamedTuple):
    """One record of a file with the pointer that a refusal names it by."""

    record: Record
    at: str


@dataclass(slots=True)
class Archive:
    """A file that was read. `revisions` belong to the entry of their place in `entries`, oldest first."""

    checksum: str
    workspace: str
    sources: list[Line] = field(default_factory=list)
    entries: list[Line] = field(default_factory=list)
    revisions: list[list[Line]] = field(default_factory=list)
    links: list[Line] = field(default_factory=list)
    audit: list[Line] = field(default_factory=list)


class Exported(NamedTuple):
    """A file: its bytes, its counts by what is counted, and how many links to other workspaces are not in it."""

    data: bytes
    counts: dict[str, int]
    links_left_out: int


def export(tx: Tx, workspace: str) -> Exported:
    """The memory of a workspace; `tx` must be a snapshot. Raises ValidationError when it is larger than may be read."""
    # The lines of checksum and manifest are two of those that may be read.
    records = list(islice(_records(tx, workspace), ARCHIVE_LINES_MAX - 1))
    if len(records) > ARCHIVE_LINES_MAX - 2:
        raise ValidationError("too_large")
    counts = {name: sum(record[_TYPE] == kind for record in records) for name, kind in _COUNTED.items()}
    manifest = {"format": ARCHIVE_FORMAT, "version": ARCHIVE_VERSION, "workspace": workspace, **counts}
    data = sealed([{_TYPE: _MANIFEST, **manifest}, *records])
    return Exported(data, counts, agent_links.count_leaving(tx, workspace))


def sealed(records: Iterable[Record]) -> bytes:
    """Records as canonical JSON lines under the line of their checksum. Raises ValidationError for too many bytes."""
    lines = b"".join(canonical.canonical(record) + _LINE_END for record in records)
    if len(lines) > ARCHIVE_MAX_BYTES:
        raise ValidationError("too_large")
    checksum = {_TYPE: _CHECKSUM, "sha256": hashlib.sha256(lines).hexdigest()}
    return canonical.canonical(checksum) + _LINE_END + lines


def read(data: bytes) -> Archive:
    """What a file holds, looked at line by line.

    Raises ValidationError (`too_large`, `bad_archive`, `checksum_differs`, or what is wrong with the line that `field`
    names) and SecurityRejection for a credential anywhere in it.
    """
    if len(data) > ARCHIVE_MAX_BYTES:
        raise ValidationError("too_large")
    head, _, rest = data.partition(_LINE_END)
    seal = _line(head, 1)
    if seal.record[_TYPE] != _CHECKSUM:
        raise ValidationError("bad_archive", field=seal.at)
    if seal.record["sha256"] != hashlib.sha256(rest).hexdigest():
        raise ValidationError("checksum_differs", field=f"{seal.at}/sha256")
    lines = list(_lines(rest))
    if not lines or lines[0].record[_TYPE] != _MANIFEST:
        raise ValidationError("bad_archive", field=seal.at)
    archive = Archive(seal.record["sha256"], _workspace(lines[0]))
    for line in lines:
        # One by one: the names of the fields are known and label no secret.
        secrecy.refuse((line.at, value) for value in line.record.values())
    for line in lines[1:]:
        _take(archive, line)
    _check_counts(archive, lines[0])
    return archive


def _records(tx: Tx, workspace: str) -> Iterator[Record]:
    for source in agent_sources.of_workspace(tx, workspace):
        yield {
            _TYPE: _SOURCE,
            "id": source.id,
            "state": source.state,
            "checksum": source.checksum,
            "createdAt": canonical.ts(source.created_at),
            "refreshedAt": canonical.ts(source.refreshed_at),
        }
    for entry in agent_entries.in_order(tx, workspace):
        shown = views.entry(Stored(entry, current(tx, entry), changed=False))
        yield {_TYPE: _ENTRY, **{name: shown[name] for name in ARCHIVE_FIELDS[_ENTRY]}}
        for revision in agent_revisions.history(tx, entry.seq):
            yield {_TYPE: _REVISION, **views.revision(revision)}
    for link in agent_links.of_workspace(tx, workspace):
        yield {_TYPE: _LINK, **views.link(link)}
    for row in agent_entries.audit_in_order(tx, workspace):
        yield {_TYPE: _AUDIT, **views.audit(row)}


def _lines(rest: bytes) -> Iterator[Line]:
    lines = rest.split(_LINE_END)
    if lines.pop() or len(lines) >= ARCHIVE_LINES_MAX:
        raise ValidationError("bad_archive")
    for number, text in enumerate(lines, start=2):
        yield _line(text, number)


def _line(text: bytes, number: int) -> Line:
    at = f"/lines/{number}"
    if len(text) > ARCHIVE_LINE_MAX_BYTES:
        raise ValidationError("too_large", field=at)
    try:
        record = strict_json.decode(text.decode())
    except ValueError:
        raise ValidationError("not_json", field=at) from None
    if not isinstance(record, dict) or record.get(_TYPE) not in ARCHIVE_TYPES.values():
        raise ValidationError("bad_archive", field=at)
    _check_fields(record, at)
    return Line(record, at)


def _check_fields(record: Record, at: str) -> None:
    known = ARCHIVE_FIELDS[record[_TYPE]]
    checks.members(record, at, (_TYPE, *known))
    checks.required(record, at, known)


def _take(archive: Archive, line: Line) -> None:
    """Put one line where it belongs; a revision stands behind its entry."""
    kind = line.record[_TYPE]
    lists = {_SOURCE: archive.sources, _ENTRY: archive.entries, _LINK: archive.links, _AUDIT: archive.audit}
    if kind == _REVISION and archive.entries:
        archive.revisions[-1].append(line)
    elif kind in lists:
        lists[kind].append(line)
    else:
        raise ValidationError("bad_archive", field=line.at)
    if kind == _ENTRY:
        archive.revisions.append([])


def _workspace(line: Line) -> str:
    manifest, at = line
    if manifest["format"] != ARCHIVE_FORMAT or manifest["version"] != ARCHIVE_VERSION:
        raise ValidationError("bad_archive", field=at)
    return checks.identifier(manifest["workspace"], f"{at}/workspace")


def _check_counts(archive: Archive, manifest: Line) -> None:
    found = {
        "sources": len(archive.sources),
        "entries": len(archive.entries),
        "revisions": sum(map(len, archive.revisions)),
        "links": len(archive.links),
        "audit": len(archive.audit),
    }
    if any(manifest.record[name] != count for name, count in found.items()):
        raise ValidationError("bad_archive", field=manifest.at)
