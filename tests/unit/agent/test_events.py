"""A batch before it is stored: defaults, sanitising, sizes, payload rules, and what is hashed of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hivekeep.agent import events
from hivekeep.agent.canonical import digest
from hivekeep.agent.events import NewEvent
from hivekeep_contract.gateway_errors import GatewayError, SecurityRejection, ValidationError
from support.ledgers import NOW, Ids, batch, event
from support.stores import record_id

KEY = "ghp_" + "a1B2c3" * 4


def refused(failure: type[GatewayError], **fields: Any) -> tuple[str, str | None]:
    """Reason and field of the refusal of a batch whose second event has these fields."""
    with pytest.raises(failure) as caught:
        batch([event(1), event(2, **fields)])
    return caught.value.reason, caught.value.field


def test_what_the_client_leaves_out_is_filled_in() -> None:
    """A fresh id, the moment of the request, and nothing else."""
    assert batch([event(4)]) == [
        NewEvent(
            event_id=record_id(1),
            source_event_id=None,
            source_sequence=None,
            event_type="step.completed",
            source_type=None,
            actor="agent:1",
            outcome=None,
            occurred_at=NOW,
            ingested_at=NOW,
            payload='{"step":4}',
            redaction="[]",
            is_named=False,
            is_dated=False,
        )
    ]


def test_what_the_client_says_is_kept() -> None:
    """Ids, numbers, names and moments as sent; the payload in canonical form."""
    said = event(
        eventType="source.event",
        eventId="e-1",
        sourceEventId="s 1",
        sourceSequence=7.0,
        sourceType="Tool\nEnd",
        outcome="ok",
        occurredAt="2026-01-02T03:04:05.678Z",
        payload={"b": [1.0, 2.5], "a": None},
    )
    (read,) = batch([said])
    assert read == NewEvent(
        event_id="e-1",
        source_event_id="s 1",
        source_sequence=7,
        event_type="source.event",
        source_type="Tool\nEnd",
        actor="agent:1",
        outcome="ok",
        occurred_at=1_767_323_045_678_000,
        ingested_at=NOW,
        payload='{"a":null,"b":[1,2.5]}',
        redaction="[]",
        is_named=True,
        is_dated=True,
    )
    assert isinstance(read.source_sequence, int)


def test_texts_are_sanitised_and_the_list_says_where() -> None:
    """Payload, actor, outcome and the client's own type; paths begin at the event."""
    (read,) = batch([event(actor=f"me {KEY}", outcome=f"o {KEY}", sourceType=f"t {KEY}", payload={"token": "x"})])
    assert (read.actor, read.outcome, read.source_type) == ("[REDACTED:known_token_prefix]",) * 3
    assert read.payload == '{"token":"[REDACTED]"}'
    assert json.loads(read.redaction) == [
        {"kind": "secret_pattern", "path": '$["actor"]'},
        {"kind": "secret_pattern", "path": '$["outcome"]'},
        {"kind": "sensitive_key", "path": '$["payload"]["token"]'},
        {"kind": "secret_pattern", "path": '$["sourceType"]'},
    ]
    assert read.redaction.startswith('[{"kind":')


def test_a_path_below_the_workspace_is_relative() -> None:
    """The workspace of the run counts when it is an absolute path."""
    said = event(eventType="file.changed", payload={"path": "/srv/demo/src/a.py"})
    (read,) = events.read_batch([said], workspace="/srv/demo", now_us=NOW, new_id=Ids())
    assert read.payload == '{"path":"src/a.py"}'


@pytest.mark.parametrize("name", ["eventId", "sourceEventId"])
def test_an_id_with_a_credential_is_refused(name: str) -> None:
    """A mark in its place would be the same for every such id."""
    assert refused(SecurityRejection, **{name: KEY}) == ("secret", f"/events/1/{name}")


def test_an_id_is_never_rewritten() -> None:
    """A URL or a path is a name like any other, so that references to it still hold."""
    (read,) = batch([event(sourceEventId="https://ci.example.org/run?page=7")])
    assert read.source_event_id == "https://ci.example.org/run?page=7"


def test_a_key_with_a_credential_is_refused() -> None:
    """Nothing of the batch is kept."""
    assert refused(SecurityRejection, payload={KEY: 1}) == ("secret", None)


@pytest.mark.parametrize(("char", "size"), [("x", 1), ("é", 2), ("\n", 2), ("😀", 4)])
def test_a_payload_may_have_64_kib(char: str, size: int) -> None:
    """Bytes of canonical JSON, after sanitising."""
    note = char * ((65_536 - len('{"note":""}')) // size)
    fill = 65_536 - len('{"note":""}') - len(note) * size
    (read,) = batch([event(payload={"note": note + "x" * fill})])
    assert len(read.payload.encode()) == 65_536
    assert refused(ValidationError, payload={"note": note + "x" * (fill + 1)}) == ("too_large", "/events/1/payload")


def test_what_is_cut_does_not_count() -> None:
    """A long output is cut before it is measured, and a masked one after it."""
    (read,) = batch([event(payload={"stdout": "x" * 100_000})])
    assert len(read.payload) < 4200
    assert batch([event(payload={"token": "x" * 100_000})])[0].payload == '{"token":"[REDACTED]"}'


def test_the_redaction_list_is_bounded() -> None:
    """Else a payload of removed members would leave a list of any length."""
    many = {f"hidden_reasoning_{number}": 0 for number in range(2000)}
    assert refused(SecurityRejection, payload=many) == ("too_large", None)


@pytest.mark.parametrize(
    ("payload", "reason", "field"),
    [
        ("x", "wrong_type", ""),
        (None, "wrong_type", ""),
        ({}, "missing_field", "/profile"),
        ({"profile": None}, "wrong_type", "/profile"),
        ({"profile": {}, "why": "x"}, "unknown_field", ""),
        ({"profile": {"size": "x"}}, "unknown_field", "/profile"),
        ({"profile": {"taskType": "dance"}}, "wrong_value", "/profile/taskType"),
        ({"profile": {"taskType": 1}}, "wrong_type", "/profile/taskType"),
        ({"profile": {"target": ["x"]}}, "wrong_type", "/profile/target"),
    ],
)
def test_a_malformed_revision_is_refused(payload: Any, reason: str, field: str) -> None:
    """It would make every later checkpoint of the run impossible."""
    assert refused(ValidationError, eventType="task_profile.revised", payload=payload) == (
        reason,
        f"/events/1/payload{field}",
    )


def test_a_revision_of_any_slots_is_taken() -> None:
    """None, some or all of them; null takes a value away."""
    for profile in ({}, {"taskType": "debug", "target": None}, {"expected": "x", "constraints": "y", "taskType": None}):
        (read,) = batch([event(eventType="task_profile.revised", payload={"profile": profile})])
        assert json.loads(read.payload) == {"profile": profile}


@pytest.mark.parametrize("value", [None, "e-1", [], ["e-1", 2], [""], [" "], {}])
def test_resolved_events_are_a_list_of_ids(value: Any) -> None:
    """In the payload of an event of any type."""
    expected = ("wrong_value", "/events/1/payload/resolvesEventIds")
    assert refused(ValidationError, payload={"resolvesEventIds": value}) == expected
    batch([event(payload={"resolvesEventIds": ["e-1", "e-2"]}), event(payload=["resolvesEventIds"])])


@pytest.mark.parametrize("event_type", ["command.completed", "tool.completed"])
def test_mutated_is_true_or_false(event_type: str) -> None:
    """Where a projection reads it; elsewhere it is a word like any other."""
    for value in (None, "true", 1):
        expected = ("wrong_type", "/events/1/payload/mutated")
        assert refused(ValidationError, eventType=event_type, payload={"mutated": value}) == expected
    batch([event(eventType=event_type, payload={"mutated": True}), event(payload={"mutated": "perhaps"})])


def test_the_form_of_a_request_is_what_the_client_said() -> None:
    """Made again at another moment it is the same, though the server fills in other values."""
    said = [event(1), event(2, sourceEventId="s-2", occurredAt="2026-01-01T00:00:00.000Z", outcome=None)]
    first, again = batch(said), batch(said, now_us=NOW + 5_000_000, ids=Ids(50))
    assert first != again
    assert digest(events.request_form(first)) == digest(events.request_form(again))


def test_a_mark_and_the_credential_behind_it_are_one_request() -> None:
    """Also an absent outcome and a null one, and 1 and 1.0; not another payload or id."""
    form = events.request_form
    assert form(batch([event(payload={"token": KEY})])) == form(batch([event(payload={"token": "[REDACTED]"})]))
    assert form(batch([event(1, outcome=None)])) == form(batch([event(1)])) == form(batch([event(1.0)]))  # type: ignore[arg-type]
    forms = [form(batch([said])) for said in (event(1), event(2), event(1, eventId="e-1"), event(1, sourceSequence=1))]
    assert len({json.dumps(one) for one in forms}) == 4


def test_an_event_of_the_gateway() -> None:
    """Its moments are now, its payload is stored as canonical JSON."""
    own = events.own("run.started", {"b": 1, "a": 2}, actor="hivekeep-gateway", event_id="e-1", now_us=NOW)
    assert (own.event_type, own.actor, own.event_id) == ("run.started", "hivekeep-gateway", "e-1")
    assert (own.payload, own.redaction, own.occurred_at, own.ingested_at) == ('{"a":2,"b":1}', "[]", NOW, NOW)
    assert not own.is_named
