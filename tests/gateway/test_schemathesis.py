"""The running gateway answers as openapi.json says: request by request, and run by run along the links of the document.

Derandomised. What schemathesis checks is on, but for the two checks of `CHANGED`, each with its reason.
"""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Any, Final

import pytest
import schemathesis
import uvicorn
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.errors import FlakyStrategyDefinition
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.generation import GenerationMode

import hivekeep_contract
from hivekeep.doors.auth import Guard
from hivekeep.doors.http import Door, create_app
from hivekeep.wiring import open_server
from hivekeep_contract.gateway import OPERATIONS
from hivekeep_contract.limits import HTTP_BODY_MAX_BYTES
from hivekeep_contract.settings import Settings
from support.gateway import body_validator

TOKEN: Final = "ab" * 32
HEADERS: Final = {"Authorization": f"Bearer {TOKEN}"}
COMMON: Final[dict[str, Any]] = {
    "derandomize": True,
    "deadline": None,
    # No shrinking: a failure is there to be looked at again.
    "phases": (Phase.explicit, Phase.generate),
    "suppress_health_check": list(HealthCheck),
}

CHANGED: Final = {
    "unsupported_method": "a wrong method on a known path of the gateway is 404 in its envelope, never 405",
    "positive_data_acceptance": "it is asked for below, but for the reasons that no schema can give",
}
load_all_checks()
EXCLUDED: Final = [check for check in CHECKS.get_all() if check.__name__ in CHANGED]

BEYOND_SCHEMA: Final = {
    "agent.runs.list": {"bad_cursor": "a cursor is opaque; only the server knows which one it gave"},
    "agent.answer": {"wrong_value": "what the answers are to choose from depends on the question"},
    "agent.feedback": {
        "unknown_field": "which fields are taken depends on the category",
        "missing_field": "which fields are needed depends on the category",
        "field_missing_for": "a code and its verdict come together",
        "fields_exclusive": "it is about a question or about a slot",
        "wrong_value": "the verdicts depend on the category",
        "empty": "feedback about a run says something",
        "too_long": "a comment is measured in bytes, after sanitising",
    },
    "agent.checkpoint": {
        "empty": "at least one of the optional fields says something",
        "too_long": "the events that the fields stand for are counted together",
        "wrong_value": "what a payload holds depends on the type of its event",
        "wrong_type": "what a payload holds depends on the type of its event",
        "missing_field": "what a payload holds depends on the type of its event",
        "unknown_field": "what a payload holds depends on the type of its event",
    },
}
"""Why a request that fits the schema of an operation is 400 all the same."""
PAYLOADS: Final = ("wrong_value", "wrong_type", "missing_field", "unknown_field")
for _name in ("agent.events", "agent.close"):
    BEYOND_SCHEMA[_name] = {reason: BEYOND_SCHEMA["agent.checkpoint"][reason] for reason in PAYLOADS}
ACCEPTED: Final = (200, 404, 409)


def gateway(*, walked: bool = False) -> schemathesis.BaseSchema:
    """The paths of the gateway. To be `walked`, they are without two optional fields of an open.

    schemathesis takes these for ids of what another operation makes, finds none that does, and would never open a run.
    """
    document = json.loads(resources.files(hivekeep_contract).joinpath("openapi.json").read_text(encoding="utf-8"))
    if walked:
        schemas = document["components"]["schemas"]
        del schemas["gateway.client.input"]["properties"]["sessionId"]
        del schemas["agent.open.body"]["properties"]["parentRunId"]
    return schemathesis.openapi.from_dict(document).include(path_regex="^/api/v1/agent/")


GATEWAY: Final = gateway()


class Running:
    """The application, running on a loopback port of this process over a store that can be changed for an empty one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stores = itertools.count(1)
        self._door: Door | None = None
        self._app: Any = None
        self.renew()
        self._server = uvicorn.Server(
            uvicorn.Config(self._answer, port=0, log_level="error", lifespan="off", interface="asgi3")
        )
        self._thread = threading.Thread(target=self._server.run)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        self.url = f"http://127.0.0.1:{self._server.servers[0].sockets[0].getsockname()[1]}"

    def renew(self) -> None:
        """Go on with an empty store. No request is under way: each is answered before the next is made."""
        if self._door is not None:
            self._door.close()
        chosen = Settings(
            db=str(self._folder / f"{next(self._stores)}.db"), embedding_models=(), storage_disk_reserve_bytes=0
        )
        self._door = Door(open_server(chosen, threaded=True), Guard(TOKEN), HTTP_BODY_MAX_BYTES)
        self._app = create_app(self._door)

    def stop(self) -> None:
        """End the server and close its store."""
        self._server.should_exit = True
        self._thread.join()
        assert self._door is not None
        self._door.close()

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        await self._app(scope, receive, send)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server for the tests of this module."""
    started = Running(tmp_path_factory.mktemp("store"))
    yield started
    started.stop()


def check(case: schemathesis.Case, response: Any) -> None:
    """Every check of an answer. What fits the schema is accepted, or names nothing, or does not fit its run."""
    case.validate_response(response, headers=HEADERS, excluded_checks=EXCLUDED)
    if response.status_code in ACCEPTED or not _fits(case):
        return
    name = _operation(case)
    told = response.json()["error"]
    assert response.status_code == 400, (name, told)
    assert told["details"].get("reason") in BEYOND_SCHEMA.get(name, ()), (name, told, case.as_curl_command())


def _operation(case: schemathesis.Case) -> str:
    return str(case.operation.definition.raw["operationId"])


def _fits(case: schemathesis.Case) -> bool:
    """Whether a request is meant to fit the schema, and its body has the formats that the schema names as well: the
    generator knows the patterns, and not the calendar."""
    if case.meta is None or case.meta.generation.mode is not GenerationMode.POSITIVE:
        return False
    return not OPERATIONS[_operation(case)].writes or body_validator(_operation(case)).is_valid(case.body)


def ask(case: schemathesis.Case, running: Running) -> None:
    """Ask a generated request and check the answer."""
    check(case, case.call(base_url=running.url, headers=HEADERS))


@GATEWAY.parametrize()
@settings(max_examples=2, **COMMON)
def test_an_operation_keeps_its_contract(case: schemathesis.Case, running: Running) -> None:
    """The examples of the document, each value at its bounds and beyond them, and some random ones."""
    ask(case, running)


@pytest.mark.slow
@GATEWAY.parametrize()
@settings(max_examples=60, **COMMON)
def test_an_operation_keeps_its_contract_for_many_requests(case: schemathesis.Case, running: Running) -> None:
    """The same with many random requests of each operation (70 s)."""
    ask(case, running)


def follow_links(running: Running, *, seeds: int, walks: int, steps: int) -> set[str]:
    """Go from answer to request along the links of the document, each answer checked; the operations that succeeded.

    `seeds` times so many walks of so many steps. schemathesis learns from the answers which links to follow, which
    hypothesis takes for a test that is not the same every time; the walks of that seed end there. What was found before
    counts.
    """
    succeeded: set[str] = set()
    found: list[Exception] = []

    class Runs(gateway(walked=True).as_state_machine()):  # type: ignore[misc]
        def setup(self) -> None:
            running.renew()

        def get_call_kwargs(self, case: schemathesis.Case) -> dict[str, Any]:
            return {"base_url": running.url, "headers": HEADERS}

        def validate_response(self, response: Any, case: schemathesis.Case, **options: Any) -> None:
            if response.status_code == 200:
                succeeded.add(_operation(case))
            try:
                check(case, response)
            except Exception as failure:
                found.append(failure)
                raise

    chosen = settings(max_examples=walks, stateful_step_count=steps, **{**COMMON, "derandomize": False}, database=None)
    for number in range(seeds):
        with suppress(FlakyStrategyDefinition):
            seed(number)(Runs).run(settings=chosen)
    assert found == []
    return succeeded


def test_runs_along_the_links_find_nothing(running: Running) -> None:
    """Open, answer, report, checkpoint, close, judge and read, in the orders that the links allow."""
    succeeded = follow_links(running, seeds=2, walks=4, steps=8)
    assert "agent.open" in succeeded
    assert len(succeeded) > 1


@pytest.mark.slow
def test_many_runs_along_the_links_find_nothing(running: Running) -> None:
    """The same for many runs (150 s); every operation that can succeed with what is generated does."""
    succeeded = follow_links(running, seeds=10, walks=20, steps=30)
    # Nothing that is generated names a proposal of the run, and no answer leads to the list of a workspace.
    assert succeeded == set(OPERATIONS) - {"agent.promotions", "agent.runs.list"}
