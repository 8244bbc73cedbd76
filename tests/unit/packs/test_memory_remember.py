"""remember: defaults, routing, keys, edges; what is stored, and what a refusal leaves behind."""

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hivekeep.dispatch.run import Server
from hivekeep.identity.caller import make_caller
from hivekeep.wiring import open_server
from hivekeep_contract.settings import Settings
from support.client import Hive, open_hive

ABSENT = "00000000-0000-4000-8000-00000000ffff"
SECRET = "token=ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def hive() -> Iterator[Hive]:
    """A fresh server with the memory pack and nothing that it does not need."""
    with open_hive(runtime_packs=["kg", "memory"]) as opened:
        yield opened


def stored(hive: Hive, memory: dict[str, Any]) -> dict[str, Any]:
    """The note of a memory."""
    note: dict[str, Any] = hive.call("get", id=memory["id"])
    return note


def count(hive: Hive) -> int:
    """How many memories there are."""
    return len(hive.call("list", kind="memory", limit=200)["items"])


@pytest.mark.parametrize(("kind", "salience", "decay"), [("episodic", 0.3, 0.02), ("semantic", 0.5, 0.005)])
def test_each_type_has_its_own_defaults(hive: Hive, kind: str, salience: float, decay: float) -> None:
    """The answer says them and the note holds them; the type is always in the properties."""
    made = hive.call("memory.remember", content="The cache is warm.", memory_type=kind)
    assert (made["kind"], made["memory_type"], made["salience"], made["decay_factor"]) == (
        "memory",
        kind,
        salience,
        decay,
    )
    assert made["full_id"] == made["id"]
    note = stored(hive, made)
    assert (note["kind"], note["salience"], note["decay_factor"]) == ("memory", salience, decay)
    assert note["properties"] == {"memory_type": kind}
    assert note["content"] == "The cache is warm."


def test_an_episode_is_the_default_type_and_given_values_are_kept(hive: Hive) -> None:
    """Zero is a value; a decay has no upper bound; white space round the content is part of it."""
    made = hive.call("memory.remember", content=" kept \n", salience=0, decay_factor=7)
    assert (made["memory_type"], made["salience"], made["decay_factor"]) == ("episodic", 0.0, 7.0)
    assert stored(hive, made)["content"] == " kept \n"


def test_an_episode_goes_to_the_caller_and_a_fact_to_everybody(hive: Hive) -> None:
    """The caller's namespace, and `local`; a given namespace beats both."""
    ada = hive.as_actor("ada", "team-a")
    where = {
        "episodic": stored(ada, ada.call("memory.remember", content="An episode."))["namespace"],
        "semantic": stored(ada, ada.call("memory.remember", content="A fact.", memory_type="semantic"))["namespace"],
        "given": stored(ada, ada.call("memory.remember", content="There.", memory_type="semantic", namespace="team-b"))[
            "namespace"
        ],
    }
    assert where == {"episodic": "team-a", "semantic": "local", "given": "team-b"}


def test_tags_and_the_session_are_properties(hive: Hive) -> None:
    """Tags as given, none when the list is empty; the session is that of the request."""
    session = "5f1d3a50-0000-4000-8000-000000000001"
    within = Hive(hive.server, replace(make_caller(None, None, ()), session_id=session))
    made = within.call("memory.remember", content="Noted.", tags=["CI", "disk"])
    assert stored(hive, made)["properties"] == {
        "memory_type": "episodic",
        "tags": ["CI", "disk"],
        "session_id": session,
    }
    bare = hive.call("memory.remember", content="Noted too.", tags=[])
    assert stored(hive, bare)["properties"] == {"memory_type": "episodic"}


def test_one_event_tells_of_a_new_memory_and_none_of_a_replay(hive: Hive) -> None:
    """note_created once, in the namespace of the memory; a replay adds nothing but its audit row."""
    for _ in range(2):
        hive.call("memory.remember", content="Once.", idempotency_key="once")
    (event,) = [event for event in hive.events() if event["kind"] == "note_created"]
    (note,) = hive.call("list", kind="memory")["items"]
    assert (event["target_id"], event["namespace"], event["verb"]) == (note["id"], "local", "memory.remember")
    assert event["payload"] == {"id": note["id"], "namespace": "local", "kind": "memory"}


# sources and corrections


def test_a_source_is_annotated(hive: Hive) -> None:
    """A full id or a prefix of an entity or note; the id is stored in full, the edge goes from memory to source."""
    concept = hive.call("create", kind="concept", name="Cache")["id"]
    note = hive.call("create", kind="observation", content="Cold.")["id"]
    for reference, source in ((concept, concept), (note[:8], note)):
        made = hive.call("memory.remember", content="Warm after ten minutes.", source_id=reference)
        edge = hive.call("get", id=made["edge_id"])
        assert (edge["relation"], edge["source_id"], edge["target_id"]) == ("annotates", made["id"], source)
        assert stored(hive, made)["properties"]["source_id"] == source


def test_a_source_that_is_not_there_refuses_the_call(hive: Hive) -> None:
    """Absent, a name, an edge, a prefix from another namespace: not found, and nothing is stored."""
    other = hive.call("create", kind="concept", name="Elsewhere", namespace="other")["id"]
    hive.call("create", kind="concept", name="Here")
    for reference in (ABSENT, "Here", other[:8]):
        error = hive.refuses("memory.remember", content="Lost.", source_id=reference)
        assert (error["kind"], error["details"]["param"]) == ("not_found", "source_id")
    assert count(hive) == 0
    made = hive.call("memory.remember", content="A full id names a record anywhere.", source_id=other)
    assert hive.call("get", id=made["edge_id"])["target_id"] == other


def test_a_correction_supersedes_in_the_same_write(hive: Hive) -> None:
    """The edge goes from the new memory to the old one; only a memory can be replaced."""
    old = hive.call("memory.remember", content="At nine.")
    new = hive.call("memory.remember", content="At ten.", supersedes=old["id"][:8])
    edge = hive.call("get", id=new["supersedes_edge_id"])
    assert (edge["relation"], edge["source_id"], edge["target_id"]) == ("supersedes", new["id"], old["id"])
    note = hive.call("create", kind="observation", content="No memory.")["id"]
    error = hive.refuses("memory.remember", content="At eleven.", supersedes=note)
    assert error["kind"] == "invalid_input"
    assert "observation" in error["message"]
    assert hive.refuses("memory.remember", content="At eleven.", supersedes=ABSENT)["kind"] == "not_found"
    assert count(hive) == 2


# keys


def test_a_replay_answers_what_is_stored(hive: Hive) -> None:
    """Type, weight and edges of the stored memory, whatever the repeated call says; the alias `key` is the same."""
    source = hive.call("create", kind="concept", name="Cache")["id"]
    old = hive.call("memory.remember", content="Before.")["id"]
    made = hive.call(
        "memory.remember",
        content="Warm.",
        memory_type="semantic",
        namespace="local",
        source_id=source,
        supersedes=old,
        idempotency_key="warm",
    )
    again = hive.call("memory.remember", content="Warm.", salience=0.9, key="warm")
    assert again == {**made, "replayed": True}
    assert count(hive) == 2


def test_other_content_under_a_key_is_a_conflict_that_names_the_holder(hive: Hive) -> None:
    """Reason, key and existing_id; nothing is written."""
    made = hive.call("memory.remember", content="Warm.", idempotency_key="k")
    error = hive.refuses("memory.remember", content="Cold.", idempotency_key="k")
    assert (error["kind"], error["code"], error["domain_disposition"]) == (
        "conflict",
        "idempotency_key_conflict",
        "not_committed",
    )
    assert error["details"] == {"reason": "idempotency_key_conflict", "key": "k", "existing_id": made["id"]}
    assert count(hive) == 1


def test_a_key_is_of_the_namespace_that_is_written_to(hive: Hive) -> None:
    """The same key names an episode of each caller, and one fact of all of them."""
    ada, grace = hive.as_actor("ada", "team-a"), hive.as_actor("grace", "team-b")
    episodes = [caller.call("memory.remember", content="Mine.", idempotency_key="k") for caller in (ada, grace)]
    assert [("replayed" in one) for one in episodes] == [False, False]
    facts = [
        caller.call("memory.remember", content="Ours.", memory_type="semantic", idempotency_key="k")
        for caller in (ada, grace)
    ]
    assert facts[0]["id"] == facts[1]["id"]
    assert facts[1]["replayed"] is True


def test_deleting_the_holder_frees_the_key(hive: Hive) -> None:
    """The next call stores a new memory."""
    made = hive.call("memory.remember", content="Warm.", idempotency_key="k")
    hive.call("delete", id=made["id"])
    again = hive.call("memory.remember", content="Cold.", idempotency_key="k")
    assert again["id"] != made["id"]


@pytest.mark.parametrize("key", ["", "a\x00b", "x" * 513, "é" * 257])
def test_a_key_has_one_to_512_bytes_and_no_nul(hive: Hive, key: str) -> None:
    """Anything else is refused by name; two spellings at once are refused too."""
    error = hive.refuses("memory.remember", content="Warm.", idempotency_key=key)
    assert error["kind"] == "invalid_input"
    assert "idempotency_key" in error["message"]
    twice = hive.refuses("memory.remember", content="Warm.", idempotency_key="a", key="b")
    assert twice["kind"] == "invalid_input"
    assert count(hive) == 0


def test_of_many_callers_with_one_key_one_writes(tmp_path: Path) -> None:
    """Two servers on one file, eight threads: one memory, seven replays of it."""
    settings = Settings(db=str(tmp_path / "hive.db"), runtime_packs=("kg", "memory"), embedding_models=())
    servers = [open_server(settings, threaded=True) for _ in range(2)]
    told: list[dict[str, Any]] = []

    def ask(server: Server) -> None:
        told.append(Hive(server).call("memory.remember", content="Once.", idempotency_key="race"))

    threads = [threading.Thread(target=ask, args=(servers[number % 2],)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({one["id"] for one in told}) == 1
    assert sorted("replayed" in one for one in told) == [False] + [True] * 7
    for server in servers:
        server.engine.close()


# refusals


@pytest.mark.parametrize(
    ("args", "named"),
    [
        ({"content": ""}, "content"),
        ({"content": " \n\t"}, "content"),
        ({"content": "x", "salience": 1.01}, "salience"),
        ({"content": "x", "salience": -0.01}, "salience"),
        ({"content": "x", "decay_factor": -1}, "decay_factor"),
        ({"content": "x", "memory_type": "procedural"}, "memory_type"),
        ({"content": "x", "namespace": "a b"}, "namespace"),
        ({"content": "x", "embedding_model": "none-such"}, "none-such"),
        ({"content": "x", "importance": 1}, "importance"),
    ],
)
def test_a_bad_argument_is_refused_by_name(hive: Hive, args: dict[str, Any], named: str) -> None:
    """The message names it; nothing is stored."""
    error = hive.refuses("memory.remember", **args)
    assert error["kind"] == "invalid_input"
    assert named in error["message"]
    assert count(hive) == 0


@pytest.mark.parametrize(
    "args", [{"content": SECRET}, *({"content": "Fine.", **more} for more in ({"tags": [SECRET]}, {"key": SECRET}))]
)
def test_a_credential_refuses_the_whole_memory(hive: Hive, args: dict[str, Any]) -> None:
    """In the content, a tag or the key; the answer does not show it."""
    error = hive.refuses("memory.remember", **args)
    assert error["code"] == "secret_detected"
    assert SECRET.removeprefix("token=") not in json.dumps(error)
    assert count(hive) == 0
