"""register_adapter: an adapter is an entity that fits the base model in use."""

from typing import Any

import pytest

from support.client import Hive, open_hive

REVISION = "2026-07-01"


def register(hive: Hive, **args: Any) -> Any:
    """The entity of an adapter after a registration."""
    given = {"adapter_id": "lora-v3", "content_hash": "aa", "base_model_revision": REVISION, **args}
    answer = hive.call("brain.register_adapter", **given)
    assert (answer["registered"], answer["adapter_id"]) == (True, given["adapter_id"])
    return hive.call("get", id=answer["entity_id"])


def test_an_adapter_is_an_entity(hive: Hive) -> None:
    """Kind artifact, type adapter; found by search like any other; its event is that of a created entity."""
    entity = register(hive, metadata={"rank": 8})
    assert (entity["kind"], entity["entity_type"], entity["name"]) == ("artifact", "adapter", "lora-v3")
    assert entity["properties"] == {"rank": 8, "content_hash": "aa", "base_model_revision": REVISION}
    assert [row["target_id"] for row in hive.events(event_kind="entity_created")] == [entity["id"]]
    (hit,) = hive.call("search", kind="entity", query="lora-v3")
    assert hit["id"] == entity["id"]


def test_registering_again_updates_the_entity(hive: Hive) -> None:
    """The same entity with the new properties; the same ones once more change nothing."""
    first = register(hive, metadata={"rank": 8})
    second = register(hive, content_hash="bb")
    assert second["id"] == first["id"]
    assert second["properties"] == {"content_hash": "bb", "base_model_revision": REVISION}
    assert register(hive, content_hash="bb")["updated_at"] == second["updated_at"]
    assert len(hive.events(event_kind="entity_updated")) == 1
    other = hive.call("create", kind="artifact", entity_type="adapter", name="lora-v4")
    assert other["id"] != first["id"]


def test_an_entity_of_another_type_keeps_its_name(hive: Hive) -> None:
    """A concept of the same name is not taken for the adapter."""
    concept = hive.call("create", kind="concept", name="lora-v3")
    assert register(hive)["id"] != concept["id"]


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"base_model_revision": "2025-01-01"}, REVISION),
        ({"metadata": {"content_hash": "x"}}, "content_hash"),
        ({"metadata": {"base_model_revision": "x"}}, "base_model_revision"),
        ({"content_hash": " "}, "content_hash"),
    ],
)
def test_what_does_not_fit_is_refused(hive: Hive, args: dict[str, Any], says: str) -> None:
    """The message says what is in use, or which property has an argument of its own."""
    given = {"adapter_id": "lora-v3", "content_hash": "aa", "base_model_revision": REVISION, **args}
    error = hive.refuses("brain.register_adapter", **given)
    assert (error["kind"], says in error["message"]) == ("invalid_input", True)
    assert hive.call("stats")["entities"] == 0


def test_a_server_without_a_revision_registers_nothing() -> None:
    """The error names the setting."""
    with open_hive() as hive:
        error = hive.refuses("brain.register_adapter", adapter_id="a", content_hash="b", base_model_revision=REVISION)
    assert (error["kind"], error["details"]) == ("unconfigured", {"setting": "brain.base_model_revision"})


def test_a_credential_in_the_metadata_is_refused(hive: Hive) -> None:
    """As in any other entity."""
    secret = {"note": "AKIA" + "Q7RX2MPLD9ZWK4TV"}
    error = hive.refuses(
        "brain.register_adapter", adapter_id="a", content_hash="b", base_model_revision=REVISION, metadata=secret
    )
    assert error["code"] == "secret_detected"
