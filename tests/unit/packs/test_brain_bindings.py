"""bind, unbind, bindings, resolve: which profile serves whom, and who may look."""

from typing import Any

import pytest

from support.client import Hive

BUILTIN = "balanced-recall-v1"


@pytest.fixture
def team(hive: Hive) -> Hive:
    """A server with two profiles."""
    for name in ("one", "two"):
        hive.call("brain.create_profile", name=name)
    return hive


def resolved(hive: Hive, **args: Any) -> tuple[str, bool]:
    """The profile that would serve, and whether by a binding."""
    answer = hive.call("brain.resolve", **{"consumer_kind": "recall", **args})
    return answer["resolved_profile_id"], answer["matched_binding"]


def bound(hive: Hive, **filters: Any) -> list[tuple[str, str, str, str, int]]:
    """The bindings that are listed."""
    answer = hive.call("brain.bindings", **filters)
    assert answer["count"] == len(answer["bindings"])
    names = ("profile_id", "actor", "namespace", "consumer_kind", "priority")
    return [tuple(row[name] for name in names) for row in answer["bindings"]]  # type: ignore[misc]


def test_a_binding_for_the_same_is_replaced(team: Hive) -> None:
    """Same actor, namespace and consumer kind: one row, the last one."""
    team.call("brain.bind", profile_id="one", actor="ada", priority=3)
    team.call("brain.bind", profile_id="two", actor="ada")
    team.call("brain.bind", profile_id="one", actor="ada", consumer_kind="recall", priority=1)
    ada = team.as_actor("ada")
    assert bound(ada) == [("one", "ada", "*", "recall", 1), ("two", "ada", "*", "*", 0)]
    assert bound(ada, profile_id="two") == [("two", "ada", "*", "*", 0)]
    assert bound(ada, consumer_kind="recall", namespace="*") == [("one", "ada", "*", "recall", 1)]


@pytest.mark.parametrize("field", ["actor", "namespace", "consumer_kind"])
def test_a_star_inside_a_value_is_refused(team: Hive, field: str) -> None:
    """There are no patterns; the message names the argument."""
    error = team.refuses("brain.bind", profile_id="one", **{field: "rec*"})
    assert repr(field) in error["message"]
    assert "alone" in error["message"]


def test_consumer_kinds_are_those_of_the_loaded_packs(team: Hive) -> None:
    """An unknown one is refused with the valid set."""
    error = team.refuses("brain.bind", profile_id="one", consumer_kind="recal")
    assert "accepted: *, recall" in error["message"]


def test_an_archived_profile_is_not_bound(team: Hive) -> None:
    """It would serve nobody; and bindings from before are passed over."""
    team.call("brain.bind", profile_id="one")
    assert resolved(team) == ("one", True)
    team.call("brain.deactivate", profile_id="one")
    assert resolved(team) == ("one", True)
    team.call("brain.archive", profile_id="one")
    assert resolved(team) == (BUILTIN, False)
    assert "archived" in team.refuses("brain.bind", profile_id="one")["message"]


def test_bindings_are_removed_by_equality(team: Hive) -> None:
    """Filters join; a star is a value; nothing that fits is no error, and no filter at all is one."""
    for name, actor in (("one", "ada"), ("two", "bob"), ("one", "*")):
        team.call("brain.bind", profile_id=name, actor=actor)
    assert team.call("brain.unbind", profile_id="two", actor="ada") == {"removed": 0, "unbound": 0}
    assert team.call("brain.unbind", actor="*") == {"removed": 1, "unbound": 1}
    assert team.call("brain.unbind", consumer_kind="*", namespace="*") == {"removed": 2, "unbound": 2}
    assert team.refuses("brain.unbind")["kind"] == "invalid_input"


def test_a_binding_serves_its_actor_and_nobody_else(team: Hive) -> None:
    """By the bare id of a named caller; who is bound to nothing has the built-in profile."""
    team.call("brain.bind", profile_id="one", actor="ada", consumer_kind="recall")
    assert resolved(team.as_actor("ada")) == ("one", True)
    assert resolved(team.as_actor("bob")) == (BUILTIN, False)
    assert resolved(team) == (BUILTIN, False)


def test_a_namespace_in_a_binding_is_no_place_to_write(team: Hive) -> None:
    """It is compared with where the recall asks; the profile and the audit row stay in the caller's namespace."""
    team.call("brain.bind", profile_id="one", namespace="project-x")
    assert resolved(team, namespace="project-x") == ("one", True)
    assert resolved(team, namespace="project-y") == (BUILTIN, False)
    assert resolved(team) == (BUILTIN, False)
    rows = [event for event in team.events(verb="brain.bind") if event["kind"] == "audit"]
    assert [row["namespace"] for row in rows] == ["local"]


def test_an_anonymous_caller_is_served_by_stars_only(team: Hive) -> None:
    """Bindings for its label count only when it names itself."""
    team.call("brain.bind", profile_id="one", actor="anonymous:local")
    assert resolved(team) == (BUILTIN, False)
    assert resolved(team, actor="anonymous:local") == ("one", True)
    assert bound(team) == [("one", "anonymous:local", "*", "*", 0)]
    team.call("brain.bind", profile_id="two")
    assert resolved(team) == ("two", True)
    assert bound(team, actor="*") == [("two", "*", "*", "*", 0)]


def test_another_actor_must_be_visible(team: Hive) -> None:
    """For both verbs that look; the error says what is visible."""
    team.call("brain.bind", profile_id="one", actor="ada")
    near = team.as_actor("bob", visible=["ada"])
    assert resolved(near, actor="ada") == ("one", True)
    assert bound(near, actor="ada") == [("one", "ada", "*", "*", 0)]
    for verb in ("brain.resolve", "brain.bindings"):
        error = team.as_actor("bob").refuses(verb, actor="ada", consumer_kind="recall")
        assert (error["kind"], "bob" in error["message"]) == ("permission_denied", True)


def test_a_principal_that_is_called_like_the_anonymous_caller_is_another_one(team: Hive) -> None:
    """Its own label is its id, which is permitted; it is served as who it is."""
    team.call("brain.bind", profile_id="one", actor="anonymous:local")
    named = team.as_actor("anonymous:local")
    assert resolved(named) == ("one", True)
    assert resolved(named, actor="anonymous:local") == ("one", True)


def test_what_nothing_serves_is_not_found(team: Hive) -> None:
    """Only recalls have a built-in profile; a binding for everything serves anything."""
    error = team.refuses("brain.resolve", consumer_kind="knowledge_compose")
    assert (error["code"], "recall" in error["message"]) == ("not_found", True)
    team.call("brain.bind", profile_id="two")
    answer = team.call("brain.resolve", consumer_kind="knowledge_compose")
    assert (answer["resolved_profile_id"], answer["requested_consumer_kind"], answer["matched_consumer_kind"]) == (
        "two",
        "knowledge_compose",
        "*",
    )
