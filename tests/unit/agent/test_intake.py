"""The intake: what a query tells, which question comes next, what an answer does, and how it ends."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.agent import intake
from hivekeep.agent.intake import Intake
from hivekeep_contract.gateway import INTAKE_ALIASES, INTAKE_SUBSTRINGS, INTAKE_TAGS, INTAKE_WORDS
from hivekeep_contract.gateway_errors import Conflict, GatewayError, ValidationError

FULL: Any = {"taskType": "build", "target": "parser", "expected": "tests pass", "constraints": None}
NOTHING: Any = {"taskType": None, "target": None, "expected": None, "constraints": None}
FIXED = settings(derandomize=True, max_examples=200, deadline=None)


def hinted(**hints: str | None) -> Intake:
    """An intake whose query tells nothing."""
    return intake.begin("please help", {**NOTHING, **hints})


def asked(state: Intake) -> str | None:
    """The slot that waits for an answer."""
    waiting = intake.question(state)
    return None if waiting is None else waiting["id"]


def answered(state: Intake, *values: str) -> Intake:
    """The state after these answers to whatever is asked."""
    for value in values:
        slot = asked(state)
        assert slot is not None
        state = intake.answer(state, slot, value)  # type: ignore[arg-type]
    return state


def refusal(state: Intake, slot: Any, value: str) -> tuple[type[GatewayError], str, str | None]:
    """How an answer is refused."""
    with pytest.raises(GatewayError) as caught:
        intake.answer(state, slot, value)
    return type(caught.value), caught.value.reason, caught.value.field


# what a query tells


@pytest.mark.parametrize(
    ("query", "task_type"),
    [
        ("Fix the importer", "debug"),
        ("debugging the parser", "debug"),
        ("there are two BUGS.", "debug"),
        ("review and build it", "review"),
        ("fix what the review found", "debug"),
        ("Research: vector stores", "research"),
        ("write code", "writing"),
        ("an analysis of the build", "analysis"),
        ("analyze the logs", "analysis"),
        ("deploy it", "devops"),
        ("build the parser", "build"),
        ("add a feature", "build"),
        ("ＦＩＸ it", "debug"),
        ("the bug-free release", "debug"),
        ("hello", None),
        ("", None),
    ],
)
def test_a_query_tells_the_first_sort_of_task_that_it_has_a_word_of(query: str, task_type: str | None) -> None:
    """Debug, review, research, devops, writing, analysis, build, in this order."""
    assert intake.inferred(query) == task_type


@pytest.mark.parametrize(
    "query", ["prefix", "suffixes", "rewritten", "debugfs", "error_code", "fix_up", "preview", "decode", "éfix", "fix9"]
)
def test_a_part_of_a_word_tells_nothing(query: str) -> None:
    """Latin words count as a whole; letters, digits and underscores belong to the word."""
    assert intake.inferred(query) is None


@pytest.mark.parametrize(
    ("task_type", "part"), [(name, part) for name in INTAKE_SUBSTRINGS for part in INTAKE_SUBSTRINGS[name]]
)
def test_a_japanese_word_counts_between_other_letters(task_type: str, part: str) -> None:
    """There are no blanks to find its ends by."""
    assert intake.inferred(f"この{part}をお願い") == task_type


def test_latin_words_are_found_beside_japanese_letters() -> None:
    """The end of a Latin word is the end of its script."""
    assert intake.inferred("パーサーをfixしてください") == "debug"
    assert intake.inferred("ｻｰﾊﾞを再起動") == "devops"


@pytest.mark.parametrize("task_type", INTAKE_WORDS)
def test_every_word_of_the_table_tells_its_sort(task_type: str) -> None:
    """No word is shadowed by that of a sort before it."""
    assert {intake.inferred(f"Please {word.upper()}, now") for word in INTAKE_WORDS[task_type]} == {task_type}


# hints and where slots come from


def test_a_hint_beats_the_query_and_sources_say_where_a_slot_comes_from() -> None:
    """Only the sort of task is read from the query; hints are kept as they are."""
    state = intake.begin("fix it", {"taskType": "build", "target": " the parser ", "constraints": "no deps"})
    assert state.profile == {"taskType": "build", "target": " the parser ", "expected": None, "constraints": "no deps"}
    assert state.sources == {
        "taskType": "client_supplied",
        "target": "client_supplied",
        "constraints": "client_supplied",
    }
    assert intake.begin("fix it", None) == Intake({**NOTHING, "taskType": "debug"}, {"taskType": "inferred"})


def test_a_null_hint_is_no_hint() -> None:
    """The query is read then."""
    assert intake.begin("fix it", {"taskType": None}).sources == {"taskType": "inferred"}


def test_full_hints_are_ready_without_a_question() -> None:
    """Constraints are never needed."""
    state = hinted(**FULL)
    assert (intake.status(state), intake.missing(state), intake.question(state)) == ("ready", [], None)


# questions


def test_questions_come_in_the_order_of_the_slots() -> None:
    """Sort of task, target, expected; options are the seven sorts for the first and null for the others."""
    state = hinted()
    questions = []
    for value in ("fix", "the importer", "no crash"):
        questions.append(intake.question(state))
        assert intake.status(state) == "needs_answer"
        state = answered(state, value)
    assert [(one["id"], one["required"]) for one in questions if one] == [
        ("taskType", True),
        ("target", True),
        ("expected", True),
    ]
    assert [one["options"] for one in questions if one] == [
        ["build", "debug", "research", "review", "devops", "writing", "analysis"],
        None,
        None,
    ]
    assert all(one and one["prompt"].endswith((".", "?")) for one in questions)
    assert state.profile == {"taskType": "debug", "target": "the importer", "expected": "no crash", "constraints": None}
    assert set(state.sources.values()) == {"user_answer"}
    assert (intake.status(state), state.question_count) == ("ready", 3)


def test_a_slot_that_is_known_is_not_asked_for() -> None:
    """The missing ones are, in their order."""
    state = hinted(target="parser")
    assert (asked(state), intake.missing(state)) == ("taskType", ["taskType", "expected"])
    assert asked(answered(state, "build")) == "expected"


# answers


@pytest.mark.parametrize(
    ("value", "task_type"),
    [
        (" Fix ", "debug"),
        ("IMPLEMENTATION", "build"),
        ("analyse", "analysis"),
        ("docs", "writing"),
        ("deployment", "devops"),
        ("audit", "review"),
        ("research", "research"),
        *((alias, name) for name in INTAKE_ALIASES for alias in INTAKE_ALIASES[name]),
        *((name, name) for name in INTAKE_TAGS),
    ],
)
def test_the_sort_of_task_is_answered_by_name_or_alias(value: str, task_type: str) -> None:
    """In any case, with white space round it."""
    assert answered(hinted(), value).profile["taskType"] == task_type


@pytest.mark.parametrize("value", ["chat", "fix it", "unknown", "[redacted]", "builds"])
def test_another_text_is_no_sort_of_task(value: str) -> None:
    """Nor can the sort of task be left open."""
    assert refusal(hinted(), "taskType", value) == (ValidationError, "wrong_value", "/value")


def test_text_answers_are_kept_without_the_white_space_round_them() -> None:
    """What is inside stays."""
    assert answered(hinted(taskType="build"), "\n the  parser\t").profile["target"] == "the  parser"


def test_only_the_outstanding_question_is_answered() -> None:
    """A later one, a hinted slot and constraints are not asked for."""
    state = hinted(taskType="build")
    for slot in ("expected", "taskType", "constraints"):
        assert refusal(state, slot, "build") == (Conflict, "not_outstanding", None)


def test_the_same_answer_again_changes_nothing() -> None:
    """The white space round it, the case of a sort of task and its alias do not count; another value is refused."""
    state = answered(hinted(), "fix", "importer")
    assert intake.answer(state, "taskType", " BUG ") is state
    assert intake.answer(state, "target", " importer ") is state
    assert refusal(state, "target", "Importer") == (Conflict, "answered_otherwise", None)
    assert refusal(state, "taskType", "build") == (Conflict, "answered_otherwise", None)


def test_a_final_intake_takes_no_answer() -> None:
    """Not even the same one again."""
    state = answered(hinted(**{**FULL, "expected": None}), "done")
    assert refusal(state, "expected", "done") == (Conflict, "intake_final", None)


# unknown


def test_unknown_leaves_a_slot_open_and_spends_the_question() -> None:
    """The next question is the first missing slot that was not declined; without one the intake is exhausted."""
    state = answered(hinted(), "build", " Unknown ")
    assert (asked(state), state.question_count, state.declined) == ("expected", 2, ("target",))
    assert intake.missing(state) == ["target", "expected"]
    ready_but = answered(state, "tests pass")
    assert (intake.status(ready_but), intake.missing(ready_but)) == ("exhausted", ["target"])
    assert ready_but.profile == {**FULL, "target": None}
    assert set(ready_but.sources) == {"taskType", "expected"}


def test_one_declined_slot_is_enough_to_exhaust_an_intake() -> None:
    """No question is repeated to use up the budget."""
    state = answered(hinted(**{**FULL, "expected": None}), "unknown")
    assert (intake.status(state), intake.question(state), state.question_count) == ("exhausted", None, 1)


def test_unknown_again_is_the_same_answer_and_another_value_is_not() -> None:
    """A slot that was declined stays open."""
    state = answered(hinted(taskType="build"), "unknown")
    assert intake.answer(state, "target", "UNKNOWN") is state
    assert refusal(state, "target", "parser") == (Conflict, "answered_otherwise", None)


def test_a_value_that_was_given_cannot_become_unknown() -> None:
    """An accepted answer is never replaced."""
    state = answered(hinted(taskType="build"), "parser")
    assert refusal(state, "target", "unknown") == (Conflict, "answered_otherwise", None)


def test_a_spent_budget_exhausts_a_stored_intake() -> None:
    """Whatever is missing then."""
    state = Intake({**NOTHING}, {}, question_count=3)
    assert (intake.status(state), intake.question(state)) == ("exhausted", None)


# tags and hashes


@pytest.mark.parametrize(
    ("task_type", "tags"),
    [
        ("build", ["bot:builder", "skill:tdd"]),
        ("debug", ["bot:reviewer", "skill:diagnosing-bugs"]),
        ("review", ["bot:reviewer", "skill:code-review"]),
        ("research", ["bot:researcher", "skill:research"]),
        ("devops", ["bot:devops"]),
        ("writing", ["bot:writer"]),
        ("analysis", ["bot:analyst"]),
        (None, ["bot:common"]),
    ],
)
def test_tags_follow_the_sort_of_task(task_type: Any, tags: list[str]) -> None:
    """One row for each, and one for none."""
    assert intake.recommended_tags({**NOTHING, "taskType": task_type}) == tags


@pytest.mark.parametrize(
    ("profile", "hash_hex"),
    [
        (FULL, "cf81988c611f6c3b87302fcde42c93371ebd8632e8d8aab3932c8b49f98dbbf3"),
        ({**FULL, "constraints": "no deps"}, "ae945a7a27ce9b8f3d47b52276e561437e46b1636a86b6005557c0b7425d92b6"),
        (
            {"taskType": "debug", "target": "importer", "expected": "no crash", "constraints": None},
            "3839d90948ac4ece7a1a94a2b356f25187ccd69ecb9cdc8a76a6c9073461bc14",
        ),
    ],
)
def test_the_hash_of_a_profile_is_that_of_its_canonical_json(profile: Any, hash_hex: str) -> None:
    """Golden values."""
    assert intake.profile_hash(profile) == hash_hex


# any sequence of answers

slots = st.sampled_from(["taskType", "target", "expected", "constraints"])
values = st.sampled_from(["build", "fix", "unknown", " Unknown", "parser", " parser ", "tests pass"])
hints = st.fixed_dictionaries(
    {},
    optional={
        "taskType": st.sampled_from([None, "build", "debug"]),
        "target": st.sampled_from([None, "parser"]),
        "expected": st.sampled_from([None, "tests pass"]),
    },
)


@given(st.sampled_from(["help", "fix it"]), hints, st.lists(st.tuples(slots, values), max_size=12))
@FIXED
def test_whatever_is_answered_the_intake_ends_within_its_budget_and_keeps_what_it_has(
    query: str, given_hints: Any, tries: list[tuple[Any, str]]
) -> None:
    """A filled slot never changes, an answer counts at most once, a refused one changes nothing, and the status says
    exactly whether a question waits."""
    state = intake.begin(query, given_hints)
    for slot, value in tries:
        before, copy = state, Intake(state.profile.copy(), dict(state.sources), *state[2:])
        try:
            state = intake.answer(before, slot, value)
        except GatewayError:
            state = before
        assert before == copy
        kept = {name: old for name, old in before.profile.items() if old is not None}
        assert kept.items() <= state.profile.items()
        assert state.question_count == before.question_count + (state is not before)
        assert state.question_count <= 3
        waits = intake.question(state) is not None
        assert (intake.status(state) == "needs_answer") == waits
        assert (intake.status(state) == "ready") == (not intake.missing(state))
        assert set(state.sources) == {name for name, held in state.profile.items() if held is not None}


def test_answering_every_question_ends_the_intake_whatever_is_unknown() -> None:
    """At most three questions, for every choice of what stays open."""
    for target in ("parser", "unknown"):
        for expected in ("tests pass", "unknown"):
            state = answered(hinted(), "build", target, expected)
            open_slots = [name for name, value in (("target", target), ("expected", expected)) if value == "unknown"]
            assert intake.missing(state) == open_slots
            assert intake.status(state) == ("exhausted" if open_slots else "ready")
