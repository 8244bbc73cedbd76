"""What one profile believes in one namespace: read, taught, reset.

Invariant: every change is read and written inside one write transaction, gives the state a later `updated_at` than it
had, and leaves an entry in its history. Two processes that teach at once therefore lose nothing.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from hivekeep.identity.ids import new_id
from hivekeep.storage import brain_states
from hivekeep.storage.brain_states import SectionRow, StateRow, TargetRow
from hivekeep.storage.engine import Tx
from hivekeep.storage.json_text import dump
from hivekeep.tuning import sections
from hivekeep.tuning.beliefs import RELEVANCE, SALIENCE, TARGET, TEMPORAL, Belief
from hivekeep_contract.limits import FEEDBACK_RELEVANCE, POSTERIOR_TARGETS_MAX, SECTION_EPOCH_START

RESET = "reset"
FEEDBACK = "feedback"


class Unreadable(Exception):
    """The stored state holds numbers that are no beliefs."""


class Lesson(NamedTuple):
    """One judgement: the signal, the weight it has (negative against, 0 for none), the record, and its sections."""

    signal: str
    weight: float
    target_id: str
    section_signals: Mapping[str, str]


def read(tx: Tx, namespace: str, profile_id: str) -> StateRow:
    """What a profile believes here, priors where it has learned nothing; raises Unreadable."""
    row = brain_states.get(tx, namespace, profile_id) or _fresh(namespace, profile_id)
    if not all(belief.is_sound for belief in (relevance(row), salience(row), temporal(row))):
        raise Unreadable(f"the state of profile {profile_id!r} in namespace {namespace!r} is damaged")
    return row


def relevance(row: StateRow) -> Belief:
    """What is believed of the weight of relevance."""
    return Belief(row.relevance_alpha, row.relevance_beta)


def salience(row: StateRow) -> Belief:
    """What is believed of the weight of salience."""
    return Belief(row.salience_alpha, row.salience_beta)


def temporal(row: StateRow) -> Belief:
    """What is believed of the weight of recency."""
    return Belief(row.temporal_alpha, row.temporal_beta)


def teach(tx: Tx, namespace: str, profile_id: str, lesson: Lesson, event: Mapping[str, Any], now_us: int) -> StateRow:
    """Let a profile learn a lesson and answer its new state; `event` is what its history keeps. Raises Unreadable."""
    old = read(tx, namespace, profile_id)
    salient = salience(old).after(lesson.weight)
    relevant = relevance(old)
    if lesson.signal in FEEDBACK_RELEVANCE:
        relevant = relevant.after(lesson.weight)
    new = old._replace(
        relevance_alpha=relevant.alpha,
        relevance_beta=relevant.beta,
        salience_alpha=salient.alpha,
        salience_beta=salient.beta,
        total_events=old.total_events + 1,
        updated_at=_later(old, now_us),
    )
    if lesson.weight:
        new = new._replace(target_count=_teach_target(tx, old, lesson))
    if lesson.section_signals:
        _teach_sections(tx, old, lesson.section_signals)
        new = new._replace(section_events=old.section_events + 1, section_epoch=max(old.section_epoch - 1, 0))
    brain_states.put(tx, new)
    _log(tx, new, FEEDBACK, event)
    return new


def reset(tx: Tx, namespace: str, profile_id: str, now_us: int) -> StateRow:
    """Return a profile to its priors, a damaged one too, and answer its new state."""
    old = brain_states.get(tx, namespace, profile_id) or _fresh(namespace, profile_id)
    new = _fresh(namespace, profile_id)._replace(
        total_events=0, exploration_epoch=old.exploration_epoch + 1, updated_at=_later(old, now_us)
    )
    brain_states.drop_targets(tx, namespace, profile_id)
    begun = [sections.reset(row) for row in brain_states.sections(tx, namespace, profile_id)]
    brain_states.put_sections(tx, namespace, profile_id, begun)
    brain_states.put(tx, new)
    _log(tx, new, RESET, {"exploration_epoch": new.exploration_epoch})
    return new


def section_rows(tx: Tx, namespace: str, profile_id: str, home: str) -> list[SectionRow]:
    """What a profile believes of sections here; what it was made with in `home` where it has learned nothing yet."""
    rows = brain_states.sections(tx, namespace, profile_id)
    if rows or namespace == home:
        return rows
    return [sections.reset(row) for row in brain_states.sections(tx, home, profile_id)]


def _teach_target(tx: Tx, state: StateRow, lesson: Lesson) -> int:
    """Note the lesson on its record, and answer how many records the profile remembers then."""
    place = (state.namespace, state.profile_id)
    known = brain_states.target(tx, *place, lesson.target_id)
    if known is not None:
        learned = Belief(known.alpha, known.beta).after(lesson.weight)
        brain_states.set_target(tx, *place, TargetRow(lesson.target_id, *learned))
        return state.target_count
    full = state.target_count >= POSTERIOR_TARGETS_MAX
    if full:
        brain_states.drop_oldest_target(tx, *place)
    brain_states.add_target(tx, *place, TargetRow(lesson.target_id, *TARGET.after(lesson.weight)))
    return state.target_count + (not full)


def _teach_sections(tx: Tx, state: StateRow, signals: Mapping[str, str]) -> None:
    place = (state.namespace, state.profile_id)
    rows = brain_states.sections(tx, *place) or sections.default_rows()
    learned = [sections.after(row, signals[row.section]) if row.section in signals else row for row in rows]
    brain_states.put_sections(tx, *place, learned)


def _fresh(namespace: str, profile_id: str) -> StateRow:
    return StateRow(
        namespace,
        profile_id,
        *RELEVANCE,
        *SALIENCE,
        *TEMPORAL,
        target_count=0,
        total_events=0,
        exploration_epoch=0,
        section_events=0,
        section_epoch=SECTION_EPOCH_START,
        updated_at=0,
    )


def _later(old: StateRow, now_us: int) -> int:
    """A moment after the last change, also when the clock was set back."""
    return max(now_us, old.updated_at + 1)


def _log(tx: Tx, row: StateRow, kind: str, payload: Mapping[str, Any]) -> None:
    brain_states.log(tx, new_id(), row.namespace, row.profile_id, kind, dump(payload), row.updated_at)
