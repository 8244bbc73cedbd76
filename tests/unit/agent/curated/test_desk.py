"""The curated memory as a person works with it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from hivekeep.agent.curated import lifecycle, views
from hivekeep.agent.curated.desk import Desk
from hivekeep.storage.agent_entries import EntryFilter
from hivekeep.storage.sqlite import open_store
from hivekeep_contract.gateway_errors import Conflict, GatewayError, NotFound, SecurityRejection, ValidationError
from hivekeep_contract.models import gateway as models
from support.stores import OPTIONS

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def add(desk: Desk, title: str, **said: Any) -> str:
    """The id of a new entry of the workspace demo."""
    told = desk.record("demo", {"kind": "fact", "title": title, "body": f"About {title}.", **said})
    return str(told["entry"]["entryId"])


def titles(told: dict[str, Any]) -> list[str]:
    """The titles of a list."""
    return [entry["title"] for entry in told["items"]]


def test_an_entry_is_shown_with_its_links_and_history(desk: Desk) -> None:
    """What was done to it, oldest first, and both ends of each link."""
    first, second = add(desk, "First"), add(desk, "Second")
    desk.revise(first, 1, {"summary": "Short."})
    desk.verify(first, 2)
    desk.link(second, first, "supports")
    told = desk.show(first)
    assert [row["revision"] for row in told["revisions"]] == [1, 2]
    assert [(row["operation"], row["revision"], row["actor"]) for row in told["audit"]] == [
        ("record", 1, "ada"),
        ("revise", 2, "ada"),
        ("promote", 2, "ada"),
    ]
    (link,) = told["links"]
    assert (link["fromId"], link["toId"], link["relation"]) == (second, first, "supports")
    assert (told["entry"]["summary"], told["entry"]["status"], told["untrusted"]) == ("Short.", "verified", True)


def test_the_view_has_the_fields_of_the_contract(desk: Desk) -> None:
    """All of them and no others."""
    told = desk.entry(add(desk, "First"))
    assert told.keys() == models.EntryView.__annotations__.keys()


def test_an_old_revision_is_shown_as_it_was(desk: Desk) -> None:
    """One that there was not is not found."""
    entry_id = add(desk, "First")
    desk.revise(entry_id, 1, {"title": "Later"})
    assert desk.show(entry_id, 1)["revision"]["title"] == "First"
    assert desk.show(entry_id, 2)["revision"]["title"] == "Later"
    with pytest.raises(NotFound):
        desk.show(entry_id, 3)


def test_a_revision_keeps_what_is_not_given(desk: Desk) -> None:
    """A summary is taken away by null, tags by an empty list."""
    entry_id = add(desk, "First", summary="Short.", tags=["a"], scope={"area": "ci"})
    entry = desk.revise(entry_id, 1, {"body": "New."})["entry"]
    kept = {name: entry[name] for name in ("title", "body", "summary", "tags", "scope")}
    assert kept == {"title": "First", "body": "New.", "summary": "Short.", "tags": ["a"], "scope": {"area": "ci"}}
    entry = desk.revise(entry_id, 2, {"summary": None, "tags": []})["entry"]
    assert (entry["summary"], entry["tags"], entry["revision"]) == (None, [], 3)


@pytest.mark.parametrize("cut", [slice(8), slice(20), slice(None)])
def test_eight_digits_name_an_entry(desk: Desk, cut: slice) -> None:
    """Or more, up to the whole id, in either case and without hyphens."""
    entry_id = add(desk, "First")
    assert desk.entry(entry_id[cut])["entryId"] == entry_id
    assert desk.entry(entry_id[cut].replace("-", "").upper())["entryId"] == entry_id


def test_what_names_no_entry(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A word, digits that no entry has, digits that two entries have."""
    with pytest.raises(ValidationError) as word:
        desk.entry("first")
    assert (word.value.reason, word.value.field) == ("wrong_value", "/entryId")
    with pytest.raises(NotFound):
        desk.entry("00000000")
    ids = iter([f"12345678-0000-4000-8000-00000000000{digit}" for digit in "01"])
    monkeypatch.setattr(lifecycle, "new_id", lambda: next(ids))
    add(desk, "First")
    add(desk, "Second")
    with pytest.raises(ValidationError) as two:
        desk.entry("12345678")
    assert two.value.reason == "ambiguous"


def test_a_list_without_a_text_is_newest_first(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """With filters, of one workspace, cut at the limit."""
    moments = count(1_000_000, 1_000)
    monkeypatch.setattr("hivekeep.agent.curated.desk.moment_now", lambda: next(moments))
    ids = {title: add(desk, title, tags=[f"Tag {title}"]) for title in ("a", "b", "c")}
    desk.record("other", {"kind": "fact", "title": "elsewhere", "body": ""})
    add(desk, "d", kind="lesson")
    desk.supersede(ids["a"], ids["b"])
    listed: dict[tuple[Any, ...], list[str]] = {
        (): ["d", "c", "b", "a"],
        (("kind", "lesson"),): ["d"],
        (("status", "superseded"),): ["a"],
        (("tag_key", "tag  B"),): ["b"],
        (("superseded", False),): ["d", "c", "b"],
    }
    for filters, expected in listed.items():
        assert titles(desk.search("demo", "", EntryFilter(**dict(filters)), 10)) == expected
    assert titles(desk.search("demo", " ", EntryFilter(), 2)) == ["d", "c"]


def test_a_text_finds_what_could_be_delivered(desk: Desk) -> None:
    """By words, by tags, by parts of words; not what is superseded or switched off, and only what the filters admit."""
    ids = {title: add(desk, title, tags=["ranking"]) for title in ("tokenizer", "writer", "reader")}
    assert titles(desk.search("demo", "tokenizer", EntryFilter(), 10)) == ["tokenizer"]
    assert set(titles(desk.search("demo", "ranking", EntryFilter(), 10))) == {"tokenizer", "writer", "reader"}
    assert titles(desk.search("demo", "okenize", EntryFilter(), 10)) == ["tokenizer"]
    desk.disable(ids["writer"])
    desk.supersede(ids["reader"], ids["writer"])
    assert titles(desk.search("demo", "ranking", EntryFilter(), 10)) == ["tokenizer"]
    assert titles(desk.search("demo", "ranking", EntryFilter(kind="lesson"), 10)) == []
    assert titles(desk.search("other", "ranking", EntryFilter(), 10)) == []


def test_a_refused_entry_leaves_nothing(desk: Desk) -> None:
    """A credential in content, in a revision, or in the name of a workspace is in no byte of the store."""
    entry_id = add(desk, "First")
    attempts = [
        lambda: desk.record("demo", {"kind": "fact", "title": "T", "body": f"Use {TOKEN}."}),
        lambda: desk.record(TOKEN, {"kind": "fact", "title": "T", "body": ""}),
        lambda: desk.revise(entry_id, 1, {"summary": TOKEN}),
        lambda: desk.revise(entry_id, 1, {"scope": {"deep": [TOKEN]}}),
    ]
    for attempt in attempts:
        with pytest.raises(SecurityRejection):
            attempt()
    with desk.engine.read() as tx:
        tx.run("PRAGMA wal_checkpoint")
    assert len(desk.show(entry_id)["audit"]) == 1
    for suffix in ("", "-wal"):
        assert TOKEN.encode() not in Path(desk.engine.path + suffix).read_bytes()


def test_processes_that_record_the_same_make_one_entry(desk: Desk) -> None:
    """Each with a store of its own on one file, all at once; one of them makes it, all are told which it is."""

    def record(_: int) -> dict[str, Any]:
        engine = open_store(desk.engine.path, OPTIONS)
        try:
            return Desk(engine, "ada", desk.folder).record("demo", {"kind": "fact", "title": "Same", "body": ""})
        finally:
            engine.close()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(record, range(16)))
    assert len({answer["entry"]["entryId"] for answer in answers}) == 1
    assert sum(answer["created"] for answer in answers) == 1


def test_of_two_who_revise_one_revision_one_is_refused(desk: Desk) -> None:
    """The other one has to read again; no text is lost."""
    entry_id = add(desk, "First")

    def revise(name: str) -> str:
        engine = open_store(desk.engine.path, OPTIONS)
        try:
            Desk(engine, name, desk.folder).revise(entry_id, 1, {"body": f"By {name}."})
        except Conflict as why:
            return why.reason
        finally:
            engine.close()
        return "done"

    with ThreadPoolExecutor(4) as pool:
        outcomes = sorted(pool.map(revise, ["ada", "bob", "eve", "kim"]))
    assert outcomes == ["done", "revision_differs", "revision_differs", "revision_differs"]
    assert desk.entry(entry_id)["revision"] == 2


def test_confidence_is_a_number_from_0_to_1(desk: Desk) -> None:
    """It is no part of the content, so equal content is one entry whatever it is."""
    assert desk.entry(add(desk, "First", confidence=0.25))["confidence"] == 0.25
    assert desk.entry(add(desk, "First", confidence=1))["confidence"] == 0.25
    for wrong, reason in (
        (1.5, "wrong_value"),
        (True, "wrong_type"),
        ("1", "wrong_type"),
        (float("nan"), "wrong_value"),
    ):
        with pytest.raises(GatewayError) as why:
            add(desk, "Second", confidence=wrong)
        assert (why.value.reason, why.value.field) == (reason, "/confidence")


def test_a_view_has_exact_milliseconds(desk: Desk) -> None:
    """What is stored reads back as it was told."""
    told = desk.entry(add(desk, "First"))
    with desk.engine.read() as tx:
        (stored,) = tx.all("SELECT created_at, updated_at FROM agent_entries")
    assert all(moment % 1000 == 0 for moment in stored)
    assert [views.ts(moment) for moment in stored] == [told["createdAt"], told["updatedAt"]]
