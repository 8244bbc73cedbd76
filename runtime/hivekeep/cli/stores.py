"""The store of a command that works on the local database and belongs to the gateway.

What it keeps true: what goes wrong with the store is told as the gateway tells failures, and the store is closed
whatever becomes of the command.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from hivekeep.cli import flags
from hivekeep.cli.envelopes import told_failures
from hivekeep_contract.limits import ENTRY_AUTHOR_DEFAULT

if TYPE_CHECKING:
    from hivekeep.storage.sqlite import SqliteEngine


class Opened(NamedTuple):
    """A store, and the name of whoever works with it."""

    engine: SqliteEngine
    author: str


@contextmanager
def opened_store(given: flags.Given, operation: str, *, as_json: bool) -> Iterator[Opened]:
    """The store that the settings name, for one command; failures within are told and end the command."""
    from hivekeep import paths
    from hivekeep.settings import load
    from hivekeep.storage.connections import storage_options
    from hivekeep.storage.sqlite import SqliteEngine

    with told_failures(operation, as_json=as_json):
        settings = load(given)
        database = paths.database_path(settings)
        engine = SqliteEngine(database, storage_options(settings), read_only=settings.read_only)
        engine.start(threaded=False)
        try:
            yield Opened(engine, settings.actor_id or ENTRY_AUTHOR_DEFAULT)
        finally:
            engine.close()
