"""Where hivekeep's files are: database, configuration, exports, and the runtime files of a server.

What stays true: a path depends on settings and environment alone, and two spellings of one database file have
the same runtime files.
"""

import hashlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from hivekeep_contract.settings import Settings

APP = "hivekeep"
CONFIG_NAME = "hivekeep.toml"
IN_MEMORY = ":memory:"
"""The database name that stands for no file."""

_DATABASE_NAME = "hivekeep.db"
_EXPORTS_NAME = "exports"
_SPOOL_NAME = "spool"
_SHORT_FINGERPRINT = 12


class RuntimeFiles(NamedTuple):
    """Descriptor and lock of a server; `fingerprint` is `sha256:` and the digest of its database's path."""

    descriptor: Path
    lock: Path
    fingerprint: str


def home(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the user's home directory."""
    return Path(environ["HOME"]) if environ.get("HOME") else Path.home()


def data_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the directory for the user's data; it need not exist."""
    return _user_dir("data", "XDG_DATA_HOME", ".local/share", environ)


def config_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the directory for the user's configuration; it need not exist."""
    return _user_dir("config", "XDG_CONFIG_HOME", ".config", environ)


def default_database(environ: Mapping[str, str] = os.environ) -> str:
    """Return the database that is used when none is named."""
    return str(data_dir(environ) / _DATABASE_NAME)


def database_path(settings: Settings) -> str:
    """Return the database that `settings` mean, or `:memory:`."""
    return settings.db or default_database()


def exports_dir(settings: Settings) -> Path:
    """Return the directory that `save_to` may write into."""
    return Path(settings.save_to_root) if settings.save_to_root else data_dir() / _EXPORTS_NAME


def spool_dir(settings: Settings, environ: Mapping[str, str] = os.environ) -> Path:
    """Return the directory of the writes that wait for a server of the settings' database."""
    return data_dir(environ) / _SPOOL_NAME / fingerprint(settings.db or default_database(environ))


def runtime_dir(settings: Settings, environ: Mapping[str, str] = os.environ) -> Path:
    """Return the directory of runtime files: the setting, on Linux the session's, else the data directory."""
    if settings.runtime_dir:
        return Path(settings.runtime_dir)
    session = environ.get("XDG_RUNTIME_DIR", "")
    if sys.platform == "linux" and session.startswith("/"):
        return Path(session) / APP
    return data_dir(environ)


def fingerprint(database: str) -> str:
    """Return 64 hex digits that stand for the database file, links resolved."""
    return hashlib.sha256(os.path.realpath(database).encode("utf-8", "surrogateescape")).hexdigest()


def runtime_files(settings: Settings, environ: Mapping[str, str] = os.environ) -> RuntimeFiles:
    """Return the runtime files of the settings' database; `server.json` belongs to the default one."""
    digest = fingerprint(settings.db or default_database(environ))
    is_default = digest == fingerprint(default_database(environ))
    name = "server.json" if is_default else f"server-{digest[:_SHORT_FINGERPRINT]}.json"
    folder = runtime_dir(settings, environ)
    return RuntimeFiles(folder / name, lock_file(folder, digest), f"sha256:{digest}")


def lock_file(folder: Path, digest: str) -> Path:
    """Return the lock of the database with this fingerprint in a directory of runtime files."""
    return folder / f"{digest}.lock"


def _user_dir(kind: str, variable: str, below_home: str, environ: Mapping[str, str]) -> Path:
    """Return a user directory. On Linux the rule is short: a start need not import platformdirs for it."""
    if sys.platform != "linux":
        import platformdirs

        directory = platformdirs.user_data_path if kind == "data" else platformdirs.user_config_path
        return directory(APP, appauthor=False)
    base = environ.get(variable, "")
    return (Path(base) if base.startswith("/") else home(environ) / below_home) / APP
