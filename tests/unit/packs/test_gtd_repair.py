"""census and repair: raw values are counted and shown as they are stored, and corrected only as they were observed."""

from collections.abc import Iterator
from typing import Any

import pytest

from hivekeep_contract.limits import REPAIR_ITEMS_MAX
from support.client import Hive
from support.tasks import ABSENT, add, gtd_hive, history, properties, store, store_columns

BUCKETS = (
    "null",
    "nonnumeric",
    "epoch_zero",
    "magnitude_10_digits",
    "magnitude_13_digits",
    "magnitude_16_digits",
    "other",
)
NOW = 1_780_000_000_000_000


@pytest.fixture
def hive() -> Iterator[Hive]:
    """A fresh server with the gtd pack."""
    with gtd_hive() as opened:
        yield opened


def candidates(hive: Hive, **args: Any) -> dict[str, Any]:
    """The page of candidates of a census."""
    page: dict[str, Any] = hive.call("gtd.census", include_candidates=True, **args)["candidates"]
    return page


def repair(hive: Hive, task: str, *, apply: bool = True, **changes: tuple[Any, Any]) -> dict[str, Any]:
    """The result of one item, whose changes are (observed, value) by field."""
    told = {name: {"observed": observed, "value": value} for name, (observed, value) in changes.items()}
    report = hive.call("gtd.repair", items=[{"id": task, "changes": told}], apply=apply)
    (result,) = report["results"]
    assert (report["accepted"], report["refused"]) == ((1, 0) if result["accepted"] else (0, 1))
    assert report["applied"] == int(result["applied"])
    return dict(result)


# census


@pytest.mark.parametrize(
    ("value", "bucket"),
    [
        (None, "null"),
        ("1700000000", "nonnumeric"),
        (True, "nonnumeric"),
        ([1], "nonnumeric"),
        ({}, "nonnumeric"),
        (0, "epoch_zero"),
        (-0.0, "epoch_zero"),
        (999_999_999, "other"),
        (10**9, "magnitude_10_digits"),
        (-(10**9), "magnitude_10_digits"),
        (9_999_999_999.5, "magnitude_10_digits"),
        (10**10, "other"),
        (10**12 - 1, "other"),
        (10**12, "magnitude_13_digits"),
        (10**13 - 1, "magnitude_13_digits"),
        (10**13, "other"),
        (10**15 - 1, "other"),
        (10**15, "magnitude_16_digits"),
        (10**16 - 1, "magnitude_16_digits"),
        (10**16, "other"),
        (-(2**63), "other"),
        (10**400, "other"),
        (1, "other"),
        (0.5, "other"),
    ],
)
def test_each_value_is_in_the_bucket_of_its_size(hive: Hive, value: Any, bucket: str) -> None:
    """Bounds are exact, the sign does not count, and neither a text nor a truth value is a number."""
    task = add(hive)
    store(hive, task, archived_at=value)
    counted = hive.call("gtd.census")["archived_at"]
    assert counted == {name: int(name == bucket) for name in BUCKETS}


def test_a_census_counts_live_tasks_of_the_namespaces(hive: Hive) -> None:
    """All visible ones or one; deleted tasks and other notes are not counted; every histogram adds up."""
    ada = hive.as_actor("ada", "team-a", ["local"])
    add(ada)
    tasks = [add(hive) for _ in range(4)]
    store_columns(hive, tasks[0], created_at=0)
    store_columns(hive, tasks[1], created_at=1_700_000_000)
    store(hive, tasks[1], archived_at=1_700_000_001)
    store(hive, tasks[2], archived_at=1_700_000_000_000)
    store(hive, tasks[3], archived_at="x")
    hive.call("delete", id=add(hive))
    hive.call("create", kind="observation", content="x")
    told = hive.call("gtd.census")
    assert told == {
        "schema_version": 1,
        "scope": ["local"],
        "total_tasks": 4,
        "created_at": {
            **dict.fromkeys(BUCKETS, 0),
            "epoch_zero": 1,
            "magnitude_10_digits": 1,
            "magnitude_16_digits": 2,
        },
        "archived_at": {
            **dict.fromkeys(BUCKETS, 0),
            "null": 1,
            "nonnumeric": 1,
            "magnitude_10_digits": 1,
            "magnitude_13_digits": 1,
        },
        "created_at_gt_archived_at_raw": 1,
        "interpretation": told["interpretation"],
    }
    assert "No unit is inferred" in told["interpretation"]
    everywhere = ada.call("gtd.census")
    assert (everywhere["scope"], everywhere["total_tasks"]) == (list(ada.caller.visible), 5)
    assert ada.call("gtd.census", namespace="team-a")["total_tasks"] == 1
    assert ada.call("gtd.census", namespace="team-b")["total_tasks"] == 0


def test_candidates_are_shown_as_they_are_stored(hive: Hive) -> None:
    """JSON source, absent apart from null; only tasks with an unexpected created_at or updated_at."""
    add(hive)
    task = add(hive)
    store(hive, task, archived_at=None, status="archived")
    store_columns(hive, task, created_at=1_700_000_000, updated_at=NOW)
    (row,) = candidates(hive)["rows"]
    assert row == {
        "id": task,
        "namespace": "local",
        "stored_status": '"archived"',
        "raw": {"created_at": "1700000000", "updated_at": str(NOW), "archived_at": "null"},
        "buckets": {
            "created_at": "magnitude_10_digits",
            "updated_at": "magnitude_16_digits",
            "archived_at": "null",
        },
    }
    store(hive, task, drop=("status", "archived_at"))
    (row,) = candidates(hive)["rows"]
    assert (row["stored_status"], row["raw"]["archived_at"]) == (None, None)
    store(hive, task, status=None)
    assert candidates(hive)["rows"][0]["stored_status"] == "null"


def test_candidates_come_in_pages(hive: Hive) -> None:
    """By namespace and id; the cursor of the last page is null."""
    ada = hive.as_actor("ada", "a-team", ["local"])
    tasks = [("a-team", add(ada)) for _ in range(3)] + [("local", add(hive)) for _ in range(4)]
    for _, task in tasks:
        store_columns(hive, task, updated_at=1)
    cursor: dict[str, Any] = {}
    pages = []
    while True:
        page = candidates(ada, limit=3, **cursor)
        pages.append([(row["namespace"], row["id"]) for row in page["rows"]])
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert [len(page) for page in pages] == [3, 3, 1]
    assert [row for shown in pages for row in shown] == sorted(tasks)
    assert page["expected_buckets"] == {"created_at": "magnitude_16_digits", "updated_at": "magnitude_16_digits"}


@pytest.mark.parametrize(
    "args",
    [
        {"limit": 10},
        {"include_candidates": False, "limit": 10},
        {"cursor": {"namespace": "local", "id": ABSENT}},
        {"include_candidates": True, "limit": 0},
        {"include_candidates": True, "limit": 201},
        {"include_candidates": True, "limit": None},
        {"include_candidates": None},
        {"include_candidates": True, "cursor": None},
        {"namespace": None},
        {"include_candidates": True, "cursor": {"namespace": "local", "id": ABSENT[:8]}},
        {"include_candidates": True, "cursor": {"namespace": "local"}},
        {"include_candidates": True, "cursor": {"namespace": "local", "id": ABSENT, "x": 1}},
        {"unit": "seconds"},
        {"namespace": "a b"},
    ],
    ids=str,
)
def test_a_census_refuses_what_it_does_not_know(hive: Hive, args: dict[str, Any]) -> None:
    """Nulls, prefixes, options without their other half."""
    assert hive.refuses("gtd.census", **args)["kind"] == "invalid_input"


# repair


def test_a_preview_says_what_would_happen(hive: Hive) -> None:
    """And changes nothing, neither the task nor its history."""
    task = add(hive)
    store_columns(hive, task, created_at=1_700_000_000)
    before = hive.call("get", id=task)
    assert repair(hive, task, apply=False, created_at=("1700000000", NOW)) == {
        "id": task,
        "accepted": True,
        "applied": False,
        "stored": {"created_at": "1700000000"},
        "proposed": {"created_at": NOW},
        "reason": None,
        "message": None,
    }
    assert (hive.call("get", id=task), history(hive, task)) == (before, [])


def test_a_repair_changes_what_was_observed_and_keeps_it(hive: Hive) -> None:
    """The time of the last change stays; the first value of each field is kept for good; the history tells of it."""
    ada = hive.as_actor("ada")
    task = add(hive)
    store(hive, task, status="archived")
    store_columns(hive, task, created_at=1_700_000_000, updated_at=1_700_000_001_000)
    (found,) = candidates(hive)["rows"]
    observed = {**found["raw"], "status": found["stored_status"]}
    first = repair(ada, task, created_at=(observed["created_at"], NOW), status=(observed["status"], "done"))
    assert (first["applied"], first["stored"]) == (True, {"created_at": "1700000000", "status": '"archived"'})
    note = hive.call("get", id=task)
    assert (note["created_at"], note["updated_at"]) == ("2026-05-28T20:26:40.000000Z", "1970-01-20T16:13:20.001000Z")
    evidence = note["properties"]["gtd_repair"]
    at = evidence["last"]["at"]
    assert evidence == {
        "originals": {
            "created_at": {"value": "1700000000", "at": at, "actor": "actor:ada"},
            "status": {"value": '"archived"', "at": at, "actor": "actor:ada"},
        },
        "last": {
            "at": at,
            "actor": "actor:ada",
            "changes": {
                "created_at": {"observed": "1700000000", "value": NOW},
                "status": {"observed": '"archived"', "value": "done"},
            },
        },
    }
    assert history(hive, task) == [("archived", "done", "repair")]
    repair(hive, task, created_at=(str(NOW), NOW + 1), updated_at=("1700000001000", NOW + 2))
    kept = properties(hive, task)["gtd_repair"]
    assert {name: one["value"] for name, one in kept["originals"].items()} == {
        "created_at": "1700000000",
        "status": '"archived"',
        "updated_at": "1700000001000",
    }
    assert kept["last"]["changes"]["updated_at"] == {"observed": "1700000001000", "value": NOW + 2}
    assert history(hive, task)[1:] == [("done", "done", "repair")]
    assert hive.call("gtd.tasks", status="done")[0]["id"] == task
    (event,) = [
        event
        for event in ada.events(target_id=task)
        if event["actor"] == "actor:ada" and event["kind"] == "note_updated"
    ]
    assert event["payload"] == {"id": task, "namespace": "local", "changed_fields": ["created_at", "properties"]}


def test_each_reason_has_its_name(hive: Hive) -> None:
    """With a sentence, and what is stored where that was looked at; nothing is changed."""
    task = add(hive)
    stored = '"inbox"'
    deleted = add(hive)
    hive.call("delete", id=deleted)
    note = hive.call("create", kind="observation", content="x")["id"]
    created = candidates_source(hive, task)
    cases: list[tuple[str, str, dict[str, tuple[Any, Any]]]] = [
        ("not_found", ABSENT, {"status": (stored, "done")}),
        ("not_task", note, {"status": (stored, "done")}),
        ("deleted", deleted, {"status": (stored, "done")}),
        ("stale_observed", task, {"created_at": (created + ".0", NOW)}),
        ("stale_observed", task, {"created_at": (None, NOW)}),
        ("stale_observed", task, {"status": ("inbox", "done")}),
        ("canonical_status", task, {"status": (stored, "done")}),
        ("unsupported_field", task, {"due": (None, NOW)}),
        ("invalid_target", task, {"status": (stored, "active")}),
        ("invalid_target", task, {"status": (stored, "finished")}),
        ("invalid_target", task, {"status": (stored, ["done"])}),
        ("invalid_target", task, {"created_at": (created, 2**63)}),
        ("invalid_target", task, {"created_at": (created, 1.5)}),
        ("invalid_target", task, {"created_at": (created, True)}),
        ("invalid_target", task, {"created_at": (created, None)}),
        ("invalid_target", task, {"created_at": (created, str(NOW))}),
    ]
    before = hive.call("get", id=task)
    for reason, target, changes in cases:
        for apply in (False, True):
            result = repair(hive, target, apply=apply, **changes)
            assert (result["accepted"], result["reason"]) == (False, reason), changes
            assert result["message"]
            assert result["proposed"] == {name: value for name, (_, value) in changes.items()}
    assert repair(hive, task, created_at=("0", NOW))["stored"] == {"created_at": created}
    assert repair(hive, ABSENT, created_at=("0", NOW))["stored"] == {}
    assert hive.call("get", id=task) == before


def candidates_source(hive: Hive, task: str) -> str:
    """created_at of a task as JSON source."""
    with hive.server.engine.read() as tx:
        row = tx.one("SELECT created_at FROM notes WHERE id = ?", (task,))
    assert row is not None
    return str(row[0])


@pytest.mark.parametrize(("stored", "source"), [(None, "null"), (7, "7"), ([], "[]"), ("absent", None)])
def test_a_status_that_is_no_text_is_for_the_other_verbs(hive: Hive, stored: Any, source: str | None) -> None:
    """It counts as inbox, so complete and transition take it from there."""
    task = add(hive)
    if stored == "absent":
        store(hive, task, drop=("status",))
    else:
        store(hive, task, status=stored)
    assert repair(hive, task, status=(source, "done"))["reason"] == "lifecycle_status"
    assert repair(hive, task, status=("archived", "done"))["reason"] == "stale_observed"


@pytest.mark.parametrize(
    "evidence",
    [
        7,
        [],
        {"originals": {}},
        {"originals": {}, "last": {}},
        {"originals": {}, "last": {"at": "x", "actor": "y", "changes": {}}, "more": 1},
        {
            "originals": {"due": {"value": "1", "at": "x", "actor": "y"}},
            "last": {"at": "x", "actor": "y", "changes": {}},
        },
        {"originals": {"status": {"value": "1"}}, "last": {"at": "x", "actor": "y", "changes": {}}},
        {"originals": [], "last": {"at": "x", "actor": "y", "changes": {}}},
        {"originals": {}, "last": {"at": "x", "actor": "y", "changes": 7}},
    ],
    ids=str,
)
def test_evidence_that_no_repair_left_is_not_overwritten(hive: Hive, evidence: Any) -> None:
    """Somebody has to look at it first."""
    task = add(hive)
    store(hive, task, status="archived", gtd_repair=evidence)
    assert repair(hive, task, status=('"archived"', "done"))["reason"] == "invalid_repair_history"
    assert properties(hive, task)["gtd_repair"] == evidence


def test_properties_that_are_no_object_are_refused(hive: Hive) -> None:
    """The task is still listed."""
    task = add(hive)
    store_columns(hive, task, properties="[1]")
    result = repair(hive, task, created_at=(candidates_source(hive, task), NOW))
    assert result["reason"] == "invalid_properties"
    assert hive.call("gtd.tasks")[0]["properties"] == {}


def test_items_are_judged_one_by_one_in_their_order(hive: Hive) -> None:
    """What is refused does not keep the others from being repaired."""
    tasks = [add(hive) for _ in range(3)]
    for task in tasks:
        store(hive, task, status="archived")
    items = [
        {"id": task.upper(), "changes": {"status": {"observed": observed, "value": "cancelled"}}}
        for task, observed in zip(tasks, ('"archived"', '"other"', '"archived"'), strict=True)
    ]
    report = hive.call("gtd.repair", items=items, apply=True)
    assert (report["accepted"], report["applied"], report["refused"]) == (2, 2, 1)
    assert [result["id"] for result in report["results"]] == tasks
    assert [properties(hive, task)["status"] for task in tasks] == ["cancelled", "archived", "cancelled"]


def test_a_malformed_call_changes_nothing(hive: Hive) -> None:
    """Doubles, prefixes, empty changes and too many items refuse the whole call."""
    task = add(hive)
    store(hive, task, status="archived")
    good = {"id": task, "changes": {"status": {"observed": '"archived"', "value": "done"}}}
    many = [{**good, "id": f"00000000-0000-4000-8000-{number:012x}"} for number in range(REPAIR_ITEMS_MAX + 1)]
    for items in (
        [],
        many,
        [good, {**good, "id": task.upper()}],
        [good, {**good, "id": task[:8]}],
        [good, {"id": ABSENT, "changes": {}}],
        [good, {"id": ABSENT}],
        [good, {"id": ABSENT, "changes": {"status": {"observed": None}}}],
        [good, {"id": ABSENT, "changes": {"status": {"value": "done"}}}],
        [good, {"id": ABSENT, "changes": {"status": {"observed": 7, "value": "done"}}}],
        [{**good, "note": "x"}],
        None,
    ):
        assert hive.refuses("gtd.repair", items=items, apply=True)["kind"] == "invalid_input", items
    assert hive.refuses("gtd.repair", items=[good], apply=None)["kind"] == "invalid_input"
    assert properties(hive, task)["status"] == "archived"
    assert len(hive.call("gtd.repair", items=many[1:])["results"]) == REPAIR_ITEMS_MAX


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1_780_000_000_000_000_000, "9999-12-31T23:59:59.000000Z"),
        (2**63 - 1, "9999-12-31T23:59:59.775807Z"),
        (-(2**63), "0001-01-01T00:00:00.224192Z"),
        (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
        (-62_135_596_800_000_000, "0001-01-01T00:00:00.000000Z"),
    ],
)
def test_a_moment_beyond_the_calendar_hides_no_task(hive: Hive, value: int, shown: str) -> None:
    """Every column of 64 bits is shown, as the nearest year where there is none, and the task can be repaired."""
    task = add(hive, status="next")
    store_columns(hive, task, created_at=value, updated_at=value)
    for told in (hive.call("get", id=task), hive.call("gtd.tasks")[0], hive.call("gtd.next")[0]):
        assert (told["created_at"], told["updated_at"]) == (shown, shown)
    assert [row["id"] for row in hive.call("list", kind="task")["items"]] == [task]
    assert candidates(hive)["rows"][0]["raw"]["created_at"] == str(value)
    assert repair(hive, task, created_at=(str(value), NOW))["applied"] is True
    assert hive.call("get", id=task)["created_at"] == "2026-05-28T20:26:40.000000Z"
