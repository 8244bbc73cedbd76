"""Reads that end: in time, or with a word about why they were not begun."""

from __future__ import annotations

import time

import apsw
import pytest

from hivekeep.storage.engine import OutOfTime, TooComplex
from hivekeep.storage.sqlite import open_store
from support.stores import OPTIONS

ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def test_a_read_is_stopped_when_its_time_is_over() -> None:
    """A statement without an end raises OutOfTime about when its budget says, and the next one is not hurried."""
    engine = open_store(":memory:", OPTIONS)
    with engine.read() as tx:
        began = time.monotonic()
        with pytest.raises(OutOfTime):
            tx.all_within(ENDLESS, (), 100)
        assert 0.1 <= time.monotonic() - began < 2
        assert tx.all_within("SELECT 1", (), 0) == [(1,)]
        assert tx.all("SELECT ?", ("after",)) == [("after",)]
    engine.close()


def test_a_statement_beyond_a_limit_is_told_from_a_wrong_one() -> None:
    """Too many columns are TooComplex; a table that is not there is the error of SQLite."""
    engine = open_store(":memory:", OPTIONS)
    with engine.read() as tx:
        with pytest.raises(TooComplex, match="too many columns"):
            tx.all_within("SELECT " + ",".join("1" for _ in range(3000)), (), 1000)
        with pytest.raises(apsw.SQLError, match="no such table"):
            tx.all_within("SELECT 1 FROM nowhere", (), 1000)
    engine.close()
