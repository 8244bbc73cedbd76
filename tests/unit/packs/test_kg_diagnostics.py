"""db_diagnostics: what is reported of a file, and what is said where nothing can be."""

import os
import time
from pathlib import Path

import pytest

from hivekeep.storage import vectors
from hivekeep.storage.engine import Tx
from hivekeep.storage.vectors import NOTE_ROUTES, VectorRow
from hivekeep_contract.errors import StorageUnavailable
from support.client import Hive, open_hive


def test_a_file_reports_every_section(file_hive: Hive) -> None:
    """Counters, probe, log, sizes, edges and holders of a store on disk, the main one at the top and in the list."""
    file_hive.call("create", kind="concept", name="A")
    report = file_hive.ok("db_diagnostics()")
    (main,) = report["databases"]
    assert (main["backend_names"], main["path"], main["error"]) == (["main"], file_hive.server.engine.path, None)
    assert set(main["diagnostics"]) | {"databases"} == set(report)
    assert report["writer_contention"]["writer_acquisitions"] == 1
    assert report["reader_contention"]["reader_admission_capacity"] == 8
    assert report["checkpoint_probe"]["log_frames"] >= report["checkpoint_probe"]["checkpointed_frames"] > 0
    assert report["wal_file_bytes"] > 0
    assert report["wal_pin"]["census"]["pids"] == [os.getpid()]
    missing = [name for name, value in report.items() if value is None and not name.endswith(("_reason", "_error"))]
    assert missing == []


def test_searches_of_vectors_are_counted_for_the_process(file_hive: Hive) -> None:
    """One search is one more of its route, whatever store it is in; nothing is missing, so no reason is given."""

    def totals() -> list[int]:
        report = file_hive.ok("db_diagnostics()")
        assert report["note_search_routes_unavailable_reason"] is None
        return [report[f"note_search_{route}_route_total"] for route in ("ann", "fallback")]

    approximate, exact = totals()
    NOTE_ROUTES.add(approximate=True)
    NOTE_ROUTES.add(approximate=False)
    NOTE_ROUTES.add(approximate=False)
    assert totals() == [approximate + 1, exact + 2]


def test_vectors_are_told_apart_from_other_tables(file_hive: Hive) -> None:
    """Tables of the extension are vector storage, the one that may hold floats in its rows is mixed."""

    def fill(tx: Tx) -> None:
        model = vectors.register_model(tx, "small", "1", 8, 1)
        vectors.put_many(tx, model, [VectorRow("note", 1, "local", "memory", 7, b"\0\0\0?" * 8)])

    empty = file_hive.ok("db_diagnostics()")["size_composition"]
    assert empty["vector_bytes"] == 0
    assert empty["mixed_embedding_bytes"] == empty["page_size_bytes"]
    file_hive.server.engine.run_write(fill)
    sizes = file_hive.ok("db_diagnostics()")["size_composition"]
    named = {entry["name"] for entry in sizes["objects"] if entry["class"] == "vector"}
    assert {name.partition("_1")[0] for name in named} <= {
        "vector_floats",
        "vector_codes",
        "sqlite_autoindex_vector_floats",
        "sqlite_autoindex_vector_codes",
    }
    assert {"vector_floats_1_vector_chunks00", "vector_codes_1_vector_chunks00"} <= named
    others = {entry["name"] for entry in sizes["objects"] if entry["class"] != "vector" and "vector_" in entry["name"]}
    assert others == {"vector_stamps"}


def test_the_process_is_told_by_its_start(file_hive: Hive) -> None:
    """The creation time is the system's, in whole seconds, and not that of the request."""
    process = file_hive.ok("db_diagnostics()")["process"]
    assert process["pid"] == os.getpid()
    assert 0 < process["started_at"] <= time.time()
    assert process["started_at"] == file_hive.ok("db_diagnostics()")["process"]["started_at"]


def test_sizes_account_for_every_page(file_hive: Hive) -> None:
    """Classes add up to the objects, objects and free pages to the file."""
    sizes = file_hive.ok("db_diagnostics()")["size_composition"]
    classes = ("row_table", "index", "fts", "vector", "mixed_embedding", "internal")
    assert sum(sizes[f"{name}_bytes"] for name in classes) == sizes["accounted_bytes"]
    assert sum(entry["bytes"] for entry in sizes["objects"]) == sizes["accounted_bytes"]
    assert sizes["accounted_bytes"] + sizes["unaccounted_bytes"] + sizes["freelist_bytes"] == sizes["file_bytes"]
    assert sizes["fts_bytes"] > 0
    assert (sizes["objects_truncated"], sizes["objects_omitted"]) == (False, 0)


def test_the_ledger_runs_ahead_after_a_hard_delete(file_hive: Hive) -> None:
    """A number once given stays given: rows and ledger differ by what was removed for good."""
    a, b = (file_hive.call("create", kind="concept", name=name)["id"] for name in "AB")
    edge = file_hive.call("link", source_id=a, target_id=b, relation="extends")["id"]
    integrity = file_hive.ok("db_diagnostics()")["graph_edge_integrity"]
    assert (integrity["graph_edges_rows"], integrity["graph_edges_seq_relationship"]) == (1, "equal")
    file_hive.call("delete", id=edge, hard=True)
    integrity = file_hive.ok("db_diagnostics()")["graph_edge_integrity"]
    assert integrity["graph_edges_seq_minus_graph_edges"] == 1
    assert integrity["graph_edges_seq_relationship"] == "ledger_ahead_consistent_with_hard_deletes"


def test_a_store_in_memory_says_what_it_cannot_tell(hive: Hive) -> None:
    """No log, no probe, no holders: each with its reason; the store goes on working."""
    report = hive.ok("db_diagnostics()")
    assert report["checkpoint_probe_unavailable_reason"] == "the database is in memory"
    assert report["wal_file_unavailable_reason"] == "the database is in memory"
    assert (report["wal_pin"]["status"], report["wal_pin"]["census"]["reason"]) == (
        "unavailable",
        "the database is in memory",
    )
    assert hive.ok("stats()")["entities"] == 0


def test_a_read_only_store_is_not_checkpointed(tmp_path: Path) -> None:
    """The probe is left out, with the reason; the sizes are there."""
    path = tmp_path / "hive.db"
    with open_hive(path):
        pass
    with open_hive(path, read_only=True) as hive:
        report = hive.ok("db_diagnostics()")
    assert report["checkpoint_probe_unavailable_reason"] == "the database is open for reading only"
    assert report["size_composition"]["file_bytes"] > 0


def test_a_main_file_that_fails_leaves_only_the_list(file_hive: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error stands in the first entry and nothing is invented at the top."""

    def fail() -> None:
        raise StorageUnavailable("the disk is gone")

    monkeypatch.setattr(file_hive.server.engine, "diagnostics", fail)
    report = file_hive.ok("db_diagnostics()")
    assert set(report) == {"databases"}
    assert (report["databases"][0]["diagnostics"], report["databases"][0]["error"]) == (None, "the disk is gone")
