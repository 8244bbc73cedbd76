"""feedback of callers that a profile serves: it is brain.feedback, under the same policy and in the same write."""

from typing import Any

from support.client import Hive

PROFILE = "mine"


def served(hive: Hive) -> Hive:
    """A named caller to whom a profile of its own is bound."""
    ada = hive.as_actor("ada")
    ada.call("brain.create_profile", name=PROFILE, consumer_kind="recall")
    ada.call("brain.bind", profile_id=PROFILE, actor="ada", consumer_kind="recall")
    return ada


def test_a_recall_says_which_profile_served_it(hive: Hive) -> None:
    """`profile` with its id for the caller it is bound to, `unspecified` for everybody else."""
    ada = served(hive)
    hive.call("memory.remember", content="The cache is warm.")
    (hit,) = ada.call("memory.recall", query="warm cache")
    assert (hit["serve_attribution"], hit["served_by_profile_id"]) == ("profile", PROFILE)
    (other,) = hive.call("memory.recall", query="warm cache")
    assert other["serve_attribution"] == "unspecified"
    assert "served_by_profile_id" not in other
    (named,) = hive.call("memory.recall", query="warm cache", profile_id=PROFILE)
    assert named["served_by_profile_id"] == PROFILE
    assert hive.refuses("memory.recall", query="warm cache", profile_id="nobody")["kind"] == "not_found"


def test_feedback_teaches_the_profile_that_serves(hive: Hive) -> None:
    """The answer names the profile and the event; the mean of the memory is that of Beta(2, 1) from then on."""
    ada = served(hive)
    made = ada.call("memory.remember", content="The cache is warm.")["id"]
    (before,) = ada.call("memory.recall", query="warm cache", include_breakdown=True)
    told = ada.call("memory.feedback", target_id=made, signal="useful")
    assert {**told, "event_id": ""} == {
        "ok": True,
        "target_id": made,
        "signal": "useful",
        "profile_id": PROFILE,
        "event_id": "",
    }
    event = ada.call("get", id=told["event_id"])
    assert (event["event_kind"], event["target_id"]) == ("feedback_explicit", made)
    (after,) = ada.call("memory.recall", query="warm cache", include_breakdown=True)
    assert before["breakdown"]["entity_posterior_mean"] is None
    assert abs(after["breakdown"]["entity_posterior_mean"] - 2 / 3) < 1e-9
    assert after["rank_score"] > before["rank_score"]


def test_both_verbs_leave_their_audit_rows(hive: Hive) -> None:
    """That of brain.feedback names that of memory.feedback as its parent."""
    ada = served(hive)
    made = ada.call("memory.remember", content="The cache is warm.")["id"]
    ada.call("memory.feedback", target_id=made, signal="not_useful")
    rows: dict[str, dict[str, Any]] = {event["verb"]: event for event in ada.events() if event["kind"] == "audit"}
    assert rows["brain.feedback"]["payload"]["parent_event_id"] == rows["memory.feedback"]["id"]
    assert rows["memory.feedback"]["target_id"] == made
