"""Promotions: a proposal becomes one candidate entry with its provenance, and never more than that."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hivekeep.agent.curated import lifecycle
from support.entries import BY, add_entry
from support.gateway import Gateway, event, opening

AT = "2026-01-02T03:04:05.678Z"
SAID: dict[str, Any] = {"kind": "lesson", "title": "Parser tables", "body": "They must be sorted.", "tags": ["b", "a"]}


def proposed(gateway: Gateway, run_id: str, event_id: str = "proposal-1", payload: Any = None) -> str:
    """The event id of a proposal in the ledger of a run."""
    said = SAID if payload is None else payload
    assert gateway.events(run_id, event("memory.proposed", eventId=event_id, payload=said)).status == 200
    return event_id


def promote(gateway: Gateway, run_id: str, event_id: str, *, key: str | None = None, **fields: Any) -> Any:
    """The answer to a promotion."""
    asked = {"proposalEventId": event_id, "actor": "ada", "createdAt": AT, "confirmed": True}
    return gateway.promote(run_id, key=key, **asked | fields)


def counted(gateway: Gateway) -> tuple[int, int]:
    """How many entries and links are stored."""
    with gateway.server.engine.read() as tx:
        row = tx.one("SELECT (SELECT count(*) FROM agent_entries), (SELECT count(*) FROM agent_memory_links)")
    assert row is not None
    return row[0], row[1]


def test_a_proposal_becomes_a_candidate_that_nobody_vouches_for(gateway: Gateway) -> None:
    """Entry and link have the fields of the contract; the provenance names event, run and intake."""
    opened = gateway.open().data
    run_id = opened["runId"]
    event_id = proposed(gateway, run_id)
    told = promote(gateway, run_id, event_id).data
    entry, link = told["entry"], told["link"]
    reference = json.dumps(
        {"eventId": event_id, "intakeId": opened["intakeSessionId"], "runId": run_id}, separators=(",", ":")
    )
    volatile = {"entryId", "contentHash"}
    assert {name: value for name, value in entry.items() if name not in volatile} == {
        "workspace": "demo",
        "status": "candidate",
        "trustLevel": "untrusted",
        "confidence": 0.25,
        "revision": 1,
        "kind": "lesson",
        "title": "Parser tables",
        "body": "They must be sorted.",
        "summary": None,
        "scope": {},
        "provenance": {"type": "ledger_promotion", "reference": reference},
        "tags": ["a", "b"],
        "supersededBy": None,
        "createdBy": "ada",
        "createdAt": AT,
        "updatedAt": AT,
        "verifiedAt": None,
        "disabled": False,
        "source": None,
    }
    assert link == {
        "linkId": link["linkId"],
        "runId": run_id,
        "eventId": event_id,
        "deliveryId": None,
        "entryId": entry["entryId"],
        "createdAt": AT,
    }
    assert told["untrusted"] is True
    assert "memory.promoted" not in gateway.types(run_id)


def test_the_same_proposal_again_gives_the_same_entry(gateway: Gateway) -> None:
    """Under another key, and after the end of the run, entry and link are the first ones."""
    run_id = gateway.opened()
    event_id = proposed(gateway, run_id)
    first = promote(gateway, run_id, event_id).data
    gateway.close(run_id)
    assert promote(gateway, run_id, event_id, actor="bob").data == first
    assert counted(gateway) == (1, 1)


def test_replays_and_conflicts_of_keys(gateway: Gateway) -> None:
    """The same request again is answered as it was, another request with that key is a conflict."""
    run_id = gateway.opened()
    event_id = proposed(gateway, run_id)
    first = promote(gateway, run_id, event_id, key="k").data
    assert promote(gateway, run_id, event_id, key="k").data == first
    assert promote(gateway, run_id, event_id, key="k", actor="bob").told == (409, "CONFLICT", "key_reused")


def test_an_entry_that_was_verified_meanwhile_stays_it(gateway: Gateway) -> None:
    """Promoting again shows the entry as it is now; promoting never verifies and never takes it back."""
    run_id = gateway.opened()
    event_id = proposed(gateway, run_id)
    entry_id = promote(gateway, run_id, event_id).data["entry"]["entryId"]
    gateway.server.engine.run_write(lambda tx: lifecycle.verify(tx, entry_id, 1, BY))
    assert promote(gateway, run_id, event_id).data["entry"]["status"] == "verified"


@pytest.mark.parametrize(
    "known",
    [
        {},
        {"trust_level": "user_asserted"},
        {"status": "verified"},
        {"kind": "fact", "tags": ["other"]},
    ],
)
def test_what_the_memory_says_already_is_a_conflict(gateway: Gateway, known: dict[str, Any]) -> None:
    """The same text of the workspace, from elsewhere and whatever its standing, is not recorded twice."""
    gateway.server.engine.run_write(
        lambda tx: add_entry(tx, SAID["title"], SAID["body"], **{"kind": "lesson", "tags": SAID["tags"], **known})
    )
    run_id = gateway.opened()
    assert promote(gateway, run_id, proposed(gateway, run_id)).told == (409, "CONFLICT", "entry_exists")
    assert counted(gateway) == (1, 0)


def test_two_proposals_of_one_text_are_one_entry_and_a_conflict(gateway: Gateway) -> None:
    """The second proposal of the same text is refused: the memory has it by the first."""
    run_id = gateway.opened()
    promote(gateway, run_id, proposed(gateway, run_id, "p1"))
    assert promote(gateway, run_id, proposed(gateway, run_id, "p2")).told == (409, "CONFLICT", "entry_exists")


def test_another_workspace_may_say_the_same(gateway: Gateway) -> None:
    """The text of another workspace is no obstacle."""
    gateway.server.engine.run_write(lambda tx: add_entry(tx, SAID["title"], SAID["body"], workspace="other"))
    run_id = gateway.opened()
    assert promote(gateway, run_id, proposed(gateway, run_id)).status == 200


def test_a_proposal_must_be_one_of_this_run(gateway: Gateway) -> None:
    """An unknown event, an event of another type and a proposal of another run are not found."""
    run_id, other = gateway.opened(), gateway.opened()
    gateway.events(run_id, event(eventId="step-1"))
    event_id = proposed(gateway, other)
    for missing in ("nothing", "step-1", event_id):
        assert promote(gateway, run_id, missing).told == (404, "NOT_FOUND", "no_record")


def test_a_run_in_intake_has_no_proposal(gateway: Gateway) -> None:
    """While a question waits, no proposal can be there."""
    run_id = gateway.opened(opening(task={"title": "a", "query": "make it nice"}))
    assert promote(gateway, run_id, "p1").told == (404, "NOT_FOUND", "no_record")


class TestDelivery:
    """The delivery that a proposal follows."""

    def test_a_delivery_that_reaches_the_proposal_is_recorded(self, gateway: Gateway) -> None:
        """Link and provenance name the delivery of a checkpoint after the proposal."""
        run_id = gateway.opened()
        event_id = proposed(gateway, run_id)
        delivery_id = gateway.checkpoint(run_id, currentStep="look").data["context"]["deliveryId"]
        told = promote(gateway, run_id, event_id, deliveryId=delivery_id).data
        assert told["link"]["deliveryId"] == delivery_id
        assert json.loads(told["entry"]["provenance"]["reference"])["deliveryId"] == delivery_id

    def test_a_delivery_before_the_proposal_is_a_conflict(self, gateway: Gateway) -> None:
        """What was delivered earlier cannot have been proposed yet."""
        opened = gateway.open().data
        event_id = proposed(gateway, opened["runId"])
        reply = promote(gateway, opened["runId"], event_id, deliveryId=opened["context"]["deliveryId"])
        assert reply.told == (409, "CONFLICT", "delivery_too_early")

    def test_another_delivery_is_not_found(self, gateway: Gateway) -> None:
        """A delivery that does not exist, and one of another run."""
        other = gateway.open().data["context"]["deliveryId"]
        run_id = gateway.opened()
        event_id = proposed(gateway, run_id)
        for delivery_id in ("context-x", other):
            assert promote(gateway, run_id, event_id, deliveryId=delivery_id).told[0] == 404
        assert counted(gateway) == (0, 0)


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ("text", "wrong_type"),
        ({}, "missing_field"),
        ({**SAID, "other": 1}, "unknown_field"),
        ({**SAID, "provenance": {}}, "unknown_field"),
        ({**SAID, "kind": "memo"}, "wrong_value"),
        ({**SAID, "title": " "}, "wrong_value"),
        ({**SAID, "body": None}, "wrong_type"),
        ({**SAID, "scope": []}, "wrong_type"),
        ({**SAID, "tags": ["x"] * 101}, "too_long"),
        ({**SAID, "tags": ["x" * 201]}, "too_long"),
    ],
)
def test_a_payload_that_is_no_entry_is_refused(gateway: Gateway, payload: Any, reason: str) -> None:
    """The ledger took the event; promoting it is a validation error and nothing is stored."""
    run_id = gateway.opened()
    reply = promote(gateway, run_id, proposed(gateway, run_id, payload=payload))
    assert reply.told == (400, "VALIDATION_ERROR", reason)
    assert counted(gateway) == (0, 0)


@pytest.mark.parametrize(
    "payload",
    [
        {**SAID, "body": "password = hunter2hunter2hunter2"},
        {**SAID, "scope": {"api_key": "abcdef"}},
        {**SAID, "title": "use ghp_0123456789012345678901234567890123456789"},
    ],
)
def test_a_proposal_with_a_credential_is_refused(gateway: Gateway, payload: dict[str, Any]) -> None:
    """The ledger masked it, and what is left is no memory: 422, and nothing is stored."""
    run_id = gateway.opened()
    reply = promote(gateway, run_id, proposed(gateway, run_id, payload=payload))
    assert reply.told == (422, "SECURITY_REJECTION", "secret")
    assert counted(gateway) == (0, 0)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"confirmed": False}, "/confirmed"),
        ({"confirmed": "true"}, "/confirmed"),
        ({"createdAt": "yesterday"}, "/createdAt"),
        ({"actor": " "}, "/actor"),
        ({"apiVersion": 1}, "/apiVersion"),
    ],
)
def test_a_promotion_must_be_confirmed_dated_and_signed(gateway: Gateway, fields: dict[str, Any], field: str) -> None:
    """Each field of the request is needed as the contract says."""
    run_id = gateway.opened()
    reply = promote(gateway, run_id, proposed(gateway, run_id), **fields)
    assert (reply.status, reply.error["details"]["field"]) == (400, field)


def test_the_api_version_is_required(gateway: Gateway) -> None:
    """A promotion without it is refused, as every write."""
    run_id = gateway.opened()
    body = {"proposalEventId": "p", "actor": "a", "createdAt": AT, "confirmed": True}
    assert gateway.ask("agent.promotions", run_id, body).told == (400, "VALIDATION_ERROR", "missing_field")


def test_a_promoted_entry_is_found_by_the_next_run(gateway: Gateway) -> None:
    """The entry is delivered to a later run with the points of a candidate."""
    run_id = gateway.opened()
    entry_id = promote(gateway, run_id, proposed(gateway, run_id)).data["entry"]["entryId"]
    (item,) = gateway.open().data["context"]["items"]
    assert (item["entryId"], item["scoreComponents"]["status"]) == (entry_id, 40)


def test_a_purged_entry_is_not_made_again(gateway: Gateway) -> None:
    """After a purge the proposal leads to an entry that is gone."""
    run_id = gateway.opened()
    event_id = proposed(gateway, run_id)
    entry_id = promote(gateway, run_id, event_id).data["entry"]["entryId"]
    gateway.server.engine.run_write(lambda tx: lifecycle.purge(tx, entry_id, BY))
    assert promote(gateway, run_id, event_id).told == (404, "NOT_FOUND", "no_record")
