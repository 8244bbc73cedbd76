"""feedback and auto_feedback: whom a judgement teaches, how much, and what is refused."""

import random
from collections import defaultdict
from typing import Any

import pytest

from hivekeep.dispatch import call as calls
from hivekeep.storage import serve_ledger
from hivekeep.storage.serve_ledger import ServeRow
from hivekeep.tuning import states
from support.client import Hive, open_hive
from support.stores import record_id

BUILTIN = "balanced-recall-v1"
DAY = 24 * 60 * 60 * 1_000_000
START = 1_800_000_000_000_000
MISSING = "00000000-0000-4000-8000-00000000dead"


def note(hive: Hive, text: str = "The cache is warm after ten minutes.") -> str:
    """The id of a new note."""
    return str(hive.call("create", kind="observation", content=text)["id"])


def state(hive: Hive, profile: str = BUILTIN) -> dict[str, Any]:
    """What a profile believes."""
    learned: dict[str, Any] = hive.call("brain.profile", profile_id=profile)["state_snapshot"]
    return learned


def beliefs(hive: Hive, profile: str = BUILTIN) -> dict[str, tuple[float, float]]:
    """The three weights and the records, as (alpha, beta)."""
    learned = state(hive, profile)
    found = {name: (learned[name]["alpha"], learned[name]["beta"]) for name in ("relevance", "salience", "temporal")}
    return found | {row["target_id"]: (row["alpha"], row["beta"]) for row in learned["entity_posteriors"]}


def told(hive: Hive) -> dict[str, Any]:
    """The last event of feedback."""
    return hive.events(event_kind="feedback_explicit")[0]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The moment of the next operations, in microseconds; change its only member."""
    moment = [START]
    monkeypatch.setattr(calls, "now_us", lambda: moment[0])
    return moment


@pytest.fixture
def ada(hive: Hive) -> Hive:
    """A named caller, whom the profile `coder` serves."""
    hive.call("brain.create_profile", name="coder")
    hive.call("brain.bind", profile_id="coder", actor="ada", consumer_kind="recall")
    return hive.as_actor("ada")


WEIGHTS = {
    "useful": ("+", 1.0),
    "not_useful": ("-", 1.0),
    "wrong": ("-", 1.0),
    "explicit_positive": ("+", 1.5),
    "explicit_negative": ("-", 1.5),
    "implicit_positive": ("+", 0.1),
    "implicit_negative": ("-", 0.1),
    "correction": ("-", 2.0),
}


def test_a_long_sequence_teaches_what_the_rules_say(ada: Hive, clock: list[int]) -> None:
    """300 signals on six records over weeks: equal to another computation of every belief to 1e-9."""
    rng = random.Random(20)
    records = [note(ada, f"note {number}") for number in range(6)]
    wanted: dict[str, list[float]] = defaultdict(lambda: [1.0, 1.0])
    wanted |= {"relevance": [7.0, 3.0], "salience": [2.0, 8.0], "temporal": [1.0, 9.0]}
    masses: dict[str, tuple[float, int]] = {}
    for _step in range(300):
        clock[0] += rng.choice((0, 1_000_000, DAY // 2, 3 * DAY))
        record, signal = rng.choice(records), rng.choice([*WEIGHTS, "implicit_positive", "implicit_negative"])
        side, weight = WEIGHTS[signal]
        if signal.startswith("implicit"):
            mass, when = masses.get(record, (0.0, clock[0]))
            mass *= 0.5 ** ((clock[0] - when) / (7 * DAY))
            passes = mass + weight <= 1.5 + 1e-9
            masses[record] = (mass + weight if passes else mass, clock[0])
            weight = weight if passes else 0.0
        if weight:
            for belief in ("salience", record, *(["relevance"] if signal == "correction" else [])):
                wanted[belief]["+-".index(side)] += weight
        ada.call("brain.feedback", target_id=record, signal=signal)
    found = beliefs(ada, "coder")
    assert found.keys() == wanted.keys()
    for name, pair in wanted.items():
        assert found[name] == pytest.approx(pair, abs=1e-9), name
    assert state(ada, "coder")["total_events"] == 300
    assert state(ada)["total_events"] == 0


def test_the_cap_forgets_records_of_which_nothing_is_left(hive: Hive, clock: list[int]) -> None:
    """Their rows stayed for ever; 217 days later a signal on another record removes them, those of a day less stay."""
    old, kept, new = note(hive, "One."), note(hive, "Two."), note(hive, "Three.")
    for record, day in ((old, 0), (kept, 1), (new, 218)):
        clock[0] = START + day * DAY
        hive.call("brain.feedback", target_id=record, signal="implicit_positive")
    with hive.server.engine.read() as tx:
        assert {row[0] for row in tx.all("SELECT target_id FROM brain_mass")} == {kept, new}
    assert beliefs(hive)[old] == (1.1, 1.0)


def test_implicit_signals_on_a_record_are_capped(hive: Hive, clock: list[int]) -> None:
    """15 of 40 count; the others are events that say so; after a week half of the room is back."""
    record = note(hive)
    for _signal in range(40):
        clock[0] += 1
        hive.call("brain.feedback", target_id=record, signal="implicit_positive")
    assert beliefs(hive)[record] == pytest.approx((2.5, 1.0), abs=1e-9)
    gates = [event["payload"]["gate"] for event in hive.events(event_kind="feedback_explicit")]
    assert [gate["effective_weight"] for gate in gates].count(0.1) == 15
    assert {gate["forced_zero_weight"] for gate in gates} == {False}
    assert gates[0]["mass_after"] == gates[0]["mass_before"] == pytest.approx(1.5, abs=1e-9)
    clock[0] += 7 * DAY
    for _signal in range(10):
        hive.call("brain.feedback", target_id=record, signal="implicit_negative")
    assert beliefs(hive)[record] == pytest.approx((2.5, 1.7), abs=1e-9)
    other = note(hive)
    hive.call("brain.feedback", target_id=other, signal="implicit_positive")
    assert beliefs(hive)[other] == pytest.approx((1.1, 1.0), abs=1e-9)


def test_feedback_teaches_the_profile_that_is_named(ada: Hive) -> None:
    """Before the bound one; the event says which it was."""
    record = note(ada)
    ada.call("brain.create_profile", name="reviewer")
    answer = ada.call("brain.feedback", target_id=record, signal="useful", served_by_profile_id="reviewer")
    assert answer["profile_id"] == "reviewer"
    assert told(ada)["payload"] == {
        "signal": "useful",
        "originating_verb": "brain.feedback",
        "profile_id": "reviewer",
        "served_by_profile_id": "reviewer",
    }
    assert [state(ada, name)["total_events"] for name in ("reviewer", "coder", BUILTIN)] == [1, 0, 0]


def test_an_unknown_profile_is_replaced_by_the_bound_one(ada: Hive, hive: Hive) -> None:
    """The event says so; without a binding it is not found, and nothing is written."""
    record = note(ada)
    answer = ada.call("brain.feedback", target_id=record, signal="useful", served_by_profile_id="gone")
    payload = told(ada)["payload"]
    assert answer["profile_id"] == payload["served_by_profile_id"] == "coder"
    assert payload["profile_resolution"] == "binding"
    error = hive.refuses("brain.feedback", target_id=record, signal="useful", served_by_profile_id="gone")
    assert (error["code"], "gone" in error["message"]) == ("not_found", True)
    assert len(hive.events(event_kind="feedback_explicit")) == 1


def test_without_a_name_the_bound_profile_learns_else_the_built_in_one(ada: Hive, hive: Hive) -> None:
    """Who is bound to nothing teaches balanced-recall-v1."""
    record = note(ada)
    answers = [caller.call("brain.feedback", target_id=record, signal="useful") for caller in (ada, hive)]
    assert [answer["profile_id"] for answer in answers] == ["coder", BUILTIN]


def test_an_archived_profile_takes_no_feedback(hive: Hive) -> None:
    """Nothing is written; one that was only set aside learns."""
    record = note(hive)
    hive.call("brain.create_profile", name="old")
    hive.call("brain.deactivate", profile_id="old")
    hive.call("brain.feedback", target_id=record, signal="useful", served_by_profile_id="old")
    hive.call("brain.archive", profile_id="old")
    error = hive.refuses("brain.feedback", target_id=record, signal="useful", served_by_profile_id="old")
    assert "archived" in error["message"]
    assert (state(hive, "old")["total_events"], len(hive.events(event_kind="feedback_explicit"))) == (1, 1)


def test_an_unattributed_answer_takes_implicit_feedback_without_effect(hive: Hive) -> None:
    """The event is there, with weight zero; no profile knows of it, not even a named one."""
    record = note(hive)
    answer = hive.call(
        "brain.feedback",
        target_id=record,
        signal="implicit_positive",
        serve_attribution="unattributed",
        served_by_profile_id=BUILTIN,
    )
    assert "profile_id" not in answer
    assert told(hive)["payload"]["gate"] == {
        "effective_weight": 0.0,
        "mass_before": 0.0,
        "mass_after": 0.0,
        "forced_zero_weight": True,
    }
    assert state(hive)["total_events"] == 0


@pytest.mark.parametrize("signal", [name for name in WEIGHTS if not name.startswith("implicit")])
def test_an_unattributed_answer_refuses_what_was_said(hive: Hive, signal: str) -> None:
    """Nobody could be credited for it."""
    record = note(hive)
    error = hive.as_actor("ada").refuses(
        "brain.feedback", target_id=record, signal=signal, serve_attribution="unattributed"
    )
    assert "unattributed" in error["message"]
    assert hive.events(event_kind="feedback_explicit") == []


@pytest.mark.parametrize("signal", ["explicit_positive", "explicit_negative", "correction"])
def test_strong_signals_need_a_named_caller(hive: Hive, signal: str) -> None:
    """An anonymous caller is refused; a principal that is only called so is not."""
    record = note(hive)
    assert "named caller" in hive.refuses("brain.feedback", target_id=record, signal=signal)["message"]
    assert hive.as_actor("anonymous:local").call("brain.feedback", target_id=record, signal=signal)["emitted"] is True


def test_the_event_says_who_judged_which_record(ada: Hive) -> None:
    """Canonical verb, stored label of the actor, the record as target; the audit row has the record too."""
    record = note(ada)
    answer = ada.call("brain.feedback", target_id=record[:8], signal="correction")
    event = told(ada)
    assert answer == {
        "emitted": True,
        "event_id": event["id"],
        "verb": "brain.feedback",
        "signal": "correction",
        "target_id": record,
        "profile_id": "coder",
    }
    assert (event["verb"], event["actor"], event["substrate"], event["target_id"]) == (
        "brain.feedback",
        "actor:ada",
        "note",
        record,
    )
    (audit,) = ada.events(verb="brain.feedback", event_kind="audit")
    assert audit["target_id"] == record


def test_only_records_can_be_judged(hive: Hive) -> None:
    """A missing or deleted one and an edge are not found; an entity is a record too."""
    ends = [hive.call("create", kind="concept", name=name)["id"] for name in ("a", "b")]
    edge = hive.call("link", source_id=ends[0], target_id=ends[1], relation="extends")["id"]
    gone = note(hive)
    hive.call("delete", id=gone)
    for target in (MISSING, edge, gone, "no such name"):
        assert hive.refuses("brain.feedback", target_id=target, signal="useful")["code"] == "not_found"
    assert hive.call("brain.feedback", target_id=ends[0], signal="useful")["target_id"] == ends[0]


def test_sections_are_checked_before_anything_is_written(hive: Hive) -> None:
    """An unknown name or signal refuses the call; the message lists the sections."""
    record = note(hive)
    bad: list[dict[str, str]] = [{"preface": "useful"}, {"overview": "nice"}]
    says = ["boundary_conditions", "section_signals"]
    for signals, word in zip(bad, says, strict=True):
        error = hive.refuses("brain.feedback", target_id=record, signal="useful", section_signals=signals)
        assert word in error["message"]
    assert (hive.events(event_kind="feedback_explicit"), state(hive)["total_events"]) == ([], 0)
    hive.call("brain.feedback", target_id=record, signal="useful", section_signals={"overview": "wrong"})
    shown = hive.call("brain.profile", profile_id=BUILTIN)["section_posteriors"]["overview"]
    assert (shown["alpha"], shown["beta"]) == (2.0, 4.0)
    assert told(hive)["payload"]["section_signals"] == {"overview": "wrong"}


def test_all_of_a_judgement_is_written_or_nothing(hive: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault in the last step takes the claim, the grade, the mass, the event and the history back."""
    record = note(hive)
    row = served(hive, record, BUILTIN)

    def fail(*_args: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(states, "_log", fail)
    error = hive.refuses(
        "brain.feedback", target_id=record, signal="implicit_positive", scorer_run_id="run", serve_ledger_id=row
    )
    assert error["code"] == "internal"
    with hive.server.engine.read() as tx:
        for table in ("brain_scored", "brain_mass", "brain_states", "brain_targets", "brain_events"):
            assert tx.one(f"SELECT count(*) FROM {table}") == (0,), table
        assert tx.one("SELECT grade FROM brain_serve_ledger") == (None,)
    assert hive.events(event_kind="feedback_explicit") == []


def served(hive: Hive, target: str, profile: str | None, namespace: str = "local") -> str:
    """The id of a row of the ledger, for a record that a profile served."""
    with hive.server.engine.read() as tx:
        (count,) = tx.one("SELECT count(*) FROM brain_serve_ledger") or (0,)
    row = ServeRow(record_id(900 + count), namespace, "recall", profile, None, None, target, "c", "q", 1)
    hive.server.engine.run_write(lambda tx: serve_ledger.append(tx, [row]))
    return row.id


def score(hive: Hive, target: str, row: str, run: str = "run-1", **more: Any) -> Any:
    """One grade of a scorer."""
    return hive.call(
        "brain.feedback",
        target_id=target,
        scorer_run_id=run,
        serve_ledger_id=row,
        **{"signal": "implicit_negative", **more},
    )


def test_a_scorer_grades_a_served_row_once(ada: Hive) -> None:
    """The profile of the row learns, whoever is bound; the second grade of the pass writes nothing."""
    record = note(ada)
    row = served(ada, record, BUILTIN)
    assert score(ada, record, row)["profile_id"] == BUILTIN
    assert score(ada, record, row, signal="implicit_positive") == {
        "emitted": False,
        "deduped": True,
        "verb": "brain.feedback",
        "signal": "implicit_positive",
        "target_id": record,
        "serve_ledger_id": row,
        "scorer_run_id": "run-1",
    }
    assert score(ada, record, row, "run-2")["emitted"] is True
    assert beliefs(ada)[record] == pytest.approx((1.0, 1.2), abs=1e-9)
    assert told(ada)["payload"]["serve_ledger_id"] == row
    with ada.server.engine.read() as tx:
        assert tx.one("SELECT grade, scorer_run_id FROM brain_serve_ledger") == ("implicit_negative", "run-2")


def test_a_row_that_counts_for_nobody_is_graded_without_effect(hive: Hive) -> None:
    """Event and claim are there, the weight is zero, no profile learns."""
    record = note(hive)
    row = served(hive, record, None)
    assert "profile_id" not in score(hive, record, row)
    assert told(hive)["payload"]["gate"]["forced_zero_weight"] is True
    assert (score(hive, record, row)["emitted"], state(hive)["total_events"]) == (False, 0)


def test_a_grade_must_fit_its_row(hive: Hive) -> None:
    """Another record or namespace, an unknown row, a signal that was said, half of the pair: all refused."""
    record, other = note(hive), note(hive)
    here, elsewhere = served(hive, record, BUILTIN), served(hive, record, BUILTIN, "elsewhere")
    pair: dict[str, Any] = {"scorer_run_id": "run", "serve_ledger_id": here}
    cases: list[tuple[dict[str, Any], str]] = [
        ({"target_id": other, "signal": "implicit_positive", **pair}, "served"),
        ({"target_id": record, "signal": "implicit_positive", **pair, "serve_ledger_id": elsewhere}, "elsewhere"),
        ({"target_id": record, "signal": "implicit_positive", **pair, "serve_ledger_id": MISSING}, "not found"),
        ({"target_id": record, "signal": "useful", **pair}, "implicit_positive"),
        ({"target_id": record, "signal": "implicit_positive", "scorer_run_id": "run"}, "serve_ledger_id"),
    ]
    for args, says in cases:
        assert says in hive.refuses("brain.feedback", **args)["message"]
    assert hive.events(event_kind="feedback_explicit") == []
    assert score(hive, record, here)["emitted"] is True


def test_auto_feedback_judges_the_result_that_is_named(ada: Hive) -> None:
    """Not the first one; the attribution comes from that result, as a pair; the event keeps where it came through."""
    first, second = note(ada, "first"), note(ada, "second")
    results = [
        {"id": first, "full_id": first, "serve_attribution": "profile", "served_by_profile_id": "coder"},
        {"id": second[:8], "full_id": second, "serve_attribution": "unspecified", "rank_score": 0.3},
    ]
    answer = ada.call("brain.auto_feedback", query="q", results=results, target_id=second, signal="implicit_positive")
    event = told(ada)
    assert answer == {
        "emitted": True,
        "event_id": event["id"],
        "verb": "brain.auto_feedback",
        "feedback_verb": "brain.feedback",
        "signal": "implicit_positive",
        "target_id": second,
        "profile_id": "coder",
        "result_count": 2,
    }
    assert (event["verb"], event["payload"]["originating_verb"]) == ("brain.feedback", "brain.auto_feedback")
    assert event["payload"]["serve_attribution"] == "unspecified"
    assert "served_by_profile_id" not in event["payload"]
    by_short_id = ada.call(
        "brain.auto_feedback", query="q", results=results, target_id=second[:8], signal="implicit_positive"
    )
    assert by_short_id["target_id"] == second


def test_attribution_of_the_call_replaces_that_of_the_result_as_a_pair(ada: Hive) -> None:
    """One given argument is enough: the other fact of the result does not join it."""
    record = note(ada)
    results = [{"id": record, "serve_attribution": "unattributed", "served_by_profile_id": "coder"}]
    refused = ada.refuses("brain.auto_feedback", query="q", results=results, target_id=record, signal="useful")
    assert "unattributed" in refused["message"]
    answer = ada.call(
        "brain.auto_feedback",
        query="q",
        results=results,
        target_id=record,
        signal="useful",
        served_by_profile_id=BUILTIN,
    )
    assert answer["profile_id"] == BUILTIN
    assert "serve_attribution" not in told(ada)["payload"]


def test_auto_feedback_without_a_signal_says_nothing(hive: Hive) -> None:
    """Nor without results; no event, no profile."""
    record = note(hive)
    assert hive.call("brain.auto_feedback", query="q", results=[{"id": record}], target_id=record) == {
        "emitted": False,
        "verb": "brain.auto_feedback",
        "reason": "no_signal",
        "result_count": 1,
    }
    assert hive.call("brain.auto_feedback", query="q", results=[], signal="useful")["reason"] == "no_results"
    assert hive.events(event_kind="feedback_explicit") == []


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"results": ["0a1b2c3d"]}, "results[0]"),
        ({"results": [{"full_id": MISSING}]}, "'id'"),
        ({"results": [{"id": " "}]}, "'id'"),
        ({"results": [{"id": MISSING, "full_id": 7}]}, "full_id"),
        ({"results": [{"id": MISSING, "serve_attribution": "someone"}]}, "unattributed"),
        ({"results": [{"id": MISSING}]}, "'target_id' is required"),
        ({"results": [{"id": MISSING}], "target_id": "4e5f6a7b"}, "that of 0"),
        ({"results": [{"id": MISSING}, {"id": MISSING}], "target_id": MISSING}, "that of 2"),
        ({"results": [{"id": MISSING}], "target_id": MISSING, "query": " "}, "query"),
        ({"results": [{"id": MISSING}], "target_id": MISSING, "namespace": "two words"}, "namespace"),
    ],
)
def test_auto_feedback_refuses_what_is_not_clear(hive: Hive, args: dict[str, Any], says: str) -> None:
    """The message says what is wrong with which argument."""
    error = hive.refuses("brain.auto_feedback", **{"query": "q", "signal": "useful", **args})
    assert error["kind"] == "invalid_input"
    assert says in error["message"]


def test_auto_feedback_teaches_in_the_namespace_that_is_named(hive: Hive) -> None:
    """Event and beliefs belong there; the profile is that of the caller."""
    hive.call("brain.create_profile", name="team")
    record = note(hive)
    answer = hive.call(
        "brain.auto_feedback",
        query="q",
        results=[{"id": record}],
        target_id=record,
        signal="useful",
        served_by_profile_id="team",
        namespace="project-x",
    )
    assert (answer["profile_id"], state(hive, "team")["total_events"]) == ("team", 0)
    assert told_in(hive, "project-x") == ["team"]
    with hive.server.engine.read() as tx:
        assert tx.all("SELECT namespace, total_events FROM brain_states") == [("project-x", 1)]


def told_in(hive: Hive, namespace: str) -> list[str]:
    """The profiles of the feedback in a namespace."""
    events = hive.events(event_kind="feedback_explicit", namespace=namespace)
    return [event["payload"]["served_by_profile_id"] for event in events]


def test_the_history_retells_what_a_profile_believes(ada: Hive) -> None:
    """Adding up the weights of the private log gives the beliefs."""
    records = [note(ada, text) for text in ("one", "two")]
    for signal in WEIGHTS:
        for record in records:
            ada.call("brain.feedback", target_id=record, signal=signal)
    with ada.server.engine.read() as tx:
        rows = tx.all(
            "SELECT payload ->> '$.target_id', payload ->> '$.weight' FROM brain_events WHERE profile_id = 'coder'"
        )
    found = beliefs(ada, "coder")
    for record in records:
        weights = [float(weight) for target, weight in rows if target == record]
        wanted = (1 + sum(w for w in weights if w > 0), 1 - sum(w for w in weights if w < 0))
        assert found[record] == pytest.approx(wanted, abs=1e-9)


def test_the_pack_works_without_the_pack_memory() -> None:
    """It needs kg only; the built-in profile learns, and nothing consumes bindings but for everything."""
    with open_hive(runtime_packs=("kg", "brain")) as hive:
        record = note(hive)
        assert hive.call("brain.feedback", target_id=record, signal="useful")["profile_id"] == BUILTIN
        assert "accepted: *" in hive.refuses("brain.bind", profile_id=BUILTIN, consumer_kind="recall")["message"]
        assert hive.call("brain.create_profile", name="x")["consumer_kind"] == "recall"
