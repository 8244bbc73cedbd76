"""How entries are found: the lanes, what no text can do, and that other workspaces cost and change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.agent import retrieval
from hivekeep.agent.curated import lifecycle
from hivekeep.agent.curated.lifecycle import Source
from hivekeep.agent.retrieval import Hits
from hivekeep.storage import agent_entries, agent_retrieval
from hivekeep.storage.agent_retrieval import IndexedEntry
from hivekeep.storage.connections import MEMORY, SqliteTx, open_connection
from hivekeep.storage.engine import Tx
from hivekeep.storage.sqlite import SqliteEngine, open_store
from hivekeep_contract.limits import RETRIEVAL_SHORT_TERMS_MAX
from support.entries import BY, add_entry, revised
from support.stores import OPTIONS

SIGNALLED: Any = {
    "schemaVersion": 2,
    "visibility": "project",
    "signals": {
        "symbols": ["parse_line"],
        "paths": ["src/reader.py"],
        "errors": ["E0308"],
        "packages": ["falcon"],
        "commands": ["make check"],
    },
    "applicability": {"languages": ["Rust"], "frameworks": [{"name": "Axum"}]},
}


def search(tx: Tx, *parts: str, workspaces: tuple[str, ...] = ("demo",), **asked: Any) -> Hits:
    """What the parts of a task find."""
    return retrieval.search(tx, workspaces, parts, **{"limit": 500, **asked})


def found(tx: Tx, *parts: str, **asked: Any) -> list[str]:
    """The ids of what they find, best first."""
    return [hit.entry.id for hit in search(tx, *parts, **asked).hits]


def why(tx: Tx, *parts: str, **asked: Any) -> set[str]:
    """The reasons of the only entry that they find."""
    (hit,) = search(tx, *parts, **asked).hits
    return set(hit.reasons)


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ("Importer", {"word_match", "substring_match"}),
        ("ÍMPORTER", {"word_match", "substring_match"}),
        ("port", {"substring_match"}),
        ("importer rows", {"word_match", "substring_match", "lexical_match"}),
        ("debugging", {"word_match", "substring_match", "tag_match"}),
        ("data loader", {"word_match", "substring_match", "lexical_match", "tag_match"}),
        ("設定", {"cjk_window_match", "literal_fallback_match"}),
        ("設定ファイルの変更", {"cjk_window_match", "substring_match"}),
        ("C#", {"literal_fallback_match"}),
        ("C++", {"substring_match"}),
        ("no", {"word_match"}),
    ],
)
def test_the_lanes_say_how_an_entry_was_found(tx: Tx, text: str, reasons: set[str]) -> None:
    """Words, substrings, tags, scripts without blanks and symbols each have their lane, and each lane its reason."""
    tags = ["Debugging", "data loader"]
    add_entry(tx, "Importer", "It has no empty rows. 設定ファイルを読む C# and C++.", tags=tags)
    add_entry(tx, "Something else", "of another kind")
    assert why(tx, text) == reasons


@pytest.mark.parametrize("text", ["parse_line", "parse_line()", "./src/reader.py", "e0308", "Falcon", "`make check`"])
def test_signals_are_looked_up_exactly(tx: Tx, text: str) -> None:
    """A symbol, path, error, package or command of the scope is found by its name in any spelling."""
    add_entry(tx, "Title", scope=SIGNALLED)
    assert "exact_signal_match" in why(tx, text)


def test_values_beside_the_task_are_signals_only(tx: Tx) -> None:
    """A changed path finds the entry that names it, and no entry that has a word of it."""
    entry = add_entry(tx, "Title", scope=SIGNALLED)
    add_entry(tx, "src reader py")
    assert found(tx, values=["src/reader.py"]) == [entry.id]


def test_what_a_question_applies_to_is_told(tx: Tx) -> None:
    """A named language is a signal of the entries that apply to it, and known as asked for."""
    add_entry(tx, "Title", scope=SIGNALLED)
    hits = search(tx, "port it to rust with Axum")
    assert (hits.hits[0].applies, hits.asked) == ({"languages", "frameworks"}, {"languages", "frameworks"})


@pytest.mark.parametrize("text", ["' OR 1=1 --", "importer; DROP TABLE users; --", "union select importer"])
def test_a_database_statement_finds_nothing(tx: Tx, text: str) -> None:
    """A statement that names nothing of the code is searched for nothing, although its words occur."""
    add_entry(tx, "importer users union select or table")
    assert found(tx, text) == []


def test_a_statement_with_a_signal_is_searched(tx: Tx) -> None:
    """A task about a statement names what it is about, and is found by that."""
    entry = add_entry(tx, "Migrations", "`agent_runs` grows")
    assert found(tx, "SELECT * FROM agent_runs") == [entry.id]


@pytest.mark.parametrize(
    "text", ['"', '" OR "a', "a* NEAR(b)", "title: x", "^x", "{title}: x", "-x", "(", "AND", "\x00a"]
)
def test_no_text_is_an_operator(tx: Tx, text: str) -> None:
    """Every sign of the query language of the index is looked for as what it is."""
    add_entry(tx, "quite other words")
    assert found(tx, text) == []


@pytest.fixture(scope="module")
def empty() -> Iterator[Tx]:
    """An empty store for all examples."""
    opened = open_store(MEMORY, OPTIONS)
    with opened.read() as reading:
        yield reading
    opened.close()


@given(text=st.text(max_size=60))
@settings(derandomize=True, deadline=None, max_examples=200)
def test_any_text_can_be_searched(empty: Tx, text: str) -> None:
    """No text at all raises."""
    assert found(empty, text, values=[text]) == []


@pytest.mark.parametrize("term", ["importer", "import", "debugging", "E0308", "設定", "C#"])
def test_what_is_not_retrievable_is_found_by_no_lane(tx: Tx, term: str) -> None:
    """A superseded, a disabled and a stale entry are in no lane; enabled again, an entry is found again."""
    said: Any = {"body": "importer 設定 C#", "tags": ["debugging"], "scope": SIGNALLED}
    kept = add_entry(tx, "kept", **said)
    superseded = add_entry(tx, "superseded", **said)
    lifecycle.supersede(tx, superseded.id, kept.id, BY)
    disabled = add_entry(tx, "disabled", **said)
    lifecycle.disable(tx, disabled.id, BY)
    add_entry(tx, "stale", source=Source("docs", "a", "stale"), **said)
    assert found(tx, term) == [kept.id]
    lifecycle.enable(tx, disabled.id, BY)
    assert set(found(tx, term)) == {kept.id, disabled.id}


def test_only_the_current_revision_is_found(tx: Tx) -> None:
    """The words, tags and signals of a former revision lead nowhere, and those of a purged entry either."""
    entry = add_entry(tx, "importer", tags=["debugging"], scope=SIGNALLED)
    revised(tx, entry, "exporter")
    assert [found(tx, term) for term in ("importer", "debugging", "parse_line", "exporter")] == [[], [], [], [entry.id]]
    lifecycle.purge(tx, entry.id, BY)
    assert found(tx, "exporter") == []


def test_other_workspaces_are_not_searched(tx: Tx) -> None:
    """An entry is found in the workspaces asked and in no other."""
    here = add_entry(tx, "importer")
    there = add_entry(tx, "importer", workspace="global")
    add_entry(tx, "importer", workspace="other")
    assert found(tx, "importer") == [here.id]
    assert set(found(tx, "importer", workspaces=("demo", "global"))) == {here.id, there.id}


def test_rare_terms_and_lanes_of_weight_come_first(tx: Tx) -> None:
    """An entry with the rare term is before those with the common one; a signal is before a word."""
    rare = add_entry(tx, "quaternion")
    common = [add_entry(tx, f"importer {number}") for number in range(40)]
    signal = add_entry(tx, "other", scope=SIGNALLED)
    order = found(tx, "importer quaternion parse_line")
    assert order[:2] == [signal.id, rare.id]
    assert set(order[2:]) == {entry.id for entry in common}


def test_equal_entries_are_ordered_by_merit(tx: Tx) -> None:
    """Verified before candidate, then trust, confidence, the newest, and the id."""
    plain = add_entry(tx, "importer 1", at=5)
    sure = add_entry(tx, "importer 2", confidence=0.5, at=1)
    newer = add_entry(tx, "importer 3", confidence=0.5, at=9)
    trusted = add_entry(tx, "importer 4", trust_level="user_asserted", at=1)
    verified = add_entry(tx, "importer 5", status="verified", at=1)
    assert found(tx, "importer") == [verified.id, trusted.id, newer.id, sure.id, plain.id]


def test_a_lane_gives_120_entries_and_a_question_500(tx: Tx) -> None:
    """The best of each lane are kept; the parts of a task find more together than one text."""
    for number in range(130):
        add_entry(tx, f"importer {number}")
        add_entry(tx, f"exporter {number}")
    assert len(found(tx, "importer")) == 120
    assert len(found(tx, "importer", "exporter")) == 240
    assert len(found(tx, "importer", "exporter", limit=50)) == 50


QUESTION = ("Fix the importer", "parse_line in src/reader.py", "設定 C# debugging")


def elsewhere(tx: Tx, numbers: range) -> None:
    """Entries of another workspace that every term of the question would find."""
    template = add_entry(tx, f"first of {numbers}", workspace="other")
    signals = [("symbols", "parse_line"), ("paths", "src/reader.py")]
    for number in numbers:
        entry = agent_entries.insert(tx, template._replace(id=f"other-{number}", content_hash=f"hash-{number}"))
        said = IndexedEntry(entry.seq, "other", 1, f"Importer {number}", None, "fix 設定 C#", ["debugging"], signals)
        agent_retrieval.index_entry(tx, said)


def asked(path: str) -> tuple[int, list[Any]]:
    """The instructions that SQLite's virtual machine carries out for the question, and the whole answer."""
    connection = open_connection(path, "reader", OPTIONS)
    instructions = 0

    def count() -> bool:
        nonlocal instructions
        instructions += 1
        return False

    tx = SqliteTx(connection)
    search(tx, *QUESTION)  # reads the schema
    connection.set_progress_handler(count, 1)
    hits = search(tx, *QUESTION, values=["E0308"]).hits
    connection.close()
    return instructions, [(hit.entry.id, hit.score, sorted(hit.reasons)) for hit in hits]


def test_20_000_entries_elsewhere_cost_and_change_nothing(store: SqliteEngine, path: str) -> None:
    """The answer is the same with 0, 200 and 20,000 entries in another workspace, and 200 cost as much as 20,000.

    The text indexes read pages of their own with statements, some more in a larger tree, so the cost is compared
    within a fifth.
    """
    store.run_write(lambda tx: add_entry(tx, "Importer", "reads rows", tags=["debugging"], scope=SIGNALLED))
    store.run_write(lambda tx: add_entry(tx, "設定 C#", "fix the importer"))
    _, alone = asked(path)
    store.run_write(lambda tx: elsewhere(tx, range(200)))
    few, beside_few = asked(path)
    store.run_write(lambda tx: elsewhere(tx, range(200, 20_000)))
    many, beside_many = asked(path)
    assert len(alone) == 2
    assert beside_few == alone
    assert beside_many == alone
    assert 1000 < many < 1.2 * few


def test_only_the_first_short_terms_of_a_question_are_looked_for(tx: Tx) -> None:
    """For each of them all texts of a workspace may be compared: 64 single characters took 2 s in a small memory.

    It is the first ones of the question, in however many of its parts they stand.
    """
    letters = [chr(ord("あ") + place) for place in range(RETRIEVAL_SHORT_TERMS_MAX + 1)]
    ids = [add_entry(tx, letter).id for letter in letters]
    assert set(found(tx, " ".join(letters))) == set(ids[:-1])
    assert set(found(tx, *letters)) == set(ids[:-1])
    assert found(tx, letters[-1]) == ids[-1:]
