"""The generic verbs keep the rules of tasks: what create makes, what update may change, and no circles."""

from collections.abc import Iterator
from typing import Any

import apsw
import pytest

from hivekeep.identity.ids import new_id
from hivekeep.storage import edges, notes
from hivekeep.storage.edges import EdgeRow
from hivekeep.storage.json_text import dump
from hivekeep.storage.notes import NoteRow
from hivekeep_contract.limits import DEPENDENCY_WALK_MAX
from support.client import Hive
from support.tasks import ABSENT, add, gtd_hive, properties, store


@pytest.fixture
def hive() -> Iterator[Hive]:
    """A fresh server with the gtd pack."""
    with gtd_hive() as opened:
        yield opened


def changed(hive: Hive, task: str, **args: Any) -> dict[str, Any]:
    """The task after an update."""
    note: dict[str, Any] = hive.call("update", id=task, **args)
    return note


def refused(hive: Hive, task: str, **args: Any) -> str:
    """The message of an update that is refused as invalid input and leaves the task as it was."""
    before = hive.call("get", id=task)
    error = hive.refuses("update", id=task, **args)
    assert error["kind"] == "invalid_input", error
    assert hive.call("get", id=task) == before
    return str(error["message"])


# create


def test_create_makes_the_task_that_assign_makes(hive: Hive) -> None:
    """Fields of the properties are read as arguments, in their order of precedence; the edges are made as well."""
    entity = hive.call("create", kind="concept", name="LoRA")["id"]
    blocker = add(hive)
    told = {
        "description": "All of it.",
        "priority": "P1",
        "assignee": " ada ",
        "due": "2026-07-05",
        "tags": ["a"],
        "depends_on": [blocker[:8]],
        "context_entity_id": entity,
    }
    made = hive.call(
        "create", kind="task", name="Ship it", properties={**told, "status": "todo", "title": "no"}, annotates=[entity]
    )
    same = hive.call("gtd.assign", title="Ship it", **told)
    one, two = (hive.call("get", id=task) for task in (made["id"], same["id"]))
    for name in ("name", "content", "salience", "status", "lifecycle", "kind", "properties"):
        assert one[name] == two[name], name
    for task in (made["id"], same["id"]):
        items = hive.call("list", kind="edge", source_id=task)["items"]
        assert sorted((edge["relation"], edge["target_id"]) for edge in items) == sorted(
            [("annotates", entity), ("depends_on", blocker)]
        )


def test_create_needs_a_title_alone(hive: Hive) -> None:
    """As name, or in the properties; the content is the description, else the title."""
    assert hive.call("create", kind="task", name="A")["content"] == "A"
    made = hive.call("create", kind="task", properties={"title": "B", "foo": 1})
    assert (made["name"], made["content"], made["properties"]) == (
        "B",
        "B",
        {"status": "inbox", "priority": "p2", "foo": 1},
    )
    assert hive.call("create", kind="task", content="More", name="C")["properties"]["description"] == "More"
    assert "description" not in hive.call("create", kind="task", content="D", name="D")["properties"]
    assert "'title'" in hive.refuses("create", kind="task", content="More")["message"]
    same = hive.refuses("create", kind="task", name="E", content="one", properties={"description": "two"})
    assert "'description'" in same["message"]
    assert hive.call("create", kind="task", name="F", salience=0.9)["salience"] == 0.9


@pytest.mark.parametrize(
    "wrong",
    [
        {"status": "done"},
        {"status": "archived"},
        {"status": 1},
        {"priority": "urgent"},
        {"priority": 1},
        {"assignee": " "},
        {"assignee": ["ada"]},
        {"due": "soon"},
        {"due": 1783242000},
        {"start": True},
        {"description": 7},
        {"tags": "a"},
        {"tags": [1]},
        {"depends_on": "x"},
        {"depends_on": [7]},
        {"context_entity_id": "12345678"},
        {"context_entity_id": 7},
        {"title": 7, "status": "inbox"},
        {"blocked_by": []},
        {"actionable": None},
        {"dependency_state": "ready"},
        {"completed_at": "2026-07-05T00:00:00Z"},
        {"duplicate_of": ABSENT},
        {"transition_history": []},
        {"gtd_repair": {}},
    ],
    ids=str,
)
def test_create_refuses_what_assign_would(hive: Hive, wrong: dict[str, Any]) -> None:
    """A wrong type is never taken for a default, and what only the pack writes cannot be brought along."""
    name = {} if "title" in wrong else {"name": "x"}
    error = hive.refuses("create", kind="task", properties=wrong, **name)
    assert error["kind"] == "invalid_input"
    assert next(iter(wrong)) in error["message"]
    assert hive.call("list", kind="task")["items"] == []


def test_null_fields_are_absent(hive: Hive) -> None:
    """In create as in assign."""
    nothing = dict.fromkeys(("status", "priority", "assignee", "due", "description", "tags", "depends_on"))
    made = hive.call("create", kind="task", name="x", properties=nothing)
    assert made["properties"] == {"status": "inbox", "priority": "p2"}


def test_tasks_of_a_bulk_create_obey_the_same_rules(hive: Hive) -> None:
    """Right ones are stored with their edges, wrong ones refused each with its error."""
    blocker = add(hive)
    items = [
        {"kind": "task", "name": "A", "properties": {"depends_on": [blocker]}},
        {"kind": "task", "name": "B", "properties": {"status": "done"}},
        {"kind": "task", "properties": {"title": "C"}},
    ]
    report = hive.call("create", items=items, atomic=False, verbose=True)
    assert (report["created"], report["failed"]) == (2, 1)
    first = report["results"][0]["result"]
    assert [edge["target_id"] for edge in hive.call("list", kind="edge", source_id=first["id"])["items"]] == [blocker]
    assert sorted(row["title"] for row in hive.call("gtd.tasks")) == ["A", "C", "Do it"]


def test_an_approved_proposal_obeys_the_same_rules(hive: Hive) -> None:
    """What a review would make of a task is what create would make."""
    ada, bob = hive.as_actor("ada"), hive.as_actor("bob")
    for status, applied in (("active", True), ("done", False)):
        change = {
            "kind": "add_note",
            "note": {"kind": "task", "name": status, "content": status, "properties": {"status": status}},
        }
        proposal = ada.call("propose", title="a task", description="because", changeset=change)["id"]
        bob.call("review", id=proposal, decision="approve")
        assert hive.call("get", id=proposal)["status"] == ("applied" if applied else "approved"), status
    assert [row["title"] for row in hive.call("gtd.tasks")] == ["active"]


# update


@pytest.mark.parametrize(
    "patch",
    [
        {"status": "done"},
        {"status": None},
        {"completed_at": "x"},
        {"transition_history": []},
        {"duplicate_of": ABSENT},
        {"gtd_repair": {}},
        {"blocked_by": None},
        {"blocked_by": []},
        {"dependency_state": None},
        {"actionable": True},
        {"priority": None},
        {"priority": "urgent"},
        {"assignee": 7},
        {"due": "soon"},
        {"depends_on": "x"},
        {"depends_on": [ABSENT[:8]]},
    ],
    ids=str,
)
def test_update_refuses_what_the_verbs_keep(hive: Hive, patch: dict[str, Any]) -> None:
    """The message names the field."""
    assert next(iter(patch)) in refused(hive, add(hive), properties=patch)


def test_update_keeps_the_spelling_of_fields(hive: Hive) -> None:
    """Times and priorities are stored as assign stores them, null clears, other properties are free."""
    task = add(hive, due="2026-07-05", assignee="ada")
    note = changed(hive, task, properties={"due": "2026-08-01", "priority": "P0", "assignee": None, "foo": None})
    assert note["properties"] == {
        "status": "inbox",
        "priority": "p0",
        "due": "2026-08-01T00:00:00.000000Z",
        "foo": None,
    }
    assert note["salience"] == 1.0
    assert changed(hive, task, properties={"priority": "p3"}, salience=0.9)["salience"] == 0.9
    assert changed(hive, task, tags=["x"])["properties"]["tags"] == ["x"]
    assert changed(hive, task, properties={"status": "inbox"}).get("unchanged") is True


def test_the_name_of_a_task_is_its_title(hive: Hive) -> None:
    """It can be changed and not cleared."""
    task = add(hive)
    assert "title" in refused(hive, task, name=None)
    assert changed(hive, task, name="New")["name"] == "New"
    assert hive.call("gtd.tasks")[0]["title"] == "New"


def test_content_and_description_say_the_same(hive: Hive) -> None:
    """Either one sets both; two that differ are refused."""
    task = add(hive)
    note = changed(hive, task, content="one")
    assert (note["content"], note["properties"]["description"]) == ("one", "one")
    note = changed(hive, task, properties={"description": "two"})
    assert (note["content"], note["properties"]["description"]) == ("two", "two")
    note = changed(hive, task, content="three", properties={"description": "three"})
    assert (note["content"], note["properties"]["description"]) == ("three", "three")
    assert "'description'" in refused(hive, task, content="four", properties={"description": "five"})
    assert "'description'" in refused(hive, task, content="four", properties={"description": None})
    assert [row["id"] for row in hive.call("search", kind="task", query="three")] == [task]


def test_without_a_description_the_content_is_the_title(hive: Hive) -> None:
    """Also after it was cleared, and after the task was renamed; a description of its own stays."""
    task = add(hive, "Old")
    note = changed(hive, task, name="New")
    assert (note["content"], note["properties"]) == ("New", {"status": "inbox", "priority": "p2"})
    changed(hive, task, properties={"description": "More"})
    assert changed(hive, task, name="Newer")["content"] == "More"
    note = changed(hive, task, properties={"description": None})
    assert (note["content"], "description" in note["properties"]) == ("Newer", False)
    changed(hive, task, content="More")
    note = changed(hive, task, content="")
    assert (note["content"], "description" in note["properties"]) == ("Newer", False)
    other = add(hive, "Old")
    note = changed(hive, other, name="New", content="Body")
    assert (note["content"], note["properties"]["description"]) == ("Body", "Body")


def test_a_title_is_not_a_property(hive: Hive) -> None:
    """A patch that would leave a second title beside the name is refused and names the right argument."""
    task = add(hive, "Old")
    assert "change 'name'" in refused(hive, task, properties={"title": "New"})
    assert hive.call("get", id=task)["properties"] == {"status": "inbox", "priority": "p2"}


def test_new_dependencies_are_checked(hive: Hive) -> None:
    """Full ids of other live tasks of the same namespace; each once; an empty list and null are none."""
    one, two, task, deleted = (add(hive) for _ in range(4))
    hive.call("delete", id=deleted)
    elsewhere = add(hive.as_actor("ada", "team-a"))
    note = hive.call("create", kind="observation", content="x")["id"]
    stored = changed(hive, task, properties={"depends_on": [one, two.upper(), one]})["properties"]["depends_on"]
    assert stored == [one, two]
    assert "observation" in refused(hive, task, properties={"depends_on": [note]})
    for absent in (ABSENT, deleted, elsewhere):
        error = hive.refuses("update", id=task, properties={"depends_on": [one, absent]})
        assert (error["kind"], error["details"]["id"]) == ("not_found", absent)
    assert "depends_on" not in changed(hive, task, properties={"depends_on": []})["properties"]
    changed(hive, task, properties={"depends_on": [one]})
    assert "depends_on" not in changed(hive, task, properties={"depends_on": None})["properties"]


def test_a_new_context_is_checked(hive: Hive) -> None:
    """A live entity of the same namespace."""
    entity = hive.call("create", kind="concept", name="x")["id"]
    task = add(hive)
    assert changed(hive, task, properties={"context_entity_id": entity})["properties"]["context_entity_id"] == entity
    assert "entity" in refused(hive, task, properties={"context_entity_id": task})
    assert hive.refuses("update", id=task, properties={"context_entity_id": ABSENT})["kind"] == "not_found"


def test_other_kinds_are_free(hive: Hive) -> None:
    """A note with the same properties is nobody's task."""
    note = hive.call("create", kind="observation", content="x", properties={"status": "done", "blocked_by": []})["id"]
    assert hive.call("update", id=note, properties={"status": "gone"})["status"] == "gone"


# circles


def test_no_task_waits_for_itself_by_its_property(hive: Hive) -> None:
    """Not at once, not over others; a longer way that does not lead back is allowed."""
    first = add(hive)
    second = add(hive, depends_on=[first])
    third = add(hive, depends_on=[second])
    other = add(hive)
    for task, targets in ((first, [first]), (first, [second]), (first, [other, third]), (second, [third])):
        assert "may not wait for itself" in refused(hive, task, properties={"depends_on": targets})
    changed(hive, third, properties={"depends_on": [second, first, other]})
    changed(hive, first, properties={"depends_on": [other]})
    assert properties(hive, first)["depends_on"] == [other]


def test_no_task_waits_for_itself_by_edges(hive: Hive) -> None:
    """One at a time, in one call together, brought back, and by a change of the relation; properties do not count."""
    a, b, c = (add(hive) for _ in range(3))

    def link(source: str, target: str) -> dict[str, Any]:
        return {"source_id": source, "target_id": target, "relation": "depends_on"}

    hive.call("link", **link(a, b))
    edge = hive.call("link", **link(b, c))["id"]
    for source, target in ((b, a), (c, a), (c, b)):
        assert "may not wait for itself" in hive.refuses("link", **link(source, target))["message"]
    assert hive.refuses("link", **link(a, a))["kind"] == "invalid_input"
    hive.call("delete", id=edge)
    back = hive.call("link", **link(c, a))["id"]
    assert "may not wait for itself" in hive.refuses("restore", id=edge)["message"]
    assert "may not wait for itself" in hive.refuses("link", **link(b, c), resurrect=True)["message"]
    hive.call("delete", id=back)
    assert hive.call("restore", id=edge)["restored"] is True
    d, e, f = (add(hive) for _ in range(3))
    report = hive.call("link", links=[link(d, e), link(e, f), link(f, d)], atomic=False)
    assert (report["created"], report["failed"]) == (2, 1)
    said = hive.call("link", source_id=f, target_id=d, relation="supports")["id"]
    assert "may not wait for itself" in hive.refuses("update", id=said, relation="depends_on")["message"]
    waiting = add(hive, depends_on=[d])
    changed(hive, d, properties={"depends_on": []})
    assert "may not wait for itself" in hive.refuses("link", **link(d, waiting))["message"]


def test_edges_of_deleted_tasks_do_not_count_until_they_come_back(hive: Hive) -> None:
    """A restore that would close a circle is refused; so it is with properties."""
    a, b, c = (add(hive) for _ in range(3))
    hive.call("link", source_id=c, target_id=a, relation="depends_on")
    hive.call("link", source_id=a, target_id=b, relation="depends_on")
    hive.call("delete", id=a)
    hive.call("link", source_id=b, target_id=c, relation="depends_on")
    assert "may not wait for itself" in hive.refuses("restore", id=a)["message"]
    d = add(hive)
    e = add(hive, depends_on=[d])
    f = add(hive, depends_on=[e])
    hive.call("delete", id=e)
    changed(hive, d, properties={"depends_on": [f]})
    assert "may not wait for itself" in hive.refuses("restore", id=e)["message"]
    changed(hive, d, properties={"depends_on": []})
    assert hive.call("restore", id=e)["restored"] is True


def test_only_tasks_depend_on_tasks(hive: Hive) -> None:
    """The pack adds this one pair to the relation."""
    task = add(hive)
    note = hive.call("create", kind="observation", content="x")["id"]
    entity = hive.call("create", kind="project", name="x")["id"]
    for source, target in ((task, note), (note, task), (task, entity), (entity, task)):
        error = hive.refuses("link", source_id=source, target_id=target, relation="depends_on")
        assert error["kind"] == "invalid_input"


def chain(hive: Hive, length: int) -> list[str]:
    """Tasks that each wait for the one before, by property and by edge."""
    ids = [new_id() for _ in range(length)]

    def write(tx: Any) -> None:
        told = [{"status": "inbox", "priority": "p2"} | ({"depends_on": [one]} if one else {}) for one in [None, *ids]]
        rows = [
            NoteRow(task, "local", "task", "x", 1, 1, name="x", properties=dump(said))
            for task, said in zip(ids, told, strict=False)
        ]
        notes.insert_many(tx, rows)
        pairs = zip(ids[1:], ids, strict=False)
        edges.insert_many(tx, [EdgeRow(new_id(), "local", one, two, "depends_on", 1, 1) for one, two in pairs])

    hive.server.engine.run_write(write)
    return ids


@pytest.mark.slow
def test_a_search_that_is_too_long_refuses(hive: Hive) -> None:
    """About 5 s: 20,000 tasks in a chain are searched to the end, 20,001 are not; nothing is let in unseen."""
    other, more = add(hive), add(hive)
    ids = chain(hive, DEPENDENCY_WALK_MAX - 1)
    changed(hive, other, properties={"depends_on": [ids[-1]]})
    assert "may not wait for itself" in refused(hive, ids[0], properties={"depends_on": [other]})
    hive.call("link", source_id=other, target_id=ids[-1], relation="depends_on")
    last = add(hive, depends_on=[other])
    assert "more than 20,000 dependencies" in refused(hive, more, properties={"depends_on": [last]})
    assert (
        "more than 20,000 dependencies"
        in hive.refuses("link", source_id=ids[0], target_id=more, relation="depends_on")["message"]
    )


# the database itself


def test_the_file_refuses_a_circle_of_properties(hive: Hive) -> None:
    """Whoever writes it: also a change past all rules is undone."""
    first = add(hive)
    second = add(hive, depends_on=[first])
    with pytest.raises(apsw.ConstraintError, match="may not wait for itself"):
        store(hive, first, depends_on=[second])
    with pytest.raises(apsw.ConstraintError, match="may not wait for itself"):
        store(hive, first, depends_on=[first.upper()])
    assert "depends_on" not in properties(hive, first)
    store(hive, first, depends_on={"not": "a list"})
    assert properties(hive, first)["depends_on"] == {"not": "a list"}


def test_the_file_refuses_a_circle_of_edges(hive: Hive) -> None:
    """New ones, restored ones and changed ones; edges between other records may go in circles."""
    first, second = add(hive), add(hive)
    one = hive.call("link", source_id=first, target_id=second, relation="depends_on")["id"]

    def insert(source: str, target: str, relation: str) -> str:
        row = EdgeRow(new_id(), "local", source, target, relation, 1, 1)
        hive.server.engine.run_write(lambda tx: edges.insert(tx, row))
        return row.id

    with pytest.raises(apsw.ConstraintError, match="may not wait for itself"):
        insert(second, first, "depends_on")
    other = insert(second, first, "supports")

    def change(**values: Any) -> None:
        def write(tx: Any) -> None:
            row = edges.get(tx, other, include_deleted=True)
            assert row is not None
            edges.update(tx, row, row._replace(**values))

        hive.server.engine.run_write(write)

    with pytest.raises(apsw.ConstraintError, match="may not wait for itself"):
        change(relation="depends_on")
    change(relation="depends_on", deleted_at=5)
    with pytest.raises(apsw.ConstraintError, match="may not wait for itself"):
        change(deleted_at=None)
    hive.call("delete", id=one)
    change(deleted_at=None)
    projects = [hive.call("create", kind="project", name=name)["id"] for name in ("a", "b")]
    insert(*projects, "depends_on")
    insert(*reversed(projects), "depends_on")


# merging


def test_tasks_are_not_merged(hive: Hive) -> None:
    """The message shows the call that says what was meant, and that call works."""
    kept, gone = add(hive), add(hive)
    message = hive.refuses("merge", into_id=kept, from_id=gone)["message"]
    call = message.partition("with ")[2]
    assert hive.ok(call)["to"] == "cancelled"
    assert properties(hive, gone)["duplicate_of"] == kept


def test_delete_and_restore_keep_the_task(hive: Hive) -> None:
    """Status and history are as they were."""
    task = add(hive, status="active")
    hive.call("delete", id=task)
    assert hive.call("gtd.tasks") == []
    hive.call("restore", id=task)
    assert hive.call("gtd.tasks")[0]["status"] == "active"
