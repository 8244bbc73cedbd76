"""The promises of the store when processes die, disks fill up and neighbours write at the same time."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hivekeep.storage import doctor, embedding_queue, entities, migrations, notes, text_index, vectors
from hivekeep.storage.embedding_queue import QueueRow
from hivekeep.storage.engine import Tx
from hivekeep.storage.entities import NO_FILTER
from hivekeep.storage.sqlite import open_store
from hivekeep_contract.errors import StorageUnavailable
from support.stores import OPTIONS, entity, note, record_id

_PROGRAM = str(Path(__file__).with_name("processes.py"))


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Where a database may be made."""
    return str(tmp_path / "hive.db")


def _start(*arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    return subprocess.Popen([sys.executable, _PROGRAM, *arguments], stdout=subprocess.PIPE, text=True, env=environment)


def _sound(path: str) -> list[str]:
    return [f"{check.name}: {check.detail}" for check in doctor.examine(path, OPTIONS) if check.verdict == "failed"]


@pytest.mark.slow
@pytest.mark.parametrize("writer", ["inline", "threaded"])
def test_what_was_acknowledged_survives_kill_9(path: str, writer: str) -> None:
    """Ten times a process is killed while it writes: every id it had printed is there, and the file is sound. 8 s."""
    chance = random.Random(7)
    acknowledged: list[str] = []
    for round_ in range(10):
        process = _start("forever", path, str(1 + round_ * 100_000), writer)
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(chance.uniform(0.0, 0.25))
        process.kill()
        rest = process.stdout.read()
        process.wait()
        # The kill may cut the last line short; what is not a whole line was not acknowledged to anybody.
        acknowledged += [line for line in (first + rest).split("\n")[:-1] if line]
        engine = open_store(path, OPTIONS)
        with engine.read() as tx:
            found = entities.get_many(tx, acknowledged)
        engine.close()
        assert [record for record in acknowledged if record not in found] == []
        assert _sound(path) == []
    assert len(acknowledged) > 20


def test_a_disk_that_fills_up_refuses_and_keeps_what_it_took(path: str) -> None:
    """The refusal is typed, the acknowledged notes are there with their index rows, and nothing of the refused one."""
    process = _start("fill", path)
    output, _ = process.communicate(timeout=60)
    *acknowledged, refusal = output.splitlines()
    assert json.loads(refusal)["code"] == "storage_unavailable"
    assert json.loads(refusal)["stage"] in ("disk_full", "io_error")
    assert len(acknowledged) > 10
    assert _sound(path) == []
    engine = open_store(path, OPTIONS)
    with engine.read() as tx:
        stored = [row.id for row in notes.list_page(tx, ["local"], notes.NO_FILTER, limit=10_000)]
        assert sorted(stored) == acknowledged
    engine.run_write(lambda tx: notes.insert(tx, note(1_000_000)))
    engine.close()


def test_a_full_database_takes_nothing_in_part(path: str) -> None:
    """A transaction that meets the size limit half-way is gone; what fits afterwards is taken."""
    engine = open_store(path, OPTIONS)

    def too_much(tx: Tx) -> None:
        (pages,) = tx.one("PRAGMA page_count") or (0,)
        tx.run(f"PRAGMA max_page_count = {pages + 20}")
        for number in range(1, 1000):
            notes.insert(tx, note(number, content="word " * 1000))

    with pytest.raises(StorageUnavailable) as refused:
        engine.run_write(too_much)
    assert refused.value.body()["stage"] == "disk_full"
    with engine.read() as tx:
        assert notes.count(tx, ["local"]) == 0
        assert text_index.differences(tx, "note") == ([], [])
    assert engine.counters()["writer_task_side_effects_unknown"] == 0
    assert engine.run_write(lambda tx: entities.insert(tx, entity(1))) == 1
    engine.close()
    assert _sound(path) == []


def test_two_processes_write_one_file_without_a_lock_error(path: str) -> None:
    """300 writes each at the same time are 600 entities, whose sequences have no gap and no double."""
    processes = [_start("times", path, "300", str(base)) for base in (1, 10_001)]
    counters = []
    for process in processes:
        output, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        counters.append(json.loads(output))
    assert [count["writer_task_request_failures"] for count in counters] == [0, 0]
    engine = open_store(path, OPTIONS)
    with engine.read() as tx:
        walk = entities.list_after(tx, ["local"], NO_FILTER, limit=1000, after_seq=0)
    engine.close()
    assert [row.seq for row in walk.rows] == list(range(1, 601))
    expected = {record_id(number) for base in (1, 10_001) for number in range(base, base + 300)}
    assert {row.id for row in walk.rows} == expected


@pytest.mark.slow
def test_processes_that_start_together_make_one_store(path: str) -> None:
    """Six processes open a file that does not exist yet: one makes it, all of them use it. 3 s."""
    for attempt in range(3):
        fresh = f"{path}.{attempt}"
        processes = [_start("open", fresh) for _ in range(6)]
        answers = [process.communicate(timeout=60)[0].strip() for process in processes]
        assert answers == [str(len(migrations.packaged()))] * 6
        assert _sound(fresh) == []


@pytest.mark.slow
@pytest.mark.parametrize(("moment", "stored"), [("before", []), ("within", []), ("between", [1, 2])])
def test_a_worker_that_is_killed_loses_no_text_and_leaves_no_wrong_vector(
    path: str, moment: str, stored: list[int]
) -> None:
    """Killed at any moment, everything still waits; what is stored is valid for the text it was made of and for no
    later one; and the next worker finishes the work. 2 s."""

    def fill(tx: Tx) -> None:
        for number in (1, 2):
            notes.insert(tx, note(number))
            made_of = vectors.source_hash(None, f"content {number}")
            embedding_queue.put(
                tx, QueueRow("small", "note", number, "local", "observation", made_of, f"content {number}", 1)
            )

    def change(tx: Tx) -> None:
        old = notes.get(tx, record_id(1))
        assert old is not None
        notes.update(tx, old, old._replace(content="later"))
        made_of = vectors.source_hash(None, "later")
        embedding_queue.put(tx, QueueRow("small", "note", 1, "local", "observation", made_of, "later", 1))

    def valid(tx: Tx) -> list[int]:
        """What a search of these notes may show."""
        model = vectors.find_model(tx, "small", "1")
        scope = vectors.Scope("note", ("local",))
        found = [] if model is None else vectors.nearest(tx, model, b"\0\0\0?" * 8, scope, 9)
        live = notes.get_many(tx, [record_id(number) for number in (1, 2)]).values()
        hashes = {row.seq: vectors.source_hash(row.name, row.content) for row in live}
        return [near.seq for near in found if hashes.get(near.seq) == near.source_hash]

    engine = open_store(path, OPTIONS)
    engine.run_write(fill)
    engine.close()
    assert _start("embed", path, moment).wait() == -9
    engine = open_store(path, OPTIONS)
    with engine.read() as tx:
        assert valid(tx) == stored
        assert len(embedding_queue.take(tx, 1, 9)) == 2
    engine.run_write(change)
    with engine.read() as tx:
        assert valid(tx) == stored[1:]
    engine.close()
    assert _start("embed", path, "never").wait() == 0
    engine = open_store(path, OPTIONS)
    with engine.read() as tx:
        assert valid(tx) == [1, 2]
        assert embedding_queue.take(tx, 1, 9) == []
    engine.close()
    assert _sound(path) == []
