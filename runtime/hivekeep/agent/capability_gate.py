"""The gate before memory: may context be handed out to this client, and which of its capabilities would help.

Invariant: the gate only judges. It is a pure function of the catalog, the intake, the task and one fact about the
ranked candidate, so one snapshot is always judged alike. Without the Skill that every answer needs nothing is handed
out, whatever the intake says; the Skill for memory is asked for only where a complete profile is to build or debug
something and the memory found can be acted upon.

(gateway rules, capability gate)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache
from typing import NamedTuple, TypeVar

from hivekeep.agent.capabilities import Capability, Catalog, warnings
from hivekeep.normal_form import normal_form
from hivekeep_contract.gateway import (
    CAPABILITY_REASONS,
    CODING_EXCLUSIONS,
    CODING_PHRASES,
    MEMORY_TASK_TYPES,
    ROLE_WORDS,
    UI_EXCLUSIONS,
    UI_PHRASES,
)
from hivekeep_contract.limits import (
    FUNCTIONS_SKILL,
    MEMORY_SKILL,
    SIMILAR_ITEMS_MAX,
    SIMILAR_ROLE_WEIGHT,
    SIMILAR_SCORE_MIN,
    SIMILAR_TASK_WEIGHT,
    SIMILAR_WORD_MIN,
    SKILL_TAG_PREFIX,
    SOUL_SKILL,
    STOP_WORDS,
    UI_SKILL,
)
from hivekeep_contract.models import gateway as models

T = TypeVar("T")

_WORD = re.compile(r"[^\W_]+")
_STOP_WORDS = frozenset(STOP_WORDS)
_SEPARATORS = re.compile(r"[:/]")


class Asked(NamedTuple):
    """What the gate looks at.

    `task_text` is everything that says what the task is; `tags` are those that the intake recommends; `actionable` says
    whether the ranked candidate holds memory that can be acted upon, False without a candidate.
    """

    catalog: Catalog
    intake_status: models.IntakeStatus
    task_type: models.TaskType | None
    task_text: str
    tags: tuple[str, ...]
    actionable: bool


class Decision(NamedTuple):
    """The judgement. Only where it `delivers` may anything be handed out or written."""

    next_action: models.NextAction
    delivers: bool
    memory_policy: models.MemoryPolicy
    capabilities: models.Capabilities


def decide(asked: Asked) -> Decision:
    """Judge one snapshot."""
    memory = memory_policy(asked)
    action = next_action(asked)
    return Decision(action, action == "proceed" and not memory["contextWithheld"], memory, _resolution(asked))


def next_action(asked: Asked) -> models.NextAction:
    """What the client does next. A missing Skill comes before an open question."""
    if _soul(asked.catalog) != "available":
        return "required_capability_unavailable"
    return "answer_from_evidence_or_ask_user" if asked.intake_status == "needs_answer" else "proceed"


def memory_policy(asked: Asked) -> models.MemoryPolicy:
    """Whether memory needs a Skill of its own, and what is withheld for want of it."""
    required = _needs_memory_skill(asked)
    state = _memory(asked.catalog)
    reasons: dict[models.CapabilityState, models.WithheldReason | None] = {
        "available": None,
        "missing": "memory_reasoning_missing",
        "unknown": "memory_reasoning_unknown",
    }
    reason = reasons[state] if required else None
    return {
        "memoryReasoningRequired": required,
        "contextWithheld": reason is not None,
        "withheldReason": reason,
    }


def _needs_memory_skill(asked: Asked) -> bool:
    return asked.actionable and asked.intake_status == "ready" and asked.task_type in MEMORY_TASK_TYPES


def _soul(catalog: Catalog) -> models.CapabilityState:
    """By its exact name, and found as well in a catalog that lost other items."""
    return "available" if _skill_named(catalog, SOUL_SKILL) else _absent(catalog)


def _memory(catalog: Catalog) -> models.CapabilityState:
    """By its exact name, and only in a catalog that was taken whole."""
    return "available" if catalog.known and _skill_named(catalog, MEMORY_SKILL) else _absent(catalog)


def _skill_named(catalog: Catalog, name: str) -> bool:
    return any(item.kind == "skill" and item.name == name for item in catalog.items)


def _absent(catalog: Catalog) -> models.CapabilityState:
    return "missing" if catalog.known else "unknown"


# what would help


class _Wanted(NamedTuple):
    """A Skill that the policy asks for, and why."""

    name: str
    reason: str


def _resolution(asked: Asked) -> models.Capabilities:
    catalog = asked.catalog
    return {
        "availability": catalog.availability,
        "catalogProvided": catalog.supplied,
        "availableSkillCount": sum(item.kind == "skill" for item in catalog.items) if catalog.known else None,
        "diagnostics": catalog.diagnostics,
        "warnings": warnings(catalog),
        "recommendations": recommended(asked),
    }


def recommended(asked: Asked) -> list[models.CapabilityRecommendation]:
    """The Skills that the policy asks for, in its order, then what of the catalog resembles the task."""
    catalog = asked.catalog
    told = [_required(SOUL_SKILL, _soul(catalog), "soul")]
    used: set[tuple[str, str]] = {("skill", SOUL_SKILL), ("skill", MEMORY_SKILL)}
    for wanted in _wanted(asked):
        matches = [
            item.name for item in catalog.items if item.kind == "skill" and alias(item.name) == alias(wanted.name)
        ]
        used |= {("skill", name) for name in matches}
        told.append(_suggested(catalog, wanted, matches))
    if _needs_memory_skill(asked):
        told.append(_required(MEMORY_SKILL, _memory(catalog), "memory"))
    others = [item for item in catalog.items if item[:2] not in used]
    return told + [_similar(item) for item in similar(others, asked.task_text, asked.task_type)]


def _wanted(asked: Asked) -> list[_Wanted]:
    """The Skills that are not required, each once."""
    found = [
        _Wanted(tag.removeprefix(SKILL_TAG_PREFIX), "tag") for tag in asked.tags if tag.startswith(SKILL_TAG_PREFIX)
    ]
    if wants_ui(asked.task_text):
        found.append(_Wanted(UI_SKILL, "ui"))
    if wants_code(asked.task_text):
        found.append(_Wanted(FUNCTIONS_SKILL, "functions"))
    return _first_by(lambda wanted: alias(wanted.name), found)


def _required(name: str, availability: models.CapabilityState, reason: str) -> models.CapabilityRecommendation:
    return {
        "kind": "skill",
        "name": name,
        "availability": availability,
        "reason": CAPABILITY_REASONS[reason],
        "source": "akinator_policy",
        "required": True,
    }


def _suggested(catalog: Catalog, wanted: _Wanted, matches: Sequence[str]) -> models.CapabilityRecommendation:
    """The Skill by the name that the client knows it by, if it has it."""
    return {
        "kind": "skill",
        "name": matches[0] if matches else wanted.name,
        "availability": "available" if matches else _absent(catalog),
        "reason": CAPABILITY_REASONS[wanted.reason],
        "source": "akinator_policy",
    }


def _similar(item: Capability) -> models.CapabilityRecommendation:
    return {
        "kind": item.kind,
        "name": item.name,
        "availability": "available",
        "reason": CAPABILITY_REASONS["similar"],
        "source": "catalog_similarity",
    }


def alias(name: str) -> str:
    """The name by which a Skill that is not required is known: lower case, hyphens, without a namespace."""
    return _SEPARATORS.split(name.lower().replace("_", "-"))[-1]


def similar(items: Iterable[Capability], task_text: str, task_type: models.TaskType | None) -> list[Capability]:
    """The items that share most words with the task and with the role of its type, best first.

    Items of one name differ in their descriptions alone; the best of them stands for all.
    """
    task = words(task_text)
    role = _role(task_type)
    scored = [(_score(words(f"{item.name} {item.description or ''}"), task, role), item) for item in items]
    kept = [(score, item) for score, item in scored if score >= SIMILAR_SCORE_MIN]
    ranked = [item for _, item in sorted(kept, key=lambda pair: (-pair[0], pair[1][:2]))]
    return _first_by(lambda item: item[:2], ranked)[:SIMILAR_ITEMS_MAX]


def _score(own: frozenset[str], task: frozenset[str], role: frozenset[str]) -> int:
    return SIMILAR_TASK_WEIGHT * len(own & task) + SIMILAR_ROLE_WEIGHT * len(own & role)


def _first_by(key: Callable[[T], Hashable], items: Iterable[T]) -> list[T]:
    """The first item of each key, in their order."""
    firsts: dict[Hashable, T] = {}
    for item in items:
        firsts.setdefault(key(item), item)
    return list(firsts.values())


@cache
def _role(task_type: models.TaskType | None) -> frozenset[str]:
    return frozenset(ROLE_WORDS[task_type]) if task_type else frozenset()


# the text of a task


def wants_ui(text: str) -> bool:
    """Whether a task says that it is about a user interface, and nowhere that it is not."""
    return _says(text, UI_PHRASES) and not _says(text, UI_EXCLUSIONS)


def wants_code(text: str) -> bool:
    """Whether a task asks for code, and nowhere for none."""
    return _says(text, CODING_PHRASES) and not _says(text, CODING_EXCLUSIONS)


def words(text: str) -> frozenset[str]:
    """The words of a text that say something of its subject."""
    return frozenset(word for word in _spoken(text) if _telling(word))


def _telling(word: str) -> bool:
    return word not in _STOP_WORDS and (len(word) >= SIMILAR_WORD_MIN or not word.isascii())


def _spoken(text: str) -> list[str]:
    return _WORD.findall(normal_form("NFKC", text).casefold())


def _says(text: str, phrases: Sequence[str]) -> bool:
    """Whether a text holds one of the phrases: as whole words side by side, in scripts without blanks anywhere."""
    spoken = f" {' '.join(_spoken(text))} "
    return any((f" {phrase} " if phrase.isascii() else phrase) in spoken for phrase in map(_phrase, phrases))


@cache
def _phrase(phrase: str) -> str:
    return " ".join(_spoken(phrase))
