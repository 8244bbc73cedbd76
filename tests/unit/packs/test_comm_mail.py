"""Mail between actors: what is stored, what each refusal says, and what a lost write leaves behind."""

from typing import Any

import pytest

from hivekeep.dispatch.run import drive
from hivekeep_contract.errors import WriteOutcomeUnknown, WriterTaskBeginBusy
from support.client import Hive

NOBODY = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def ada(hive: Hive) -> Hive:
    return hive.as_actor("ada")


@pytest.fixture
def bob(hive: Hive) -> Hive:
    return hive.as_actor("bob")


def only(hive: Hive, **filters: Any) -> dict[str, Any]:
    """The one message of an inbox."""
    (message,) = hive.call("comm.inbox", status="all", **filters)["messages"]
    return dict(message)


def test_both_copies_have_every_property_of_the_schema(ada: Hive, bob: Hive) -> None:
    """They differ in direction and in the reference of the recipient's copy alone."""
    sent = ada.call("comm.send", to="bob", subject="PR ready", content="#600")
    outbound, inbound = (ada.call("get", id=one) for one in (sent["id"], only(bob)["id"]))
    said = {
        "comm_schema_version": 1,
        "direction": "outbound",
        "read": False,
        "from_actor": "ada",
        "to_actor": "bob",
        "from": "local",
        "to": "local",
        "thread_id": sent["id"],
        "sent_at": sent["sent_at"],
        "subject": "PR ready",
    }
    assert outbound["properties"] == said
    assert inbound["properties"] == {**said, "direction": "inbound", "outbound_ref": sent["id"]}
    assert (outbound["content"], inbound["content"], inbound["kind"]) == ("#600", "#600", "message")
    assert [hit["id"] for hit in ada.call("search", kind="note", query="ready")] != []


def test_an_inbox_marks_nothing_and_all_counts_agree(ada: Hive, bob: Hive) -> None:
    """inbox, unread, probe and list count the same mail, before and after a mark."""
    for number in range(3):
        ada.call("comm.send", to="bob", content=f"Message {number}")
    for unread in (3, 2):
        page = bob.call("comm.inbox", limit=1)
        assert (page["unread_count"], page["count"], page["has_more"], page["next_offset"]) == (unread, 1, True, 1)
        assert bob.call("comm.unread")["count"] == unread
        assert bob.call("comm.probe", actor="bob", stale_minutes=0)["stale_unread_count"] == unread
        listed = bob.call("list", kind="message", direction="inbound", to="bob", read=False)["items"]
        assert len(listed) == unread
        if unread == 3:
            bob.call("comm.read", id=page["messages"][0]["id"])
    assert bob.call("comm.inbox", limit=0, wait_ms=30_000)["messages"] == []


def test_an_agent_sees_full_ids_where_it_needs_them(ada: Hive, bob: Hive) -> None:
    """In agent mode a message keeps its id, and what was sent keeps full_id and thread_id."""
    sent = ada.ok('comm.send(to="bob", content="Hi")', presentation="agent")
    assert (len(sent["id"]), len(sent["full_id"]), len(sent["thread_id"])) == (8, 36, 36)
    message = bob.ok("comm.inbox()", presentation="agent")["messages"][0]
    assert (len(message["id"]), len(message["short_id"])) == (36, 8)
    assert len(bob.ok('comm.inbox(fields=["id"])', presentation="agent")["messages"][0]["id"]) == 36
    page = bob.ok('comm.inbox(status="read")', presentation="agent")
    assert (page["messages"], page["next_offset"], page["has_more"]) == ([], None, False)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"to": "bob", "content": " \n"}, "'content' must be a string that is not blank"),
        ({"to": "ada", "content": "x"}, "self_send=true"),
        ({"to": "bob", "content": "x", "thread_id": NOBODY}, "no message of it belongs to"),
        ({"to": "bob", "content": "x", "thread_id": "00000000"}, "a full UUID"),
        ({"to": "bob", "content": "x", "colour": "red"}, "unknown argument 'colour'"),
    ],
)
def test_a_refused_send_stores_nothing(ada: Hive, args: dict[str, Any], says: str) -> None:
    """Each refusal names the argument."""
    error = ada.refuses("comm.send", **args)
    assert error["kind"] == "invalid_input"
    assert says in error["message"]
    assert ada.call("stats")["notes"] == 0


def test_a_secret_is_never_mailed(ada: Hive) -> None:
    """In the text and in the subject."""
    secret = "ghp_" + "a1B2" * 9
    for args in ({"content": secret}, {"content": "x", "subject": secret}):
        assert ada.refuses("comm.send", to="bob", **args)["code"] == "secret_detected"
    assert ada.call("stats")["notes"] == 0


def test_a_caller_without_a_name_is_warned_and_may_write_to_itself(hive: Hive) -> None:
    """Its label is local; mail to somebody with a name carries a warning."""
    sent = hive.call("comm.send", to="bob", content="Hi")
    assert [warning["code"] for warning in sent["warnings"]] == ["unattributed_sender"]
    assert sent["from_actor"] == "local"
    assert "warnings" not in hive.call("comm.send", to="local", content="Note")
    assert hive.call("comm.unread") == {"count": 1, "count_cap": 1000, "count_saturated": False, "actor": "local"}


def test_a_commit_whose_fate_is_unknown_names_the_message(
    ada: Hive, bob: Hive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The id in the error is the one that comm.delivered takes."""
    engine = ada.server.engine
    write = engine.run_write

    def lost(fn: Any) -> Any:
        write(fn)
        raise WriteOutcomeUnknown("the disk did not say", stage="commit", capability="storage", operation="write")

    with monkeypatch.context() as patched:
        patched.setattr(engine, "run_write", lost)
        entry = ada.entry('comm.send(to="bob", content="Hi")')
    assert (entry["error"]["code"], entry["domain_disposition"]) == ("write_outcome_unknown", "unknown")
    outbound_id = entry["error"]["details"]["outbound_id"]
    assert ada.call("comm.delivered", id=outbound_id)["status"] == "delivered"
    assert bob.call("comm.delivered", id=outbound_id)["status"] == "undelivered"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"box": "sent", "status": "all"}, "'status' is accepted with box='inbox' only"),
        ({"box": "sent", "from_actor": "ada"}, "'from_actor' is accepted with box='inbox' only"),
        ({"box": "sent", "exclude_from_actor": "ada"}, "'exclude_from_actor' is accepted"),
        ({"to_actor": "ada"}, "'to_actor' is accepted with box='sent' only"),
        ({"from_actor": "a", "from_prefix": "a"}, "from_actor"),
        ({"since": "2026-01-02T00:00:00Z", "before": "2026-01-02T00:00:00Z"}, "'since' must be earlier"),
        ({"since": "yesterday"}, "an ISO 8601 timestamp"),
        ({"limit": 201}, "limit"),
        ({"wait_ms": 30_001}, "wait_ms"),
        ({"subject_contains": ""}, "subject_contains"),
        ({"content_contains": ""}, "content_contains"),
        ({"fields": ["id", "colour"]}, "fields"),
        ({"fields": []}, "fields"),
    ],
)
def test_what_an_inbox_does_not_take(ada: Hive, args: dict[str, Any], says: str) -> None:
    """Each refusal names the argument."""
    error = ada.refuses("comm.inbox", **args)
    assert (error["kind"], says in error["message"]) == ("invalid_input", True), error


def test_filters_of_an_inbox(ada: Hive, bob: Hive) -> None:
    """Senders by label and prefix, times on created_at, texts in any script whatever their case."""
    hive = ada
    for sender, subject, content in (("ada", "Über uns", "one"), ("adam", None, "ZWEI"), ("eve", "x_y", "100%")):
        hive.as_actor(sender).call("comm.send", to="bob", subject=subject, content=content)
    asked = {
        "one": {"from_actor": "ada"},
        "ZWEI one": {"from_prefix": "ada"},
        "100% ZWEI": {"exclude_from_actor": "ada"},
        "one ": {"subject_contains": "ÜBER"},
        "ZWEI": {"content_contains": "zwei"},
        "100%": {"content_contains": "%"},
    }
    for expected, filters in asked.items():
        found = bob.call("comm.inbox", **filters)["messages"]
        assert [message["content"] for message in found] == expected.split()
    moments = [message["created_at"] for message in bob.call("comm.inbox")["messages"]]
    assert bob.call("comm.inbox", since=moments[1], before=moments[0])["count"] == 1
    assert bob.call("comm.inbox", subject_contains="y", fields=["subject"])["messages"] == [{"subject": "x_y"}]


def test_fields_that_a_message_lacks_are_null(ada: Hive, bob: Hive) -> None:
    """Those of the two parties fall back to the older names; asking twice answers once."""
    made = ada.call(
        "create", kind="message", content="Old", properties={"direction": "inbound", "from": "x", "to": "y"}
    )
    told = ada.as_actor(None).call(
        "comm.inbox", fields=["from_actor", "to_actor", "subject", "thread_id", "from", "from", "full_id", "short_id"]
    )
    assert told["messages"] == [
        {
            "from_actor": "x",
            "to_actor": "y",
            "subject": None,
            "thread_id": None,
            "from": "x",
            "full_id": made["id"],
            "short_id": made["id"][:8],
        }
    ]


def test_only_an_inbound_message_to_the_caller_is_marked(ada: Hive, bob: Hive) -> None:
    """Everything is checked before anything is written."""
    sent = ada.call("comm.send", to="bob", content="Hi")
    mine, note = only(bob)["id"], ada.call("create", kind="observation", content="x")["id"]
    elsewhere = ada.as_actor("ada", "team").call("comm.send", to="bob", content="There")["id"]
    for foreign, kind, says in (
        (sent["id"], "invalid_input", "outbound"),
        (note, "invalid_input", "observation"),
        (NOBODY, "not_found", NOBODY),
        (elsewhere, "not_found", elsewhere),
    ):
        error = bob.refuses("comm.mark_read", ids=[mine, foreign])
        assert (error["kind"], says in error["message"]) == (kind, True), error
    assert bob.refuses("comm.read", ids=[mine, NOBODY])["message"] == f"ids: not found: {NOBODY}"
    assert bob.refuses("comm.read", id=NOBODY)["message"] == f"id: not found: {NOBODY}"
    assert "addressed to 'bob', not to 'ada'" in ada.refuses("comm.read", id=mine)["message"]
    assert bob.call("comm.unread")["count"] == 1
    told = bob.call("comm.read", id=mine[:8])
    assert (told["id"], told["read"], told["properties"]["read"]) == (mine, True, True)
    stored = bob.call("get", id=mine)
    assert (stored["properties"]["read"], stored["version"]) == (True, 2)
    assert bob.call("comm.read", id=mine, body=False).keys() == {"id", "full_id", "status", "read", "properties"}
    assert bob.call("get", id=mine)["version"] == 2


def test_a_mark_that_the_store_does_not_take_is_told(ada: Hive, bob: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """Failed when nothing was tried, unknown when its fate is; the message is left out of both."""
    ada.call("comm.send", to="bob", content="Hi")
    mine = only(bob)["id"]
    for error, status, read in (
        (WriterTaskBeginBusy("busy", stage="begin", capability="storage", operation="write"), "failed", False),
        (WriteOutcomeUnknown("lost", stage="commit", capability="storage", operation="write"), "unknown", None),
    ):

        def refuse(_fn: Any, error: Exception = error) -> Any:
            raise error

        with monkeypatch.context() as patched:
            patched.setattr(bob.server.engine, "run_write", refuse)
            one, many = bob.call("comm.read", id=mine), bob.call("comm.mark_read", ids=[mine])
            atomic = bob.refuses("comm.mark_read", ids=[mine], atomic=True)
        assert (one["status"], one["read"], one["mark_error"]) == (status, read, str(error))
        assert "content" not in one
        assert (many["status"], many["failed_count"] + many["unknown_count"], many["marked_count"]) == (status, 1, 0)
        assert atomic["code"] == error.code
    assert bob.call("comm.unread")["count"] == 1


def test_a_message_that_vanishes_between_check_and_mark_fails(
    ada: Hive, bob: Hive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Best effort marks the others and says partial; atomic marks none."""
    for text in ("one", "two"):
        ada.call("comm.send", to="bob", content=text)
    ids = [message["id"] for message in bob.call("comm.inbox")["messages"]]
    engine = bob.server.engine
    write = engine.run_write

    def after_a_delete(fn: Any) -> Any:
        monkeypatch.setattr(engine, "run_write", write)
        ada.call("delete", id=ids[0])
        return write(fn)

    monkeypatch.setattr(engine, "run_write", after_a_delete)
    error = bob.refuses("comm.mark_read", ids=ids, atomic=True)
    assert (error["code"], error["details"]["id"]) == ("concurrent_change", ids[0])
    assert bob.call("comm.unread")["count"] == 1
    ada.call("restore", id=ids[0])
    monkeypatch.setattr(engine, "run_write", after_a_delete)
    told = bob.call("comm.read", ids=ids)
    assert (told["status"], told["marked_count"], told["failed_count"]) == ("partial", 1, 1)
    assert [one.get("mark_error") for one in told["results"]] == ["no live row updated", None]


def test_a_reply_to_a_mail_keeps_its_headers(hive: Hive) -> None:
    """The chain of the parent and the parent itself, each once, without what could forge a header."""
    mail = drive(
        hive.server.call_verb(
            "comm.ingest",
            {
                "from": "ada@example.org",
                "to": "team@example.org",
                "content": "Hello",
                "metadata": {
                    "wire_message_id": "<2@x>",
                    "wire_references": "<0@x> <1@x> nonsense <1@x>",
                    "direction": "outbound",
                    "quarantined": True,
                },
                "default_inbound_actor": "bob",
            },
            hive.caller,
            source="test",
            internal=True,
        )
    ).entry["result"]
    bob = hive.as_actor("bob")
    assert only(bob)["properties"].get("quarantined") is None
    sent = bob.call("comm.reply", id=mail["id"], content="Hi")
    properties = bob.call("get", id=sent["id"])["properties"]
    assert (sent["to"], properties["in_reply_to_message_id"]) == ("ada@example.org", "<2@x>")
    assert properties["references_chain"] == ["<0@x>", "<1@x>", "<2@x>"]


def test_a_cursor_that_never_was_one_begins_anew(ada: Hive, bob: Hive) -> None:
    """A moment in microseconds is above every number given; a cursor of the end stays where it is."""
    ada.call("comm.send", to="bob", subject="One", content="1")
    begin = bob.call("comm.probe", actor="bob", since_us=1_780_000_000_000_000)
    assert begin == {"cursor_us": 1, "new_messages": [], "stale_unread_count": 0}
    ada.call("comm.send", to="bob", content="2")
    fresh = bob.call("comm.probe", actor="bob", since_us=1)
    assert (fresh["cursor_us"], [sorted(one) for one in fresh["new_messages"]]) == (
        2,
        [["created_at_us", "from_actor", "id"]],
    )
    assert bob.call("comm.probe", actor="bob", since_us=2) == {
        "cursor_us": 2,
        "new_messages": [],
        "stale_unread_count": 0,
    }
    assert bob.call("comm.probe", actor="eve") == {"cursor_us": 0, "new_messages": [], "stale_unread_count": 0}


def test_a_thread_continues_behind_a_moment_or_either_copy(ada: Hive, bob: Hive) -> None:
    """Exclusive in both orders; what is neither an id nor a moment is refused."""
    first = ada.call("comm.send", to="bob", content="1")
    for text in ("2", "3"):
        ada.call("comm.send", to="bob", content=text, thread_id=first["thread_id"])
    shown = bob.call("comm.thread", id=first["id"])["messages"]
    assert [message["content"] for message in shown] == ["1", "2", "3"]
    for after in (first["id"], shown[0]["id"], shown[0]["created_at"]):
        page = bob.call("comm.thread", id=first["id"], after=after, fields=["content"])
        assert page["messages"] == [{"content": "2"}, {"content": "3"}]
    behind = bob.call("comm.thread", id=first["id"], order="desc", after=shown[1]["created_at"], fields=["content"])
    assert behind["messages"] == [{"content": "1"}]
    assert "RFC 3339" in bob.refuses("comm.thread", id=first["id"], after="soon")["message"]
    assert bob.refuses("comm.thread", id=first["id"], after=NOBODY)["message"] == f"after: not found: {NOBODY}"


def test_a_root_that_names_no_thread_belongs_to_it(hive: Hive) -> None:
    """An old message without a thread is the first of the conversation that answers to it begin."""
    bob = hive.as_actor("bob")
    old = hive.call(
        "create",
        kind="message",
        content="Old",
        properties={"direction": "inbound", "from_actor": "ada", "to_actor": "bob"},
    )
    sent = bob.call("comm.reply", id=old["id"], content="New")
    page = bob.call("comm.thread", id=sent["id"], fields=["content", "read"])
    assert (page["thread_id"], page["messages"]) == (
        old["id"],
        [{"content": "Old", "read": True}, {"content": "New", "read": False}],
    )
