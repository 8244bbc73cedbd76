"""What holds for every sequence of writes: cursor walks and bulk calls."""

import json
from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep_contract.vocabulary import RELATIONS
from support.client import Hive, open_hive

KIND = {"entity": "concept", "note": "observation"}
PAGES = {"entity": "entities", "note": "notes", "edge": "edges"}

# a walk while the store changes

STEPS = st.lists(
    st.tuples(st.sampled_from(["insert", "bulk", "soft", "hard", "restore", "update"]), st.integers(0, 50)), max_size=6
)


class World:
    """A store whose records come and go; `live` holds what a list must show, by insertion."""

    def __init__(self, hive: Hive, substrate: str) -> None:
        self.hive = hive
        self.substrate = substrate
        self.live: list[str] = []
        self.deleted: list[str] = []
        self.removed: set[str] = set()
        self.interrupted: set[str] = set()

    def step(self, what: str, number: int) -> None:
        """One change; a number chooses the record."""
        if what == "insert":
            self.live.append(self.hive.call("create", **self._record(number))["id"])
        elif what == "bulk":
            items = [self._record(at) for at in range(number % 4 + 1)]
            self.live += [entry["result"]["id"] for entry in self.hive.call("create", items=items)["results"]]
        elif what == "restore" and self.deleted:
            self.hive.call("restore", id=self.deleted.pop(number % len(self.deleted)))
        elif what == "update" and self.live:
            self.hive.call("update", id=self.live[number % len(self.live)], properties={"n": number})
        elif what in ("soft", "hard") and self.live:
            gone = self.live.pop(number % len(self.live))
            self.interrupted.add(gone)
            self.hive.call("delete", id=gone, hard=what == "hard")
            if what == "hard":
                self.removed.add(gone)
            else:
                self.deleted.append(gone)

    def _record(self, number: int) -> dict[str, Any]:
        text = {"name": f"n{number}"} if self.substrate == "entity" else {"content": f"n{number}"}
        return {"kind": KIND[self.substrate], **text}


@settings(max_examples=50, derandomize=True, deadline=None)
@given(
    substrate=st.sampled_from(["entity", "note"]),
    before=STEPS,
    between=st.lists(STEPS, max_size=6),
    limit=st.integers(1, 4),
)
def test_a_walk_sees_every_surviving_record_once(
    substrate: str, before: list[tuple[str, int]], between: list[list[tuple[str, int]]], limit: int
) -> None:
    """Whatever is inserted, deleted and restored between pages: no row twice, and each that stayed is seen.

    A boundary that is hard-deleted ends the walk with an error, never silently.
    """
    with open_hive() as hive:
        world = World(hive, substrate)
        for step in before:
            world.step(*step)
        seen: Counter[str] = Counter()
        after: str | None = ""
        changes = iter(between)
        while after is not None:
            if after in world.removed:
                assert hive.refuses("list", kind=substrate, after=after, limit=limit)["code"] == "not_found"
                return
            page = hive.call("list", kind=substrate, after=after, limit=limit)
            seen.update(row["id"] for row in page[PAGES[substrate]])
            after = page["next_after"]
            if after is not None:
                for step in next(changes, []):
                    world.step(*step)
        assert not [record for record, times in seen.items() if times > 1]
        assert set(world.live) <= set(seen)
        assert set(seen) <= set(world.live) | world.interrupted


# bulk calls and the same calls one by one

TEXTS = st.sampled_from(["x", " padded ", "", " ", "AKIA" + "ABCDEFGHIJKLMNOP"])
ITEM_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "kind": st.sampled_from(["concept", "paper", "entity", "note", "insight", "edge", "nosuch", None, 3]),
    "name": TEXTS | st.none() | st.just(3),
    "content": TEXTS | st.none(),
    "entity_kind": st.sampled_from(["concept", "org", "nosuch", None]),
    "entity_type": st.sampled_from(["paper", "Blog-Post", "nosuch", None]),
    "note_kind": st.sampled_from(["decision", "concept", None]),
    "description": TEXTS | st.none(),
    "salience": st.sampled_from([0, 0.5, 1.5, "x", None]),
    "properties": st.sampled_from([{}, {"a": [1, None]}, {"tags": ["p"]}, [], None]),
    "tags": st.sampled_from([[], ["t", "T"], "t", [1], None]),
}
# Mostly what fits, so that a fair share of the items is stored.
FITTING = st.one_of(
    st.fixed_dictionaries(
        {"kind": st.sampled_from(["concept", "paper"]), "name": TEXTS},
        optional={name: ITEM_VALUES[name] for name in ("description", "properties", "tags", "entity_type")},
    ),
    st.fixed_dictionaries(
        {"kind": st.sampled_from(["note", "insight"]), "content": TEXTS},
        optional={name: ITEM_VALUES[name] for name in ("name", "salience", "properties", "tags", "note_kind")},
    ),
    st.fixed_dictionaries({}, optional=ITEM_VALUES),
)
OWN = ("id", "created_at", "updated_at")


def comparable(record: dict[str, Any]) -> dict[str, Any]:
    """A record without what differs between two stores and between bulk and single answers."""
    return {name: value for name, value in record.items() if name not in (*OWN, "created", "possible_duplicates")}


def singles(hive: Hive, verb: str, calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries of calls made one by one."""
    return [hive.entry(json.dumps([{"tool": verb, "args": args}])) for args in calls]


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.lists(FITTING, min_size=1, max_size=6))
def test_a_bulk_create_makes_what_single_creates_make(items: list[dict[str, Any]]) -> None:
    """Without `atomic` every item ends as the same create of its own: the same record, or the same code."""
    with open_hive() as bulk, open_hive() as single:
        results = bulk.call("create", items=items, atomic=False, verbose=True)["results"]
        entries = singles(single, "create", items)
        assert [entry["ok"] for entry in results] == [entry["ok"] for entry in entries]
        for mine, theirs in zip(results, entries, strict=True):
            if mine["ok"]:
                assert comparable(mine["result"]) == comparable(theirs["result"])
            else:
                assert mine["error"]["code"] == theirs["error"]["code"]
        assert bulk.call("stats") == single.call("stats")


@settings(max_examples=50, derandomize=True, deadline=None)
@given(st.lists(FITTING, min_size=1, max_size=5))
def test_an_atomic_create_stores_all_or_nothing(items: list[dict[str, Any]]) -> None:
    """It fails exactly when one of the items fails alone, at the first such item, and then leaves nothing."""
    with open_hive() as bulk, open_hive() as single:
        failed = [index for index, entry in enumerate(singles(single, "create", items)) if not entry["ok"]]
        entry = bulk.entry(json.dumps([{"tool": "create", "args": {"items": items}}]))
        counts = bulk.call("stats")
        stored = counts["entities"] + counts["notes"]
        if failed:
            assert entry["error"]["message"].startswith(f"items[{failed[0]}]: ")
            assert stored == 0
        else:
            assert (entry["result"]["created"], stored) == (len(items), len(items))


POOL = ["a", "b", "c", "nobody"]
LINKS = st.lists(
    st.fixed_dictionaries(
        {
            "source_id": st.sampled_from(POOL),
            "target_id": st.sampled_from(POOL),
            "relation": st.sampled_from(["extends", "Variant-Of", "competes_with", "depends_on", "likes"]),
        },
        optional={"weight": st.sampled_from([0, 0.5, 2, None]), "metadata": st.sampled_from([{"k": 1}, {}, None])},
    ),
    min_size=1,
    max_size=6,
    unique_by=lambda link: (*sorted((str(link["source_id"]), str(link["target_id"]))), str(link["relation"])),
)


COMMON = ("relation", "weight", "metadata", "mutation")
"""What two stores have in common of an edge."""


@settings(max_examples=60, derandomize=True, deadline=None)
@given(LINKS)
def test_a_bulk_link_writes_what_single_links_write(links: list[dict[str, Any]]) -> None:
    """Links to different edges end as the same links one by one."""
    people = [{"kind": "concept", "name": name} for name in POOL[:3]]
    with open_hive() as bulk, open_hive() as single:
        for hive in (bulk, single):
            hive.call("create", items=people)
        done = bulk.call("link", links=links, atomic=False, verbose=True)
        entries = singles(single, "link", links)
        codes = {failed["index"]: failed["error"]["code"] for failed in done["errors"]}
        assert codes == {index: entry["error"]["code"] for index, entry in enumerate(entries) if not entry["ok"]}
        written = [entry["result"] for entry in entries if entry["ok"]]
        assert [[edge[name] for name in COMMON] for edge in done["edges"]] == [
            [edge[name] for name in COMMON] for edge in written
        ]
        assert done["created"] == single.call("stats")["edges"] == bulk.call("stats")["edges"]
        assert {edge["relation"] for edge in done["edges"]} <= set(RELATIONS)
