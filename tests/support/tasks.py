"""What the tests of the gtd pack share: a server with it, and tasks that no verb would store."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hivekeep.storage import notes, task_history
from hivekeep.storage.json_text import dump
from support.client import Hive, open_hive

ABSENT = "00000000-0000-4000-8000-00000000ffff"
SECRET = "token=ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@contextmanager
def gtd_hive(db: str | Path = ":memory:", **settings: Any) -> Iterator[Hive]:
    """A server with the packs that tasks need and no other."""
    with open_hive(db, runtime_packs=["kg", "gtd"], **settings) as opened:
        yield opened


def add(hive: Hive, title: str = "Do it", **args: Any) -> str:
    """The id of a new task."""
    return str(hive.call("gtd.assign", title=title, **args)["id"])


def properties(hive: Hive, task: str) -> dict[str, Any]:
    """What is stored of a task."""
    found: dict[str, Any] = hive.call("get", id=task, include_deleted=True)["properties"]
    return found


def store(hive: Hive, task: str, *, drop: tuple[str, ...] = (), **changed: Any) -> None:
    """Change the properties of a task past all rules, as another program could."""

    def write(tx: Any) -> None:
        row = notes.get(tx, task, include_deleted=True)
        assert row is not None
        kept = {name: value for name, value in json.loads(row.properties).items() if name not in drop}
        notes.update(tx, row, row._replace(properties=dump({**kept, **changed})))

    hive.server.engine.run_write(write)


def store_columns(hive: Hive, task: str, **changed: Any) -> None:
    """Change columns of a note past all rules."""

    def write(tx: Any) -> None:
        row = notes.get(tx, task, include_deleted=True)
        assert row is not None
        notes.update(tx, row, row._replace(**changed))

    hive.server.engine.run_write(write)


def history(hive: Hive, task: str) -> list[tuple[str, str, str | None]]:
    """(from, to, note) of each step of a task, in order."""
    columns = ", ".join(("from_state", "to_state", "note"))
    with hive.server.engine.read() as tx:
        rows = tx.all(f"SELECT {columns} FROM gtd_lifecycle_audit WHERE note_id = ? ORDER BY seq", (task,))
        assert task_history.first_state(tx, task) == (rows[0][0] if rows else None)
    return [(row[0], row[1], row[2]) for row in rows]
