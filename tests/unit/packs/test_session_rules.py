"""The rules of sessions hold for the generic verbs too, and random lives of sessions agree with a model of them."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, rule

from support.client import Hive, open_hive

BAD: list[tuple[dict[str, Any], str]] = [
    ({"content": " "}, "'content'"),
    ({"content": "x", "properties": {"provider": " "}}, "'provider'"),
    ({"content": "x", "properties": {"provider": 7}}, "'provider'"),
    ({"content": "x", "properties": {"provider_session_id": ""}}, "'provider_session_id'"),
    ({"content": "x", "properties": {"provider_session_id": ["s"]}}, "'provider_session_id'"),
    ({"content": "x", "properties": {"tags": "a"}}, "'tags'"),
    ({"content": "x", "properties": {"tags": ["a", 7]}}, "'tags[1]'"),
    ({"content": "x", "tags": ["a", "b", " "]}, "'tags[2]'"),
]


@pytest.fixture
def hive() -> Iterator[Hive]:
    """A fresh server with the session pack and nothing that it does not need."""
    with open_hive(runtime_packs=["kg", "session"]) as opened:
        yield opened


def test_a_created_session_is_as_a_stored_one(hive: Hive) -> None:
    """create normalises as store does; what store has no parameter for is kept."""
    properties = {"provider": " codex ", "provider_session_id": None, "agent_id": "a1"}
    note = hive.call("create", kind="session", name="Pages", content="x", tags=[" docs "], properties=properties)
    assert note["properties"] == {"provider": "codex", "provider_session_id": None, "agent_id": "a1", "tags": ["docs"]}
    shown = hive.call("session.resume", id=note["id"])["session"]
    assert [shown[name] for name in ("title", "provider", "provider_session_id", "tags")] == [
        "Pages",
        "codex",
        None,
        ["docs"],
    ]
    assert hive.call("session.list", agent_id="a1", provider="codex")["total"] == 1


@pytest.mark.parametrize(("fields", "says"), BAD)
def test_create_refuses_what_store_does(hive: Hive, fields: dict[str, Any], says: str) -> None:
    """Alone and in a bulk call, where the good ones are kept."""
    error = hive.refuses("create", kind="session", **fields)
    assert error["kind"] == "invalid_input"
    assert says in error["message"]
    items = [{"kind": "session", **fields}, {"kind": "session", "content": "good"}]
    report = hive.call("create", items=items, atomic=False)
    assert (report["created"], report["failed"]) == (1, 1)
    assert hive.call("session.list")["total"] == 1


@pytest.mark.parametrize(("fields", "says"), BAD)
def test_update_refuses_it_too(hive: Hive, fields: dict[str, Any], says: str) -> None:
    """And leaves the session as it was."""
    stored = hive.call("session.store", content="good", provider="codex", tags=["a"])["session"]
    error = hive.refuses("update", id=stored["id"], **fields)
    assert error["kind"] == "invalid_input"
    assert says in error["message"]
    assert hive.call("session.resume", id=stored["id"])["session"] == stored


def test_a_proposal_is_held_to_them(hive: Hive) -> None:
    """What an approval would store is refused, and the proposal says why."""
    bad = {"kind": "add_note", "note": {"kind": "session", "content": "x", "properties": {"provider": " "}}}
    proposal = hive.call("propose", title="T", description="D", changeset=bad)["full_id"]
    reviewed = hive.as_actor("ada").call("review", id=proposal, decision="approve")
    assert reviewed["status"] == "approved"
    assert "'provider'" in str(reviewed)
    assert hive.call("session.list")["total"] == 0


def test_a_changed_session_is_found_by_what_it_is_now(hive: Hive) -> None:
    """A new provider moves it between lists, null takes it out of them; created_at and so its place stay."""
    session = hive.call("session.store", content="x", provider="codex")["session"]["id"]
    hive.call("update", id=session, properties={"provider": " openai "})
    assert [hive.call("session.list", provider=name)["total"] for name in ("codex", "openai")] == [0, 1]
    hive.call("update", id=session, properties={"provider": None})
    assert [hive.call("session.list", provider=name)["total"] for name in ("codex", "openai")] == [0, 0]
    assert hive.call("session.resume", id=session)["session"]["provider"] is None


def test_a_merged_session_is_one(hive: Hive) -> None:
    """The one that is left is a session by the rules; the other one is gone from the list."""
    into, gone = (
        hive.call("session.store", content=text, title="Pages", provider="codex", tags=[text])["session"]["id"]
        for text in ("one", "two")
    )
    hive.call("merge", into_id=into, from_id=gone)
    page = hive.call("session.list")
    assert [row["id"] for row in page["sessions"]] == [into]
    assert page["sessions"][0]["provider"] == "codex"
    hive.call("update", id=into, properties={"provider": "openai"})


PROVIDERS = [None, "codex", "openai"]
NAMESPACES = ["local", "team"]
providers = st.sampled_from(PROVIDERS)
namespaces = st.sampled_from(NAMESPACES)
texts = st.sampled_from(["one", " two ", "", " ", "\u00e9\n"])
names = st.none() | st.sampled_from(["Pages", " Pages ", "", " "])


class Lives(RuleBasedStateMachine):
    """Sessions are stored, created, changed, deleted and restored; a list of plain objects is the judge."""

    made = Bundle("made")

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        local: Hive = self.stack.enter_context(open_hive(runtime_packs=["kg", "session"]))
        self.hives = {"local": local, "team": local.as_actor(None, "team")}
        self.model: dict[str, dict[str, Any]] = {}

    def teardown(self) -> None:
        """Close the store."""
        self.stack.close()

    def attempt(self, namespace: str, good: bool, verb: str, **args: Any) -> Any:
        """The result, None when it had to be refused and was."""
        if good:
            return self.hives[namespace].call(verb, **args)
        assert self.hives[namespace].refuses(verb, **args)["kind"] == "invalid_input"
        return None

    @rule(target=made, namespace=namespaces, content=texts, title=names, provider=providers, generic=st.booleans())
    def store(self, namespace: str, content: str, title: str | None, provider: str | None, generic: bool) -> Any:
        """Stored or created alike, a good session is remembered and a bad one is not."""
        good = bool(content.strip()) and (title is None or bool(title.strip()))
        if generic:
            fields = {
                "kind": "session",
                "name": title,
                "properties": {} if provider is None else {"provider": provider},
            }
            answer = self.attempt(namespace, good, "create", content=content, **fields)
        else:
            answer = self.attempt(namespace, good, "session.store", content=content, title=title, provider=provider)
        if answer is None:
            return multiple()
        session: str = answer["id"] if generic else answer["session"]["id"]
        self.model[session] = {
            "namespace": namespace,
            "content": content,
            "title": None if title is None else title.strip(),
            "provider": provider,
            "at": answer["created_at"] if generic else answer["session"]["created_at"],
            "live": True,
        }
        return session

    @rule(session=made, content=texts, provider=providers)
    def change(self, session: str, content: str, provider: str | None) -> None:
        """Only a live session changes, and only into a good one."""
        known = self.model[session]
        args = {"id": session, "content": content, "properties": {"provider": provider}}
        if not known["live"]:
            assert self.hives["local"].refuses("update", **args)["kind"] == "not_found"
        elif self.attempt("local", bool(content.strip()), "update", **args) is not None:
            known.update(content=content, provider=provider)

    @rule(session=made)
    def flip(self, session: str) -> None:
        """A live session is deleted, a deleted one restored."""
        known = self.model[session]
        self.hives[known["namespace"]].call("delete" if known["live"] else "restore", id=session)
        known["live"] = not known["live"]

    @rule(session=made, namespace=namespaces, short=st.booleans())
    def resume(self, session: str, namespace: str, short: bool) -> None:
        """A full id finds it from everywhere, a short one where it lives, nothing finds a deleted one."""
        known = self.model[session]
        args = {"id": session[:12] if short else session}
        if known["live"] and (not short or namespace == known["namespace"]):
            answer = self.hives[namespace].call("session.resume", **args)["session"]
            assert answer["id"] == session
            assert {name: answer[name] for name in ("namespace", "content", "title", "provider")} == {
                name: known[name] for name in ("namespace", "content", "title", "provider")
            }
            text = self.hives[namespace].call("session.export", format="markdown", **args)["content"]
            assert text.endswith("\n\n" + known["content"])
        else:
            assert self.hives[namespace].refuses("session.resume", **args)["kind"] == "not_found"

    @rule(namespace=namespaces, provider=providers, limit=st.integers(1, 4), offset=st.integers(0, 4), since=st.data())
    def page(self, namespace: str, provider: str | None, limit: int, offset: int, since: Any) -> None:
        """A page is the part of the sorted model that it says."""
        moments = sorted(known["at"] for known in self.model.values())
        bound = since.draw(st.sampled_from([None, *moments]))
        wanted = sorted(
            (
                (known["at"], session)
                for session, known in self.model.items()
                if known["live"]
                and known["namespace"] == namespace
                and provider in (None, known["provider"])
                and (bound is None or known["at"] >= bound)
            ),
            reverse=True,
        )
        answer = self.hives[namespace].call("session.list", provider=provider, limit=limit, offset=offset, since=bound)
        assert [row["full_id"] for row in answer["sessions"]] == [one for _, one in wanted[offset : offset + limit]]
        assert answer["total"] == len(wanted)

    @invariant()
    def nothing_is_lost(self) -> None:
        """Each namespace holds as many live sessions as the model."""
        for namespace, hive in self.hives.items():
            live = sum(known["live"] for known in self.model.values() if known["namespace"] == namespace)
            assert hive.call("session.list", limit=1)["total"] == live


@pytest.mark.slow
class TestLives(Lives.TestCase):
    """200 sequences: about 20 s."""

    settings = settings(
        max_examples=200,
        stateful_step_count=30,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


class TestFewLives(Lives.TestCase):
    """A few sequences, in every run."""

    settings = settings(max_examples=10, stateful_step_count=30, deadline=None, derandomize=True)
