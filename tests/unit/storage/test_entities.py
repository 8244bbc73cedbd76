"""Entities as rows."""

from __future__ import annotations

import pytest

from hivekeep.storage import edges, entities, text_index, text_places
from hivekeep.storage.engine import Tx
from hivekeep.storage.entities import NO_FILTER, EntityFilter
from hivekeep.storage.json_text import dump, load_object, load_tags
from hivekeep_contract.errors import ConcurrentChange
from support.stores import edge, entity, record_id

LOCAL = ("local",)


def _numbers(rows: list[entities.EntityRow]) -> list[int]:
    return [int(row.id[-12:], 16) for row in rows]


def test_a_stored_entity_reads_back_whole(tx: Tx) -> None:
    """Every column comes back as it went in; the sequence is the database's."""
    row = entity(
        1,
        kind="document",
        entity_type="paper",
        description="Ein Text",
        properties=dump({"a": {"b": [1, None]}}),
        tags=dump(["Ä", "x"]),
        seq=77,
    )
    assert entities.insert(tx, row) == 1
    stored = entities.get(tx, row.id)
    assert stored == row._replace(seq=1)
    assert load_object(stored.properties) == {"a": {"b": [1, None]}}
    assert load_tags(stored.tags) == ["Ä", "x"]


def test_a_deleted_entity_is_only_read_when_asked_for(tx: Tx) -> None:
    """A tombstone keeps its id, gets the moment of deletion as updated_at, and leaves the text index."""
    entities.insert(tx, entity(1))
    row = entities.get(tx, record_id(1))
    assert row is not None
    gone = entities.soft_delete(tx, row, 50)
    assert (gone.deleted_at, gone.updated_at, gone.version) == (50, 50, 2)
    assert entities.get(tx, row.id) is None
    assert entities.get(tx, row.id, include_deleted=True) == gone
    assert text_index.differences(tx, "entity") == ([], [])
    back = entities.restore(tx, gone, 60)
    assert (back.deleted_at, back.updated_at, back.version) == (None, 60, 3)
    assert entities.get(tx, row.id) == back
    assert text_index.differences(tx, "entity") == ([], [])


def test_an_update_changes_only_the_version_it_read(tx: Tx) -> None:
    """The second of two writers that read the same version is refused and changes nothing."""
    entities.insert(tx, entity(1))
    read = entities.get(tx, record_id(1))
    assert read is not None
    first = entities.update(tx, read, read._replace(name="first", updated_at=9))
    assert (first.version, first.seq, first.name) == (2, 1, "first")
    with pytest.raises(ConcurrentChange) as refused:
        entities.update(tx, read, read._replace(name="second"))
    assert refused.value.details == {"reason": "concurrent_change", "id": record_id(1)}
    assert entities.get(tx, record_id(1)) == first


def test_an_update_moves_the_entity_in_the_name_and_text_indexes(tx: Tx) -> None:
    """After a rename the old name finds nothing and the new one does."""
    entities.insert(tx, entity(1, name="Alpha"))
    read = entities.get(tx, record_id(1))
    assert read is not None
    entities.update(tx, read, read._replace(name="Omega"))
    assert entities.find_by_name(tx, "local", "alpha") == []
    assert _numbers(entities.find_by_name(tx, "local", "omega")) == [1]
    scope = text_index.Scope(LOCAL)
    found = text_index.match_words(tx, "entity", '"omega"', (), scope, 10)
    assert [candidate.id for candidate in found] == [record_id(1)]
    assert text_index.match_words(tx, "entity", '"alpha"', (), scope, 10) == []


def test_names_are_equal_whatever_their_case_or_composition(tx: Tx) -> None:
    """Case folding is Unicode's, composed and decomposed letters are the same name; kind and namespace narrow."""
    entities.insert(tx, entity(1, name="STRASSE"))
    entities.insert(tx, entity(2, name="straße", kind="project"))
    entities.insert(tx, entity(3, name="Mu\u0308ller"))
    entities.insert(tx, entity(4, name="straße", namespace="other"))
    assert _numbers(entities.find_by_name(tx, "local", "Straße")) == [1, 2]
    assert _numbers(entities.find_by_name(tx, "local", "Straße", "project")) == [2]
    assert _numbers(entities.find_by_name(tx, "local", "M\u00fcller")) == [3]


def test_offset_pages_go_from_new_to_old_over_all_namespaces(tx: Tx) -> None:
    """created_at descending, then id descending, merged over the namespaces asked for."""
    for number in range(1, 7):
        namespace = ("local", "team", "hidden")[number % 3]
        entities.insert(tx, entity(number, namespace=namespace, created_at=number // 2))
    both = ("local", "team")
    assert _numbers(entities.list_page(tx, both, NO_FILTER, limit=10)) == [6, 4, 3, 1]
    assert _numbers(entities.list_page(tx, both, NO_FILTER, limit=2, offset=1)) == [4, 3]
    assert entities.list_page(tx, both, NO_FILTER, limit=0) == []
    assert entities.count(tx, both) == 4


def test_equal_times_are_ordered_by_id(tx: Tx) -> None:
    """Two records of one microsecond come in id order, larger first."""
    for number in (3, 1, 2):
        entities.insert(tx, entity(number, created_at=5))
    assert _numbers(entities.list_page(tx, LOCAL, NO_FILTER, limit=3)) == [3, 2, 1]


def test_entity_type_is_the_column_or_else_a_string_property(tx: Tx) -> None:
    """The column wins; without it properties.type counts when it is a string and equal to the letter."""
    entities.insert(tx, entity(1, entity_type="paper", properties=dump({"type": "book"})))
    entities.insert(tx, entity(2, properties=dump({"type": "paper"})))
    entities.insert(tx, entity(3, properties=dump({"type": "Paper"})))
    entities.insert(tx, entity(4, properties=dump({"type": ["paper"]})))
    entities.insert(tx, entity(5))
    papers = EntityFilter(entity_type="paper")
    assert _numbers(entities.list_page(tx, LOCAL, papers, limit=9)) == [2, 1]
    assert entities.count(tx, LOCAL, papers) == 2
    assert entities.count(tx, LOCAL, EntityFilter(entity_type="book")) == 0


def test_tags_match_any_without_the_case_of_ascii_letters(tx: Tx) -> None:
    """One equal tag is enough; only ASCII letters lose their case."""
    entities.insert(tx, entity(1, tags=dump(["Red", "big"])))
    entities.insert(tx, entity(2, tags=dump(["GREEN"])))
    entities.insert(tx, entity(3, tags=dump(["Ärger"])))
    assert _numbers(entities.list_page(tx, LOCAL, EntityFilter(tags=("RED", "green")), limit=9)) == [2, 1]
    assert entities.list_page(tx, LOCAL, EntityFilter(tags=("ärger",)), limit=9) == []
    assert _numbers(entities.list_page(tx, LOCAL, EntityFilter(tags=("ÄrGeR",)), limit=9)) == [3]


def test_a_cursor_walk_sees_every_entity_once(tx: Tx) -> None:
    """1,200 entities of one microsecond, walked by 500, are 1,200 ids; filters hold on the way."""
    for number in range(1, 1201):
        entities.insert(tx, entity(number, created_at=7, kind="concept" if number % 2 else "project"))
    seen: list[int] = []
    after = 0
    while True:
        page = entities.list_after(tx, LOCAL, NO_FILTER, limit=500, after_seq=after)
        seen += _numbers(page.rows)
        if page.next_after is None:
            break
        assert page.next_after == page.rows[-1].id
        after = page.rows[-1].seq
    assert seen == list(range(1, 1201))
    odd = entities.list_after(tx, LOCAL, EntityFilter(kind="concept"), limit=3, after_seq=1)
    assert (_numbers(odd.rows), odd.scan_incomplete) == ([3, 5, 7], False)


def test_a_full_last_page_ends_the_walk(tx: Tx) -> None:
    """A page that holds exactly the rest has no continuation."""
    for number in (1, 2):
        entities.insert(tx, entity(number))
    page = entities.list_after(tx, LOCAL, NO_FILTER, limit=2, after_seq=0)
    assert (_numbers(page.rows), page.next_after) == ([1, 2], None)


def test_hard_delete_takes_the_edges_along(tx: Tx) -> None:
    """The entity, its edges, and the annotations on those edges go; other records stay."""
    for number in (1, 2, 3):
        entities.insert(tx, entity(number))
    edges.insert(tx, edge(10, 1, 2))
    edges.insert(tx, edge(11, 3, 10, "annotates"))
    edges.insert(tx, edge(12, 3, 11, "annotates"))
    edges.insert(tx, edge(13, 2, 3))
    row = entities.get(tx, record_id(1))
    assert row is not None
    removed = entities.hard_delete(tx, row)
    assert [int(gone.id[-12:], 16) for gone in removed] == [10, 11, 12]
    assert entities.get(tx, record_id(1), include_deleted=True) is None
    assert edges.get(tx, record_id(13)) is not None
    assert text_index.differences(tx, "entity") == ([], [])


def test_numbers_are_never_given_twice(tx: Tx) -> None:
    """After the newest entity is hard-deleted the next one still gets a greater sequence."""
    entities.insert(tx, entity(1))
    row = entities.get(tx, record_id(1))
    assert row is not None
    entities.hard_delete(tx, row)
    assert entities.insert(tx, entity(2)) == 2


def test_many_entities_are_stored_as_one_by_one(tx: Tx) -> None:
    """Numbers go on in order behind those ever given; every row, its derived columns and its text are the same."""
    entities.insert(tx, entity(1))
    gone = entities.get(tx, record_id(1))
    assert gone is not None
    entities.hard_delete(tx, gone)
    rows = [entity(number, name=f"Maße {number}", description="zebra") for number in range(2, 6)]
    entities.insert_many(tx, rows)
    entities.insert_many(tx, [])
    assert entities.insert(tx, entity(6)) == 6
    stored = entities.list_after(tx, LOCAL, NO_FILTER, limit=9, after_seq=0).rows
    assert stored[:4] == [row._replace(seq=seq) for seq, row in enumerate(rows, 2)]
    assert [row.seq for row in entities.find_by_name(tx, "local", "MASSE 3")] == [3]
    assert text_index.differences(tx, "entity") == ([], [])
    found = tx.all("SELECT rowid FROM entity_words WHERE entity_words MATCH 'zebra' ORDER BY rowid")
    assert [text_places.seq_of(row[0]) for row in found] == [2, 3, 4, 5]
    assert tx.all("SELECT seq, id FROM entity_ledger WHERE seq > 1 AND seq < 6 ORDER BY seq") == [
        (seq, row.id) for seq, row in enumerate(rows, 2)
    ]


def test_many_entities_are_read_at_once(tx: Tx) -> None:
    """Unknown ids are left out, deleted ones unless asked for."""
    for number in (1, 2):
        entities.insert(tx, entity(number))
    row = entities.get(tx, record_id(2))
    assert row is not None
    entities.soft_delete(tx, row, 9)
    ids = [record_id(number) for number in (1, 2, 3)]
    assert list(entities.get_many(tx, ids)) == [record_id(1)]
    assert sorted(entities.get_many(tx, ids, include_deleted=True)) == [record_id(1), record_id(2)]
    assert entities.get_many(tx, []) == {}
