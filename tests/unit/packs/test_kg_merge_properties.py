"""What holds for every merge in every small graph (the same random ones on every run)."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hivekeep.packs.kg import shapes
from hivekeep.packs.kg.endpoints import joins, ordered
from hivekeep.packs.ontology import Ontology
from hivekeep.storage import edges, entities, notes, records
from hivekeep.storage.edges import EdgeRow
from hivekeep.storage.engine import Tx
from hivekeep.storage.entities import EntityRow
from hivekeep.storage.json_text import dump
from hivekeep.storage.notes import NoteRow
from hivekeep.storage.text_places import SEQ_OF
from hivekeep_contract.vocabulary import RELATIONS
from support.client import Hive, open_hive

FIXED = settings(max_examples=150, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])

ONTOLOGY = Ontology(["kg"])
CONCEPTS, PROJECTS, NOTES = 4, 2, 3
NODES = CONCEPTS + PROJECTS + NOTES
NAMESPACES = ("local", "local", "team")
PREIMAGES = ("contract_skipped_edge_preimages", "self_loop_edge_preimages", "edge_conflict_preimages")

KEYS = st.sampled_from(["a", "b", "deep"])
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(0, 3), st.lists(st.integers(0, 2), max_size=2))
OBJECTS = st.recursive(
    st.dictionaries(KEYS, LEAVES, max_size=3), lambda inner: st.dictionaries(KEYS, LEAVES | inner, max_size=3)
)
TAGS = st.lists(st.sampled_from(["x", "X", "y", "Y", "z"]), max_size=4)
TEXTS = st.sampled_from(["", "one", "two"])


class Drawn(NamedTuple):
    """An edge in the making: `source` and `target` count the nodes, and for an annotation the edges before it.

    What lies behind the last node means one of the two that are merged, which are at most edges. One at the record that
    will vanish may be `doubled` at the other one.
    """

    source: int
    target: int
    relation: str
    namespace: str
    deleted: bool
    annotates_edge: bool
    doubled: bool


class Side(NamedTuple):
    """What one of the two records holds."""

    text: str
    tags: list[str]
    properties: dict[str, Any]


EDGES = st.builds(
    Drawn,
    st.integers(0, 2 * NODES),
    st.integers(0, 2 * NODES),
    st.sampled_from(["extends", "competes_with", "supersedes"]),
    st.sampled_from(NAMESPACES),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
SIDES = st.builds(Side, TEXTS, TAGS, OBJECTS)


class Case(NamedTuple):
    """A graph, which two of its nodes are merged, and how."""

    ids: list[int]
    edges: list[Drawn]
    sides: tuple[Side, Side]
    pair: tuple[int, int]
    strategy: str
    content_strategy: str
    force: bool


CASES = st.builds(
    Case,
    st.permutations(range(NODES)),
    st.lists(EDGES, min_size=6, max_size=25),
    st.tuples(SIDES, SIDES),
    st.sampled_from([(0, 1), (1, 0), (0, 1), (6, 7), (7, 6), (0, 4), (0, 6), (2, 3)]),
    st.sampled_from(["prefer_into", "prefer_from", "union"]),
    st.sampled_from(["append", "prefer_into", "prefer_from"]),
    st.booleans(),
)


def node(case: Case, number: int) -> int:
    """The node that a number means."""
    return number if number < NODES else case.pair[number % 2]


def node_id(case: Case, number: int) -> str:
    """The id of a node; which of two is smaller is part of the case."""
    number = node(case, number)
    return f"00000000-0000-4000-8000-{case.ids[number]:012x}"


def fill(tx: Tx, case: Case) -> None:
    """Store the graph of a case: names of concepts 0 and 1 are alike, 2 and 3 are not."""
    sides = dict(zip(case.pair, case.sides, strict=True))
    for number in range(NODES):
        side = sides.get(number, Side("", [], {}))
        if number < CONCEPTS + PROJECTS:
            name = "node" if number < 2 else f"{number}{number}{number}{number}"
            kind = "concept" if number < CONCEPTS else "project"
            node_row = EntityRow(node_id(case, number), "local", kind, name, 1, 1)
            properties, tags = dump(side.properties), dump(side.tags)
            entities.insert(tx, node_row._replace(description=side.text or None, properties=properties, tags=tags))
        else:
            text = NoteRow(node_id(case, number), "local", "observation", side.text, 1, 1)
            notes.insert(tx, text._replace(properties=dump({**side.properties, "tags": side.tags})))
    stored: list[str] = []
    for count, drawn in enumerate(case.edges):
        row = edge_row(case, drawn, f"11111111-0000-4000-8000-{count:012x}", stored)
        for candidate in (row, double(case, row))[: 1 + drawn.doubled]:
            if fits(tx, case, candidate):
                edges.insert(tx, candidate)
                stored.append(candidate.id)


def double(case: Case, row: EdgeRow) -> EdgeRow:
    """The same edge with the kept record in the place of the other one."""
    into, gone = (node_id(case, number) for number in case.pair)
    source, target = (into if end == gone else end for end in (row.source_id, row.target_id))
    ends = ordered(row.relation, source, target)
    return row._replace(id="2" + row.id[1:], source_id=ends.source_id, target_id=ends.target_id, deleted_at=None)


def edge_row(case: Case, drawn: Drawn, edge_id: str, stored: list[str]) -> EdgeRow:
    """The row of an edge in the making; what starts at a note annotates, unless it supersedes a note."""
    source, relation = node_id(case, drawn.source), drawn.relation
    target = node_id(case, drawn.target)
    source_is_note, target_is_note = (node(case, end) >= CONCEPTS + PROJECTS for end in (drawn.source, drawn.target))
    if source_is_note and (relation != "supersedes" or not target_is_note):
        relation = "annotates"
        if drawn.annotates_edge and stored:
            target = stored[drawn.target % len(stored)]
    ends = ordered(relation, source, target)
    row = EdgeRow(edge_id, drawn.namespace, ends.source_id, ends.target_id, relation, 1, 1)
    return row._replace(weight=drawn.target / (2 * NODES), metadata='{"m":1}', deleted_at=2 if drawn.deleted else None)


def fits(tx: Tx, case: Case, row: EdgeRow) -> bool:
    """Whether an edge is new and allowed; at the record that will vanish the rules do not count."""
    holder = edges.find_natural(tx, row.namespace, row.source_id, row.target_id, row.relation)
    if holder is not None or row.source_id == row.target_id:
        return False
    ends = records.locate_many(tx, [row.source_id, row.target_id])
    illegal = node_id(case, case.pair[1]) in ends
    return illegal or joins(ONTOLOGY, row.relation, ends[row.source_id], ends[row.target_id])


def rows(hive: Hive, table: str) -> dict[str, tuple[Any, ...]]:
    """Every row of a table by id."""
    with hive.server.engine.read() as tx:
        return {str(row[0]): row for row in tx.all(f"SELECT id, * FROM {table}")}


def stored_edges(hive: Hive) -> dict[str, EdgeRow]:
    """Every edge by id."""
    with hive.server.engine.read() as tx:
        return edges.get_many(tx, list(rows(hive, "edges")), include_deleted=True)


def everything(hive: Hive) -> list[Any]:
    """All records and what the text indexes hold."""
    with hive.server.engine.read() as tx:
        indexed = [tx.all(f"SELECT rowid FROM {index} ORDER BY rowid") for index in ("entity_words", "note_trigrams")]
    return [rows(hive, "entities"), rows(hive, "notes"), rows(hive, "edges"), indexed]


def told(report: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every edge that a report holds as it was."""
    for name in PREIMAGES:
        for removal in report[name]:
            yield removal["dropped_edge"]
            yield from removal.get("incident_edge_preimages", ())


def merge_args(case: Case, dry_run: bool) -> dict[str, Any]:
    """The arguments of the merge of a case."""
    return {
        "into_id": node_id(case, case.pair[0]),
        "from_id": node_id(case, case.pair[1]),
        "strategy": case.strategy,
        "content_strategy": case.content_strategy,
        "force": case.force,
        "dry_run": dry_run,
    }


def mergeable(case: Case) -> bool:
    """Two concepts of one name or by force, or two notes."""
    return case.pair in ((0, 1), (1, 0), (6, 7), (7, 6)) or (case.pair == (2, 3) and case.force)


@FIXED
@given(CASES)
def test_a_merge_loses_nothing_and_keeps_the_rules(case: Case) -> None:
    """What is refused changes nothing; what is done was predicted, is told whole, and leaves a graph by the rules."""
    with open_hive() as hive:
        hive.server.engine.run_write(lambda tx: fill(tx, case))
        before, edges_before = everything(hive), stored_edges(hive)
        if not mergeable(case):
            refused(hive, case)
            assert everything(hive) == before
            return
        planned = hive.call("merge", **merge_args(case, dry_run=True))
        assert everything(hive) == before
        report = hive.call("merge", **merge_args(case, dry_run=False))
        assert planned == {**report, "dry_run": True, "would_merge": True}
        check_told(hive, report)
        check_edges(hive, case, report, edges_before)
        check_fields(hive, case, report)


def refused(hive: Hive, case: Case) -> None:
    """A pair of different sorts is an error both times; a pair that is not alike is only planned."""
    error = hive.refuses("merge", **merge_args(case, dry_run=False))
    assert error["code"] == ("invalid_input" if case.pair == (0, 6) else "merge_guard")
    if case.pair != (0, 6):
        assert hive.call("merge", **merge_args(case, dry_run=True))["refused_by"] == error["details"]["guard"]


def check_told(hive: Hive, report: dict[str, Any]) -> None:
    """The one event says what the answer said."""
    (event,) = hive.events(event_kinds=["entity_merged", "note_merged"])
    for name in (*PREIMAGES, "edges_rewired", "edges_contract_skipped", "edges_self_loop_dropped"):
        assert event["payload"][name] == report[name]
    assert report["edges_contract_skipped"] == len(report["contract_skipped_edge_preimages"])
    assert report["edges_self_loop_dropped"] == len(report["self_loop_edge_preimages"])


def check_edges(hive: Hive, case: Case, report: dict[str, Any], before: dict[str, EdgeRow]) -> None:
    """Each edge is untouched, moved in place, or told exactly once as it was; and the rules hold for what is left."""
    into, gone = report["kept_id"], report["removed_id"]
    after = stored_edges(hive)
    lost = {shown["id"]: shown for shown in told(report)}
    assert Counter(shown["id"] for shown in told(report)) == Counter(before.keys() - after.keys())
    moved = 0
    for edge_id, old in before.items():
        if edge_id in lost:
            assert lost[edge_id] == shapes.edge(old)
        elif gone in (old.source_id, old.target_id):
            moved += 1
            new = after[edge_id]
            assert new == old._replace(
                source_id=new.source_id, target_id=new.target_id, updated_at=new.updated_at, version=old.version + 1
            )
            ends = sorted(into if end == gone else end for end in (old.source_id, old.target_id))
            assert sorted((new.source_id, new.target_id)) == ends
        else:
            assert after[edge_id] == old
    assert moved == report["edges_rewired"]
    assert all(removal["surviving_edge_id"] in after for removal in report["edge_conflict_preimages"])
    assert len({(row.namespace, row.source_id, row.target_id, row.relation) for row in after.values()}) == len(after)
    with hive.server.engine.read() as tx:
        for row in after.values():
            source, target = (records.locate(tx, end) for end in (row.source_id, row.target_id))
            assert source is not None
            assert target is not None
            assert gone not in (source.id, target.id)
            assert source.id != target.id
            assert joins(ONTOLOGY, row.relation, source, target)
            assert not RELATIONS[row.relation].symmetric or row.source_id < row.target_id


def check_fields(hive: Hive, case: Case, report: dict[str, Any]) -> None:
    """Tags are joined, properties and texts follow their strategy, and only live records are indexed."""
    kept = hive.call("get", id=report["kept_id"])
    ours, theirs = case.sides
    is_note = "content" in kept
    properties = dict(kept["properties"])
    tags = properties.pop("tags") if is_note else kept["tags"]
    folded = [tag.casefold() for tag in tags]
    assert folded == list(dict.fromkeys(tag.casefold() for tag in ours.tags + theirs.tags))
    assert report["tags_unioned"] == len({*folded} - {tag.casefold() for tag in ours.tags})
    assert flat(properties) == flat(joined(ours.properties, theirs.properties, case.strategy))
    text = kept["content"] if is_note else kept["description"] or ""
    if ours.text and theirs.text:
        both = {"append": f"{ours.text}\n\n---\n\n{theirs.text}", "prefer_into": ours.text, "prefer_from": theirs.text}
        assert text == both[case.content_strategy]
    else:
        assert text == ours.text + theirs.text
    assert report["content_appended"] == (case.content_strategy == "append" and bool(theirs.text))
    with hive.server.engine.read() as tx:
        for table, index in (("entities", "entity_words"), ("notes", "note_trigrams")):
            live = tx.all(f"SELECT seq FROM {table} WHERE deleted_at IS NULL ORDER BY seq")
            assert tx.all(f"SELECT rowid {SEQ_OF} AS seq FROM {index} ORDER BY seq") == live


def joined(ours: dict[str, Any], theirs: dict[str, Any], strategy: str) -> dict[str, Any]:
    """The properties that two make, said once more: a later layer wins."""
    if strategy == "prefer_from":
        return ours | theirs
    layers = theirs | ours
    if strategy == "union":
        for key in ours.keys() & theirs.keys():
            if isinstance(ours[key], dict) and isinstance(theirs[key], dict):
                layers[key] = joined(ours[key], theirs[key], strategy)
    return layers


def flat(value: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], str]:
    """Each leaf of an object with its path; `true` and `1` differ."""
    if isinstance(value, dict) and value:
        return {key: leaf for name, inner in value.items() for key, leaf in flat(inner, (*path, name)).items()}
    return {path: repr(value)}
