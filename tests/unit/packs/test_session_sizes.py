"""search, stats and vacuum: what is refused, and figures that are those of the file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hivekeep.packs.context import MAIN
from hivekeep.storage import session_mirror
from hivekeep.storage.connections import wal_path
from hivekeep.storage.engine import Tx
from hivekeep_contract.errors import ReaderCheckoutTimeout
from support.client import Hive, open_hive

PACKS = ["kg", "session"]
EMPTY_MIRROR = {"sessions": 0, "session_messages": 0, "session_mirror_cursor": 0, "session_messages_fts": 0}
MESSAGE = (
    "INSERT INTO session_messages (id, session_id, source, seq, is_sidechain, msg_type, text, raw, content_hash,"
    " created_at, namespace) VALUES (?, 's', 'codex', 1, 0, 'user', ?, '{}', 'h', 1, ?)"
)


@pytest.fixture
def hive() -> Iterator[Hive]:
    """A fresh server in memory with the session pack and nothing that it does not need."""
    with open_hive(runtime_packs=PACKS) as opened:
        yield opened


@pytest.fixture
def file_hive(tmp_path: Path) -> Iterator[Hive]:
    """The same on a file."""
    with open_hive(tmp_path / "hive.db", runtime_packs=PACKS) as opened:
        yield opened


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"query": "?!"}, "'query'"),
        ({"query": " "}, "'query'"),
        ({}, "'query'"),
        ({"query": "x", "limit": 0}, "'limit'"),
        ({"query": "x", "limit": 201}, "'limit'"),
        ({"query": "x", "source": "email"}, "'source'"),
        ({"query": "x", "cwd": " "}, "'cwd'"),
        ({"query": "x", "since": "yesterday"}, "'since'"),
        ({"query": "x", "namespace": "team"}, "'namespace'"),
        ({"query": "x", "account": "a"}, "'account'"),
    ],
)
def test_search_says_first_what_is_wrong_with_its_arguments(hive: Hive, args: dict[str, Any], says: str) -> None:
    """As invalid input that names the argument."""
    error = hive.refuses("session.search", **args)
    assert error["kind"] == "invalid_input"
    assert says in error["message"]


def test_search_is_always_refused(hive: Hive) -> None:
    """With every argument right; the refusal says what is missing and where stored sessions are found."""
    hive.call("session.store", content="migration")
    error = hive.refuses(
        "session.search", query="migration", limit=200, since="2026-01-01T00:00:00Z", source="unknown", cwd="/a"
    )
    assert (error["kind"], error["domain_disposition"]) == ("unconfigured", "not_committed")
    assert "that needs their deletion, and resume and export" in error["message"]


def test_an_empty_mirror_has_pages_and_no_rows(file_hive: Hive) -> None:
    """Each of its tables and indexes has at least a page; the sizes of the files are those of the disk."""
    path = file_hive.server.engine.path
    files = (Path(path).stat().st_size, wal_path(path).stat().st_size)
    report = file_hive.call("session.stats")
    assert {name: table["rows"] for name, table in report["tables"].items()} == EMPTY_MIRROR
    page = report["page_size_bytes"]
    # A table without rows has one page of its own and one for each index; a text index has four tables behind it.
    pages = {name: table["allocated_bytes"] // page for name, table in report["tables"].items()}
    assert pages == {"sessions": 2, "session_messages": 2, "session_mirror_cursor": 1, "session_messages_fts": 4}
    assert (report["file_bytes"], report["wal_bytes"]) == files
    assert report["database_bytes"] == report["page_count"] * page


def test_rows_are_those_of_all_namespaces(file_hive: Hive) -> None:
    """And their bytes grow with them, those of the text index apart from those of the messages."""
    before = file_hive.call("session.stats")["tables"]

    def write(tx: Tx) -> None:
        for number in range(200):
            tx.run(MESSAGE, (f"m{number}", f"word{number} " * 100, "team" if number % 2 else "local"))
        tx.run("INSERT INTO session_messages_fts (session_messages_fts) VALUES ('rebuild')")

    file_hive.server.engine.run_write(write)
    after = file_hive.call("session.stats")["tables"]
    rows = {name: table["rows"] for name, table in after.items()}
    assert rows == {**EMPTY_MIRROR, "session_messages": 200, "session_messages_fts": 200}
    grown = {name: after[name]["allocated_bytes"] - before[name]["allocated_bytes"] for name in after}
    assert grown["session_messages"] > 100_000
    assert 0 < grown["session_messages_fts"] < grown["session_messages"]
    assert (grown["sessions"], grown["session_mirror_cursor"]) == (0, 0)


def test_a_mirrored_message_is_once(file_hive: Hive) -> None:
    """The key of a message is its namespace, source, session and id."""
    engine = file_hive.server.engine
    engine.run_write(lambda tx: tx.run(MESSAGE, ("m", "one", "local")))
    engine.run_write(lambda tx: tx.run(MESSAGE, ("m", "one", "team")))
    with pytest.raises(Exception, match="UNIQUE"):
        engine.run_write(lambda tx: tx.run(MESSAGE, ("m", "two", "local")))


def test_stats_of_a_store_in_memory(hive: Hive) -> None:
    """It has pages and no files."""
    report = hive.call("session.stats")
    assert (report["file_bytes"], report["wal_bytes"]) == (None, None)
    assert report["database_bytes"] == report["page_count"] * report["page_size_bytes"] > 0


def test_stats_of_a_store_that_is_only_read(tmp_path: Path) -> None:
    """They are read as ever; there is no log, so it has no bytes."""
    with open_hive(tmp_path / "hive.db", runtime_packs=PACKS) as made:
        made.call("session.store", content="x")
    with open_hive(tmp_path / "hive.db", runtime_packs=PACKS, read_only=True) as hive:
        assert hive.call("session.stats")["tables"]["sessions"]["rows"] == 0
        assert hive.refuses("session.vacuum")["code"] == "storage_unavailable"


def test_without_dbstat_there_is_no_figure(hive: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """The refusal says what is missing."""
    monkeypatch.setattr(session_mirror, "_CAN_COUNT", "SELECT 0")
    error = hive.refuses("session.stats")
    assert error["code"] == "unsupported"
    assert "dbstat" in error["message"]


def test_vacuum_says_what_it_gained(file_hive: Hive) -> None:
    """The pages of deleted sessions leave the file; the figures are those of stats before and after."""
    for number in range(20):
        session = file_hive.call("session.store", content=f"{number} " * 20_000)["session"]["id"]
        file_hive.call("delete", id=session, hard=True)
    sizes = ("database_bytes", "page_count", "file_bytes", "wal_bytes")
    report = file_hive.call("session.vacuum")
    before, after = report["before"], report["after"]
    page = before["database_bytes"] // before["page_count"]
    assert report["ok"] is True
    assert report["allocated_bytes_reclaimed"] == (before["page_count"] - after["page_count"]) * page > 100_000
    assert report["post_vacuum_metrics_status"] == "available"
    assert "post_vacuum_metrics_error" not in report
    now = file_hive.call("session.stats")
    assert now["page_count"] == after["page_count"]
    assert set(after) == set(sizes)


def test_a_vacuum_whose_figures_are_lost_is_a_success(file_hive: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rewrite happened; what could not be read is null and says why."""
    engine = file_hive.server.around.engines[MAIN]
    vacuum = engine.vacuum

    def vacuum_and_lose_the_readers() -> None:
        vacuum()

        def no_reader(tx: Tx) -> session_mirror.Pages:
            raise ReaderCheckoutTimeout("no reader came free")

        monkeypatch.setattr(session_mirror, "pages", no_reader)

    monkeypatch.setattr(engine, "vacuum", vacuum_and_lose_the_readers)
    report = file_hive.call("session.vacuum")
    assert report["ok"] is True
    assert (report["after"], report["allocated_bytes_reclaimed"]) == (None, None)
    assert report["post_vacuum_metrics_status"] == "unavailable_after_commit"
    assert report["post_vacuum_metrics_error"] == "no reader came free"


def test_the_diagnostics_count_the_text_index_of_the_mirror_as_one(file_hive: Hive) -> None:
    """Its shadow tables are of the class of text indexes, its messages are rows."""
    objects = file_hive.call("db_diagnostics")["size_composition"]["objects"]
    classes = {entry["name"]: entry["class"] for entry in objects if entry["name"].startswith("session")}
    assert {name for name, sort in classes.items() if sort == "fts"} == {
        f"session_messages_fts_{part}" for part in ("config", "data", "docsize", "idx")
    }
    assert classes["session_messages"] == "row_table"
    assert classes["session_messages_natural"] == "index"
