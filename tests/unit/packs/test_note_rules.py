"""The generic verbs ask the pack that owns the kind of a note."""

from collections.abc import Sequence

import pytest

from hivekeep.packs.context import Context
from hivekeep.packs.kg import KgPack
from hivekeep.packs.note_rules import NoteRules, Pair
from hivekeep.storage.notes import NoteRow
from hivekeep.storage.records import Located
from hivekeep_contract import vocabulary
from hivekeep_contract.errors import InvalidInput
from support.client import Hive


class Strict(NoteRules):
    """Refuses whatever is named in `refused`; a note without content gets its name."""

    def __init__(self) -> None:
        self.refused: set[str] = set()
        self.made_ids: list[str] = []
        self.beside: list[Sequence[Pair]] = []

    def _ask(self, word: str) -> None:
        if word in self.refused:
            raise InvalidInput(f"no {word}")

    def content(self, name: str | None) -> str | None:
        return name

    def prepare(self, ctx: Context, row: NoteRow) -> NoteRow:
        self._ask("prepare")
        return row._replace(salience=0.25)

    def made(self, ctx: Context, row: NoteRow) -> None:
        self.made_ids.append(row.id)

    def change(self, ctx: Context, old: NoteRow, new: NoteRow) -> NoteRow:
        self._ask("change")
        return new._replace(content=new.content.upper())

    def remove(self, ctx: Context, row: NoteRow, *, hard: bool) -> None:
        self._ask("remove hard" if hard else "remove")

    def restore(self, ctx: Context, row: NoteRow) -> None:
        self._ask("restore")

    def merge(self, ctx: Context, into: NoteRow, gone: NoteRow) -> None:
        self._ask("merge")

    def link(self, ctx: Context, relation: str, source: Located, target: Located, beside: Sequence[Pair]) -> None:
        self.beside.append(list(beside))
        self._ask("link")


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> Strict:
    """kg owns `question` for once, under strict rules."""
    strict = Strict()
    monkeypatch.setattr(KgPack, "note_rules", {"question": strict}, raising=False)
    monkeypatch.setitem(vocabulary.KIND_OWNERS, "question", "kg")
    return strict


def test_a_new_note_is_stored_as_the_rules_say(hive: Hive, rules: Strict) -> None:
    """One of a call of its own and those of a bulk call alike; other kinds are stored as described."""
    one = hive.call("create", kind="question", name="Why?")
    assert (one["content"], one["salience"]) == ("Why?", 0.25)
    items = [{"kind": "question", "content": "How?"}, {"kind": "observation", "content": "So."}]
    results = hive.call("create", items=items, verbose=True)["results"]
    assert [row["result"]["salience"] for row in results] == [0.25, None]
    assert rules.made_ids == [one["id"], results[0]["result"]["id"]]


def test_a_refused_note_is_not_stored(hive: Hive, rules: Strict) -> None:
    """Neither alone nor in a bulk call, where the others are kept."""
    rules.refused = {"prepare"}
    assert hive.refuses("create", kind="question", content="Why?")["message"] == "no prepare"
    items = [{"kind": "question", "content": "How?"}, {"kind": "observation", "content": "So."}]
    report = hive.call("create", items=items, atomic=False)
    assert (report["created"], report["failed"]) == (1, 1)
    assert hive.call("list", kind="question")["items"] == []


def test_a_change_is_stored_as_the_rules_say(hive: Hive, rules: Strict) -> None:
    """Also the text index finds it as it was stored; a refused one leaves the note as it was."""
    note = hive.call("create", kind="question", content="why")["id"]
    assert hive.call("update", id=note, content="because")["content"] == "BECAUSE"
    assert [row["id"] for row in hive.call("search", kind="question", query="because")] == [note]
    rules.refused = {"change"}
    assert hive.refuses("update", id=note, content="never")["message"] == "no change"
    assert hive.call("get", id=note)["content"] == "BECAUSE"


def test_delete_restore_and_merge_are_asked(hive: Hive, rules: Strict) -> None:
    """What the rules refuse changes nothing."""
    one, two = (hive.call("create", kind="question", content=text)["id"] for text in ("one", "two"))
    rules.refused = {"remove", "remove hard", "merge"}
    assert hive.refuses("delete", id=one)["message"] == "no remove"
    assert hive.refuses("delete", id=one, hard=True)["message"] == "no remove hard"
    assert hive.refuses("merge", into_id=one, from_id=two)["message"] == "no merge"
    rules.refused = {"restore"}
    hive.call("delete", id=one)
    assert hive.refuses("restore", id=one)["message"] == "no restore"
    rules.refused = set()
    assert hive.call("restore", id=one)["restored"] is True


def test_edges_from_the_note_are_asked(hive: Hive, rules: Strict) -> None:
    """Alone, of a create, and in a bulk call, which shows the edges that it makes before."""
    one, two, three = (hive.call("create", kind="question", content=text)["id"] for text in ("one", "two", "three"))
    links = [{"source_id": one, "target_id": target, "relation": "supports"} for target in (two, three)]
    hive.call("link", links=links)
    assert rules.beside == [[], [(one, two)]]
    rules.refused = {"link"}
    assert hive.refuses("link", source_id=one, target_id=two, relation="refutes")["message"] == "no link"
    assert hive.refuses("create", kind="question", content="x", annotates=[one])["message"] == "no link"
