"""What a query means to each embedder, and how much of a scope has no meaning yet.

Invariant: nothing here holds a transaction while a model runs or while it waits; the store is looked at in between.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Final, NamedTuple

from hivekeep.search.embedders import Embedders
from hivekeep.storage import embedding_queue, vectors
from hivekeep.storage.engine import Tx
from hivekeep.storage.text_index import TextSubstrate
from hivekeep.storage.vector_layout import FLOAT_BYTES
from hivekeep.storage.vectors import Model
from hivekeep_contract.errors import EmbedderUnavailable
from hivekeep_contract.limits import EMBEDDING_POLL_MS

Read = Callable[[], AbstractContextManager[Tx]]
"""Lends a snapshot of the store for the length of a block."""


class QueryVector(NamedTuple):
    """The vector that an embedder makes of a query; `name` and `revision` are those of the embedder."""

    name: str
    revision: str
    embedding: bytes


Meaning = Sequence[QueryVector]
"""A query as its embedders see it, one vector for each of them."""

NO_MEANING: Final[Meaning] = ()


def meaning_of(read: Read, embedders: Embedders, query: str, *, only: str | None = None) -> Meaning:
    """The vectors of a query that the store has something to compare with; raises EmbedderUnavailable.

    An embedder that made no vector of any record here is not asked, and with `only` no other one than that.
    """
    if not embedders:
        return NO_MEANING
    asked = [one for one in embedders if only in (None, one.name)]
    with read() as tx:
        known = [vectors.find_model(tx, one.name, one.revision) for one in asked]
    return [_query_vector(embedders, model, query) for model in known if model is not None]


def _query_vector(embedders: Embedders, model: Model, query: str) -> QueryVector:
    """The vector of one model; raises EmbedderUnavailable when it cannot be compared with those that are stored."""
    embedding = embedders.query_vector(model.name, query)
    if len(embedding) != FLOAT_BYTES * model.dims:
        raise EmbedderUnavailable(
            f"{model.name} now makes vectors of {len(embedding) // FLOAT_BYTES} numbers, this store has some of"
            f" {model.dims}: what runs there is another model; put the former one back or configure another"
        )
    return QueryVector(model.name, model.revision, embedding)


def pending(
    read: Read,
    embedders: Embedders,
    substrate: TextSubstrate,
    namespaces: Sequence[str],
    kind: str | None,
    wait_ms: int,
) -> int | None:
    """How many records of a scope wait for a vector, after waiting up to `wait_ms` for them; None without embedders.

    With several embedders it is the number of the one that has most to do.
    """
    if not embedders:
        return None
    scope = vectors.Scope(substrate, namespaces, kind)
    until = time.monotonic() + wait_ms / 1000
    while True:
        with read() as tx:
            waiting = max(embedding_queue.pending(tx, name, scope) for name in embedders.names)
        left = until - time.monotonic()
        if not waiting or left <= 0:
            return waiting
        time.sleep(min(left, EMBEDDING_POLL_MS / 1000))
