"""Exported files: the same bytes for the same memory, taken in whole or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.agent.canonical import canonical
from hivekeep.agent.curated import archive, content, lifecycle, managed
from hivekeep.agent.curated.desk import Desk
from hivekeep.agent.curated.lifecycle import Author, NewEntry
from hivekeep.storage.agent_entries import EntryFilter
from hivekeep.storage.connections import MEMORY
from hivekeep.storage.engine import Tx
from hivekeep.storage.sqlite import SqliteEngine, open_store
from hivekeep_contract.gateway_errors import Conflict, GatewayError, SecurityRejection, ValidationError
from support.stores import OPTIONS

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
Record = dict[str, Any]


def by(at_ms: int) -> Author:
    """Ada at a moment."""
    return Author("ada", at_ms * 1000)


def says(title: str, **said: Any) -> content.Content:
    """A lesson of this title."""
    return content.read({"kind": "lesson", "title": title, "body": f"About {title}.", **said})


def fill(tx: Tx) -> dict[str, str]:
    """A workspace with everything that one can have; the ids of its entries by name."""
    ids = {
        name: lifecycle.record(
            tx, NewEntry("demo", says(name, tags=["x", name]), confidence=0.1 + 0.2), by(at)
        ).entry.id
        for at, name in enumerate(("plain", "revised", "verified", "old", "off", "purged"), 1)
    }
    lifecycle.revise(tx, ids["revised"], 1, says("again", summary="Ünïcode 語 \u2028"), by(10))
    lifecycle.verify(tx, ids["verified"], 1, by(11))
    lifecycle.supersede(tx, ids["old"], ids["purged"], by(12))
    lifecycle.disable(tx, ids["off"], by(13))
    lifecycle.link(tx, ids["plain"], ids["verified"], "supports", by(14))
    lifecycle.link(tx, ids["plain"], ids["verified"], "contradicts", by(14))
    lifecycle.purge(tx, ids["purged"], by(15))
    wiki = [managed.item("wiki", name, says(name), 0.5) for name in ("a.md", "b.md")]
    managed.refresh(tx, "demo", "wiki", wiki, "0" * 64, by(16))
    managed.refresh(tx, "demo", "wiki", wiki[:1], "1" * 64, by(17))
    lifecycle.record(tx, NewEntry("other", says("foreign")), by(18))
    return ids


@pytest.fixture
def filled(engine: SqliteEngine) -> dict[str, str]:
    """The ids of the entries of the filled store."""
    return engine.run_write(fill)


@pytest.fixture
def fresh(tmp_path: Path) -> Desk:
    """A desk on an empty store."""
    return Desk(open_store(MEMORY, OPTIONS), "bob", tmp_path)


def records(data: bytes) -> list[Record]:
    """The lines of a file without that of its checksum."""
    return [json.loads(line) for line in data.splitlines()[1:]]


def of_type(data: bytes, kind: str) -> list[Record]:
    """The lines of one type."""
    return [record for record in records(data) if record["type"] == kind]


def test_a_file_is_its_checksum_its_manifest_and_canonical_lines(desk: Desk, filled: dict[str, str]) -> None:
    """The checksum is over all bytes behind its line; the counts are told twice."""
    data, told = desk.export("demo")
    head, _, rest = data.partition(b"\n")
    assert json.loads(head) == {"sha256": hashlib.sha256(rest).hexdigest(), "type": "checksum"}
    assert records(data)[0] == {
        "type": "manifest",
        "format": "hivekeep-curated",
        "version": 2,
        "workspace": "demo",
        "sources": 1,
        "entries": 7,
        "revisions": 8,
        "links": 2,
        "audit": 15,
    }
    assert told == {
        "workspace": "demo",
        "sources": 1,
        "entries": 7,
        "revisions": 8,
        "links": 2,
        "audit": 15,
        "linksLeftOut": 0,
    }
    assert [canonical(record) for record in records(data)] == data.splitlines()[1:]
    assert filled["purged"] not in [record["entryId"] for record in of_type(data, "entry")]


def test_links_to_other_workspaces_are_counted_as_left_out(desk: Desk, engine: SqliteEngine) -> None:
    """The file of a workspace has no entry of another one."""

    def link(tx: Tx) -> None:
        first = lifecycle.record(tx, NewEntry("demo", says("a")), by(1)).entry
        shared = lifecycle.record(tx, NewEntry("global", says("b")), by(2)).entry
        lifecycle.link(tx, first.id, shared.id, "derived_from", by(3))

    engine.run_write(link)
    data, told = desk.export("demo")
    assert (of_type(data, "link"), told["linksLeftOut"]) == ([], 1)


def test_a_file_comes_back_byte_for_byte(desk: Desk, fresh: Desk, filled: dict[str, str]) -> None:
    """Out of the store that took it in, whose entries can be found; a second time nothing is written."""
    data, _ = desk.export("demo")
    told = fresh.take_in(data, None, dry_run=False)
    assert told == {"workspace": "demo", "dryRun": False, "entries": 7, "unchanged": 0, "links": 2, "sources": 1}
    assert fresh.export("demo")[0] == data
    before = fresh.engine.data_version()
    told = fresh.take_in(data, None, dry_run=False)
    assert told == {"workspace": "demo", "dryRun": False, "entries": 0, "unchanged": 7, "links": 0, "sources": 0}
    assert fresh.engine.data_version() == before
    found = fresh.search("demo", "again", EntryFilter(), 10)["items"]
    assert [entry["entryId"] for entry in found] == [filled["revised"]]


def test_a_dry_run_says_the_same_and_does_nothing(desk: Desk, fresh: Desk, filled: dict[str, str]) -> None:
    """The store stays empty."""
    data, _ = desk.export("demo")
    told = fresh.take_in(data, None, dry_run=True)
    assert told == {"workspace": "demo", "dryRun": True, "entries": 7, "unchanged": 0, "links": 2, "sources": 1}
    assert fresh.export("demo")[1]["entries"] == 0


def test_a_file_may_go_to_another_workspace(desk: Desk, fresh: Desk, filled: dict[str, str]) -> None:
    """Then its manifest names that one and nothing else differs."""
    data, _ = desk.export("demo")
    fresh.take_in(data, "copy", dry_run=False)
    assert fresh.export("demo")[1]["entries"] == 0
    assert records(fresh.export("copy")[0]) == [{**records(data)[0], "workspace": "copy"}, *records(data)[1:]]


def test_what_was_added_elsewhere_is_added_here(desk: Desk, fresh: Desk, filled: dict[str, str]) -> None:
    """A later file of the same memory brings what is new in it."""
    fresh.take_in(desk.export("demo")[0], None, dry_run=False)
    desk.record("demo", {"kind": "fact", "title": "Newest", "body": ""})
    data, _ = desk.export("demo")
    told = fresh.take_in(data, None, dry_run=False)
    assert (told["entries"], told["unchanged"]) == (1, 7)
    assert fresh.export("demo")[0] == data


def test_an_entry_that_was_changed_here_refuses_the_file(desk: Desk, fresh: Desk, filled: dict[str, str]) -> None:
    """All of it, also what is new in it."""
    fresh.take_in(desk.export("demo")[0], None, dry_run=False)
    fresh.disable(filled["plain"])
    desk.record("demo", {"kind": "fact", "title": "Newest", "body": ""})
    before = fresh.export("demo")[0]
    with pytest.raises(Conflict) as why:
        fresh.take_in(desk.export("demo")[0], None, dry_run=False)
    assert why.value.reason == "record_differs"
    assert fresh.export("demo")[0] == before


def test_what_was_purged_here_does_not_come_back(desk: Desk, fresh: Desk, filled: dict[str, str]) -> None:
    """A purge is for good."""
    data, _ = desk.export("demo")
    fresh.take_in(data, None, dry_run=False)
    fresh.purge(filled["plain"])
    with pytest.raises(Conflict) as why:
        fresh.take_in(data, None, dry_run=False)
    assert why.value.reason == "entry_purged"


def test_content_that_another_entry_has_refuses_the_file(desk: Desk, fresh: Desk, filled: dict[str, str]) -> None:
    """One content is one entry of a workspace."""
    fresh.record("demo", {"kind": "lesson", "title": "plain", "body": "About plain.", "tags": ["x", "plain"]})
    with pytest.raises(Conflict) as why:
        fresh.take_in(desk.export("demo")[0], None, dry_run=False)
    assert why.value.reason == "entry_exists"


def sealed(lines: list[Record]) -> bytes:
    """A file of these lines with the right checksum and counts."""
    counts = {name: sum(line["type"] == kind for line in lines) for name, kind in COUNTED.items()}
    return archive.sealed([{**lines[0], **counts}, *lines[1:]])


COUNTED = {"sources": "source", "entries": "entry", "revisions": "revision", "links": "link", "audit": "audit"}


def changed(kind: str, number: int = 0, /, **fields: Any) -> Callable[[list[Record]], None]:
    """A change of the fields of one line."""

    def change(lines: list[Record]) -> None:
        [line for line in lines if line["type"] == kind][number].update(fields)

    return change


def without(kind: str, number: int = 0) -> Callable[[list[Record]], None]:
    """A file without one line."""
    return lambda lines: lines.remove([line for line in lines if line["type"] == kind][number])


BROKEN: list[tuple[Callable[[list[Record]], None], str]] = [
    (changed("manifest", format="other"), "bad_archive"),
    (changed("manifest", version=3), "bad_archive"),
    (changed("manifest", workspace=""), "wrong_value"),
    (without("manifest"), "bad_archive"),
    (lambda lines: lines.insert(3, lines[0]), "bad_archive"),
    (lambda lines: lines.insert(1, {"type": "checksum", "sha256": "0" * 64}), "bad_archive"),
    (lambda lines: lines.insert(1, {"type": "poem"}), "bad_archive"),
    (lambda lines: lines.insert(1, lines[3]), "bad_archive"),
    (without("revision"), "bad_archive"),
    (without("source"), "bad_archive"),
    (without("entry", 3), "wrong_value"),
    (changed("entry", extra=1), "unknown_field"),
    (changed("entry", status="superseded"), "wrong_value"),
    (changed("entry", status="lost"), "wrong_value"),
    (changed("entry", revision=2), "wrong_value"),
    (changed("entry", revision=True), "wrong_type"),
    (changed("entry", confidence=1.5), "wrong_value"),
    (changed("entry", entryId="x"), "wrong_value"),
    (changed("entry", createdAt="2026-01-01"), "wrong_value"),
    (changed("entry", disabled=0), "wrong_type"),
    (changed("entry", source={"id": "x"}), "missing_field"),
    (changed("entry", 3, supersededBy="00000000-0000-4000-8000-00000000ffff"), "bad_archive"),
    (changed("revision", title="Changed"), "checksum_differs"),
    (changed("revision", contentHash="0" * 64), "checksum_differs"),
    (changed("revision", revision=2), "wrong_value"),
    (changed("link", relation="likes"), "wrong_value"),
    (changed("link", toId="00000000-0000-4000-8000-00000000ffff"), "bad_archive"),
    (changed("audit", operation="sing"), "wrong_value"),
    (changed("source", state="stale"), "wrong_value"),
    # An entry of a source that is switched off would be delivered.
    (changed("source", state="disabled"), "bad_archive"),
]


def test_no_export_is_larger_than_may_be_read(
    desk: Desk, fresh: Desk, filled: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only its bytes were counted, so one of more lines than an import takes was written and was of no use."""
    data = desk.export("demo")[0]
    lines = data.count(b"\n")
    monkeypatch.setattr(archive, "ARCHIVE_LINES_MAX", lines)
    assert desk.export("demo")[0] == data
    assert fresh.take_in(data, None, dry_run=False)["entries"] == 7
    monkeypatch.setattr(archive, "ARCHIVE_LINES_MAX", lines - 1)
    for act in (lambda: desk.export("demo"), lambda: archive.read(data)):
        with pytest.raises(ValidationError) as refused:
            act()
        assert refused.value.reason in ("too_large", "bad_archive")


@pytest.mark.parametrize(("change", "reason"), BROKEN)
def test_a_file_with_one_wrong_line_is_refused_whole(
    desk: Desk, fresh: Desk, filled: dict[str, str], change: Callable[[list[Record]], None], reason: str
) -> None:
    """Although its checksum fits; nothing of it is stored."""
    lines = records(desk.export("demo")[0])
    change(lines)
    with pytest.raises(GatewayError) as why:
        fresh.take_in(sealed(lines) if lines[0]["type"] == "manifest" else archive.sealed(lines), None, dry_run=False)
    assert isinstance(why.value, ValidationError)
    assert why.value.reason == reason
    assert fresh.export("demo")[1]["entries"] == 0


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not_json"),
        (b"[]\n", "bad_archive"),
        (b"{}\n", "bad_archive"),
        (b'{"type": "checksum"}\n', "missing_field"),
        (b'{"type": "checksum", "sha256": "x"}\n', "checksum_differs"),
        (archive.sealed([]), "bad_archive"),
        (archive.sealed([])[:-1], "bad_archive"),
    ],
)
def test_what_is_no_export_is_refused(fresh: Desk, data: bytes, reason: str) -> None:
    """Whatever it is."""
    with pytest.raises(ValidationError) as why:
        fresh.take_in(data, None, dry_run=False)
    assert why.value.reason == reason


def test_counts_that_do_not_fit_are_refused(desk: Desk, fresh: Desk, filled: dict[str, str]) -> None:
    """A file that lost lines before it was sealed anew."""
    lines = records(desk.export("demo")[0])
    with pytest.raises(ValidationError) as why:
        fresh.take_in(archive.sealed([line for line in lines if line["type"] != "audit"]), None, dry_run=False)
    assert why.value.details == {"reason": "bad_archive", "field": "/lines/2"}


def test_a_changed_byte_is_noticed(desk: Desk, filled: dict[str, str]) -> None:
    """Wherever it is."""
    data = desk.export("demo")[0]
    for at in range(0, len(data), 7):
        broken = bytearray(data)
        broken[at] ^= 1
        with pytest.raises(ValidationError):
            archive.read(bytes(broken))


@pytest.mark.parametrize(
    "change", [changed("audit", actor=TOKEN), changed("revision", body=TOKEN), changed("source", id=TOKEN)]
)
def test_a_credential_anywhere_refuses_the_file(
    desk: Desk, fresh: Desk, filled: dict[str, str], change: Callable[[list[Record]], None]
) -> None:
    """Also where no content is; only the line is named."""
    lines = records(desk.export("demo")[0])
    change(lines)
    with pytest.raises(SecurityRejection) as why:
        fresh.take_in(sealed(lines), None, dry_run=False)
    assert TOKEN not in str(why.value.details)
    assert str(why.value.field).startswith("/lines/")


TEXTS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=12).filter(
    lambda text: bool(text.strip())
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-(2**60), 2**60), st.floats(allow_nan=False), TEXTS)
SCOPES = st.dictionaries(
    st.sampled_from(["area", "weight", "更"]), st.one_of(SCALARS, st.lists(SCALARS, max_size=3)), max_size=3
).filter(lambda scope: all(value not in (float("inf"), float("-inf")) for value in _scalars(scope)))
ENTRIES = st.lists(
    st.tuples(TEXTS, st.lists(TEXTS, max_size=3), SCOPES, st.floats(0, 1), st.integers(0, 5)), min_size=1, max_size=6
)


def _scalars(scope: dict[str, Any]) -> list[Any]:
    return [item for value in scope.values() for item in (value if isinstance(value, list) else [value])]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(ENTRIES)
def test_any_memory_comes_back_byte_for_byte(entries: list[tuple[str, list[str], Record, float, int]]) -> None:
    """Export, import, export gives equal bytes, and the second import changes nothing."""

    def record(tx: Tx) -> None:
        for at, (title, tags, scope, confidence, what) in enumerate(entries):
            new = NewEntry("demo", says(title, tags=tags, scope=scope), confidence=confidence)
            entry = lifecycle.record(tx, new, by(at)).entry
            if what == 1 and entry.status == "candidate":
                lifecycle.verify(tx, entry.id, entry.revision, by(at))
            elif what == 2 and entry.status == "candidate":
                lifecycle.revise(tx, entry.id, entry.revision, says(f"{title} {at}", summary=title), by(at))
            elif what == 3:
                lifecycle.purge(tx, entry.id, by(at))

    here = Desk(open_store(MEMORY, OPTIONS), "ada", Path("/"))
    there = Desk(open_store(MEMORY, OPTIONS), "bob", Path("/"))
    here.engine.run_write(record)
    data, _ = here.export("demo")
    there.take_in(data, None, dry_run=False)
    assert there.export("demo")[0] == data
    told = there.take_in(data, None, dry_run=False)
    assert (told["entries"], told["links"], told["sources"]) == (0, 0, 0)
    assert there.export("demo")[0] == data
    here.engine.close()
    there.engine.close()


JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-2, 2**70),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=5),
        st.sampled_from(["candidate", "superseded", "active", "0" * 64, "1970-01-01T00:00:00.001Z", "entry"]),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=3), inner, max_size=2)),
    max_leaves=4,
)


@pytest.fixture(scope="module")
def lines() -> list[Record]:
    """The records of a filled store."""
    engine = open_store(MEMORY, OPTIONS)
    engine.run_write(fill)
    data, _ = Desk(engine, "ada", Path("/")).export("demo")
    engine.close()
    return records(data)


@settings(max_examples=120, deadline=None, derandomize=True)
@given(st.data())
def test_any_value_in_any_field_is_taken_or_refused(lines: list[Record], data: st.DataObject) -> None:
    """A file with the right checksum and any values in it: a typed refusal, or memory that exports as it came."""
    made = [dict(line) for line in lines]
    for _ in range(data.draw(st.integers(1, 3))):
        line = made[data.draw(st.integers(0, len(made) - 1))]
        line[data.draw(st.sampled_from(sorted(line)))] = data.draw(JSON)
    there = Desk(open_store(MEMORY, OPTIONS), "bob", Path("/"))
    try:
        told = there.take_in(archive.sealed(made), "demo", dry_run=False)
    except GatewayError:
        assert there.export("demo")[1]["entries"] == 0
    else:
        exported, _ = there.export("demo")
        assert told["entries"] == len(of_type(exported, "entry"))
        assert there.take_in(exported, "demo", dry_run=False)["entries"] == 0
    finally:
        there.engine.close()


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.binary(max_size=200))
def test_any_bytes_are_refused(data: bytes) -> None:
    """With a typed error, plain and under a right checksum."""
    digest = hashlib.sha256(data).hexdigest()
    for whole in (data, canonical({"type": "checksum", "sha256": digest}) + b"\n" + data):
        with pytest.raises(ValidationError):
            archive.read(whole)
