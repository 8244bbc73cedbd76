"""Bodies, queries and answers of the agent event gateway.

Printed from registry/gateway/ by `make generate`; do not edit.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class ReadQuery(TypedDict):
    """
    Query of run.read.
    """


class NoteNotesItem(TypedDict):
    text: str
    at: NotRequired[str]


class NotePlace(TypedDict):
    """
    Where.
    """

    line: int


Level: TypeAlias = Literal["low", "high"]


class NoteBody(TypedDict):
    """
    Body of run.note.
    """

    apiVersion: Literal["1"]
    text: NotRequired[str]
    notes: NotRequired[list[NoteNotesItem]]
    level: NotRequired[Level]
    author: NotRequired[str | None]
    budget: NotRequired[int]


class ListQuery(TypedDict):
    """
    Query of run.list.
    """

    client: str
    level: NotRequired[Level]
    limit: NotRequired[int]


class Client(TypedDict):
    """
    Who reports.
    """

    kind: str
    sessionId: NotRequired[str]
    level: NotRequired[Level | None]


class LoudClient(TypedDict):
    """
    Who reports much.
    """

    kind: str
    sessionId: NotRequired[str]
    level: Level


class Note(TypedDict):
    """
    What was said.
    """

    text: str
    place: NotRequired[NotePlace]


class NotedRun(TypedDict):
    """
    A run with its notes.
    """

    runId: str
    client: Client
    startedIn: str | None
    notes: list[Note]


class Run(TypedDict):
    """
    A run.
    """

    runId: str
    client: Client
    startedIn: str | None


class OpenBody(TypedDict):
    """
    Body of run.open.
    """

    apiVersion: Literal["1"]
    client: Client
    helper: NotRequired[LoudClient]
    metadata: NotRequired[dict[str, Any]]


class Page(TypedDict):
    """
    Some runs.
    """

    items: list[Run]
