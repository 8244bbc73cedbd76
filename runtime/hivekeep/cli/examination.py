"""What `hivekeep doctor` looks at: the database, and the files a server leaves for its clients.

What it keeps true: nothing is changed, and a finding never shows the token.
"""

from __future__ import annotations

from hivekeep import paths
from hivekeep.doors import descriptor
from hivekeep.search.embedders import load_embedders
from hivekeep.storage import doctor, embedding_queue
from hivekeep.storage.connections import storage_options
from hivekeep.storage.doctor import Check
from hivekeep.storage.embedding_queue import QueueCounts
from hivekeep.storage.sqlite import SqliteEngine
from hivekeep.times import iso
from hivekeep_contract.errors import HivekeepError, InvalidInput
from hivekeep_contract.settings import Settings


def examine(settings: Settings) -> list[Check]:
    """Every check of the database, then those of the embedders and of the runtime files."""
    database = paths.database_path(settings)
    checks = doctor.examine(database, storage_options(settings))
    broken = any(check.verdict == "failed" for check in checks)
    return [*checks, _embedding(settings, None if broken else database), _runtime(paths.runtime_files(settings))]


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
    engine = SqliteEngine(database, storage_options(settings), read_only=True)
    try:
        engine.start(threaded=False)
        with engine.read() as tx:
            return embedding_queue.counts(tx)
    except HivekeepError:
        # An old schema has no queue; the check of the migrations says so.
        return []
    finally:
        engine.close()


def _runtime(files: paths.RuntimeFiles) -> Check:
    """The descriptor must be private and well-formed; one that outlived its server is worth a word."""
    try:
        found = descriptor.read(files.descriptor)
    except descriptor.RuntimeRefused as refusal:
        return Check("runtime", "failed", str(refusal))
    if found is None:
        return Check("runtime", "ok", "no server runs")
    if not descriptor.is_locked(files.lock):
        return Check("runtime", "warning", f"{files.descriptor} is left of a server that was killed")
    return Check("runtime", "ok", f"a server runs at {found.base_url}")
