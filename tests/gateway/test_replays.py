"""Idempotency: what a key is answered the second time, for every write, in every situation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from support.gateway import CATALOG, Gateway, HttpGateway, asking, event, open_http, opening

TS = "2026-01-02T03:04:05.678Z"


class Case(NamedTuple):
    """A write: how its run is made ready, its body, another body that is right as well, and what of its answer is the
    acknowledgement (None: all of it). `after_close`: its run can be closed right behind it."""

    operation: str
    ready: Callable[[Any], tuple[str | None, dict[str, Any]]]
    other: Callable[[dict[str, Any]], dict[str, Any]]
    acknowledged: tuple[str, ...] | None
    after_close: bool


def body(**fields: Any) -> dict[str, Any]:
    return {"apiVersion": "1", **fields}


def open_ready(_client: Any) -> tuple[None, dict[str, Any]]:
    return None, opening()


def answer_ready(client: Any) -> tuple[str, dict[str, Any]]:
    return client.opened(asking()), body(questionId="taskType", value="build", capabilities=CATALOG)


def events_ready(client: Any) -> tuple[str, dict[str, Any]]:
    return client.opened(), body(events=[event(sourceEventId="s-1")])


def checkpoint_ready(client: Any) -> tuple[str, dict[str, Any]]:
    return client.opened(), body(currentGoal="parse", capabilities=CATALOG)


def close_ready(client: Any) -> tuple[str, dict[str, Any]]:
    return client.opened(), body(status="completed", events=[event("test.completed", outcome="passed")])


def feedback_ready(client: Any) -> tuple[str, dict[str, Any]]:
    return client.opened(), body(category="run", feedbackId="f-1", rating=4)


def promotions_ready(client: Any) -> tuple[str, dict[str, Any]]:
    run_id = client.opened()
    payload = {"kind": "fact", "title": "a title", "body": "a body"}
    proposed = client.events(run_id, event("memory.proposed", payload=payload)).data["eventIds"][0]
    return run_id, body(proposalEventId=proposed, actor="agent", createdAt=TS, confirmed=True)


RUN_FIELDS = ("runId", "runStatus", "intakeSessionId", "intakeStatus", "question", "missingFields", "taskProfile")
BATCH_FIELDS = ("runId", "acceptedThrough", "localSequences", "sourceSequences", "eventIds", "projection")
CASES = [
    Case("agent.open", open_ready, lambda given: given | {"captureProfile": "minimal"}, RUN_FIELDS, False),
    Case("agent.answer", answer_ready, lambda given: given | {"value": "debug"}, RUN_FIELDS, False),
    Case("agent.events", events_ready, lambda given: given | {"events": [event("step.failed")]}, None, True),
    Case("agent.checkpoint", checkpoint_ready, lambda given: given | {"currentGoal": "x"}, BATCH_FIELDS, True),
    Case("agent.close", close_ready, lambda given: given | {"status": "failed"}, None, True),
    Case("agent.feedback", feedback_ready, lambda given: given | {"rating": 5}, None, True),
    Case("agent.promotions", promotions_ready, lambda given: given | {"actor": "somebody"}, None, True),
]
EACH = pytest.mark.parametrize("case", CASES, ids=lambda case: case.operation)


def part(case: Case, data: dict[str, Any]) -> dict[str, Any]:
    return data if case.acknowledged is None else {name: data[name] for name in case.acknowledged}


def counts(client: HttpGateway | Gateway) -> list[int]:
    """How many rows a mutation could have added to, and how far the ledgers go."""
    gateway = client.gateway if isinstance(client, Gateway) else client.door.gateway
    tables = ("agent_runs", "agent_events", "agent_answers", "agent_feedback", "agent_memory_links", "agent_entries")
    with gateway.engine.read() as tx:
        rows = [tx.one("SELECT count(*) FROM " + table) for table in (*tables, "agent_idempotency")]
    return [int(row[0]) for row in rows if row is not None]


@EACH
def test_same_key_same_body(http: HttpGateway, case: Case) -> None:
    """The stored acknowledgement, and nothing is added."""
    run_id, given = case.ready(http)
    first = http.ask(case.operation, run_id, given, key="k").data
    before = counts(http)
    again = http.ask(case.operation, run_id, given, key="k").data
    assert part(case, again) == part(case, first)
    assert counts(http) == before


@EACH
def test_same_key_other_body(http: HttpGateway, case: Case) -> None:
    """409, nothing is added, and the first body is still answered."""
    run_id, given = case.ready(http)
    first = http.ask(case.operation, run_id, given, key="k").data
    before = counts(http)
    assert http.ask(case.operation, run_id, case.other(given), key="k").told == (409, "CONFLICT", "key_reused")
    assert counts(http) == before
    assert part(case, http.ask(case.operation, run_id, given, key="k").data) == part(case, first)


@EACH
def test_after_a_restart(tmp_path: Path, case: Case) -> None:
    """Another process of the same file answers the key as the first one did."""
    with open_http(tmp_path / "store.db") as http:
        run_id, given = case.ready(http)
        first = http.ask(case.operation, run_id, given, key="k").data
        before = counts(http)
    with open_http(tmp_path / "store.db") as http:
        assert part(case, http.ask(case.operation, run_id, given, key="k").data) == part(case, first)
        assert http.ask(case.operation, run_id, case.other(given), key="k").told[2] == "key_reused"
        assert counts(http) == before


@pytest.mark.parametrize("case", [case for case in CASES if case.after_close], ids=lambda case: case.operation)
def test_after_close(http: HttpGateway, case: Case) -> None:
    """A key that was used before the end is answered after it, and nothing is added."""
    run_id, given = case.ready(http)
    first = http.ask(case.operation, run_id, given, key="k").data
    if case.operation != "agent.close":
        http.close(str(run_id))
    before = counts(http)
    assert part(case, http.ask(case.operation, run_id, given, key="k").data) == part(case, first)
    assert counts(http) == before


@EACH
def test_a_failed_request_leaves_the_key_free(http: HttpGateway, case: Case) -> None:
    """After a 400 the same key takes the right body."""
    run_id, given = case.ready(http)
    assert http.ask(case.operation, run_id, given | {"surprise": 1}, key="k").told[2] == "unknown_field"
    assert http.ask(case.operation, run_id, given, key="k").status == 200


@EACH
def test_what_counts_as_the_same_request(http: HttpGateway, case: Case) -> None:
    """The order of keys does not matter."""
    run_id, given = case.ready(http)
    first = http.ask(case.operation, run_id, given, key="k").data
    turned = dict(reversed(given.items()))
    assert part(case, http.ask(case.operation, run_id, turned, key="k").data) == part(case, first)


def test_forms_of_one_open(gateway: Gateway) -> None:
    """Absent and empty metadata, absent and null hints, a secret and its mark are one request; another catalog is
    another."""
    task = {"title": "t", "query": "use password=hunter2hunter2 here"}
    first = gateway.open(opening(task=task), key="k").data["runId"]
    nulls = dict.fromkeys(("taskType", "target", "expected", "constraints"))
    same = opening(task={**task, "profileHints": nulls}, metadata={})
    assert gateway.open(same, key="k").data["runId"] == first
    with gateway.gateway.engine.read() as tx:
        (stored,) = tx.all("SELECT task FROM agent_runs")
    assert "hunter2" not in stored[0]
    masked = opening(task={"title": "t", "query": "[REDACTED:credential_assignment]"})
    assert gateway.open(masked, key="k").data["runId"] == first
    assert gateway.open(opening(task=task, capabilities=CATALOG[:1]), key="k").told[2] == "key_reused"
    turned = opening(task=task, capabilities=CATALOG[::-1] + CATALOG[:1])
    assert gateway.open(turned, key="k").data["runId"] == first


def test_numbers_of_one_value_are_one_request(http: HttpGateway) -> None:
    """1, 1.0 and 1e0 are the same number."""
    run_id = http.opened()
    first = http.events(run_id, event(payload={"n": 1}, sourceSequence=7), key="k").data
    assert http.events(run_id, event(payload={"n": 1.0}, sourceSequence=7.0), key="k").data == first
    assert http.events(run_id, event(payload={"n": 1.5}, sourceSequence=7), key="k").told[2] == "key_reused"


def test_a_key_counts_on_one_run_and_for_one_operation(http: HttpGateway) -> None:
    """The same key on another run, and for another operation of the run, is a fresh one."""
    one, two = http.open(key="k").data["runId"], http.opened()
    assert http.events(one, event(), key="k").data["localSequences"] == [4]
    assert http.events(two, event(), key="k").data["localSequences"] == [4]
    assert http.checkpoint(one, currentGoal="x", key="k").data["localSequences"] == [5]
    assert http.close(one, key="k").data["localSequences"] == [6]


class TestSourceIds:
    """Another key, the same ids."""

    def test_events_that_are_stored_are_acknowledged(self, http: HttpGateway) -> None:
        """With their old numbers in order, nothing appended; the new key is stored as well."""
        run_id = http.opened()
        batch = [event(sourceEventId="a"), event(sourceEventId="b", occurredAt=TS), event(eventId="c")]
        first = http.events(run_id, *batch, key="k1").data
        again = http.events(run_id, *reversed(batch), key="k2").data
        assert again == first
        assert http.events(run_id, *reversed(batch), key="k2").data == first
        assert http.events(run_id, event(), key="k2").told[2] == "key_reused"
        assert http.run(run_id)["lastSequence"] == 6

    def test_other_content_is_a_conflict(self, http: HttpGateway) -> None:
        """A source id, or an event id, that stands for something else."""
        run_id = http.opened()
        http.events(run_id, event(sourceEventId="a"), event(eventId="c"))
        changed = event(sourceEventId="a", payload={"step": "other"})
        assert http.events(run_id, changed).told == (409, "CONFLICT", "source_id_reused")
        assert http.events(run_id, event(eventId="c", outcome="x")).told == (409, "CONFLICT", "event_id_reused")
        assert http.run(run_id)["lastSequence"] == 5

    def test_a_batch_is_stored_as_a_whole(self, http: HttpGateway) -> None:
        """Some stored and some new, or one id twice in the batch: 409 and nothing appended."""
        run_id = http.opened()
        http.events(run_id, event(sourceEventId="a"))
        half = [event(sourceEventId="a"), event(sourceEventId="b")]
        assert http.events(run_id, *half).told == (409, "CONFLICT", "batch_partly_stored")
        twice = [event(sourceEventId="n"), event(sourceEventId="n")]
        assert http.events(run_id, *twice).told == (409, "CONFLICT", "batch_repeats")
        assert http.run(run_id)["lastSequence"] == 4

    def test_ids_of_other_runs(self, http: HttpGateway) -> None:
        """Source ids belong to their run, event ids to all runs."""
        one, two = http.opened(), http.opened()
        http.events(one, event(sourceEventId="a", eventId="e"))
        assert http.events(two, event(sourceEventId="a")).status == 200
        assert http.events(two, event(eventId="e")).told == (409, "CONFLICT", "event_id_reused")

    def test_after_the_end_only_the_key_counts(self, http: HttpGateway) -> None:
        """Known source ids with a fresh key are refused, with the old key acknowledged."""
        run_id = http.opened()
        first = http.events(run_id, event(sourceEventId="a"), key="k").data
        http.close(run_id)
        assert http.events(run_id, event(sourceEventId="a")).told == (409, "CONFLICT", "run_closed")
        assert http.events(run_id, event(sourceEventId="a"), key="k").data == first


class TestWhatIsWorkedOutAgain:
    """The gated part of a replay follows the present state."""

    def test_an_open_that_asked_still_asks(self, http: HttpGateway) -> None:
        """Its replay after the answers shows the question of then, and no context."""
        run_id = http.open(asking(), key="k").data["runId"]
        for question, value in (("taskType", "build"), ("target", "parser"), ("expected", "tests pass")):
            http.answer(run_id, question, value)
        replayed = http.open(asking(), key="k").data
        assert (replayed["runStatus"], replayed["question"]["id"]) == ("intake", "taskType")
        assert (replayed["context"], replayed["nextAction"]) == (None, "answer_from_evidence_or_ask_user")

    def test_a_checkpoint_of_a_run_that_has_ended(self, http: HttpGateway) -> None:
        """The stored acknowledgement with its recommendations, context and nudge null, the action as worked out now."""
        run_id = http.opened()
        first = http.checkpoint(run_id, errorSignatures=["E1"], key="k").data
        assert first["nudge"]["code"] == "UNRESOLVED_FAILURE"
        http.close(run_id)
        replayed = http.checkpoint(run_id, errorSignatures=["E1"], key="k").data
        assert (replayed["context"], replayed["nudge"], replayed["nextAction"]) == (None, None, "proceed")
        assert replayed["recommendations"] == first["recommendations"]
        assert part(CASES[3], replayed) == part(CASES[3], first)

    def test_a_checkpoint_has_its_nudge_again(self, http: HttpGateway) -> None:
        """The same occurrence, stored once."""
        run_id = http.opened()
        first = http.checkpoint(run_id, errorSignatures=["E1"], key="k").data
        assert http.checkpoint(run_id, errorSignatures=["E1"], key="k").data["nudge"] == first["nudge"]
        with http.door.gateway.engine.read() as tx:
            assert tx.all("SELECT count(*) FROM agent_nudges") == [(1,)]
