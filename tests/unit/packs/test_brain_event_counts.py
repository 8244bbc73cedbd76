"""event_counts and mark_turn: what is counted, whose events these are, and what is said of what was left out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.packs.brain import event_counts
from hivekeep.storage import events
from hivekeep.storage.connections import MEMORY
from hivekeep.storage.engine import EventRow
from hivekeep.storage.event_counts import Window, newest, step, total
from hivekeep.storage.sqlite import open_store
from support.client import Hive, open_hive
from support.stores import OPTIONS, event

T0 = 1_000_000_000_000_000
SINCE, UNTIL = "2001-09-09T01:46:40Z", "2001-09-09T01:46:41Z"


def put(hive: Hive, rows: Sequence[EventRow]) -> None:
    """Store events as they are."""
    hive.server.engine.run_write(lambda tx: events.insert_many(tx, rows))


def made(number: int, **fields: Any) -> EventRow:
    """An event of the window; `payload` is a dict."""
    payload = fields.pop("payload", {})
    return event(number, **{"created_at": T0 + number, "payload": json.dumps(payload), **fields})


def count(hive: Hive, **args: Any) -> dict[str, Any]:
    """The counts of the window of these tests, which holds no event of the calls themselves."""
    return dict(hive.call("brain.event_counts", **{"since": SINCE, "until": UNTIL, **args}))


@pytest.fixture
def fleet() -> Any:
    """A server whose operator lets `boss` read everybody's counts."""
    with open_hive(brain_fleet_readers=("boss",)) as opened:
        yield opened


def test_the_window_begins_with_since_and_ends_before_until(hive: Hive) -> None:
    """The first moment belongs to it, the last one does not."""
    put(hive, [event(n, created_at=moment) for n, moment in enumerate((T0 - 1, T0, T0 + 999_999, T0 + 1_000_000))])
    found = count(hive)
    assert (found["total"], found["window_event_total"], found["truncated"]) == (2, 2, False)
    assert (found["since"], found["until"]) == ("2001-09-09T01:46:40.000000Z", "2001-09-09T01:46:41.000000Z")


def test_an_empty_window_has_empty_counts(hive: Hive) -> None:
    """The three counts are there, nothing else is filled with zeros; what was not given is null."""
    answer = hive.call("brain.event_counts", since="2999-01-01T00:00:00Z", group_by=["verb", "actor"])
    assert answer == {
        "since": "2999-01-01T00:00:00.000000Z",
        "until": None,
        "actor": None,
        "kind": None,
        "total": 0,
        "truncated": False,
        "window_event_total": 0,
        "counts_by_kind": {},
        "counts_by_actor": {},
        "counts_by_verb": {},
        "counts_by_verb_and_actor": {},
    }


def test_counts_by_kind_verb_and_their_pairs(fleet: Hive) -> None:
    """Only pairs that occur; without group_by, or with null, there are none."""
    rows = [("get", "actor:ada"), ("get", "actor:ada"), ("get", "actor:bob"), ("list", "actor:bob")]
    put(fleet, [made(n, verb=verb, actor=actor) for n, (verb, actor) in enumerate(rows)])
    put(fleet, [made(9, verb="create", kind="note_created", actor="actor:ada")])
    boss = fleet.as_actor("boss")
    found = count(boss, all_actors=True, group_by=["verb", "actor"])
    assert found["counts_by_kind"] == {"audit": 4, "note_created": 1}
    assert found["counts_by_verb"] == {"create": 1, "get": 3, "list": 1}
    assert found["counts_by_actor"] == {"actor:ada": 3, "actor:bob": 2}
    assert found["counts_by_verb_and_actor"] == {
        "create": {"actor:ada": 1},
        "get": {"actor:ada": 2, "actor:bob": 1},
        "list": {"actor:bob": 1},
    }
    assert count(boss, all_actors=True, kind="NoteCreated")["counts_by_verb"] == {"create": 1}
    for absent in (count(boss, all_actors=True), count(boss, all_actors=True, group_by=None)):
        assert "counts_by_verb_and_actor" not in absent


@pytest.mark.parametrize("pair", [["actor", "verb"], ["verb"], ["verb", "verb"], [], ["verb", "kind"]])
def test_no_other_pair_is_counted(hive: Hive, pair: list[str]) -> None:
    """Order and names are fixed."""
    error = hive.refuses("brain.event_counts", since=SINCE, group_by=pair)
    assert (error["kind"], "verb" in error["message"]) == ("invalid_input", True)


def test_by_default_one_counts_ones_own_events_under_one_name(hive: Hive) -> None:
    """A named caller also owns rows that hold its bare id, unless the id reads like the label of another one."""
    labels = ["actor:ada", "ada", "actor:bob", "anonymous:local", "actor:actor:ada", "local"]
    put(hive, [made(n, actor=label) for n, label in enumerate(labels)])
    assert count(hive.as_actor("ada"), group_by=["verb", "actor"])["counts_by_verb_and_actor"] == {"get": {"ada": 2}}
    assert count(hive)["counts_by_actor"] == {"anonymous:local": 1}
    assert count(hive.as_actor("actor:ada"))["counts_by_actor"] == {"actor:ada": 1}
    assert count(hive.as_actor("zoe"))["counts_by_actor"] == {}


def test_an_explicit_actor_keeps_its_stored_labels(hive: Hive) -> None:
    """A bare id selects both spellings, a label only itself."""
    put(hive, [made(n, actor=label) for n, label in enumerate(["actor:ada", "ada", "anonymous:local"])])
    ada = hive.as_actor("ada")
    assert count(ada, actor="ada")["counts_by_actor"] == {"actor:ada": 1, "ada": 1}
    assert count(ada, actor="actor:ada")["counts_by_actor"] == {"actor:ada": 1}
    assert count(hive, actor="anonymous:local")["counts_by_actor"] == {"anonymous:local": 1}


@pytest.mark.parametrize(
    ("caller", "visible", "actor", "allowed"),
    [
        ("ada", (), "bob", False),
        ("ada", ("bob",), "bob", True),
        ("ada", ("bob",), "actor:bob", True),
        ("ada", ("agent:x",), "agent:x", True),
        ("ada", ("x",), "agent:x", False),
        # the raw id of the caller reads like the label of another principal, who is meant then
        ("actor:ada", (), "actor:actor:ada", True),
        ("actor:ada", ("ada",), "actor:ada", True),
        # the anonymous caller, and a principal whose id looks like it
        (None, (), "anonymous:local", True),
        ("anonymous:local", (), "actor:anonymous:local", True),
    ],
)
def test_another_actor_must_be_visible(
    hive: Hive, caller: str | None, visible: tuple[str, ...], actor: str, allowed: bool
) -> None:
    """Callers are compared by kind and id; a foreign id is looked up in the visible set, other kinds by full label."""
    asking = hive.as_actor(caller, visible=visible)
    if allowed:
        assert count(asking, actor=actor)["total"] == 0
    else:
        error = asking.refuses("brain.event_counts", since=SINCE, actor=actor)
        assert (error["kind"], actor in error["message"]) == ("permission_denied", True)


def test_everybody_is_for_those_whom_the_operator_lists(fleet: Hive) -> None:
    """By the exact id of a named caller; even they count their own events unless they ask; one or the other."""
    put(fleet, [made(1, actor="actor:ada"), made(2, actor="actor:boss")])
    boss = fleet.as_actor("boss")
    assert count(boss)["counts_by_actor"] == {"boss": 1}
    assert count(boss, all_actors=True)["counts_by_actor"] == {"actor:ada": 1, "actor:boss": 1}
    for other in (fleet, fleet.as_actor("Boss"), fleet.as_actor("actor:boss"), fleet.as_actor("ada")):
        error = other.refuses("brain.event_counts", since=SINCE, all_actors=True)
        assert (error["kind"], "brain.fleet_readers" in error["message"]) == ("permission_denied", True)
    assert "not both" in boss.refuses("brain.event_counts", since=SINCE, all_actors=True, actor="boss")["message"]
    assert count(boss, all_actors=False, actor="boss")["total"] == 1


def test_the_anonymous_caller_is_no_fleet_reader(hive: Hive) -> None:
    """Its id is `local`, which an operator may list as a principal."""
    with open_hive(brain_fleet_readers=("local", "anonymous:local")) as opened:
        error = opened.refuses("brain.event_counts", since=SINCE, all_actors=True)
        assert error["kind"] == "permission_denied"
        assert count(opened.as_actor("local"), all_actors=True)["total"] == 0


def test_events_of_namespaces_that_are_not_visible_do_not_count(fleet: Hive) -> None:
    """Not even for who may count everybody's."""
    put(fleet, [made(1, namespace="secret", actor="actor:boss"), made(2, actor="actor:boss")])
    assert count(fleet.as_actor("boss"), all_actors=True)["total"] == 1
    assert count(fleet.as_actor("boss", visible=["secret"]), all_actors=True)["total"] == 2


def test_feedback_is_counted_by_profile_signal_and_origin(hive: Hive) -> None:
    """What an event does not say is `unspecified`, its origin then the verb it has."""
    said: list[tuple[str, dict[str, Any]]] = [
        ("brain.feedback", {"served_by_profile_id": "a", "signal": "useful", "originating_verb": "brain.feedback"}),
        ("brain.feedback", {"served_by_profile_id": "a", "signal": "wrong", "originating_verb": "brain.auto_feedback"}),
        ("memory.feedback", {"signal": "useful", "served_by_profile_id": 7}),
        ("brain.feedback", {}),
    ]
    put(hive, [made(n, kind="feedback_explicit", verb=verb, payload=payload) for n, (verb, payload) in enumerate(said)])
    put(hive, [made(9, payload={"signal": "useful"})])
    found = count(hive)
    assert found["by_profile"] == {"a": 2, "unspecified": 2}
    assert found["counts_by_signal"] == {"unspecified": 1, "useful": 2, "wrong": 1}
    assert found["by_profile_and_signal"] == {
        "a": {"useful": 1, "wrong": 1},
        "unspecified": {"unspecified": 1, "useful": 1},
    }
    assert found["feedback_by_originating_verb"] == {
        "brain.auto_feedback": 1,
        "brain.feedback": 2,
        "memory.feedback": 1,
    }
    assert "by_profile" not in count(hive, kind="audit")


def test_work_classes_and_costs(hive: Hive) -> None:
    """The class of the payload itself, else of its resource; only whole numbers are costs; without any, no fields."""
    payloads: list[dict[str, Any]] = [
        {"work_class": "actor_turn", "resource": {"work_class": "interactive"}},
        {"resource": {"work_class": "interactive", "cost_unit": 3}},
        {"resource": {"work_class": 5, "cost_unit": True}},
        {"resource": {"cost_unit": 2.5}},
        {"resource": {"cost_unit": -1}},
        {"resource": "none"},
        {},
    ]
    put(hive, [made(n, verb="get" if n < 4 else "list", payload=payload) for n, payload in enumerate(payloads)])
    found = count(hive)
    assert found["counts_by_work_class"] == {"actor_turn": 1, "interactive": 1}
    assert (found["total_cost_unit"], found["cost_unit_by_verb"]) == (2, {"get": 3, "list": -1})
    put(hive, [made(20, kind="note_created")])
    bare = count(hive, kind="note_created")
    assert not {"counts_by_work_class", "total_cost_unit", "cost_unit_by_verb"} & bare.keys()


@pytest.mark.parametrize(("cost", "most"), [(2**62, 2**63 - 1), (-(2**62), -(2**63)), (10**30, 2**63 - 1)])
def test_a_sum_of_costs_stays_within_64_bits(hive: Hive, cost: int, most: int) -> None:
    """It stops at the end instead of failing or turning round."""
    put(hive, [made(n, payload={"resource": {"cost_unit": cost}}) for n in range(5)])
    found = count(hive)
    assert (found["total_cost_unit"], found["cost_unit_by_verb"]) == (most, {"get": most})


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that a test can reach: 10 events of one kind, 5 and 5 of all, steps of 3, at most 30."""
    for name, value in {"PAGE": 10, "SHARE": 5, "STEP": 3, "MAX": 30}.items():
        monkeypatch.setattr(event_counts, f"EVENT_COUNTS_{name}", value)


@pytest.mark.usefixtures("small")
def test_the_newest_events_are_counted_half_of_them_audit(hive: Hive) -> None:
    """Audit events cannot crowd the others out; names of what is cut say so."""
    cost = {"resource": {"cost_unit": 1, "work_class": "interactive"}}
    put(hive, [made(n, verb="old" if n < 10 else "new", payload=cost) for n in range(20)])
    put(hive, [made(100 + n, created_at=T0 + n, kind="note_created", verb="create") for n in range(7)])
    found = count(hive, group_by=["verb", "actor"])
    assert (found["total"], found["window_event_total"], found["truncated"]) == (10, 27, True)
    assert found["counts_by_kind"] == {"audit": 5, "note_created": 5}
    assert found["counts_by_verb"] == {"create": 5, "new": 5}
    assert found["counts_by_verb_and_actor_page_scoped"] == {
        "create": {"anonymous:local": 5},
        "new": {"anonymous:local": 5},
    }
    assert (found["total_cost_unit_page_scoped"], found["cost_unit_by_verb"]) == (5, {"new": 5})
    assert not {"counts_by_verb_and_actor", "total_cost_unit"} & found.keys()
    one_kind = count(hive, kind="audit")
    assert (one_kind["total"], one_kind["counts_by_verb"], one_kind["truncated"]) == (10, {"new": 10}, True)
    assert count(hive, kind="note_created")["truncated"] is False


@pytest.mark.usefixtures("small")
def test_an_exhaustive_count_leaves_nothing_out(hive: Hive) -> None:
    """Also where many events have one moment, in several namespaces, in steps of three."""
    rows = [made(n, created_at=T0 + n // 8, namespace=("local", "ada")[n % 2], actor="actor:ada") for n in range(30)]
    put(hive, rows)
    found = count(hive.as_actor("ada"), exhaustive=True, group_by=["verb", "actor"])
    assert (found["total"], found["window_event_total"], found["truncated"]) == (30, 30, False)
    assert found["counts_by_verb_and_actor"] == {"get": {"ada": 30}}


@pytest.mark.usefixtures("small")
def test_a_window_that_is_too_large_is_refused_with_its_size(hive: Hive) -> None:
    """The message says what would make it smaller; a narrower one is counted."""
    put(hive, [made(n, kind="note_created" if n < 30 else "audit") for n in range(31)])
    error = hive.refuses("brain.event_counts", since=SINCE, until=UNTIL, exhaustive=True)
    assert (error["code"], error["details"]) == ("event_window_too_large", {"matched": "31", "max_events": "30"})
    assert "narrow since and until" in error["message"]
    assert count(hive, exhaustive=True, kind="note_created")["total"] == 30


def test_a_window_that_ends_before_it_begins_is_refused(hive: Hive) -> None:
    """Both moments are named."""
    error = hive.refuses("brain.event_counts", since=UNTIL, until=SINCE)
    assert (error["kind"], "2001-09-09T01:46:41" in error["message"]) == ("invalid_input", True)
    assert hive.refuses("brain.event_counts", since="yesterday")["kind"] == "invalid_input"


KINDS = ("audit", "note_created", "feedback_explicit")
ROWS = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from(KINDS), st.sampled_from(("x", "y")), st.sampled_from(("a", "b"))),
    max_size=25,
)


@given(ROWS, st.sampled_from((None, *KINDS)), st.integers(1, 6))
@settings(max_examples=40, derandomize=True, deadline=None)
def test_walk_page_and_total_agree_with_plain_counting(rows: list[Any], kind: str | None, size: int) -> None:
    """Any window, any size of a step: the same numbers as a loop over the events."""
    engine = open_store(MEMORY, OPTIONS)
    stored = [
        event(n, created_at=moment, kind=of, verb=verb, namespace=where)
        for n, (moment, of, verb, where) in enumerate(rows)
    ]
    engine.run_write(lambda tx: events.insert_many(tx, stored))
    window = Window(("a", "b"), 1, 6, kind, ())
    meant = [row for row in stored if 1 <= row.created_at < 6 and kind in (None, row.kind)]
    with engine.read() as tx:
        assert total(tx, window) == len(meant)
        walked: Counter[tuple[str, str]] = Counter()
        for namespace in window.namespaces:
            place, going = None, True
            while going:
                groups, place = step(tx, window, namespace, place, size)
                assert sum(group.events for group in groups) <= size
                walked.update({(group.kind, group.verb): 0 for group in groups})
                for group in groups:
                    walked[group.kind, group.verb] += group.events
                going = place is not None
        paged = newest(tx, window, size)
    engine.close()
    assert walked == Counter((row.kind, row.verb) for row in meant)
    latest = sorted(meant, key=lambda row: (row.created_at, row.id), reverse=True)[:size]
    wanted = Counter((row.kind, row.verb) for row in latest)
    found: Counter[tuple[str, str]] = Counter()
    for group in paged:
        found[group.kind, group.verb] += group.events
    assert found == wanted


def test_a_marked_turn_counts_per_actor(hive: Hive) -> None:
    """The event says who, when and what for; it is the denominator of everything else."""
    ada = hive.as_actor("ada")
    answer = ada.call("brain.mark_turn", label="wake")
    ada.call("brain.mark_turn")
    marked = {row["id"]: row for row in ada.events(event_kind="phase_started")}
    assert answer == {"ok": True, "emitted": True, "event_id": answer["event_id"], "work_class": "actor_turn"}
    row = marked[answer["event_id"]]
    assert (row["actor"], row["verb"], row["payload"]) == (
        "actor:ada",
        "brain.mark_turn",
        {"phase": "wake", "work_class": "actor_turn"},
    )
    found = ada.call("brain.event_counts", since="2020-01-01T00:00:00Z")
    assert (found["counts_by_work_class"]["actor_turn"], len(marked)) == (2, 2)


def test_a_turn_is_no_reason_to_fail(tmp_path: Any) -> None:
    """A store that cannot be written answers that nothing was stored."""
    path = tmp_path / "hive.db"
    with open_hive(path):
        pass
    with open_hive(path, read_only=True) as reading:
        assert reading.call("brain.mark_turn", label="wake") == {
            "ok": True,
            "emitted": False,
            "event_id": None,
            "work_class": "actor_turn",
        }
