"""What can be done to an entry, in which standing, and what is left of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.agent.curated import content, lifecycle, views
from hivekeep.agent.curated.lifecycle import Author, NewEntry, Source, Stored
from hivekeep.storage import agent_entries, agent_links, agent_revisions
from hivekeep.storage.connections import MEMORY
from hivekeep.storage.engine import Tx
from hivekeep.storage.sqlite import open_store
from hivekeep_contract.gateway_errors import Conflict, GatewayError, NotFound, ValidationError
from support.stores import OPTIONS

ADA = Author("ada", 1_000)
BOB = Author("bob", 2_000)
NOBODY = "00000000-0000-4000-8000-00000000ffff"


def says(title: str, **said: Any) -> content.Content:
    """A fact of this title."""
    return content.read({"kind": "fact", "title": title, "body": f"About {title}.", **said})


def add(tx: Tx, title: str = "Tests", workspace: str = "demo", **said: Any) -> Stored:
    """A new candidate of Ada."""
    return lifecycle.record(tx, NewEntry(workspace, says(title, **said)), ADA)


def reason(why: pytest.ExceptionInfo[GatewayError]) -> str:
    """The word for a refusal."""
    return why.value.reason


def steps(tx: Tx, entry_id: str) -> list[tuple[str, int | None, str | None, str]]:
    """What the audit says of an entry: operation, revision, other entry, actor."""
    return [(row.operation, row.revision, row.other_id, row.actor) for row in agent_entries.audit_of(tx, entry_id)]


def indexed(tx: Tx) -> dict[str, list[Any]]:
    """What lies in the tables by which entries are found."""
    return {
        table: tx.all(f"SELECT * FROM {table}")
        for table in ("agent_entry_tags", "agent_entry_signals", "agent_entries_trigram_terms")
    }


def test_a_recorded_entry_is_a_candidate_that_its_author_vouches_for(tx: Tx) -> None:
    """The whole view of it."""
    stored = add(tx, tags=["ci"], scope={"area": "ci"})
    assert stored.changed
    assert views.entry(stored) == {
        "entryId": stored.entry.id,
        "workspace": "demo",
        "status": "candidate",
        "trustLevel": "user_asserted",
        "confidence": 1.0,
        "revision": 1,
        "kind": "fact",
        "title": "Tests",
        "body": "About Tests.",
        "summary": None,
        "scope": {"area": "ci"},
        "provenance": {},
        "tags": ["ci"],
        "contentHash": says("Tests", tags=["ci"], scope={"area": "ci"}).hash,
        "supersededBy": None,
        "createdBy": "ada",
        "createdAt": "1970-01-01T00:00:00.001Z",
        "updatedAt": "1970-01-01T00:00:00.001Z",
        "verifiedAt": None,
        "disabled": False,
        "source": None,
    }
    assert steps(tx, stored.entry.id) == [("record", 1, None, "ada")]


def test_equal_content_of_a_workspace_is_one_entry(tx: Tx) -> None:
    """Recording it again answers what is there and writes nothing; another workspace has an entry of its own."""
    first = add(tx, tags=["b", "a"])
    again = lifecycle.record(tx, NewEntry("demo", says("Tests", tags=["a", "b"])), BOB)
    assert again == (first.entry, first.revision, False)
    assert steps(tx, first.entry.id) == [("record", 1, None, "ada")]
    assert add(tx, workspace="other", tags=["a", "b"]).entry.id != first.entry.id


def test_what_was_said_before_a_revision_may_be_recorded_anew(tx: Tx) -> None:
    """Content is one entry's while it is current there; the entry that had it may not take it back then."""
    first = add(tx, "Old")
    lifecycle.revise(tx, first.entry.id, 1, says("New"), BOB)
    second = add(tx, "Old")
    assert second.changed
    with pytest.raises(Conflict) as why:
        lifecycle.revise(tx, first.entry.id, 2, says("Old"), BOB)
    assert reason(why) == "entry_exists"


def test_a_revision_is_added_and_none_is_changed(tx: Tx) -> None:
    """The entry stands at the new one; both are kept as they were written."""
    entry = add(tx, tags=["old"]).entry
    revised = lifecycle.revise(tx, entry.id, 1, says("Checks", tags=["new"]), BOB)
    assert (revised.entry.revision, revised.entry.updated_at, revised.entry.created_at) == (2, 2_000, 1_000)
    history = agent_revisions.history(tx, entry.seq)
    assert [(row.revision, row.title, row.tags, row.created_by) for row in history] == [
        (1, "Tests", '["old"]', "ada"),
        (2, "Checks", '["new"]', "bob"),
    ]
    assert tx.all("SELECT workspace, tag_key, entry_seq, revision FROM agent_entry_tags") == [
        ("demo", "new", entry.seq, 2)
    ]


def test_the_store_refuses_to_change_a_revision(tx: Tx) -> None:
    """Also to a statement that nobody should write."""
    add(tx)
    with pytest.raises(Exception, match="revisions are immutable"):
        tx.run("UPDATE agent_entry_revisions SET title = 'x'")


def test_revising_to_the_same_content_is_nothing(tx: Tx) -> None:
    """No revision and no audit row."""
    entry = add(tx).entry
    assert lifecycle.revise(tx, entry.id, 1, says("Tests"), BOB) == (entry, lifecycle.current(tx, entry), False)
    assert len(steps(tx, entry.id)) == 1


def test_verifying_keeps_the_revision_and_says_when(tx: Tx) -> None:
    """The trust stays what it was."""
    entry = add(tx).entry
    verified = lifecycle.verify(tx, entry.id, 1, BOB).entry
    assert verified == entry._replace(status="verified", verified_at=2_000, updated_at=2_000)
    assert steps(tx, entry.id)[1:] == [("promote", 1, None, "bob")]


Change = Callable[[Tx, str], object]
REVISE: Change = lambda tx, entry_id: lifecycle.revise(tx, entry_id, 1, says("Other"), BOB)  # noqa: E731
VERIFY: Change = lambda tx, entry_id: lifecycle.verify(tx, entry_id, 1, BOB)  # noqa: E731


def _verified(tx: Tx) -> str:
    entry = add(tx).entry
    return lifecycle.verify(tx, entry.id, 1, ADA).entry.id


def _superseded(tx: Tx) -> str:
    return lifecycle.supersede(tx, add(tx).entry.id, add(tx, "Newer").entry.id, ADA).entry.id


def _moved_on(tx: Tx) -> str:
    return lifecycle.revise(tx, add(tx).entry.id, 1, says("Newer"), ADA).entry.id


def _managed(tx: Tx) -> str:
    new = NewEntry("demo", says("Tests"), source=Source("wiki", "a.md", "active"))
    return lifecycle.record(tx, new, ADA).entry.id


@pytest.mark.parametrize(
    ("standing", "change", "why"),
    [
        (_verified, REVISE, "not_candidate"),
        (_verified, VERIFY, "not_candidate"),
        (_superseded, REVISE, "entry_superseded"),
        (_superseded, VERIFY, "entry_superseded"),
        (_moved_on, REVISE, "revision_differs"),
        (_moved_on, VERIFY, "revision_differs"),
        (_managed, REVISE, "managed_entry"),
    ],
)
def test_only_a_candidate_at_the_revision_that_was_read_is_changed(
    tx: Tx, standing: Callable[[Tx], str], change: Change, why: str
) -> None:
    """Anything else is a conflict that changes nothing."""
    entry_id = standing(tx)
    before = lifecycle.get(tx, entry_id), steps(tx, entry_id)
    with pytest.raises(Conflict) as refused:
        change(tx, entry_id)
    assert reason(refused) == why
    assert (lifecycle.get(tx, entry_id), steps(tx, entry_id)) == before


def test_a_superseded_entry_names_its_replacement_and_is_not_retrievable(tx: Tx) -> None:
    """A verified one as well; the replacement is left as it is."""
    old, new = add(tx).entry, add(tx, "Newer").entry
    lifecycle.verify(tx, old.id, 1, ADA)
    replaced = lifecycle.supersede(tx, old.id, new.id, BOB).entry
    assert (replaced.status, replaced.superseded_by, replaced.revision) == ("superseded", new.id, 1)
    assert lifecycle.get(tx, new.id) == new
    assert steps(tx, old.id)[-1] == ("supersede", 1, new.id, "bob")
    assert tx.all("SELECT id FROM agent_entries WHERE retrievable") == [(new.id,)]


def test_what_cannot_replace_an_entry(tx: Tx) -> None:
    """Itself, an entry of another workspace, one that was replaced, none; and nothing is replaced twice."""
    entry, other, foreign = add(tx).entry, add(tx, "Other").entry, add(tx, "Foreign", "elsewhere").entry
    with pytest.raises(ValidationError) as itself:
        lifecycle.supersede(tx, entry.id, entry.id, BOB)
    assert (itself.value.reason, itself.value.field) == ("wrong_value", "/replacementId")
    with pytest.raises(Conflict) as elsewhere:
        lifecycle.supersede(tx, entry.id, foreign.id, BOB)
    assert reason(elsewhere) == "other_workspace"
    with pytest.raises(NotFound):
        lifecycle.supersede(tx, entry.id, NOBODY, BOB)
    lifecycle.supersede(tx, entry.id, other.id, BOB)
    for first, second in ((entry, other), (other, entry)):
        with pytest.raises(Conflict) as again:
            lifecycle.supersede(tx, first.id, second.id, BOB)
        assert reason(again) == "entry_superseded"


def test_disabling_is_taken_back_by_enabling(tx: Tx) -> None:
    """Each writes once; the status stays."""
    entry = add(tx).entry
    assert lifecycle.disable(tx, entry.id, BOB).changed
    assert not lifecycle.disable(tx, entry.id, BOB).changed
    assert tx.all("SELECT status, retrievable FROM agent_entries") == [("candidate", 0)]
    assert lifecycle.enable(tx, entry.id, BOB).entry == entry._replace(updated_at=2_000)
    assert steps(tx, entry.id)[1:] == [("disable", 1, None, "bob"), ("enable", 1, None, "bob")]


@pytest.mark.parametrize(("state", "retrievable"), [("active", 1), ("stale", 0), ("disabled", 0)])
def test_an_entry_of_a_source_is_retrievable_while_that_has_it(tx: Tx, state: str, retrievable: int) -> None:
    """And while the source is not switched off."""
    lifecycle.record(tx, NewEntry("demo", says("Tests"), source=Source("wiki", "a.md", state)), ADA)
    assert tx.all("SELECT retrievable FROM agent_entries") == [(retrievable,)]


def test_a_link_is_there_once(tx: Tx) -> None:
    """In one direction; the other direction, and another relation, are links of their own."""
    first, second = add(tx).entry, add(tx, "Other").entry
    link, is_new = lifecycle.link(tx, first.id, second.id, "supports", ADA)
    assert is_new
    assert (link.from_id, link.to_id, link.relation, link.created_by) == (first.id, second.id, "supports", "ada")
    assert lifecycle.link(tx, first.id, second.id, "supports", BOB) == (link, False)
    assert lifecycle.link(tx, second.id, first.id, "supports", BOB)[1]
    assert lifecycle.link(tx, first.id, second.id, "contradicts", BOB)[1]
    assert len(agent_links.of_entry(tx, first.seq)) == 3


def test_links_stay_in_a_workspace_or_lead_to_the_global_one(tx: Tx) -> None:
    """An entry is not linked to itself."""
    first, foreign, shared = add(tx).entry, add(tx, "Other", "elsewhere").entry, add(tx, "All", "global").entry
    with pytest.raises(Conflict) as elsewhere:
        lifecycle.link(tx, first.id, foreign.id, "supports", ADA)
    assert reason(elsewhere) == "other_workspace"
    with pytest.raises(ValidationError):
        lifecycle.link(tx, first.id, first.id, "supports", ADA)
    assert lifecycle.link(tx, first.id, shared.id, "derived_from", ADA)[1]
    assert lifecycle.link(tx, shared.id, foreign.id, "related_to", ADA)[1]


def test_a_purge_leaves_one_row_without_content(tx: Tx) -> None:
    """Entry, revisions, links, index rows and audit are gone; what it replaced stays superseded by its id."""
    bare = indexed(tx)
    entry = add(tx, tags=["ci"], scope={"schemaVersion": 2, "visibility": "project", "signals": {"symbols": ["a"]}})
    old = add(tx, "Old").entry
    lifecycle.supersede(tx, old.id, entry.entry.id, ADA)
    lifecycle.link(tx, old.id, entry.entry.id, "supports", ADA)
    lifecycle.revise(tx, entry.entry.id, 1, says("Newer", tags=["ci"]), ADA)
    lifecycle.purge(tx, entry.entry.id, BOB)
    assert agent_entries.get(tx, entry.entry.id) is None
    assert agent_revisions.history(tx, entry.entry.seq) == []
    assert agent_links.of_entry(tx, old.seq) == []
    assert lifecycle.is_purged(tx, entry.entry.id)
    assert [row[:-1] for row in agent_entries.audit_of(tx, entry.entry.id)] == [
        ("demo", "purge", entry.entry.id, 2, None, "bob")
    ]
    assert lifecycle.get(tx, old.id).superseded_by == entry.entry.id
    lifecycle.purge(tx, old.id, BOB)
    assert indexed(tx) == bare


def test_the_number_of_a_purged_entry_is_not_given_again(tx: Tx) -> None:
    """A snapshot that was taken before cannot take another entry for it."""
    first = add(tx).entry
    lifecycle.purge(tx, first.id, ADA)
    assert add(tx).entry.seq == first.seq + 1


@pytest.mark.parametrize("change", [REVISE, VERIFY, lambda tx, entry_id: lifecycle.purge(tx, entry_id, BOB)])
def test_an_unknown_entry_is_not_found(tx: Tx, change: Change) -> None:
    """By any operation."""
    with pytest.raises(NotFound) as why:
        change(tx, NOBODY)
    assert reason(why) == "no_record"


# A model of the lifecycle: entries by number, each (title, revision, status, disabled) or None when purged.
TITLES = ("a", "b", "c", "d")
NUMBERS = st.integers(0, 3)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("record"), st.sampled_from(TITLES)),
        st.tuples(st.just("revise"), NUMBERS, st.integers(1, 3), st.sampled_from(TITLES)),
        st.tuples(st.just("verify"), NUMBERS, st.integers(1, 3)),
        st.tuples(st.just("supersede"), NUMBERS, NUMBERS),
        st.tuples(st.sampled_from(["disable", "enable", "purge"]), NUMBERS),
    ),
    max_size=25,
)


class Model:
    """The rules once more, in memory."""

    def __init__(self) -> None:
        self.entries: list[dict[str, Any] | None] = []

    def holder(self, title: str) -> int | None:
        """The entry that says this now."""
        for number, entry in enumerate(self.entries):
            if entry is not None and entry["title"] == title:
                return number
        return None

    def expect(self, step: tuple[Any, ...]) -> str:
        """What becomes of a step, as a word; the model follows."""
        operation, *args = step
        if operation == "record":
            if self.holder(args[0]) is not None:
                return "unchanged"
            self.entries.append({"title": args[0], "revision": 1, "status": "candidate", "disabled": False})
            return "changed"
        entry = self.entries[args[0]] if args[0] < len(self.entries) else None
        if entry is None:
            return "no_record"
        return str(getattr(self, operation)(entry, *args))

    def revise(self, entry: dict[str, Any], number: int, revision: int, title: str) -> str:
        """A candidate at its revision takes what nobody says."""
        refusal = self._refusal(entry, revision)
        if refusal is not None:
            return refusal
        if entry["title"] == title:
            return "unchanged"
        if self.holder(title) is not None:
            return "entry_exists"
        entry.update(title=title, revision=revision + 1)
        return "changed"

    def verify(self, entry: dict[str, Any], number: int, revision: int) -> str:
        """A candidate at its revision."""
        refusal = self._refusal(entry, revision)
        if refusal is None:
            entry["status"] = "verified"
        return refusal or "changed"

    def supersede(self, entry: dict[str, Any], number: int, by: int) -> str:
        """By another entry that is not superseded."""
        other = self.entries[by] if by < len(self.entries) else None
        if other is None:
            return "no_record"
        if by == number:
            return "wrong_value"
        if "superseded" in (entry["status"], other["status"]):
            return "entry_superseded"
        entry["status"] = "superseded"
        return "changed"

    def disable(self, entry: dict[str, Any], number: int) -> str:
        """Once."""
        return self._switch(entry, True)

    def enable(self, entry: dict[str, Any], number: int) -> str:
        """Once."""
        return self._switch(entry, False)

    def purge(self, entry: dict[str, Any], number: int) -> str:
        """Always."""
        self.entries[number] = None
        return "changed"

    def _switch(self, entry: dict[str, Any], disabled: bool) -> str:
        before, entry["disabled"] = entry["disabled"], disabled
        return "unchanged" if before == disabled else "changed"

    def _refusal(self, entry: dict[str, Any], revision: int) -> str | None:
        if entry["revision"] != revision:
            return "revision_differs"
        return {"candidate": None, "verified": "not_candidate", "superseded": "entry_superseded"}[entry["status"]]


def carry_out(tx: Tx, ids: list[str], step: tuple[Any, ...]) -> str:
    """The same step on a store; answers what became of it."""
    operation, *args = step
    try:
        if operation == "record":
            stored = lifecycle.record(tx, NewEntry("demo", says(args[0])), ADA)
            ids += [stored.entry.id] if stored.changed else []
            return "changed" if stored.changed else "unchanged"
        entry_id = ids[args[0]] if args[0] < len(ids) else NOBODY
        if operation == "purge":
            lifecycle.purge(tx, entry_id, ADA)
            return "changed"
        if operation == "revise":
            stored = lifecycle.revise(tx, entry_id, args[1], says(args[2]), ADA)
        elif operation == "supersede":
            stored = lifecycle.supersede(tx, entry_id, ids[args[1]] if args[1] < len(ids) else NOBODY, ADA)
        elif operation == "verify":
            stored = lifecycle.verify(tx, entry_id, args[1], ADA)
        else:
            stored = getattr(lifecycle, operation)(tx, entry_id, ADA)
        return "changed" if stored.changed else "unchanged"
    except GatewayError as why:
        return why.reason


@settings(max_examples=80, deadline=None, derandomize=True)
@given(STEPS)
def test_the_lifecycle_is_that_of_the_model(steps_taken: list[tuple[Any, ...]]) -> None:
    """After any steps: the same outcome of each, the same entries, whole histories, and only what lives is indexed."""
    engine, model = open_store(MEMORY, OPTIONS), Model()
    ids: list[str] = []
    with engine.read() as tx:
        for step in steps_taken:
            assert carry_out(tx, ids, step) == model.expect(step)
        for entry_id, expected in zip(ids, model.entries, strict=True):
            found = agent_entries.get(tx, entry_id)
            if expected is None or found is None:
                assert (found, expected) == (None, None)
                continue
            history = agent_revisions.history(tx, found.seq)
            assert [row.revision for row in history] == list(range(1, found.revision + 1))
            assert history[-1].content_hash == found.content_hash == says(expected["title"]).hash
            assert (history[-1].title, found.revision) == (expected["title"], expected["revision"])
            assert (found.status, bool(found.disabled)) == (expected["status"], expected["disabled"])
        alive = sum(entry is not None for entry in model.entries)
        assert tx.one("SELECT count(*) FROM agent_entries_words")[0] == alive  # type: ignore[index]
        assert tx.one("SELECT count(DISTINCT entry_seq) FROM agent_entry_revisions")[0] == alive  # type: ignore[index]
    engine.close()
