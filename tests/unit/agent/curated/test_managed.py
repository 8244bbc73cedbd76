"""Entries that follow an external collection."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hivekeep.agent.curated import content, folders, lifecycle, managed
from hivekeep.agent.curated.desk import Desk
from hivekeep.agent.curated.folders import FolderRefused
from hivekeep.agent.curated.lifecycle import Author, NewEntry
from hivekeep.agent.curated.managed import Item, Refreshed
from hivekeep.storage import agent_entries, agent_sources
from hivekeep.storage.agent_entries import EntryRow
from hivekeep.storage.connections import MEMORY
from hivekeep.storage.engine import Tx
from hivekeep.storage.sqlite import open_store
from hivekeep_contract.gateway_errors import Conflict, NotFound, SecurityRejection, ValidationError
from support.stores import OPTIONS

ADA = Author("ada", 1_000)
BOB = Author("bob", 2_000)
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def item(name: str, body: str = "text") -> Item:
    """An entry of the wiki."""
    return managed.item("wiki", name, content.read({"kind": "reference", "title": name, "body": body}))


def refresh(tx: Tx, *items: Item, by: Author = ADA, checksum: str = "0" * 64, verified: bool = False) -> Refreshed:
    """An import of the wiki."""
    return managed.refresh(tx, "demo", "wiki", items, checksum, by, verified=verified)


def entry(tx: Tx, name: str) -> EntryRow:
    """The entry that the wiki calls so."""
    found = agent_entries.with_mapping(tx, "demo", "wiki", name)
    assert found is not None
    return found


def steps(tx: Tx, name: str) -> list[str]:
    """What was done to it."""
    return [row.operation for row in agent_entries.audit_of(tx, entry(tx, name).id)]


def test_a_first_import_adds_candidates_of_the_source(tx: Tx) -> None:
    """The source vouches for them; their provenance names it and what it calls them."""
    assert refresh(tx, item("a"), item("b")) == Refreshed(added=2)
    found = entry(tx, "a")
    assert (found.status, found.trust_level, found.confidence, found.source_state) == (
        "candidate",
        "source_verified",
        1.0,
        "active",
    )
    assert content.of_revision(lifecycle.current(tx, found)).provenance == {
        "type": "managed_source",
        "reference": '{"mapping":"a","sourceId":"wiki"}',
    }
    assert agent_sources.get(tx, "demo", "wiki") == ("demo", "wiki", "active", "0" * 64, 1_000, 1_000)


def test_new_entries_may_be_verified(tx: Tx) -> None:
    """When the person who imports says so."""
    refresh(tx, item("a"), verified=True)
    assert (entry(tx, "a").status, entry(tx, "a").verified_at) == ("verified", 1_000)


def test_the_same_import_again_writes_nothing(tx: Tx) -> None:
    """No revision, no audit row, no moment."""
    refresh(tx, item("a"), item("b"))
    before = tx.one("SELECT total_changes()")
    assert refresh(tx, item("b"), item("a"), by=BOB) == Refreshed(unchanged=2)
    assert tx.one("SELECT total_changes()") == before


def test_changed_content_is_a_new_revision_also_of_a_verified_entry(tx: Tx) -> None:
    """It stays verified: its source speaks for it."""
    refresh(tx, item("a"), item("b"), verified=True)
    assert refresh(tx, item("a", "more"), item("b"), by=BOB, checksum="1" * 64) == Refreshed(revised=1, unchanged=1)
    found = entry(tx, "a")
    assert (found.status, found.revision, lifecycle.current(tx, found).body) == ("verified", 2, "more")
    assert steps(tx, "a") == ["record", "refresh"]
    assert agent_sources.get(tx, "demo", "wiki") == ("demo", "wiki", "active", "1" * 64, 1_000, 2_000)


def test_what_the_source_lacks_is_stale_until_it_is_back(tx: Tx) -> None:
    """The same entry at the same revision comes back."""
    refresh(tx, item("a"), item("b"))
    first = entry(tx, "b")
    assert refresh(tx, item("a")) == Refreshed(unchanged=1, stale=1)
    assert entry(tx, "b") == first._replace(source_state="stale")
    assert refresh(tx, item("a")) == Refreshed(unchanged=1)
    assert refresh(tx, item("a"), item("b")) == Refreshed(unchanged=1, restored=1)
    assert entry(tx, "b") == first
    assert steps(tx, "b") == ["record", "stale", "refresh"]


def test_an_entry_may_come_back_with_other_content(tx: Tx) -> None:
    """That is a revision."""
    refresh(tx, item("a"))
    refresh(tx)
    assert refresh(tx, item("a", "more")) == Refreshed(revised=1)
    assert (entry(tx, "a").revision, entry(tx, "a").source_state) == (2, "active")


def test_a_disabled_source_delivers_nothing_until_it_is_imported(tx: Tx) -> None:
    """Its entries are switched off with it and come back with it."""
    refresh(tx, item("a"), item("b"))
    assert managed.disable(tx, "demo", "wiki", BOB) == 2
    assert managed.disable(tx, "demo", "wiki", BOB) == 0
    assert tx.one("SELECT count(*) FROM agent_entries WHERE retrievable") == (0,)
    assert agent_sources.get(tx, "demo", "wiki") == ("demo", "wiki", "disabled", "0" * 64, 1_000, 2_000)
    assert refresh(tx, item("a"), by=BOB) == Refreshed(restored=1, stale=1)
    assert tx.all("SELECT source_mapping FROM agent_entries WHERE retrievable") == [("a",)]
    source = agent_sources.get(tx, "demo", "wiki")
    assert source is not None
    assert source.state == "active"


def test_what_a_person_decided_stays_decided(tx: Tx) -> None:
    """A refresh neither enables an entry nor brings a superseded one back, and a purged one is a new entry."""
    refresh(tx, item("a"), item("b"), item("c"))
    lifecycle.disable(tx, entry(tx, "a").id, ADA)
    lifecycle.supersede(tx, entry(tx, "b").id, entry(tx, "a").id, ADA)
    purged = lifecycle.purge(tx, entry(tx, "c").id, ADA)
    assert refresh(tx, item("a", "more"), item("b", "more"), item("c")) == Refreshed(added=1, revised=2)
    assert tx.all("SELECT source_mapping FROM agent_entries WHERE retrievable") == [("c",)]
    assert entry(tx, "c").id != purged.id


def test_sources_of_one_name_are_apart_by_workspace(tx: Tx) -> None:
    """And sources of other names by name."""
    refresh(tx, item("a"))
    assert managed.refresh(tx, "other", "wiki", [item("a")], "0" * 64, ADA) == Refreshed(added=1)
    other = managed.item("docs", "a", content.read({"kind": "reference", "title": "a", "body": "text"}))
    assert managed.refresh(tx, "demo", "docs", [other], "0" * 64, ADA) == Refreshed(added=1)
    assert refresh(tx) == Refreshed(stale=1)
    assert tx.one("SELECT count(*) FROM agent_entries WHERE retrievable") == (2,)


def test_what_an_import_refuses(tx: Tx) -> None:
    """Two items of one name, content that a person recorded, an unknown source to disable, a name that is a secret."""
    with pytest.raises(ValidationError) as twice:
        refresh(tx, item("a"), item("a", "more"))
    assert twice.value.reason == "batch_repeats"
    lifecycle.record(tx, NewEntry("demo", item("b").content), ADA)
    with pytest.raises(Conflict) as taken:
        refresh(tx, item("b"))
    assert taken.value.reason == "entry_exists"
    with pytest.raises(NotFound):
        managed.disable(tx, "demo", "docs", ADA)
    with pytest.raises(SecurityRejection):
        item(TOKEN)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(
        st.one_of(
            st.dictionaries(st.sampled_from("abcd"), st.sampled_from("xy"), max_size=4),
            st.just(None),
        ),
        max_size=6,
    )
)
def test_entries_are_what_the_source_had_last(imports: list[dict[str, str] | None]) -> None:
    """After any imports and disables (None): active is what the last one had, as it had it, all else is stale."""
    engine = open_store(MEMORY, OPTIONS)
    ever: set[str] = set()
    with engine.read() as tx:
        for had in imports:
            if had is None:
                if ever:
                    managed.disable(tx, "demo", "wiki", ADA)
                    assert {row.source_state for row in agent_entries.of_source(tx, "demo", "wiki")} == {"disabled"}
                continue
            told = refresh(tx, *(item(name, body) for name, body in had.items()))
            assert told.added == len(had.keys() - ever)
            assert told.added + told.revised + told.restored + told.unchanged == len(had)
            ever |= had.keys()
            rows = agent_entries.of_source(tx, "demo", "wiki")
            assert {row.source_mapping for row in rows} == ever
            active = {
                row.source_mapping: lifecycle.current(tx, row).body for row in rows if row.source_state == "active"
            }
            assert active == had
            assert all(row.source_state == "stale" for row in rows if row.source_mapping not in had)
    engine.close()


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    """A folder of these files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def read(folder: Path) -> dict[str, tuple[Any, ...]]:
    """What the files of a folder say, without provenance, by their names."""
    items, _ = folders.read(folder, "wiki")
    return {one.mapping: (*one.content._replace(provenance={}), one.confidence) for one in items}


def test_a_folder_is_read_by_its_files(tmp_path: Path) -> None:
    """JSON files with the fields of an entry, Markdown files with or without lines at their top, in folders as well."""
    given_json = {"kind": "fact", "title": "T", "body": "B", "tags": ["x"], "confidence": 0.5}
    folder = write(
        tmp_path / "wiki",
        {
            "a.json": json.dumps(given_json),
            "deep/down/b.md": "# Heading\n\nText.\n",
            "c.md": "No heading.\n",
            "d.md": "---\nkind: lesson\ntitle: Given: so\nsummary: Short.\ntags: p, q ,\n---\n\n# Heading\nText.",
            "notes.txt": "not read",
            ".hidden.md": "not read",
            ".git/x.md": "not read",
        },
    )
    assert read(folder) == {
        "a.json": ("fact", "T", "B", None, {}, {}, ("x",), 0.5),
        "deep/down/b.md": ("reference", "Heading", "# Heading\n\nText.\n", None, {}, {}, (), 1.0),
        "c.md": ("reference", "c", "No heading.\n", None, {}, {}, (), 1.0),
        "d.md": ("lesson", "Given: so", "# Heading\nText.", "Short.", {}, {}, ("p", "q"), 1.0),
    }


def test_the_checksum_of_a_folder_is_that_of_names_and_texts(tmp_path: Path) -> None:
    """Not of where it lies; a moved piece of text is noticed."""
    first = folders.read(write(tmp_path / "a", {"x.md": "ab", "y.md": "c"}), "wiki")[1]
    assert folders.read(write(tmp_path / "b", {"x.md": "ab", "y.md": "c"}), "docs")[1] == first
    assert folders.read(write(tmp_path / "c", {"x.md": "a", "y.md": "bc"}), "wiki")[1] != first
    assert folders.read(write(tmp_path / "d", {"x.md": "ab", "z.md": "c"}), "wiki")[1] != first


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.json", "{", ("not_json", None)),
        ("a.json", "[]", ("not_an_object", None)),
        ("a.json", '{"kind": "fact", "title": "T"}', ("missing_field", "/body")),
        (
            "a.json",
            '{"kind": "fact", "title": "T", "body": "B", "confidence": 2}',
            ("wrong_value", "/confidence"),
        ),
        ("a.md", b"\xff", ("not_json", None)),
        ("deep/a.md", "---\ncolor: red\n---\n", ("unknown_field", None)),
        ("a.md", "---\nkind: fact\n", ("wrong_value", None)),
        ("a.md", "---\nkind: rumor\n---\n", ("wrong_value", "/kind")),
        ("a.md", TOKEN, ("secret", "/title")),
        ("a.md", "x" * (1 << 20) + "x", ("too_large", None)),
    ],
)
def test_a_file_that_is_no_entry_refuses_the_folder(
    tmp_path: Path, name: str, text: str | bytes, told: tuple[str, str | None]
) -> None:
    """It is named by its path below the folder; what it holds is not told."""
    with pytest.raises(FolderRefused) as why:
        folders.read(write(tmp_path, {name: text if name != "a.md" or text != TOKEN else f"# {TOKEN}\n"}), "wiki")
    assert (why.value.name, why.value.why.reason, why.value.why.field) == (name, *told)


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    """Neither of a file nor of a folder."""
    outside = write(tmp_path / "outside", {"secret.md": "# Outside\n"})
    folder = write(tmp_path / "wiki", {"a.md": "# Inside\n"})
    (folder / "b.md").symlink_to(outside / "secret.md")
    (folder / "c").symlink_to(outside)
    assert list(read(folder)) == ["a.md"]


def test_a_pipe_in_a_folder_is_left_alone(tmp_path: Path) -> None:
    """Opening a pipe waits for somebody who writes: an import of a folder that had one never ended."""
    (tmp_path / "a.md").write_text("# A\n")
    os.mkfifo(tmp_path / "b.md")
    assert [one.mapping for one in folders.read(tmp_path, "wiki")[0]] == ["a.md"]


def test_a_file_name_without_a_text_refuses_the_folder(tmp_path: Path) -> None:
    """The checksum was made of the name as UTF-8, which a name of other bytes does not have: a crash."""
    (tmp_path / os.fsdecode(b"a\xff.md")).write_text("# A\n")
    with pytest.raises(FolderRefused) as refused:
        folders.read(tmp_path, "wiki")
    assert (type(refused.value.why), refused.value.why.reason) == (ValidationError, "wrong_value")


def test_a_part_of_a_folder_that_cannot_be_read_is_not_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Walking a folder passes over what cannot be listed, so the next import called its entries stale."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.md").write_text("# A\n")
    listed = os.scandir

    def scandir(place: str) -> Any:
        if place.endswith("deep"):
            raise PermissionError(13, "Permission denied", place)
        return listed(place)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(PermissionError):
        folders.read(tmp_path, "wiki")


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    """Editors put one before a text: the lines at its top were taken for its body, and JSON for none."""
    (tmp_path / "a.md").write_bytes(b"\xef\xbb\xbf---\r\nkind: lesson\r\ntitle: Look\r\n---\r\n\r\ntwice\r\n")
    (tmp_path / "b.json").write_bytes(b'\xef\xbb\xbf{"kind": "fact", "title": "b", "body": "c"}')
    told = [(one.content.kind, one.content.title, one.content.body) for one in folders.read(tmp_path, "wiki")[0]]
    assert told == [("lesson", "Look", "twice\r\n"), ("fact", "b", "c")]


def test_a_source_is_not_called_by_a_credential(desk: Desk, tmp_path: Path) -> None:
    """Only its entries were looked at, so a folder without any stored the name."""
    with pytest.raises(SecurityRejection) as refused:
        desk.refresh(tmp_path, TOKEN, "demo", verified=False, dry_run=False)
    assert refused.value.field == "/source"


def test_an_exported_file_may_manage_entries(desk: Desk, tmp_path: Path) -> None:
    """Each is called by the id that it has where it comes from; what is superseded there is none of them."""
    kept = desk.record("demo", {"kind": "fact", "title": "Kept", "body": "B"})["entry"]
    old = desk.record("demo", {"kind": "fact", "title": "Old", "body": "B"})["entry"]
    desk.supersede(old["entryId"], kept["entryId"])
    file = tmp_path / "team.jsonl"
    file.write_bytes(desk.export("demo")[0])
    told = desk.refresh(file, "team", "mine", verified=False, dry_run=False)
    assert told == {
        "workspace": "mine",
        "source": "team",
        "dryRun": False,
        "added": 1,
        "revised": 0,
        "unchanged": 0,
        "restored": 0,
        "stale": 0,
    }
    (mine,) = desk.search("mine", "Kept", agent_entries.EntryFilter(), 5)["items"]
    assert mine["source"] == {"id": "team", "mapping": kept["entryId"], "state": "active"}


def test_a_dry_run_of_an_import_writes_nothing(desk: Desk, tmp_path: Path) -> None:
    """It says what would be."""
    folder = write(tmp_path / "wiki", {"a.md": "# A\n"})
    told = desk.refresh(folder, "wiki", "demo", verified=False, dry_run=True)
    assert (told["dryRun"], told["added"]) == (True, 1)
    assert desk.search("demo", "", agent_entries.EntryFilter(), 5)["items"] == []


@settings(
    max_examples=200, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.text(st.sampled_from("-#:, \n\rktagsindle\0\ud800é"), max_size=60))
def test_any_markdown_is_an_entry_or_refused(tmp_path: Path, text: str) -> None:
    """Nothing but a typed refusal, and what is taken has the whole text behind the lines at its top."""
    (tmp_path / "a.md").write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        items, _ = folders.read(tmp_path, "wiki")
    except FolderRefused:
        return
    assert text.endswith(items[0].content.body)
