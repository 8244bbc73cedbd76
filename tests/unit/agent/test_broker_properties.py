"""Random lives of a few entries and runs: whatever happened before, what is delivered holds and is not told twice."""

from __future__ import annotations

import random

import pytest

from hivekeep.agent import broker, delivery
from hivekeep.agent.curated import lifecycle
from hivekeep.storage import agent_entries, agent_feedback
from hivekeep.storage.agent_feedback import FeedbackRow
from hivekeep.storage.engine import Tx
from hivekeep_contract.gateway_errors import Conflict
from support.entries import BY, add_entry, add_run, query, revised
from support.stores import record_id

STEPS = 60


class Life:
    """A store in which things happen, and what each run was told of each entry."""

    def __init__(self, tx: Tx, seed: int) -> None:
        self.tx = tx
        self.random = random.Random(seed)
        self.runs = [add_run(tx, number, title="importer") for number in (1, 2)]
        self.ids = [add_entry(tx, f"importer {number}").id for number in range(4)]
        self.told: dict[tuple[int, str], int] = {}
        self.verdict: dict[tuple[int, str], str] = {}
        self.count = 0

    def change(self) -> str | None:
        """Something happens to an entry; answers which one has another state now."""
        entry_id = self.random.choice(self.ids)
        before = agent_entries.get(self.tx, entry_id)
        assert before is not None
        what = self.random.choice(["revise", "disable", "enable", "nothing"])
        if what == "revise":
            self.count += 1
            revised(self.tx, before, f"importer again {self.count}")
        elif what != "nothing":
            getattr(lifecycle, what)(self.tx, entry_id, BY._replace(now_us=2_000_000 + self.count))
        return entry_id if agent_entries.get(self.tx, entry_id) != before else None

    def judge(self) -> None:
        """A run says what it thinks of an entry that it was told of."""
        if not self.told:
            return
        (run_seq, entry_id), revision = self.random.choice(sorted(self.told.items()))
        verdict = self.random.choice(["helpful", "irrelevant"])
        self.count += 1
        row = FeedbackRow("context", record_id(self.count), run_seq, "a", f"{self.count:064x}", 1000, verdict=verdict)
        agent_feedback.insert(self.tx, row._replace(entry_id=entry_id, entry_revision=revision, delivery_id="d"))
        self.verdict[run_seq, entry_id] = verdict

    def deliver(self) -> None:
        """A run asks with one event more; something may happen before the answer is handed out."""
        place = self.random.randrange(len(self.runs))
        run = self.runs[place] = self.runs[place]._replace(last_sequence=self.runs[place].last_sequence + 1)
        self.tx.run("UPDATE agent_runs SET last_sequence = ? WHERE seq = ?", (run.last_sequence, run.seq))
        candidate = broker.rank(self.tx, query(run))
        selected = {item.state.id for item in candidate.items}
        assert selected == self.due(run.seq)
        touched = self.change() if self.random.random() < 0.3 else None
        try:
            context = delivery.deliver(self.tx, candidate, 1000)
        except Conflict:
            assert touched in selected
            return
        assert touched not in selected
        for item in context["items"]:
            entry = agent_entries.get(self.tx, item["entryId"])
            assert entry is not None
            assert item["entryRevision"] == entry.revision
            assert ("revision_changed" in item["selectionReasons"]) == (
                self.told.get((run.seq, entry.id), entry.revision) < entry.revision
            )
            self.told[run.seq, entry.id] = entry.revision

    def due(self, run_seq: int) -> set[str]:
        """The entries that a run is to be told of: retrievable, and new to it or helpful."""
        found = set()
        for entry_id in self.ids:
            entry = agent_entries.get(self.tx, entry_id)
            assert entry is not None
            new = self.told.get((run_seq, entry_id), 0) < entry.revision
            if not entry.disabled and (new or self.verdict.get((run_seq, entry_id)) == "helpful"):
                found.add(entry_id)
        return found


@pytest.mark.parametrize("seed", range(12))
def test_a_run_is_told_what_is_due_and_holds(tx: Tx, seed: int) -> None:
    """After any history a run is given exactly the retrievable entries that are new to it or were helpful to it."""
    life = Life(tx, seed)
    for _ in range(STEPS):
        life.random.choice([life.change, life.judge, life.deliver, life.deliver])()
    assert life.told
