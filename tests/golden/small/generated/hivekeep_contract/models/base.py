"""Arguments and results of the pack `base`.

Printed from registry/packs/base/ by `make generate`; do not edit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

from hivekeep_contract.models import common


class FindBeside(TypedDict):
    """
    What find tells beside its result.
    """

    status: str


class KeepLinksItem(TypedDict):
    target: str
    relation: NotRequired[str | None]


Mood: TypeAlias = Literal["good", "bad"]


KeepResult = TypedDict(
    "KeepResult",
    {
        "id": str,
        "text": str,
        "mood": Mood | None,
        "kind": str,
        "from": NotRequired[str],
        "kept": bool,
        "extra": NotRequired[dict[str, Any]],
        "replayed": NotRequired[bool],
    },
)


KeepResultModel = TypedDict(
    "KeepResultModel",
    {
        "id": str,
        "text": str,
        "mood": Mood | None,
        "kind": str,
        "from": NotRequired[str],
        "replayed": NotRequired[bool],
    },
)


KeepResultModel1: TypeAlias = KeepResult | KeepResultModel


KeptNote = TypedDict(
    "KeptNote",
    {
        "id": str,
        "text": str,
        "mood": Mood | None,
        "kind": str,
        "from": NotRequired[str],
        "kept": bool,
        "extra": NotRequired[dict[str, Any]],
    },
)


Note = TypedDict(
    "Note",
    {
        "id": str,
        "text": str,
        "mood": Mood | None,
        "kind": str,
        "from": NotRequired[str],
    },
)


FindResult: TypeAlias = list[Note]


class Bag(TypedDict):
    """
    An object that may hold more.
    """

    notes: list[Note]


Tint: TypeAlias = Literal["red", "green"]


@dataclass(frozen=True, kw_only=True, slots=True)
class FindArgs:
    """
    Arguments of find.
    """

    query: str | None = None
    id: str | None = None
    limit: int = 10
    kind: common.EntityKind | None = None
    moods: list[Mood] = field(default_factory=lambda: ["good"])
    about: str | list[str] | None = None
    by_name: dict[str, str] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class KeepArgs:
    """
    Arguments of keep.
    """

    text: str
    mood: Literal["good"] = "good"
    tint: Tint | None = None
    tags: list[str] | None = None
    reply_to: str | None = None
    at: int | None = None
    loud: bool | None = None
    links: list[KeepLinksItem] | None = None
    dry_run: bool = False
