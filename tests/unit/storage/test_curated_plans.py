"""Reading curated entries: one workspace never pays for another, and nothing is sorted that an index has in order."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hivekeep.storage import agent_entries, agent_links, agent_revisions, agent_sources, agent_workspaces
from hivekeep.storage.agent_entries import EntryFilter
from hivekeep.storage.engine import Tx
from support.stores import Explained, record_id

ID = record_id(1)


@pytest.mark.parametrize(
    ("read", "steps"),
    [
        (
            lambda tx: agent_entries.get(tx, ID),
            ["SEARCH agent_entries USING INDEX agent_entries_id (id=?)"],
        ),
        (
            lambda tx: agent_entries.with_prefix(tx, ID[:8]),
            ["SEARCH agent_entries USING INDEX agent_entries_id (id>? AND id<?)"],
        ),
        (
            lambda tx: agent_entries.with_content(tx, "demo", "0"),
            ["SEARCH agent_entries USING INDEX agent_entries_content (workspace=? AND content_hash=?)"],
        ),
        (
            lambda tx: agent_entries.with_mapping(tx, "demo", "wiki", "a"),
            [
                "SEARCH agent_entries USING INDEX agent_entries_managed"
                " (workspace=? AND source_id=? AND source_mapping=?)"
            ],
        ),
        (
            lambda tx: agent_entries.of_source(tx, "demo", "wiki"),
            ["SEARCH agent_entries USING INDEX agent_entries_managed (workspace=? AND source_id=?)"],
        ),
        (
            lambda tx: list(agent_entries.in_order(tx, "demo")),
            ["SEARCH agent_entries USING INDEX agent_entries_listed (workspace=?)"],
        ),
        (
            lambda tx: agent_entries.newest(tx, "demo", EntryFilter(status="verified"), 20),
            ["SEARCH agent_entries USING INDEX agent_entries_listed (workspace=?)"],
        ),
        (
            lambda tx: agent_entries.audit_of(tx, ID),
            ["SEARCH agent_entry_audit USING INDEX agent_entry_audit_by_entry (entry_id=?)"],
        ),
        (
            lambda tx: agent_entries.audit_in_order(tx, "demo"),
            ["SEARCH agent_entry_audit USING INDEX agent_entry_audit_listed (workspace=?)"],
        ),
        (
            lambda tx: agent_revisions.get(tx, 1, 1),
            ["SEARCH agent_entry_revisions USING INDEX agent_entry_revisions_natural (entry_seq=? AND revision=?)"],
        ),
        (
            lambda tx: agent_revisions.history(tx, 1),
            ["SEARCH agent_entry_revisions USING INDEX agent_entry_revisions_natural (entry_seq=?)"],
        ),
        (
            lambda tx: agent_links.find(tx, 1, "supports", 2),
            ["SEARCH agent_entry_links USING INDEX agent_entry_links_natural (from_seq=? AND relation=? AND to_seq=?)"],
        ),
        (
            lambda tx: agent_sources.of_workspace(tx, "demo"),
            ["SEARCH agent_sources USING PRIMARY KEY (workspace=?)"],
        ),
        (
            lambda tx: agent_workspaces.is_project(tx, "demo"),
            ["SEARCH agent_repositories USING COVERING INDEX agent_repositories_by_workspace (workspace=?)"],
        ),
        (
            lambda tx: agent_workspaces.by_remote(tx, "0"),
            ["SEARCH agent_repositories USING INDEX agent_repositories_by_remote (remote_key=?)"],
        ),
    ],
)
def test_a_read_is_one_search_of_an_index(tx: Tx, read: Callable[[object], object], steps: list[str]) -> None:
    """The plan of each."""
    explained = Explained(tx)
    read(explained)
    assert explained.steps == steps


def test_a_list_by_tag_and_kind_looks_each_entry_up_in_its_own_index(tx: Tx) -> None:
    """The workspace bounds the walk; neither condition scans a table."""
    explained = Explained(tx)
    agent_entries.newest(explained, "demo", EntryFilter(kind="fact", tag_key="ci"), 20)  # type: ignore[arg-type]
    assert explained.steps[0] == "SEARCH agent_entries USING INDEX agent_entries_listed (workspace=?)"
    assert not any(step.startswith("SCAN") or "B-TREE" in step for step in explained.steps)
