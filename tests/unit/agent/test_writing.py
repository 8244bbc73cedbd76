"""One mutation for one key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hivekeep.agent.context import AgentContext
from hivekeep.agent.work import Write
from hivekeep.agent.writing import Acknowledged, once, run_scope
from hivekeep.identity.caller import make_caller
from hivekeep.storage import agent_idempotency, agent_runs, events
from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.connections import storage_options
from hivekeep.storage.engine import EventRow, Tx
from hivekeep.storage.sqlite import SqliteEngine, open_store
from hivekeep_contract.gateway_errors import Conflict
from hivekeep_contract.settings import Settings
from support.runs import run_row

SETTINGS = Settings(db=":memory:")


@pytest.fixture
def engine() -> Iterator[SqliteEngine]:
    opened = open_store(":memory:", storage_options(SETTINGS))
    yield opened
    opened.close()


def audit_row(target_id: str | None) -> EventRow:
    return EventRow(
        "e-1",
        "local",
        "agent.close",
        "event",
        "a",
        "audit",
        "success",
        "{}",
        1,
        None,
        1,
        target_id,
        None,
        None,
        None,
        1,
    )


def context(engine: SqliteEngine, run: RunRow | None, key_hash: str = "k1") -> AgentContext:
    return AgentContext(
        engine=engine,
        settings=SETTINGS,
        caller=make_caller(None, None, ()),
        operation="agent.close",
        checker=lambda _body: None,
        audit_row=audit_row,
        idempotency_key="key",
        key_hash=key_hash,
        run=run,
    )


def stored_run(engine: SqliteEngine) -> RunRow:
    return engine.run_write(lambda tx: agent_runs.insert(tx, run_row()))


def carried_out(engine: SqliteEngine, ctx: AgentContext, request_hash: str, mutate: Any) -> Acknowledged:
    work = once(ctx, run_scope(ctx), request_hash, mutate)
    item = next(work)
    assert isinstance(item, Write)
    try:
        work.send(engine.run_write(item.fn))
    except StopIteration as end:
        acknowledged: Acknowledged = end.value
        return acknowledged
    raise AssertionError("more than one transaction")


def never(_tx: Tx) -> dict[str, Any]:
    raise AssertionError("the mutation ran again")


def test_a_key_is_answered_once_and_then_from_its_record(engine: SqliteEngine) -> None:
    """The first request mutates, the second gets the same acknowledgement, also from another context."""
    run = stored_run(engine)
    first = carried_out(engine, context(engine, run), "h1", lambda tx: {"n": 1, "text": "ü"})
    assert first == ({"n": 1, "text": "ü"}, False)
    assert carried_out(engine, context(engine, run), "h1", never) == ({"n": 1, "text": "ü"}, True)


def test_a_key_with_another_request_is_a_conflict(engine: SqliteEngine) -> None:
    """Nothing runs, and the record stays."""
    run = stored_run(engine)
    carried_out(engine, context(engine, run), "h1", lambda tx: {"n": 1})
    with pytest.raises(Conflict) as refused:
        carried_out(engine, context(engine, run), "h2", never)
    assert refused.value.reason == "key_reused"
    assert carried_out(engine, context(engine, run), "h1", never).replayed


def test_a_failed_mutation_leaves_the_key_free(engine: SqliteEngine) -> None:
    """What it wrote before it failed is gone as well, with its audit row."""
    run = stored_run(engine)

    def fails(tx: Tx) -> dict[str, Any]:
        agent_runs.move(tx, run, "failed", 2000, ended=True)
        raise Conflict("run_closed")

    ctx = context(engine, run)
    with pytest.raises(Conflict):
        carried_out(engine, ctx, "h1", fails)
    with engine.read() as tx:
        assert agent_runs.get(tx, run.id) == run
        assert agent_idempotency.find(tx, run_scope(ctx), "k1") is None
        assert events.get(tx, "e-1") is None
    assert not ctx.audited
    assert not carried_out(engine, context(engine, run), "h2", lambda tx: {}).replayed


def test_a_key_counts_on_its_run_and_operation(engine: SqliteEngine) -> None:
    """The same key on another run, or of another operation, is another key; an open has one scope for all."""
    run = stored_run(engine)
    other = engine.run_write(lambda tx: agent_runs.insert(tx, run_row(id="00000000-0000-4000-8000-000000000002")))
    assert run_scope(context(engine, run)) == f"agent.close:{run.id}"
    assert run_scope(context(engine, other)) != run_scope(context(engine, run))
    assert run_scope(context(engine, None)) == "agent.close"


def test_the_audit_row_is_part_of_the_mutation(engine: SqliteEngine) -> None:
    """It names the run as its target; a replay writes none."""
    run = stored_run(engine)
    ctx = context(engine, run)
    carried_out(engine, ctx, "h1", lambda tx: {})
    assert ctx.audited
    with engine.read() as tx:
        row = events.get(tx, "e-1")
    assert row is not None
    assert row.target_id == run.id
    again = context(engine, run)
    carried_out(engine, again, "h1", never)
    assert not again.audited


def test_a_lookup_costs_the_same_whatever_was_stored(engine: SqliteEngine) -> None:
    """It is a search by the whole key of the index."""
    with engine.read() as tx:
        (plan,) = tx.all("EXPLAIN QUERY PLAN " + agent_idempotency.FIND, ("s", "k"))
    assert plan[3] == "SEARCH agent_idempotency USING INDEX agent_idempotency_key (scope=? AND key_hash=?)"
