"""What an operator wants to know of one database file: contention, size, edges, log, who holds it.

Keeps true: a section that cannot be collected says why; nothing is guessed, created, deleted or logically changed. The
one thing that moves pages is a PASSIVE checkpoint, which is normal upkeep and is what `checkpointed_frames` counts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import apsw

from hivekeep.storage import ledger
from hivekeep.storage.connections import MEMORY, SqliteTx, wal_path
from hivekeep.storage.vector_layout import CODES_PREFIX, FLOATS_PREFIX
from hivekeep_contract.limits import DIAGNOSTICS_OBJECTS_MAX

_IN_MEMORY: Final = "the database is in memory"
_READ_ONLY: Final = "the database is open for reading only"
_NO_TASK: Final = "no checkpoint task runs; SQLite checkpoints when the log reaches its page limit"
_NO_SIDECARS: Final = "no sidecar files are written beside the log"

_READER_PREFIXES: Final = ("reader_", "available_reader", "pooled_reader", "standalone_reader", "active_", "peak_")
_READER_NAMES: Final = (
    "completed_pooled_reader_checkouts",
    "max_completed_reader_hold_micros",
    "infrastructure_standalone_reader_opens",
)
_CHECKPOINT_COUNTERS: Final = (
    "checkpoint_pressure_elevated_ticks",
    "checkpoint_pressure_episodes_started",
    "checkpoint_pressure_episodes_recovered",
    "checkpoint_lifecycle_append_attempts",
    "checkpoint_lifecycle_append_failures",
    "checkpoint_lifecycle_handoff_drops",
)

_OBJECTS: Final = (
    "SELECT stat.name, coalesce(object.type, 'table'), sum(stat.pgsize)"
    " FROM dbstat AS stat LEFT JOIN sqlite_schema AS object ON object.name = stat.name"
    " WHERE stat.aggregate = TRUE GROUP BY stat.name ORDER BY sum(stat.pgsize) DESC, stat.name"
)
_MERGED_BUT_LIVE: Final = "SELECT count(*) FROM entities WHERE deleted_at IS NULL AND merged_into IS NOT NULL"
_DOUBLE_EDGES: Final = "SELECT count(*) FROM (SELECT id FROM edges GROUP BY id HAVING count(*) > 1)"

_TEXT_INDEXES: Final = ("_words", "_trigrams", "_fts")
_CLASSES: Final = ("row_table", "index", "fts", "vector", "mixed_embedding", "internal")


def report(
    path: str, counters: Mapping[str, int | None], connect: Callable[[], apsw.Connection], *, read_only: bool
) -> dict[str, Any]:
    """Every section for one file; `connect` opens a connection of the report's own, which is closed again.

    Sections: reader_contention, writer_contention, checkpoint_counters, checkpoint_probe, wal_file_bytes,
    size_composition, graph_edge_integrity, wal_pin; each with its reason when it is missing.
    """
    connection = connect()
    try:
        return {
            "reader_contention": {name: value for name, value in counters.items() if _is_of_readers(name)},
            "writer_contention": {name: value for name, value in counters.items() if not _is_of_readers(name)},
            "checkpoint_counters": dict.fromkeys(_CHECKPOINT_COUNTERS),
            "checkpoint_counters_unavailable_reason": _NO_TASK,
            **_checkpoint_probe(path, connection, read_only=read_only),
            **_wal_size(path),
            **_composition(connection),
            **_edge_integrity(connection),
            "wal_pin": _wal_pin(path),
        }
    finally:
        if path != MEMORY:
            connection.close()


def _is_of_readers(name: str) -> bool:
    return name.startswith(_READER_PREFIXES) or name in _READER_NAMES


def _checkpoint_probe(path: str, connection: apsw.Connection, *, read_only: bool) -> dict[str, Any]:
    reason = _IN_MEMORY if path == MEMORY else _READ_ONLY if read_only else None
    if reason is not None:
        return {"checkpoint_probe": None, "checkpoint_probe_unavailable_reason": reason}
    try:
        frames, moved = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    except apsw.Error as fault:
        return {"checkpoint_probe": None, "checkpoint_probe_unavailable_reason": str(fault)}
    probe = {"mode": "passive", "log_frames": frames, "checkpointed_frames": moved}
    return {"checkpoint_probe": probe, "checkpoint_probe_unavailable_reason": None}


def _wal_size(path: str) -> dict[str, Any]:
    if path == MEMORY:
        return {"wal_file_bytes": None, "wal_file_unavailable_reason": _IN_MEMORY}
    try:
        return {"wal_file_bytes": wal_path(path).stat().st_size, "wal_file_unavailable_reason": None}
    except OSError as fault:
        return {"wal_file_bytes": None, "wal_file_unavailable_reason": f"no log file: {fault.strerror}"}


def _composition(connection: apsw.Connection) -> dict[str, Any]:
    try:
        return {"size_composition": _sizes(connection), "size_composition_error": None}
    except apsw.Error as fault:
        return {"size_composition": None, "size_composition_error": str(fault)}


def _sizes(connection: apsw.Connection) -> dict[str, Any]:
    page_size, pages, free = (int(connection.pragma(name)) for name in ("page_size", "page_count", "freelist_count"))
    objects = [
        {"name": name, "type": sort, "class": _class_of(name, sort), "bytes": size}
        for name, sort, size in connection.execute(_OBJECTS)
    ]
    accounted = sum(entry["bytes"] for entry in objects)
    return {
        "page_size_bytes": page_size,
        "file_bytes": page_size * pages,
        "freelist_bytes": page_size * free,
        "accounted_bytes": accounted,
        "unaccounted_bytes": page_size * (pages - free) - accounted,
        **{f"{name}_bytes": sum(entry["bytes"] for entry in objects if entry["class"] == name) for name in _CLASSES},
        "objects": objects[:DIAGNOSTICS_OBJECTS_MAX],
        "objects_truncated": len(objects) > DIAGNOSTICS_OBJECTS_MAX,
        "objects_omitted": max(0, len(objects) - DIAGNOSTICS_OBJECTS_MAX),
    }


def _class_of(name: str, sort: str) -> str:
    if name.startswith("sqlite_") and sort == "table":
        return "internal"
    if any(part in name for part in _TEXT_INDEXES):
        return "fts"
    if sort == "index":
        # An index that the extension made for its own tables is a part of them.
        return "vector" if name.startswith("sqlite_autoindex_vector_") else "index"
    if name.startswith((FLOATS_PREFIX, CODES_PREFIX)):
        return "vector"
    return "mixed_embedding" if name == "vectors" else "row_table"


def _edge_integrity(connection: apsw.Connection) -> dict[str, Any]:
    tx = SqliteTx(connection)
    try:
        rows, given = ledger.counts(tx)["edges"]
        doubles, merged = tx.one(_DOUBLE_EDGES), tx.one(_MERGED_BUT_LIVE)
    except apsw.Error as fault:
        return {"graph_edge_integrity": None, "graph_edge_integrity_error": str(fault)}
    assert doubles is not None
    assert merged is not None
    integrity = {
        "duplicate_edge_id_groups": doubles[0],
        "graph_edges_rows": rows,
        "graph_edges_seq_rows": given,
        "pre_v14_duplicate_edge_state_detected": doubles[0] > 0,
        "live_entities_carrying_merged_into": merged[0],
        "graph_edges_rows_scope": {"namespaces": "all", "rows": "live_and_soft_deleted"},
        "graph_edges_seq_rows_scope": {"namespaces": "all", "rows": "inserted_ids_retained_after_hard_delete"},
        "graph_edges_seq_minus_graph_edges": given - rows,
        "graph_edges_seq_relationship": _relationship(given - rows, doubled=doubles[0] > 0),
    }
    return {"graph_edge_integrity": integrity, "graph_edge_integrity_error": None}


def _relationship(difference: int, *, doubled: bool) -> str:
    if difference > 0:
        return "ledger_ahead_consistent_with_hard_deletes"
    if difference == 0:
        return "equal"
    return "ledger_behind_pre_v14_duplicate_edge_state" if doubled else "ledger_behind_unexpected"


def _wal_pin(path: str) -> dict[str, Any]:
    """Which processes hold the log open. Without sidecar evidence the verdict is never `complete`."""
    census = _census(path)
    return {
        "status": "unavailable" if census["status"] == "unavailable" else "degraded",
        "census": census,
        "sidecar_listing_truncated": None,
        "sidecar_entries_cleanup_would_reap": None,
        "sidecar_unavailable_reason": _NO_SIDECARS,
    }


def _census(path: str) -> dict[str, Any]:
    if path == MEMORY:
        return {"status": "unavailable", "pids": [], "reason": _IN_MEMORY}
    if not sys.platform.startswith("linux"):
        return {"status": "unavailable", "pids": [], "reason": f"open files are not listed on {sys.platform}"}
    wanted = str(wal_path(str(Path(path).resolve())))
    pids, hidden = [], 0
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            held = _holds(folder / "fd", wanted)
            hidden += held is None
            pids += [int(folder.name)] if held else []
    reason = f"{hidden} processes of other users could not be looked into" if hidden else None
    return {"status": "incomplete" if hidden else "complete", "pids": sorted(pids), "reason": reason}


def _holds(folder: Path, wanted: str) -> bool | None:
    """Whether a process has the file open; None when it may not be looked into."""
    try:
        return any(_target(link) == wanted for link in folder.iterdir())
    except PermissionError:
        return None
    except OSError:
        return False


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""
