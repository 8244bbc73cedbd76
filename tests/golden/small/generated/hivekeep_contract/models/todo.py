"""Arguments and results of the pack `todo`.

Printed from registry/packs/todo/ by `make generate`; do not edit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict


class ImportResultRowsItem(TypedDict):
    id: str
    done: bool | None


class ImportResult(TypedDict):
    counts: dict[str, int]
    rows: list[ImportResultRowsItem]


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportArgs:
    """
    Arguments of todo.import.
    """

    from_: str | list[str]
    edges: list[dict[str, str]] | None = None
    ids: list[str] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ListArgs:
    """
    Arguments of todo.list.
    """
