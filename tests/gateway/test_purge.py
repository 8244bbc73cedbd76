"""Purging a run: nothing of it is left but its tombstone, and nothing of any other run is touched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hivekeep.agent import broker, enrich
from hivekeep.agent.curated.desk import Desk
from hivekeep.agent.ledger_desk import LedgerDesk
from hivekeep.cli import examination
from hivekeep.storage import agent_feedback, agent_intakes
from hivekeep.storage.connections import open_connection
from hivekeep.storage.engine import Tx
from hivekeep.storage.sqlite import SqliteEngine, open_store
from hivekeep_contract.errors import StorageUnavailable
from hivekeep_contract.gateway_errors import NotFound, SecurityRejection, ValidationError
from support.gateway import HINTS, Gateway, Reply, asking, event, open_in_process, opening
from support.stores import OPTIONS

MARK = "quokka-7f3a9c"
"""Stands in every text that the purged run's client wrote."""
MARKED = f"about {MARK} and more"
TABLES = (
    "agent_runs",
    "agent_intakes",
    "agent_answers",
    "agent_events",
    "agent_projections",
    "agent_idempotency",
    "agent_deliveries",
    "agent_delivery_items",
    "agent_feedback",
    "agent_nudges",
    "agent_memory_links",
)
HOLDS = {"events": 10, "answers": 3, "keys": 9, "deliveries": 2, "feedback": 1, "nudges": 1, "promotions": 1}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the database is."""
    return tmp_path / "hive.db"


@pytest.fixture
def gateway(file: Path) -> Iterator[Gateway]:
    """A gateway on a file, whose memory has an entry to deliver."""
    with open_in_process(file) as opened:
        Desk(opened.server.engine, "ada", file.parent).record(
            "demo", {"kind": "lesson", "title": "How to build the parser", "body": "Run make parser."}
        )
        yield opened


def desk(gateway: Gateway) -> LedgerDesk:
    """The desk of an operator on the same store."""
    return LedgerDesk(gateway.server.engine, "ada")


class Lived:
    """A run that did everything that a run can do; `replays` repeats each of its writes with its key."""

    def __init__(self, gateway: Gateway, mark: str) -> None:
        self.replays: list[Callable[[], Reply]] = []
        self._gateway = gateway
        self._mark = mark
        self.id = ""
        self.id = self._do("open", asking(f"look at {mark}"), key=f"{mark}-open").data["runId"]
        for slot, value in (("taskType", "build"), ("target", f"parser {mark}"), ("expected", f"{mark} passes")):
            answered = self._do("answer", self.id, slot, value, key=f"{mark}-{slot}")
        assert answered.data["runStatus"] == "active"
        proposal = {"kind": "lesson", "title": f"Entry of {mark}", "body": "Use tox."}
        self._do(
            "events", self.id, event("memory.proposed", eventId=f"p-{mark}", payload=proposal), key=f"{mark}-events"
        )
        told = self._do("checkpoint", self.id, key=f"{mark}-checkpoint", errorSignatures=[mark], currentStep=mark).data
        assert told["nudge"]["code"] == "UNRESOLVED_FAILURE"
        self.delivery = answered.data["context"]
        assert [item["content"]["title"] for item in self.delivery["items"]] == ["How to build the parser"]
        self.entry = self.delivery["items"][0]["entryId"]
        self._do(
            "feedback",
            self.id,
            key=f"{mark}-feedback",
            category="context",
            feedbackId=f"f-{mark}",
            deliveryId=self.delivery["deliveryId"],
            entryId=self.entry,
            verdict="helpful",
            comment=mark,
        )
        self.promoted = self._do(
            "promote",
            self.id,
            key=f"{mark}-promote",
            proposalEventId=f"p-{mark}",
            actor="ada",
            createdAt="2026-01-01T00:00:00.000Z",
            confirmed=True,
        ).data["entry"]["entryId"]
        self._do("close", self.id, key=f"{mark}-close")

    def _do(self, name: str, *args: Any, **said: Any) -> Reply:
        ask = partial(getattr(self._gateway, name), *args, **said)
        self.replays.append(ask)
        reply: Reply = ask()
        assert reply.status == 200, reply
        return reply


def counts(gateway: Gateway) -> dict[str, int]:
    """How many rows each table of the gateway has."""
    with gateway.server.engine.read() as tx:
        rows = {table: tx.one(f"SELECT count(*) FROM {table}") for table in TABLES}
    return {table: row[0] for table, row in rows.items() if row is not None}


def everything(gateway: Gateway) -> dict[str, list[Any]]:
    """Every row of every table of the gateway."""
    with gateway.server.engine.read() as tx:
        return {table: sorted(tx.all(f"SELECT * FROM {table}"), key=repr) for table in TABLES}


def bytes_of(file: Path) -> bytes:
    """The database and what lies beside it."""
    return b"".join(one.read_bytes() for one in sorted(file.parent.glob(file.name + "*")))


def open_other(gateway: Gateway) -> AbstractContextManager[SqliteEngine]:
    """The store as another process opens it; it does not wait long for others."""
    return closing(open_store(gateway.server.engine.path, OPTIONS._replace(busy_timeout_ms=50)))


def test_nothing_of_a_run_is_left_but_its_tombstone(gateway: Gateway) -> None:
    """Every table is as it was before the run was opened; the entry that it made is memory and stays."""
    before = everything(gateway)
    lived = Lived(gateway, "x")
    assert set(counts(gateway).values()) - {0} == set(counts(gateway).values())
    last_hash = gateway.timeline(lived.id)[-1]["eventHash"]
    told = desk(gateway).purge(lived.id, confirmed=True)
    (run,) = told["runs"]
    assert (run["holds"], run["entriesKept"], told["bytesErased"]) == (HOLDS, [lived.promoted], True)
    assert everything(gateway) == before
    purge = desk(gateway).inspect(lived.id)["purge"]
    assert purge == {
        "runId": lived.id,
        "purgedAt": purge["purgedAt"],
        "actor": "ada",
        "events": 10,
        "lastEventHash": last_hash,
        "erasedAt": purge["erasedAt"],
    }
    assert purge["purgedAt"] <= purge["erasedAt"]


def test_other_runs_are_not_touched(gateway: Gateway) -> None:
    """Their rows are the same, byte for byte, and their replays are answered as before."""
    other = Lived(gateway, "other")
    before = everything(gateway)
    lived = Lived(gateway, "x")
    answered = [replay().data for replay in other.replays[4:5]]
    desk(gateway).purge(lived.id, confirmed=True)
    assert everything(gateway) == before
    assert [replay().data for replay in other.replays[4:5]] == answered
    assert desk(gateway).inspect(other.id)["findings"] == []


def test_a_purged_run_is_not_found_anywhere(gateway: Gateway) -> None:
    """Reads and replays of all its keys are 404, and new writes are; the key of its open opens nothing."""
    lived = Lived(gateway, "x")
    desk(gateway).purge(lived.id, confirmed=True)
    for operation in ("agent.run.read", "agent.intake.read", "agent.events.list"):
        assert gateway.ask(operation, lived.id).told == (404, "NOT_FOUND", "no_run")
    assert [replay().told for replay in lived.replays] == [(404, "NOT_FOUND", "no_run")] * 9
    assert gateway.open(opening(), key="x-open").told == (404, "NOT_FOUND", "no_run")
    assert gateway.events(lived.id, event()).told == (404, "NOT_FOUND", "no_run")
    assert gateway.open(opening(parentRunId=lived.id)).told == (404, "NOT_FOUND", "no_parent")
    assert gateway.ask("agent.runs.list", query={"workspace": "demo"}).data["items"] == []
    assert counts(gateway)["agent_runs"] == 0


def test_ids_that_clients_chose_are_free_again(gateway: Gateway) -> None:
    """Another run may use its event ids and its feedback ids."""
    lived = Lived(gateway, "x")
    desk(gateway).purge(lived.id, confirmed=True)
    run_id = gateway.opened()
    assert gateway.events(run_id, event(eventId="p-x")).status == 200
    assert gateway.feedback(run_id, category="run", feedbackId="f-x", rating=5).status == 200


def test_the_store_is_sound_afterwards(gateway: Gateway, file: Path) -> None:
    """Every check of doctor about the database, also with a run that was opened from the purged one."""
    lived = Lived(gateway, "x")
    child = gateway.opened(opening(parentRunId=lived.id))
    desk(gateway).purge(lived.id, confirmed=True)
    assert desk(gateway).inspect(child)["findings"] == []
    checks = examination.examine(gateway.gateway.settings)
    gateway.server.engine.settle()
    assert [check for check in checks if check.verdict == "failed"] == []
    assert {check.name: check.detail for check in checks}["ledgers of runs"] == ""


def test_no_byte_of_a_purged_run_is_in_the_file(gateway: Gateway, file: Path) -> None:
    """Rows that were changed while the run lived left their old texts in the pages; the rewriting takes them along.

    The entry that the run made is purged as well, because it says what the run said.
    """
    lived = Lived(gateway, MARK)
    for number in range(30):
        run_id = gateway.opened(opening(task={"title": MARKED, "query": "build it", "profileHints": HINTS}))
        gateway.events(run_id, *(event(payload={"step": f"{MARKED} {number}" * 20}) for _ in range(20)))
        assert gateway.close(run_id).status == 200
    assert MARK.encode() in bytes_of(file)
    told = desk(gateway).purge_idle("demo", "completed", 0, confirmed=True)
    assert lived.id in [run["runId"] for run in told["runs"]]
    assert (len(told["runs"]), told["bytesErased"]) == (31, True)
    Desk(gateway.server.engine, "ada", file.parent).purge(lived.promoted)
    gateway.server.engine.scrub()
    assert MARK.encode() not in bytes_of(file)
    assert file.with_name("hive.db-wal").stat().st_size == 0


def test_the_transaction_itself_overwrites_what_it_deletes(gateway: Gateway, file: Path) -> None:
    """Without the rewriting, after a checkpoint, the deleted rows are zeros already."""
    run_id = gateway.opened()
    gateway.events(run_id, *(event(payload={"step": f"{MARKED} {number}"}) for number in range(50)))
    engine = gateway.server.engine
    engine.scrub()
    assert MARK.encode() in bytes_of(file)
    monkey = pytest.MonkeyPatch()
    monkey.setattr(engine, "scrub", lambda: False)
    assert desk(gateway).purge(run_id, confirmed=True)["bytesErased"] is False
    monkey.undo()
    connection = open_connection(str(file), "writer", OPTIONS)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()
    assert MARK.encode() not in file.read_bytes()


def test_a_reader_that_keeps_the_log_is_told_and_the_next_time_erases(gateway: Gateway, file: Path) -> None:
    """The run is gone at once; its tombstone says that bytes may be left until a purge found the log free."""
    run_id = gateway.opened(opening(task={"title": MARKED, "query": "build it", "profileHints": HINTS}))
    with open_other(gateway) as other, closing(open_connection(str(file), "reader", OPTIONS)) as reader:
        operator = LedgerDesk(other, "ada")
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM agent_runs").fetchall()
        assert operator.purge(run_id, confirmed=True)["bytesErased"] is False
        assert gateway.ask("agent.run.read", run_id).status == 404
        assert operator.inspect(run_id)["purge"]["erasedAt"] is None
        assert MARK.encode() in bytes_of(file)
        reader.execute("ROLLBACK")
        again = operator.purge(run_id, confirmed=True)
        assert (again["runs"], again["purgedBefore"]["runId"], again["bytesErased"]) == ([], run_id, True)
        assert operator.inspect(run_id)["purge"]["erasedAt"] is not None
        assert MARK.encode() not in bytes_of(file)


def test_a_file_that_cannot_be_rewritten_does_not_bring_the_run_back(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is full during the rewriting is told as bytes that may be left."""
    run_id = gateway.opened()

    def full() -> bool:
        raise StorageUnavailable("storage: the disk is full")

    monkeypatch.setattr(gateway.server.engine, "scrub", full)
    assert desk(gateway).purge(run_id, confirmed=True)["bytesErased"] is False
    assert gateway.ask("agent.run.read", run_id).status == 404


def test_a_file_without_purges_is_not_rewritten(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """A nightly purge that finds nothing costs nothing."""
    monkeypatch.setattr(gateway.server.engine, "scrub", lambda: pytest.fail("rewritten"))
    told = desk(gateway).purge_idle("demo", "intake", 0, confirmed=True)
    assert (told["runs"], told["bytesErased"]) == ([], True)


def test_feedback_of_a_purged_run_counts_no_longer(gateway: Gateway) -> None:
    """The points that ranking gave for its verdict are gone."""
    lived = Lived(gateway, "x")
    with gateway.server.engine.read() as tx:
        assert agent_feedback.verdicts(tx, [(lived.entry, 1)]) == {lived.entry: {"helpful": 1}}
    scored = gateway.open().data["context"]["items"][0]["scoreComponents"]["feedback"]
    desk(gateway).purge(lived.id, confirmed=True)
    with gateway.server.engine.read() as tx:
        assert agent_feedback.verdicts(tx, [(lived.entry, 1)]) == {}
    assert scored > 0
    assert gateway.open().data["context"]["items"][0]["scoreComponents"]["feedback"] == 0


def test_without_confirmation_nothing_happens(gateway: Gateway) -> None:
    """The answer says what would be removed; the store is the same."""
    lived = Lived(gateway, "x")
    before = everything(gateway)
    told = desk(gateway).purge(lived.id[:8], confirmed=False)
    assert (told["dryRun"], told["bytesErased"], told["runs"][0]["holds"]) == (True, None, HOLDS)
    assert everything(gateway) == before
    assert desk(gateway).inspect()["totals"] == {"runs": 1, "events": 10, "purged": 0}


def test_abandoned_intakes_are_removed_and_others_stay(gateway: Gateway) -> None:
    """Only those of the workspace, in that state, that got nothing for so long."""
    abandoned = gateway.opened(asking())
    kept = [gateway.opened(asking(workspace="elsewhere")), gateway.opened()]
    engine = gateway.server.engine
    engine.run_write(lambda tx: tx.run("UPDATE agent_runs SET created_at = 1000, updated_at = 1000"))
    young = gateway.opened(asking())
    answered = gateway.opened(asking())
    engine.run_write(lambda tx: tx.run("UPDATE agent_runs SET created_at = 1000 WHERE id = ?", (answered,)))
    for confirmed in (False, True):
        told = desk(gateway).purge_idle("demo", "intake", 3600, confirmed=confirmed)
        assert ([run["runId"] for run in told["runs"]], told["more"]) == ([abandoned], False)
    assert [gateway.ask("agent.run.read", run).status for run in (abandoned, *kept, young, answered)] == [
        404,
        *[200] * 4,
    ]


def test_a_run_that_woke_up_is_not_removed(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look and its transaction a client answered: the run stays."""
    run_id = gateway.opened(asking())
    operator = desk(gateway)
    engine = gateway.server.engine
    write = engine.run_write

    def answered_first(fn: Callable[[Any], Any]) -> Any:
        monkeypatch.undo()
        assert gateway.answer(run_id, "taskType", "build").status == 200
        return write(fn)

    write(lambda tx: tx.run("UPDATE agent_runs SET created_at = 1000, updated_at = 1000"))
    monkeypatch.setattr(engine, "run_write", answered_first)
    assert operator.purge_idle("demo", "intake", 3600, confirmed=True)["runs"] == []
    assert gateway.run(run_id)["status"] == "intake"


def test_a_purge_between_ranking_and_delivery_is_not_found(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checkpoint was acknowledged and ranked; then there is nothing to deliver to. Nothing is stored."""
    run_id = gateway.opened()
    rank = broker.rank

    def purged_after(tx: Any, query: Any) -> Any:
        found = rank(tx, query)
        with open_other(gateway) as other:
            LedgerDesk(other, "ada").purge(run_id, confirmed=True)
        return found

    monkeypatch.setattr(broker, "rank", purged_after)
    assert gateway.checkpoint(run_id, currentStep="go on").told == (404, "NOT_FOUND", "no_run")
    assert counts(gateway) == dict.fromkeys(TABLES, 0)


def test_a_purge_before_ranking_is_not_found(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the acknowledgement and the ranking."""
    run_id = gateway.opened()
    gated = enrich.gated

    def purged_before(*args: Any, **said: Any) -> Any:
        desk(gateway).purge(run_id, confirmed=True)
        return gated(*args, **said)

    monkeypatch.setattr(enrich, "gated", purged_before)
    assert gateway.checkpoint(run_id, currentStep="go on").told == (404, "NOT_FOUND", "no_run")


def test_a_purge_within_a_look_does_not_tear_it(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at a run was several statements, each of its own moment: one that found the run and then no intake failed
    as a fault of the server."""
    run_id = gateway.opened()
    get = agent_intakes.get

    def purged_before(tx: Any, run_seq: int) -> Any:
        with open_other(gateway) as other:
            LedgerDesk(other, "ada").purge(run_id, confirmed=True)
        return get(tx, run_seq)

    monkeypatch.setattr(enrich, "agent_intakes", SimpleNamespace(get=purged_before))
    assert gateway.checkpoint(run_id, currentStep="go on").told == (404, "NOT_FOUND", "no_run")


def test_a_purge_before_an_intake_is_read_is_not_found(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dispatch found the run, the read found no intake: that failed as a fault of the server."""
    run_id = gateway.opened()
    find = agent_intakes.find

    def purged_before(tx: Any, run_seq: int) -> Any:
        with open_other(gateway) as other:
            LedgerDesk(other, "ada").purge(run_id, confirmed=True)
        return find(tx, run_seq)

    monkeypatch.setattr(agent_intakes, "find", purged_before)
    assert gateway.ask("agent.intake.read", run_id).told == (404, "NOT_FOUND", "no_run")


def rename(new_id: str, run_id: str, tx: Tx) -> None:
    """Give a run another id."""
    tx.run("UPDATE agent_runs SET id = ? WHERE id = ?", (new_id, run_id))


def test_names_that_are_none(gateway: Gateway) -> None:
    """A word is no id, an id that begins two runs is ambiguous, an unknown one is not found."""
    with pytest.raises(ValidationError):
        desk(gateway).purge("yesterday", confirmed=True)
    with pytest.raises(NotFound):
        desk(gateway).inspect("00000000")
    first, second = gateway.opened(), gateway.opened()
    engine = gateway.server.engine
    for number, run_id in enumerate((first, second)):
        alike = f"abcdef12-0000-4000-8000-00000000000{number}"
        engine.run_write(partial(rename, alike, run_id))
    with pytest.raises(ValidationError) as refused:
        desk(gateway).purge("abcdef12", confirmed=True)
    assert refused.value.reason == "ambiguous"
    desk(gateway).purge("abcdef12-0000-4000-8000-000000000000", confirmed=True)
    with pytest.raises(ValidationError):
        desk(gateway).purge("abcdef12", confirmed=True)


def test_a_run_that_came_back_can_be_purged_once_more(gateway: Gateway) -> None:
    """Its tombstone is there already; inspecting finds it before."""
    run_id = gateway.opened()
    engine = gateway.server.engine
    engine.run_write(
        lambda tx: tx.run(
            "INSERT INTO agent_run_purges (run_id, event_count, last_event_hash, actor, purged_at)"
            " VALUES (?, 1, 'h', 'a', 1)",
            (run_id,),
        )
    )
    (finding,) = desk(gateway).inspect(run_id)["findings"]
    assert finding["trouble"] == "it was purged and is here again"
    assert desk(gateway).purge(run_id, confirmed=True)["runs"][0]["runId"] == run_id
    assert desk(gateway).inspect(run_id)["purge"]["events"] == 3


def test_a_credential_is_no_author(gateway: Gateway) -> None:
    """The name would stay in the tombstone."""
    with pytest.raises(SecurityRejection):
        LedgerDesk(gateway.server.engine, "ghp_" + "a1B2c3" * 6)
