"""A store in memory with the real schema, and short ways to put records into it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator

import pytest

from hivekeep.search.embedders.hashed import HashedEmbedder
from hivekeep.search.embedders.source import embedding_text
from hivekeep.storage import edges, entities, notes, vectors
from hivekeep.storage.connections import MEMORY, storage_options
from hivekeep.storage.edges import EdgeRow
from hivekeep.storage.engine import Tx
from hivekeep.storage.entities import EntityRow
from hivekeep.storage.notes import NoteRow
from hivekeep.storage.sqlite import open_store
from hivekeep.storage.vectors import VectorRow
from hivekeep_contract.settings import Settings
from support.meanings import EMBEDDER


class Store:
    """A transaction with shortcuts; ids count up, and the times are the id's number."""

    def __init__(self, tx: Tx) -> None:
        self.tx = tx
        self._numbers = itertools.count(1)

    def entity(
        self,
        name: str,
        description: str | None = None,
        *,
        kind: str = "concept",
        namespace: str = "local",
        entity_type: str | None = None,
        tags: tuple[str, ...] = (),
        properties: dict[str, object] | None = None,
    ) -> str:
        """Store an entity and answer its id."""
        number = next(self._numbers)
        row = EntityRow(
            id=f"00000000-0000-4000-8000-{number:012x}",
            namespace=namespace,
            kind=kind,
            name=name,
            created_at=number,
            updated_at=number,
            entity_type=entity_type,
            description=description,
            properties=json.dumps(properties or {}),
            tags=json.dumps(tags),
        )
        entities.insert(self.tx, row)
        return row.id

    def note(
        self,
        content: str,
        *,
        name: str | None = None,
        kind: str = "observation",
        namespace: str = "local",
        salience: float | None = None,
        properties: dict[str, object] | None = None,
    ) -> str:
        """Store a note and answer its id."""
        number = next(self._numbers)
        row = NoteRow(
            id=f"00000000-0000-4000-8000-{number:012x}",
            namespace=namespace,
            kind=kind,
            content=content,
            created_at=number,
            updated_at=number,
            name=name,
            salience=salience,
            properties=json.dumps(properties or {}),
        )
        notes.insert(self.tx, row)
        return row.id

    def embed(self, *record_ids: str, text: str | None = None, embedder: HashedEmbedder = EMBEDDER) -> None:
        """Store the vectors of records as they are now, or of another text as if it were theirs."""
        model = vectors.register_model(self.tx, embedder.name, embedder.revision, embedder.dims, 1)
        for record_id in record_ids:
            entity = entities.get(self.tx, record_id)
            row = entity or notes.get(self.tx, record_id)
            assert row is not None
            body = row.description if isinstance(row, EntityRow) else row.content
            (vector,) = embedder.embed([text or embedding_text(row.name, body)])
            substrate = "note" if entity is None else "entity"
            made_of = vectors.source_hash(row.name, body)
            vectors.put_many(self.tx, model, [VectorRow(substrate, row.seq, row.namespace, row.kind, made_of, vector)])

    def supersede(self, newer: str, older: str, *, namespace: str = "local") -> str:
        """Link `newer` to the note it replaces and answer the edge's id."""
        number = next(self._numbers)
        row = EdgeRow(
            id=f"00000000-0000-4000-8000-{number:012x}",
            namespace=namespace,
            source_id=newer,
            target_id=older,
            relation="supersedes",
            created_at=number,
            updated_at=number,
        )
        edges.insert(self.tx, row)
        return row.id


@pytest.fixture
def store() -> Iterator[Store]:
    """An empty store; in memory reader and writer share one connection, so one block reads and writes."""
    engine = open_store(MEMORY, storage_options(Settings()))
    with engine.read() as tx:
        yield Store(tx)
    engine.close()
