"""The texts of live records, and the text indexes built anew from them."""

from __future__ import annotations

from collections.abc import Iterator

import apsw
import pytest

from hivekeep.storage import embedding_sources, entities, notes, text_index
from hivekeep.storage.connections import MEMORY
from hivekeep.storage.embedding_sources import Source
from hivekeep.storage.engine import Tx
from hivekeep.storage.sqlite import SqliteEngine, open_store
from hivekeep.storage.text_places import place
from support.stores import OPTIONS, entity, note


@pytest.fixture
def engine() -> Iterator[SqliteEngine]:
    """Three entities, of which the second is deleted, and a note."""
    engine = open_store(MEMORY, OPTIONS)

    def fill(tx: Tx) -> None:
        entities.insert_many(tx, [entity(number, description=f"about {number}") for number in (1, 2, 3)])
        found = entities.get(tx, entity(2).id)
        assert found is not None
        entities.soft_delete(tx, found, 9)
        notes.insert(tx, note(4, name="n"))

    engine.run_write(fill)
    yield engine
    engine.close()


def test_live_records_come_in_pages_in_the_order_of_their_numbers(engine: SqliteEngine) -> None:
    """Behind the number of the last one of the page before; deleted ones are left out."""
    with engine.read() as tx:
        first = embedding_sources.page(tx, "entity", 0, 1)
        assert first == [Source("entity", 1, "local", "concept", "entity 1", "about 1")]
        assert [source.seq for source in embedding_sources.page(tx, "entity", first[-1].seq, 10)] == [3]
        assert embedding_sources.page(tx, "note", 0, 10) == [
            Source("note", 1, "local", "observation", "n", "content 4")
        ]
        assert embedding_sources.count(tx) == 3


def test_numbered_records_are_read_if_they_are_live(engine: SqliteEngine) -> None:
    """Those that are deleted or never were are left out, however many are asked for."""
    with engine.read() as tx:
        assert sorted(embedding_sources.live(tx, "entity", list(range(5000)))) == [1, 3]
        assert embedding_sources.live(tx, "entity", []) == {}


def test_a_text_index_is_built_anew_in_one_transaction(engine: SqliteEngine) -> None:
    """Rows that were lost, stale or wrong are right afterwards; a failure on the way leaves the former index."""

    def spoil(tx: Tx) -> None:
        text_index.remove(tx, "entity", place("local", "concept", 1))
        text_index.put(tx, "entity", place("local", "concept", 2), "deleted", None)
        text_index.replace(tx, "entity", place("local", "concept", 3), "wrong", None)

    def fail(tx: Tx) -> None:
        text_index.rebuild(tx, "entity")
        raise RuntimeError

    engine.run_write(spoil)
    with pytest.raises(RuntimeError):
        engine.run_write(fail)
    with engine.read() as tx:
        assert text_index.differences(tx, "entity") == ([1], [2])
    assert engine.run_write(lambda tx: text_index.rebuild(tx, "entity")) == ["entity_words", "entity_trigrams"]
    with engine.read() as tx:
        assert text_index.differences(tx, "entity") == ([], [])
        found = tx.all("SELECT rowid FROM entity_words WHERE entity_words MATCH 'about' ORDER BY rowid")
        assert found == [(place("local", "concept", 1),), (place("local", "concept", 3),)]
        assert tx.all("SELECT rowid FROM entity_words WHERE entity_words MATCH 'wrong'") == []


def test_a_broken_index_is_said_to_be_broken(engine: SqliteEngine) -> None:
    """The check of SQLite runs behind the rebuild: what it finds comes out as an error of the store."""
    engine.run_write(lambda tx: tx.run("DROP TABLE entity_words"))
    with pytest.raises(apsw.SQLError):
        engine.run_write(lambda tx: text_index.rebuild(tx, "entity"))
