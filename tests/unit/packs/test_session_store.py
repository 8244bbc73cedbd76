"""store, list, resume and export: what is kept of a session, and how it is found again."""

from collections.abc import Iterator
from typing import Any

import pytest

from hivekeep.storage import notes
from hivekeep.storage.engine import Tx
from hivekeep.storage.json_text import dump
from hivekeep.storage.notes import NoteRow
from hivekeep.times import iso
from support.client import Hive, open_hive
from support.stores import record_id

SECRET = "ghp_" + "a1B2c3D4e5" * 4
MISSING = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def hive() -> Iterator[Hive]:
    """A fresh server with the session pack and nothing that it does not need."""
    with open_hive(runtime_packs=["kg", "session"]) as opened:
        yield opened


def keep(hive: Hive, number: int, at: int, namespace: str = "local", **properties: Any) -> str:
    """Store a session of a moment as it is; answers its id."""
    row = NoteRow(record_id(number), namespace, "session", f"session {number}", at, at, properties=dump(properties))

    def write(tx: Tx) -> None:
        notes.insert(tx, row)

    hive.server.engine.run_write(write)
    return row.id


def listed(hive: Hive, **args: Any) -> list[str]:
    """The ids of a page in its order."""
    return [row["id"] for row in hive.call("session.list", **args)["sessions"]]


def test_a_stored_session_is_a_note(hive: Hive) -> None:
    """Its title is the name, the rest is in its properties; content stays verbatim, names lose outer white space."""
    stored = hive.call(
        "session.store",
        content="  line\n\tline \n",
        title=" Pages ",
        provider=" codex ",
        provider_session_id=" s-17 ",
        tags=[" docs ", "web"],
    )["session"]
    note = hive.call("get", id=stored["id"])
    assert (note["kind"], note["name"], note["content"]) == ("session", "Pages", "  line\n\tline \n")
    assert note["properties"] == {"provider": "codex", "provider_session_id": "s-17", "tags": ["docs", "web"]}
    assert hive.call("session.resume", id=stored["id"])["session"] == stored
    assert stored == {
        "id": note["id"],
        "kind": "session",
        "title": "Pages",
        "provider": "codex",
        "provider_session_id": "s-17",
        "tags": ["docs", "web"],
        "content": "  line\n\tline \n",
        "properties": note["properties"],
        "created_at": note["created_at"],
        "updated_at": note["updated_at"],
        "namespace": "local",
    }


def test_a_stored_session_is_told_and_found_by_its_words(hive: Hive) -> None:
    """Its event and audit row name it, and search over notes finds it."""
    session = hive.call("session.store", content="Rewrote the pages.", title="Pages")["session"]["id"]
    told = [event for event in hive.events(target_id=session) if event["kind"] == "note_created"]
    assert [event["payload"] for event in told] == [
        {"id": session, "namespace": "local", "kind": "session", "name": "Pages"}
    ]
    assert hive.events(verb="session.store", event_kind="audit")[0]["target_id"] == session
    assert [row["id"] for row in hive.call("search", kind="session", query="rewrote")] == [session]


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"content": ""}, "'content'"),
        ({"content": "\u2003\n"}, "'content'"),
        ({"content": "x", "title": " "}, "'title'"),
        ({"content": "x", "title": "\u2003"}, "'title'"),
        ({"content": "x", "provider": ""}, "'provider'"),
        ({"content": "x", "provider_session_id": "\t"}, "'provider_session_id'"),
        ({"content": "x", "tags": ["a", ""]}, "'tags'"),
        ({"content": "x", "tags": "a"}, "'tags'"),
        ({"content": "x", "namespace": "team"}, "'namespace'"),
        ({}, "'content'"),
    ],
)
def test_what_is_blank_or_unknown_is_refused(hive: Hive, args: dict[str, Any], says: str) -> None:
    """The refusal names the argument, and nothing is stored."""
    error = hive.refuses("session.store", **args)
    assert error["kind"] == "invalid_input"
    assert says in error["message"]
    assert listed(hive) == []


@pytest.mark.parametrize("field", ["content", "title", "provider", "provider_session_id", "tags"])
def test_a_credential_anywhere_refuses_the_session(hive: Hive, field: str) -> None:
    """The refusal names the place and does not repeat the credential."""
    args: dict[str, Any] = {"content": "x", field: [SECRET] if field == "tags" else SECRET}
    error = hive.refuses("session.store", **args)
    assert (error["code"], error["details"]["location"]) == ("secret_detected", field)
    assert SECRET not in str(error)
    assert listed(hive) == []


def test_null_and_an_empty_list_are_as_if_not_given(hive: Hive) -> None:
    """Nothing is stored for them."""
    session = hive.call("session.store", content="x", title=None, provider=None, provider_session_id=None, tags=[])
    assert session["session"]["properties"] == {}
    assert [session["session"][name] for name in ("title", "provider", "provider_session_id")] == [None] * 3
    assert session["session"]["tags"] == []


def test_newest_first_and_page_by_page(hive: Hive) -> None:
    """Ties by id, the highest first; the total counts all pages, the count this one."""
    moments = [100, 300, 200, 300, 200]
    ids = [keep(hive, number, at) for number, at in enumerate(moments, 1)]
    order = [ids[place] for place in (3, 1, 4, 2, 0)]
    assert listed(hive) == order
    pages = [listed(hive, limit=2, offset=offset) for offset in (0, 2, 4, 6)]
    assert pages == [order[:2], order[2:4], order[4:], []]
    page = hive.call("session.list", limit=2, offset=4)
    assert [page[name] for name in ("count", "total", "limit", "offset")] == [1, 5, 2, 4]


def test_filters_are_exact(hive: Hive) -> None:
    """A provider in another case, a part of it, or one that is no text is another one; filters add up."""
    codex = keep(hive, 1, 100, provider="codex", agent_id="a1")
    other = keep(hive, 2, 200, provider="codex", agent_id="a2")
    for number, provider in enumerate(("Codex", "codex-2", ["codex"], None, 5), 3):
        keep(hive, number, 300, provider=provider)
    assert listed(hive, provider="codex") == [other, codex]
    assert listed(hive, agent_id="a1") == [codex]
    assert listed(hive, provider="codex", agent_id="a2") == [other]
    assert listed(hive, provider="5") == []
    assert hive.call("session.list", provider="codex", limit=1)["total"] == 2


@pytest.mark.parametrize(
    ("since", "kept"),
    [
        ("1970-01-01T00:00:01Z", 2),
        ("1970-01-01T00:00:01.000000Z", 2),
        ("1970-01-01T00:00:01.0000000Z", 2),
        ("1970-01-01T00:00:01.0000001Z", 1),
        ("1970-01-01T00:00:01.000001Z", 1),
        ("1970-01-01T00:00:01.0000010001Z", 0),
        ("1970-01-01T01:00:01+01:00", 2),
        ("1970-01-01", 2),
        ("1970-01-02", 0),
    ],
)
def test_since_belongs_to_the_list_and_is_rounded_up(hive: Hive, since: str, kept: int) -> None:
    """A fraction beyond microseconds never lets an earlier session in."""
    for number in (1, 2):
        keep(hive, number, 1_000_000 + number - 1)
    page = hive.call("session.list", since=since)
    assert (page["count"], page["total"]) == (kept, kept)


@pytest.mark.parametrize(
    "args",
    [
        {"limit": 0},
        {"limit": 201},
        {"limit": -1},
        {"limit": "5"},
        {"offset": -1},
        {"provider": " "},
        {"agent_id": ""},
        {"since": "yesterday"},
        {"since": "1970-13-01"},
        {"since": 0},
        {"tags": ["a"]},
    ],
)
def test_a_page_that_cannot_be_is_refused(hive: Hive, args: dict[str, Any]) -> None:
    """Limits are not changed into accepted ones; the refusal names the argument."""
    error = hive.refuses("session.list", **args)
    assert error["kind"] == "invalid_input"
    assert f"'{next(iter(args))}'" in error["message"]


def test_a_list_is_of_the_callers_namespace(hive: Hive) -> None:
    """Also when the caller sees more; each session goes where its author writes."""
    team = hive.as_actor("ada", "team", ("local",))
    here = hive.call("session.store", content="here")["session"]["id"]
    there = team.call("session.store", content="there")["session"]
    assert there["namespace"] == "team"
    assert (listed(hive), listed(team)) == ([here], [there["id"]])


def test_a_deleted_session_is_gone_until_it_is_restored(hive: Hive) -> None:
    """From the list and its total, from resume and export."""
    session = hive.call("session.store", content="x")["session"]["id"]
    hive.call("delete", id=session)
    assert hive.call("session.list")["total"] == 0
    for verb in ("session.resume", "session.export"):
        assert hive.refuses(verb, id=session)["kind"] == "not_found"
    hive.call("restore", id=session)
    assert listed(hive) == [session]


def test_a_prefix_is_of_the_primary_namespace(hive: Hive) -> None:
    """A full id is direct identity everywhere, also without hyphens and in capitals."""
    team = hive.as_actor("ada", "team")
    session = team.call("session.store", content="x")["session"]["id"]
    for reference in (session, session.upper(), session.replace("-", "")):
        assert hive.call("session.resume", id=reference)["session"]["id"] == session
    assert team.call("session.resume", id=session[:8])["session"]["id"] == session
    assert hive.refuses("session.resume", id=session[:8])["kind"] == "not_found"


def test_a_prefix_of_two_is_ambiguous(hive: Hive) -> None:
    """Both are named."""
    for number in (1, 2):
        keep(hive, number, 100)
    error = hive.refuses("session.resume", id=record_id(1)[:8])
    assert error["code"] == "ambiguous"
    assert record_id(1) in error["message"]
    assert record_id(2) in error["message"]


@pytest.mark.parametrize("verb", ["session.resume", "session.export"])
def test_what_is_no_session_is_said(hive: Hive, verb: str) -> None:
    """A note or entity of another kind is invalid input; what does not exist, an edge, and a name are not found."""
    note = hive.call("create", kind="observation", content="x")["id"]
    entity = hive.call("create", kind="concept", name="session one")["id"]
    edge = hive.call("link", source_id=note, target_id=entity, relation="annotates")["id"]
    assert [hive.refuses(verb, id=record)["kind"] for record in (note, entity)] == ["invalid_input"] * 2
    assert "observation" in hive.refuses(verb, id=note)["message"]
    assert [hive.refuses(verb, id=text)["kind"] for text in (edge, MISSING, "session one", "abc")] == ["not_found"] * 4


def test_json_and_markdown_say_the_same(hive: Hive) -> None:
    """Markdown has a heading, one line for each fact, a blank line, and the content as it is stored."""
    keep(hive, 1, 1_000_000)
    bare = hive.call("session.export", id=record_id(1), format="markdown")
    assert bare == {
        "ok": True,
        "format": "markdown",
        "content": f"# Session {record_id(1)}\n\n- Created: {iso(1_000_000)}\n\nsession 1",
    }
    stored = hive.call(
        "session.store",
        content="# a\r\n\n",
        title="One\n# two",
        provider="codex",
        provider_session_id="s",
        tags=["a", "b"],
    )["session"]
    assert hive.call("session.export", id=stored["id"]) == {"ok": True, "format": "json", "session": stored}
    assert hive.call("session.export", id=stored["id"], format="markdown")["content"] == (
        "# One # two\n\n- Provider: codex\n- Provider session id: s\n- Tags: a, b\n"
        f"- Created: {stored['created_at']}\n\n# a\r\n\n"
    )


def test_a_session_that_other_hands_wrote_is_shown(hive: Hive) -> None:
    """What is not of the form of the verbs counts as not there; the properties show it."""
    session = keep(hive, 1, 100, provider=7, tags={"a": 1}, agent_id="a1")
    shown = hive.call("session.resume", id=session)["session"]
    assert (shown["provider"], shown["tags"]) == (None, [])
    assert shown["properties"] == {"provider": 7, "tags": {"a": 1}, "agent_id": "a1"}
    assert hive.call("session.list")["sessions"][0]["provider"] is None


def test_the_default_presentation_keeps_full_id(hive: Hive) -> None:
    """id is short for agents, full_id is what they pass on; a table leaves it out."""
    session = hive.call("session.store", content="x", title="Pages")["session"]["id"]
    row = hive.ok("session.list()", presentation="agent")["sessions"][0]
    assert (row["id"], row["full_id"]) == (session[:8], session)
    assert session not in hive.ok("session.list()", presentation="agent", format="table")
