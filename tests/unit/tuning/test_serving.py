"""Serving: which weights a recall gets, what it notes, and what it does with a damaged profile."""

from typing import Any

import pytest

from hivekeep.identity.caller import Caller, make_caller
from hivekeep.storage import brain_profiles, serve_ledger
from hivekeep.storage.brain_profiles import BindingRow, ProfileRow
from hivekeep.storage.engine import Tx
from hivekeep.tuning import serving, states
from hivekeep.tuning.states import Lesson
from hivekeep_contract.errors import InvalidInput, NotFound
from support.stores import record_id

ADA = make_caller("ada", None, ())
ANON = make_caller(None, None, ())
DAY = 24 * 60 * 60 * 1_000_000


@pytest.fixture
def team(tx: Tx) -> Tx:
    """A store where ada is served by a profile that learned something."""
    brain_profiles.put(tx, ProfileRow("local", "team", None, "recall", "Bayesian", "active", 1, 1))
    brain_profiles.bind(tx, BindingRow("local", "ada", "*", "*", "team", 0, 1))
    states.teach(tx, "local", "team", Lesson("useful", 1.0, record_id(1), {}), {}, 10)
    states.teach(tx, "local", "team", Lesson("correction", -2.0, record_id(2), {}), {}, 11)
    return tx


def resolve(tx: Tx, caller: Caller = ADA, **fields: Any) -> serving.Served:
    """What serves a recall in `local`."""
    return serving.resolve(tx, caller, **{"namespace": "local", "consumer_kind": "recall", "now_us": 77, **fields})


def numbers(served: serving.Served) -> tuple[float, float, float]:
    """The three weights."""
    return served.relevance, served.salience, served.temporal


def test_the_bound_profile_serves_with_what_it_learned(team: Tx) -> None:
    """Means of its beliefs, and of the records on which there was feedback."""
    served = resolve(team)
    assert (served.profile_id, served.attribution, served.resolved_profile_id) == ("team", "profile", None)
    assert numbers(served) == (7 / 12, 3 / 13, 1 / 10)
    means = [served.entity_mean(record_id(number)) for number in (1, 2, 3)]
    assert means == [2 / 3, 1 / 4, None]


def test_means_that_were_looked_up_need_no_store_any_more(team: Tx) -> None:
    """Many at once, and again from memory."""
    means = resolve(team).entity_mean
    known = means.look_up([record_id(number) for number in (1, 2, 3)])
    assert known == {record_id(1): 2 / 3, record_id(2): 1 / 4, record_id(3): None}
    team.run("DELETE FROM brain_targets")
    assert [means(record_id(number)) for number in (1, 2, 3)] == [2 / 3, 1 / 4, None]


def test_nobody_else_is_served_by_it(team: Tx) -> None:
    """The priors, and the built-in profile is who the answer counts for."""
    for caller in (ANON, make_caller("bob", None, ())):
        served = resolve(team, caller)
        assert (served.profile_id, served.attribution) == (None, "unspecified")
        assert (served.resolved_profile_id, served.resolved_at) == ("balanced-recall-v1", 77)
        assert numbers(served) == (0.7, 0.2, 0.1)
        assert served.entity_mean(record_id(1)) is None


def test_a_named_profile_beats_the_binding(team: Tx) -> None:
    """It serves even who is bound to another one, from its priors as long as it learned nothing."""
    served = resolve(team, profile_id="balanced-recall-v1")
    assert (served.profile_id, served.attribution, numbers(served)) == (
        "balanced-recall-v1",
        "profile",
        (0.7, 0.2, 0.1),
    )


def test_a_named_profile_must_be_there(team: Tx) -> None:
    """An unknown one is not found, and the message lists those there are; an archived one is refused."""
    with pytest.raises(NotFound, match="balanced-recall-v1, team"):
        resolve(team, profile_id="other")
    brain_profiles.put(team, ProfileRow("local", "team", None, "recall", "Bayesian", "archived", 1, 2))
    with pytest.raises(InvalidInput, match="archived"):
        resolve(team, profile_id="team")


def test_a_damaged_profile_serves_nobody_and_is_not_replaced(team: Tx) -> None:
    """The priors serve, and nothing can be credited for the answer."""
    team.run("UPDATE brain_states SET relevance_alpha = -4")
    served = resolve(team)
    assert (served.profile_id, served.attribution) == (None, "unattributed")
    assert (served.resolved_profile_id, served.resolved_at, numbers(served)) == (None, None, (0.7, 0.2, 0.1))


def test_a_profile_of_home_learns_for_each_namespace_alone(team: Tx) -> None:
    """The binding of the caller's namespace serves a recall elsewhere, with what was learned there."""
    served = resolve(team, namespace="elsewhere")
    assert (served.profile_id, numbers(served), served.entity_mean(record_id(1))) == ("team", (0.7, 0.2, 0.1), None)


def ledger(tx: Tx) -> list[Any]:
    """What the ledger holds, oldest first."""
    return tx.all(
        "SELECT target_id, served_by_profile_id, resolved_profile_id, accounting_profile_id, served_at"
        " FROM brain_serve_ledger ORDER BY seq"
    )


def test_an_answer_is_noted_hit_by_hit(team: Tx) -> None:
    """Each row knows for whom it counts: the profile that served, else the one that was found out."""
    for caller in (ADA, ANON):
        rows = serving.ledger_rows(resolve(team, caller), "local", "recall", "Cold cache", [record_id(1)], 500)
        rows(team)
    assert ledger(team) == [
        (record_id(1), "team", None, "team", 500),
        (record_id(1), None, "balanced-recall-v1", "balanced-recall-v1", 500),
    ]
    serving.ledger_rows(serving.defaults(), "local", "recall", "Cold cache", [], 501)(team)
    assert len(ledger(team)) == 2


def test_the_ledger_forgets_after_ninety_days(team: Tx) -> None:
    """An append removes what is older, in its namespace."""
    served = resolve(team)
    for namespace, moment in (("local", 1), ("other", 1), ("local", 2 + DAY), ("local", 2 + 90 * DAY)):
        serving.ledger_rows(served, namespace, "recall", "q", [record_id(1)], moment)(team)
    assert [row[4] for row in ledger(team)] == [1, 2 + DAY, 2 + 90 * DAY]
    assert len(serving.ledger_rows(served, "local", "recall", "q", [record_id(1), record_id(2)], 9).ids) == 2


def test_a_claim_goes_with_its_row(team: Tx) -> None:
    """Claims outlived the rows that they were on, for ever; one on a row that is kept stays."""
    served = resolve(team)
    for moment in (1, 90 * DAY):
        note = serving.ledger_rows(served, "local", "recall", "q", [record_id(1)], moment)
        note(team)
        assert serve_ledger.claim(team, "run", note.ids[0], moment)
    assert len(team.all("SELECT * FROM brain_scored")) == 2
    serving.ledger_rows(served, "local", "recall", "q", [record_id(1)], 90 * DAY + 2)(team)
    assert team.all("SELECT serve_ledger_id FROM brain_scored") == [(note.ids[0],)]
    assert not serve_ledger.claim(team, "run", note.ids[0], 90 * DAY + 3)


def test_queries_of_the_same_words_are_one_class() -> None:
    """Case, order, blanks and repetition do not matter; another word does."""
    same = {serving.query_class(text) for text in ("cold cache", "Cache  COLD", " cold\tcache cold ")}
    assert len(same) == 1
    assert serving.query_class("cold caches") not in same


def test_a_credential_in_a_query_is_not_kept(team: Tx) -> None:
    """The ledger holds the masked text."""
    secret = "AKIA" + "Q7RX2MPLD9ZWK4TV"
    serving.ledger_rows(resolve(team), "local", "recall", f"what is {secret}", [record_id(1)], 500)(team)
    ((text,),) = team.all("SELECT query_raw FROM brain_serve_ledger")
    assert secret not in text
    assert text.startswith("what is ")
