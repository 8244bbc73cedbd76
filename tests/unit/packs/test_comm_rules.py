"""What generic verbs may do to messages and heartbeats, and the filters of list that messages alone have."""

from typing import Any

import pytest

from support.client import Hive


def sent(hive: Hive, **more: Any) -> tuple[str, str]:
    """The ids of both copies of a message from ada to bob."""
    outbound = hive.as_actor("ada").call("comm.send", to="bob", subject="Lunch", content="At noon", **more)["id"]
    (inbound,) = hive.call("list", kind="message", direction="inbound", thread_id=more.get("thread_id", outbound))[
        "items"
    ]
    return outbound, inbound["id"]


@pytest.mark.parametrize("name", ["channel_kind", "channel_slug", "quarantined"])
def test_no_generic_verb_sets_what_a_channel_says(hive: Hive, name: str) -> None:
    """create, a bulk create, a proposal and update are refused, whatever the value."""
    _, inbound = sent(hive)
    note = {"kind": "message", "content": "x", "properties": {name: None}}
    assert name in hive.refuses("create", **note)["message"]
    bulk = hive.call("create", items=[note, {"kind": "observation", "content": "y"}], atomic=False)
    assert (bulk["created"], bulk["failed"], name in bulk["results"][0]["error"]["message"]) == (1, 1, True)
    assert name in hive.refuses("update", id=inbound, properties={name: True})["message"]
    assert name not in hive.call("get", id=inbound)["properties"]


@pytest.mark.parametrize(
    ("properties", "says"),
    [
        ({"read": True}, "properties.read of a new message must be false"),
        ({"read": "yes"}, "properties.read of a message must be true or false"),
        ({"direction": "sideways"}, "inbound, outbound"),
        ({"to_actor": 7}, "properties.to_actor of a message must be a string"),
        ({"comm_schema_version": 2}, "comm_schema_version of a message must be 1"),
        ({"comm_schema_version": 1}, "lacks properties.direction"),
    ],
)
def test_a_made_message_is_one(hive: Hive, properties: dict[str, Any], says: str) -> None:
    """Properties with a meaning of their own are checked; nothing is stored otherwise."""
    assert says in hive.refuses("create", kind="message", content="x", properties=properties)["message"]
    assert hive.call("stats")["notes"] == 0


def test_a_made_message_arrives(hive: Hive) -> None:
    """Alone or in bulk: inbox, probe and counts know it."""
    note = {"kind": "message", "content": "x", "properties": {"direction": "inbound", "to_actor": "bob"}}
    hive.call("create", **note)
    hive.call("create", items=[note, note])
    bob = hive.as_actor("bob")
    assert (bob.call("comm.unread")["count"], bob.call("comm.probe", actor="bob")["cursor_us"]) == (3, 3)
    assert len(bob.call("comm.probe", actor="bob", since_us=0)["new_messages"]) == 3


@pytest.mark.parametrize(
    "patch",
    [
        {"content": "At one"},
        {"name": "Dinner"},
        {"properties": {"read": True}},
        {"properties": {"from_actor": "eve"}},
        {"properties": {"to_actor": "eve"}},
        {"properties": {"direction": "outbound"}},
        {"properties": {"thread_id": "00000000-0000-4000-8000-000000000000"}},
        {"properties": {"outbound_ref": None}},
        {"properties": {"comm_schema_version": 2}},
        {"properties": {"subject": "Dinner"}},
    ],
)
def test_what_was_sent_stays(hive: Hive, patch: dict[str, Any]) -> None:
    """No update changes who wrote what to whom, nor whether it was read; tags and other properties may come."""
    _, inbound = sent(hive)
    before = hive.call("get", id=inbound)
    assert hive.refuses("update", id=inbound, **patch)["kind"] == "invalid_input"
    assert hive.call("get", id=inbound) == before
    hive.call("update", id=inbound, tags=["food"], properties={"mood": "good"})
    after = hive.call("get", id=inbound)["properties"]
    assert (after["tags"], after["mood"], after["read"]) == (["food"], "good", False)


def test_messages_are_deleted_and_restored_but_never_merged(hive: Hive) -> None:
    """A deleted copy is in no count; the other one stays."""
    outbound, inbound = sent(hive)
    assert "cannot be merged" in hive.refuses("merge", into_id=outbound, from_id=inbound)["message"]
    bob, ada = hive.as_actor("bob"), hive.as_actor("ada")
    hive.call("delete", id=inbound)
    assert bob.call("comm.unread")["count"] == 0
    assert ada.call("comm.delivered", id=outbound)["status"] == "undelivered"
    hive.call("restore", id=inbound)
    assert bob.call("comm.unread")["count"] == 1
    assert ada.call("comm.delivered", id=outbound)["status"] == "delivered"


def test_a_heartbeat_is_written_by_its_verb_alone(hive: Hive) -> None:
    """No generic verb makes or changes one; delete is accepted and the next poll brings it back."""
    assert "comm.heartbeat" in hive.refuses("create", kind="channel_health", content="x")["message"]
    beat = 'comm.heartbeat(channel_kind="email", channel_slug="team", ok=true)'
    made = hive.inside(beat)["result"]["id"]
    assert "comm.heartbeat" in hive.refuses("update", id=made, properties={"consecutive_failures": 9})["message"]
    hive.call("delete", id=made)
    assert hive.call("comm.health")["role"] == "client"
    assert hive.inside(beat)["result"]["id"] == made
    assert hive.call("comm.health")["role"] == "daemon"


def test_filters_of_messages(hive: Hive) -> None:
    """Direction, parties, read and delivered, by page and along a cursor; other kinds refuse them by name."""
    outbound, inbound = sent(hive)
    lost = hive.as_actor("bob").call("comm.send", to="ada", content="Lost")["id"]
    copies = hive.call("list", kind="message", to="ada", direction="inbound")["items"]
    hive.call("delete", id=copies[0]["id"])
    asked: tuple[tuple[dict[str, Any], list[str]], ...] = (
        ({"direction": "outbound"}, [lost, outbound]),
        ({"from": "ada"}, [inbound, outbound]),
        ({"to": "ada"}, [lost]),
        ({"read": True}, []),
        ({"delivered": True}, [inbound, outbound]),
        ({"delivered": False}, [lost]),
        ({"delivered": True, "direction": "outbound", "tags": ["none"]}, []),
    )
    for filters, expected in asked:
        found = [item["id"] for item in hive.call("list", kind="message", **filters)["items"]]
        assert sorted(found) == sorted(expected)
        walked = [item["id"] for item in hive.call("list", kind="message", after="", **filters)["notes"]]
        assert sorted(walked) == sorted(expected)
    assert "message" in hive.refuses("list", kind="observation", read=True)["message"]
    assert "read" in hive.refuses("list", kind="entity", read=True)["message"]
    assert "inbound, outbound" in hive.refuses("list", kind="message", direction="up")["message"]


def test_a_conversation_is_named_in_one_way(hive: Hive) -> None:
    """Full id in any spelling, unique prefix, and the labels of old stores, in the order the contract says."""
    root, inbound = sent(hive)

    def found(name: str) -> list[str]:
        return sorted(item["id"] for item in hive.call("list", kind="message", thread_id=name)["items"])

    both = sorted((root, inbound))
    assert [found(name) for name in (root, root.upper(), root.replace("-", ""), root[:8], root[:13])] == [both] * 5

    def old(label: str) -> str:
        return str(hive.call("create", kind="message", content="x", properties={"thread_id": label})["id"])

    label, upper, short = old(root[:8]), old("DEADBEEF"), old("re-lunch")
    assert found(root[:8]) == [label]
    assert found("deadbeef") == [upper]
    assert found("re-lunch") == [short]
    assert found("RE-LUNCH") == []
    assert hive.refuses("list", kind="message", thread_id="0badcafe")["kind"] == "not_found"
    near = root[:-1] + ("0" if root[-1] != "0" else "1")
    old(near)
    error = hive.refuses("list", kind="message", thread_id=root[:20])
    assert (error["code"], near in error["message"]) == ("ambiguous", True)
