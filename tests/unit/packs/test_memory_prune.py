"""prune, vacuum and feedback without a profile."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hivekeep.packs.context import MAIN
from hivekeep.storage import notes
from hivekeep.storage.engine import Tx
from hivekeep.storage.notes import NoteRow
from hivekeep.times import now_us
from hivekeep.tuning import passive
from hivekeep.wiring import open_server
from hivekeep_contract.limits import BUILTIN_PROFILE
from hivekeep_contract.settings import Settings
from support.client import Hive, open_hive
from support.stores import record_id

DAY_US = 86_400_000_000


@pytest.fixture
def hive() -> Iterator[Hive]:
    """A fresh server with the memory pack and nothing that it does not need."""
    with open_hive(runtime_packs=["kg", "memory"]) as opened:
        yield opened


def keep(hive: Hive, number: int, **fields: Any) -> str:
    """Store a memory as it is; answers its id."""
    row = NoteRow(record_id(number), "local", "memory", f"memory {number}", now_us(), now_us())._replace(**fields)

    def write(tx: Tx) -> None:
        notes.insert(tx, row)

    hive.server.engine.run_write(write)
    return row.id


def left(hive: Hive) -> set[str]:
    """The ids of the live memories."""
    return {item["id"] for item in hive.call("list", kind="memory", limit=200)["items"]}


def test_what_weighs_strictly_less_goes(hive: Hive) -> None:
    """The bound itself stays; a memory without a salience weighs nothing; other kinds are never touched."""
    light, bound, heavy, none = (
        keep(hive, number, salience=salience) for number, salience in enumerate((0.1, 0.2, 0.9, None), 1)
    )
    hive.call("create", kind="observation", content="A note.", salience=0.0)
    assert hive.call("memory.prune", min_salience=0.2, dry_run=True) == {
        "pruned": 0,
        "dry_run": True,
        "would_prune": 2,
        "namespace": "local",
    }
    assert left(hive) == {light, bound, heavy, none}
    assert hive.call("memory.prune", min_salience=0.2) == {"pruned": 2, "dry_run": False, "namespace": "local"}
    assert left(hive) == {bound, heavy}
    assert len(hive.call("list", kind="observation")["items"]) == 1


def test_the_weight_after_decay_can_be_the_bound(hive: Hive) -> None:
    """0.5 * exp(-0.02 * 30) is 0.274; without a decay of its own a memory fades as its type does."""
    then = now_us() - 30 * DAY_US
    episode = keep(hive, 1, salience=0.5, created_at=then)
    fact = keep(hive, 2, salience=0.5, created_at=then, properties='{"memory_type":"semantic"}')
    fading = keep(hive, 3, salience=0.5, created_at=then, decay_factor=1.0)
    assert hive.call("memory.prune", min_effective_salience=0.27)["pruned"] == 1
    assert left(hive) == {episode, fact}
    assert hive.call("memory.prune", min_effective_salience=0.28)["pruned"] == 1
    assert left(hive) == {fact}
    assert fading not in left(hive)


def test_what_has_expired_goes(hive: Hive) -> None:
    """Now when no moment is given, otherwise at that moment or before it; 0 leaves expiry out."""
    past, future = keep(hive, 1, expires_at=now_us() - 1), keep(hive, 2, expires_at=now_us() + DAY_US)
    assert hive.call("memory.prune", before=0)["pruned"] == 0
    assert hive.call("memory.prune")["pruned"] == 1
    assert left(hive) == {future}
    assert hive.call("memory.prune", before=now_us() + 2 * DAY_US)["pruned"] == 1
    assert left(hive) == set()
    assert past not in left(hive)
    assert "'before'" in hive.refuses("memory.prune", before=-1)["message"]


def test_one_namespace_is_pruned(hive: Hive) -> None:
    """`local` unless another one is named."""
    keep(hive, 1, salience=0.1)
    elsewhere = keep(hive, 2, salience=0.1, namespace="other")
    assert hive.call("memory.prune", min_salience=0.5)["pruned"] == 1
    assert hive.call("get", id=elsewhere)["id"] == elsewhere
    assert hive.call("memory.prune", min_salience=0.5, namespace="other") == {
        "pruned": 1,
        "dry_run": False,
        "namespace": "other",
    }


def test_what_was_pruned_is_out_of_every_index_and_can_come_back(hive: Hive) -> None:
    """It is deleted as delete does it: an event each, gone from search and recall until restore."""
    made = hive.call("memory.remember", content="The disk was full.", salience=0.1)
    assert hive.call("memory.prune", min_salience=0.2)["pruned"] == 1
    assert hive.call("memory.recall", query="disk full") == []
    assert hive.call("search", kind="memory", query="disk") == []
    (event,) = [event for event in hive.events() if event["kind"] == "note_deleted"]
    assert event["payload"] == {"id": made["id"], "namespace": "local", "hard": False}
    hive.call("restore", id=made["id"])
    assert [hit["id"] for hit in hive.call("memory.recall", query="disk full")] == [made["id"]]


# vacuum


def test_vacuum_gives_the_space_of_deleted_rows_back(tmp_path: Path) -> None:
    """The file has fewer pages afterwards, while a reader is open and sees what it saw."""
    with open_hive(tmp_path / "hive.db", runtime_packs=["kg", "memory"]) as hive:
        for number in range(30):
            keep(hive, number, content="x" * 20_000)
        hive.call("delete", id=record_id(29), hard=True)
        for number in range(29):
            hive.call("delete", id=record_id(number), hard=True)
        keep(hive, 100)
        with hive.server.engine.read() as tx:
            pages = tx.one("PRAGMA page_count")
            assert hive.call("memory.vacuum") == {"ok": True}
            assert tx.one("SELECT count(*) FROM notes") == (1,)
            after = tx.one("PRAGMA page_count")
        assert pages is not None
        assert after is not None
        assert after[0] < pages[0]
        assert left(hive) == {record_id(100)}


def test_vacuum_of_a_file_that_another_process_writes_is_refused(tmp_path: Path) -> None:
    """`unavailable`, retryable, and the file is as it was."""
    path = tmp_path / "hive.db"
    with (
        open_hive(path, runtime_packs=["kg", "memory"], storage_busy_timeout_ms=50) as hive,
        open_hive(path, runtime_packs=["kg"]) as other,
    ):
        keep(hive, 1)

        def ask(tx: Tx) -> dict[str, Any]:
            return hive.refuses("memory.vacuum")

        error = other.server.engine.run_write(ask)
        assert (error["kind"], error["retryable"], error["domain_disposition"]) == (
            "unavailable",
            True,
            "not_committed",
        )
        assert hive.call("memory.vacuum") == {"ok": True}


def test_vacuum_waits_for_its_turn_at_a_writer_with_a_thread(tmp_path: Path) -> None:
    """Behind the writes that were accepted before it, and the store works on afterwards."""
    settings = Settings(db=str(tmp_path / "hive.db"), runtime_packs=("kg", "memory"), embedding_models=())
    server = open_server(settings, threaded=True)
    hive = Hive(server)
    for number in range(20):
        keep(hive, number)
    assert hive.call("memory.vacuum") == {"ok": True}
    keep(hive, 20)
    assert len(left(hive)) == 21
    server.engine.close()


# feedback that no profile takes


def test_feedback_without_a_profile_counts_in_this_process(hive: Hive) -> None:
    """The answer repeats the id in full and in lower case; the belief about the memory moves by the signal's weight."""
    made = hive.call("memory.remember", content="The standup is at nine.")["id"]
    told = hive.call("memory.feedback", target_id=made.replace("-", "").upper(), signal="correction")
    assert told == {"ok": True, "target_id": made, "signal": "correction"}
    seen = passive.of(hive.server.around.engines[MAIN]).seen("local", BUILTIN_PROFILE)
    assert (seen.targets[made].alpha, seen.targets[made].beta) == (1.0, 3.0)


def test_feedback_names_one_record_that_exists(hive: Hive) -> None:
    """A prefix is refused, an absent record or an edge is not found, an unknown signal lists the known ones."""
    made = hive.call("memory.remember", content="The standup is at nine.")["id"]
    prefix = hive.refuses("memory.feedback", target_id=made[:8], signal="useful")
    assert (prefix["kind"], "target_id" in prefix["message"]) == ("invalid_input", True)
    assert hive.refuses("memory.feedback", target_id=record_id(9), signal="useful")["kind"] == "not_found"
    signal = hive.refuses("memory.feedback", target_id=made, signal="nice")
    assert (signal["kind"], "correction" in signal["message"]) == ("invalid_input", True)
