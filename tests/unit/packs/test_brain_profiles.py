"""profiles, profile, create_profile, activate, deactivate, archive, reset: the life of a profile."""

from typing import Any

import pytest

from support.client import Hive

BUILTIN = "balanced-recall-v1"
SECRET = "AKIA" + "Q7RX2MPLD9ZWK4TV"


def listed(hive: Hive, **filters: Any) -> dict[str, str]:
    """Where each profile stands."""
    answer = hive.call("brain.profiles", **filters)
    assert answer["count"] == len(answer["profiles"])
    return {row["id"]: row["lifecycle"] for row in answer["profiles"]}


def move(hive: Hive, name: str, *steps: str) -> str:
    """Where a profile stands after some steps."""
    for step in steps:
        answer = hive.call(f"brain.{step}", profile_id=name)
        assert answer["profile_id"] == name
    return str(answer["lifecycle"])


def test_profiles_are_listed_by_name(hive: Hive) -> None:
    """The built-in one stands among them, whether or not it was changed."""
    for name in ("zeta", "alpha"):
        hive.call("brain.create_profile", name=name)
    assert list(listed(hive)) == ["alpha", BUILTIN, "zeta"]
    hive.call("brain.deactivate", profile_id=BUILTIN)
    assert listed(hive) == {"alpha": "active", BUILTIN: "inactive", "zeta": "active"}
    assert listed(hive, lifecycle="inactive") == {BUILTIN: "inactive"}


def test_a_created_profile_knows_only_priors(hive: Hive) -> None:
    """Its record says what it is; beliefs have mean, variance and evidence."""
    hive.call("brain.create_profile", name=" coder-1 ", description="For code")
    record = hive.call("brain.profile", profile_id="coder-1")
    assert {name: record[name] for name in ("id", "description", "consumer_kind", "state_class", "lifecycle")} == {
        "id": "coder-1",
        "description": "For code",
        "consumer_kind": "recall",
        "state_class": "Bayesian",
        "lifecycle": "active",
    }
    assert record["created_at"] is not None
    assert record["state_snapshot"]["salience"] == {
        "alpha": 2.0,
        "beta": 8.0,
        "mean": 0.2,
        "variance": pytest.approx(16 / 1100, abs=1e-12),
        "ess": 10.0,
    }


def test_sections_of_a_seed_are_shown_with_their_weights(hive: Hive) -> None:
    """Ten sections; those that were not named begin at 2 and 2; the weights add up to 1."""
    seed = {"section_posteriors": {"overview": {"alpha": 6, "beta": 2}}}
    hive.call("brain.create_profile", name="teacher", seed_priors=seed)
    shown = hive.call("brain.profile", profile_id="teacher")["section_posteriors"]
    assert len(shown) == 10
    assert (shown["overview"]["alpha"], shown["overview"]["mean"], shown["formalism"]["ess"]) == (6.0, 0.75, 4.0)
    assert sum(belief["weight"] for belief in shown.values()) == pytest.approx(1, abs=1e-9)
    assert shown["overview"]["weight"] > shown["formalism"]["weight"] == shown["other"]["weight"] >= 0.05


@pytest.mark.parametrize("evidence", [1e-320, 1e-200, 1e200])
def test_a_seed_of_extreme_evidence_is_shown(hive: Hive, evidence: float) -> None:
    """Its variance underflowed to a division by zero, or overflowed, and its profile could not be read any more."""
    seed = {"section_posteriors": {"overview": {"alpha": evidence, "beta": evidence}}}
    hive.call("brain.create_profile", name="teacher", seed_priors=seed)
    shown = hive.call("brain.profile", profile_id="teacher")["section_posteriors"]["overview"]
    assert shown["mean"] == 0.5
    assert shown["variance"] == pytest.approx(0.25 / (2 * evidence + 1), abs=1e-12)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"name": "two words"}, "letters, digits and hyphens"),
        ({"name": "naïve"}, "letters, digits and hyphens"),
        ({"name": "x", "consumer_kind": "cooking"}, "accepted: recall"),
        ({"name": "x", "seed_priors": {"section_posteriors": {"preface": {"alpha": 1, "beta": 1}}}}, "overview"),
        ({"name": "x", "seed_priors": {"section_posteriors": {"other": {"alpha": 0, "beta": 1}}}}, "above 0"),
        ({"name": "x", "seed_priors": {"section_posteriors": {"other": {"alpha": 1e308, "beta": 1e308}}}}, "finite"),
        ({"name": "x", "seed_priors": {"section_posteriors": {"other": {"alpha": 1}}}}, "seed_priors"),
        ({"name": "x", "seed_priors": {"relevance": {"alpha": 1, "beta": 1}}}, "seed_priors"),
    ],
)
def test_a_profile_is_refused_for_what_it_says(hive: Hive, args: dict[str, Any], says: str) -> None:
    """The message says what is accepted, and no profile is made."""
    error = hive.refuses("brain.create_profile", **args)
    assert error["kind"] == "invalid_input"
    assert says in error["message"]
    assert list(listed(hive)) == [BUILTIN]


def test_a_name_is_given_once(hive: Hive) -> None:
    """Also that of the built-in profile; another namespace has names of its own."""
    hive.call("brain.create_profile", name="team")
    for name in ("team", BUILTIN):
        error = hive.refuses("brain.create_profile", name=name)
        assert (error["code"], error["details"]) == (
            "profile_exists",
            {"reason": "profile_exists", "profile_id": name},
        )
    assert hive.as_actor(None, "elsewhere").call("brain.create_profile", name="team")["created"] is True


def test_credentials_are_refused(hive: Hive) -> None:
    """In the description of a profile and in a binding."""
    assert hive.refuses("brain.create_profile", name="x", description=SECRET)["code"] == "secret_detected"
    assert hive.refuses("brain.bind", profile_id=BUILTIN, actor=SECRET)["code"] == "secret_detected"


@pytest.mark.parametrize(
    ("before", "step", "after"),
    [
        ([], "activate", "active"),
        ([], "deactivate", "inactive"),
        (["deactivate"], "activate", "active"),
        (["deactivate"], "deactivate", "inactive"),
        (["deactivate"], "archive", "archived"),
    ],
)
def test_allowed_steps(hive: Hive, before: list[str], step: str, after: str) -> None:
    """A step to where the profile stands already changes nothing and is no error."""
    hive.call("brain.create_profile", name="team")
    assert move(hive, "team", *before, step) == after
    assert listed(hive)["team"] == after


@pytest.mark.parametrize(
    ("before", "step", "says"),
    [
        ([], "archive", "deactivate it first"),
        (["deactivate", "archive"], "activate", "never changes"),
        (["deactivate", "archive"], "deactivate", "never changes"),
        (["deactivate", "archive"], "archive", "never changes"),
        (["deactivate", "archive"], "reset", "only an active one"),
        (["deactivate"], "reset", "only an active one"),
    ],
)
def test_refused_steps(hive: Hive, before: list[str], step: str, says: str) -> None:
    """The message says where the profile stands and what is possible."""
    hive.call("brain.create_profile", name="team")
    stood = move(hive, "team", *before) if before else "active"
    error = hive.refuses(f"brain.{step}", profile_id="team")
    assert (error["kind"], error["domain_disposition"]) == ("invalid_input", "unknown")
    assert says in error["message"]
    assert listed(hive)["team"] == stood


@pytest.mark.parametrize("verb", ["profile", "activate", "deactivate", "archive", "reset", "bind"])
def test_a_profile_that_nobody_made_is_not_found(hive: Hive, verb: str) -> None:
    """The message lists those there are."""
    error = hive.refuses(f"brain.{verb}", profile_id="nobody")
    assert (error["code"], error["details"]["id"]) == ("not_found", "nobody")
    assert BUILTIN in error["message"]


def test_a_reset_returns_to_the_priors_and_is_counted(hive: Hive) -> None:
    """Feedback before it stays in the log of events."""
    note = hive.call("create", kind="observation", content="warm cache")["id"]
    hive.call("brain.feedback", target_id=note, signal="useful", section_signals={"other": "wrong"})
    learned = hive.call("brain.profile", profile_id=BUILTIN)
    assert (learned["total_events"], learned["section_posteriors"]["other"]["beta"]) == (1, 4.0)
    assert hive.call("brain.reset") == {"reset": True, "profile_id": BUILTIN, "exploration_epoch": 1}
    record = hive.call("brain.profile", profile_id=BUILTIN)
    assert (record["total_events"], record["exploration_epoch"]) == (0, 1)
    assert record["state_snapshot"]["salience"]["alpha"] == 2.0
    assert record["state_snapshot"]["entity_posteriors"] == []
    assert record["section_posteriors"]["other"]["beta"] == 2.0
    assert len(hive.events(event_kind="feedback_explicit")) == 1
    assert hive.call("brain.reset")["exploration_epoch"] == 2


def test_profiles_are_those_of_the_callers_namespace(hive: Hive) -> None:
    """Somebody who works elsewhere does not see them."""
    hive.call("brain.create_profile", name="team")
    assert list(listed(hive.as_actor("ada", "elsewhere"))) == [BUILTIN]
    assert list(listed(hive.as_actor("ada"))) == [BUILTIN, "team"]


def test_the_records_of_a_profile_are_listed_newest_first(hive: Hive) -> None:
    """Twenty of them, and how many there are."""
    ids = [hive.call("create", kind="observation", content=f"note {number}")["id"] for number in range(22)]
    for record in ids:
        hive.call("brain.feedback", target_id=record, signal="not_useful")
    state = hive.call("brain.profile", profile_id=BUILTIN)["state_snapshot"]
    assert [belief["target_id"] for belief in state["entity_posteriors"]] == ids[:1:-1]
    assert state["entity_count"] == 22
    assert (state["entity_posteriors"][0]["alpha"], state["entity_posteriors"][0]["beta"]) == (1.0, 2.0)


def test_a_damaged_state_is_told_and_can_be_reset(hive: Hive) -> None:
    """Reading and teaching it are refused with what to do."""
    note = hive.call("create", kind="observation", content="warm cache")["id"]
    hive.call("brain.feedback", target_id=note, signal="useful")
    hive.server.engine.run_write(lambda tx: tx.run("UPDATE brain_states SET temporal_beta = -1"))
    for error in (
        hive.refuses("brain.profile", profile_id=BUILTIN),
        hive.refuses("brain.feedback", target_id=note, signal="useful"),
    ):
        assert "brain.reset" in error["message"]
    hive.call("brain.reset")
    assert hive.call("brain.profile", profile_id=BUILTIN)["state_snapshot"]["temporal"]["beta"] == 9.0
