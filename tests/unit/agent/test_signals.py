"""What a text names exactly, what makes it a database statement, and which words two texts can share."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.agent import signals


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("read `make check` first", ["make check"]),
        ("crash in src/parser/core.py today", ["src/parser/core.py"]),
        ("see parser.py", ["parser.py"]),
        ("upgrade @scope/tool-kit now", ["@scope/tool-kit"]),
        ("call std::vector and parse_line", ["std::vector", "parse_line"]),
        ("rowCount is wrong in ImportError", ["rowCount", "ImportError"]),
        ("open() fails with TS2345 and E0308", ["open()", "TS2345", "E0308"]),
        ("and/or nothing of this kind, e.g. here", []),
    ],
)
def test_symbols_paths_errors_packages_and_commands_are_named(text: str, found: list[str]) -> None:
    """Names of code are found in their usual spellings, and no word of a plain sentence is one."""
    assert signals.named(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "' OR 1=1 --",
        "x' OR 'a'='a",
        "DROP TABLE users; --",
        "1 UNION ALL SELECT password FROM users",
        "SELECT * FROM entries",
        "select title from entries where id = 1",
        "insert into entries values (1)",
        "delete from entries where id = 1",
        "UPDATE entries SET title = 'x'",
        "create table t (a)",
    ],
)
def test_a_database_statement_is_seen(text: str) -> None:
    """The shapes of statements are known in any case."""
    assert signals.looks_like_sql(text)


@pytest.mark.parametrize(
    "text",
    [
        "Drop table borders from the report",
        "Create table component and select the first row",
        "Update the docs and set version to 2",
        "Select the rows from the list where users click",
        "Fix the cache; update the index",
        "Delete from the cart page fails",
        "UNION ALL SELECT in parse_line",
        "DROP TABLE users; -- in `migrate`",
    ],
)
def test_a_sentence_about_tables_is_none(text: str) -> None:
    """A sentence with words of statements is a sentence, and so is a statement that names a part of the code."""
    assert not signals.looks_like_sql(text)


def test_a_scope_gives_its_signals_and_where_it_applies() -> None:
    """Every value becomes one folded key of its field; a framework counts by its name."""
    scope = {
        "schemaVersion": 2,
        "visibility": "global",
        "signals": {"symbols": ["Parse_Line()", "parse_line"], "paths": ["./src/A.py"], "errors": ["Type  Error"]},
        "applicability": {"languages": ["Python"], "frameworks": [{"name": "Falcon", "version": "4"}]},
    }
    assert signals.of_scope(scope) == [
        ("symbols", "parse_line"),
        ("paths", "src/a.py"),
        ("errors", "type error"),
        ("languages", "python"),
        ("frameworks", "falcon"),
    ]


@pytest.mark.parametrize(
    "scope", [{}, {"signals": 1}, {"signals": {"symbols": "x"}}, {"signals": {"symbols": [1, {}]}}]
)
def test_any_other_scope_gives_nothing(scope: dict[str, object]) -> None:
    """What is not structured has no signals, and is no error."""
    assert signals.of_scope(scope) == []


def test_words_leave_out_what_every_path_has() -> None:
    """Short words, stop words and common folders are no words; scripts without blanks give pairs of neighbors."""
    assert signals.words("src/the/parser_core.py") == {"parser", "core"}
    assert signals.words("設定変更") == {"設定", "定変", "変更"}


def test_terms_are_bounded_and_without_stop_words() -> None:
    """At most 64 terms of at most 512 characters; a text of stop words alone keeps them."""
    assert [term.literal for term in signals.terms("the parser of the importer")] == ["parser", "importer"]
    assert [term.literal for term in signals.terms("the of")] == ["the", "of"]
    assert len(signals.terms(" ".join(f"word{number}" for number in range(100)))) == 64
    assert [len(term.literal) for term in signals.terms("x" * 5000)] == [512]


@given(st.text(max_size=400))
@settings(derandomize=True, deadline=None)
def test_folding_is_idempotent_and_keys_of_any_text_are_folded(text: str) -> None:
    """A folded text folds to itself, and every key of any text at all is folded."""
    assert signals.fold(signals.fold(text)) == signals.fold(text)
    assert all(signals.fold(key) == key for key in signals.keys([text]))


@pytest.mark.parametrize("piece", ["a/", "a_", "select ", "or 1", "a.", "A1b", "``", "' or "])
def test_hostile_text_costs_linear_time(piece: str) -> None:
    """Sixteen thousand characters of the beginnings of shapes are looked through in well under a second."""
    text = piece * (16_384 // len(piece))
    began = time.perf_counter()
    signals.looks_like_sql(text)
    signals.keys([text])
    assert time.perf_counter() - began < 1.0
