"""The points and reasons of `context-ranking-v1`, one fact after the other, and what holds for any entries."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.agent import ranking
from hivekeep.agent.ranking import Entry, Ranked, Task

DAY_US = 24 * 60 * 60 * 1_000_000
PLAIN = Entry(
    id="a",
    origin="project",
    own=True,
    kind="fact",
    status="candidate",
    trust_level="untrusted",
    confidence=0.0,
    updated_at=0,
    title="Title",
    text="",
    tags=(),
    scope={},
    provenance={},
)
NO_TASK = Task(None, None)


def one(task: Task = NO_TASK, **fields: Any) -> Ranked:
    """The only candidate, ranked."""
    return ranking.rank(task, [PLAIN._replace(**fields)])[0]


def test_an_entry_of_which_nothing_is_known() -> None:
    """A candidate has 40 points and no more, and is said to come from the project."""
    assert one() == Ranked(
        PLAIN,
        {
            "status": 40,
            "trust": 0,
            "confidence": 0,
            "taskAffinity": 0,
            "recommendedTags": 0,
            "pathOverlap": 0,
            "errorSignature": 0,
            "feedback": 0,
            "recency": 0,
            "contradiction": 0,
            "total": 40,
        },
        ("project_origin", "scope_affinity", "candidate"),
    )


@pytest.mark.parametrize(
    ("fields", "component", "points", "reason"),
    [
        ({"status": "verified"}, "status", 100, "verified"),
        ({"trust_level": "system_verified"}, "trust", 30, "system_verified_trust"),
        ({"trust_level": "source_verified"}, "trust", 25, "source_verified_trust"),
        ({"trust_level": "user_asserted"}, "trust", 15, "user_asserted_trust"),
        ({"confidence": 1.0}, "confidence", 20, "confidence"),
        ({"confidence": 0.25}, "confidence", 5, "confidence"),
        ({"confidence": 0.125}, "confidence", 3, "confidence"),
        ({"verdicts": {"helpful": 1}}, "feedback", 3, "helpful_feedback"),
        ({"verdicts": {"helpful": 2}}, "feedback", 4, "helpful_feedback"),
        ({"verdicts": {"irrelevant": 1}}, "feedback", -3, "irrelevant_feedback"),
        ({"verdicts": {"stale": 1}}, "feedback", -4, "stale_feedback"),
        ({"verdicts": {"conflicting": 9}}, "feedback", -4, "conflicting_feedback"),
        ({"verdicts": {"helpful": 9, "irrelevant": 1}}, "feedback", 3, "irrelevant_feedback"),
        ({"contradicted": True}, "contradiction", 0, "contradiction_warning"),
        ({"revised": True}, "contradiction", 0, "revision_changed"),
        ({"origin": "global"}, "status", 40, "global_origin"),
        ({"origin": "ecosystem"}, "status", 40, "ecosystem_origin"),
    ],
)
def test_what_is_known_of_an_entry_alone(fields: dict[str, Any], component: str, points: int, reason: str) -> None:
    """Status, trust, confidence and feedback give the points of the table, each with its reason."""
    ranked = one(**fields)
    assert (dict(ranked.components)[component], reason in ranked.reasons) == (points, True)


BUILD = Task("build", "the parser", ("skill:tdd", "bot:builder"), ("src/lexer.py",), ("TypeError: bad row", "E0308"))


@pytest.mark.parametrize(
    ("fields", "component", "points", "reasons"),
    [
        ({"kind": "lesson"}, "taskAffinity", 12, ("task_kind_affinity",)),
        ({"tags": ("Builder",)}, "taskAffinity", 12, ("task_tag_affinity",)),
        ({"kind": "lesson", "tags": ("build",)}, "taskAffinity", 12, ("task_kind_affinity", "task_tag_affinity")),
        ({"kind": "preference"}, "taskAffinity", 0, ()),
        ({"tags": ("bot:builder",)}, "recommendedTags", 10, ("recommended_tag_match",)),
        ({"tags": ("bot:builder", "skill:tdd")}, "recommendedTags", 20, ("recommended_tag_match",)),
        ({"title": "Parser tables"}, "pathOverlap", 12, ("target_match",)),
        ({"scope": {"area": ["lexer states"]}}, "pathOverlap", 12, ("changed_path_match",)),
        ({"title": "Parser", "tags": ("lexer",)}, "pathOverlap", 12, ("target_match", "changed_path_match")),
        ({"title": "src py the"}, "pathOverlap", 0, ()),
        ({"scope": {"visibility": "parser"}}, "pathOverlap", 0, ()),
        ({"text": "It says TYPEERROR:  bad row."}, "errorSignature", 15, ("error_signature_match",)),
        ({"text": "TypeError: bad row, then E0308"}, "errorSignature", 30, ("error_signature_match",)),
        ({"text": "xTypeError: bad rows E03089 _E0308"}, "errorSignature", 0, ()),
        ({"text": "E03089 and E0308!"}, "errorSignature", 15, ("error_signature_match",)),
    ],
)
def test_what_fits_the_task(fields: dict[str, Any], component: str, points: int, reasons: tuple[str, ...]) -> None:
    """Kind, tags, shared words and error signatures give their points once, however often they fit."""
    ranked = one(BUILD, **fields)
    known = {
        "task_kind_affinity",
        "task_tag_affinity",
        "recommended_tag_match",
        "target_match",
        "changed_path_match",
        "error_signature_match",
    }
    told = tuple(reason for reason in ranked.reasons if reason in known)
    assert dict(ranked.components)[component] == points
    assert set(reasons) <= set(told)
    assert (told == ()) == (reasons == ())


def test_newer_entries_gain_a_point_a_day_and_no_more_than_five() -> None:
    """Whole days count from the oldest candidate."""
    ages = {"a": 0, "b": DAY_US - 1, "c": DAY_US, "d": 4 * DAY_US, "e": 90 * DAY_US}
    ranked = ranking.rank(NO_TASK, [PLAIN._replace(id=name, updated_at=at) for name, at in ages.items()])
    assert {one.entry.id: one.components["recency"] for one in ranked} == {"a": 0, "b": 0, "c": 1, "d": 4, "e": 5}
    assert [one.entry.id for one in ranked] == ["e", "d", "c", "a", "b"]


def test_entries_with_equal_points_are_in_the_order_of_their_ids() -> None:
    """The id decides between equal totals."""
    ranked = ranking.rank(NO_TASK, [PLAIN._replace(id=name) for name in ("c", "a", "b")])
    assert [one.entry.id for one in ranked] == ["a", "b", "c"]


def test_reasons_are_told_in_one_order() -> None:
    """The order of the registry holds for reasons of retrieval and of ranking together."""
    ranked = one(BUILD, kind="lesson", status="verified", found_for=("tag_match", "word_match"), revised=True)
    assert ranked.reasons == (
        "project_origin",
        "scope_affinity",
        "word_match",
        "tag_match",
        "verified",
        "task_kind_affinity",
        "revision_changed",
    )


@pytest.mark.parametrize(
    ("reasons", "provenance", "actionable"),
    [
        (("word_match",), {}, True),
        (("changed_path_match",), {}, True),
        (("helpful_feedback",), {}, True),
        (("substring_match", "literal_fallback_match", "verified", "target_match"), {}, False),
        (("word_match",), {"type": "external_skill", "reference": "x"}, False),
        (("word_match",), {"type": "curator", "reference": "x"}, False),
        (("word_match",), {"type": "ledger_promotion", "reference": "x"}, True),
    ],
)
def test_which_memory_is_actionable(reasons: tuple[str, ...], provenance: dict[str, Any], actionable: bool) -> None:
    """A strong reason makes memory actionable, unless it was not made for this project."""
    assert ranking.is_actionable(reasons, provenance) is actionable


WORDS = st.sampled_from(["parser", "lexer", "E0308", "TypeError: bad row", "build", "skill:tdd", "設定", "other"])
ENTRIES = st.builds(
    Entry,
    id=st.uuids().map(str),
    origin=st.sampled_from(["project", "ecosystem", "global"]),
    own=st.booleans(),
    kind=st.sampled_from(["fact", "decision", "lesson", "preference", "reference"]),
    status=st.sampled_from(["candidate", "verified"]),
    trust_level=st.sampled_from(["untrusted", "user_asserted", "source_verified", "system_verified"]),
    confidence=st.floats(0, 1),
    updated_at=st.integers(0, 30 * DAY_US),
    title=WORDS,
    text=st.lists(WORDS, max_size=4).map(" ".join),
    tags=st.lists(WORDS, max_size=4),
    scope=st.dictionaries(st.sampled_from(["area", "visibility"]), st.lists(WORDS, max_size=2), max_size=2),
    provenance=st.just({}),
    found_for=st.lists(st.sampled_from(["word_match", "tag_match", "substring_match"]), max_size=3),
    verdicts=st.dictionaries(
        st.sampled_from(["helpful", "irrelevant", "stale", "conflicting"]), st.integers(1, 9), max_size=4
    ),
    contradicted=st.booleans(),
    revised=st.booleans(),
)
BOUNDS = {
    "status": (40, 100),
    "trust": (0, 30),
    "confidence": (0, 20),
    "taskAffinity": (0, 12),
    "recommendedTags": (0, 20),
    "pathOverlap": (0, 12),
    "errorSignature": (0, 30),
    "feedback": (-4, 4),
    "recency": (0, 5),
    "contradiction": (0, 0),
}


@given(st.lists(ENTRIES, max_size=8, unique_by=lambda entry: entry.id), st.randoms(use_true_random=False))
@settings(derandomize=True, deadline=None, max_examples=80)
def test_the_order_of_candidates_has_no_influence(entries: list[Entry], shuffler: random.Random) -> None:
    """Any permutation of the candidates gives the same ranks, points and reasons."""
    shuffled = list(entries)
    shuffler.shuffle(shuffled)
    assert ranking.rank(BUILD, shuffled) == ranking.rank(BUILD, entries)


@given(st.lists(ENTRIES, max_size=6, unique_by=lambda entry: entry.id))
@settings(derandomize=True, deadline=None, max_examples=150)
def test_components_are_integers_within_their_bounds_and_add_up(entries: list[Entry]) -> None:
    """Each component is a whole number in its range, the total is their sum, and totals never rise down the list."""
    ranked = ranking.rank(BUILD, entries)
    for one in ranked:
        parts = {name: points for name, points in one.components.items() if name != "total"}
        assert parts.keys() == BOUNDS.keys()
        assert all(
            type(points) is int and low <= points <= high
            for points, (low, high) in zip(parts.values(), BOUNDS.values(), strict=True)
        )
        assert one.components["total"] == sum(parts.values())
        assert len(set(one.reasons)) == len(one.reasons)
    totals = [one.components["total"] for one in ranked]
    assert totals == sorted(totals, reverse=True)


@settings(max_examples=300)
@given(
    signature=st.text(alphabet="aé_1. -#", min_size=1, max_size=6).map(lambda text: f"a.{text}"[-5:]),
    text=st.text(alphabet="aé_1. -#", max_size=60),
)
def test_a_signature_counts_at_the_edges_of_words(signature: str, text: str) -> None:
    """At each place where it stands: no letter, digit or underscore goes on from one side of an edge to the other."""
    sought, held = (" ".join(one_text.split()) for one_text in (signature, text))

    def joined(left: str, right: str) -> bool:
        return all(side.isalnum() or side == "_" for side in (left, right))

    padded = f" {held} "
    places = [place for place in range(1, len(padded)) if padded.startswith(sought, place)] if len(sought) >= 3 else []
    stands = any(
        not joined(padded[place - 1], sought[0])
        and not joined(sought[-1], padded[place + len(sought) : place + len(sought) + 1] or " ")
        and place + len(sought) <= len(padded) - 1
        for place in places
    )
    found = one(Task(None, None, error_signatures=[signature]), kind="lesson", text=text)
    assert found.components["errorSignature"] == 15 * stands


def test_a_text_of_one_letter_costs_no_more_than_others() -> None:
    """A long signature was compared at each place where it stands inside of a word: 0.6 s an entry, 500 entries."""
    task = Task(None, None, error_signatures=["é" * 2000 + "." * (number % 2) for number in range(2)])
    begin = time.process_time()
    for _ in range(20):
        assert one(task, kind="lesson", text="é" * 99_000).components["errorSignature"] == 0
    assert time.process_time() - begin < 3
