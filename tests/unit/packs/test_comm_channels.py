"""Channels to the outside: what comes in, what is parked, and what is reported of them."""

import json
from typing import Any

import pytest

from hivekeep.dispatch.run import drive
from support.client import Hive, check_entry
from support.tasks import SECRET

CHANNEL = {"channel_kind": "email", "channel_slug": "team"}
TEXTS_FROM_OUTSIDE = ("content", "subject", "from", "to", "metadata")


def inside(hive: Hive, verb: str, **args: Any) -> Any:
    """The result of an internal verb, which must have succeeded."""
    entry = drive(hive.server.call_verb(verb, args, hive.caller, source="test", internal=True)).entry
    check_entry(entry, verbose=True)
    assert entry["ok"], entry
    return entry["result"]


def ingest(hive: Hive, content: str = "Hello", **more: Any) -> Any:
    """A mail from ada@example.org."""
    return inside(
        hive, "comm.ingest", **{"from": "ada@example.org", "to": "team@example.org", "content": content, **more}
    )


def health(hive: Hive) -> Any:
    """The report, checked against its schema."""
    return hive.call("comm.health")


@pytest.mark.parametrize("verb", ["comm.ingest", "comm.heartbeat", "comm.cursor_get", "comm.cursor_commit"])
def test_no_request_reaches_what_is_internal(hive: Hive, verb: str) -> None:
    """They are in no list and refused as unknown."""
    error = hive.refuses(verb, **CHANNEL)
    assert (error["kind"], "internal" in error["message"]) == ("unknown_verb", True)
    assert verb not in [row["name"] for row in hive.call("verbs", pack="comm")["verbs"]]


def test_mail_finds_its_recipient_and_its_conversation(hive: Hive) -> None:
    """By the thread that it names, by what it answers in either spelling, by a root, or it begins one."""
    bob = hive.as_actor("bob")
    sent = bob.call("comm.send", to="ada@example.org", content="Lunch?")
    by_root = ingest(hive, correlation_external_id=sent["thread_id"])
    assert (by_root["thread_id"], by_root["deduplicated"]) == (sent["thread_id"], False)
    inside_props = hive.call("get", id=by_root["id"])["properties"]
    assert (inside_props["to_actor"], inside_props["from_actor"], inside_props["to"]) == (
        "bob",
        "ada@example.org",
        "team@example.org",
    )
    hive.call(
        "create",
        kind="message",
        content="Out",
        properties={
            "direction": "outbound",
            "from_actor": "eve",
            "external_id": "<7@x>",
            "thread_id": sent["thread_id"],
        },
    )
    for name in ("<7@x>", "7@x"):
        answered = ingest(hive, name, correlation_external_id=name, default_inbound_actor="zoe")
        assert answered["thread_id"] == sent["thread_id"]
        assert hive.call("get", id=answered["id"])["properties"]["to_actor"] == "eve"
    alone = ingest(hive, correlation_external_id="<8@x>", default_inbound_actor="zoe", thread_id=" ")
    assert alone["thread_id"] == alone["id"]
    assert [message["content"] for message in hive.as_actor("zoe").call("comm.inbox")["messages"]] == ["Hello"]
    assert hive.as_actor("team@example.org").call("comm.unread")["count"] == 0
    assert ingest(hive, "To you")["id"] == hive.as_actor("team@example.org").call("comm.inbox")["messages"][0]["id"]


def test_what_a_channel_delivers_twice_is_stored_once(hive: Hive) -> None:
    """By id and channel, also after the first one was deleted; another channel is another mail."""
    first = ingest(hive, external_id="<1@x>", **CHANNEL)
    assert ingest(hive, "Hello again", external_id="<1@x>", **CHANNEL) == {**first, "deduplicated": True}
    hive.call("delete", id=first["id"])
    assert ingest(hive, external_id="<1@x>", **CHANNEL)["id"] == first["id"]
    for other in ({}, {"channel_kind": "email"}, {**CHANNEL, "channel_slug": "sales"}):
        assert ingest(hive, external_id="<1@x>", **other)["deduplicated"] is False
    assert hive.call("stats")["notes"] == 3


def test_an_old_root_is_echoed_as_it_is(hive: Hive) -> None:
    """And marked as one that is no UUID."""
    hive.call(
        "create",
        kind="message",
        content="Old",
        properties={"direction": "outbound", "from_actor": "eve", "external_id": "<7@x>", "thread_id": "re-lunch"},
    )
    told = ingest(hive, correlation_external_id="7@x")
    assert (told["thread_id"], told["thread_id_canonical"]) == ("re-lunch", False)


def test_parked_mail_is_counted_until_it_is_deleted_or_expires(hive: Hive) -> None:
    """By channel and without one; a poll of the channel drops what has expired, and of that channel alone."""
    parked = ingest(hive, "1", quarantined=True, **CHANNEL)
    ingest(hive, "2", quarantined=True, channel_kind="chat", channel_slug="x")
    ingest(hive, "3", quarantined=True)
    report = health(hive)
    assert (report["quarantined_count"], report["unattributed_quarantined_count"]) == (3, 1)
    assert (report["role"], report["source"]) == ("client", None)
    assert [
        (one["channel_kind"], one["quarantined_count"], one["consecutive_failures"]) for one in report["channels"]
    ] == [
        ("chat", 1, None),
        ("email", 1, None),
    ]
    stored = hive.call("get", id=parked["id"])
    assert stored["properties"]["quarantined"] is True
    assert stored["expires_at"] > stored["created_at"]
    hive.server.engine.run_write(lambda tx: tx.run("UPDATE notes SET expires_at = 1 WHERE kind = 'message'"))
    beat = inside(hive, "comm.heartbeat", ok=True, **CHANNEL)
    assert beat["expired_count"] == 1
    assert hive.refuses("get", id=parked["id"], include_deleted=True)["code"] == "not_found"
    report = health(hive)
    assert (report["quarantined_count"], report["channels"][0]["quarantined_count"]) == (2, 0)
    (other,) = hive.call("list", kind="message", to="team@example.org", limit=200)["items"][:1]
    hive.call("delete", id=other["id"])
    assert health(hive)["quarantined_count"] == 1


def test_a_heartbeat_keeps_what_is_not_said_again(hive: Hive) -> None:
    """Failures add up, a success ends them and keeps the last error and the pace."""
    fail = {"ok": False, "error_class": "auth", "error_message": "denied", **CHANNEL}
    made = inside(hive, "comm.heartbeat", poll_interval_secs=60, **fail)
    assert inside(hive, "comm.heartbeat", **fail)["consecutive_failures"] == 2
    (channel,) = health(hive)["channels"]
    assert (channel["stalled"], channel["consecutive_failures"], channel["last_success_at"]) == (None, 2, None)
    assert (channel["last_error"]["class"], channel["last_error"]["message"]) == ("auth", "denied")
    again = inside(hive, "comm.heartbeat", ok=True, **CHANNEL)
    assert (again["id"], again["consecutive_failures"]) == (made["id"], 0)
    report = health(hive)
    (channel,) = report["channels"]
    assert (report["role"], report["source"]) == ("daemon", "daemon-heartbeat")
    assert (channel["stalled"], channel["poll_interval_secs"]) == (False, 60)
    assert channel["last_error"]["at"] == channel["last_failure_at"] < channel["last_success_at"]
    assert [event["kind"] for event in hive.events(event_kinds=["channel_poll_succeeded", "channel_poll_failed"])] == [
        "channel_poll_succeeded",
        "channel_poll_failed",
        "channel_poll_failed",
    ]
    other = hive.as_actor(None, "team")
    assert inside(other, "comm.heartbeat", ok=True, **CHANNEL)["id"] != made["id"]
    assert health(other)["namespace"] == "team"


def test_a_channel_is_stalled_after_three_missed_polls(hive: Hive) -> None:
    """Strictly more than three times the pace, and only when a pace is known."""
    made = inside(hive, "comm.heartbeat", ok=True, poll_interval_secs=10, **CHANNEL)["id"]
    for ago_s, stalled in ((29, False), (31, True)):
        moment = hive.call("comm.health")["as_of"]
        seconds = f"strftime('%Y-%m-%dT%H:%M:%S', '{moment}', '-{ago_s} seconds') || '.000000Z'"
        statement = (
            f"UPDATE notes SET properties = json_set(properties, '$.last_poll_attempt_at', {seconds}) WHERE id = ?"
        )
        hive.server.engine.run_write(lambda tx, text=statement: tx.run(text, (made,)))
        assert health(hive)["channels"][0]["stalled"] is stalled
    hive.server.engine.run_write(
        lambda tx: tx.run("UPDATE notes SET properties = json_remove(properties, '$.poll_interval_secs')")
    )
    assert health(hive)["channels"][0]["stalled"] is None


def test_a_report_names_two_hundred_channels(hive: Hive) -> None:
    """Those with a heartbeat first, then those that only have parked mail; the totals count all of them."""
    for number in range(199):
        inside(hive, "comm.heartbeat", ok=True, channel_kind="chat", channel_slug=f"{number:03}")
    for slug in ("b", "a"):
        ingest(hive, quarantined=True, channel_kind="aim", channel_slug=slug)
    report = health(hive)
    assert len(report["channels"]) == 200
    assert (report["channels"][198]["channel_kind"], report["channels"][199]["channel_slug"]) == ("chat", "a")
    assert report["quarantined_count"] == 2


def test_a_cursor_is_replaced_by_what_is_committed(hive: Hive) -> None:
    """Each channel of a namespace has one."""
    commit = {"source": "INBOX", "generation": "7", "high_water": "120", **CHANNEL}
    inside(hive, "comm.cursor_commit", **commit)
    inside(hive, "comm.cursor_commit", **{**commit, "high_water": "130"})
    told = inside(hive, "comm.cursor_get", **CHANNEL)
    assert (told["source"], told["generation"], told["high_water"]) == ("INBOX", "7", "130")
    assert inside(hive.as_actor(None, "team"), "comm.cursor_get", **CHANNEL)["high_water"] is None


def test_a_report_says_what_the_process_uses(hive: Hive) -> None:
    """Real figures of this process."""
    resource = health(hive)["resource"]
    assert resource["cpu_us"] > 100_000
    assert resource["rss_bytes"] is None or resource["rss_bytes"] > 10_000_000
    assert resource["active_phases"] == sorted(resource["active_phases"])
    assert json.dumps(resource)


@pytest.mark.parametrize(
    ("verb", "field", "args"),
    [
        *(("comm.ingest", name, {"from": "a@example.org", "to": "b", "content": "x"}) for name in TEXTS_FROM_OUTSIDE),
        ("comm.heartbeat", "error_class", {**CHANNEL, "ok": False, "error_message": "no"}),
        ("comm.heartbeat", "error_message", {**CHANNEL, "ok": False, "error_class": "auth"}),
    ],
)
def test_a_secret_from_outside_is_refused_wherever_it_stands(
    hive: Hive, verb: str, field: str, args: dict[str, Any]
) -> None:
    """The field is named, the secret is not shown, and nothing is stored."""
    args = {**args, field: {"note": SECRET} if field == "metadata" else SECRET}
    entry = drive(hive.server.call_verb(verb, args, hive.caller, source="test", internal=True)).entry
    check_entry(entry, verbose=True)
    assert (entry["error"]["code"], entry["error"]["details"]["location"]) == ("secret_detected", field)
    assert SECRET[6:] not in json.dumps(entry)
    assert hive.call("list", kind="note")["items"] == []
