"""record_serve: what another pack served, in the ledger that scorers grade."""

import json
from typing import Any

import pytest

from support.client import Hive

BUILTIN = "balanced-recall-v1"
NOBODY = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def served(hive: Hive) -> str:
    """A record that may have been served."""
    made: str = hive.call("memory.remember", content="The cache is warm.")["full_id"]
    return made


def record(hive: Hive, targets: list[str], **args: Any) -> dict[str, Any]:
    """The entry of one call, made as a part of the program makes it."""
    said = {"consumer_kind": "recall", "target_ids": targets, "query_raw": "Warm  cache", **args}
    return hive.inside(json.dumps([{"tool": "brain.record_serve", "args": said}]))


def rows(hive: Hive) -> list[Any]:
    """What the ledger holds, oldest first."""
    with hive.server.engine.read() as tx:
        return tx.all(
            "SELECT id, target_id, served_by_profile_id, accounting_profile_id, served_at FROM brain_serve_ledger"
            " ORDER BY seq"
        )


def test_each_record_gets_a_row_and_a_bad_target_costs_its_own(hive: Hive, served: str) -> None:
    """A prefix, a name, an unknown id and blanks are skipped; the answer says how many, and which rows there are."""
    targets = [served.upper(), served[:8], "nobody", NOBODY, " "]
    answer = record(hive, targets, served_at="1970-01-01T00:00:01Z")["result"]
    assert (answer["written"], answer["skipped"], answer["verb"]) == (1, 4, "brain.record_serve")
    assert rows(hive) == [(answer["serve_ledger_ids"][0], served, None, BUILTIN, 1_000_000)]
    again = record(hive, [served], query_raw="cache warm")["result"]
    assert again["query_class"] == answer["query_class"]


@pytest.mark.parametrize(
    ("said", "credited"),
    [
        ({}, (None, BUILTIN)),
        ({"serve_attribution": "unspecified"}, (None, BUILTIN)),
        ({"serve_attribution": "unattributed"}, (None, None)),
        ({"served_by_profile_id": "coder"}, ("coder", "coder")),
        ({"served_by_profile_id": "coder", "serve_attribution": "profile"}, ("coder", "coder")),
    ],
)
def test_a_row_counts_for_who_served(hive: Hive, served: str, said: dict[str, str], credited: Any) -> None:
    """The named profile, else the one that recalls resolve to; for nobody when what was chosen could not be read."""
    hive.call("brain.create_profile", name="coder")
    assert record(hive, [served], **said)["ok"]
    assert [row[2:4] for row in rows(hive)] == [credited]


@pytest.mark.parametrize(
    ("said", "code", "says"),
    [
        ({"consumer_kind": "cooking"}, "invalid_input", "accepted: recall"),
        ({"serve_attribution": "profile"}, "invalid_input", "served_by_profile_id"),
        ({"serve_attribution": "unattributed", "served_by_profile_id": BUILTIN}, "invalid_input", "serve_attribution"),
        ({"served_by_profile_id": "nobody"}, "not_found", "nobody"),
        ({"target_ids": ["x"] * 1001}, "invalid_input", "target_ids"),
    ],
)
def test_what_contradicts_itself_is_refused(
    hive: Hive, served: str, said: dict[str, Any], code: str, says: str
) -> None:
    """The message names what is wrong, and no row is written."""
    error = record(hive, said.pop("target_ids", [served]), **said)["error"]
    assert error["code"] == code
    assert says in error["message"]
    assert rows(hive) == []


def test_no_request_reaches_it(hive: Hive) -> None:
    """It is there for packs, not for callers."""
    error = hive.refuses("brain.record_serve", consumer_kind="recall", target_ids=[], query_raw="q")
    assert error["code"] == "unknown_verb"
