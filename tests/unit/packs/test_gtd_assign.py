"""assign: what is stored of a task, what it may depend on, and that a repeated call makes no second one."""

import json
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hivekeep_contract.limits import TASK_PRIORITY, TASK_SALIENCE
from hivekeep_contract.models.gtd import AssignArgs
from support.client import Hive
from support.processes import PROGRAM, environment
from support.tasks import ABSENT, SECRET, add, gtd_hive, history, properties

CALLERS = 8


@pytest.fixture
def hive() -> Iterator[Hive]:
    """A fresh server with the gtd pack."""
    with gtd_hive() as opened:
        yield opened


def edges(hive: Hive, task: str) -> list[tuple[str, str, float]]:
    """(relation, target, weight) of the edges that start at a task, in order."""
    items = hive.call("list", kind="edge", source_id=task)["items"]
    return sorted((edge["relation"], edge["target_id"], edge["weight"]) for edge in items)


def count(hive: Hive) -> int:
    """How many tasks are stored."""
    return int(hive.call("gtd.census")["total_tasks"])


def test_a_bare_task_has_the_defaults(hive: Hive) -> None:
    """inbox and p2; get shows the status of the task and moves that of the row to lifecycle."""
    made = hive.call("gtd.assign", title=" Ship it ")
    assert (AssignArgs(title="x").priority, made["id"]) == (TASK_PRIORITY, made["full_id"])
    assert made == {
        "id": made["id"],
        "full_id": made["id"],
        "kind": "task",
        "title": "Ship it",
        "status": "inbox",
        "priority": "p2",
        "assignee": None,
        "due": None,
        "context_entity_id": None,
        "namespace": "local",
        "created_at": made["created_at"],
        "updated_at": made["created_at"],
        "properties": {"status": "inbox", "priority": "p2"},
    }
    note = hive.call("get", id=made["id"])
    assert (note["name"], note["content"], note["status"], note["lifecycle"]) == (
        "Ship it",
        "Ship it",
        "inbox",
        "active",
    )
    assert note["salience"] == 0.5
    (listed,) = hive.call("list", kind="task")["items"]
    assert (listed["status"], listed["lifecycle"]) == ("inbox", "active")


@pytest.mark.parametrize(("priority", "salience"), TASK_SALIENCE.items())
def test_the_salience_follows_the_priority(hive: Hive, priority: str, salience: float) -> None:
    """In either case of letters; it is stored in lower case."""
    task = add(hive, priority=priority.upper())
    note = hive.call("get", id=task)
    assert (note["properties"]["priority"], note["salience"]) == (priority, salience)


def test_everything_that_is_given_is_stored(hive: Hive) -> None:
    """Times in their canonical form, tags as given, the description also as the content."""
    entity = hive.call("create", kind="concept", name="LoRA")["id"]
    first = add(hive, "First")
    made = hive.call(
        "gtd.assign",
        title="Ship it",
        description="All of it.",
        status="todo",
        priority="p1",
        assignee=" agent:docs ",
        due="2026-07-05T09:00:00+02:00",
        start="2026-07-01",
        end="2026-07-05t10:00:00.5z",
        depends_on=[first, first[:8]],
        context_entity_id=entity.upper(),
        tags=["a", "B"],
    )
    assert made["properties"] == {
        "status": "inbox",
        "priority": "p1",
        "assignee": "agent:docs",
        "due": "2026-07-05T07:00:00.000000Z",
        "start": "2026-07-01T00:00:00.000000Z",
        "end": "2026-07-05T10:00:00.500000Z",
        "description": "All of it.",
        "tags": ["a", "B"],
        "depends_on": [first],
        "context_entity_id": entity,
    }
    assert hive.call("get", id=made["id"])["content"] == "All of it."
    assert edges(hive, made["id"]) == [("annotates", entity, 1.0), ("depends_on", first, 1.0)]


@pytest.mark.parametrize(
    "due", ["soon", "2026-13-01", "2026-07-05T09:00", "2026-07-05T09:00:00", "20260705", "2026-W27", "1783242000", ""]
)
def test_a_due_date_is_a_moment_or_a_date(hive: Hive, due: str) -> None:
    """A time without an offset is nobody's time; the message shows both accepted forms."""
    error = hive.refuses("gtd.assign", title="x", due=due)
    assert (error["kind"], error["domain_disposition"]) == ("invalid_input", "not_committed")
    assert "'due' must be an RFC 3339 timestamp such as" in error["message"]
    assert count(hive) == 0


def test_what_it_depends_on_must_be_a_task_of_the_caller(hive: Hive) -> None:
    """Each wrong reference refuses the call before anything is written."""
    ada = hive.as_actor("ada", "team-a", ["local"])
    good, elsewhere = add(ada), add(hive)
    note = ada.call("create", kind="observation", content="x")["id"]
    entity = ada.call("create", kind="concept", name="x")["id"]
    deleted = add(ada)
    ada.call("delete", id=deleted)
    before = count(ada)
    for reference, kind in (
        (note, "invalid_input"),
        (entity, "invalid_input"),
        (ABSENT, "not_found"),
        (deleted, "not_found"),
        (elsewhere, "not_found"),
        ("Ship it", "not_found"),
    ):
        error = ada.refuses("gtd.assign", title="x", depends_on=[good, reference])
        assert error["kind"] == kind, reference
        assert "depends_on" in error["message"]
    assert ada.refuses("gtd.assign", title="x", depends_on=[7])["kind"] == "invalid_input"
    assert count(ada) == before


def test_an_empty_list_of_dependencies_is_none(hive: Hive) -> None:
    """The member is left out."""
    task = add(hive, depends_on=[], tags=[], description="")
    assert properties(hive, task) == {"status": "inbox", "priority": "p2"}


def test_the_context_is_a_live_entity_of_the_caller(hive: Hive) -> None:
    """Notes and edges are named in the refusal, a prefix is not resolved, others are not found."""
    entity = hive.call("create", kind="concept", name="x")["id"]
    elsewhere = hive.as_actor("ada", "team-a").call("create", kind="concept", name="y")["id"]
    note = add(hive)
    assert "task" in hive.refuses("gtd.assign", title="x", context_entity_id=note)["message"]
    for absent in (ABSENT, elsewhere):
        assert hive.refuses("gtd.assign", title="x", context_entity_id=absent)["kind"] == "not_found"
    assert hive.refuses("gtd.assign", title="x", context_entity_id=entity[:8])["kind"] == "invalid_input"
    agent = hive.run(f'gtd.assign(title="x", context_entity_id="{entity}")', presentation="agent")["results"][0]
    assert agent["result"]["context_entity_id"] == entity
    hive.call("delete", id=entity)
    assert hive.refuses("gtd.assign", title="x", context_entity_id=entity)["kind"] == "not_found"
    assert count(hive) == 2


@pytest.mark.parametrize("field", ["title", "description", "assignee", "tags", "idempotency_key"])
def test_a_secret_is_refused_wherever_it_stands(hive: Hive, field: str) -> None:
    """Nothing is stored and the message does not show it."""
    args: dict[str, Any] = {"title": "x", field: [SECRET] if field == "tags" else SECRET}
    error = hive.refuses("gtd.assign", **args)
    assert error["kind"] == "secret_detected"
    assert SECRET[6:] not in error["message"]
    assert count(hive) == 0


def test_unknown_arguments_are_refused(hive: Hive) -> None:
    """The one that was probably meant is named."""
    assert "assignee" in hive.refuses("gtd.assign", title="x", asignee="ada")["message"]


# repeated calls


CONTENT: dict[str, Any] = {
    "title": "Ship it",
    "description": "All of it.",
    "status": "next",
    "priority": "p1",
    "assignee": "ada",
    "due": "2026-07-05",
    "start": "2026-07-01",
    "end": "2026-07-09",
    "tags": ["a", "b"],
}
OTHERS: dict[str, Any] = {
    "title": "Ship that",
    "description": "Half of it.",
    "status": "active",
    "priority": "p0",
    "assignee": "bob",
    "due": "2026-07-06",
    "start": "2026-07-02",
    "end": "2026-07-10",
    "tags": ["a"],
}


def test_a_repeated_call_answers_the_stored_task(hive: Hive) -> None:
    """In whatever spelling; no second task, edge or event."""
    blocker, other = add(hive), add(hive)
    first = hive.call("gtd.assign", **CONTENT, depends_on=[blocker, other], idempotency_key="k")
    events = len(hive.events(event_kinds=["note_created", "link_created"]))
    said = {**CONTENT, "priority": "P1", "due": "2026-07-05T02:00:00+02:00", "tags": ["b", "a"]}
    again = hive.call("gtd.assign", **said, depends_on=[other[:8], blocker], idempotency_key="k")
    assert again == {**first, "replayed": True}
    assert len(hive.events(event_kinds=["note_created", "link_created"])) == events
    assert count(hive) == 3


def test_a_task_that_moved_on_is_still_the_one_that_was_asked_for(hive: Hive) -> None:
    """Its first status counts, and a dependency that was deleted meanwhile is no reason to refuse."""
    blocker = add(hive)
    made = hive.call("gtd.assign", title="x", status="next", depends_on=[blocker[:8]], idempotency_key="k")
    hive.call("gtd.transition", id=made["id"], status="active")
    hive.call("gtd.complete", id=made["id"])
    hive.call("delete", id=blocker)
    again = hive.call("gtd.assign", title="x", status="next", depends_on=[blocker[:8]], idempotency_key="k")
    assert (again["id"], again["status"], again["replayed"]) == (made["id"], "done", True)
    error = hive.refuses("gtd.assign", title="x", status="done", idempotency_key="k")
    assert error["kind"] == "invalid_input"
    error = hive.refuses("gtd.assign", title="x", status="active", depends_on=[blocker[:8]], idempotency_key="k")
    assert error["code"] == "idempotency_key_conflict"


@pytest.mark.parametrize("field", sorted(OTHERS))
def test_other_content_under_a_key_is_a_conflict(hive: Hive, field: str) -> None:
    """Any single difference counts; nothing is written."""
    made = hive.call("gtd.assign", **CONTENT, idempotency_key="k")
    error = hive.refuses("gtd.assign", **{**CONTENT, field: OTHERS[field]}, idempotency_key="k")
    assert (error["kind"], error["domain_disposition"]) == ("conflict", "not_committed")
    assert error["details"] == {"reason": "idempotency_key_conflict", "key": "k", "existing_id": made["id"]}
    assert count(hive) == 1


def test_other_references_under_a_key_are_a_conflict(hive: Hive) -> None:
    """Dependencies and context count as well."""
    entity = hive.call("create", kind="concept", name="x")["id"]
    one, two = add(hive), add(hive)
    said = {"title": "x", "idempotency_key": "k"}
    hive.call("gtd.assign", **said, depends_on=[one], context_entity_id=entity)
    for other in (
        {"depends_on": [two], "context_entity_id": entity},
        {"depends_on": [one, two], "context_entity_id": entity},
        {"depends_on": [one]},
        {"context_entity_id": entity},
    ):
        assert hive.refuses("gtd.assign", **said, **other)["code"] == "idempotency_key_conflict"


def test_a_key_belongs_to_a_namespace_and_a_live_task(hive: Hive) -> None:
    """Another namespace has keys of its own; a deleted holder frees its key and cannot come back to a taken one."""
    first = add(hive, idempotency_key="k")
    assert add(hive.as_actor("ada", "team-a"), idempotency_key="k") != first
    hive.call("delete", id=first)
    second = add(hive, idempotency_key="k")
    assert second != first
    assert hive.refuses("restore", id=first)["code"] == "restore_key_conflict"


@pytest.mark.parametrize("key", ["", "x" * 513, "é" * 257, "a\x00b"])
def test_a_key_has_1_to_512_bytes(hive: Hive, key: str) -> None:
    """Counted in UTF-8, without U+0000."""
    assert "idempotency_key" in hive.refuses("gtd.assign", title="x", idempotency_key=key)["message"]
    assert add(hive, idempotency_key="é" * 256)


def test_a_holder_that_the_policy_hides_is_not_shown(hive: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """The conflict names the key alone."""
    from hivekeep.packs.context import Context

    add(hive, idempotency_key="k")
    monkeypatch.setattr(Context, "permits", lambda self, verb, args: False)
    error = hive.refuses("gtd.assign", title="Do it", idempotency_key="k")
    assert error["details"] == {"reason": "idempotency_key_conflict", "key": "k"}


def test_a_repeated_call_finds_its_task_after_a_restart(tmp_path: Path) -> None:
    """The key is in the file, not in the process."""
    said = {"title": "Ship it", "status": "next", "idempotency_key": "k"}
    with gtd_hive(tmp_path / "hive.db") as hive:
        first = hive.call("gtd.assign", **said)
        hive.call("gtd.transition", id=first["id"], status="active")
    with gtd_hive(tmp_path / "hive.db") as hive:
        again = hive.call("gtd.assign", **said)
        assert (again["id"], again["replayed"], again["status"]) == (first["id"], True, "active")
        assert history(hive, first["id"]) == [("next", "active", None)]
        assert count(hive) == 1


def test_eight_callers_at_once_make_one_task(tmp_path: Path) -> None:
    """Each of them on a server of its own; one stores it and seven are told of it."""
    path = tmp_path / "hive.db"
    with gtd_hive(path):
        pass
    barrier = threading.Barrier(CALLERS)
    answers: list[dict[str, Any]] = []

    def call() -> None:
        with gtd_hive(path) as hive:
            barrier.wait()
            answers.append(hive.call("gtd.assign", title="Ship it", idempotency_key="k"))

    threads = [threading.Thread(target=call) for _ in range(CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({answer["id"] for answer in answers}) == 1
    assert sorted(answer.get("replayed", False) for answer in answers) == [False] + [True] * 7
    with gtd_hive(path) as hive:
        assert count(hive) == 1


@pytest.mark.slow
def test_eight_processes_at_once_make_one_task_of_each_key(tmp_path: Path) -> None:
    """About 8 s: 20 keys asked for by 8 processes at once, each in an order of its own; 20 tasks, no refusal."""
    path = tmp_path / "hive.db"
    with gtd_hive(path):
        pass
    keys = [f"key {number}" for number in range(20)]
    running = []
    for caller in range(CALLERS):
        order = keys[caller:] + keys[:caller]
        ops = json.dumps([{"tool": "gtd.assign", "args": {"title": key, "idempotency_key": key}} for key in order])
        running.append(
            subprocess.Popen(
                [*PROGRAM, "exec", "--strict", ops],
                cwd=tmp_path,
                env=environment(
                    tmp_path, HIVEKEEP_DB=str(path), HIVEKEEP_PACKS="kg,gtd", HIVEKEEP_STORAGE_DISK_RESERVE_BYTES="0"
                ),
                stdout=subprocess.PIPE,
            )
        )
    outputs = [process.communicate(timeout=120)[0] for process in running]
    assert [process.returncode for process in running] == [0] * CALLERS
    results = [entry["result"] for output in outputs for entry in json.loads(output)["results"]]
    assert len({result["id"] for result in results}) == len(keys)
    assert sum(not result.get("replayed", False) for result in results) == len(keys)
    with gtd_hive(path) as hive:
        assert count(hive) == len(keys)
