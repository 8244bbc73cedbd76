"""Whatever is done to tasks, in whatever order: the answers are those of a small model that knows nothing of SQL."""

import copy
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from hivekeep.storage import notes
from hivekeep_contract.vocabulary import TRANSITIONS
from support.client import Hive
from support.tasks import ABSENT, gtd_hive

SEQUENCES = 200
VERBS = 30
BEGINNING = 5
"""Verbs of a sequence, and how many of them make the first tasks."""
WAYS = TRANSITIONS["gtd.status"]
FINAL = {status for status, ways in WAYS.items() if not ways}
ASSIGNEES = ("ada", "bob", None)
PRIORITIES = ("p0", "p1", "p2", "p3")
NAMESPACES = ("local", "team-a")
REFUSED = "refused"
REFUSALS = ("invalid_input", "not_found", "conflict")
"""Kinds of errors that say what was wrong; none of the others may come of a sequence."""


@dataclass
class Task:
    """A task as the model knows it; `made` counts up with every task and every time that is set by hand."""

    id: str
    namespace: str
    title: str
    status: str
    priority: str
    assignee: str | None
    depends_on: list[str]
    made: int
    first: str = ""
    deleted: bool = False
    key: str | None = None
    duplicate_of: str | None = None
    steps: int = 0
    edges: set[str] = field(default_factory=set)

    def content(self) -> tuple[Any, ...]:
        """What a repeated call must say alike."""
        return self.title, self.first or self.status, self.priority, self.assignee, frozenset(self.depends_on)


class Model:
    """Tasks by id, and what each verb does to them; a verb answers REFUSED or what is compared."""

    def __init__(self) -> None:
        self.tasks: dict[str, Task] = {}
        self.clock = 0

    def live(self, task: str) -> Task | None:
        """The task, unless it is deleted or was never there."""
        found = self.tasks.get(task)
        return None if found is None or found.deleted else found

    def assign(self, new: Task) -> tuple[str, bool] | str:
        """(id, whether it was there before); the id of a new task is that of `new`."""
        for task in self.tasks.values():
            if new.key is not None and (task.key, task.namespace, task.deleted) == (new.key, new.namespace, False):
                return (task.id, True) if task.content() == new.content() else REFUSED
        if not all(self._may_wait(new.namespace, one) for one in new.depends_on):
            return REFUSED
        self.clock += 1
        new.made = self.clock
        new.edges = set(new.depends_on)
        self.tasks[new.id] = new
        return new.id, False

    def _may_wait(self, namespace: str, blocker: str) -> bool:
        found = self.live(blocker)
        return found is not None and found.namespace == namespace

    def move(self, task: str, status: str, *, complete: bool, duplicate_of: str | None = None) -> str | None:
        """Where the task came from, None when it stayed."""
        found = self.live(task)
        if found is None or (duplicate_of is not None and status != "cancelled"):
            return REFUSED
        if found.status == status and not complete:
            return None if duplicate_of in (None, found.duplicate_of) and duplicate_of != task else REFUSED
        if found.status in FINAL or status not in WAYS[found.status]:
            return REFUSED
        if duplicate_of is not None and (self.live(duplicate_of) is None or duplicate_of == task):
            return REFUSED
        came_from, found.status = found.status, status
        found.first = found.first or came_from
        found.steps += 1
        if duplicate_of is not None:
            found.duplicate_of = duplicate_of
        return came_from

    def wait(self, task: str, blockers: list[str]) -> str | None:
        """Give the task other dependencies."""
        found = self.live(task)
        if found is None:
            return REFUSED
        if blockers == found.depends_on:
            return None
        if not all(self._may_wait(found.namespace, one) for one in blockers) or self._leads(
            blockers, task, "depends_on"
        ):
            return REFUSED
        found.depends_on = list(dict.fromkeys(blockers))
        return None

    def link(self, source: str, target: str) -> str | None:
        """Join two tasks by an edge."""
        start, end = self.live(source), self.live(target)
        if start is None or end is None or source == target or self._leads([target], source, "edges"):
            return REFUSED
        start.edges.add(target)
        return None

    def _leads(self, start: list[str], goal: str, by: str) -> bool:
        """Whether live tasks lead from one to another."""
        seen: set[str] = set()
        left = list(start)
        while left:
            here = left.pop()
            if here == goal:
                return True
            found = self.live(here)
            if found is not None and here not in seen:
                left += getattr(found, by)
            seen.add(here)
        return False

    def delete(self, task: str) -> str | None:
        """Make it a tombstone."""
        found = self.live(task)
        if found is None:
            return REFUSED
        found.deleted = True
        return None

    def restore(self, task: str) -> str | None:
        """Bring it back, unless its key is taken or something waits for it that it waits for."""
        found = self.tasks[task]
        if not found.deleted:
            return None
        taken = any(
            other.key == found.key and other.namespace == found.namespace and not other.deleted
            for other in self.tasks.values()
        )
        if found.key is not None and taken:
            return REFUSED
        circle = self._leads(found.depends_on, task, "depends_on") or self._leads(list(found.edges), task, "edges")
        if circle:
            return REFUSED
        found.deleted = False
        return None

    # what is read

    def blocked_by(self, task: Task) -> list[dict[str, Any]]:
        """What the task waits for."""
        told: list[dict[str, Any]] = []
        for one in task.depends_on:
            blocker = self.tasks[one]
            if blocker.deleted:
                told.append({"id": one, "state": "soft_deleted"})
            elif blocker.status == "cancelled":
                told.append({"id": one, "state": "cancelled"})
            elif blocker.status != "done":
                told.append({"id": one, "state": "pending", "status": blocker.status})
        return told

    def shown(self, task: Task) -> dict[str, Any]:
        """What a list shows of it."""
        blockers = self.blocked_by(task)
        states = {blocker["state"] for blocker in blockers}
        state = "ready" if not states else "blocked" if states == {"pending"} else "broken"
        return {
            "id": task.id,
            "title": task.title,
            "status": task.status,
            "priority": task.priority,
            "assignee": task.assignee,
            "namespace": task.namespace,
            "dependency_state": state,
            "actionable": state == "ready" and task.status in ("next", "active"),
            "blocked_by": blockers,
        }

    def next(self, visible: tuple[str, ...], assignee: str | None, limit: int, blocked: bool) -> list[dict[str, Any]]:
        """The answer of gtd.next."""
        found = [
            task
            for task in self.tasks.values()
            if not task.deleted and task.namespace in visible and task.status in ("next", "active")
            if assignee in (None, task.assignee)
        ]
        found.sort(key=lambda task: (bool(self.blocked_by(task)), task.priority, -task.made, task.id))
        return [self.shown(task) for task in found if blocked or not self.blocked_by(task)][:limit]

    def list(
        self, visible: tuple[str, ...], status: str | None, assignee: str | None, priority: str | None, page: int
    ) -> Any:
        """The answer of gtd.tasks, in pages of three."""
        matching = [
            task
            for task in self.tasks.values()
            if not task.deleted and task.namespace in visible
            if assignee in (None, task.assignee) and priority in (None, task.priority)
        ]
        open_ones = [task for task in matching if task.status not in FINAL]
        chosen = open_ones if status is None else [task for task in matching if task.status == status]
        chosen.sort(key=lambda task: (-task.made, task.id))
        if status is None and not chosen and matching and page == 0:
            present = {task.status for task in matching}
            return {
                "tasks": [],
                "total": 0,
                "filter_excluded": [one for one in ("done", "cancelled") if one in present],
            }
        return [self.shown(task) for task in chosen[page * 3 : page * 3 + 3]]


class Both:
    """One sequence of verbs, carried out by a server and by the model."""

    def __init__(self, hive: Hive, seed: int) -> None:
        self.rng = random.Random(seed)
        self.model = Model()
        self.hives = {name: hive.as_actor("ada", name) for name in NAMESPACES}
        self.both = hive.as_actor("ada", NAMESPACES[0], NAMESPACES)
        self.said: list[str] = []

    def run(self) -> None:
        """Every verb and then every list."""
        steps: list[tuple[Callable[[], None], int]] = [
            (self.assign, 14),
            (self.transition, 7),
            (self.complete, 3),
            (self.wait, 5),
            (self.link, 4),
            (self.delete, 2),
            (self.restore, 2),
            (self.rename, 1),
            (self.next, 3),
            (self.tasks, 4),
        ]
        for _ in range(BEGINNING):
            self.assign()
        for _ in range(VERBS - BEGINNING):
            (step,) = self.rng.choices([step for step, _ in steps], [weight for _, weight in steps])
            step()
        self.compare_everything()

    def any_task(self, namespace: str | None = None) -> str:
        """The id of a task, mostly of a live one of the namespace; now and then of any, or of none."""
        known = list(self.model.tasks.values())
        near = [task for task in known if not task.deleted and namespace in (None, task.namespace)]
        if near and self.rng.random() < 0.95:
            return self.rng.choice(near).id
        return self.rng.choice(known).id if known and self.rng.random() < 0.8 else ABSENT

    def some_tasks(self, namespace: str | None) -> list[str]:
        """Up to three ids, mostly one."""
        near = any(not task.deleted and task.namespace == namespace for task in self.model.tasks.values())
        (count,) = self.rng.choices((0, 1, 2, 3), (2, 4, 2, 1) if near else (9, 1, 0, 0))
        return list(dict.fromkeys(self.any_task(namespace) for _ in range(count)))

    def namespace_of(self, task: str) -> str | None:
        """Where a task lives."""
        found = self.model.tasks.get(task)
        return None if found is None else found.namespace

    def entry(self, hive: Hive, verb: str, **args: Any) -> Any:
        """The result of an operation, or REFUSED."""
        self.said.append(f"{verb} {args}")
        entry = hive.entry(json.dumps([{"tool": verb, "args": args}]))
        assert entry["ok"] or entry["error"]["kind"] in REFUSALS, "\n".join(self.said)
        return entry["result"] if entry["ok"] else REFUSED

    def agree(self, ours: Any, expected: Any) -> None:
        """Both answered the same; otherwise the whole sequence is shown."""
        assert ours == expected, "\n".join(self.said)

    def assign(self) -> None:
        (namespace,) = self.rng.choices(NAMESPACES, (4, 1))
        status = self.rng.choice([one for one in WAYS if one not in FINAL])
        title, priority = self.rng.choice("ab"), self.rng.choice(PRIORITIES)
        assignee, depends_on = self.rng.choice(ASSIGNEES), self.some_tasks(namespace)
        key = self.rng.choice((None, None, None, "k1", "k2"))
        again = [task for task in self.model.tasks.values() if task.key is not None]
        if again and self.rng.random() < 0.3:
            old = self.rng.choice(again)
            namespace, title, priority, assignee, key = old.namespace, old.title, old.priority, old.assignee, old.key
            status, depends_on = old.first or old.status, list(reversed(old.depends_on))
            if status in FINAL:
                return
        told = {"title": title, "status": status, "priority": priority, "depends_on": depends_on}
        told |= {"assignee": assignee} if assignee else {}
        result = self.entry(self.hives[namespace], "gtd.assign", **told, **({"idempotency_key": key} if key else {}))
        new = Task(ABSENT, namespace, title, status, priority, assignee, depends_on, 0, key=key)
        if result is not REFUSED:
            new.id = result["id"]
        expected = self.model.assign(new)
        ours = REFUSED if result is REFUSED else (result["id"], result.get("replayed", False))
        self.agree(ours, expected)
        if ours != REFUSED and not ours[1]:
            self.set_time(new)

    def set_time(self, task: Task) -> None:
        """Tasks of one sequence are made within microseconds; now and then two share a moment."""
        if self.rng.random() < 0.3:
            task.made = max(1, task.made - 1)

        def write(tx: Any) -> None:
            row = notes.get(tx, task.id)
            assert row is not None
            notes.update(tx, row, row._replace(created_at=task.made))

        self.both.server.engine.run_write(write)

    def transition(self) -> None:
        task, status = self.any_task(), self.rng.choice(list(WAYS))
        found = self.model.live(task)
        if found is not None and WAYS[found.status] and self.rng.random() < 0.5:
            status = self.rng.choice(WAYS[found.status])
        duplicate = self.any_task() if status == "cancelled" and self.rng.random() < 0.5 else None
        result = self.entry(
            self.both,
            "gtd.transition",
            id=task,
            status=status,
            **({"duplicate_of": duplicate} if duplicate else {}),
        )
        ours = result if result is REFUSED else result["from"] if result["transitioned"] else None
        self.agree(ours, self.model.move(task, status, complete=False, duplicate_of=duplicate))

    def complete(self) -> None:
        task, status = self.any_task(), self.rng.choice(sorted(FINAL))
        result = self.entry(self.both, "gtd.complete", id=task, status=status)
        ours = result if result is REFUSED else result["from"]
        self.agree(ours, self.model.move(task, status, complete=True))

    def wait(self) -> None:
        task = self.any_task()
        blockers = self.some_tasks(self.namespace_of(task))
        result = self.entry(self.both, "update", id=task, properties={"depends_on": blockers})
        self.agree(result if result is REFUSED else None, self.model.wait(task, blockers))

    def link(self) -> None:
        source, target = self.any_task(), self.any_task()
        result = self.entry(self.both, "link", source_id=source, target_id=target, relation="depends_on")
        self.agree(result if result is REFUSED else None, self.model.link(source, target))

    def delete(self) -> None:
        task = self.any_task()
        result = self.entry(self.both, "delete", id=task)
        self.agree(result if result is REFUSED else None, self.model.delete(task))

    def restore(self) -> None:
        if not self.model.tasks:
            return
        task = self.rng.choice(list(self.model.tasks))
        result = self.entry(self.both, "restore", id=task)
        self.agree(result if result is REFUSED else None, self.model.restore(task))

    def rename(self) -> None:
        task, title = self.any_task(), self.rng.choice("ab")
        result = self.entry(self.both, "update", id=task, name=title)
        found = self.model.live(task)
        self.agree(result is REFUSED, found is None)
        if found is not None:
            found.title = title

    def visible(self, hive: Hive) -> tuple[str, ...]:
        return tuple(hive.caller.visible)

    def next(self) -> None:
        hive = self.rng.choice([self.both, *self.hives.values()])
        assignee, blocked, limit = self.rng.choice(ASSIGNEES), self.rng.random() < 0.5, self.rng.randint(1, 5)
        self.compare_next(hive, assignee, limit, blocked)

    def compare_next(self, hive: Hive, assignee: str | None, limit: int, blocked: bool) -> None:
        told = {"limit": limit, "include_blocked": blocked} | ({"assignee": assignee} if assignee else {})
        rows = self.entry(hive, "gtd.next", **told)
        expected = self.model.next(self.visible(hive), assignee, limit, blocked)
        self.agree([{name: row[name] for name in expected[0]} for row in rows] if expected else rows, expected)

    def tasks(self) -> None:
        hive = self.rng.choice([self.both, *self.hives.values()])
        status = self.rng.choice((None, None, *WAYS))
        self.compare_list(
            hive, status, self.rng.choice(ASSIGNEES), self.rng.choice((None, *PRIORITIES)), self.rng.randint(0, 2)
        )

    def compare_list(
        self, hive: Hive, status: str | None, assignee: str | None, priority: str | None, page: int
    ) -> None:
        filters = {"status": status, "assignee": assignee, "priority": priority}
        told = {name: value for name, value in filters.items() if value is not None}
        rows = self.entry(hive, "gtd.tasks", **told, limit=3, offset=page * 3)
        expected = self.model.list(self.visible(hive), status, assignee, priority, page)
        if isinstance(expected, list) and expected:
            rows = [{name: row[name] for name in expected[0]} for row in rows]
        self.agree(rows, expected)

    def compare_everything(self) -> None:
        """At the end: the lists of everybody, and as many rows in the history as there were steps."""
        for hive in (self.both, *self.hives.values()):
            for blocked in (False, True):
                self.compare_next(hive, None, 200, blocked)
            for status in (None, *WAYS):
                for page in range(4):
                    self.compare_list(hive, status, None, None, page)
        with self.both.server.engine.read() as tx:
            rows = tx.all("SELECT note_id, count(*) FROM gtd_lifecycle_audit GROUP BY note_id")
        self.agree(
            {row[0]: row[1] for row in rows},
            {task.id: task.steps for task in self.model.tasks.values() if task.steps},
        )


def run_sequences(first: int, last: int) -> set[str]:
    """The words that the verbs of these sequences began with; raises where server and model differ."""
    said: set[str] = set()
    for seed in range(first, last):
        with gtd_hive() as hive:
            both = Both(hive, seed)
            both.run()
            said |= {line.partition(" ")[0] for line in both.said}
    return said


def test_a_few_sequences_agree_with_the_model() -> None:
    """Ten sequences of thirty verbs; every verb occurs."""
    assert run_sequences(0, 10) == {
        "gtd.assign",
        "gtd.transition",
        "gtd.complete",
        "gtd.next",
        "gtd.tasks",
        "update",
        "link",
        "delete",
        "restore",
    }


@pytest.mark.slow
def test_two_hundred_sequences_agree_with_the_model() -> None:
    """About 20 s: 200 sequences of thirty verbs, each on a fresh store."""
    run_sequences(10, 10 + SEQUENCES)


def test_the_model_itself_refuses() -> None:
    """What the comparison would not notice if both sides were too generous: a circle, a taken key, a final status."""
    model = Model()
    for name, waits in (("a", []), ("b", ["a"])):
        model.assign(Task(name, "local", name, "inbox", "p2", None, waits, 0, key=name))
    assert model.wait("a", ["b"]) == REFUSED
    assert model.assign(Task("c", "local", "other", "inbox", "p2", None, [], 0, key="a")) == REFUSED
    before = copy.deepcopy(model.tasks)
    assert model.move("a", "done", complete=True) == "inbox"
    assert model.move("a", "next", complete=False) == REFUSED
    assert (before["a"].status, model.tasks["a"].status) == ("inbox", "done")
