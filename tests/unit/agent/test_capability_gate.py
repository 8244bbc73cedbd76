"""The capability gate: what is handed out to whom, and which capabilities are recommended."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivekeep.agent.capabilities import Catalog, read_catalog
from hivekeep.agent.capability_gate import Asked, alias, decide, recommended, similar, wants_code, wants_ui
from hivekeep_contract.gateway import CAPABILITY_REASONS, CATALOG_WARNINGS, MEMORY_TASK_TYPES, ROLE_WORDS
from hivekeep_contract.limits import FUNCTIONS_SKILL, MEMORY_SKILL, SOUL_SKILL, UI_SKILL

SOUL = {"kind": "skill", "name": SOUL_SKILL}
MEMORY = {"kind": "skill", "name": MEMORY_SKILL}
BAD = {"kind": "skill", "name": " x"}
TASK_TYPES = tuple(ROLE_WORDS)
OMITTED = read_catalog(None, supplied=False)


def catalog(*items: Any) -> Catalog:
    """The catalog of a request that sends these items."""
    return read_catalog(list(items), supplied=True)


def asked(catalog: Catalog, **other: Any) -> Asked:
    """A finished intake of a task that says nothing special, without memory; `other` says what differs."""
    usual: dict[str, Any] = {
        "intake_status": "ready",
        "task_type": "build",
        "task_text": "",
        "tags": (),
        "actionable": False,
    }
    return Asked(catalog=catalog, **(usual | other))


def skills(*names: str) -> list[dict[str, Any]]:
    """Skills of these names, without descriptions."""
    return [{"kind": "skill", "name": name} for name in names]


# the Skill that every answer needs

SOULS = [
    (catalog(SOUL), True),
    (catalog(SOUL, MEMORY), True),
    (catalog(SOUL, BAD), True),
    (catalog(), False),
    (catalog(MEMORY), False),
    (catalog(BAD), False),
    (OMITTED, False),
    (read_catalog({}, supplied=True), False),
    (catalog({"kind": "mcp_tool", "name": SOUL_SKILL}), False),
    (catalog({"kind": "skill", "name": SOUL_SKILL.upper()}), False),
    (catalog({"kind": "skill", "name": f"org:{SOUL_SKILL}"}), False),
    (catalog({"kind": "skill", "name": SOUL_SKILL.replace("-", "_")}), False),
    (catalog({"kind": "skill", "name": f"{SOUL_SKILL}\u200b"}), False),
]


@pytest.mark.parametrize(("sent", "there"), SOULS)
@pytest.mark.parametrize("status", ["needs_answer", "ready", "exhausted"])
def test_without_the_skill_nothing_goes_on(sent: Catalog, there: bool, status: str) -> None:
    """Kind and exact name count, no namespace, case or tool; an open question changes nothing about it."""
    decision = decide(asked(sent, intake_status=status))
    final = "answer_from_evidence_or_ask_user" if status == "needs_answer" else "proceed"
    assert decision.next_action == (final if there else "required_capability_unavailable")
    assert decision.delivers is (there and status != "needs_answer")


@pytest.mark.parametrize(
    ("sent", "state"),
    [
        (catalog(SOUL), "available"),
        (catalog(SOUL, BAD), "available"),
        (catalog(), "missing"),
        (catalog(MEMORY), "missing"),
        (catalog(BAD), "unknown"),
        (OMITTED, "unknown"),
    ],
)
def test_the_skill_is_always_told_first(sent: Catalog, state: str) -> None:
    """As required, with what is known of it: a catalog that lost items does not say what it lacks."""
    assert decide(asked(sent)).capabilities["recommendations"][0] == {
        "kind": "skill",
        "name": SOUL_SKILL,
        "availability": state,
        "reason": CAPABILITY_REASONS["soul"],
        "source": "akinator_policy",
        "required": True,
    }


# the Skill that memory needs

MEMORIES: list[tuple[Catalog, str | None]] = [
    (catalog(SOUL, MEMORY), None),
    (catalog(SOUL), "memory_reasoning_missing"),
    (catalog(SOUL, {"kind": "mcp_tool", "name": MEMORY_SKILL}), "memory_reasoning_missing"),
    (catalog(SOUL, *skills(f"org:{MEMORY_SKILL}")), "memory_reasoning_missing"),
    (catalog(SOUL, *skills(MEMORY_SKILL.title())), "memory_reasoning_missing"),
    (catalog(SOUL, BAD), "memory_reasoning_unknown"),
    (catalog(SOUL, MEMORY, BAD), "memory_reasoning_unknown"),
]


@pytest.mark.parametrize(("sent", "reason"), MEMORIES)
@pytest.mark.parametrize("task_type", MEMORY_TASK_TYPES)
def test_memory_that_can_be_acted_upon_needs_its_skill(sent: Catalog, reason: str | None, task_type: str) -> None:
    """Withheld without it, with the reason; the run goes on. A catalog that lost items does not count for it."""
    decision = decide(asked(sent, task_type=task_type, actionable=True))
    assert decision.next_action == "proceed"
    assert decision.delivers is (reason is None)
    assert decision.memory_policy == {
        "memoryReasoningRequired": True,
        "contextWithheld": reason is not None,
        "withheldReason": reason,
    }
    last = decision.capabilities["recommendations"][-1]
    states = {None: "available", "memory_reasoning_missing": "missing", "memory_reasoning_unknown": "unknown"}
    assert (last["name"], last["availability"]) == (MEMORY_SKILL, states[reason])
    assert last["reason"] == CAPABILITY_REASONS["memory"]
    assert last.get("required") is True


@pytest.mark.parametrize("sent", [sent for sent, _ in MEMORIES])
@pytest.mark.parametrize(
    "other",
    [
        {"actionable": False},
        {"actionable": False, "task_type": "debug"},
        {"intake_status": "exhausted"},
        {"intake_status": "exhausted", "task_type": "debug"},
        *({"task_type": task_type} for task_type in (*TASK_TYPES, None) if task_type not in MEMORY_TASK_TYPES),
    ],
    ids=str,
)
def test_nothing_else_needs_it(sent: Catalog, other: dict[str, Any]) -> None:
    """Neither other tasks nor an intake that ended with gaps, nor memory that cannot be acted upon."""
    decision = decide(asked(sent, **({"actionable": True} | other)))
    assert (decision.next_action, decision.delivers) == ("proceed", True)
    assert decision.memory_policy == {
        "memoryReasoningRequired": False,
        "contextWithheld": False,
        "withheldReason": None,
    }
    assert MEMORY_SKILL not in [told["name"] for told in decision.capabilities["recommendations"]]


def test_every_case_of_the_gate() -> None:
    """Handed out is what has its first Skill, a final intake, and its second Skill where that is required."""
    sent = {
        (True, "available"): catalog(SOUL, MEMORY),
        (True, "missing"): catalog(SOUL),
        (True, "unknown"): catalog(SOUL, MEMORY, BAD),
        (False, "available"): catalog(MEMORY),
        (False, "missing"): catalog(),
        (False, "unknown"): OMITTED,
    }
    for status, task_type, actionable in product(
        ("needs_answer", "ready", "exhausted"), (*TASK_TYPES, None), (True, False)
    ):
        for (soul, memory), each in sent.items():
            decision = decide(asked(each, intake_status=status, task_type=task_type, actionable=actionable))
            required = status == "ready" and task_type in ("build", "debug") and actionable
            withheld = required and memory != "available"
            assert decision.delivers is (soul and status != "needs_answer" and not withheld)
            assert decision.memory_policy["contextWithheld"] is withheld
            assert (decision.next_action == "required_capability_unavailable") is not soul


# what is told of the catalog


def test_the_resolution_tells_of_a_known_catalog() -> None:
    """Skills are counted once each, tools are none."""
    tool = {"kind": "mcp_tool", "name": "browser"}
    told = decide(asked(catalog(SOUL, SOUL, MEMORY, tool))).capabilities
    assert {key: value for key, value in told.items() if key != "recommendations"} == {
        "availability": "known-nonempty",
        "catalogProvided": True,
        "availableSkillCount": 2,
        "diagnostics": {"received": 4, "accepted": 4, "truncated": 0, "dropped": 0},
        "warnings": [],
    }
    assert decide(asked(catalog())).capabilities["availableSkillCount"] == 0


@pytest.mark.parametrize(
    ("sent", "provided", "said"),
    [
        (OMITTED, False, []),
        (read_catalog(1, supplied=True), True, ["CAPABILITY_CATALOG_UNAVAILABLE"]),
        (catalog(SOUL, BAD), True, ["CAPABILITY_CATALOG_ITEMS_DROPPED", "CAPABILITY_CATALOG_UNAVAILABLE"]),
    ],
)
def test_the_resolution_tells_of_an_unknown_one(sent: Catalog, provided: bool, said: list[str]) -> None:
    """Nobody can count the Skills of a catalog that was not taken whole."""
    told = decide(asked(sent)).capabilities
    assert (told["availability"], told["catalogProvided"], told["availableSkillCount"]) == ("unknown", provided, None)
    assert told["warnings"] == [{"code": code, "message": CATALOG_WARNINGS[code]} for code in said]


# what is recommended


def names(request: Asked) -> list[tuple[str, str]]:
    """Names and availability of what is recommended, without the first."""
    return [(told["name"], told["availability"]) for told in recommended(request)[1:]]


def test_the_policy_asks_in_its_order() -> None:
    """Skills of the tags, for a user interface, for code, and for memory; each as the catalog has it."""
    text = "Implement the settings dashboard"
    tags = ("bot:builder", "skill:tdd")
    wanted = ["tdd", UI_SKILL, FUNCTIONS_SKILL, MEMORY_SKILL]
    missing = asked(catalog(SOUL), task_text=text, tags=tags, actionable=True)
    assert names(missing) == [(name, "missing") for name in wanted]
    unknown = asked(catalog(SOUL, BAD), task_text=text, tags=tags, actionable=True)
    assert names(unknown) == [(name, "unknown") for name in wanted]
    there = asked(catalog(SOUL, *skills(*wanted)), task_text=text, tags=tags, actionable=True)
    assert names(there) == [(name, "available") for name in wanted]
    assert [told["reason"] for told in recommended(there)] == [
        CAPABILITY_REASONS[reason] for reason in ("soul", "tag", "ui", "functions", "memory")
    ]
    assert [told.get("required") for told in recommended(there)] == [True, None, None, None, True]
    assert {told["source"] for told in recommended(there)} == {"akinator_policy"}


@pytest.mark.parametrize(
    ("name", "known_as"),
    [
        ("tdd", "tdd"),
        ("TDD", "tdd"),
        ("org::tdd", "tdd"),
        ("org:tdd", "tdd"),
        ("skills/tdd", "tdd"),
        ("a/b::c:Code_Review", "code-review"),
        ("code_review", "code-review"),
        ("tdd:", ""),
    ],
)
def test_an_alias_is_the_last_part_in_lower_case(name: str, known_as: str) -> None:
    """With hyphens for underscores."""
    assert alias(name) == known_as


def test_a_skill_that_is_not_required_is_found_by_its_alias() -> None:
    """It is told by the name that the client knows it by; in an incomplete catalog it is there as well."""
    for sent in (catalog(SOUL, *skills("org:TDD")), catalog(SOUL, *skills("org:TDD"), BAD)):
        assert names(asked(sent, tags=("skill:tdd",))) == [("org:TDD", "available")]
    tool = catalog(SOUL, {"kind": "mcp_tool", "name": "tdd"})
    assert names(asked(tool, tags=("skill:tdd",))) == [("tdd", "missing")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Restyle the user interface", True),
        ("New UI for the list", True),
        ("a front-end for it", True),
        ("Fix the CSS of the Landing Page", True),
        ("ダッシュボードを直す", True),
        ("guide the build", False),
        ("requires suits", False),
        ("Improve the parser", False),
        ("", False),
        ("Add an endpoint, no UI", False),
        ("Change the API; don't touch the UI", False),
        ("Change the API; don\u2019t touch the UI", False),
        ("Rework the dashboard numbers, backend only", False),
        ("Rework the dashboard numbers (back-end only)", False),
        ("Do not\nchange the UI of the dashboard", False),
    ],
)
def test_a_user_interface_is_meant_when_it_is_said(text: str, expected: bool) -> None:
    """In whole words, and nowhere excluded."""
    assert wants_ui(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Implement the parser", True),
        ("refactor: split the function", True),
        ("Write unit tests", True),
        ("パーサーを実装する", True),
        ("Review the design", False),
        ("implementations abound", False),
        ("decode a message", False),
        ("", False),
        ("Explain how to implement it; no code", False),
        ("Implement nothing: documentation only", False),
        ("Don't write code, plan the refactoring", False),
        ("リファクタリングを考える。実装しない", False),
    ],
)
def test_code_is_meant_when_it_is_said(text: str, expected: bool) -> None:
    """In whole words, and nowhere excluded."""
    assert wants_code(text) is expected


# similarity


def described(name: str, description: str, kind: str = "skill") -> dict[str, Any]:
    """An item with a description."""
    return {"kind": kind, "name": name, "description": description}


def alike(text: str, task_type: Any, *items: dict[str, Any]) -> list[str]:
    """The names of what resembles the task."""
    return [item.name for item in similar(catalog(*items).items, text, task_type)]


@pytest.mark.parametrize(
    ("item", "kept"),
    [
        (described("x", "Reads parser tables"), True),
        (described("parser_kit", ""), True),
        (described("x", "Builder, feature, scaffold"), True),
        (described("x", "Builder and feature"), False),
        (described("x", "Prepares the coffee"), False),
        (described("x", "For the and of with"), False),
        (described("PARSER", ""), True),
        (described("ｐａｒｓｅｒ", ""), True),
    ],
)
def test_one_word_of_the_task_or_three_of_its_role_are_similar(item: dict[str, Any], kept: bool) -> None:
    """Whole words in any case; those that say nothing do not count."""
    assert alike("Work on the parser for the team", "build", item) == ([item["name"]] if kept else [])


def test_the_best_five_are_told_in_order() -> None:
    """By their points, then by kind and name; a word counts once however often it is said."""
    items = [
        described("f", "parser parser parser"),
        described("e", "parser and lexer"),
        described("d", "parser, lexer, grammar"),
        described("c", "parser", kind="mcp_tool"),
        described("b", "parser, builder"),
        described("a", "parser"),
        described("g", "parser"),
    ]
    assert alike("parser lexer grammar", "build", *items) == ["d", "e", "b", "c", "a"]
    assert alike("parser lexer grammar", None, *items) == ["d", "e", "c", "a", "b"]


def test_what_the_policy_asks_for_is_not_told_twice() -> None:
    """Nor is a name that stands in the catalog with several descriptions."""
    sent = catalog(
        described(SOUL_SKILL, "parser"),
        described(MEMORY_SKILL, "parser"),
        described("org:tdd", "parser tests"),
        described("kit", "parser"),
        described("kit", "parser tables"),
        described(SOUL_SKILL, "parser", kind="mcp_tool"),
    )
    told = recommended(asked(sent, tags=("skill:tdd",), task_text="parser"))
    assert [(each["kind"], each["name"], each["source"]) for each in told] == [
        ("skill", SOUL_SKILL, "akinator_policy"),
        ("skill", "org:tdd", "akinator_policy"),
        ("mcp_tool", SOUL_SKILL, "catalog_similarity"),
        ("skill", "kit", "catalog_similarity"),
    ]
    assert all(each["reason"] == CAPABILITY_REASONS["similar"] for each in told[2:])


WORDS = st.sampled_from(["parser", "lexer", "builder", "feature", "test", "the", "coffee"])
TOLD = st.lists(
    st.builds(
        described,
        st.sampled_from(["a", "b", "c", "tdd"]),
        st.lists(WORDS, max_size=4).map(" ".join),
        st.sampled_from(["skill", "mcp_tool"]),
    ),
    max_size=10,
)


@given(items=TOLD, text=st.lists(WORDS, max_size=4).map(" ".join), data=st.data())
def test_the_order_of_the_catalog_changes_no_judgement(items: list[Any], text: str, data: st.DataObject) -> None:
    """Every permutation of the items gets the same answer, and no more than five are told for being similar."""
    judged = decide(asked(catalog(SOUL, *items), task_text=text, tags=("skill:tdd",), actionable=True))
    other = catalog(*data.draw(st.permutations([SOUL, *items])))
    assert decide(asked(other, task_text=text, tags=("skill:tdd",), actionable=True)) == judged
    told = judged.capabilities["recommendations"]
    assert len([each for each in told if each["source"] == "catalog_similarity"]) <= 5
    assert len({(each["kind"], each["name"]) for each in told}) == len(told)
