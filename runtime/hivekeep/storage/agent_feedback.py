"""What agents said of deliveries, recommendations, questions and outcomes.

Invariant: feedback is only ever added and goes with its run. An id is used once within its category, in all runs.
Verdicts on an entry count for the exact revision that was judged, and ranking walks over no more of them than count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from hivekeep.storage import json_text
from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import marks, sql
from hivekeep_contract.gateway import FEEDBACK_POINTS
from hivekeep_contract.limits import RANKING_FEEDBACK_RUNS_MAX


class FeedbackRow(NamedTuple):
    """One judgement; a field that its category does not have is None. `created_at` is in microseconds."""

    category: str
    feedback_id: str
    run_seq: int
    actor: str
    key_hash: str
    created_at: int
    delivery_id: str | None = None
    entry_id: str | None = None
    entry_revision: int | None = None
    verdict: str | None = None
    recommendation_code: str | None = None
    recommendation_verdict: str | None = None
    outcome: str | None = None
    rating: int | None = None
    question_id: str | None = None
    profile_field: str | None = None
    session_id: str | None = None
    comment: str | None = None


_INSERT: Final = sql(
    "INSERT INTO agent_feedback ({columns}) VALUES ({marks})",
    columns=", ".join(FeedbackRow._fields),
    marks=marks(len(FeedbackRow._fields)),
)
_USED: Final = "SELECT 1 FROM agent_feedback WHERE category = ? AND feedback_id = ?"
_KEYED: Final = "SELECT 1 FROM agent_feedback WHERE run_seq = ? AND actor = ? AND key_hash = ?"
_VERDICTS: Final = sql(
    "SELECT * FROM (SELECT json_extract(e.value, '$[0]'), v.value, (SELECT count(*) FROM (SELECT DISTINCT f.run_seq"
    " FROM agent_feedback f WHERE f.entry_id = json_extract(e.value, '$[0]')"
    " AND f.entry_revision = json_extract(e.value, '$[1]') AND f.verdict = v.value LIMIT {runs})) AS runs"
    " FROM json_each(?) AS e CROSS JOIN json_each(?) AS v) WHERE runs > 0",
    runs=str(RANKING_FEEDBACK_RUNS_MAX),
)
_TALLY: Final = "SELECT verdict, count(*) FROM agent_feedback WHERE entry_id = ? GROUP BY verdict ORDER BY verdict"
# Without the name of the index SQLite would rather walk over the feedback of all runs, which is in the order asked for.
_OF_RUN: Final = (
    "SELECT entry_id, verdict FROM agent_feedback INDEXED BY agent_feedback_key"
    " WHERE run_seq = ? AND category = 'context' ORDER BY seq"
)

_ALL_VERDICTS: Final = json_text.dump(list(FEEDBACK_POINTS))


def insert(tx: Tx, row: FeedbackRow) -> None:
    """Store a judgement whose id is free."""
    tx.run(_INSERT, row)


def is_used(tx: Tx, category: str, feedback_id: str) -> bool:
    """Whether an id was used in its category, in whatever run."""
    return tx.one(_USED, (category, feedback_id)) is not None


def is_keyed(tx: Tx, run_seq: int, actor: str, key_hash: str) -> bool:
    """Whether an actor already judged with this key in a run."""
    return tx.one(_KEYED, (run_seq, actor, key_hash)) is not None


def verdicts(tx: Tx, entries: Sequence[tuple[str, int]]) -> dict[str, dict[str, int]]:
    """For entries at exact revisions, by how many runs each verdict was given; at most as many as count.

    An entry without a verdict is left out.
    """
    found: dict[str, dict[str, int]] = {}
    for entry_id, verdict, runs in tx.all(_VERDICTS, (json_text.dump(list(entries)), _ALL_VERDICTS)):
        found.setdefault(entry_id, {})[verdict] = runs
    return found


def tally(tx: Tx, entry_id: str) -> dict[str, int]:
    """How often each verdict was given on an entry, whatever its revision; for people, not for ranking."""
    return dict(tx.all(_TALLY, (entry_id,)))


def last_verdicts(tx: Tx, run_seq: int) -> dict[str, str]:
    """The last verdict of a run on each entry that it judged."""
    return dict(tx.all(_OF_RUN, (run_seq,)))
