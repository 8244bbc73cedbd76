"""Data sets of conversations: turns in their order, questions, and the evidence that answers them.

What it keeps true: evidence is a turn or a session of the question's own conversation.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hivekeep.evaluation.datasets import Dataset, Item, Question, file
from hivekeep.evaluation.lines import Line, read_objects, shown
from hivekeep_contract.errors import InvalidInput

TURNS = "turns.jsonl"
QUESTIONS = "questions.jsonl"
ONLY = "conversation"
"""The conversation of turns that name none."""

_Turns = Mapping[str, Mapping[str, Item]]


def read(folder: Path, turns: Path, questions: Path | None) -> Dataset:
    """Read the data set of `folder`. Raises InvalidInput with file and line."""
    spaces = _conversations(turns)
    asked: dict[str, Question] = {}
    for line in read_objects(file(folder, QUESTIONS, questions)):
        question = _question(line, spaces, len(asked))
        if question.id in asked:
            line.refuse(f"the question {question.id!r} stands twice")
        asked[question.id] = question
    answered = tuple(question for question in asked.values() if question.groups)
    return Dataset(
        folder.resolve().name,
        "conversations",
        {name: tuple(items.values()) for name, items in spaces.items()},
        answered,
        len(asked) - len(answered),
    )


def _conversations(turns: Path) -> _Turns:
    found: dict[str, dict[str, Item]] = {}
    for line in read_objects(turns):
        conversation = found.setdefault(line.optional_id("conversation") or ONLY, {})
        turn = _turn(line)
        if turn.id in conversation:
            line.refuse(f"the turn {turn.id!r} stands twice in its conversation")
        conversation[turn.id] = turn
    if not found:
        raise InvalidInput(f"{turns} holds no turn")
    return found


def _turn(line: Line) -> Item:
    speaker = line.optional_text("speaker")
    text = line.text("text")
    said = f"{speaker}: {text}" if speaker else text
    return Item(line.id("id"), said, group=line.id("session"), time=line.optional_text("time"))


def _question(line: Line, spaces: _Turns, place: int) -> Question:
    space = line.optional_id("conversation")
    if space is None and len(spaces) > 1:
        line.refuse(f"'conversation' is missing; there are {len(spaces)}")
    space = next(iter(spaces)) if space is None else space
    if space not in spaces:
        line.refuse(f"there is no conversation {space!r}")
    turns = spaces[space]
    sessions = {turn.group for turn in turns.values()}
    grades: dict[str, float] = {}
    groups: set[str] = set()
    for evidence in _evidence(line):
        turn = turns.get(evidence)
        if turn is not None and turn.group is not None:
            grades[evidence] = 1.0
            groups.add(turn.group)
        elif evidence in sessions:
            groups.add(evidence)
        else:
            line.refuse(f"'evidence' names {evidence!r}, which is no turn and no session of the conversation {space!r}")
    return Question(
        line.optional_id("id") or str(place + 1),
        line.text("text", "question"),
        space,
        grades,
        frozenset(groups),
        line.optional_id("category"),
    )


def _evidence(line: Line) -> list[str]:
    given = line.fields.get("evidence")
    if not isinstance(given, list) or not all(isinstance(evidence, str | int) for evidence in given):
        line.refuse(f"'evidence' must be a list of ids of turns or sessions, not {shown(given)}")
    return [str(evidence) for evidence in given]
