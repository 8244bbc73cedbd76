"""Examining a database without changing it: is it whole, ours, current, private, and consistent with itself."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple

import apsw

from hivekeep.storage import agent_retrieval, ledger, migrations, tables, text_index, vectors
from hivekeep.storage.connections import (
    SqliteTx,
    StoreOptions,
    load_vec,
    open_connection,
    pragmas_expected,
    wal_path,
)
from hivekeep.storage.statements import sql
from hivekeep_contract.errors import HivekeepError, Unsupported

_SHOWN: Final = 5
_LOGGED_AT: Final = 18
_LOGGED: Final = b"\x02\x02"
"""The versions of the file format, for writing and for reading, of a file with a write-ahead log."""
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO

_STRAY: Final = (
    "SELECT r.id FROM {table} AS r LEFT JOIN {ledger} AS l ON l.seq = r.seq"
    " WHERE l.id IS NOT r.id ORDER BY r.seq LIMIT ?"
)


_OF_VECTORS: Final = (
    "{count} vectors of {model} have no record any more",
    "{count} vectors of {model} are of a former text of their record; hivekeep reindex makes them anew",
    "{count} vectors of {model} are missing in its index; hivekeep reindex makes them anew",
    "{count} rows of the index of {model} belong to no vector",
)
"""What is told of each of `vectors.Findings`, in their order."""


class Check(NamedTuple):
    """One thing that was looked at. `failed` = data is lost or the store does not work; `warning` = it works."""

    name: str
    verdict: Literal["ok", "warning", "failed"]
    detail: str


def examine(path: str, options: StoreOptions) -> list[Check]:
    """Every check in order; those that need an open database are left out when it cannot be opened."""
    checks = [_file(path, options)]
    if checks[0].verdict != "ok":
        return checks
    checks.append(_permissions(path))
    try:
        connection = open_connection(path, "reader", options, read_only=True)
    except apsw.Error as fault:
        return [*checks, Check("open", "failed", str(fault))]
    try:
        checks += _inside(connection, options)
    finally:
        connection.close()
    return checks


def _inside(connection: apsw.Connection, options: StoreOptions) -> Iterator[Check]:
    examinations: dict[str, Callable[[apsw.Connection], str]] = {
        "integrity": _integrity,
        "foreign keys": _foreign_keys,
        "migrations": _migrations,
        "tables": lambda connection: _joined(tables.differences(connection)),
        "text index": _text_index,
        "sequence ledgers": _ledger,
        "pragmas": lambda connection: _pragmas(connection, options),
    }
    for name, examination in examinations.items():
        try:
            trouble = examination(connection)
        except apsw.Error as fault:
            trouble = str(fault)
        yield Check(name, "failed" if trouble else "ok", trouble)
    yield _vectors(connection)


def _file(path: str, options: StoreOptions) -> Check:
    if not Path(path).exists():
        return Check("file", "failed", f"{path} does not exist; the first operation creates it")
    if not Path(path).is_file():
        return Check("file", "failed", f"{path} is not a file")
    try:
        migrations.check(path, migrations.file_state(path, options), migrations.packaged())
    except (HivekeepError, apsw.Error, OSError) as fault:
        return Check("file", "failed", str(fault))
    return Check("file", "ok", "")


def _permissions(path: str) -> Check:
    """The database and what lies beside it must be its owner's alone."""
    if os.name != "posix":
        return Check("permissions", "ok", "not examined on this platform")
    beside = [Path(path), wal_path(path), Path(path + "-shm"), *migrations.backups(path)]
    open_to_others = [
        f"{file} has mode {stat.S_IMODE(file.stat().st_mode):04o}; chmod 600 it"
        for file in beside
        if file.exists() and stat.S_IMODE(file.stat().st_mode) & _OTHERS
    ]
    return Check("permissions", "warning" if open_to_others else "ok", _joined(open_to_others))


def _integrity(connection: apsw.Connection) -> str:
    found = [str(row[0]) for row in connection.execute("PRAGMA quick_check")]
    return "" if found == ["ok"] else _joined(found)


def _foreign_keys(connection: apsw.Connection) -> str:
    broken = [
        f"row {row[1]} of {row[0]} points to no {row[2]}" for row in connection.execute("PRAGMA foreign_key_check")
    ]
    return _joined(broken)


def _migrations(connection: apsw.Connection) -> str:
    applied = migrations.applied_checksums(connection)
    known = [migration.checksum for migration in migrations.packaged()]
    if applied == known:
        return ""
    if applied == known[: len(applied)]:
        return f"schema version {len(applied)} of {len(known)}; opening it for writing migrates it"
    return "a migration was applied with another text than this program has"


def _text_index(connection: apsw.Connection) -> str:
    substrates: tuple[text_index.TextSubstrate, ...] = ("entity", "note")
    trouble = []
    for substrate in substrates:
        missing, stale = text_index.differences(SqliteTx(connection), substrate)
        if missing:
            trouble.append(f"{len(missing)} live {substrate} records are not indexed")
        if stale:
            trouble.append(f"{len(stale)} {substrate} index rows have no live record")
    missing, stale = agent_retrieval.differences(SqliteTx(connection))
    if missing:
        trouble.append(f"{len(missing)} curated entries are not indexed")
    if stale:
        trouble.append(f"{len(stale)} index rows have no curated entry")
    return _joined(trouble)


def _ledger(connection: apsw.Connection) -> str:
    trouble = []
    for table, numbers in ledger.LEDGERS.items():
        stray = connection.execute(sql(_STRAY, table=table, ledger=numbers), (_SHOWN + 1,)).fetchall()
        trouble += [f"{table} {record_id} has no number of its own" for (record_id,) in stray]
    return _joined(trouble)


def _pragmas(connection: apsw.Connection, options: StoreOptions) -> str:
    wanted = pragmas_expected("reader", options, read_only=True)
    has = {pragma: connection.pragma(pragma) for pragma in wanted}
    if _keeps_a_log(connection.filename):
        # Where nothing can be written SQLite reads the file without its log, and calls its mode another one.
        has["journal_mode"] = "wal"
    return _joined(
        [f"{pragma} is {has[pragma]}, not {value}" for pragma, value in wanted.items() if has[pragma] != value]
    )


def _keeps_a_log(path: str) -> bool:
    """Whether the header of the file says that it is written through a write-ahead log."""
    with Path(path).open("rb") as file:
        return file.read(_LOGGED_AT + len(_LOGGED))[_LOGGED_AT:] == _LOGGED


def _vectors(connection: apsw.Connection) -> Check:
    """Without the extension search works and is slower; what a worker clears up or makes anew is a warning, too."""
    tx = SqliteTx(connection)
    told, lost = [], False
    try:
        load_vec(connection)
    except Unsupported as reason:
        told.append(str(reason))
    try:
        for model in vectors.models(tx):
            found = vectors.examine(tx, model)
            lost = lost or found.lost > 0
            told += [
                sql(sentence, count=str(number), model=f"{model.name} {model.revision}")
                for number, sentence in zip(found, _OF_VECTORS, strict=True)
                if number
            ]
    except apsw.Error as fault:
        return Check("vectors", "failed", str(fault))
    return Check("vectors", "failed" if lost else "warning" if told else "ok", _joined(told))


def _joined(sentences: list[str]) -> str:
    """The first few sentences, and how many more there are."""
    more = len(sentences) - _SHOWN
    return "; ".join([*sentences[:_SHOWN], *([f"and {more} more"] if more > 0 else [])])
