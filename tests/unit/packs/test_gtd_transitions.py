"""complete and transition: every step of the table in the registry, allowed and refused, and what it leaves."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from hivekeep.storage.task_fields import FINAL_STATUSES, OPEN_STATUSES, STATUSES
from hivekeep_contract.vocabulary import ENUM_ALIASES, TRANSITIONS
from support.client import Hive
from support.tasks import ABSENT, SECRET, add, gtd_hive, history, properties, store

WAYS = TRANSITIONS["gtd.status"]
PAIRS = list(product(STATUSES, STATUSES))


@pytest.fixture(scope="module")
def hive() -> Iterator[Hive]:
    """One server for all steps; each test has tasks of its own."""
    with gtd_hive() as opened:
        yield opened


def standing(hive: Hive, status: str) -> str:
    """A new task that stands there."""
    if status in OPEN_STATUSES:
        return add(hive, status=status)
    task = add(hive)
    hive.call("gtd.complete", id=task, status=status)
    return task


def test_the_table_is_the_documented_one() -> None:
    """Seven statuses, two of them final; nothing leads back to the inbox."""
    assert STATUSES == ("inbox", "next", "waiting", "someday", "active", "done", "cancelled")
    assert FINAL_STATUSES == ("done", "cancelled")
    assert {start: set(ends) for start, ends in WAYS.items()} == {
        "inbox": {"next", "waiting", "someday", "active", "done", "cancelled"},
        "next": {"waiting", "someday", "active", "done", "cancelled"},
        "active": {"next", "waiting", "done", "cancelled"},
        "waiting": {"next", "active", "done", "cancelled"},
        "someday": {"next", "active", "done", "cancelled"},
        "done": set(),
        "cancelled": set(),
    }


@pytest.mark.parametrize(("start", "end"), [pair for pair in PAIRS if pair[1] in WAYS[pair[0]]])
def test_an_allowed_step_is_carried_out(hive: Hive, start: str, end: str) -> None:
    """The answer, the stored task and the row of its history say the same; completed_at is set by done alone."""
    task = standing(hive, start)
    moved = hive.call("gtd.transition", id=task, status=end, note="because")
    assert moved == {
        "transitioned": True,
        "id": task,
        "full_id": task,
        "from": start,
        "to": end,
        "is_terminal": end in FINAL_STATUSES,
        "title": "Do it",
        "priority": "p2",
        "assignee": None,
        "due": None,
        "audit_persisted": True,
    }
    stored = properties(hive, task)
    assert (stored["status"], stored["transition_note"]) == (end, "because")
    assert ("completed_at" in stored) == (end == "done")
    assert history(hive, task) == [(start, end, "because")]


@pytest.mark.parametrize(
    ("start", "end"), [pair for pair in PAIRS if pair[1] not in WAYS[pair[0]] and pair[0] != pair[1]]
)
def test_any_other_step_is_refused(hive: Hive, start: str, end: str) -> None:
    """The message names what is allowed, or that nothing is; the task and its history stay."""
    task = standing(hive, start)
    before, steps = properties(hive, task), history(hive, task)
    error = hive.refuses("gtd.transition", id=task, status=end, note="because")
    assert (error["kind"], error["domain_disposition"]) == ("invalid_input", "unknown")
    assert (", ".join(WAYS[start]) or f"is {start}, and nothing leads on") in error["message"]
    assert (properties(hive, task), history(hive, task)) == (before, steps)


@pytest.mark.parametrize("status", STATUSES)
def test_staying_is_no_step(hive: Hive, status: str) -> None:
    """Also in a final status; neither the note nor a row of the history is stored, and the version stays."""
    task = standing(hive, status)
    before, steps = hive.call("get", id=task), history(hive, task)
    answer = {
        "transitioned": False,
        "id": task,
        "full_id": task,
        "from": status,
        "to": status,
        "note": "already in target status",
    }
    assert hive.call("gtd.transition", id=task, status=status) == answer
    assert hive.call("gtd.transition", id=task, status=status, note="again") == {**answer, "note_recorded": False}
    assert (hive.call("get", id=task), history(hive, task)) == (before, steps)


@pytest.mark.parametrize(("start", "end"), list(product(OPEN_STATUSES, FINAL_STATUSES)))
def test_complete_leads_from_every_open_status(hive: Hive, start: str, end: str) -> None:
    """completed_at is set for both ends; the result is kept."""
    task = standing(hive, start)
    ended = hive.call("gtd.complete", id=task, status=end, result="so it is")
    stored = properties(hive, task)
    assert ended == {
        "completed": True,
        "id": task,
        "full_id": task,
        "from": start,
        "to": end,
        "completed_at": stored["completed_at"],
        "is_terminal": True,
        "audit_persisted": True,
    }
    assert (stored["status"], stored["result"]) == (end, "so it is")
    assert history(hive, task) == [(start, end, "so it is")]


@pytest.mark.parametrize(("start", "end"), list(product(FINAL_STATUSES, FINAL_STATUSES)))
def test_complete_refuses_what_has_ended(hive: Hive, start: str, end: str) -> None:
    """Also for the same end: completing is an event that happens once."""
    task = standing(hive, start)
    assert f"is {start}" in hive.refuses("gtd.complete", id=task, status=end)["message"]


@pytest.mark.parametrize(("alias", "status"), sorted(ENUM_ALIASES["gtd.status"].items()))
def test_other_words_for_a_status(hive: Hive, alias: str, status: str) -> None:
    """transition and tasks understand them; assign and complete as far as a task may begin or end there."""
    tag = f"alias {alias}"
    task = add(hive, tags=[tag])
    if status != "inbox":
        assert hive.call("gtd.transition", id=task, status=alias)["to"] == status
    assert properties(hive, task)["status"] == status
    assert [row["id"] for row in hive.call("gtd.tasks", status=alias, tags=[tag])] == [task]
    if status in OPEN_STATUSES:
        assert hive.call("gtd.assign", title="x", status=alias)["status"] == status
        assert "done" in hive.refuses("gtd.complete", id=task, status=alias)["message"]
    else:
        assert hive.call("gtd.complete", id=add(hive), status=alias)["to"] == status
        assert "inbox" in hive.refuses("gtd.assign", title="x", status=alias)["message"]


@pytest.mark.parametrize("word", ["archived", "Done", " done", "", "DONE"])
def test_no_other_word_is_a_status(hive: Hive, word: str) -> None:
    """Words are compared letter for letter; the message lists what is accepted."""
    error = hive.refuses("gtd.transition", id=add(hive), status=word)
    assert (error["kind"], error["domain_disposition"]) == ("invalid_input", "not_committed")
    assert "cancelled" in error["message"]


@pytest.mark.parametrize("verb", ["gtd.complete", "gtd.transition"])
def test_an_unknown_stored_status_is_for_repair(hive: Hive, verb: str) -> None:
    """It is neither guessed nor overwritten."""
    task = add(hive)
    store(hive, task, status="archived")
    error = hive.refuses(verb, id=task, status="done")
    assert error["kind"] == "invalid_input"
    assert "'archived'" in error["message"]
    assert "gtd.repair" in error["message"]
    assert properties(hive, task)["status"] == "archived"


@pytest.mark.parametrize("stored", [None, 7, True, ["done"], {"is": "done"}])
def test_a_status_that_is_no_text_counts_as_inbox(hive: Hive, stored: Any) -> None:
    """For steps, for lists and for the answers of get."""
    task = add(hive, tags=[f"odd {stored!r}"])
    store(hive, task, status=stored)
    (listed,) = hive.call("gtd.tasks", status="inbox", tags=[f"odd {stored!r}"])
    assert (listed["id"], listed["status"]) == (task, "inbox")
    assert hive.call("gtd.transition", id=task, status="inbox")["transitioned"] is False
    assert hive.call("gtd.transition", id=task, status="next")["from"] == "inbox"


def test_a_missing_status_counts_as_inbox(hive: Hive) -> None:
    """The first step writes one."""
    task = add(hive)
    store(hive, task, drop=("status",))
    assert hive.call("gtd.complete", id=task)["from"] == "inbox"
    assert history(hive, task) == [("inbox", "done", None)]


def test_what_cannot_be_moved(hive: Hive) -> None:
    """Missing and deleted tasks are not found, other notes are named, secrets are refused before all that."""
    for verb, args in (("gtd.complete", {}), ("gtd.transition", {"status": "next"})):
        note = hive.call("create", kind="observation", content="x")["id"]
        assert "observation" in hive.refuses(verb, id=note, **args)["message"]
        entity = hive.call("create", kind="concept", name="x")["id"]
        assert hive.refuses(verb, id=entity, **args)["kind"] == "not_found"
        assert hive.refuses(verb, id=ABSENT, **args)["kind"] == "not_found"
        assert hive.refuses(verb, id="a title", **args)["kind"] == "not_found"
        task = add(hive)
        hive.call("delete", id=task)
        assert hive.refuses(verb, id=task, **args)["kind"] == "not_found"
        said = {"result": SECRET} if verb == "gtd.complete" else {"note": SECRET}
        assert hive.refuses(verb, id=ABSENT, **args, **said)["kind"] == "secret_detected"


def test_a_prefix_means_a_task_in_any_namespace(hive: Hive) -> None:
    """Who moves a task need not live where it does; the step is recorded where the task is."""
    task = add(hive)
    other = hive.as_actor("bob", "team-b")
    assert other.call("gtd.transition", id=task[:8], status="active")["id"] == task
    with hive.server.engine.read() as tx:
        row = tx.one("SELECT namespace FROM gtd_lifecycle_audit WHERE note_id = ?", (task,))
    assert row == ("local",)


def test_one_event_tells_of_a_step(hive: Hive) -> None:
    """task_transitioned, with both statuses; a task that stays has none."""
    task = add(hive)
    hive.call("gtd.transition", id=task, status="next")
    hive.call("gtd.transition", id=task, status="next")
    events = [event for event in hive.events(target_id=task) if event["kind"] == "task_transitioned"]
    assert [event["payload"] for event in events] == [{"id": task, "namespace": "local", "from": "inbox", "to": "next"}]


# duplicates


def test_a_duplicate_names_the_task_that_is_kept(hive: Hive) -> None:
    """By full id or prefix, with complete and with transition; tasks finds it by that."""
    kept = add(hive)
    one, two = add(hive), add(hive)
    hive.call("gtd.complete", id=one, status="cancelled", duplicate_of=kept)
    hive.call("gtd.transition", id=two, status="cancelled", duplicate_of=kept[:8])
    assert [properties(hive, task)["duplicate_of"] for task in (one, two)] == [kept, kept]
    assert [row["id"] for row in hive.call("gtd.tasks", duplicate_of=kept)] == [two, one]
    assert hive.call("gtd.tasks", duplicate_of=kept, status="done") == []


@pytest.mark.parametrize("verb", ["gtd.complete", "gtd.transition"])
def test_a_duplicate_must_be_another_live_task_and_be_given_up(hive: Hive, verb: str) -> None:
    """Each refusal leaves the task as it was."""
    task, gone = add(hive), add(hive)
    hive.call("delete", id=gone)
    note = hive.call("create", kind="observation", content="x")["id"]
    assert "cancelled" in hive.refuses(verb, id=task, status="done", duplicate_of=add(hive))["message"]
    assert "another task" in hive.refuses(verb, id=task, status="cancelled", duplicate_of=task)["message"]
    assert "observation" in hive.refuses(verb, id=task, status="cancelled", duplicate_of=note)["message"]
    for reference in (gone, ABSENT):
        assert hive.refuses(verb, id=task, status="cancelled", duplicate_of=reference)["kind"] == "not_found"
    assert properties(hive, task) == {"status": "inbox", "priority": "p2"}


def test_the_recorded_duplicate_can_be_repeated_and_not_changed(hive: Hive) -> None:
    """Saying the same again is a read; saying another one is refused; both also after the kept task was deleted."""
    kept, other, task, plain = add(hive), add(hive), add(hive), add(hive)
    hive.call("gtd.complete", id=task, status="cancelled", duplicate_of=kept)
    hive.call("gtd.complete", id=plain, status="cancelled")
    hive.call("delete", id=kept)
    again = hive.call("gtd.transition", id=task, status="cancelled", duplicate_of=kept)
    assert again["transitioned"] is False
    assert kept in hive.refuses("gtd.transition", id=task, status="cancelled", duplicate_of=other)["message"]
    error = hive.refuses("gtd.transition", id=plain, status="cancelled", duplicate_of=other)
    assert "not recorded" in error["message"]
