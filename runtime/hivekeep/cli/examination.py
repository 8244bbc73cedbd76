"""What `hivekeep doctor` looks at: the database, and the files a server leaves for its clients.

What it keeps true: nothing is changed, and a finding never shows the token.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from typing import Final, Literal

from hivekeep import paths
from hivekeep.agent import integrity
from hivekeep.agent.curated import integrity as curated
from hivekeep.doors import peer
from hivekeep.doors.private import RuntimeRefused
from hivekeep.search.embedders import load_embedders
from hivekeep.storage import doctor, embedding_queue
from hivekeep.storage.connections import storage_options
from hivekeep.storage.doctor import Check
from hivekeep.storage.embedding_queue import QueueCounts
from hivekeep.storage.engine import Tx
from hivekeep.storage.snapshots import snapshot
from hivekeep.storage.sqlite import SqliteEngine
from hivekeep.times import iso
from hivekeep_contract.errors import HivekeepError, InvalidInput
from hivekeep_contract.settings import Settings

_SHOWN: Final = 5
"""Findings about ledgers, and about curated entries, that are told."""


def examine(settings: Settings) -> list[Check]:
    """Every check of the database, then those of the gateway's records, the embedders and the runtime files."""
    database = paths.database_path(settings)
    checks = doctor.examine(database, storage_options(settings))
    usable = None if any(check.verdict == "failed" for check in checks) else database
    gateway = [] if usable is None else [_ledgers(settings, usable), _curated(settings, usable)]
    return [*checks, *gateway, _embedding(settings, usable), _runtime(paths.runtime_files(settings))]


def _ledgers(settings: Settings, database: str) -> Check:
    """Chains, counters and references of all runs; what still looks like a credential is worth a word."""
    with _opened(settings, database) as tx, closing(integrity.examine(tx, _SHOWN)) as found:
        findings = list(islice(found, _SHOWN))
    return _judged("ledgers of runs", findings)


def _curated(settings: Settings, database: str) -> Check:
    """Entries whose revisions, hashes or keys are not what was recorded; a credential in one is worth a word."""
    with _opened(settings, database) as tx, snapshot(tx):
        return _judged("curated memory", list(islice(curated.examine(tx), _SHOWN)))


def _judged(name: str, findings: Sequence[integrity.Finding | curated.Finding]) -> Check:
    verdict: Literal["ok", "warning", "failed"] = "ok"
    if findings:
        verdict = "failed" if any(finding.broken for finding in findings) else "warning"
    return Check(name, verdict, "; ".join(map(str, findings)))


def _embedding(settings: Settings, database: str | None) -> Check:
    """Embedders that cannot work, and texts that wait or failed; without any, search goes by words and works."""
    try:
        embedders = load_embedders(settings)
    except InvalidInput as reason:
        return Check("embedding", "failed", reason.message)
    queue = _queue(settings, database)
    told = [
        f"registered: {', '.join(embedders.names)}" if embedders else "no embedder is registered; search goes by words"
    ]
    told += embedders.absent.values()
    for one in queue:
        told.append(f"{one.waiting} texts wait for {one.model_name}, the oldest since {iso(one.oldest_enqueued_at)}")
        if one.model_name not in embedders.names:
            told.append(f"{one.model_name} is not registered")
        elif one.failed:
            told.append(f"{one.model_name} failed on {one.failed} of them: {one.error}")
    unwell = embedders.absent or any(one.failed or one.model_name not in embedders.names for one in queue)
    return Check("embedding", "warning" if unwell else "ok", "; ".join(told))


def _queue(settings: Settings, database: str | None) -> list[QueueCounts]:
    if database is None:
        return []
    try:
        with _opened(settings, database) as tx:
            return embedding_queue.counts(tx)
    except HivekeepError:
        # An old schema has no queue; the check of the migrations says so.
        return []


@contextmanager
def _opened(settings: Settings, database: str) -> Iterator[Tx]:
    """A reader of a database that is opened for reading only."""
    engine = SqliteEngine(database, storage_options(settings), read_only=True)
    try:
        engine.start(threaded=False)
        with engine.read() as tx:
            yield tx
    finally:
        engine.close()


def _runtime(files: paths.RuntimeFiles) -> Check:
    """The descriptor must be private and well-formed; one that outlived its server is worth a word."""
    try:
        found = peer.look(files)
    except RuntimeRefused as refusal:
        return Check("runtime", "failed", str(refusal))
    if found.descriptor is None:
        return Check("runtime", "ok", "no server runs")
    if found.stale:
        return Check("runtime", "warning", f"{files.descriptor} is left of a server that was killed")
    return Check("runtime", "ok", f"a server runs at {found.descriptor.base_url}")
