"""What `hivekeep doctor` looks at: the database, and the files a server leaves for its clients.

What it keeps true: nothing is changed, and a finding never shows the token.
"""

from __future__ import annotations

from hivekeep import paths
from hivekeep.doors import descriptor
from hivekeep.storage import doctor
from hivekeep.storage.connections import storage_options
from hivekeep.storage.doctor import Check
from hivekeep_contract.settings import Settings


def examine(settings: Settings) -> list[Check]:
    """Every check of the database, then that of the runtime files."""
    database = paths.database_path(settings)
    return [*doctor.examine(database, storage_options(settings)), _runtime(paths.runtime_files(settings))]


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
