"""next and tasks: what is listed in which order, what each task waits for, and that indexes are walked."""

from collections.abc import Iterator
from typing import Any

import pytest

from hivekeep.identity.ids import new_id
from hivekeep.storage import notes
from hivekeep.storage import tasks as storage
from hivekeep.storage.json_text import dump
from hivekeep.storage.notes import NoteRow
from hivekeep.storage.task_fields import OPEN_STATUSES, STATUSES
from hivekeep.storage.tasks import TaskFilter
from hivekeep_contract.limits import ACTIONABLE_STATUSES, NEXT_CANDIDATES_MAX
from support.client import Hive
from support.stores import Explained
from support.tasks import ABSENT, add, gtd_hive, store, store_columns


@pytest.fixture
def hive() -> Iterator[Hive]:
    """A fresh server with the gtd pack."""
    with gtd_hive() as opened:
        yield opened


def waits(hive: Hive, task: str) -> tuple[str, bool, list[dict[str, Any]]]:
    """What tasks says of one task: its state, whether it is actionable, and what it waits for."""
    (row,) = [row for row in hive.call("gtd.tasks", limit=200) if row["id"] == task]
    return row["dependency_state"], row["actionable"], row["blocked_by"]


def upcoming(hive: Hive, **args: Any) -> list[str]:
    """The titles of gtd.next."""
    return [row["title"] for row in hive.call("gtd.next", **args)]


# what a task waits for


@pytest.mark.parametrize("status", [status for status in STATUSES if status not in ("done", "cancelled")])
def test_an_open_dependency_blocks(hive: Hive, status: str) -> None:
    """It is named with its status, wherever that is."""
    blocker = add(hive, status=status)
    task = add(hive, status="next", depends_on=[blocker])
    assert waits(hive, task) == ("blocked", False, [{"id": blocker, "state": "pending", "status": status}])


def test_a_finished_dependency_frees(hive: Hive) -> None:
    """The task is ready; actionable only in a status in which one works."""
    blocker = add(hive)
    tasks = {status: add(hive, status=status, depends_on=[blocker]) for status in OPEN_STATUSES}
    hive.call("gtd.complete", id=blocker)
    assert {status: waits(hive, task) for status, task in tasks.items()} == {
        status: ("ready", status in ACTIONABLE_STATUSES, []) for status in OPEN_STATUSES
    }


def test_what_can_never_be_done_breaks(hive: Hive) -> None:
    """Each reason has its name, and one of them is enough; the order is the stored one."""
    cancelled, deleted, pending, done, odd = (add(hive) for _ in range(5))
    elsewhere = add(hive.as_actor("ada", "team-a"))
    note = hive.call("create", kind="observation", content="x")["id"]
    entity = hive.call("create", kind="concept", name="x")["id"]
    hive.call("gtd.complete", id=cancelled, status="cancelled")
    hive.call("gtd.complete", id=done)
    hive.call("delete", id=deleted)
    store(hive, odd, status="archived")
    entries = [
        (done, None),
        (pending, "pending"),
        (cancelled, "cancelled"),
        (deleted, "soft_deleted"),
        (ABSENT, "missing"),
        (entity, "missing"),
        (elsewhere, "different_namespace"),
        (note, "wrong_kind"),
        (odd, "invalid"),
        ("not an id", "invalid"),
        (pending[:8], "invalid"),
        (pending.replace("-", ""), "invalid"),
        (7, "invalid"),
        (None, "invalid"),
        ({"id": done}, "invalid"),
        (done.upper(), None),
    ]
    task = add(hive, status="next")
    store(hive, task, depends_on=[value for value, _ in entries])
    told: list[dict[str, Any]] = [{"id": value, "state": state} for value, state in entries if state is not None]
    told[0]["status"] = "inbox"
    assert waits(hive, task) == ("broken", False, told)
    assert task not in [row["id"] for row in hive.call("gtd.next")]
    for value, state in entries:
        store(hive, task, depends_on=[value])
        expected = "ready" if state is None else "blocked" if state == "pending" else "broken"
        assert waits(hive, task)[0] == expected, value
        assert (task in [row["id"] for row in hive.call("gtd.next")]) == (expected == "ready"), value


@pytest.mark.parametrize("member", [None, "x", 7, {}, True])
def test_dependencies_that_are_no_list_break(hive: Hive, member: Any) -> None:
    """The stored value is shown; next leaves the task out."""
    task = add(hive, status="next")
    store(hive, task, depends_on=member)
    assert waits(hive, task) == ("broken", False, [{"id": member, "state": "invalid"}])
    assert hive.call("gtd.next") == []
    assert [row["id"] for row in hive.call("gtd.next", include_blocked=True)] == [task]


def test_an_empty_list_waits_for_nothing(hive: Hive) -> None:
    """Also one that another program stored."""
    task = add(hive, status="next")
    store(hive, task, depends_on=[])
    assert waits(hive, task) == ("ready", True, [])


def test_edges_never_hold_a_task_up(hive: Hive) -> None:
    """Only the property counts, and a change of it leaves the edges alone."""
    blocker, task = add(hive), add(hive, status="next")
    hive.call("link", source_id=task, target_id=blocker, relation="depends_on")
    assert waits(hive, task) == ("ready", True, [])
    made = add(hive, status="next", depends_on=[blocker])
    hive.call("update", id=made, properties={"depends_on": []})
    assert waits(hive, made) == ("ready", True, [])
    assert len(hive.call("list", kind="edge", source_id=made)["items"]) == 1


def test_a_restored_dependency_counts_again(hive: Hive) -> None:
    """Deleted, back and done: broken, blocked, ready."""
    blocker = add(hive)
    task = add(hive, depends_on=[blocker])
    hive.call("delete", id=blocker)
    states = [waits(hive, task)[0]]
    hive.call("restore", id=blocker)
    states.append(waits(hive, task)[0])
    hive.call("gtd.complete", id=blocker)
    assert [*states, waits(hive, task)[0]] == ["broken", "blocked", "ready"]


# next


def test_next_is_by_priority_then_newest_then_id(hive: Hive) -> None:
    """A missing or unknown priority counts as p2."""
    ids = {name: add(hive, name, status="next") for name in ("p2 old", "none", "odd", "p3", "p0", "p1", "p2 twin")}
    for name in ("p3", "p0", "p1"):
        hive.call("update", id=ids[name], properties={"priority": name})
    store(hive, ids["none"], drop=("priority",))
    store(hive, ids["odd"], priority="urgent")
    moments = {"p2 old": 100, "none": 200, "odd": 300, "p3": 900, "p0": 1, "p1": 1, "p2 twin": 100}
    for name, moment in moments.items():
        store_columns(hive, ids[name], created_at=moment)
    twins = [name for _, name in sorted((ids[name], name) for name in ("p2 old", "p2 twin"))]
    expected = ["p0", "p1", "odd", "none", *twins, "p3"]
    assert upcoming(hive) == expected
    assert upcoming(hive, include_blocked=True) == expected
    assert upcoming(hive, limit=3) == expected[:3]


def test_next_holds_what_somebody_can_work_on(hive: Hive) -> None:
    """next and active alone, of the visible namespaces; deleted ones are gone."""
    for status in OPEN_STATUSES:
        add(hive, status, status=status)
    ada = hive.as_actor("ada", "team-a", ["local"])
    add(ada, "hers", status="next")
    hive.call("delete", id=add(hive, "gone", status="next"))
    assert sorted(upcoming(hive)) == ["active", "next"]
    assert sorted(upcoming(ada)) == ["active", "hers", "next"]


def test_next_can_be_for_one_assignee(hive: Hive) -> None:
    """Letter for letter."""
    add(hive, "hers", status="next", assignee="ada", priority="p3")
    add(hive, "his", status="next", assignee="bob", priority="p0")
    add(hive, "hers too", status="active", assignee="ada", priority="p0")
    assert upcoming(hive, assignee="ada") == ["hers too", "hers"]
    assert upcoming(hive, assignee="Ada") == []


@pytest.mark.parametrize("assignee", [None, "ada"])
def test_blocked_ones_follow_on_request(hive: Hive, assignee: str | None) -> None:
    """Behind all ready ones, in the same order among themselves, blocked and broken alike."""
    who = {} if assignee is None else {"assignee": assignee}
    blocker = add(hive, "blocker", status="next", priority="p3", **who)
    gone = add(hive)
    hive.call("gtd.complete", id=gone, status="cancelled")
    add(hive, "broken p1", status="next", priority="p1", depends_on=[gone], **who)
    add(hive, "blocked p0", status="active", priority="p0", depends_on=[blocker], **who)
    add(hive, "ready p2", status="active", **who)
    add(hive, "blocked p2", status="next", depends_on=[blocker, gone], **who)
    assert upcoming(hive, **who) == ["ready p2", "blocker"]
    every = ["ready p2", "blocker", "blocked p0", "broken p1", "blocked p2"]
    assert upcoming(hive, include_blocked=True, **who) == every
    rows = hive.call("gtd.next", include_blocked=True, **who)
    assert [row["dependency_state"] for row in rows] == ["ready", "ready", "blocked", "broken", "broken"]
    assert [row["actionable"] for row in rows] == [True, True, False, False, False]
    assert upcoming(hive, include_blocked=True, limit=3, **who) == every[:3]


@pytest.mark.parametrize(("limit", "shown"), [(-5, 1), (0, 1), (1, 1), (200, 200), (5000, 200)])
def test_limits_are_moved_into_their_range(hive: Hive, limit: int, shown: int) -> None:
    """From 1 to 200, for both lists."""
    fill(hive, 201, status="next")
    assert len(hive.call("gtd.next", limit=limit)) == shown
    assert len(hive.call("gtd.tasks", limit=limit)) == shown


def fill(hive: Hive, count: int, **properties: Any) -> None:
    """Store many tasks past the verbs."""
    told = dump({"priority": "p2", **properties})
    rows = [
        NoteRow(new_id(), "local", "task", "x", moment, moment, name="x", properties=told) for moment in range(count)
    ]
    hive.server.engine.run_write(lambda tx: notes.insert_many(tx, rows))


@pytest.mark.slow
def test_more_candidates_than_are_looked_at_are_refused(hive: Hive) -> None:
    """About 6 s: 20,000 are listed and 20,001 are not; a narrower choice still is."""
    fill(hive, NEXT_CANDIDATES_MAX, status="next", assignee="ada")
    assert len(hive.call("gtd.next")) == 10
    add(hive, "his", status="active", assignee="bob")
    error = hive.refuses("gtd.next")
    assert error["kind"] == "invalid_input"
    assert "more than 20,000 tasks" in error["message"]
    assert hive.refuses("gtd.next", include_blocked=True)["kind"] == "invalid_input"
    assert upcoming(hive, assignee="bob") == ["his"]
    both = hive.as_actor("ada", "team-a", ["local"])
    assert both.refuses("gtd.next")["kind"] == "invalid_input"


# tasks


def test_without_a_status_the_open_ones_are_listed(hive: Hive) -> None:
    """Newest first; those without a status among them, finished and unknown ones not."""
    ids = [add(hive, status=status) for status in OPEN_STATUSES]
    bare, odd, ended = add(hive), add(hive), add(hive)
    store(hive, bare, drop=("status",))
    store(hive, odd, status="archived")
    hive.call("gtd.complete", id=ended)
    assert [row["id"] for row in hive.call("gtd.tasks")] == [bare, *reversed(ids)]
    assert [row["id"] for row in hive.call("gtd.tasks", status="done")] == [ended]
    assert [row["id"] for row in hive.call("gtd.tasks", status="inbox")] == [bare, ids[0]]


def test_equal_times_are_ordered_by_id_and_pages_join(hive: Hive) -> None:
    """Every task once over all pages."""
    ids = [add(hive, status=OPEN_STATUSES[place % 5]) for place in range(12)]
    for task in ids:
        store_columns(hive, task, created_at=1)
    pages = [[row["id"] for row in hive.call("gtd.tasks", limit=5, offset=offset)] for offset in (0, 5, 10, 15)]
    assert pages == [sorted(ids)[:5], sorted(ids)[5:10], sorted(ids)[10:], []]


def test_filters_narrow_each_other(hive: Hive) -> None:
    """Assignee, priority, tags, context and status; p2 also finds what has no priority."""
    entity = hive.call("create", kind="concept", name="x")["id"]
    one = add(hive, assignee="ada", priority="p1", tags=["CI", "disk"], context_entity_id=entity)
    two = add(hive, assignee="ada", status="next", tags=["ci"])
    three = add(hive, assignee="bob", priority="p1")
    bare = add(hive)
    store(hive, bare, drop=("priority",))

    def found(**args: Any) -> list[str]:
        return [row["id"] for row in hive.call("gtd.tasks", **args)]

    assert found(assignee="ada") == [two, one]
    assert found(priority="p1") == [three, one]
    assert found(priority="P2") == [bare, two]
    assert found(tags=["ci"]) == [two, one]
    assert found(tags=["DISK", "other"]) == [one]
    assert found(context_entity_id=entity) == [one]
    assert found(assignee="ada", priority="p1", tags=["ci"]) == [one]
    assert found(assignee="ada", status="todo") == [one]
    assert found(assignee="bob", tags=["ci"]) == []


def test_an_empty_list_says_what_it_left_out(hive: Hive) -> None:
    """Only what meets the other filters; nothing at all is an empty list; a later page and a named status are lists."""
    assert hive.call("gtd.tasks") == []
    done, given_up, odd = add(hive, assignee="ada"), add(hive, assignee="bob"), add(hive, assignee="ada")
    hive.call("gtd.complete", id=done)
    hive.call("gtd.complete", id=given_up, status="cancelled")
    store(hive, odd, status="archived")
    every = ["done", "cancelled", "unrecognized_status"]
    assert hive.call("gtd.tasks") == {"tasks": [], "total": 0, "filter_excluded": every}
    assert hive.ok("gtd.tasks()", presentation="agent") == {"tasks": [], "total": 0, "filter_excluded": every}
    assert hive.call("gtd.tasks", assignee="ada")["filter_excluded"] == ["done", "unrecognized_status"]
    assert hive.call("gtd.tasks", assignee="bob")["filter_excluded"] == ["cancelled"]
    assert hive.call("gtd.tasks", assignee="eve") == []
    assert hive.call("gtd.tasks", offset=1) == []
    assert hive.call("gtd.tasks", status="next") == []
    assert hive.call("gtd.tasks", priority="p0") == []


def test_a_task_without_a_name_is_shown(hive: Hive) -> None:
    """As [task], with whatever else is odd about it as it is stored."""
    task = add(hive, status="next")
    store(hive, task, priority="urgent", assignee=7, due=True)
    store_columns(hive, task, name=None)
    (row,) = hive.call("gtd.next")
    assert (row["title"], row["priority"], row["assignee"], row["due"]) == ("[task]", "urgent", None, None)
    assert row["properties"] == {"status": "next", "priority": "urgent", "assignee": 7, "due": True}


def test_many_namespaces_are_one_list(hive: Hive) -> None:
    """More of them than a statement has arms; both lists hold the tasks of all in one order."""
    names = [f"team-{number}" for number in range(70)]
    for number, name in enumerate(names):
        add(hive.as_actor("ada", name), f"task {number}", status="next")
    everywhere = hive.as_actor("ada", names[0], names)
    expected = [f"task {number}" for number in reversed(range(70))]
    assert upcoming(everywhere, limit=200) == expected
    assert upcoming(everywhere, limit=200, include_blocked=True) == expected
    assert [row["title"] for row in everywhere.call("gtd.tasks", limit=200)] == expected


# how they are found


def steps(hive: Hive, ask: Any) -> list[str]:
    """The steps of a plan that look at notes or sort, those of the picked rows aside."""
    with hive.server.engine.read() as tx:
        explained = Explained(tx)
        ask(explained)
    return [step for step in explained.steps if " t USING INDEX" in step or "ORDER BY" in step or step == "SCAN t"]


def test_lists_walk_an_index_in_the_order_of_the_answer(hive: Hive) -> None:
    """No sorting, no scan: of all namespaces and statuses, and of one assignee."""
    picked = "USE TEMP B-TREE FOR json_group_array(ORDER BY)"
    walks = steps(hive, lambda tx: storage.list_page(tx, ["a", "b"], TaskFilter(OPEN_STATUSES), limit=20, offset=0))
    assert walks == ["SEARCH t USING INDEX notes_tasks (namespace=? AND <expr>=?)"] * 10 + [picked]
    walks = steps(hive, lambda tx: storage.list_page(tx, ["a"], TaskFilter(("next",), "ada"), limit=20, offset=0))
    assert walks == ["SEARCH t USING INDEX notes_tasks_assigned (namespace=? AND <expr>=? AND <expr>=?)", picked]


def test_next_walks_its_index_and_stops(hive: Hive) -> None:
    """No sorting unless blocked tasks are wanted behind the ready ones."""
    walks = steps(hive, lambda tx: storage.next_up(tx, ["a", "b"], None, with_blocked=False, limit=10))
    assert walks == ["SEARCH t USING INDEX notes_tasks_next (namespace=?)"] * 2
