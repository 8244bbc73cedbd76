"""A store that holds a data set, filled and asked with operations alone.

What it keeps true: what an operation refuses is told and never repaired: an item that is not stored cannot be found,
and a question that is not answered finds nothing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, TypeVar

from hivekeep.evaluation.datasets import Dataset, Item
from hivekeep.identity.caller import make_caller
from hivekeep.jobs.reindex import reindex
from hivekeep.request.dsl import Op, Plan, print_plan
from hivekeep.request.envelope import ToolCall
from hivekeep.wiring import open_server
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.limits import MAX_OPS, MAX_OPS_INPUT_BYTES
from hivekeep_contract.settings import Settings

SEARCH = "search"
RECALL = "memory.recall"
SOURCE = "evaluation"

_BATCH_BYTES = MAX_OPS_INPUT_BYTES // 2
"""Bytes of items in one request; their spelling as operations takes less than twice as many."""

T = TypeVar("T")
Loop = Callable[[str, Sequence[T]], Iterable[T]]


class Shown(NamedTuple):
    """How progress is shown; each takes a text that says what is done.

    `each` gives back the items of a sequence, `steps` a function that hears steps taken and steps in all.
    """

    each: Loop[Any]
    steps: Callable[[str], AbstractContextManager[Callable[[int, int], None]]]


class Refused(NamedTuple):
    """An operation that was refused: the id of the item or question, the code and the message."""

    id: str
    code: str
    message: str


class Answer(NamedTuple):
    """What a question found: ids of items with their scores, best first; `ms` is how long the caller waited."""

    hits: list[tuple[str, float]]
    ms: float
    refused: Refused | None = None


class Store:
    """An open store; `refused` are the items that it did not take."""

    def __init__(self, settings: Settings, *, filled: bool) -> None:
        """Open or create the database that `settings` name. Raises the errors of `open_server`.

        A store that an earlier run `filled` is given the same items again and must hold them all.
        """
        self.server = open_server(settings, threaded=False)
        self._filled = filled
        self._caller = make_caller(None, None, ())
        self._namespaces: dict[str, str] = {}
        self._items: dict[str, str] = {}
        self.refused: list[Refused] = []

    def close(self) -> None:
        """Let go of the database."""
        self.server.engine.close()

    def add_notes(self, dataset: Dataset, shown: Shown) -> None:
        """Store each item as a note: its title is the name, its text the content."""
        self._add(dataset, shown, lambda space, item: _note(self._namespaces[space], item))

    def add_memories(self, dataset: Dataset, shown: Shown, *, sources: bool) -> None:
        """Store each item as a memory, its title above its text; `sources`: the turns of a session share an entity."""
        sessions = self._sessions(dataset) if sources and not self._filled else {}
        self._add(
            dataset,
            shown,
            lambda space, item: _memory(self._namespaces[space], item, sessions.get((space, item.group))),
        )

    def embed(self, shown: Shown) -> None:
        """Make the vectors of everything stored. Raises EmbedderUnavailable when an embedder cannot work."""
        around = self.server.around
        if not around.embedders:
            return
        with shown.steps("embedding") as tell:
            reindex(
                self.server.engine,
                around.embedders,
                batch_size=around.settings.embedding_batch_size,
                rebuild_text=False,
                tell=tell,
            )

    def ask(self, verb: str, space: str, text: str, limit: int, strategy: str | None) -> Answer:
        """Ask one question; `strategy` None leaves the choice to the verb."""
        args: dict[str, Any] = {"query": text, "limit": limit, "namespace": self._namespaces[space]}
        if verb == SEARCH:
            args |= {"kind": "note", "text_mode": "any_term"}
        if strategy is not None:
            args["fusion_strategy"] = strategy
        began = time.perf_counter()
        (entry,) = self._run([Op(verb, args)])
        ms = (time.perf_counter() - began) * 1000
        if not entry["ok"]:
            return Answer([], ms, _refusal("", entry))
        result = entry["result"]
        rows = result if isinstance(result, list) else result["results"]
        return Answer([(self._items[row["id"]], row["rank_score"]) for row in rows], ms)

    def _add(self, dataset: Dataset, shown: Shown, operation: Callable[[str, Item], Op]) -> None:
        self._namespaces = {space: f"space-{number}" for number, space in enumerate(dataset.spaces, start=1)}
        pairs = [(space, item) for space, items in dataset.spaces.items() for item in items]
        for batch in shown.each("storing", list(_batches(pairs))):
            entries = self._run([operation(space, item) for space, item in batch])
            for (_, item), entry in zip(batch, entries, strict=True):
                if self._filled and not _is_replay(entry):
                    raise InvalidInput(
                        f"the store does not hold {item.id!r} as the data set has it: it was filled with another data "
                        "set, in another shape or not to its end; name another folder"
                    )
                if entry["ok"]:
                    self._items[entry["result"]["id"]] = item.id
                else:
                    self.refused.append(_refusal(item.id, entry))

    def _sessions(self, dataset: Dataset) -> dict[tuple[str, str | None], str]:
        """An entity for each session; ids by space and session."""
        made: dict[tuple[str, str | None], str] = {}
        for number, (space, items) in enumerate(dataset.spaces.items(), start=1):
            for session in dict.fromkeys(item.group for item in items if item.group):
                args = {"kind": "resource", "name": session, "namespace": f"space-{number}", "skip_dedup_check": True}
                (entry,) = self._run([Op("create", args)])
                if not entry["ok"]:
                    raise InvalidInput(f"the session {session!r} was refused: {entry['error']['message']}")
                made[space, session] = entry["result"]["id"]
        return made

    def _run(self, ops: Sequence[Op]) -> list[dict[str, Any]]:
        plan = Plan("single" if len(ops) == 1 else "parallel", tuple(ops))
        call = ToolCall(print_plan(plan), "verbose")
        entries: list[dict[str, Any]] = self.server.handle(call, self._caller, source=SOURCE)["results"]
        return entries


def _note(namespace: str, item: Item) -> Op:
    named = {"name": item.title} if item.title else {}
    return Op("create", {"kind": "note", **named, "content": item.text, "key": item.id, "namespace": namespace})


def _memory(namespace: str, item: Item, source: str | None) -> Op:
    content = f"{item.title}\n\n{item.text}" if item.title else item.text
    args = {"content": content, "idempotency_key": item.id, "namespace": namespace}
    return Op("memory.remember", {**args, "source_id": source} if source else args)


def _batches(pairs: Sequence[tuple[str, Item]]) -> Iterator[list[tuple[str, Item]]]:
    """The items in requests of a size that is accepted."""
    batch: list[tuple[str, Item]] = []
    size = 0
    for space, item in pairs:
        weight = len(json.dumps((item.title, item.text), ensure_ascii=False).encode())
        if batch and (len(batch) == MAX_OPS or size + weight > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append((space, item))
        size += weight
    if batch:
        yield batch


def _is_replay(entry: Mapping[str, Any]) -> bool:
    """Whether an operation found what it would have made."""
    return entry["ok"] and (entry["result"].get("replayed") is True or entry["result"].get("created") is False)


def _refusal(item: str, entry: Mapping[str, Any]) -> Refused:
    error = entry["error"]
    return Refused(item, error.get("code", error["kind"]), error["message"])
